//! The farthest value of an identity column, from which its high-water mark is set.

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;

use crate::error::Result;
use crate::scan::{ReadRequest, read};
use crate::snapshot::Snapshot;

/// The largest value of a `long` column in all rows, or the smallest where it does not go `upwards`; none where no row has
/// a value.
///
/// # Errors
/// As [`read`].
///
/// # Cost
/// The column, in all rows.
pub(super) fn farthest(snapshot: &Snapshot, column: &str, upwards: bool) -> Result<Option<i64>> {
    let mut found: Option<i64> = None;
    let columns = Some(vec![column.to_owned()]);
    for batch in read(snapshot, ReadRequest { columns, ..Default::default() })? {
        let batch = batch?;
        let Some(values) = batch.columns().first().and_then(|c| c.as_primitive_opt::<Int64Type>()) else {
            continue;
        };
        let value = if upwards { arrow::compute::max(values) } else { arrow::compute::min(values) };
        found = match (found, value) {
            (Some(a), Some(b)) => Some(if upwards { a.max(b) } else { a.min(b) }),
            (a, b) => a.or(b),
        };
    }
    Ok(found)
}
