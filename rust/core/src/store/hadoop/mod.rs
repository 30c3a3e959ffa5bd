//! The settings of Hadoop's file systems (`fs.s3a.*`, `fs.azure.*`, `fs.gs.*`, `dfs.*`) as options of the stores.

mod azure;
mod gcs;
mod reverse;
mod s3a;
mod settings;

pub(super) use azure::azure;
pub(super) use gcs::gcs;
pub use reverse::hadoop_settings;
pub(super) use s3a::{is_default_chain, s3a};
pub(super) use settings::{DEFAULT_FS, Mapped, Settings, default_fs, is_setting};
