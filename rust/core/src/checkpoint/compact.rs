use bytes::Bytes;

use crate::actions::{DomainMetadata, ObjectPath, Txn};
use crate::error::{Error, Result};
use crate::log::{Listing, LogFile, commit_name};
use crate::replay::{CHUNK, KeyLayer, RemoveLine, fetch, for_each_action, for_each_line, key, parse_whole};
use crate::store::{Location, PutOutcome};

/// What [`compact`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactDone {
    /// First version that the file covers.
    pub from: u64,
    /// Last one.
    pub to: u64,
    /// Name of the file in `_delta_log`.
    pub name: String,
    /// Whether it existed already.
    pub existed: bool,
    /// Actions in the commits.
    pub actions: u64,
    /// Actions in the file.
    pub kept: u64,
    /// Bytes of the file.
    pub size: u64,
}

/// Writes `from.to.compacted.json`: the actions of the commits `from` to `to`, both included, that count after all of
/// them, word for word. Replay of it gives what replay of the commits gives; the commits stay.
///
/// # Errors
/// [`Error::InvalidArgument`] for fewer than two commits, [`Error::LogGap`] when one of them is missing,
/// [`Error::LogCorrupt`] for one that is broken, and errors of the store.
///
/// # Cost
/// One listing and one read of each commit. Memory: the bodies of 256 commits, and what is kept.
pub fn compact(location: &Location, from: u64, to: u64) -> Result<CompactDone> {
    if from >= to {
        return Err(Error::InvalidArgument {
            argument: "to".into(),
            reason: format!("a compacted log covers two or more commits, not {from} to {to}"),
        });
    }
    let listing = Listing::read(location, from)?;
    let commits: Vec<LogFile> =
        listing.commits().filter(|c| (from..=to).contains(&c.version)).cloned().collect();
    if let Some(version) = (from..=to).zip(0..).find(|(v, i)| commits.get(*i).map(|c| c.version) != Some(*v))
    {
        let (version, missing) = (version.0, commit_name(version.0));
        return Err(Error::LogGap { path: location.root().to_string(), version, missing });
    }
    let dir = location.log_dir();
    let mut winners = Winners::default();
    for chunk in commits.rchunks(CHUNK) {
        for (body, file) in fetch(location, chunk)?.iter().zip(chunk).rev() {
            winners.older(body, file, &dir, location.root())?;
        }
    }
    let name = format!("{from:020}.{to:020}.compacted.json");
    let Winners { lines, actions, .. } = winners;
    let kept = lines.len() as u64;
    let mut body = Vec::with_capacity(lines.iter().map(|l| l.len() + 1).sum());
    for line in lines.into_iter().rev() {
        body.extend_from_slice(&line);
        body.push(b'\n');
    }
    if body.is_empty() {
        // commits with only provenance: a reader must find an action all the same
        body.extend_from_slice(b"{\"commitInfo\":{}}\n");
    }
    let size = body.len() as u64;
    let existed = location.store().put_if_absent(&dir.join(&name), body.into())? == PutOutcome::AlreadyExists;
    Ok(CompactDone { from, to, name, existed, actions, kept, size })
}

/// The lines that count, newest first.
#[derive(Default)]
struct Winners {
    files: KeyLayer,
    others: std::collections::HashSet<String>,
    lines: Vec<Bytes>,
    actions: u64,
}

