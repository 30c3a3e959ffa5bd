//! Statistics of a file, collected from the batches that are written into it.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, RecordBatch, StringArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};

use super::stats_json::{Bound, FileStats, LeafStats};
use crate::schema::DataType;
use crate::stats::{StatsColumns, StatsNode as Node};

/// Collects the statistics of one file.
#[derive(Debug, Clone)]
pub(super) struct StatsCollector {
    stats: FileStats,
}

impl StatsCollector {
    pub(super) fn new(columns: &StatsColumns) -> Self {
        let leaf = LeafStats { null_count: Some(0), ..Default::default() };
        StatsCollector { stats: FileStats { num_records: 0, leaves: vec![leaf; columns.leaves] } }
    }

    /// Takes in a batch of the file's own columns, in their order.
    pub(super) fn update(&mut self, columns: &StatsColumns, batch: &RecordBatch) {
        self.stats.num_records += batch.num_rows() as u64;
        walk(&columns.nodes, batch.columns(), None, &mut self.stats.leaves);
    }

    pub(super) fn num_records(&self) -> u64 {
        self.stats.num_records
    }

    pub(super) fn to_json(&self, columns: &StatsColumns) -> String {
        self.stats.to_json(columns)
    }
}

/// A value is null where any of its ancestors is.
fn walk(nodes: &[Node], arrays: &[ArrayRef], parent: Option<&NullBuffer>, leaves: &mut [LeafStats]) {
    for node in nodes {
        match node {
            Node::Struct { position, children, .. } => {
                let Some(array) = arrays.get(*position).and_then(|a| a.as_struct_opt()) else { continue };
                let nulls = NullBuffer::union(parent, array.nulls());
                walk(children, array.columns(), nulls.as_ref(), leaves);
            }
            Node::Leaf { position, slot, data_type, .. } => {
                if let (Some(array), Some(leaf)) = (arrays.get(*position), leaves.get_mut(*slot)) {
                    let nulls = NullBuffer::union(parent, array.nulls());
                    let count = match data_type {
                        // no buffer has the count
                        DataType::Void => array.len(),
                        _ => nulls.as_ref().map_or(0, NullBuffer::null_count),
                    };
                    leaf.null_count = leaf.null_count.map(|n| n + count as u64);
                    if count < array.len() {
                        bounds(array, nulls, data_type, leaf);
                    }
                }
            }
        }
    }
}

fn bounds(array: &ArrayRef, nulls: Option<NullBuffer>, data_type: &DataType, leaf: &mut LeafStats) {
    match data_type {
        DataType::Byte => integers::<Int8Type>(array, nulls, leaf),
        DataType::Short => integers::<Int16Type>(array, nulls, leaf),
        DataType::Integer => integers::<Int32Type>(array, nulls, leaf),
        DataType::Long => integers::<Int64Type>(array, nulls, leaf),
        DataType::Date => integers::<Date32Type>(array, nulls, leaf),
        DataType::Timestamp | DataType::TimestampNtz => {
            integers::<TimestampMicrosecondType>(array, nulls, leaf)
        }
        DataType::Decimal(..) => {
            let (min, max) = extremes::<Decimal128Type>(array, nulls);
            leaf.extend(min.map(Bound::Decimal), max.map(Bound::Decimal));
        }
        DataType::Float => {
            let Some(values) = array.as_primitive_opt::<Float32Type>() else { return };
            let valid = valid_rows(values.values(), nulls.as_ref());
            let (min, max) = float_extremes(valid.map(f64::from));
            leaf.extend(min.map(|v| Bound::Float(v as f32)), max.map(|v| Bound::Float(v as f32)));
        }
        DataType::Double => {
            let Some(values) = array.as_primitive_opt::<Float64Type>() else { return };
            let (min, max) = float_extremes(valid_rows(values.values(), nulls.as_ref()));
            leaf.extend(min.map(Bound::Double), max.map(Bound::Double));
        }
        DataType::String => {
            let Some(text) = array.as_string_opt::<i32>() else { return };
            let text = StringArray::new(text.offsets().clone(), text.values().clone(), nulls);
            let (min, max) = (arrow::compute::min_string(&text), arrow::compute::max_string(&text));
            leaf.extend(min.map(|t| Bound::Text(t.to_owned())), max.map(|t| Bound::Text(t.to_owned())));
        }
        _ => {}
    }
}

fn valid_rows<'a, T: Copy>(values: &'a [T], nulls: Option<&'a NullBuffer>) -> impl Iterator<Item = T> + 'a {
    values.iter().enumerate().filter(move |(i, _)| nulls.is_none_or(|n| n.is_valid(*i))).map(|(_, v)| *v)
}

fn extremes<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
) -> (Option<T::Native>, Option<T::Native>)
where
    T::Native: PartialOrd,
{
    let Some(values) = array.as_primitive_opt::<T>() else { return (None, None) };
    let values = PrimitiveArray::<T>::new(values.values().clone(), nulls);
    (arrow::compute::min(&values), arrow::compute::max(&values))
}

fn integers<T: ArrowPrimitiveType>(array: &ArrayRef, nulls: Option<NullBuffer>, leaf: &mut LeafStats)
where
    T::Native: PartialOrd + Into<i64>,
{
    let (min, max) = extremes::<T>(array, nulls);
    leaf.extend(min.map(|v| Bound::Int(v.into())), max.map(|v| Bound::Int(v.into())));
}

