use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::actions::{CommitInfo, Txn};
use crate::error::{Error, Result};
use crate::log::commit_name;
use crate::store::Location;

use super::write::commit_path;

/// A commit that landed while we were at work: what of it can forbid ours to follow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Winner {
    /// Its version.
    pub version: u64,
    /// Its provenance.
    pub info: Option<CommitInfo>,
    /// Whether it changed the protocol.
    pub changes_protocol: bool,
    /// Whether it changed the metadata.
    pub changes_metadata: bool,
    /// The application transactions that it recorded.
    pub txns: Vec<Txn>,
}

/// The parts of an action line that matter here; everything else is passed over.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "commitInfo")]
    commit_info: Option<CommitInfo>,
    protocol: Option<IgnoredAny>,
    #[serde(rename = "metaData")]
    metadata: Option<IgnoredAny>,
    txn: Option<Txn>,
}

impl Winner {
    /// Reads a commit.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when it is empty or a line is no action: it may be torn, so nothing is concluded from it.
    pub fn parse(version: u64, path: &str, body: &[u8]) -> Result<Self> {
        let mut winner = Winner { version, ..Default::default() };
        let mut lines = 0;
        for line in body.split(|b| *b == b'\n').filter(|l| !l.trim_ascii().is_empty()) {
            let line: Line = serde_json::from_slice(line)
                .map_err(|e| Error::corrupt(path, Some(version), format!("line {}: {e}", lines + 1)))?;
            lines += 1;
            winner.changes_protocol |= line.protocol.is_some();
            winner.changes_metadata |= line.metadata.is_some();
            winner.txns.extend(line.txn);
            if line.commit_info.is_some() {
                winner.info = line.commit_info;
            }
        }
        if lines == 0 {
            return Err(Error::corrupt(path, Some(version), "the commit is empty"));
        }
        Ok(winner)
    }

    /// Operation, for messages.
    pub fn operation(&self) -> Option<String> {
        self.info.as_ref().and_then(|i| i.operation.clone())
    }
}

/// All commits from `version` to the head of the log, in order: one listing, then all of them at once.
///
/// # Errors
/// What the store says, and [`Error::LogCorrupt`] for a commit that cannot be read.
pub fn winners_from(location: &Location, version: u64) -> Result<Vec<Winner>> {
    let listed = location.store().list_from(&location.log_dir(), &commit_name(version))?;
    let mut head = version;
    for file in &listed {
        if file.name == commit_name(head) {
            head += 1;
        }
    }
    let paths: Vec<_> = (version..head).map(|v| commit_path(location, v)).collect();
    let bodies = location.store().get_many(&paths);
    (version..head)
        .zip(paths.iter().zip(bodies))
        .map(|(v, (path, body))| Winner::parse(v, &path.to_string(), &body?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_forbid_a_commit_is_taken() {
        let body = concat!(
            r#"{"commitInfo":{"operation":"WRITE","txnId":"x"}}"#,
            "\n",
            r#"{"txn":{"appId":"a","version":3}}"#,
            "\n",
            r#"{"add":{"path":"p","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}"#,
            "\n"
        );
        let winner = Winner::parse(4, "4.json", body.as_bytes()).unwrap();
        assert_eq!((winner.changes_protocol, winner.changes_metadata), (false, false));
        assert_eq!(winner.operation().as_deref(), Some("WRITE"));
        assert_eq!(winner.txns, [Txn { app_id: "a".into(), version: 3, last_updated: None }]);
    }

    #[test]
    fn a_torn_or_empty_commit_is_an_error() {
        for body in ["", "\n", "{\"commitInfo\":{\"operation\":\"WRI"] {
            let error = Winner::parse(1, "1.json", body.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), "LogCorrupt", "{body}");
        }
    }
}
