//! The row that an error shows.

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow::util::display::array_value_to_string;

use crate::error::{Error, Result};

/// Columns of a row that breaks no rule with a name of its own.
const SHOWN_COLUMNS: usize = 5;

/// The first row for which a condition is false or unknown.
pub(crate) fn first_not_true(truth: &BooleanArray) -> Option<usize> {
    (0..truth.len()).find(|row| truth.is_null(*row) || !truth.value(*row))
}

/// A value for people; none for one that has no text.
pub(crate) fn shown(column: &ArrayRef, row: usize) -> Option<String> {
    match column.is_null(row) {
        true => Some("NULL".to_owned()),
        false => array_value_to_string(column, row).ok(),
    }
}

/// The values of a row in the first columns.
pub(crate) fn first_shown(batch: &RecordBatch, row: usize, columns: usize) -> String {
    let schema = batch.schema();
    let values = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .take(columns)
        .filter_map(|(field, column)| Some(format!("{} = {}", field.name(), shown(column, row)?)));
    values.collect::<Vec<_>>().join(", ")
}

/// The error with the first of the rows that cause it, which `again` finds: it returns whether some rows, from one on, fail.
pub(super) fn with_row(
    error: Error,
    rows: &RecordBatch,
    again: impl Fn(usize, usize) -> Result<()>,
) -> Error {
    let (path, reason) = match error {
        Error::SchemaMismatch { path, reason } => (path, reason),
        Error::Named(mut given) => {
            given.error = with_row(given.error, rows, again);
            return Error::Named(given);
        }
        other => return other,
    };
    let (mut from, mut count) = (0, rows.num_rows());
    while count > 1 {
        let half = count / 2;
        match again(from, half) {
            Err(_) => count = half,
            Ok(()) => (from, count) = (from + half, count - half),
        }
    }
    Error::SchemaMismatch { path, reason: format!("{reason}: {}", first_shown(rows, from, SHOWN_COLUMNS)) }
}
