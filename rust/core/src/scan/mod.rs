//! Reading rows: data files without their deleted rows, as Arrow batches in the table's types.

mod calendar;
mod cast;
pub mod deletion_vector;
mod file;
pub mod handover;
mod leaves;
pub mod partition;
mod project;
mod read;
mod request;
mod rows;
mod skip;
mod stream;
#[cfg(test)]
mod testing;
mod type_changes;

pub use deletion_vector::DeletionVector;
pub(crate) use file::DataFile;
pub use read::{FileRows, RowScan, read_file};
pub use request::ReadRequest;
pub use rows::read;
pub use stream::RowStream;
