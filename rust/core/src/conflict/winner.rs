use crate::actions::{Action, CommitInfo, Metadata, Protocol, Txn};
use crate::error::{Error, Result};
use crate::log::{Listing, commit_name, commit_path};
use crate::replay::CommitActions;
use crate::store::Location;

/// A commit that landed while we were at work.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Winner {
    /// Its version.
    pub version: u64,
    /// What it did.
    pub actions: Vec<Action>,
}

impl Winner {
    /// Reads a commit.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when it is empty or a line is no action: it may be torn, so nothing is concluded from
    /// it.
    pub fn parse(version: u64, path: &str, body: &[u8]) -> Result<Self> {
        Ok(Winner { version, actions: CommitActions::parse(body, path, Some(version))?.actions })
    }

    /// Its provenance, where it wrote one.
    pub fn info(&self) -> Option<&CommitInfo> {
        self.actions.iter().find_map(|a| match a {
            Action::CommitInfo(info) => Some(info.as_ref()),
            _ => None,
        })
    }

    /// The protocol that it set.
    pub fn protocol(&self) -> Option<&Protocol> {
        self.actions.iter().find_map(|a| match a {
            Action::Protocol(protocol) => Some(protocol),
            _ => None,
        })
    }

    /// The metadata that it set.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.actions.iter().find_map(|a| match a {
            Action::MetaData(metadata) => Some(metadata.as_ref()),
            _ => None,
        })
    }

    /// The application transactions that it recorded.
    pub fn txns(&self) -> impl Iterator<Item = &Txn> {
        self.actions.iter().filter_map(|a| match a {
            Action::Txn(txn) => Some(txn),
            _ => None,
        })
    }

    /// Operation, for messages.
    pub fn operation(&self) -> Option<String> {
        self.info().and_then(|i| i.operation.clone())
    }
}

/// All commits from `version` to the head of the log, in order: one listing, then all of them at once.
///
/// # Errors
/// Errors of the store, [`Error::LogGap`] when a commit is missing before an existing one, and [`Error::LogCorrupt`] for
/// one that cannot be read.
pub fn winners_from(location: &Location, version: u64) -> Result<Vec<Winner>> {
    let mut head = version;
    for file in Listing::read(location, version)?.commits() {
        if file.version != head {
            let path = location.root().to_string();
            return Err(Error::LogGap { path, version: head, missing: commit_name(head) });
        }
        head += 1;
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
    fn the_parts_of_a_winner_have_names() {
        let body = concat!(
            r#"{"commitInfo":{"operation":"WRITE","txnId":"x"}}"#,
            "\n",
            r#"{"txn":{"appId":"a","version":3}}"#,
            "\n",
            r#"{"add":{"path":"p","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}"#,
            "\n"
        );
        let winner = Winner::parse(4, "4.json", body.as_bytes()).unwrap();
        assert_eq!((winner.protocol(), winner.metadata()), (None, None));
        assert_eq!(winner.operation().as_deref(), Some("WRITE"));
        let txns: Vec<_> = winner.txns().cloned().collect();
        assert_eq!(txns, [Txn { app_id: "a".into(), version: 3, last_updated: None }]);
    }

    #[test]
    fn a_torn_or_empty_commit_is_an_error() {
        for body in ["", "\n", "{\"commitInfo\":{\"operation\":\"WRI"] {
            let error = Winner::parse(1, "1.json", body.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), "LogCorrupt", "{body}");
        }
    }
}
