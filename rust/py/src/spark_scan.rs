//! `ScanPlan` and `read_split`: reads that Spark spreads over tasks, or does itself on the files that are named here.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_core::Result;
use deltaic_core::actions::Add;
use deltaic_core::engine::file_list;
use deltaic_core::predicate::Predicate;
use deltaic_core::scan::{Split, file_facts, row_id_bases, row_id_columns, splits, surviving_files};
use deltaic_core::schema::{ColumnMappingMode, DataType, StructField, stored_schema};
use deltaic_core::snapshot::{At, Snapshot, resolve_table_path};
use deltaic_core::store::{Location, StorageOptions};
use pyo3::prelude::*;
use serde_json::json;

use crate::document::Document;
use crate::errors::to_python;
use crate::predicate::{JsonPredicate, inner};
use crate::runtime::read;
use crate::stream::{Batches, Stream};
use crate::verify::level;

/// What is read of a table: a version, or the newest one.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ScanRequest {
    version: Option<u64>,
    timestamp_millis: Option<i64>,
    predicate: Option<JsonPredicate>,
    row_ids: bool,
    verify: Option<String>,
}

/// The plan of a read of one version.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct ScanPlan {
    snapshot: Snapshot,
    options: StorageOptions,
    files: Arc<Vec<Add>>,
    /// Columns of the files that are none of the table.
    more: Vec<StructField>,
    /// By which files were chosen, and parts of them are skipped.
    predicate: Option<Predicate>,
}

impl ScanPlan {
    /// Of these files of a version, with columns that they have beside those of the table.
    pub(crate) fn of(
        snapshot: Snapshot,
        options: StorageOptions,
        files: Vec<Add>,
        more: Vec<StructField>,
    ) -> Self {
        ScanPlan { snapshot, options, files: Arc::new(files), more, predicate: None }
    }

    /// Of the files of a version that may hold a row for which a predicate is true.
    pub(crate) fn of_matching(
        snapshot: Snapshot,
        options: StorageOptions,
        predicate: Option<Predicate>,
        row_ids: bool,
    ) -> Result<Self> {
        let more = if row_ids { row_id_columns(&snapshot)?.to_vec() } else { Vec::new() };
        let files = Arc::new(surviving_files(&snapshot, predicate.as_ref(), row_ids)?);
        Ok(ScanPlan { snapshot, options, files, more, predicate })
    }
}

#[pymethods]
impl ScanPlan {
    #[new]
    fn new(
        py: Python<'_>,
        path: String,
        storage_options: BTreeMap<String, String>,
        request: Document<ScanRequest>,
    ) -> PyResult<Self> {
        let ScanRequest { version, timestamp_millis, predicate, row_ids, verify } = request.0;
        read(py, move || {
            let options = StorageOptions::from(storage_options);
            let asked = At::given(&path, version, timestamp_millis)?;
            let (uri, at) = resolve_table_path(&path, asked, &options)?;
            let level = level(verify.as_deref())?;
            let snapshot = Snapshot::open_with(Location::open(&uri, &options)?, at, level)?;
            ScanPlan::of_matching(snapshot, options, inner(predicate), row_ids)
        })
    }

    /// The location of the table as a URI.
    #[getter]
    fn root(&self) -> String {
        self.snapshot.location().root().to_uri()
    }

    /// The version that is read.
    #[getter]
    fn version(&self) -> u64 {
        self.snapshot.version()
    }

    /// The schema as JSON, as Spark gets it.
    #[getter]
    fn schema(&self) -> String {
        let mut schema = self.snapshot.schema().as_ref().clone();
        schema.fields.extend(self.more.iter().cloned());
        file_list::schema(&schema).to_string()
    }

    /// The columns by which files keep the row ids and row commit versions of rows, where they were asked for.
    #[getter]
    fn row_id_columns(&self) -> Vec<String> {
        self.more.iter().map(|f| f.name.clone()).collect()
    }

