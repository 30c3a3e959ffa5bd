//! The rows of files that a job of Spark found, as its bitmaps have them.

use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType as Arrow, Int64Type};
use roaring::{RoaringBitmap, RoaringTreemap};

use crate::error::{Error, Result};

/// Rows of one bitmap of Spark's `bitmap_construct_agg`.
const BUCKET: i64 = 32_768;

/// The columns of a table of bitmaps.
pub(super) struct Bitmaps {
    files: ArrayRef,
    buckets: ArrayRef,
    bitmaps: ArrayRef,
    counts: ArrayRef,
}

impl Bitmaps {
    /// The columns, by their places.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for other columns.
    pub(super) fn of(batch: &RecordBatch) -> Result<Self> {
        let [files, buckets, bitmaps, counts] = batch.columns() else {
            return Err(invalid(format!("{} columns instead of 4", batch.num_columns())));
        };
        let to = |column: &ArrayRef, to: &Arrow| cast(column, to).map_err(|e| invalid(e.to_string()));
        Ok(Bitmaps {
            files: to(files, &Arrow::Utf8)?,
            buckets: to(buckets, &Arrow::Int64)?,
            bitmaps: to(bitmaps, &Arrow::Binary)?,
            counts: to(counts, &Arrow::Int64)?,
        })
    }

    /// File, rows and number of matches of one row.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a bucket that cannot be.
    pub(super) fn get(&self, row: usize) -> Result<(&str, RoaringTreemap, u64)> {
        let number = |column: &ArrayRef| column.as_primitive::<Int64Type>().value(row);
        let bucket = number(&self.buckets).checked_sub(1).filter(|b| *b >= 0);
        let first = bucket.and_then(|b| u64::try_from(b.checked_mul(BUCKET)?).ok());
        let first = first.ok_or_else(|| invalid(format!("no bucket {}", number(&self.buckets))))?;
        // a bucket does not cross a multiple of 2^32
        let low = RoaringBitmap::from_lsb0_bytes(first as u32, self.bitmaps.as_binary::<i32>().value(row));
        let rows = RoaringTreemap::from_bitmaps([((first >> 32) as u32, low)]);
        let matches = u64::try_from(number(&self.counts)).unwrap_or_default();
        Ok((self.files.as_string::<i32>().value(row), rows, matches))
    }
}

/// The error of rows that an engine gave.
pub(super) fn invalid(reason: String) -> Error {
    Error::InvalidArgument { argument: "rows".into(), reason }
}
