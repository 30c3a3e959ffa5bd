//! From the table's schema to the columns of one Parquet file: which leaves to read, and how they are converted.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow::datatypes::{DataType as Arrow, Fields, Schema, SchemaRef};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_schema};
use parquet::basic::Type as Physical;
use parquet::file::metadata::FileMetaData;
use parquet::schema::types::SchemaDescriptor;

use super::cast::Convert;
use super::conversion::Conversion;
use super::leaves::{any_field_id, keep_leaves, leaf_count, retype, starts, witness};
use super::matching::Matcher;
use super::prunable_columns::{PrunableColumns, prunable_columns};
use crate::error::{Error, Result};
use crate::parquet::Calendar;
use crate::schema::{ColumnMappingMode, DataType, StructField, StructType, arrow_type};

/// What of a file makes up the columns of a read.
#[derive(Debug)]
pub(crate) struct Projection {
    /// The leaves that are read.
    pub(crate) mask: ProjectionMask,
    /// Arrow types to read the file as, where they are not the ones that Parquet suggests.
    pub(crate) supplied: Option<SchemaRef>,
    /// For each column of the read schema: where it is in the batches of the file, and what to do with it. `None` is
    /// missing in the file, or no column of files at all.
    pub(crate) columns: Vec<Option<(usize, Convert)>>,
    /// The columns whose statistics speak for their rows, by their paths in the table.
    pub(crate) prunable: HashMap<Vec<String>, PrunableColumns>,
}

impl Projection {
    /// Matches the columns that `wanted` marks with those of a file: by logical name without column mapping
    /// (annotations that are left over are ignored), by physical name or by field id with it, at every depth. The
    /// rest of the file is not read.
    ///
    /// # Errors
    /// [`Error::DataFile`] for a column that the table's type cannot hold, for names or ids that are ambiguous, and
    /// for a file without field ids in a table that maps by id.
    pub(crate) fn new(
        path: &str,
        schema: &StructType,
        wanted: &[bool],
        mode: ColumnMappingMode,
        footer: &FileMetaData,
    ) -> Result<Self> {
        let parquet = footer.schema_descr();
        let file = parquet_to_arrow_schema(parquet, None)
            .map_err(|e| Error::DataFile { path: path.to_owned(), reason: e.to_string() })?;
        let matcher = Matcher { path, mode };
        if mode == ColumnMappingMode::Id
            && wanted.iter().zip(&schema.fields).any(|(w, f)| *w && f.data_type != DataType::Void)
            && !any_field_id(file.fields())
        {
            return Err(matcher.error("it has no field ids, and the table maps its columns by id".into()));
        }
        let read: Vec<&StructField> =
            schema.fields.iter().zip(wanted).filter(|(_, wanted)| **wanted).map(|(f, _)| f).collect();

        let mut leaves = Leaves { matcher, parquet, chosen: BTreeSet::new(), retyped: HashMap::new() };
        leaves.choose_struct(&read, file.fields(), 0, "")?;
        let supplied = (!leaves.retyped.is_empty()).then(|| {
            let fields = retype(file.fields(), &mut 0, &leaves.retyped);
            Arc::new(Schema::new_with_metadata(fields, file.metadata().clone()))
        });
        let full = supplied.as_deref().unwrap_or(&file);
        let masked = keep_leaves(full.fields(), &mut 0, &leaves.chosen);

        let names = matcher.names(&masked, "")?;
        let conversion = Conversion { matcher, calendar: Calendar::of(footer) };
        let columns = schema
            .fields
            .iter()
            .zip(wanted)
            .map(|(field, wanted)| {
                let index = if *wanted { matcher.find(&names, field, "")? } else { None };
                let of = |i: usize| conversion.of(&field.data_type, masked[i].data_type(), &field.name);
                index.map(|i| Ok((i, of(i)?))).transpose()
            })
            .collect::<Result<Vec<Option<(usize, Convert)>>>>()?;
        let prunable = prunable_columns(schema, &masked, &columns, &leaves.chosen);
        Ok(Projection { mask: ProjectionMask::leaves(parquet, leaves.chosen), supplied, columns, prunable })
    }

    /// Whether nothing of the file's columns is read.
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.iter().all(Option::is_none)
    }
}

/// The leaves that were chosen, by their index in the file.
struct Leaves<'a> {
    matcher: Matcher<'a>,
    parquet: &'a SchemaDescriptor,
    chosen: BTreeSet<usize>,
    retyped: HashMap<usize, Arrow>,
}