    /// Where the row ids of the files begin, as an Arrow stream: `path`, `base_row_id` and
    /// `default_row_commit_version`.
    fn row_id_bases(&self, py: Python<'_>) -> PyResult<Stream> {
        let (root, files) = (self.snapshot.location().root().clone(), self.files.clone());
        Ok(Stream::of(read(py, move || row_id_bases(&root, &files))?))
    }

    /// Number of files that the predicate keeps.
    #[getter]
    fn num_files(&self) -> usize {
        self.files.len()
    }

    /// Whether columns are found by name in the files.
    #[getter]
    fn by_name(&self) -> bool {
        self.snapshot.column_mapping() != ColumnMappingMode::Id
    }

    /// The columns that data files hold, as JSON: their names there, everything nullable, no metadata.
    #[getter]
    fn stored_schema(&self) -> String {
        let (schema, mode) = (self.snapshot.schema(), self.snapshot.column_mapping());
        let partitions = schema.physical_names(self.snapshot.partition_columns(), mode);
        let mut stored = stored_schema(schema, mode);
        stored.fields.retain(|f| !partitions.contains(&f.name));
        stored.fields.extend(self.more.iter().cloned());
        stored.to_json()
    }

    /// Where each column of the table comes from, as JSON.
    #[getter]
    fn columns(&self) -> String {
        let (schema, mode) = (self.snapshot.schema(), self.snapshot.column_mapping());
        let nested = |t: &DataType| matches!(t, DataType::Struct(_) | DataType::Array(_) | DataType::Map(_));
        let columns: Vec<_> = schema
            .fields
            .iter()
            .chain(&self.more)
            .map(|f| {
                let partition = self.snapshot.partition_columns().iter().position(|p| *p == f.name);
                json!({
                    "name": f.name,
                    "partition": partition.is_some(),
                    "values": partition.map(|i| format!("p{i}")),
                    "stored": f.physical_name(mode),
                    "renamed": mode != ColumnMappingMode::None && nested(&f.data_type),
                })
            })
            .collect();
        json!(columns).to_string()
    }

    /// Groups of files of at most so many bytes, for `read_split`.
    fn splits(&self, py: Python<'_>, most_bytes: i64) -> PyResult<Vec<Vec<u8>>> {
        let (snapshot, options, files) = (self.snapshot.clone(), self.options.clone(), self.files.clone());
        let (more, predicate) = (self.more.clone(), self.predicate.clone());
        read(py, move || {
            let splits = splits(&snapshot, &options, &files, &more, most_bytes).into_iter();
            encoded(&splits.map(|split| split.skipping(predicate.clone())).collect::<Vec<_>>())
        })
    }

    /// Facts of the files as an Arrow stream: `path`, `deleted`, and partition values `p0`, `p1` … None where the deleted
    /// rows take too much memory.
    fn files(&self, py: Python<'_>) -> PyResult<Option<Stream>> {
        let (snapshot, files) = (self.snapshot.clone(), self.files.clone());
        let batch = read(py, move || file_facts(&snapshot, &files))?;
        Ok(batch.map(Stream::of))
    }
}

/// Groups of files as `read_split` takes them.
pub(crate) fn encoded(splits: &[Split]) -> Result<Vec<Vec<u8>>> {
    splits.iter().map(|split| split.to_json().map(String::into_bytes)).collect()
}

/// Reads columns of a group of files, by logical name; with `places` also the decoded URI of each row's file and the
/// position in it, in columns of these names.
#[pyfunction]
#[pyo3(signature = (split, columns=None, places=None))]
pub(crate) fn read_split(
    py: Python<'_>,
    split: &[u8],
    columns: Option<Vec<String>>,
    places: Option<(String, String)>,
) -> PyResult<Stream> {
    let split = Split::from_json(&String::from_utf8_lossy(split)).map_err(|e| to_python(py, &e))?;
    let start = move || match &places {
        None => split.clone().read(columns.clone()),
        Some((file, row)) => split.clone().read_placed(columns.clone(), [file, row]),
    };
    let first = start().map_err(|e| to_python(py, &e))?;
    let schema = first.schema().clone();
    let open = move || Ok(Box::new(start()?) as Batches);
    Ok(Stream::with_started(schema, Arc::new(open), Box::new(first)))
}
