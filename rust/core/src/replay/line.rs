use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::actions::{
    Action, Add, Cdc, CheckpointMetadata, CommitInfo, DeletionVectorDescriptor, DomainMetadata, Metadata,
    Protocol, Remove, Sidecar, Txn,
};
use crate::error::{Error, Result};

/// An `add` of a commit, borrowed from its body. `stats` and `tags` stay the raw JSON of the line.
#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AddLine<'a> {
    #[serde(borrow)]
    pub(crate) path: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) partition_values: Option<StringPairs<'a>>,
    pub(crate) size: i64,
    pub(crate) modification_time: i64,
    #[serde(default)]
    pub(crate) data_change: bool,
    #[serde(borrow, default)]
    pub(crate) stats: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) tags: Option<StringPairs<'a>>,
    #[serde(default)]
    pub(crate) deletion_vector: Option<DeletionVectorDescriptor>,
    #[serde(default)]
    pub(crate) base_row_id: Option<i64>,
    #[serde(default)]
    pub(crate) default_row_commit_version: Option<i64>,
    #[serde(borrow, default)]
    pub(crate) clustering_provider: Option<Cow<'a, str>>,
}

/// The key of a `remove`: all that replay needs of it.
#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RemoveLine<'a> {
    #[serde(borrow)]
    pub(crate) path: Cow<'a, str>,
    #[serde(default)]
    pub(crate) deletion_vector: Option<DeletionVectorDescriptor>,
}

/// A JSON object of strings (or nulls), in order, without a tree.
#[derive(Debug, Default)]
pub(crate) struct StringPairs<'a>(pub(crate) Vec<(Cow<'a, str>, Option<Cow<'a, str>>)>);

impl<'de: 'a, 'a> Deserialize<'de> for StringPairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<'a>(PhantomData<&'a ()>);
        /// serde borrows a `Cow` only where an attribute asks for it.
        #[derive(serde::Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        impl<'de: 'a, 'a> Visitor<'de> for Pairs<'a> {
            type Value = StringPairs<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(StringPairs::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut out = Vec::with_capacity(map.size_hint().unwrap_or(2));
                while let Some((key, value)) = map.next_entry::<Text<'a>, Option<Text<'a>>>()? {
                    out.push((key.0, value.map(|v| v.0)));
                }
                Ok(StringPairs(out))
            }
        }
        deserializer.deserialize_any(Pairs(PhantomData))
    }
}

/// The action key of a line and the raw JSON of its value, found without parsing the value. `None` for a blank line.
///
/// # Errors
/// A reason when the line is no JSON object with a key, or does not end where an object ends: a torn write.
pub(crate) fn split(line: &[u8]) -> Result<Option<(&str, &[u8])>, String> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let torn = || "the line is not a complete JSON object: a torn write".to_owned();
    let inner = line.strip_prefix(b"{").and_then(|l| l.strip_suffix(b"}")).ok_or_else(torn)?.trim_ascii();
    if inner.is_empty() {
        return Ok(None);
    }
    let key = inner.strip_prefix(b"\"").ok_or_else(torn)?;
    let end = memchr::memchr(b'"', key).ok_or_else(torn)?;
    let (key, rest) = (&key[..end], key[end + 1..].trim_ascii_start());
    let value = rest.strip_prefix(b":").ok_or_else(torn)?.trim_ascii_start();
    Ok(Some((std::str::from_utf8(key).map_err(|e| e.to_string())?, value)))
}

/// Calls `visit` with every action of a line. A line has one by the protocol; one with several keys (or with nulls for
/// the others) is read too.
///
/// # Errors
/// A reason when the line is torn.
pub(crate) fn for_each_action<'a>(
    line: &'a [u8],
    mut visit: impl FnMut(&str, &'a [u8]) -> Result<bool, String>,
) -> Result<(), String> {
    let Some((key, value)) = split(line)? else { return Ok(()) };
    // the value of the only key is taken whole; `visit` refuses it where something follows
    if visit(key, value)? {
        return Ok(());
    }
    let all: std::collections::BTreeMap<Cow<'a, str>, Option<&'a RawValue>> =
        serde_json::from_slice(line.trim_ascii()).map_err(|e| e.to_string())?;
    for (key, value) in all {
        if let Some(value) = value
            && !visit(&key, value.get().as_bytes())?
        {
            return Err(format!("`{key}` is not a valid action"));
        }
    }
    Ok(())
}

/// Parses a value and returns whether it is the whole text; a value that is followed by more is not.
pub(crate) fn parse_whole<'a, T: Deserialize<'a>>(value: &'a [u8]) -> Result<Option<T>, String> {
    let mut deserializer = serde_json::Deserializer::from_slice(value);
    let parsed = T::deserialize(&mut deserializer).map_err(|e| e.to_string());
    match (parsed, deserializer.end()) {
        (Ok(parsed), Ok(())) => Ok(Some(parsed)),
        (Ok(_), Err(_)) => Ok(None),
        (Err(reason), _) => {
            // `null` of a line with several keys, or an error of this action
            if value.starts_with(b"null") { Ok(None) } else { Err(reason) }
        }
    }
}

/// The actions of one commit, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommitActions {
    /// Actions in the order of the file.
    pub actions: Vec<Action>,
}

