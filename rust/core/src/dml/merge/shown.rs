//! A row as errors show it.

use arrow::array::ArrayRef;
use arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::error::{Error, Result};

/// The values of one row by the names of their columns: `id = 1, name = NULL`.
///
/// # Errors
/// [`Error::Arrow`] for a value that cannot be shown.
pub(super) fn shown<'c>(
    columns: impl IntoIterator<Item = (&'c str, &'c ArrayRef)>,
    row: usize,
) -> Result<String> {
    let options = FormatOptions::default().with_null("NULL");
    let shown = columns.into_iter().map(|(name, values)| {
        let values = ArrayFormatter::try_new(values, &options)
            .map_err(|e| Error::arrow("a row of a merge for an error", e))?;
        Ok(format!("{name} = {}", values.value(row)))
    });
    Ok(shown.collect::<Result<Vec<_>>>()?.join(", "))
}
