//! Replay of the log in columns (PROTOCOL.md, "Action Reconciliation").
//!
//! 1. The commits after the checkpoint are parsed in parallel, newest first; only their keys (path, deletion-vector id)
//!    enter a hash set, only the `add`s that survive become columns: the `Tail`.
//! 2. Checkpoint rows are columns from the start. Row groups are read in parallel, projected to what is asked for,
//!    probed against the keys of the tail and marked in a selection bitmap; they never enter a hash map.
//! 3. Pruning comes between: partition values first, then statistics of what is left, then the columns themselves.

mod checkpoint;
mod checkpoint_file;
mod checkpoint_pages;
mod checksum_validation;
mod columns;
mod commit_info;
mod commits;
mod decoded_schema;
mod held_stats;
mod json_adds;
mod keys;
mod line;
mod pruned_rows;
mod row_group;
#[cfg(test)]
mod row_group_tests;
mod scan_source;
mod stats_json;
mod stream;
mod tail;
mod transactions;

pub(crate) use checkpoint::CheckpointReader;
pub(crate) use checkpoint_file::CheckpointFile;
pub(crate) use checksum_validation::{Blame, Count, Files, Otherwise, Totals, check_table};
pub use columns::{FileBatch, FilesRequest};
pub(crate) use columns::{STRING_MAP, VECTOR, conform, vector_at};
pub(crate) use commit_info::info_of;
pub(crate) use commits::{CHUNK, fetch, scan_for_metadata, scan_for_protocol_and_metadata};
pub(crate) use keys::{KeyLayer, KeySet, key};
pub use line::CommitActions;
pub(crate) use line::{RemoveLine, for_each_action, for_each_line, parse_whole};
pub(crate) use scan_source::ScanSource;
pub use stream::FileStream;
pub(crate) use tail::{Tail, without};
