//! `deltaic._core.write`.

use std::collections::BTreeMap;

use arrow::array::{RecordBatchIterator, RecordBatchReader};
use arrow::error::ArrowError;
use deltaic_core::alter::SetOptions;
use deltaic_core::maintain::{self, LikeOptions};
use deltaic_core::schema::StructType;
use deltaic_core::store::Location;
use deltaic_core::write::{DefineMode, TableSpec, WriteMode, define_table};
use deltaic_core::{Error, Result, write as core};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::json;

use crate::arrow::import;
use crate::document::Document;
use crate::runtime;
use crate::table::Table;

/// A table to be made or replaced.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TableDefinition {
    partition_by: Vec<String>,
    cluster_by: Vec<Vec<String>>,
    configuration: BTreeMap<String, String>,
    defaults: BTreeMap<String, String>,
    arbitrary_properties: bool,
    name: Option<String>,
    description: Option<String>,
    user_metadata: Option<String>,
    managed: bool,
    engine: Option<String>,
}

impl TableDefinition {
    fn with(self, schema: StructType) -> TableSpec {
        TableSpec {
            schema,
            partition_by: self.partition_by,
            cluster_by: self.cluster_by,
            configuration: self.configuration,
            defaults: self.defaults,
            properties: SetOptions { allow_arbitrary: self.arbitrary_properties },
            name: self.name,
            description: self.description,
            user_metadata: self.user_metadata,
            managed: self.managed,
            engine: self.engine,
        }
    }
}

/// What became of it.
#[derive(IntoPyObject)]
pub(crate) struct DefinedTable {
    version: u64,
    created: bool,
    replaced: bool,
}

/// Makes a table without rows, of a schema as JSON, or replaces one, by the mode.
#[pyfunction]
pub(crate) fn create(
    py: Python<'_>,
    uri: &str,
    schema: &str,
    storage_options: BTreeMap<String, String>,
    mode: &str,
    definition: Document<TableDefinition>,
) -> PyResult<DefinedTable> {
    runtime::write(py, || {
        let spec = definition.0.with(StructType::from_json(schema)?);
        let location = Location::open(uri, &storage_options.into())?;
        let done = define_table(&location, &spec, DefineMode::parse(mode)?)?;
        Ok(DefinedTable { version: done.version, created: done.created, replaced: done.replaced })
    })
}

/// Refuses a place that is not empty, where there is no table.
#[pyfunction]
pub(crate) fn check_place(
    py: Python<'_>,
    uri: String,
    storage_options: BTreeMap<String, String>,
) -> PyResult<()> {
    runtime::read(py, move || core::check_place(&Location::open(&uri, &storage_options.into())?, false))
}

/// What a table that is made like another has of its own.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TableLike {
    configuration: BTreeMap<String, String>,
    defaults: BTreeMap<String, String>,
    user_metadata: Option<String>,
    managed: bool,
    engine: Option<String>,
}

/// Makes a table without rows that is like the version that a table shows, and returns its version.
#[pyfunction]
pub(crate) fn create_like(
    py: Python<'_>,
    table: &Table,
    uri: &str,
    storage_options: BTreeMap<String, String>,
    definition: Document<TableLike>,
) -> PyResult<u64> {
    runtime::write(py, || {
        let TableLike { configuration, defaults, user_metadata, managed, engine } = definition.0;
        let options = LikeOptions { properties: configuration, defaults, user_metadata, managed, engine };
        let target = Location::open(uri, &storage_options.into())?;
        Ok(maintain::create_like(table.snapshot(), &target, &options)?.version)
    })
}

/// The options of a write.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct WriteOptions {
    replace_where: Option<String>,
    dynamic_partitions: bool,
    partition_by: Vec<String>,
    configuration: BTreeMap<String, String>,
    name: Option<String>,
    description: Option<String>,
    compression: Option<String>,
    target_file_size: Option<u64>,
    user_metadata: Option<String>,
    app_transaction: Option<(String, i64)>,
}

impl WriteOptions {
    fn with(self, mode: WriteMode) -> core::WriteOptions {
        let defaults = core::WriteOptions::default();
        core::WriteOptions {
            mode,
            replace_where: self.replace_where,
            dynamic_partitions: self.dynamic_partitions,
            partition_by: self.partition_by,
            configuration: self.configuration,
            name: self.name,
            description: self.description,
            compression: self.compression,
            target_file_size: self.target_file_size.unwrap_or(defaults.target_file_size),
            user_metadata: self.user_metadata,
            app_transaction: self.app_transaction,
            ..defaults
        }
    }
}

/// Creates a table, appends to it or overwrites it. Ctrl-C stops it between two batches, and the files written so far are deleted; once
/// the commit has begun it is completed. Returns what it did as JSON.
#[pyfunction]
pub(crate) fn write(
    py: Python<'_>,
    uri: &str,
    data: &Bound<'_, PyAny>,
    storage_options: BTreeMap<String, String>,
    mode: &str,
    options: Document<WriteOptions>,
) -> PyResult<String> {
    let written = taking(py, data, |data| {
        let options = options.0.with(WriteMode::parse(mode)?);
        deltaic_core::operations::write(&Location::open(uri, &storage_options.into())?, data, &options)
    })?;
    Ok(json!({
        "version": written.version, "files": written.files, "rows": written.rows, "bytes": written.bytes,
        "removed": written.removed, "created": written.created, "skipped": written.skipped,
        "warnings": written.warnings
    })
    .to_string())
}

/// Runs work that reads Arrow data, without the GIL. Ctrl-C stops it between two batches.
pub(crate) fn taking<T: Send>(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    work: impl FnOnce(Box<dyn RecordBatchReader>) -> Result<T> + Send,
) -> PyResult<T> {
    let data = import(data)?;
    let result = runtime::write(py, || {
        let schema = data.schema();
        let stopping = data.map(|batch| {
            if runtime::interrupted() {
                Err(ArrowError::ExternalError(Box::new(Error::Interrupted)))
            } else {
                batch
            }
        });
        work(Box::new(RecordBatchIterator::new(stopping, schema)))
    });
    result.map_err(|error| interrupted(py, error))
}

/// A write that Ctrl-C stopped is a `KeyboardInterrupt`: one that waits, or one that the source was given, of which an
/// Arrow stream brings the text only.
fn interrupted(py: Python<'_>, error: PyErr) -> PyErr {
    match py.check_signals() {
        Err(interrupt) => interrupt,
        Ok(()) if error.to_string().contains("KeyboardInterrupt") => PyKeyboardInterrupt::new_err(()),
        Ok(()) => error,
    }
}
