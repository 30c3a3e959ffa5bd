//! Batches of any Arrow layout become batches of the table's own columns.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, ListArray, MapArray, RecordBatch, StructArray, UInt32Array,
    new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{CastOptions, cast_with_options, take};
use arrow::datatypes::{
    DataType as Arrow, Field, FieldRef, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType,
};
use arrow::datatypes::{TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType};
use arrow::error::ArrowError;

use crate::alter::nested_id;
use crate::error::{Error, Result, condition};
use crate::expr::visible;
use crate::schema::{ColumnMappingMode, DataType, StructField, StructType, arrow_type};

/// Overflow is an error, never a null.
const CHECKED: CastOptions<'static> =
    CastOptions { safe: false, format_options: arrow::util::display::FormatOptions::new() };

/// The Arrow schema of a table as its Parquet files have it: physical names and, under column mapping, field ids.
pub(crate) fn physical_schema(schema: &StructType, mode: ColumnMappingMode) -> SchemaRef {
    Arc::new(Schema::new(schema.fields.iter().map(|f| physical_field(f, mode)).collect::<Vec<_>>()))
}

fn physical_field(field: &StructField, mode: ColumnMappingMode) -> FieldRef {
    let name = field.physical_name(mode);
    let nested = Nested { nearest: field, path: name.to_owned(), mode };
    let arrow = Field::new(name, nested.arrow(&field.data_type), field.nullable);
    Arc::new(match field.field_id() {
        Some(id) if mode != ColumnMappingMode::None => with_id(arrow, i64::from(id)),
        _ => arrow,
    })
}

fn with_id(field: Field, id: i64) -> Field {
    field.with_metadata([(parquet::arrow::PARQUET_FIELD_ID_META_KEY, id.to_string())])
}

/// A type at its place: the ids of elements, keys and values are kept in the nearest field, by the path from there.
struct Nested<'a> {
    nearest: &'a StructField,
    path: String,
    mode: ColumnMappingMode,
}

impl Nested<'_> {
    /// An element, a key or a value.
    fn field(&self, name: &str, data_type: &DataType, nullable: bool) -> Field {
        let path = format!("{}.{name}", self.path);
        let id = match self.mode {
            ColumnMappingMode::None => None,
            _ => nested_id(self.nearest, &path),
        };
        let nested = Nested { nearest: self.nearest, path, mode: self.mode };
        let field = Field::new(name, nested.arrow(data_type), nullable);
        match id {
            Some(id) => with_id(field, id),
            None => field,
        }
    }

    fn arrow(&self, data_type: &DataType) -> Arrow {
        match data_type {
            DataType::Struct(s) => {
                Arrow::Struct(s.fields.iter().map(|f| physical_field(f, self.mode)).collect())
            }
            DataType::Array(a) => {
                Arrow::List(Arc::new(self.field("element", &a.element_type, a.contains_null)))
            }
            DataType::Map(m) => {
                let pair = vec![
                    self.field("key", &m.key_type, false),
                    self.field("value", &m.value_type, m.value_contains_null),
                ];
                Arrow::Map(Arc::new(Field::new("key_value", Arrow::Struct(pair.into()), false)), false)
            }
            primitive => arrow_type(primitive),
        }
    }
}

/// Makes the table's columns out of a batch that [`super::assign::check_assignable`] let through: matched by name, cast,
/// and null where missing.
///
/// # Errors
/// [`Error::SchemaMismatch`] when a value must not be null or does not fit its type; the error names the column.
pub(crate) fn conform_batch(
    path: &str,
    batch: &RecordBatch,
    table: &StructType,
    physical: &SchemaRef,
) -> Result<RecordBatch> {
    let context = Context { path };
    let given = batch.schema();
    let mut columns = Vec::with_capacity(table.fields.len());
    for (field, target) in table.fields.iter().zip(physical.fields()) {
        let array = match find(given.fields(), &field.name) {
            Some(at) => context.fit(batch.column(at), &field.data_type, target.data_type(), &field.name)?,
            None => new_null_array(target.data_type(), batch.num_rows()),
        };
        if !field.nullable && array.logical_null_count() > 0 {
            return Err(context.null(&field.name));
        }
        columns.push(array);
    }
    let options = arrow::record_batch::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(physical.clone(), columns, &options)
        .map_err(|e| Error::arrow(format!("data for `{path}`"), e))
}