impl CommitActions {
    /// Parses the body of a commit (or of a V2 checkpoint in JSON). Unknown actions are left out, as the protocol asks.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] with the number of the line when a line is torn or an action is not what it should be, or
    /// when there is no action at all.
    pub fn parse(body: &[u8], path: &str, version: Option<u64>) -> Result<Self> {
        let mut actions = Vec::new();
        for_each_line(body, path, version, |line| {
            for_each_action(line, |key, value| {
                fn whole<T: DeserializeOwned + Into<Action>>(
                    value: &[u8],
                ) -> Result<Option<Option<Action>>, String> {
                    Ok(parse_whole::<T>(value)?.map(|v| Some(v.into())))
                }
                let parsed = match key {
                    "add" => whole::<Add>(value),
                    "remove" => whole::<Remove>(value),
                    "cdc" => whole::<Cdc>(value),
                    "metaData" => whole::<Metadata>(value),
                    "protocol" => whole::<Protocol>(value),
                    "txn" => whole::<Txn>(value),
                    "domainMetadata" => whole::<DomainMetadata>(value),
                    "commitInfo" => whole::<CommitInfo>(value),
                    "sidecar" => whole::<Sidecar>(value),
                    "checkpointMetadata" => whole::<CheckpointMetadata>(value),
                    _ => Ok(parse_whole::<serde::de::IgnoredAny>(value)?.map(|_| None)),
                }
                .map_err(|reason| format!("`{key}`: {reason}"))?;
                let Some(parsed) = parsed else { return Ok(false) };
                actions.extend(parsed);
                Ok(true)
            })
        })?;
        Ok(CommitActions { actions })
    }
}

/// Calls `visit` with every line of a body.
///
/// # Errors
/// [`Error::LogCorrupt`] with the number of the line, or when the body has no line.
pub(crate) fn for_each_line<'a>(
    body: &'a [u8],
    path: &str,
    version: Option<u64>,
    mut visit: impl FnMut(&'a [u8]) -> Result<(), String>,
) -> Result<()> {
    if body.trim_ascii().is_empty() {
        let reason = if body.is_empty() { "it is empty (0 bytes)" } else { "it holds only white space" };
        return Err(Error::corrupt(path, version, reason));
    }
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', body).chain(std::iter::once(body.len()));
    for (number, end) in ends.enumerate() {
        visit(&body[start..end])
            .map_err(|reason| Error::corrupt(path, version, format!("line {}: {reason}", number + 1)))?;
        start = (end + 1).min(body.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Result<CommitActions> {
        CommitActions::parse(body.as_bytes(), "c", Some(3))
    }

    #[test]
    fn a_line_with_nulls_for_the_other_actions_is_read() {
        let parsed = parse(
            r#"{"add":null,"txn":{"appId":"a","version":1},"remove":null}
{"unknown":{"x":[1,{"y":"}"}]}}
"#,
        );
        let txn = Txn { app_id: "a".into(), version: 1, last_updated: None };
        assert_eq!(parsed.unwrap().actions, vec![Action::Txn(txn)]);
    }

    #[test]
    fn a_torn_line_is_named() {
        let whole = r#"{"txn":{"appId":"a","version":1}}"#;
        for cut in 1..whole.len() {
            let error = parse(&format!("{whole}\n{}", &whole[..cut])).unwrap_err();
            assert!(
                matches!(&error, Error::LogCorrupt { version: Some(3), reason, .. } if reason.starts_with("line 2")),
                "{error}"
            );
        }
        assert!(parse("").unwrap_err().to_string().contains("it is empty (0 bytes)"));
    }

    #[test]
    fn an_add_borrows_what_has_no_escape() {
        let line = r#"{"path":"a.parquet","partitionValues":{"p":null,"q":"x"},"size":1,"modificationTime":2,"dataChange":true,"stats":"{\"numRecords\":1}"}"#;
        let add: AddLine<'_> = serde_json::from_str(line).unwrap();
        assert!(matches!(add.path, Cow::Borrowed("a.parquet")));
        assert_eq!(add.partition_values.unwrap().0.len(), 2);
        assert_eq!(add.stats.unwrap().get(), r#""{\"numRecords\":1}""#);
    }

    #[test]
    fn each_action_of_a_commit_or_checkpoint_is_parsed_by_its_key() {
        let lines = [
            ("add", r#"{"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}"#),
            ("remove", r#"{"path":"a","dataChange":true}"#),
            ("cdc", r#"{"path":"a","partitionValues":{},"size":1,"dataChange":false}"#),
            (
                "metaData",
                r#"{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"{}","partitionColumns":[],"configuration":{}}"#,
            ),
            ("protocol", r#"{"minReaderVersion":1,"minWriterVersion":2}"#),
            ("txn", r#"{"appId":"a","version":1}"#),
            ("domainMetadata", r#"{"domain":"d","configuration":"{}","removed":false}"#),
            ("commitInfo", r#"{"operation":"WRITE"}"#),
            ("sidecar", r#"{"path":"s","sizeInBytes":1,"modificationTime":1}"#),
            ("checkpointMetadata", r#"{"version":3}"#),
        ];
        for (key, value) in lines {
            let parsed = parse(&format!("{{\"{key}\":{value}}}")).unwrap().actions;
            let named = serde_json::to_value(&parsed).unwrap();
            assert_eq!(parsed.len(), 1, "{key}");
            assert!(named[0].get(key).is_some(), "{key}: {named}");
            // a value of another type is refused where the action is known
            assert!(parse(&format!("{{\"{key}\":[[]]}}")).is_err(), "{key}");
        }
    }

    #[test]
    fn a_line_without_any_action_is_skipped() {
        let txn = [Action::Txn(Txn { app_id: "a".into(), version: 1, last_updated: None })];
        for empty in ["{}", " { } ", "", "{\"txn\":null}", "{\"protocol\":null,\"metaData\":null}"] {
            let body = format!("{empty}\n{{\"txn\":{{\"appId\":\"a\",\"version\":1}}}}");
            assert_eq!(parse(&body).unwrap().actions, txn, "{empty}");
        }
    }
}