impl Leaves<'_> {
    /// Chooses the leaves of `wanted` among the `fields` of a struct whose first leaf is `first`. A struct without any
    /// of its fields in the file gives one leaf nevertheless: it shows which of the structs are null.
    fn choose_struct(
        &mut self,
        wanted: &[&StructField],
        fields: &Fields,
        first: usize,
        at: &str,
    ) -> Result<bool> {
        let names = self.matcher.names(fields, at)?;
        let starts = starts(fields, first);
        let mut any = false;
        for field in wanted {
            if let Some(index) = self.matcher.find(&names, field, at)? {
                let place = if at.is_empty() { field.name.clone() } else { format!("{at}.{}", field.name) };
                self.choose(&field.data_type, fields[index].data_type(), starts[index], &place)?;
                any = true;
            }
        }
        Ok(any)
    }

    fn choose(&mut self, data_type: &DataType, file: &Arrow, first: usize, at: &str) -> Result<()> {
        match (data_type, file) {
            (DataType::Struct(s), Arrow::Struct(fields)) => {
                let wanted: Vec<&StructField> = s.fields.iter().collect();
                if !self.choose_struct(&wanted, fields, first, at)? {
                    self.chosen.insert(first + witness(file));
                }
            }
            (DataType::Array(a), Arrow::List(element)) => {
                self.choose(&a.element_type, element.data_type(), first, &format!("{at}.element"))?;
            }
            (DataType::Map(m), Arrow::Map(entries, _)) => {
                let Arrow::Struct(fields) = entries.data_type() else { return Ok(()) };
                let (key, value) = (fields[0].data_type(), fields[1].data_type());
                self.choose(&m.key_type, key, first, &format!("{at}.key"))?;
                self.choose(&m.value_type, value, first + leaf_count(key), &format!("{at}.value"))?;
            }
            _ => {
                self.chosen.extend(first..first + leaf_count(file));
                if leaf_count(file) == 1 && !file.is_nested() {
                    let physical = self.parquet.column(first).physical_type();
                    let retyped = match (data_type, physical, file) {
                        // twelve bytes of nanoseconds span more than an i64 of them does
                        (DataType::Timestamp | DataType::TimestampNtz, Physical::INT96, _) => {
                            Some(arrow_type(data_type))
                        }
                        // text without an annotation: decoded as text it is checked once, without a copy
                        (DataType::String, Physical::BYTE_ARRAY, Arrow::Binary) => Some(Arrow::Utf8),
                        _ => None,
                    };
                    if let Some(retyped) = retyped {
                        self.retyped.insert(first, retyped);
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use arrow::array::{
        Array, ArrayRef, Int32Array, ListArray, MapArray, RecordBatch, StringArray, StructArray,
    };
    use arrow::buffer::{NullBuffer, OffsetBuffer};
    use arrow::datatypes::{DataType as Arrow, Field, Fields, Schema};
    use parquet::arrow::{ArrowWriter, PARQUET_FIELD_ID_META_KEY};
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;

    use crate::error::{Error, Result};
    use crate::scan::ReadRequest;
    use crate::scan::testing::{Folder, field, lines, mapped, read_all, schema};
    use crate::schema::{ColumnMappingMode, StructType, to_arrow_schema};

    fn with_id(field: Field, id: i32) -> Field {
        field.with_metadata(HashMap::from([(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string())]))
    }

    fn ints(values: &[i32]) -> ArrayRef {
        Arc::new(Int32Array::from(values.to_vec()))
    }

    fn batch(columns: Vec<(Field, ArrayRef)>) -> RecordBatch {
        let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
    }

    /// Reads all columns of a file that holds `batch`, and checks that the types are those of the table.
    fn read(table: &StructType, mode: ColumnMappingMode, batch: &RecordBatch) -> Result<Vec<String>> {
        let folder = Folder::new();
        let add = folder.parquet("f.parquet", batch, 2);
        let got = read_all(&folder.scan_mapped(table, &[], mode, ReadRequest::default()), &add)?;
        assert_eq!(got.schema().as_ref(), &to_arrow_schema(table));
        Ok(lines(&got))
    }

    fn reason(result: Result<Vec<String>>) -> String {
        match result {
            Err(Error::DataFile { reason, .. }) => reason,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn t35_annotations_without_column_mapping_are_ignored() {
        let table =
            schema(&[mapped("a", r#""integer""#, "col-1", 1), mapped("b", r#""integer""#, "a", 2)].join(","));
        let file = batch(vec![
            (with_id(Field::new("b", Arrow::Int32, true), 1), ints(&[1, 2])),
            (with_id(Field::new("a", Arrow::Int32, true), 9), ints(&[10, 20])),
        ]);
        assert_eq!(read(&table, ColumnMappingMode::None, &file).unwrap(), ["10|1", "20|2"]);
    }

    #[test]
    fn t35_fields_of_structs_are_paired_by_name_at_every_depth() {
        let pair = |x: Vec<i32>, y: Vec<i32>| {
            // the file has them in another order and one that the table dropped
            let fields = Fields::from(vec![
                Field::new("old", Arrow::Int32, true),
                Field::new("y", Arrow::Int32, true),
                Field::new("x", Arrow::Int32, true),
            ]);
            StructArray::new(fields, vec![ints(&vec![0; x.len()]), ints(&y), ints(&x)], None)
        };
        let offsets = OffsetBuffer::from_lengths([2, 1]);
        let inner = pair(vec![1, 2, 3], vec![4, 5, 6]);
        let element = Arc::new(Field::new("element", inner.data_type().clone(), true));
        let list = ListArray::new(element, offsets.clone(), Arc::new(inner.clone()), None);
        let keys = Arc::new(StringArray::from(vec!["k", "l", "k"]));
        let entries = StructArray::from(vec![
            (Arc::new(Field::new("key", Arrow::Utf8, false)), keys as ArrayRef),
            (Arc::new(Field::new("value", inner.data_type().clone(), true)), Arc::new(inner) as ArrayRef),
        ]);
        let entry = Arc::new(Field::new("key_value", entries.data_type().clone(), false));
        let map = MapArray::new(entry, offsets, entries, None, false);
        let file = batch(vec![
            (Field::new("m", map.data_type().clone(), true), Arc::new(map)),
            (Field::new("l", list.data_type().clone(), true), Arc::new(list)),
        ]);
        let of = r#"{"type":"struct","fields":[{"name":"x","type":"long","nullable":true,"metadata":{}},{"name":"new","type":"string","nullable":true,"metadata":{}},{"name":"y","type":"integer","nullable":true,"metadata":{}}]}"#;
        let list = format!(r#"{{"type":"array","elementType":{of},"containsNull":true}}"#);
        let map = format!(r#"{{"type":"map","keyType":"string","valueType":{of},"valueContainsNull":true}}"#);
        let table = schema(&[field("l", &list), field("m", &map)].join(","));
        assert_eq!(
            read(&table, ColumnMappingMode::None, &file).unwrap(),
            [
                "[{x: 1, new: , y: 4}, {x: 2, new: , y: 5}]|{k: {x: 1, new: , y: 4}, l: {x: 2, new: , y: 5}}",
                "[{x: 3, new: , y: 6}]|{k: {x: 3, new: , y: 6}}",
            ]
        );
    }

    #[test]
    fn physical_names_and_ids_find_renamed_columns_at_every_depth() {
        let inner = Fields::from(vec![
            with_id(Field::new("p3", Arrow::Int32, true), 3),
            with_id(Field::new("p4", Arrow::Int32, true), 4),
        ]);
        let nested = StructArray::new(inner.clone(), vec![ints(&[1, 2]), ints(&[3, 4])], None);
        let file = batch(vec![
            (with_id(Field::new("p1", Arrow::Int32, true), 1), ints(&[7, 8])),
            (with_id(Field::new("p2", Arrow::Struct(inner), true), 2), Arc::new(nested)),
        ]);
        let of = format!(
            r#"{{"type":"struct","fields":[{},{}]}}"#,
            mapped("p3", r#""integer""#, "p4", 4),
            mapped("n", r#""integer""#, "p5", 5)
        );
        let table = schema(&[mapped("p2", r#""integer""#, "p1", 1), mapped("s", &of, "p2", 2)].join(","));
        for mode in [ColumnMappingMode::Name, ColumnMappingMode::Id] {
            assert_eq!(read(&table, mode, &file).unwrap(), ["7|{p3: 3, n: }", "8|{p3: 4, n: }"], "{mode:?}");
        }
        // ids decide in id mode: names may be anything
        let renamed = batch(vec![
            (with_id(Field::new("p2", Arrow::Int32, true), 1), ints(&[7])),
            (with_id(Field::new("p1", Arrow::Int32, true), 6), ints(&[9])),
        ]);
        assert_eq!(read(&table, ColumnMappingMode::Id, &renamed).unwrap(), ["7|"]);
    }

    #[test]
    fn fields_of_an_equal_struct_are_paired_by_physical_name() {
        // the names were swapped by renames and the order by a move: the type is that of the file again
        let inner =
            Fields::from(vec![Field::new("a", Arrow::Int32, true), Field::new("b", Arrow::Int32, true)]);
        let nested = StructArray::new(inner.clone(), vec![ints(&[1]), ints(&[2])], None);
        let file = batch(vec![(Field::new("s", Arrow::Struct(inner), true), Arc::new(nested))]);
        let of = format!(
            r#"{{"type":"struct","fields":[{},{}]}}"#,
            mapped("a", r#""integer""#, "b", 3),
            mapped("b", r#""integer""#, "a", 2)
        );
        let table = schema(&mapped("s", &of, "s", 1));
        assert_eq!(read(&table, ColumnMappingMode::Name, &file).unwrap(), ["{a: 2, b: 1}"]);
    }

    #[test]
    fn a_file_without_ids_is_refused_where_the_table_maps_by_id() {
        let table = schema(&mapped("a", r#""integer""#, "p1", 1));
        let file = batch(vec![(Field::new("p1", Arrow::Int32, true), ints(&[1]))]);
        let refused = reason(read(&table, ColumnMappingMode::Id, &file));
        assert_eq!(refused, "it has no field ids, and the table maps its columns by id");
        let twice = batch(vec![
            (with_id(Field::new("a", Arrow::Int32, true), 1), ints(&[1])),
            (with_id(Field::new("b", Arrow::Int32, true), 1), ints(&[1])),
        ]);
        assert_eq!(reason(read(&table, ColumnMappingMode::Id, &twice)), "field id 1 exists twice");
    }

    #[test]
    fn names_match_exactly_first_then_without_case() {
        let table = schema(&field("Id", r#""integer""#));
        let file = |names: &[&str]| {
            batch(
                names
                    .iter()
                    .enumerate()
                    .map(|(i, n)| (Field::new(*n, Arrow::Int32, true), ints(&[i as i32])))
                    .collect(),
            )
        };
        let read = |names: &[&str]| read(&table, ColumnMappingMode::None, &file(names));
        assert_eq!(read(&["id", "Id"]).unwrap(), ["1"]);
        assert_eq!(read(&["x", "ID"]).unwrap(), ["1"]);
        assert_eq!(read(&["x"]).unwrap(), [""]);
        assert_eq!(reason(read(&["id", "ID"])), "column `Id` exists in several spellings");
    }

    #[test]
    fn a_struct_whose_fields_are_all_missing_keeps_its_nulls() {
        let inner = Fields::from(vec![
            Field::new("deep", Arrow::Struct(Fields::from(vec![Field::new("z", Arrow::Int32, true)])), true),
            Field::new("old", Arrow::Int32, true),
        ]);
        let deep = StructArray::new(
            Fields::from(vec![Field::new("z", Arrow::Int32, true)]),
            vec![ints(&[1, 2, 3])],
            None,
        );
        let nulls = NullBuffer::from(vec![true, false, true]);
        let nested = StructArray::new(inner.clone(), vec![Arc::new(deep), ints(&[1, 2, 3])], Some(nulls));
        let file = batch(vec![
            (Field::new("s", Arrow::Struct(inner), true), Arc::new(nested)),
            (Field::new("_change_type", Arrow::Utf8, true), Arc::new(StringArray::from(vec!["a", "b", "c"]))),
        ]);
        let of = r#"{"type":"struct","fields":[{"name":"new","type":"integer","nullable":true,"metadata":{}},{"name":"v","type":"void","nullable":true,"metadata":{}}]}"#;
        let table = schema(&[field("s", of), field("old", r#""void""#)].join(","));
        let want = ["{new: , v: }|", "|", "{new: , v: }|"];
        assert_eq!(read(&table, ColumnMappingMode::None, &file).unwrap(), want);
    }

    #[test]
    fn an_unshredded_variant_has_its_parts_in_any_order() {
        let bytes = |v: &[u8]| Arc::new(arrow::array::BinaryArray::from_vec(vec![v])) as ArrayRef;
        let parts = vec![
            (Arc::new(Field::new("metadata", Arrow::Binary, false)), bytes(&[1, 0, 0])),
            (Arc::new(Field::new("value", Arrow::Binary, false)), bytes(&[12, 1])),
        ];
        let array = StructArray::from(parts);
        let file = batch(vec![(Field::new("v", array.data_type().clone(), true), Arc::new(array))]);
        let table = schema(&field("v", r#""variant""#));
        assert_eq!(
            read(&table, ColumnMappingMode::None, &file).unwrap(),
            ["{value: 0c01, metadata: 010000}"]
        );
    }

    #[test]
    fn what_the_table_cannot_hold_is_refused_by_column_and_type() {
        let table = schema(&field("a", r#"{"type":"array","elementType":"date","containsNull":true}"#));
        let list = ListArray::new(
            Arc::new(Field::new("element", Arrow::Int32, true)),
            OffsetBuffer::from_lengths([1]),
            ints(&[1]),
            None,
        );
        let file = batch(vec![(Field::new("a", list.data_type().clone(), true), Arc::new(list))]);
        let refused = reason(read(&table, ColumnMappingMode::None, &file));
        assert_eq!(refused, "column `a.element` is Int32 in the file and cannot be read as date");
        let prunable = batch(vec![(Field::new("a", Arrow::Int32, true), ints(&[1]))]);
        let refused = reason(read(&table, ColumnMappingMode::None, &prunable));
        assert_eq!(refused, "column `a` is Int32 in the file and cannot be read as array");
    }

    #[test]
    fn the_hybrid_calendar_of_a_legacy_file_is_seen_in_its_footer() {
        let folder = Folder::new();
        let dates = Arc::new(arrow::array::Date32Array::from(vec![-719_164, 0])) as ArrayRef;
        let file = batch(vec![(Field::new("d", Arrow::Date32, true), dates)]);
        let note =
            |key: &str, value: &str| KeyValue::new(format!("org.apache.spark.{key}"), value.to_owned());
        let write = |name: &str, notes: Vec<KeyValue>| {
            let properties = WriterProperties::builder().set_key_value_metadata(Some(notes)).build();
            let mut bytes = Vec::new();
            let mut writer = ArrowWriter::try_new(&mut bytes, file.schema(), Some(properties)).unwrap();
            writer.write(&file).unwrap();
            writer.close().unwrap();
            folder.put(name, &bytes)
        };
        for (kind, want) in [("date", ""), ("timestamp_ntz", "T00:00:00")] {
            let table = schema(&field("d", &format!("{kind:?}")));
            let scan = folder.scan(&table, &[], ReadRequest::default());
            let read = |add| lines(&read_all(&scan, &add).unwrap());
            let legacy = write("l.parquet", vec![note("version", "3.5.0"), note("legacyDateTime", "")]);
            assert_eq!(read(legacy), [format!("0001-01-01{want}"), format!("1970-01-01{want}")]);
            let plain = write("p.parquet", vec![note("version", "3.5.0")]);
            assert_eq!(read(plain), [format!("0000-12-30{want}"), format!("1970-01-01{want}")]);
        }
    }

    #[test]
    fn twelve_byte_timestamps_are_read_over_the_whole_range_of_years() {
        use parquet::data_type::{Int96, Int96Type};
        use parquet::file::writer::SerializedFileWriter;
        let parquet = "message m { optional int96 t; optional int96 n; }";
        let parquet = Arc::new(parquet::schema::parser::parse_message_type(parquet).unwrap());
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, parquet, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        // Julian days of 0001-01-01, 1969-12-31 and 9999-12-31, each with 1.5 µs
        let values: Vec<Int96> = [1_721_426_u32, 2_440_587, 5_373_484]
            .into_iter()
            .map(|day| Int96::from(vec![1500, 0, day]))
            .collect();
        while let Some(mut column) = group.next_column().unwrap() {
            column.typed::<Int96Type>().write_batch(&values, Some(&[1, 1, 1]), None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        let folder = Folder::new();
        let add = folder.put("f.parquet", &bytes);
        let table = schema(&[field("t", r#""timestamp""#), field("n", r#""timestamp_ntz""#)].join(","));
        let got = read_all(&folder.scan(&table, &[], ReadRequest::default()), &add).unwrap();
        let want = ["0001-01-01T00:00:00.000001", "1969-12-31T00:00:00.000001", "9999-12-31T00:00:00.000001"];
        assert_eq!(lines(&got), want.map(|t| format!("{t}Z|{t}")));
    }
}
