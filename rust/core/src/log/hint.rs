use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actions::{ObjectPath, Sidecar};
use crate::error::{Error, Result};
use crate::store::Location;

/// `_last_checkpoint`: where a recent checkpoint is. Only a hint: the log is the truth, and a hint that is broken or
/// points nowhere costs a longer listing and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastCheckpoint {
    /// Version of the checkpoint.
    pub version: u64,
    /// Number of actions in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Number of parts of a multi-part checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u32>,
    /// Size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_in_bytes: Option<i64>,
    /// Number of `add` actions in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_of_add_files: Option<i64>,
    /// Schema of the checkpoint's Parquet file, in the form of the protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_schema: Option<Value>,
    /// The top-level file of a V2 checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v2_checkpoint: Option<LastV2Checkpoint>,
    /// MD5 of the canonical form of everything else; made by [`LastCheckpoint::to_json`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

/// The top-level file of a V2 checkpoint, as the hint names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastV2Checkpoint {
    /// File name in `_delta_log`.
    pub path: String,
    /// Size in bytes.
    #[serde(default)]
    pub size_in_bytes: i64,
    /// Modification time, in milliseconds since the Unix epoch.
    #[serde(default)]
    pub modification_time: i64,
    /// All its actions but sidecars and files, where they are few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub non_file_actions: Option<Vec<Value>>,
    /// Its sidecars, where they are few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sidecar_files: Option<Vec<Sidecar>>,
}

impl LastCheckpoint {
    /// Name in `_delta_log`.
    pub const NAME: &'static str = "_last_checkpoint";

    /// Reads the hint; `None` where there is none. One whose checksum is not that of the rest says where a checkpoint
    /// is, and is not trusted for its content.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when it is not the JSON of a hint, [`Error::Storage`] when it cannot be read. Neither is
    /// a reason to refuse the table.
    pub fn read(location: &Location) -> Result<Option<Self>> {
        let path = location.log_dir().join(Self::NAME);
        let body = match location.store().get(&path) {
            Err(Error::NotFound { .. }) => return Ok(None),
            body => body?,
        };
        let mut hint = Self::parse(&body, &path)?;
        if hint.num_of_add_files.is_some() && !Self::checksum_is_right(&body) {
            hint.num_of_add_files = None;
        }
        Ok(Some(hint))
    }

    /// Parses the text of a hint.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when it is not the JSON of a hint.
    pub(crate) fn parse(body: &[u8], path: &ObjectPath) -> Result<Self> {
        let broken = |reason: String| Error::corrupt(path.to_string(), None, reason);
        let hint: Self = serde_json::from_slice(body).map_err(|e| broken(e.to_string()))?;
        if i64::try_from(hint.version).is_err() {
            return Err(broken(format!("no table has a version {}", hint.version)));
        }
        Ok(hint)
    }

    /// Whether the checksum in the text of a hint is that of the rest; a text without one is right.
    pub(crate) fn checksum_is_right(body: &[u8]) -> bool {
        serde_json::from_slice::<Value>(body).is_ok_and(|value| {
            value.get("checksum").and_then(Value::as_str).is_none_or(|said| said == checksum(&value))
        })
    }

    /// The text of the hint, with its checksum.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when it cannot be JSON, which a bug would do.
    pub fn to_json(&self) -> Result<String> {
        let failed = |e: serde_json::Error| Error::InvalidArgument {
            argument: Self::NAME.into(),
            reason: e.to_string(),
        };
        let plain = LastCheckpoint { checksum: None, ..self.clone() };
        let value = serde_json::to_value(&plain).map_err(failed)?;
        let hint = LastCheckpoint { checksum: Some(checksum(&value)), ..plain };
        serde_json::to_string(&hint).map_err(failed)
    }
}

/// MD5 of the canonical form of a JSON value (PROTOCOL.md, "JSON checksum").
fn checksum(value: &Value) -> String {
    Md5::digest(canonical(value)).iter().map(|b| format!("{b:02x}")).collect()
}

/// Paths and values of all leaves but the top-level `checksum`, ordered as texts: `+10=` is before `+1=`.
fn canonical(value: &Value) -> String {
    fn walk(value: &Value, path: &str, out: &mut Vec<String>) {
        let below = |name: String| if path.is_empty() { name } else { format!("{path}+{name}") };
        match value {
            Value::Object(map) => map.iter().for_each(|(k, v)| walk(v, &below(quoted(k)), out)),
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(i, v)| walk(v, &below(i.to_string()), out));
            }
            Value::String(text) => out.push(format!("{path}={}", quoted(text))),
            other => out.push(format!("{path}={other}")),
        }
    }
    let mut leaves = Vec::new();
    walk(value, "", &mut leaves);
    leaves.retain(|leaf| !leaf.starts_with("\"checksum\"="));
    leaves.sort();
    leaves.join(",")
}

fn quoted(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::from("\"");
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // writing to a string does not fail
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_example_in_the_protocol() {
        let json = r#"{"k0":"'v 0'", "checksum": "adsaskfljadfkjadfkj", "k1":{"k2": 2, "k3": ["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]}}"#;
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(
            canonical(&value),
            r#""k0"="%27v%200%27","k1"+"k2"=2,"k1"+"k3"+0="v3","k1"+"k3"+1+0=1,"k1"+"k3"+1+1=2,"k1"+"k3"+2+"k4"="v4","k1"+"k3"+2+"k5"+0="v5","k1"+"k3"+2+"k5"+1="v6","k1"+"k3"+2+"k5"+2="v7""#
        );
        assert_eq!(checksum(&value), "6a92d155a59bf2eecbd4b4ec7fd1f875");
    }

    #[test]
    fn elements_of_a_list_are_ordered_as_texts() {
        let value: Value = serde_json::from_str(r#"{"k":[0,1,2,3,4,5,6,7,8,9,"x"]}"#).unwrap();
        assert!(canonical(&value).starts_with(r#""k"+0=0,"k"+10="x","k"+1=1,"k"+2=2"#));
    }

    #[test]
    fn the_oldest_fields_are_in_front() {
        let hint = LastCheckpoint { version: 7, size: Some(3), parts: Some(2), ..Default::default() };
        let json = hint.to_json().unwrap();
        assert!(json.starts_with(r#"{"version":7,"size":3,"parts":2,"checksum":""#), "{json}");
    }
}
