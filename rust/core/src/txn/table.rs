use crate::actions::{Action, DomainMetadata, Metadata, Protocol};
use crate::conflict::Winner;
use crate::error::Result;
use crate::features::{assigns_row_ids, has_in_commit_timestamps, high_water_mark};
use crate::snapshot::{Snapshot, in_commit_timestamp};

/// The table before the next commit, which the winners of lost races advance.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// Newest version.
    pub(super) version: u64,
    /// Its protocol.
    pub(super) protocol: Protocol,
    /// Its metadata.
    pub(super) metadata: Metadata,
    /// Its in-commit timestamp, where it has one.
    pub(super) in_commit_timestamp: Option<i64>,
    /// The highest row id that was given.
    pub(super) highest_row_id: Option<i64>,
}

impl Table {
    /// The table of a snapshot. `protocol` and `metadata` are those after the commit: they decide what must be known of it.
    ///
    /// # Errors
    /// As [`Snapshot::domain_metadata`]; [`Error::LogCorrupt`] for a commit without the timestamp that it owes.
    pub(super) fn of(snapshot: &Snapshot, protocol: &Protocol, metadata: &Metadata) -> Result<Self> {
        let mut table = Table {
            version: snapshot.version(),
            protocol: snapshot.protocol().clone(),
            metadata: snapshot.metadata().clone(),
            in_commit_timestamp: None,
            highest_row_id: None,
        };
        let path = snapshot.location().root().to_string();
        if has_in_commit_timestamps(snapshot.metadata()) {
            table.in_commit_timestamp = Some(in_commit_timestamp(snapshot.location(), table.version)?);
        }
        if assigns_row_ids(protocol, metadata) {
            for domain in snapshot.domain_metadata()? {
                table.note(&path, &domain)?;
            }
        }
        Ok(table)
    }

    /// Advances past a winner.
    pub(super) fn follow(&mut self, path: &str, winner: &Winner) -> Result<()> {
        self.version = winner.version;
        for action in &winner.actions {
            match action {
                Action::Protocol(protocol) => self.protocol = protocol.clone(),
                Action::MetaData(metadata) => self.metadata = metadata.as_ref().clone(),
                Action::DomainMetadata(domain) => self.note(path, domain)?,
                _ => {}
            }
        }
        let theirs = winner.info().and_then(|i| i.in_commit_timestamp);
        self.in_commit_timestamp = match has_in_commit_timestamps(&self.metadata) {
            true => theirs.max(self.in_commit_timestamp),
            false => None,
        };
        Ok(())
    }

    fn note(&mut self, path: &str, domain: &DomainMetadata) -> Result<()> {
        self.highest_row_id = self.highest_row_id.max(high_water_mark(path, domain)?);
        Ok(())
    }
}
