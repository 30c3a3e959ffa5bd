//! The columns of `Table.files`: those of the core, in types that every Arrow peer knows, with logical names.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{
    Array, ArrayRef, AsArray, MapArray, RecordBatch, StringArray, StructArray, new_null_array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use deltaic_core::actions::Add;
use deltaic_core::replay::{FileBatch, FileStream, FilesRequest};
use deltaic_core::schema::ColumnMappingMode;
use deltaic_core::snapshot::Snapshot;
use deltaic_core::{Error, Result};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::errors::to_python;
use crate::runtime;
use crate::stream::Batches;

/// The schema of `Table.files`.
pub(crate) fn files_schema(stats: bool) -> SchemaRef {
    let vector = Fields::from(vec![
        Field::new("storageType", DataType::Utf8, false),
        Field::new("pathOrInlineDv", DataType::Utf8, false),
        Field::new("offset", DataType::Int32, true),
        Field::new("sizeInBytes", DataType::Int32, false),
        Field::new("cardinality", DataType::Int64, false),
    ]);
    let entry = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Utf8, true),
    ]);
    let values = DataType::Map(Arc::new(Field::new("key_value", DataType::Struct(entry), false)), false);
    let mut fields = vec![
        Field::new("path", DataType::Utf8, false),
        Field::new("size", DataType::Int64, false),
        Field::new("modification_time", DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), true),
        Field::new("partition_values", values, false),
        Field::new("deletion_vector", DataType::Struct(vector), true),
    ];
    if stats {
        fields.push(Field::new("num_records", DataType::Int64, true));
        fields.push(Field::new("stats", DataType::Utf8, true));
    }
    Arc::new(Schema::new(fields))
}

/// Starts a listing.
pub(crate) fn open(snapshot: &Snapshot, request: FilesRequest) -> Result<Batches> {
    let schema = files_schema(request.stats);
    let names = logical_names(snapshot);
    let batches = snapshot.files(request)?;
    let mut nulls = Nulls::default();
    Ok(Box::new(batches.map(move |batch| {
        convert(&batch?, &schema, &names, &mut nulls)
            .map_err(|e| Error::arrow("listing the files of a table", e))
    })))
}

/// Columns without a value, which the batches of a listing share: a reader that keeps these keeps one of them.
#[derive(Default)]
struct Nulls(HashMap<String, ArrayRef>);

impl Nulls {
    fn column(&mut self, field: &Field, length: usize) -> ArrayRef {
        let known = self.0.entry(field.name().clone());
        let known = known.or_insert_with(|| new_null_array(field.data_type(), length));
        if known.len() < length {
            *known = new_null_array(field.data_type(), length);
        }
        known.slice(0, length)
    }
}

/// Numbers of a set of files.
#[derive(Default, Serialize)]
pub(crate) struct Totals {
    files: u64,
    bytes: u64,
    /// Files that have a deletion vector.
    deletion_vectors: u64,
    /// Rows that these delete.
    deleted_rows: u64,
}

/// The numbers of the files of a listing.
pub(crate) fn totals(snapshot: &Snapshot, request: FilesRequest) -> Result<Totals> {
    let mut totals = Totals::default();
    for batch in snapshot.files(request)? {
        let batch = batch?;
        totals.files += batch.num_files() as u64;
        for size in batch.sizes().iter().flatten() {
            totals.bytes = totals.bytes.saturating_add(u64::try_from(size).unwrap_or_default());
        }
        for vector in (0..batch.num_files()).filter_map(|row| batch.deletion_vector(row)) {
            totals.deletion_vectors += 1;
            totals.deleted_rows =
                totals.deleted_rows.saturating_add(u64::try_from(vector.cardinality).unwrap_or_default());
        }
    }
    Ok(totals)
}

/// A listing as JSON, one array of files for each `next`: for readers without an Arrow library.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct FileLines {
    files: Arc<Mutex<FileStream>>,
    names: HashMap<String, String>,
}

