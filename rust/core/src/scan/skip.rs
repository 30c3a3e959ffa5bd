//! Row groups of a data file that hold no matching row, by the statistics in the footer.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, MapArray, StructArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType as Arrow, Field, Fields};
use arrow_buffer::BooleanBuffer;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::basic::Type as Physical;
use parquet::file::metadata::ParquetMetaData;

use super::cast::Convert;
use crate::prune::Pruner;

/// A top-level column of a file that is one leaf.
#[derive(Debug)]
pub(crate) struct Flat {
    /// Index of the leaf.
    pub(crate) leaf: usize,
    /// Its field as the file is read.
    pub(crate) field: Field,
    /// What becomes of its values. All conversions of primitives keep their order.
    pub(crate) convert: Convert,
}

/// Which row groups can hold a row for which the predicate is true. `flat` are the columns by their names in the table.
/// What the statistics do not tell keeps the row group.
pub(crate) fn row_groups(
    pruner: &Pruner,
    flat: &HashMap<String, Flat>,
    metadata: &ParquetMetaData,
) -> BooleanBuffer {
    let groups = metadata.num_row_groups();
    let all = BooleanBuffer::new_set(groups);
    let mut least = Section::default();
    let mut most = Section::default();
    let mut nulls = Section::default();
    for column in pruner.stats_leaves() {
        let [name] = column.physical.as_slice() else { continue };
        let Some(statistics) = flat.get(name).and_then(|flat| Statistics::of(flat, metadata)) else {
            continue;
        };
        nulls.add(name, statistics.nulls);
        if let Some((lower, upper)) = statistics.bounds {
            least.add(name, lower);
            most.add(name, upper);
        }
    }
    if nulls.fields.is_empty() {
        return all;
    }
    let rows: Int64Array = metadata.row_groups().iter().map(|g| Some(g.num_rows())).collect();
    let mut parsed = Section::default();
    parsed.add("numRecords", Arc::new(rows));
    for (name, section) in [("minValues", least), ("maxValues", most), ("nullCount", nulls)] {
        parsed.add(name, Arc::new(section.into_struct(groups)));
    }
    let entries =
        Fields::from(vec![Field::new("key", Arrow::Utf8, false), Field::new("value", Arrow::Utf8, true)]);
    let map = Arrow::Map(Arc::new(Field::new("key_value", Arrow::Struct(entries), false)), false);
    let values = MapArray::from(new_null_array(&map, groups).to_data());
    pruner.by_stats_struct(&parsed.into_struct(groups), &values, &all)
}

/// One value for each row group.
struct Statistics {
    nulls: ArrayRef,
    bounds: Option<(ArrayRef, ArrayRef)>,
}

impl Statistics {
    fn of(flat: &Flat, metadata: &ParquetMetaData) -> Option<Self> {
        let schema = metadata.file_metadata().schema_descr();
        // null counts of old writers may be missing, which is not zero
        let converter = StatisticsConverter::from_column_index(flat.leaf, &flat.field, schema)
            .ok()?
            .with_missing_null_counts_as_zero(false);
        let groups = || metadata.row_groups().iter();
        let nulls = converter.row_group_null_counts(groups()).ok()?;
        let nulls = cast(&nulls, &Arrow::Int64).ok()?;
        let bounds = || {
            let least = flat.convert.apply(&converter.row_group_mins(groups()).ok()?).ok()?;
            let most = flat.convert.apply(&converter.row_group_maxes(groups()).ok()?).ok()?;
            Some((least, most))
        };
        Some(Statistics { nulls, bounds: if ordered(flat.leaf, metadata) { bounds() } else { None } })
    }
}

/// Whether minimum and maximum are in the order of the values: the old fields and INT96 are not.
fn ordered(leaf: usize, metadata: &ParquetMetaData) -> bool {
    let old = |g: &parquet::file::metadata::RowGroupMetaData| {
        // a row group of nulls alone has neither fields, and counts as old
        g.column(leaf).statistics().is_some_and(|s| s.is_min_max_deprecated() && s.min_bytes_opt().is_some())
    };
    let physical = metadata.file_metadata().schema_descr().column(leaf).physical_type();
    physical != Physical::INT96 && !metadata.row_groups().iter().any(old)
}

#[derive(Default)]
struct Section {
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl Section {
    fn add(&mut self, name: &str, column: ArrayRef) {
        self.fields.push(Field::new(name, column.data_type().clone(), true));
        self.columns.push(column);
    }

    fn into_struct(self, rows: usize) -> StructArray {
        match self.fields.is_empty() {
            true => StructArray::new_empty_fields(rows, None),
            false => StructArray::new(self.fields.into(), self.columns, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::{CompareOp, Literal, Predicate};
    use crate::scan::project::Projection;
    use crate::scan::testing::{field, parquet, schema};
    use crate::schema::ColumnMappingMode;
    use arrow::array::{Float64Array, Int32Array, RecordBatch, StringArray};
    use parquet::file::metadata::ParquetMetaDataReader;

    /// Six rows in three row groups; the file has `id` as 32 bits, the table as 64.
    fn kept(predicate: Predicate) -> Vec<bool> {
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("id", Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5, 6])) as ArrayRef, true),
            ("x", Arc::new(Float64Array::from(vec![0.0, f64::NAN, 1.0, 2.0, 3.0, 4.0])) as ArrayRef, true),
            (
                "s",
                Arc::new(StringArray::from(vec![None, None, Some("a"), None, Some("c"), Some("d")]))
                    as ArrayRef,
                true,
            ),
        ])
        .unwrap();
        let bytes = bytes::Bytes::from(parquet(&batch, 2));
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
        let table = [
            field("s", r#""string""#),
            field("id", r#""long""#),
            field("x", r#""double""#),
            field("new", r#""long""#),
        ];
        let table = schema(&table.join(","));
        let mode = ColumnMappingMode::None;
        let projection = Projection::new("f", &table, &[true; 4], mode, metadata.file_metadata()).unwrap();
        let pruner = Pruner::bind(&predicate, &table, &[], mode).unwrap();
        row_groups(&pruner, &projection.flat, &metadata).iter().collect()
    }

    fn compare(column: &str, op: CompareOp, value: Literal) -> Predicate {
        Predicate::Compare { op, column: vec![column.into()], value }
    }

    #[test]
    fn row_groups_without_a_match_are_skipped() {
        assert_eq!(kept(compare("id", CompareOp::Gt, Literal::Long(4))), [false, false, true]);
        assert_eq!(kept(compare("ID", CompareOp::Eq, Literal::Long(3))), [false, true, false]);
        assert_eq!(kept(compare("s", CompareOp::Lt, Literal::String("b".into()))), [false, true, false]);
        assert_eq!(kept(Predicate::IsNull { column: vec!["s".into()] }), [true, true, false]);
        assert_eq!(kept(Predicate::IsNotNull { column: vec!["s".into()] }), [false, true, true]);
    }

    #[test]
    fn what_statistics_do_not_tell_is_read() {
        // NaN is above every number, and no statistic tells of it
        assert_eq!(kept(compare("x", CompareOp::Gt, Literal::Double(9.0))), [true, true, true]);
        assert_eq!(kept(compare("new", CompareOp::Eq, Literal::Long(1))), [true, true, true]);
        assert_eq!(kept(Predicate::Constant(Some(true))), [true, true, true]);
    }
}
