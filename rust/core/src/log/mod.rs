//! The files of `_delta_log`: what a name means, which files make up a version, and the hint that saves the listing
//! (PROTOCOL.md, "Delta Log Entries", "Checkpoints", "Last Checkpoint File").

mod hint;
mod listing;
mod path;
mod segment;
mod settings;

pub use hint::{LastCheckpoint, LastV2Checkpoint};
pub use listing::Listing;
pub use path::{CheckpointFormat, LogFile, LogFileKind, commit_name, commit_path};
pub(crate) use segment::complete_checkpoints;
pub use segment::{Checkpoint, LogSegment};
pub(crate) use settings::DAY;
pub use settings::{CheckpointPolicy, LogSettings};
