//! Row groups of a data file that hold no matching row, by the statistics in the footer.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, MapArray, StructArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType as Arrow, Field, Fields};
use arrow_buffer::BooleanBuffer;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::basic::{ColumnOrder, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::prunable_columns::PrunableColumns;
use crate::prune::Pruner;

/// Which row groups can hold a row for which the predicate is true. `flat` are the columns by their paths in the table.
/// A row group without statistics is kept.
pub(crate) fn row_groups(
    pruner: &Pruner,
    flat: &HashMap<Vec<String>, PrunableColumns>,
    metadata: &ParquetMetaData,
) -> BooleanBuffer {
    let columns = pruner.stats_leaves().iter().filter_map(|column| {
        let statistics = Statistics::of_row_groups(flat.get(&column.physical)?, metadata)?;
        Some((column.physical.as_slice(), statistics))
    });
    let rows = metadata.row_groups().iter().map(|g| Some(g.num_rows())).collect();
    judge(pruner, rows, columns.collect())
}

/// Parquet's statistics of a column, one value for each part of a file.
pub(super) struct Statistics {
    /// Null where it is not known.
    pub(super) nulls: ArrayRef,
    /// Smallest and largest value; null where it is not known.
    pub(super) bounds: Option<(ArrayRef, ArrayRef)>,
}

impl Statistics {
    pub(super) fn of_row_groups(flat: &PrunableColumns, metadata: &ParquetMetaData) -> Option<Self> {
        let converter = converter(flat, metadata)?;
        let groups = || metadata.row_groups().iter();
        let nulls = converter.row_group_null_counts(groups()).ok()?;
        // a row group of nulls alone has neither fields, and counts as old
        let old = |g: &RowGroupMetaData| {
            let statistics = g.column(flat.leaf).statistics();
            statistics.is_some_and(|s| s.is_min_max_deprecated() && s.min_bytes_opt().is_some())
        };
        let bounds = match groups().any(old) {
            true => None,
            false => bounds(flat, metadata, || {
                Ok((converter.row_group_mins(groups())?, converter.row_group_maxes(groups())?))
            }),
        };
        Some(Statistics { nulls: cast(&nulls, &Arrow::Int64).ok()?, bounds })
    }
}

/// Reads statistics of a column. Null counts of old writers may be missing, which is not zero.
pub(super) fn converter<'a>(
    flat: &'a PrunableColumns,
    metadata: &'a ParquetMetaData,
) -> Option<StatisticsConverter<'a>> {
    let schema = metadata.file_metadata().schema_descr();
    let converter = StatisticsConverter::from_column_index(flat.leaf, &flat.field, schema).ok()?;
    Some(converter.with_missing_null_counts_as_zero(false))
}

/// Minimum and maximum as the table has the values, if they are in an order that is defined.
pub(super) fn bounds(
    flat: &PrunableColumns,
    metadata: &ParquetMetaData,
    read: impl Fn() -> Result<(ArrayRef, ArrayRef), ParquetError>,
) -> Option<(ArrayRef, ArrayRef)> {
    let footer = metadata.file_metadata();
    // the twelve bytes of a timestamp are compared as bytes by some writers
    let ordered = footer.schema_descr().column(flat.leaf).physical_type() != Physical::INT96;
    let ordered = ordered
        && match footer.column_orders()?.get(flat.leaf)? {
            ColumnOrder::TYPE_DEFINED_ORDER(_) | ColumnOrder::IEEE_754_TOTAL_ORDER => true,
            ColumnOrder::INT96_TIMESTAMP_ORDER | ColumnOrder::UNDEFINED | ColumnOrder::UNKNOWN => false,
        };
    let (least, most) = if ordered { read().ok()? } else { return None };
    Some((flat.convert.apply(&least).ok()?, flat.convert.apply(&most).ok()?))
}

/// Which parts of a file can hold a matching row: `rows` is how many rows they have, `columns` what is known of columns,
/// by their paths in the table.
pub(super) fn judge(
    pruner: &Pruner,
    rows: Int64Array,
    columns: Vec<(&[String], Statistics)>,
) -> BooleanBuffer {
    let parts = rows.len();
    let all = BooleanBuffer::new_set(parts);
    if columns.is_empty() {
        return all;
    }
    let (mut least, mut most, mut nulls) = (Vec::new(), Vec::new(), Vec::new());
    for (path, statistics) in columns {
        nulls.push((path, statistics.nulls));
        if let Some((lower, upper)) = statistics.bounds {
            least.push((path, lower));
            most.push((path, upper));
        }
    }
    let sections = [("minValues", least), ("maxValues", most), ("nullCount", nulls)];
    let (mut fields, mut arrays) = (vec![Field::new("numRecords", Arrow::Int64, true)], vec![]);
    arrays.push(Arc::new(rows) as ArrayRef);
    for (name, section) in sections {
        let section = nested(section, parts);
        fields.push(Field::new(name, section.data_type().clone(), true));
        arrays.push(section);
    }
    let entries =
        Fields::from(vec![Field::new("key", Arrow::Utf8, false), Field::new("value", Arrow::Utf8, true)]);
    let map = Arrow::Map(Arc::new(Field::new("key_value", Arrow::Struct(entries), false)), false);
    let values = MapArray::from(new_null_array(&map, parts).to_data());
    pruner.by_stats_struct(&StructArray::new(fields.into(), arrays, None), &values, &all)
}

type AtPath<'a> = (&'a [String], ArrayRef);

