//! Statistics as the columns of `stats_parsed`.

use arrow::array::{Array, ArrayRef, AsArray, StructArray};

use super::bounds::{bound, facts, has_bounds};
use super::range::Facts;
use super::side::Side;
use crate::predicate::BoundColumn;
use crate::predicate::canonical::{Canonical, canonical};
use crate::predicate::scalar::Scalar;
use crate::schema::DataType;

/// The statistics of chosen columns. A field that is absent, null or of a type that does not fit is unknown.
pub(crate) struct StatsReader<'a> {
    parsed: &'a StructArray,
    num_records: Option<Canonical>,
    columns: Vec<Leaves<'a>>,
}

struct Leaves<'a> {
    column: &'a BoundColumn,
    lower: Option<Leaf>,
    upper: Option<Leaf>,
    nulls: Option<Leaf>,
}

/// A leaf and the structs above it.
struct Leaf {
    values: Canonical,
    parents: Vec<ArrayRef>,
}

impl Leaf {
    fn find(parsed: &StructArray, section: &str, path: &[String], data_type: &DataType) -> Option<Leaf> {
        let mut array = parsed.column_by_name(section)?;
        let mut parents = Vec::new();
        for name in path {
            parents.push(array.clone());
            array = array.as_struct_opt()?.column_by_name(name)?;
        }
        Some(Leaf { values: canonical(array, data_type)?, parents })
    }

    fn value(&self, row: usize) -> Option<Scalar<'_>> {
        if self.parents.iter().any(|p| p.is_null(row)) { None } else { self.values.value(row) }
    }

    fn whole(&self, row: usize) -> Option<i64> {
        let Canonical::Integer(values) = &self.values else { return None };
        let there = values.is_valid(row) && self.parents.iter().all(|p| p.is_valid(row));
        there.then(|| values.value(row))
    }
}

impl<'a> StatsReader<'a> {
    /// Finds the columns by their physical names.
    pub(crate) fn new(columns: &'a [BoundColumn], parsed: &'a StructArray) -> Self {
        let leaves = |column: &'a BoundColumn| {
            let bounds = |section| match has_bounds(&column.data_type) {
                true => Leaf::find(parsed, section, &column.physical, &column.data_type),
                false => None,
            };
            let nulls = Leaf::find(parsed, "nullCount", &column.physical, &DataType::Long);
            Leaves { column, lower: bounds("minValues"), upper: bounds("maxValues"), nulls }
        };
        let num_records = parsed.column_by_name("numRecords").and_then(|a| canonical(a, &DataType::Long));
        StatsReader { parsed, num_records, columns: columns.iter().map(leaves).collect() }
    }

    /// Least and most of a column in a file, where both are there as whole numbers.
    #[inline]
    pub(crate) fn whole(&self, column: usize, row: usize) -> Option<(i64, i64)> {
        let leaves = self.columns.get(column).filter(|_| self.parsed.is_valid(row))?;
        Some((leaves.lower.as_ref()?.whole(row)?, leaves.upper.as_ref()?.whole(row)?))
    }

    /// What the statistics of a file say of the columns, appended in their order.
    pub(crate) fn facts<'s>(&'s self, row: usize, into: &mut Vec<Facts<'s>>) {
        if self.parsed.is_null(row) {
            into.extend(self.columns.iter().map(|_| Facts::default()));
            return;
        }
        let count = |values: Option<Scalar<'_>>| match values {
            Some(Scalar::Integer(v)) => Some(v),
            _ => None,
        };
        let num_records = count(self.num_records.as_ref().and_then(|a| a.value(row)));
        for leaves in &self.columns {
            let value = |leaf: &'s Option<Leaf>| leaf.as_ref().and_then(|leaf| leaf.value(row));
            let limit = |leaf, side| bound(value(leaf)?, leaves.column, side);
            let (lower, upper) = (limit(&leaves.lower, Side::Lower), limit(&leaves.upper, Side::Upper));
            into.push(facts(leaves.column, count(value(&leaves.nulls)), num_records, lower, upper));
        }
    }
}
