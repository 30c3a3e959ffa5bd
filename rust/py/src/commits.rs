//! What one commit did, in numbers.

use deltaic_core::Result;
use deltaic_core::actions::{Action, CommitInfo, DomainMetadata, Metadata, Protocol, Txn};
use deltaic_core::replay::CommitActions;
use deltaic_core::store::Location;
use serde::Serialize;

/// A commit, counted. Actions of which a commit has few are given whole.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    version: u64,
    commit_info: Option<Box<CommitInfo>>,
    protocol: Option<Protocol>,
    metadata: Option<Box<Metadata>>,
    txns: Vec<Txn>,
    domains: Vec<DomainMetadata>,
    adds: u64,
    added_bytes: u64,
    removes: u64,
    removed_bytes: u64,
    /// Adds and removes that carry a deletion vector.
    deletion_vectors: u64,
    cdc: u64,
}

/// Reads the commit of a version.
///
/// # Errors
/// [`deltaic_core::Error::NotFound`] when the commit is not in the log any more, [`deltaic_core::Error::LogCorrupt`] when it cannot
/// be read.
pub(crate) fn summary(location: &Location, version: u64) -> Result<Summary> {
    let path = location.log_dir().join(&format!("{version:020}.json"));
    let body = location.store().get(&path)?;
    let commit = CommitActions::parse(&body, &path.to_string(), Some(version))?;
    let mut summary = Summary { version, ..Default::default() };
    for action in commit.actions {
        summary.take(action);
    }
    Ok(summary)
}

impl Summary {
    fn take(&mut self, action: Action) {
        let bytes = |size: i64| u64::try_from(size).unwrap_or_default();
        match action {
            Action::Add(add) => {
                self.adds += 1;
                self.added_bytes = self.added_bytes.saturating_add(bytes(add.size));
                self.deletion_vectors += u64::from(add.deletion_vector.is_some());
            }
            Action::Remove(remove) => {
                self.removes += 1;
                self.removed_bytes =
                    self.removed_bytes.saturating_add(bytes(remove.size.unwrap_or_default()));
                self.deletion_vectors += u64::from(remove.deletion_vector.is_some());
            }
            Action::Cdc(_) => self.cdc += 1,
            Action::MetaData(metadata) => self.metadata = Some(metadata),
            Action::Protocol(protocol) => self.protocol = Some(protocol),
            Action::Txn(txn) => self.txns.push(txn),
            Action::DomainMetadata(domain) => self.domains.push(domain),
            Action::CommitInfo(info) => self.commit_info = Some(info),
            // of checkpoints, and what later versions of the protocol bring
            _ => {}
        }
    }
}
