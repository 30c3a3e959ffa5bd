//! What statistics say of one column in many files, held for predicates to come.

use arrow_buffer::BooleanBuffer;

use super::range::Facts;
use crate::predicate::scalar::Scalar;
use crate::schema::DataType;

/// The facts of a column whose bounds are whole numbers, days or microseconds, one for each row of a row group.
#[derive(Debug, Default)]
pub(crate) struct HeldFacts {
    lower: Vec<i64>,
    upper: Vec<i64>,
    marks: Vec<u8>,
}

/// A row is the action of a file.
const FILE: u8 = 1;
const NULL: u8 = 2;
const VALUE: u8 = 4;
const LOWER: u8 = 8;
const UPPER: u8 = 16;

fn mark(so: bool, mark: u8) -> u8 {
    if so { mark } else { 0 }
}

impl HeldFacts {
    /// What a row takes.
    pub(crate) const BYTES: usize = 2 * size_of::<i64>() + 1;

    /// Whether bounds of this type are whole numbers.
    pub(crate) fn can_hold(data_type: &DataType) -> bool {
        use DataType::{Byte, Date, Integer, Long, Short, Timestamp, TimestampNtz};
        matches!(data_type, Byte | Short | Integer | Long | Date | Timestamp | TimestampNtz)
    }

    /// The facts of the next row; of one that is no file there are none.
    pub(super) fn push(&mut self, facts: Option<&Facts<'_>>) {
        let whole = |bound: &Option<Scalar<'_>>| match bound {
            Some(Scalar::Integer(value)) => Some(*value),
            _ => None,
        };
        let (lower, upper) = facts.map_or((None, None), |f| (whole(&f.lower), whole(&f.upper)));
        let marks = facts.map_or(0, |f| FILE | mark(f.null, NULL) | mark(f.value, VALUE));
        self.marks.push(marks | mark(lower.is_some(), LOWER) | mark(upper.is_some(), UPPER));
        self.lower.push(lower.unwrap_or_default());
        self.upper.push(upper.unwrap_or_default());
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.marks.len()
    }

    /// The rows that are files.
    pub(crate) fn files(&self) -> BooleanBuffer {
        BooleanBuffer::collect_bool(self.len(), |row| self.marks[row] & FILE != 0)
    }

    /// Least and most of a row, where both are known.
    #[inline]
    pub(super) fn whole(&self, row: usize) -> Option<(i64, i64)> {
        let both = self.marks[row] & (LOWER | UPPER) == LOWER | UPPER;
        both.then(|| (self.lower[row], self.upper[row]))
    }

    /// The facts of a row.
    pub(super) fn facts(&self, row: usize) -> Facts<'static> {
        let marks = self.marks[row];
        let bound = |is: u8, values: &[i64]| (marks & is != 0).then(|| Scalar::Integer(values[row]));
        Facts {
            null: marks & NULL != 0,
            value: marks & VALUE != 0,
            nan: false,
            lower: bound(LOWER, &self.lower),
            upper: bound(UPPER, &self.upper),
        }
    }
}
