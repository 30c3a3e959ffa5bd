//! Checkpoints and what else keeps a log short (PROTOCOL.md, "Checkpoints", "Log Compaction Files", "Version Checksum
//! File", "Metadata Cleanup").
//!
//! A checkpoint is streamed: live files come as columns, a run at a time, are ordered by partition and clustering values
//! for pruning, and leave as small row groups. Tombstones are read from the old checkpoint and the commits after it.

mod checksum;
mod cleanup;
mod compact;
mod encode;
mod hint;
mod job;
mod reuse;
mod rows;
mod schema;
mod source;
mod stats;
mod stats_columns;
mod v1;
mod v2;
mod write;

pub use checksum::{
    checksum_of, checksum_path, put_checksum, read_checksum, validate_checksum, write_checksum,
};
pub(crate) use cleanup::cleanup_before;
pub use cleanup::{CleanupDone, Deletable, cleanup, cleanup_at, deletable, deletable_sidecars};
pub use compact::{CompactDone, compact};
pub use job::CheckpointDone;
pub use write::checkpoint;
