//! Reading rows: data files without their deleted rows, as Arrow batches in the table's types.

mod cast;
mod conversion;
mod decode;
pub mod explain;
mod file_facts;
mod footer;
mod leaves;
mod matching;
mod ordered;
mod other_fields;
mod pages;
mod partition_values;
mod positions;
mod project;
mod prunable_columns;
mod read;
mod request;
mod row_filter;
mod row_ids;
mod row_positions;
mod rows;
mod selection;
mod skip;
mod split;
mod stream;
mod variant;

pub use file_facts::file_facts;
pub(crate) use footer::{ColumnFacts, column_facts};
pub(crate) use leaves::retype;
pub(crate) use ordered::{InTurn, Job, in_turn, workers};
pub(crate) use other_fields::has_other_fields;
pub use partition_values::{distinct_partitions, partition_columns};
pub use read::{FileRows, RowScan, read_file};
pub use request::ReadRequest;
pub use row_filter::RowFilter;
pub(crate) use row_ids::RowIds;
pub use row_ids::{ROW_COMMIT_VERSION, ROW_ID, row_id_bases, row_id_columns};
pub(crate) use row_positions::PositionedRows;
pub use rows::read;
pub(crate) use selection::{check_vector, row_count};
pub(crate) use split::splits_of;
pub use split::{Split, SplitRows, splits, surviving_files};
pub use stream::RowStream;

#[cfg(test)]
mod proptests;
#[cfg(test)]
pub(crate) mod testing;