/// A struct with these leaves, each at its path.
fn nested(leaves: Vec<AtPath<'_>>, rows: usize) -> ArrayRef {
    let mut groups: Vec<(&String, Vec<AtPath<'_>>)> = Vec::new();
    for (path, array) in leaves {
        let Some((name, rest)) = path.split_first() else { continue };
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, group)) => group.push((rest, array)),
            None => groups.push((name, vec![(rest, array)])),
        }
    }
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, group) in groups {
        let array = match group.as_slice() {
            [([], array)] => array.clone(),
            _ => nested(group, rows),
        };
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    match arrays.is_empty() {
        true => Arc::new(StructArray::new_empty_fields(rows, None)),
        false => Arc::new(StructArray::new(fields.into(), arrays, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::{CompareOp, Literal, Predicate};
    use crate::scan::project::Projection;
    use crate::scan::testing::{field, mapped, parquet, schema};
    use crate::schema::{ColumnMappingMode, StructType};
    use arrow::array::{Float64Array, Int32Array, RecordBatch, StringArray};
    use arrow::datatypes::Schema;
    use parquet::arrow::PARQUET_FIELD_ID_META_KEY;
    use parquet::file::metadata::{FileMetaData, ParquetMetaDataReader};

    /// Six rows in three row groups; the file has `id` as 32 bits, the table as 64.
    fn file() -> ParquetMetaData {
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
        footer(&batch)
    }

    /// The footer of a file with row groups of two rows.
    fn footer(batch: &RecordBatch) -> ParquetMetaData {
        let bytes = bytes::Bytes::from(parquet(batch, 2));
        ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap()
    }

    fn kept(predicate: Predicate) -> Vec<bool> {
        kept_of(&file(), predicate)
    }

    fn kept_of(metadata: &ParquetMetaData, predicate: Predicate) -> Vec<bool> {
        let table = [
            field("s", r#""string""#),
            field("id", r#""long""#),
            field("x", r#""double""#),
            field("new", r#""long""#),
        ];
        kept_in(&schema(&table.join(",")), ColumnMappingMode::None, metadata, &predicate)
    }

    fn kept_in(
        table: &StructType,
        mode: ColumnMappingMode,
        metadata: &ParquetMetaData,
        predicate: &Predicate,
    ) -> Vec<bool> {
        let wanted = vec![true; table.fields.len()];
        let projection = Projection::new("f", table, &wanted, mode, metadata.file_metadata()).unwrap();
        let pruner = Pruner::bind(predicate, table, &[], ColumnMappingMode::None).unwrap();
        row_groups(&pruner, &projection.prunable, metadata).iter().collect()
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
        // NaN is above every number, and no statistic shows it
        assert_eq!(kept(compare("x", CompareOp::Gt, Literal::Double(9.0))), [true, true, true]);
        assert_eq!(kept(compare("new", CompareOp::Eq, Literal::Long(1))), [true, true, true]);
        assert_eq!(kept(Predicate::Constant(Some(true))), [true, true, true]);
    }

    #[test]
    fn bounds_whose_order_the_footer_does_not_define_are_not_used() {
        let (with, footer) = (file(), file());
        let old = footer.file_metadata();
        let without =
            FileMetaData::new(old.version(), old.num_rows(), None, None, old.schema_descr_ptr(), None);
        let without = ParquetMetaData::new(without, footer.row_groups().to_vec());
        let over = || compare("id", CompareOp::Gt, Literal::Long(4));
        assert_eq!(kept_of(&with, over()), [false, false, true]);
        assert_eq!(kept_of(&without, over()), [true, true, true]);
        // null counts have no order
        assert_eq!(kept_of(&without, Predicate::IsNotNull { column: vec!["s".into()] }), [false, true, true]);
    }

    #[test]
    fn row_groups_are_skipped_by_fields_of_structs_whatever_their_names_in_the_file() {
        let with_id = |name: &str, data_type: Arrow, id: i32| {
            let id = [(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string())];
            Field::new(name, data_type, true).with_metadata(id)
        };
        let deep = Fields::from(vec![with_id("p3", Arrow::Int64, 3), with_id("p4", Arrow::Int32, 4)]);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(arrow::array::Int64Array::from(vec![9, 9, 9, 9, 9, 9])),
            Arc::new(Int32Array::from(vec![Some(1), Some(2), None, Some(4), None, None])),
        ];
        let deep_array = StructArray::new(deep.clone(), columns, None);
        let outer = Fields::from(vec![with_id("p2", Arrow::Struct(deep), 2)]);
        let nulls = vec![true, true, true, true, false, false].into();
        let outer_array = StructArray::new(outer.clone(), vec![Arc::new(deep_array)], Some(nulls));
        let file = Schema::new(vec![with_id("p1", Arrow::Struct(outer), 1)]);
        let metadata = footer(&RecordBatch::try_new(Arc::new(file), vec![Arc::new(outer_array)]).unwrap());

        // `o.d.n` is an integer in the file and long in the table
        let structure = |inner: String| format!(r#"{{"type":"struct","fields":[{inner}]}}"#);
        let deep = structure(mapped("n", r#""long""#, "p4", 4));
        let outer = structure(mapped("d", &deep, "p2", 2));
        let table = schema(&mapped("o", &outer, "p1", 1));
        let n = || vec!["O".to_owned(), "d".into(), "N".into()];
        let under = Predicate::Compare { op: CompareOp::Lt, column: n(), value: Literal::Long(3) };
        for mode in [ColumnMappingMode::Name, ColumnMappingMode::Id] {
            let kept = |predicate| kept_in(&table, mode, &metadata, &predicate);
            assert_eq!(kept(under.clone()), [true, false, false], "{mode:?}");
            // a field of a null struct is null
            assert_eq!(kept(Predicate::IsNull { column: n() }), [false, true, true], "{mode:?}");
            assert_eq!(kept(Predicate::IsNotNull { column: n() }), [true, true, false], "{mode:?}");
        }
    }
}
