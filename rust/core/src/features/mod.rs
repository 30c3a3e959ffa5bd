//! Table features: what a reader and a writer must do (PROTOCOL.md, "Table Features").

mod clustering;
mod in_commit_timestamps;
mod reader;
mod row_tracking;
mod supported;
mod table;
mod table_feature;
mod usage;
mod writer;

pub use clustering::CLUSTERING_DOMAIN;
pub(crate) use clustering::clustering_columns;
pub(crate) use in_commit_timestamps::{has_in_commit_timestamps, in_commit_since};
pub use reader::{MAX_READER_VERSION, check_reader, check_uses};
pub(crate) use row_tracking::{HighWaterMark, ROW_TRACKING_DOMAIN, assigns_row_ids, high_water_mark};
pub use table::{FEATURES, Feature, Removal, feature, used_features};
pub use table_feature::TableFeature;
pub use usage::Use;
pub use writer::check_writer;