/// Index of the field of this name: the exact one, else the one that differs only in case.
fn find(fields: &[FieldRef], name: &str) -> Option<usize> {
    let lower = name.to_lowercase();
    fields
        .iter()
        .position(|f| f.name() == name)
        .or_else(|| fields.iter().position(|f| f.name().to_lowercase() == lower))
}

struct Context<'a> {
    path: &'a str,
}

impl Context<'_> {
    fn mismatch(&self, reason: String) -> Error {
        Error::SchemaMismatch { path: self.path.to_owned(), reason }
    }

    fn null(&self, column: &str) -> Error {
        self.mismatch(format!("`{column}` must not be null, and the data holds a null"))
            .named(&condition::NOT_NULL_CONSTRAINT_VIOLATED, [("columnName", column)])
    }

    fn failed(&self, column: &str, error: ArrowError) -> Error {
        self.mismatch(format!("`{column}`: {error}"))
    }

    fn fit(&self, array: &ArrayRef, to: &DataType, target: &Arrow, column: &str) -> Result<ArrayRef> {
        let array = &self.decode(array, column)?;
        if array.data_type() == &Arrow::Null {
            return Ok(new_null_array(target, array.len()));
        }
        match (to.stored(), target) {
            (DataType::Struct(s), Arrow::Struct(fields)) => self.fit_struct(array, s, fields, column),
            (DataType::Variant, Arrow::Struct(fields)) => self.fit_variant(array, fields, column),
            (DataType::Array(a), Arrow::List(element)) => {
                self.fit_list(array, &a.element_type, element, column)
            }
            (DataType::Map(m), Arrow::Map(entries, _)) => self.fit_map(array, m, entries, column),
            _ => self.cast(array, target, column),
        }
    }

    /// Takes encodings away that the casts below do not look through.
    fn decode(&self, array: &ArrayRef, column: &str) -> Result<ArrayRef> {
        let value = match array.data_type() {
            Arrow::Dictionary(_, value) => value.as_ref().clone(),
            Arrow::RunEndEncoded(_, value) => value.data_type().clone(),
            _ => return Ok(array.clone()),
        };
        let decoded = cast_with_options(array, &value, &CHECKED).map_err(|e| self.failed(column, e))?;
        self.decode(&decoded, column)
    }

    fn fit_struct(
        &self,
        array: &ArrayRef,
        s: &StructType,
        fields: &arrow::datatypes::Fields,
        column: &str,
    ) -> Result<ArrayRef> {
        let Some(array) = array.as_struct_opt() else { return Err(self.shape(array, column)) };
        let mut children = Vec::with_capacity(fields.len());
        for (field, target) in s.fields.iter().zip(fields) {
            let path = format!("{column}.{}", field.name);
            let child = match find(array.fields(), &field.name) {
                Some(at) => {
                    let child = below(array, array.column(at)).map_err(|e| self.failed(&path, e))?;
                    self.fit(&child, &field.data_type, target.data_type(), &path)?
                }
                None => new_null_array(target.data_type(), array.len()),
            };
            if !field.nullable && !covered(array.nulls(), child.logical_nulls().as_ref()) {
                return Err(self.null(&path));
            }
            children.push(child);
        }
        let built =
            StructArray::try_new_with_length(fields.clone(), children, array.nulls().cloned(), array.len());
        Ok(Arc::new(built.map_err(|e| self.failed(column, e))?))
    }

    fn fit_variant(
        &self,
        array: &ArrayRef,
        fields: &arrow::datatypes::Fields,
        column: &str,
    ) -> Result<ArrayRef> {
        let Some(array) = array.as_struct_opt() else { return Err(self.shape(array, column)) };
        let mut children = Vec::with_capacity(2);
        for target in fields {
            let path = format!("{column}.{}", target.name());
            let at = find(array.fields(), target.name()).ok_or_else(|| {
                self.mismatch(format!("`{path}` is missing; shredded variants are not written"))
            })?;
            let child = self.cast(array.column(at), &Arrow::Binary, &path)?;
            if !covered(array.nulls(), child.logical_nulls().as_ref()) {
                return Err(self.null(&path));
            }
            // a part under a null variant may be null, which the required part in the file cannot
            children.push(without_nulls(&child));
        }
        let built = StructArray::try_new(fields.clone(), children, array.nulls().cloned());
        Ok(Arc::new(built.map_err(|e| self.failed(column, e))?))
    }

    fn fit_list(
        &self,
        array: &ArrayRef,
        element: &DataType,
        target: &FieldRef,
        column: &str,
    ) -> Result<ArrayRef> {
        let inner = match array.data_type() {
            Arrow::List(f)
            | Arrow::LargeList(f)
            | Arrow::FixedSizeList(f, _)
            | Arrow::ListView(f)
            | Arrow::LargeListView(f) => f.clone(),
            _ => return Err(self.shape(array.as_ref(), column)),
        };
        let list = self.cast(array, &Arrow::List(inner), column)?;
        let list = list.as_list::<i32>();
        let path = format!("{column}.element");
        let (offsets, rows) = dense(list.offsets(), list.nulls());
        let values = match rows {
            None => list.values().slice(list.offsets()[0] as usize, offsets[offsets.len() - 1] as usize),
            Some(rows) => self.taken(list.values(), &rows, &path)?,
        };
        let values = self.fit(&values, element, target.data_type(), &path)?;
        if !target.is_nullable() && values.logical_null_count() > 0 {
            return Err(self.null(&path));
        }
        let built = ListArray::try_new(target.clone(), offsets, values, list.nulls().cloned());
        Ok(Arc::new(built.map_err(|e| self.failed(column, e))?))
    }

    fn fit_map(
        &self,
        array: &ArrayRef,
        m: &crate::schema::MapType,
        target: &FieldRef,
        column: &str,
    ) -> Result<ArrayRef> {
        let Some(map) = array.as_map_opt() else { return Err(self.shape(array.as_ref(), column)) };
        let Arrow::Struct(pair) = target.data_type() else { return Err(self.shape(array.as_ref(), column)) };
        let (offsets, rows) = dense(map.offsets(), map.nulls());
        let pick = |values: &ArrayRef, path: &str| match &rows {
            None => Ok(values.slice(map.offsets()[0] as usize, offsets[offsets.len() - 1] as usize)),
            Some(rows) => self.taken(values, rows, path),
        };
        let (key, value) = (format!("{column}.key"), format!("{column}.value"));
        let keys = self.fit(&pick(map.keys(), &key)?, &m.key_type, pair[0].data_type(), &key)?;
        let values = self.fit(&pick(map.values(), &value)?, &m.value_type, pair[1].data_type(), &value)?;
        if keys.logical_null_count() > 0 {
            return Err(self.null(&key));
        }
        if !pair[1].is_nullable() && values.logical_null_count() > 0 {
            return Err(self.null(&value));
        }
        let entries = StructArray::try_new(pair.clone(), vec![keys, values], None)
            .map_err(|e| self.failed(column, e))?;
        let built = MapArray::try_new(target.clone(), offsets, entries, map.nulls().cloned(), false);
        Ok(Arc::new(built.map_err(|e| self.failed(column, e))?))
    }

    /// Some of the values. Nulls where their type has none are found later, with the column's name.
    fn taken(&self, values: &ArrayRef, rows: &UInt32Array, column: &str) -> Result<ArrayRef> {
        nullable(values).and_then(|values| take(&values, rows, None)).map_err(|e| self.failed(column, e))
    }

    fn shape(&self, array: &dyn Array, column: &str) -> Error {
        self.mismatch(format!("`{column}` has the Arrow type {}", array.data_type()))
    }

    fn cast(&self, array: &ArrayRef, target: &Arrow, column: &str) -> Result<ArrayRef> {
        if array.data_type() == target {
            return Ok(array.clone());
        }
        if let (Arrow::Timestamp(unit, _), Arrow::Timestamp(TimeUnit::Microsecond, zone)) =
            (array.data_type(), target)
        {
            return self.micros(array, *unit, zone.clone(), column);
        }
        cast_with_options(array, target, &CHECKED).map_err(|e| self.failed(column, e))
    }

    /// Any unit to microseconds: coarser ones checked, nanoseconds cut down. Instants do not change, regardless of
    /// their zone.
    fn micros(
        &self,
        array: &ArrayRef,
        unit: TimeUnit,
        zone: Option<Arc<str>>,
        column: &str,
    ) -> Result<ArrayRef> {
        let scaled = |v: i64, by: i64| {
            v.checked_mul(by).ok_or_else(|| ArrowError::ComputeError(format!("{v} overflows microseconds")))
        };
        let micros = match unit {
            TimeUnit::Second => array
                .as_primitive::<TimestampSecondType>()
                .try_unary::<_, TimestampMicrosecondType, _>(|v| scaled(v, 1_000_000)),
            TimeUnit::Millisecond => array
                .as_primitive::<TimestampMillisecondType>()
                .try_unary::<_, TimestampMicrosecondType, _>(|v| scaled(v, 1_000)),
            TimeUnit::Microsecond => Ok(array.as_primitive::<TimestampMicrosecondType>().clone()),
            TimeUnit::Nanosecond => Ok(array
                .as_primitive::<TimestampNanosecondType>()
                .unary::<_, TimestampMicrosecondType>(|v| v.div_euclid(1_000))),
        };
        Ok(Arc::new(micros.map_err(|e| self.failed(column, e))?.with_timezone_opt(zone)))
    }
}

