//! Rows that are in data files already, read to be written again.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow::error::ArrowError;

use crate::actions::Add;
use crate::error::Result;
use crate::scan::{RowScan, read_file};

/// The rows of these files, one file after the other, each batch as `then` makes it. Only one file is open at a time.
pub(crate) fn rows_of(
    scan: &Arc<RowScan>,
    files: Vec<Add>,
    then: impl Fn(RecordBatch) -> Result<RecordBatch>,
) -> impl RecordBatchReader {
    let schema = scan.schema().clone();
    let scan = scan.clone();
    let rows = files.into_iter().flat_map(move |add| -> Box<dyn Iterator<Item = Result<RecordBatch>>> {
        match read_file(&scan, &add) {
            Ok(rows) => Box::new(rows),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    });
    let rows =
        rows.map(move |batch| batch.and_then(&then).map_err(|e| ArrowError::ExternalError(Box::new(e))));
    RecordBatchIterator::new(rows, schema)
}
