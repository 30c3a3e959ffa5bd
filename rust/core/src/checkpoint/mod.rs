//! Checkpoints and what else keeps a log short (PROTOCOL.md, "Checkpoints", "Log Compaction Files", "Version Checksum
//! File", "Metadata Cleanup").
//!
//! A checkpoint is streamed: live files come as columns, a run at a time, are ordered by partition and clustering values
//! for pruning, and leave as small row groups. Tombstones are read from the old checkpoint and the commits after it.

mod encode;
mod hint;
mod interval;
mod reuse;
mod rows;
mod schema;
mod settings;
mod source;
mod stats;
mod v1;
mod v2;
mod write;

pub use interval::parse_interval;
pub use settings::{CheckpointPolicy, LogSettings};
pub use write::{CheckpointDone, checkpoint};
