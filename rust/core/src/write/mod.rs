//! Writes: Arrow batches become data files with statistics, and the files a commit.

mod features;
mod mode;
mod schema;

pub use features::{SUPPORTED_WRITER_FEATURES, check_writer};
pub use mode::{WriteMode, WriteOptions, WriteResult};
pub use schema::{as_nullable, from_arrow};
