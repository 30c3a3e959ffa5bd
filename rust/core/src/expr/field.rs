//! The fields of a struct as SQL sees them.

use arrow::array::{Array, ArrayRef, BooleanArray, StructArray};
use arrow::compute::nullif;
use arrow::error::ArrowError;

/// The values of a field, null where the struct is: anything may lie there.
pub(crate) fn visible(of: &StructArray, field: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match of.nulls().filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => nullif(field, &BooleanArray::new(!nulls.inner(), None)),
        None => Ok(field.clone()),
    }
}
