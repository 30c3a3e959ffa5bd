//! `Convert` and its tasks: a table of Parquet files, whose footers are read in this process or by tasks of an engine.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use deltaic_core::alter::columns_from_json;
use deltaic_core::engine::{ConvertTask as Task, DistributedConvert};
use deltaic_core::maintain::{CloneTarget, ConvertDone, ConvertOptions, Partitioning};
use deltaic_core::schema::StructType;
use deltaic_core::store::{Location, StorageOptions};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::to_python;
use crate::maintain::CloneRequest;
use crate::runtime;

/// A conversion. Nothing is read by making one.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct Convert {
    inner: Mutex<DistributedConvert>,
}

impl Convert {
    fn lock(&self) -> MutexGuard<'_, DistributedConvert> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Convert {
    /// `partition_schema` (JSON) holds the partition columns; none infers them.
    #[new]
    fn new(
        py: Python<'_>,
        uri: &str,
        storage_options: BTreeMap<String, String>,
        partition_schema: Option<&str>,
        statistics: bool,
        configuration: BTreeMap<String, String>,
        user_metadata: Option<String>,
    ) -> PyResult<Self> {
        runtime::write(py, || {
            let partitioning = match partition_schema {
                Some(json) => Partitioning::Columns(StructType { fields: columns_from_json(json)? }),
                None => Partitioning::Inferred,
            };
            let options = ConvertOptions {
                partitioning,
                statistics,
                configuration,
                user_metadata,
                ..ConvertOptions::default()
            };
            let storage = StorageOptions::from(storage_options);
            let inner = DistributedConvert::new(Location::open(uri, &storage)?, storage, options);
            Ok(Convert { inner: Mutex::new(inner) })
        })
    }

    /// The name by which a catalog knows the files, for the history.
    fn set_catalog_table(&self, name: String) {
        self.lock().set_catalog_table(name);
    }

    /// The table is made at another place, and refers to the files.
    fn clone_to(
        &self,
        py: Python<'_>,
        uri: &str,
        storage_options: BTreeMap<String, String>,
        options: CloneRequest,
    ) -> PyResult<()> {
        let options = options.into();
        let opened = Location::open(uri, &StorageOptions::from(storage_options));
        let location = opened.map_err(|error| to_python(py, &error))?;
        self.lock().clone_to(CloneTarget { location, options });
        Ok(())
    }

    /// Lists the files: how many there are; 0 where there is a table.
    fn plan(&self, py: Python<'_>) -> PyResult<usize> {
        runtime::stoppable(py, |cancel| self.lock().plan(cancel))
    }

    /// Does it in this process; what it did as JSON. `tell` is called with how far it is.
    #[pyo3(signature = (tell=None))]
    fn run(&self, py: Python<'_>, tell: Option<Py<PyAny>>) -> PyResult<String> {
        runtime::followed(py, tell.as_ref(), |cancel, progress| {
            let mut conversion = self.lock();
            conversion.follow(progress);
            conversion.run(cancel).map(|done| to_json(&done))
        })
    }

    /// Works that read footers.
    fn works(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        runtime::write(py, || self.lock().works())
    }

    /// What tasks need, once there are works. It holds the storage options.
    fn task(&self, py: Python<'_>) -> PyResult<String> {
        self.lock().task().map_err(|e| to_python(py, &e))
    }

    /// Takes what tasks answered: the works that are to be done again.
    fn take(&self, py: Python<'_>, answers: Vec<String>) -> PyResult<Vec<String>> {
        runtime::write(py, || self.lock().take(&answers))
    }

    /// Commits; what it did as JSON.
    fn commit(&self, py: Python<'_>) -> PyResult<String> {
        runtime::write(py, || self.lock().commit().map(|done| to_json(&done)))
    }
}

/// What a task of a conversion does.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct ConvertTask {
    inner: Task,
}

#[pymethods]
impl ConvertTask {
    /// From `Convert.task`.
    #[new]
    fn new(py: Python<'_>, document: &str) -> PyResult<Self> {
        Task::from_json(document).map(|inner| ConvertTask { inner }).map_err(|e| to_python(py, &e))
    }

    /// Reads footers; the answer.
    fn run(&self, py: Python<'_>, work: &str) -> PyResult<String> {
        runtime::stoppable(py, |cancel| self.inner.run(work, cancel))
    }
}

fn to_json(done: &ConvertDone) -> String {
    json!({
        "version": done.version, "existed": done.existed, "files": done.files, "bytes": done.bytes,
        "rows": done.rows, "warnings": done.warnings
    })
    .to_string()
}
