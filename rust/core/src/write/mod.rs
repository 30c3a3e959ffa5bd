//! Writes: Arrow batches become data files with statistics, and the files a commit.

mod append;
mod assign;
mod compression;
mod create;
mod features;
mod fit;
mod footer_stats;
mod frame_columns;
mod identities;
mod mode;
mod overwrite;
mod parquet_writer;
mod partition_path;
mod partition_value;
mod plan;
mod rules;
mod schema;
mod split;
mod spread;
mod stats;
mod stats_columns;
mod stats_json;
mod text_limits;
mod uploads;

pub use append::{commit_adds, write};
pub(crate) use compression::codec as parquet_codec;
pub use features::{check_writer, check_writer_features};
pub use footer_stats::{WrittenFile, footer_adds};
pub use frame_columns::{FrameColumn, FrameColumns};
pub use mode::{WriteMode, WriteOptions, WriteResult};
pub use plan::{Target, WritePlan, plan_write};
pub use schema::{as_nullable, from_arrow};
pub use spread::SpreadWrite;
pub use stats_columns::StatsColumns;
pub(crate) use stats_columns::{Node as StatsNode, has_bounds};
pub use text_limits::TextLimit;
