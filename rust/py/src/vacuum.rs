//! `Vacuum` and its tasks: files are listed and deleted in this process, or by tasks of an engine.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deltaic_core::Result;
use deltaic_core::engine::{DistributedVacuum, VacuumTask as Task};
use deltaic_core::maintain::{self, Inventoried, VacuumDone, VacuumMode};
use deltaic_core::txn::Route;
use pyo3::prelude::*;
use serde_json::json;

use crate::document::Document;
use crate::errors::to_python;
use crate::runtime;
use crate::table::Table;

/// The options of a vacuum.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct VacuumOptions {
    mode: String,
    retention_millis: Option<u64>,
    allow_short_retention: bool,
    dry_run: bool,
    inventory: Option<Vec<(String, i64)>>,
    user_metadata: Option<String>,
}

impl VacuumOptions {
    fn into_core(self) -> Result<maintain::VacuumOptions> {
        let inventoried = |(name, modified)| Inventoried { name, modified };
        Ok(maintain::VacuumOptions {
            mode: VacuumMode::parse(&self.mode)?,
            inventory: self.inventory.map(|files| files.into_iter().map(inventoried).collect()),
            retention: self.retention_millis.map(Duration::from_millis),
            allow_short_retention: self.allow_short_retention,
            dry_run: self.dry_run,
            user_metadata: self.user_metadata,
        })
    }
}

/// A vacuum: it deletes files that no version within the retention needs. Nothing is read by making one.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct Vacuum {
    inner: Mutex<DistributedVacuum>,
}

impl Vacuum {
    fn lock(&self) -> MutexGuard<'_, DistributedVacuum> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Vacuum {
    #[new]
    fn new(py: Python<'_>, table: &Table, options: Document<VacuumOptions>) -> PyResult<Self> {
        let options = options.0.into_core().map_err(|e| to_python(py, &e))?;
        let inner = DistributedVacuum::new(table.location().clone(), table.options().clone(), options);
        Ok(Vacuum { inner: Mutex::new(inner) })
    }

    /// Does it in this process; what it did as JSON. The history says by which `route` where one is given.
    /// `tell` is called with how far it is.
    #[pyo3(signature = (route=None, tell=None))]
    fn run(&self, py: Python<'_>, route: Option<&str>, tell: Option<Py<PyAny>>) -> PyResult<String> {
        let route = route.map(Route::parse).transpose().map_err(|e| to_python(py, &e))?;
        runtime::followed(py, tell.as_ref(), |cancel, progress| {
            let mut vacuum = self.lock();
            vacuum.follow(progress);
            vacuum.run(route, cancel).map(|done| to_json(&done))
        })
    }

    /// About how many files are listed; 0 where nothing is listed.
    fn expected_files(&self, py: Python<'_>) -> PyResult<u64> {
        runtime::write(py, || self.lock().expected_files())
    }

    /// What tasks need. It holds the storage options.
    fn task(&self, py: Python<'_>) -> PyResult<String> {
        self.lock().task().map_err(|e| to_python(py, &e))
    }

    /// Works that list the folders of the table; none where one listing of all is as good.
    fn folders(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        runtime::write(py, || self.lock().folders())
    }

    /// Takes what tasks listed.
    fn take_listing(&self, py: Python<'_>, answers: Vec<String>) -> PyResult<()> {
        runtime::write(py, || self.lock().take_listing(&answers))
    }

    /// Finds the files to delete: how many there are.
    fn plan(&self, py: Python<'_>) -> PyResult<usize> {
        runtime::stoppable(py, |cancel| self.lock().plan(cancel))
    }

    /// Records in the history that it begins: works that delete files.
    fn begin(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        runtime::write(py, || self.lock().begin())
    }

    /// Records in the history what became of the files; what it did as JSON.
    fn finish(&self, py: Python<'_>, answers: Vec<String>) -> PyResult<String> {
        runtime::write(py, || self.lock().finish(&answers).map(|done| to_json(&done)))
    }
}

/// What a task of a vacuum does.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct VacuumTask {
    inner: Task,
}

#[pymethods]
impl VacuumTask {
    /// From `Vacuum.task`.
    #[new]
    fn new(py: Python<'_>, document: &str) -> PyResult<Self> {
        Task::from_json(document).map(|inner| VacuumTask { inner }).map_err(|e| to_python(py, &e))
    }

    /// Lists a folder, or deletes files; the answer.
    fn run(&self, py: Python<'_>, work: &str) -> PyResult<String> {
        runtime::write(py, || self.inner.run(work))
    }
}

fn to_json(done: &VacuumDone) -> String {
    let failed: Vec<_> = done.failed.iter().map(|(path, reason)| json!([path, reason])).collect();
    json!({
        "files": done.files, "bytes": done.bytes, "failed": failed, "cutoff": done.cutoff,
        "version": done.version, "warnings": done.warnings
    })
    .to_string()
}
