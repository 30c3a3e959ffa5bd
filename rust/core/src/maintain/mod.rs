//! Operations on whole tables. Each reads one version, and commits what it does in one of its own.

mod alter_operation;
mod alter_table;
mod backfill;
mod bins;
mod check_rows;
mod clone;
mod convert;
mod convert_files;
mod convert_schema;
mod detail;
mod drop_feature;
mod feature_steps;
mod feature_traces;
mod files;
mod fsck;
pub(crate) mod manifest;
mod optimize;
mod restore;
mod rewrite_files;
mod tombstones;
mod vacuum;
mod vacuum_plan;

pub(crate) use alter_table::definition;
pub use alter_table::{Alteration, alter_table};
pub use clone::{CloneDone, CloneOptions, shallow_clone};
pub use convert::{ConvertDone, ConvertOptions, Partitioning, convert};
pub use detail::clustering_columns;
pub use drop_feature::{DropDone, DropOptions, drop_feature};
pub(crate) use files::{look, needs};
pub use fsck::{FsckDone, fsck};
pub use manifest::{ManifestDone, generate_manifest};
pub use optimize::{OptimizeDone, OptimizeOptions, optimize};
pub use restore::{RestoreDone, RestoreOptions, restore};
pub use vacuum::{VacuumDone, VacuumOptions, vacuum};
pub use vacuum_plan::VacuumMode;