/// Whether every null of a child lies under a null of its parent.
fn covered(parent: Option<&NullBuffer>, child: Option<&NullBuffer>) -> bool {
    let Some(child) = child.filter(|c| c.null_count() > 0) else { return true };
    let Some(parent) = parent else { return false };
    child.iter().zip(parent.iter()).all(|(child, parent)| child || !parent)
}

/// A column of a struct: a nested one as it is seen, whose own parts are looked at next.
fn below(of: &StructArray, child: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    if child.data_type().is_nested() { visible(of, child) } else { Ok(child.clone()) }
}

/// The same values, of structs whose fields may be null.
fn nullable(values: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    let Some(structs) = values.as_struct_opt() else { return Ok(values.clone()) };
    let fields = structs.fields().iter().zip(structs.columns()).map(|(field, column)| {
        let column = nullable(column)?;
        let field = field.as_ref().clone().with_data_type(column.data_type().clone()).with_nullable(true);
        Ok((Arc::new(field), column))
    });
    let (fields, columns): (Vec<_>, Vec<_>) =
        fields.collect::<std::result::Result<Vec<_>, ArrowError>>()?.into_iter().unzip();
    let made =
        StructArray::try_new_with_length(fields.into(), columns, structs.nulls().cloned(), structs.len());
    Ok(Arc::new(made?))
}