impl FileLines {
    /// Starts a listing.
    pub(crate) fn open(snapshot: &Snapshot, request: FilesRequest) -> Result<Self> {
        let files = Arc::new(Mutex::new(snapshot.files(request)?));
        Ok(FileLines { files, names: logical_names(snapshot) })
    }

    fn line(&self, add: &Add) -> Value {
        let name = |physical: &String| self.names.get(physical).unwrap_or(physical).clone();
        let values: BTreeMap<String, _> = add.partition_values.iter().map(|(k, v)| (name(k), v)).collect();
        json!({
            "path": add.path, "size": add.size, "modification_time": add.modification_time,
            "partition_values": values, "deletion_vector": add.deletion_vector, "stats": add.stats
        })
    }
}

#[pymethods]
impl FileLines {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let files = self.files.clone();
        let batch = runtime::read(py, move || {
            files.lock().unwrap_or_else(PoisonError::into_inner).next().transpose()
        })?;
        let Some(batch) = batch else { return Ok(None) };
        let lines = batch.adds().map(|add| Ok(self.line(&add?))).collect::<Result<Vec<_>>>();
        lines.map(|lines| Some(Value::from(lines).to_string())).map_err(|e| to_python(py, &e))
    }
}

/// Physical to logical names of the partition columns, where they differ.
fn logical_names(snapshot: &Snapshot) -> HashMap<String, String> {
    let mode = snapshot.column_mapping();
    if mode == ColumnMappingMode::None {
        return HashMap::new();
    }
    let logical = snapshot.partition_columns();
    snapshot.schema().physical_names(logical, mode).into_iter().zip(logical.iter().cloned()).collect()
}

fn convert(
    files: &FileBatch,
    schema: &SchemaRef,
    names: &HashMap<String, String>,
    nulls: &mut Nulls,
) -> Result<RecordBatch, ArrowError> {
    let batch = files.to_record_batch().map_err(|e| ArrowError::ExternalError(Box::new(e)))?;
    let column = |name: &str| -> Result<ArrayRef, ArrowError> {
        batch
            .column_by_name(name)
            .cloned()
            .ok_or_else(|| ArrowError::SchemaError(format!("the listing has no column `{name}`")))
    };
    let columns = schema
        .fields()
        .iter()
        .map(|field| match field.name().as_str() {
            "partition_values" => renamed(&column("partition_values")?, field.data_type(), names),
            "num_records" => Ok(files.num_records().map_or_else(
                || nulls.column(field, batch.num_rows()),
                |counts| Arc::new(counts) as ArrayRef,
            )),
            name => match column(name)? {
                none if none.null_count() == none.len() => Ok(nulls.column(field, none.len())),
                values => cast(&values, field.data_type()),
            },
        })
        .collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(schema.clone(), columns)
}

/// Partition values with logical names as keys.
fn renamed(
    values: &ArrayRef,
    to: &DataType,
    names: &HashMap<String, String>,
) -> Result<ArrayRef, ArrowError> {
    if names.is_empty() {
        return cast(values, to);
    }
    let map = values.as_map();
    let keys = cast(map.keys(), &DataType::Utf8)?;
    let keys: StringArray =
        keys.as_string::<i32>().iter().map(|k| k.map(|k| names.get(k).map_or(k, String::as_str))).collect();
    let DataType::Map(entry, sorted) = to else {
        return Err(ArrowError::SchemaError("partition values are no map".into()));
    };
    let DataType::Struct(fields) = entry.data_type() else {
        return Err(ArrowError::SchemaError("a map without entries".into()));
    };
    let values = cast(map.values(), &DataType::Utf8)?;
    let entries = StructArray::try_new(fields.clone(), vec![Arc::new(keys), values], None)?;
    let renamed =
        MapArray::try_new(entry.clone(), map.offsets().clone(), entries, map.nulls().cloned(), *sorted)?;
    Ok(Arc::new(renamed))
}
