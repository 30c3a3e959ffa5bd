//! The row that an error shows.

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::util::display::array_value_to_string;

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
