//! Rows whose columns are put together: whether a null may be there is checked with the rules.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema};

use crate::error::{Error, Result};

/// So many rows of these columns, by name; `what` is what errors call them.
///
/// # Errors
/// [`Error::Arrow`] for columns of other lengths.
pub(super) fn nullable_rows(
    columns: impl IntoIterator<Item = (String, ArrayRef)>,
    rows: usize,
    what: &str,
) -> Result<RecordBatch> {
    let columns = columns.into_iter().map(|(name, column)| {
        let field = Field::new(name, column.data_type().clone(), true);
        (field, column)
    });
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.unzip();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|e| Error::arrow(what, e))
}
