//! Reading rows: data files without their deleted rows, as Arrow batches in the table's types.

mod calendar;
mod cast;
mod conversion;
pub mod deletion_vector;
mod file;
mod file_facts;
mod flat;
mod footer;
pub mod handover;
mod leaves;
mod matching;
mod pages;
pub mod partition;
mod placed;
mod project;
#[cfg(test)]
mod proptests;
mod read;
mod request;
mod rows;
mod selection;
mod skip;
mod split;
mod stream;
#[cfg(test)]
pub(crate) mod testing;
mod variant;

pub(crate) use calendar::Calendar;
pub use deletion_vector::DeletionVector;
pub(crate) use file::DataFile;
pub use file_facts::file_facts;
pub(crate) use footer::{ColumnFacts, column_facts};
pub(crate) use leaves::retype;
pub(crate) use matching::BY_NAME;
pub(crate) use placed::PlacedRows;
pub use read::{FileRows, RowScan, read_file};
pub use request::ReadRequest;
pub use rows::read;
pub(crate) use rows::workers;
pub(crate) use selection::{check_vector, row_count};
pub(crate) use split::splits_of;
pub use split::{Split, SplitRows, splits, surviving_files};
pub use stream::RowStream;
