//! Operations on whole tables. Each reads one version, and commits what it does in one of its own.

mod files;
mod fsck;
mod restore;
mod tombstones;
mod vacuum;
mod vacuum_plan;

pub use fsck::{FsckDone, fsck};
pub use restore::{RestoreDone, RestoreOptions, restore};
pub use vacuum::{VacuumDone, VacuumOptions, vacuum};
pub use vacuum_plan::VacuumMode;
