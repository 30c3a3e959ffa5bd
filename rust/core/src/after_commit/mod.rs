//! What follows a commit: checkpoints, checksums, cleanup of the log, and manifests.

mod hooks;
pub(crate) mod manifest;
mod new_commit;

pub use hooks::{AfterCommit, after_commit};
pub use manifest::{ManifestDone, generate_manifest};
pub use new_commit::NewCommit;
