//! What follows a commit: checkpoints, checksums, cleanup of the log, and manifests.

mod hooks;
pub(crate) mod manifest;

pub use hooks::{AfterCommit, NewCommit, after_commit};
pub use manifest::{ManifestDone, generate_manifest};
