//! The rows of a snapshot.

use std::sync::Arc;

use super::read::RowScan;
use super::request::ReadRequest;
use super::stream::RowStream;
use crate::actions::Add;
use crate::error::Result;
use crate::replay::FilesRequest;
use crate::snapshot::Snapshot;

/// Most files that are read at once. More hides the latency of a store; a local disk needs no more than its cores.
const MOST_WORKERS: usize = 8;

/// Reads rows of a snapshot to Arrow batches.
///
/// Every batch has the requested columns in the requested order, in the types of
/// [`to_arrow_schema`](crate::schema::to_arrow_schema); it holds exactly the rows of the version that are not deleted
/// and for which the predicate is true. Rows come in the order of the files in the log and, within one, of the file.
///
/// # Errors
/// [`Error::InvalidArgument`] for a column that is unknown or named twice, [`Error::InvalidPredicate`] for a predicate
/// that cannot be evaluated, and what the log itself gives. The stream gives the errors of
/// [`read_file`](super::read_file) and ends with the first.
///
/// # Cost
/// Files that partition values or statistics exclude are not opened. Memory is that of the row groups and of a few
/// batches of at most 8 files.
pub fn read(snapshot: &Snapshot, request: ReadRequest) -> Result<RowStream> {
    let predicate = request.predicate.clone();
    let scan = RowScan::new(
        snapshot.location().clone(),
        snapshot.schema(),
        snapshot.partition_columns(),
        snapshot.column_mapping(),
        request,
    )?;
    let files = snapshot.files(FilesRequest { predicate, ..FilesRequest::default() })?;
    let batches =
        files.map(|batch| batch.map(|b| b.adds().collect::<Result<Vec<Add>>>()).and_then(|adds| adds));
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get()).min(MOST_WORKERS);
    RowStream::start(Arc::new(scan), batches, workers)
}
