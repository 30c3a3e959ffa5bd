//! In-commit timestamps (PROTOCOL.md, "In-Commit Timestamps"): whether a table has them, and since when.

use crate::actions::Metadata;
use crate::properties::TableProperty;

/// Whether every commit of the table has a timestamp of its own.
pub(crate) fn has_in_commit_timestamps(metadata: &Metadata) -> bool {
    metadata.is_true(TableProperty::EnableInCommitTimestamps)
}

/// When in-commit timestamps began to count (PROTOCOL.md, "In-Commit Timestamps"): the version, or `None` where they
/// are off.
pub(crate) fn in_commit_since(metadata: &Metadata) -> Option<u64> {
    let version =
        || metadata.property(TableProperty::InCommitTimestampEnablementVersion).and_then(|v| v.parse().ok());
    has_in_commit_timestamps(metadata).then(|| version().unwrap_or(0))
}