fn without_nulls(array: &ArrayRef) -> ArrayRef {
    match array.as_binary_opt::<i32>() {
        Some(b) if b.null_count() > 0 => {
            Arc::new(BinaryArray::new(b.offsets().clone(), b.values().clone(), None))
        }
        _ => array.clone(),
    }
}

/// Offsets that begin at zero and give null lists no values. Values hidden under null lists must be taken out, or they
/// would be checked and counted; the rows to keep are given then.
fn dense(
    offsets: &OffsetBuffer<i32>,
    nulls: Option<&NullBuffer>,
) -> (OffsetBuffer<i32>, Option<UInt32Array>) {
    let valid = |row: usize| nulls.is_none_or(|n| n.is_valid(row));
    let hidden = (0..offsets.len() - 1).any(|row| !valid(row) && offsets[row] != offsets[row + 1]);
    let lengths = offsets.lengths().enumerate().map(|(row, n)| if valid(row) { n } else { 0 });
    let shifted = OffsetBuffer::from_lengths(lengths);
    if !hidden {
        return (shifted, None);
    }
    let rows = (0..offsets.len() - 1)
        .filter(|row| valid(*row))
        .flat_map(|row| offsets[row] as u32..offsets[row + 1] as u32);
    (shifted, Some(rows.collect()))
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        DictionaryArray, Int8Array, Int32Array, Int64Array, LargeListArray, NullArray, StringArray,
        StringViewArray, TimestampMicrosecondArray, TimestampNanosecondArray, TimestampSecondArray,
    };
    use arrow::datatypes::Int32Type;

    use super::*;
    use crate::schema::ArrayType;

    fn fit(array: impl Array + 'static, to: DataType, nullable: bool) -> Result<ArrayRef> {
        let table = StructType { fields: vec![StructField::new("C", to, nullable)] };
        let physical = physical_schema(&table, ColumnMappingMode::None);
        let batch =
            RecordBatch::try_from_iter_with_nullable([("c", Arc::new(array) as ArrayRef, true)]).unwrap();
        conform_batch("t", &batch, &table, &physical).map(|b| b.column(0).clone())
    }

    #[test]
    fn encodings_and_widths_are_made_even() {
        let dictionary: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
        assert_eq!(
            fit(dictionary, DataType::String, true).unwrap().as_ref(),
            &StringArray::from(vec!["a", "b", "a"])
        );
        let view = StringViewArray::from(vec![Some("x"), None]);
        assert_eq!(
            fit(view, DataType::String, true).unwrap().as_ref(),
            &StringArray::from(vec![Some("x"), None])
        );
        assert_eq!(
            fit(Int8Array::from(vec![-1]), DataType::Long, true).unwrap().as_ref(),
            &Int64Array::from(vec![-1])
        );
        assert_eq!(fit(NullArray::new(2), DataType::Long, true).unwrap().null_count(), 2);
    }

    #[test]
    fn timestamps_become_microseconds_and_are_never_rounded_up() {
        let nanos = TimestampNanosecondArray::from(vec![-1, 1_999]).with_timezone("Europe/Berlin");
        let expected = TimestampMicrosecondArray::from(vec![-1, 1]).with_timezone("UTC");
        assert_eq!(fit(nanos, DataType::Timestamp, true).unwrap().as_ref(), &expected);
        let error =
            fit(TimestampSecondArray::from(vec![i64::MAX]), DataType::TimestampNtz, true).unwrap_err();
        assert!(error.to_string().contains("`C`") && error.to_string().contains("overflows"), "{error}");
    }

    #[test]
    fn nulls_are_refused_where_the_table_has_none() {
        let error = fit(Int64Array::from(vec![Some(1), None]), DataType::Long, false).unwrap_err();
        assert!(error.to_string().contains("`C` must not be null"), "{error}");
        let list = LargeListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None])]);
        let solid =
            DataType::Array(Box::new(ArrayType { element_type: DataType::Integer, contains_null: false }));
        let error = fit(list, solid, true).unwrap_err();
        assert!(error.to_string().contains("`C.element` must not be null"), "{error}");
    }

    #[test]
    fn values_under_null_lists_do_not_count() {
        let values = Int32Array::from(vec![Some(7), None, Some(8)]);
        let field = Arc::new(Field::new("item", Arrow::Int32, true));
        let nulls = NullBuffer::from(vec![true, false, true]);
        let list =
            ListArray::new(field, OffsetBuffer::from_lengths([1, 1, 1]), Arc::new(values), Some(nulls));
        let solid =
            DataType::Array(Box::new(ArrayType { element_type: DataType::Integer, contains_null: false }));
        let conformed = fit(list.slice(0, 3), solid.clone(), true).unwrap();
        assert_eq!(conformed.as_list::<i32>().values().as_ref(), &Int32Array::from(vec![7, 8]));
        let conformed = fit(list.slice(2, 1), solid, true).unwrap();
        assert_eq!(conformed.as_list::<i32>().values().as_ref(), &Int32Array::from(vec![8]));
    }

    #[test]
    fn struct_fields_are_matched_by_name_and_missing_ones_are_null() {
        let given = StructArray::from(vec![
            (Arc::new(Field::new("B", Arrow::Int32, true)), Arc::new(Int32Array::from(vec![1])) as ArrayRef),
            (
                Arc::new(Field::new("a", Arrow::Utf8, true)),
                Arc::new(StringArray::from(vec!["x"])) as ArrayRef,
            ),
        ]);
        let field = |n: &str, t| StructField::new(n, t, true);
        let to = StructType {
            fields: vec![
                field("a", DataType::String),
                field("b", DataType::Long),
                field("c", DataType::Date),
            ],
        };
        let conformed = fit(given, DataType::Struct(Box::new(to)), true).unwrap();
        let conformed = conformed.as_struct();
        assert_eq!(conformed.column(0).as_ref(), &StringArray::from(vec!["x"]));
        assert_eq!(conformed.column(1).as_ref(), &Int64Array::from(vec![1]));
        assert_eq!(conformed.column(2).null_count(), 1);
    }

    #[test]
    fn mapped_columns_have_physical_names_and_ids() {
        let mut field = StructField::new("a b", DataType::Long, true);
        field.metadata.insert(crate::schema::PHYSICAL_NAME.into(), "col-1".into());
        field.metadata.insert(crate::schema::FIELD_ID.into(), 7.into());
        let physical = physical_schema(&StructType { fields: vec![field] }, ColumnMappingMode::Name);
        assert_eq!(physical.field(0).name(), "col-1");
        assert_eq!(physical.field(0).metadata()["PARQUET:field_id"], "7");
    }
}