impl Winners {
    /// Takes what counts of a commit that is older than those before.
    fn older(&mut self, body: &Bytes, file: &LogFile, dir: &ObjectPath, root: &ObjectPath) -> Result<()> {
        enum Key<'a> {
            File(RemoveLine<'a>),
            Other(String),
        }
        let mut found: Vec<(Key<'_>, &str, &[u8])> = Vec::new();
        for_each_line(body, &dir.join(&file.name).to_string(), Some(file.version), |line| {
            for_each_action(line, |action, value| {
                let (key, action) = match action {
                    "add" => (parse_whole(value)?.map(Key::File), "add"),
                    "remove" => (parse_whole(value)?.map(Key::File), "remove"),
                    "txn" => {
                        (parse_whole::<Txn>(value)?.map(|t| Key::Other(format!("txn {}", t.app_id))), "txn")
                    }
                    "domainMetadata" => {
                        let parsed = parse_whole::<DomainMetadata>(value)?;
                        (parsed.map(|d| Key::Other(format!("domain {}", d.domain))), "domainMetadata")
                    }
                    "protocol" => (any(value)?.map(|()| Key::Other("protocol".into())), "protocol"),
                    "metaData" => (any(value)?.map(|()| Key::Other("metaData".into())), "metaData"),
                    _ => return Ok(any(value)?.is_some()),
                };
                let whole = key.is_some();
                found.extend(key.map(|key| (key, action, value)));
                Ok(whole)
            })
        })?;
        for (found, action, value) in found.into_iter().rev() {
            self.actions += 1;
            let newest = match found {
                Key::File(file) => {
                    let vector = file.deletion_vector.as_ref();
                    self.files.insert(key(&file.path, vector, root)?, vector.is_some())
                }
                Key::Other(name) => self.others.insert(name),
            };
            if newest {
                // the value ends with the brace of the line, unless it was cut out of a line of several actions
                let value = value.trim_ascii();
                let mut line = Vec::with_capacity(value.len() + action.len() + 5);
                line.extend_from_slice(b"{\"");
                line.extend_from_slice(action.as_bytes());
                line.extend_from_slice(b"\":");
                line.extend_from_slice(value);
                line.push(b'}');
                self.lines.push(line.into());
            }
        }
        Ok(())
    }
}

/// Whether a value is one value and nothing more.
fn any(value: &[u8]) -> Result<Option<()>, String> {
    Ok(parse_whole::<serde::de::IgnoredAny>(value)?.map(drop))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::ObjectAdapter;

    /// The lines of the compacted file of commits with these bodies, and what was done.
    fn compacted(commits: &[&str]) -> Result<(CompactDone, Vec<String>)> {
        let root = ObjectPath::new("memory://", "/t");
        let location = Location::with_store(root, Arc::new(ObjectAdapter::memory()));
        for (version, body) in commits.iter().enumerate() {
            let path = location.log_dir().join(&format!("{version:020}.json"));
            location.store().put(&path, (*body).to_owned().into())?;
        }
        let done = compact(&location, 0, commits.len() as u64 - 1)?;
        let body = location.store().get(&location.log_dir().join(&done.name))?;
        let lines = std::str::from_utf8(&body).unwrap().lines().map(str::to_owned).collect();
        Ok((done, lines))
    }

    const PROTOCOL: &str = r#""protocol":{"minReaderVersion":1,"minWriterVersion":2}"#;
    const TXN: &str = r#""txn":{"appId":"a","version":1}"#;

    #[test]
    fn a_line_of_several_actions_becomes_one_line_an_action() {
        let first = format!("{{{PROTOCOL},{TXN}}}");
        let second = format!("{{{}}}", TXN.replace("\"version\":1", "\"version\":2"));
        let (done, lines) = compacted(&[&first, &second]).unwrap();
        assert_eq!((done.actions, done.kept), (3, 2));
        assert_eq!(lines, [format!("{{{PROTOCOL}}}"), second]);
    }

    #[test]
    fn a_torn_line_of_any_action_is_refused() {
        let whole = format!("{{{TXN}}}");
        for torn in
            [r#"{"commitInfo":{"a":[}}"#, r#"{"protocol":[}"#, r#"{"metaData":{"id":"}"#, r#"{"new":{]}"#]
        {
            let error = compacted(&[&whole, torn]).unwrap_err();
            assert!(matches!(error, Error::LogCorrupt { version: Some(1), .. }), "{torn}: {error:?}");
        }
    }
}
