//! What the tests of this module share: Parquet files in a temporary folder, and the actions that list them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType as Arrow, TimestampMicrosecondType};
use arrow::util::display::array_value_to_string;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use super::{FileRows, ReadRequest, RowScan, read_file};
use crate::actions::{Add, FilePath};
use crate::error::Result;
use crate::operations::write;
use crate::schema::{ColumnMappingMode, StructType};
use crate::store::{Location, StorageOptions};
use crate::write::{WriteMode, WriteOptions};

/// A folder of data files.
pub(crate) struct Folder {
    pub(super) dir: tempfile::TempDir,
    pub(crate) location: Location,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let location = Location::open(dir.path().to_str().unwrap(), &StorageOptions::new()).unwrap();
        Folder { dir, location }
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Add {
        std::fs::write(self.dir.path().join(name), bytes).unwrap();
        Add { path: FilePath::encode(name), size: bytes.len() as i64, data_change: true, ..Add::default() }
    }

    pub(super) fn parquet(&self, name: &str, batch: &RecordBatch, group_rows: usize) -> Add {
        self.put(name, &parquet(batch, group_rows))
    }

    /// Plans a read without column mapping.
    pub(super) fn scan(
        &self,
        schema: &StructType,
        partitions: &[&str],
        request: ReadRequest,
    ) -> Arc<RowScan> {
        self.scan_mapped(schema, partitions, ColumnMappingMode::None, request)
    }

    pub(super) fn scan_mapped(
        &self,
        schema: &StructType,
        partitions: &[&str],
        mode: ColumnMappingMode,
        request: ReadRequest,
    ) -> Arc<RowScan> {
        let partitions: Vec<String> = partitions.iter().map(|p| (*p).to_owned()).collect();
        Arc::new(RowScan::new(self.location.clone(), schema, &partitions, mode, request).unwrap())
    }
}

pub(super) fn parquet(batch: &RecordBatch, group_rows: usize) -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group_rows)).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

pub(super) fn rows(rows: FileRows) -> Result<RecordBatch> {
    let schema = rows.schema().clone();
    let batches = rows.collect::<Result<Vec<_>>>()?;
    Ok(concat_batches(&schema, &batches).unwrap())
}

/// Reads one file whole.
pub(super) fn read_all(scan: &Arc<RowScan>, add: &Add) -> Result<RecordBatch> {
    rows(read_file(scan, add)?)
}

/// A value as text; an instant ends in `Z`.
pub(crate) fn text(array: &ArrayRef, row: usize) -> String {
    match array.data_type() {
        // Arrow's own text of an instant needs the database of time zones
        Arrow::Timestamp(_, Some(_)) if array.is_valid(row) => {
            let local =
                array.as_primitive::<TimestampMicrosecondType>().clone().with_timezone_opt(None::<&str>);
            format!("{}Z", array_value_to_string(&local, row).unwrap())
        }
        _ => array_value_to_string(array, row).unwrap(),
    }
}

/// The rows as text, columns separated by bars; null is empty.
pub(crate) fn lines(batch: &RecordBatch) -> Vec<String> {
    let row = |i| batch.columns().iter().map(|c| text(c, i)).collect::<Vec<_>>().join("|");
    (0..batch.num_rows()).map(row).collect()
}

pub(crate) fn schema(json_fields: &str) -> StructType {
    StructType::from_json(&format!(r#"{{"type":"struct","fields":[{json_fields}]}}"#)).unwrap()
}

/// `"name":type` as a schema field without metadata.
pub(super) fn field(name: &str, data_type: &str) -> String {
    format!(r#"{{"name":"{name}","type":{data_type},"nullable":true,"metadata":{{}}}}"#)
}

/// A schema field with the annotations of column mapping.
pub(super) fn mapped(name: &str, data_type: &str, physical: &str, id: i32) -> String {
    format!(
        r#"{{"name":"{name}","type":{data_type},"nullable":true,"metadata":{{"delta.columnMapping.id":{id},"delta.columnMapping.physicalName":"{physical}"}}}}"#
    )
}

/// A number and a name in each row; every third name is null.
pub(super) fn numbers(rows: i64) -> RecordBatch {
    let ids = Int64Array::from_iter_values(0..rows);
    let names = StringArray::from_iter((0..rows).map(|i| (i % 3 != 0).then(|| format!("n{i}"))));
    RecordBatch::try_from_iter_with_nullable([
        ("id", Arc::new(ids) as ArrayRef, true),
        ("name", Arc::new(names) as ArrayRef, true),
    ])
    .unwrap()
}

pub(super) fn numbers_schema() -> StructType {
    schema(&[field("id", r#""long""#), field("name", r#""string""#)].join(","))
}

/// A read of these columns.
pub(super) fn only(columns: &[&str]) -> ReadRequest {
    ReadRequest { columns: Some(columns.iter().map(|c| (*c).to_owned()).collect()), ..ReadRequest::default() }
}

/// A table of [`numbers`] 0 to 8, in three files.
pub(crate) fn nine_rows(configuration: &[(&str, &str)]) -> (tempfile::TempDir, Location) {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::open(dir.path().to_str().unwrap(), &StorageOptions::new()).unwrap();
    let batch = numbers(9);
    for from in [0, 3, 6] {
        let options = WriteOptions {
            mode: WriteMode::Append,
            configuration: configuration.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
            ..WriteOptions::default()
        };
        let part = RecordBatchIterator::new([Ok(batch.slice(from, 3))], batch.schema());
        write(&location, part, &options).unwrap();
    }
    (dir, location)
}
