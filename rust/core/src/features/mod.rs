//! Table features: what a reader and a writer must do (PROTOCOL.md, "Table Features").

mod reader;
mod supported;
mod table;
mod usage;

pub use reader::{MAX_READER_VERSION, check_reader, check_uses};
pub use table::{FEATURES, Feature, Removal, feature, used_features};
pub use usage::Use;