/// Spark's order: NaN above all, so it is the maximum, and the minimum only of a column that has nothing else. The two
/// zeros are one value; a minimum that was -0.0 stays so and a maximum becomes 0.0, which is right in either order.
fn float_extremes(values: impl Iterator<Item = f64>) -> (Option<f64>, Option<f64>) {
    let (mut min, mut max): (Option<f64>, Option<f64>) = (None, None);
    let mut nan = false;
    for value in values {
        if value.is_nan() {
            nan = true;
            continue;
        }
        min = Some(min.map_or(value, |m| if value.total_cmp(&m).is_lt() { value } else { m }));
        max = Some(max.map_or(value, |m| if value.total_cmp(&m).is_gt() { value } else { m }));
    }
    // adding 0.0 turns -0.0 into 0.0 and changes nothing else
    let max = if nan { Some(f64::NAN) } else { max.map(|m| m + 0.0) };
    (min.or(max), max)
}

impl LeafStats {
    /// Widens the bounds by those of more rows.
    pub(super) fn extend(&mut self, min: Option<Bound>, max: Option<Bound>) {
        if let Some(min) = min
            && self.min.as_ref().is_none_or(|m| min.below(m))
        {
            self.min = Some(min);
        }
        if let Some(max) = max
            && self.max.as_ref().is_none_or(|m| m.below(&max))
        {
            self.max = Some(max);
        }
    }
}

impl Bound {
    /// Whether it comes before `other`, of the same type, in Spark's order.
    fn below(&self, other: &Bound) -> bool {
        match (self, other) {
            (Bound::Int(a), Bound::Int(b)) => a < b,
            (Bound::Decimal(a), Bound::Decimal(b)) => a < b,
            (Bound::Text(a), Bound::Text(b)) => a < b,
            (Bound::Float(a), Bound::Float(b)) => float_below(f64::from(*a), f64::from(*b)),
            (Bound::Double(a), Bound::Double(b)) => float_below(*a, *b),
            _ => false,
        }
    }
}

fn float_below(a: f64, b: f64) -> bool {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => false,
        (false, true) => true,
        _ => a.total_cmp(&b).is_lt(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{BinaryArray, Float64Array, Int64Array, ListArray, StructArray};
    use arrow::datatypes::{DataType as Arrow, Field};

    use super::*;
    use crate::actions::Metadata;
    use crate::schema::{ArrayType, ColumnMappingMode, StructField, StructType};

    fn json(columns: Vec<(&str, DataType, ArrayRef)>) -> String {
        let schema = StructType {
            fields: columns.iter().map(|(n, t, _)| StructField::new(*n, t.clone(), true)).collect(),
        };
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, _, a)| (n, a, true)))
                .unwrap();
        let stats = StatsColumns::of(&schema, &Metadata::default(), ColumnMappingMode::None, false).unwrap();
        let mut collector = StatsCollector::new(&stats);
        // in two batches, so that bounds meet
        collector.update(&stats, &batch.slice(0, 1));
        collector.update(&stats, &batch.slice(1, batch.num_rows() - 1));
        collector.to_json(&stats)
    }

    #[test]
    fn nested_values_are_null_under_a_null_parent() {
        let inner = Int64Array::from(vec![9, 1, 5]);
        let nulls = NullBuffer::from(vec![false, true, true]);
        let fields = vec![Field::new("x", Arrow::Int64, true)].into();
        let s = StructArray::new(fields, vec![Arc::new(inner)], Some(nulls));
        let data_type = DataType::Struct(Box::new(StructType {
            fields: vec![StructField::new("x", DataType::Long, true)],
        }));
        assert_eq!(
            json(vec![("s", data_type, Arc::new(s))]),
            r#"{"numRecords":3,"minValues":{"s":{"x":1}},"maxValues":{"s":{"x":5}},"nullCount":{"s":{"x":1}}}"#
        );
    }

    #[test]
    fn types_without_bounds_have_null_counts() {
        let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None]), None]);
        let array =
            DataType::Array(Box::new(ArrayType { element_type: DataType::Long, contains_null: true }));
        let binary = BinaryArray::from_opt_vec(vec![None, Some(b"x")]);
        let nothing = Int64Array::from(vec![None, None]);
        assert_eq!(
            json(vec![
                ("l", array, Arc::new(list)),
                ("b", DataType::Binary, Arc::new(binary)),
                ("n", DataType::Long, Arc::new(nothing))
            ]),
            r#"{"numRecords":2,"minValues":{},"maxValues":{},"nullCount":{"l":1,"b":1,"n":2}}"#
        );
    }

    #[test]
    fn nan_is_above_all() {
        let double = |v: Vec<f64>| json(vec![("d", DataType::Double, Arc::new(Float64Array::from(v)))]);
        assert!(double(vec![f64::NAN, 1.0]).contains(r#""minValues":{"d":1.0},"maxValues":{"d":"NaN"}"#));
        assert!(double(vec![1.0, -f64::NAN]).contains(r#""minValues":{"d":1.0},"maxValues":{"d":"NaN"}"#));
        assert!(
            double(vec![f64::NAN, f64::NAN]).contains(r#""minValues":{"d":"NaN"},"maxValues":{"d":"NaN"}"#)
        );
        assert!(double(vec![0.0, -0.0]).contains(r#""minValues":{"d":-0.0},"maxValues":{"d":0.0}"#));
    }
}
