use crate::actions::{ActionRef, CommitInfo, Metadata, Protocol};
use crate::snapshot::Snapshot;
use crate::store::Location;

/// A commit that is in the log.
#[derive(Debug, Clone, Copy)]
pub struct NewCommit<'a> {
    /// The table.
    pub location: &'a Location,
    /// Version of the commit.
    pub version: u64,
    /// Its provenance.
    pub info: &'a CommitInfo,
    /// Its actions.
    pub actions: &'a [ActionRef<'a>],
    /// Protocol of the version.
    pub protocol: &'a Protocol,
    /// Metadata of the version.
    pub metadata: &'a Metadata,
    /// A snapshot that the commit was made from, where there is one: a checkpoint then reads only what came after it.
    pub snapshot: Option<&'a Snapshot>,
}
