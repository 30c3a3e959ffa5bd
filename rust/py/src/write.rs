//! `deltaic._core.write`.

use std::collections::BTreeMap;

use arrow::array::RecordBatchIterator;
use arrow::error::ArrowError;
use deltaic_core::alter::SetOptions;
use deltaic_core::maintain::{self, LikeOptions};
use deltaic_core::schema::StructType;
use deltaic_core::store::Location;
use deltaic_core::write::{DefineMode, TableSpec, WriteMode, WriteOptions, define_table};
use deltaic_core::{Error, write as core};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::json;

use crate::arrow::import;
use crate::runtime;
use crate::table::Table;

/// Makes a table without rows, of a schema as JSON, or replaces one, by the mode. The version, whether it was made, and
/// whether one was replaced.
#[pyfunction]
#[pyo3(signature = (
    uri, schema, storage_options, *, mode, partition_by, cluster_by, configuration, defaults, name, description,
    user_metadata, managed, engine, arbitrary_properties=false
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn create(
    py: Python<'_>,
    uri: &str,
    schema: &str,
    storage_options: BTreeMap<String, String>,
    mode: &str,
    partition_by: Vec<String>,
    cluster_by: Vec<Vec<String>>,
    configuration: BTreeMap<String, String>,
    defaults: BTreeMap<String, String>,
    name: Option<String>,
    description: Option<String>,
    user_metadata: Option<String>,
    managed: bool,
    engine: Option<String>,
    arbitrary_properties: bool,
) -> PyResult<(u64, bool, bool)> {
    runtime::write(py, || {
        let schema = StructType::from_json(schema)?;
        let spec = TableSpec {
            schema,
            partition_by,
            cluster_by,
            configuration,
            defaults,
            properties: SetOptions { allow_arbitrary: arbitrary_properties },
            name,
            description,
            user_metadata,
            managed,
            engine,
        };
        let location = Location::open(uri, &storage_options.into())?;
        let done = define_table(&location, &spec, DefineMode::parse(mode)?)?;
        Ok((done.version, done.created, done.replaced))
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

/// Makes a table without rows that is like the version that a table shows, and returns its version.
#[pyfunction]
#[pyo3(signature = (
    table, uri, storage_options, *, configuration, defaults, user_metadata, managed, engine
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn create_like(
    py: Python<'_>,
    table: &Table,
    uri: &str,
    storage_options: BTreeMap<String, String>,
    configuration: BTreeMap<String, String>,
    defaults: BTreeMap<String, String>,
    user_metadata: Option<String>,
    managed: bool,
    engine: Option<String>,
) -> PyResult<u64> {
    runtime::write(py, || {
        let options = LikeOptions { properties: configuration, defaults, user_metadata, managed, engine };
        let target = Location::open(uri, &storage_options.into())?;
        Ok(maintain::create_like(table.snapshot(), &target, &options)?.version)
    })
}

/// Creates a table, appends to it or overwrites it. Ctrl-C stops it between two batches, and the files written so far are deleted; once
/// the commit has begun it is completed. Returns what it did as JSON.
#[pyfunction]
#[pyo3(signature = (
    uri, data, storage_options, *, mode, replace_where, dynamic_partitions, partition_by, configuration, name, description, compression,
    target_file_size, user_metadata, app_transaction
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn write(
    py: Python<'_>,
    uri: &str,
    data: &Bound<'_, PyAny>,
    storage_options: BTreeMap<String, String>,
    mode: &str,
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
) -> PyResult<String> {
    let data = import(data)?;
    let defaults = WriteOptions::default();
    let result = runtime::write(py, || {
        let options = WriteOptions {
            mode: WriteMode::parse(mode)?,
            replace_where,
            dynamic_partitions,
            partition_by,
            configuration,
            name,
            description,
            compression,
            target_file_size: target_file_size.unwrap_or(defaults.target_file_size),
            user_metadata,
            app_transaction,
            ..defaults
        };
        let schema = data.schema();
        let stopping = data.map(|batch| {
            if runtime::interrupted() {
                Err(ArrowError::ExternalError(Box::new(Error::Interrupted)))
            } else {
                batch
            }
        });
        deltaic_core::operations::write(
            &Location::open(uri, &storage_options.into())?,
            RecordBatchIterator::new(stopping, schema),
            &options,
        )
    });
    let written = result.map_err(|error| interrupted(py, error))?;
    Ok(json!({
        "version": written.version, "files": written.files, "rows": written.rows, "bytes": written.bytes,
        "removed": written.removed, "created": written.created, "skipped": written.skipped,
        "warnings": written.warnings
    })
    .to_string())
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
