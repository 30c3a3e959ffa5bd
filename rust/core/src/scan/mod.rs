//! Reading rows: data files without their deleted rows, as Arrow batches in the table's types.

mod calendar;
mod cast;
mod conversion;
mod decode;
pub mod deletion_vector;
pub mod explain;
mod file;
mod file_facts;
mod flat;
mod footer;
mod guard;
pub mod handover;
mod leaves;
mod matching;
mod page_sizes;
mod pages;
pub mod partition;
mod partition_values;
mod placed;
mod project;
#[cfg(test)]
mod proptests;
mod read;
mod request;
mod row_ids;
mod rows;
mod selection;
mod skip;
mod spark_schema;
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
pub(crate) use guard::guarded;
pub(crate) use leaves::retype;
pub(crate) use matching::BY_NAME;
pub use page_sizes::MAX_PAGE_BYTES;
pub use partition_values::{distinct_partitions, partition_columns};
pub(crate) use placed::PlacedRows;
pub use read::{FileRows, RowScan, read_file};
pub use request::ReadRequest;
pub(crate) use row_ids::RowIds;
pub use row_ids::{ROW_COMMIT_VERSION, ROW_ID, row_id_bases, row_id_columns};
pub use rows::read;
pub(crate) use rows::workers;
pub(crate) use selection::{check_vector, row_count};
pub(crate) use spark_schema::schema_json;
pub(crate) use split::splits_of;
pub use split::{Split, SplitRows, splits, surviving_files};
pub use stream::RowStream;
