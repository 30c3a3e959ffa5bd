//! `deltaic._core`: verification of tables and stores. Reports cross as JSON.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use deltaic_core::commit;
use deltaic_core::engine::{VerifyTask as Task, verify_by_tasks};
use deltaic_core::snapshot::Verify;
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::verify::{VerifyOptions, verify as verify_table};
use deltaic_core::{Error, Result};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::to_python;
use crate::runtime;

/// The level of a reading by its name; the default where there is none.
pub(crate) fn level(name: Option<&str>) -> Result<Verify> {
    name.map_or(Ok(Verify::default()), str::parse)
}

/// Compares a table with itself, from its log to its files; what was found as JSON. `tasks`, where given, opens the files
/// of a deep verification: it is called with the document of `VerifyTask`, works, and how many files these have, and
/// returns the answers in order. `tell`, where given, is called with how far this process is.
#[pyfunction]
#[pyo3(signature = (uri, storage_options, version, deep, tasks=None, tell=None))]
pub(crate) fn verify(
    py: Python<'_>,
    uri: String,
    storage_options: BTreeMap<String, String>,
    version: Option<u64>,
    deep: bool,
    tasks: Option<Py<PyAny>>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let raised = Arc::new(Mutex::new(None));
    let kept = raised.clone();
    let found = runtime::read_followed(py, tell.as_ref(), move |progress| {
        let storage = StorageOptions::from(storage_options);
        let location = Location::open(&uri, &storage)?.followed_by(progress);
        let report = match tasks.filter(|_| deep) {
            None => verify_table(&location, &VerifyOptions { version, deep })?,
            Some(tasks) => verify_by_tasks(&location, &storage, version, &mut |document, works, files| {
                Python::attach(|py| tasks.call1(py, (document, works, files))?.extract::<Vec<String>>(py))
                    .map_err(|error| {
                        let reason = error.to_string();
                        *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                        Error::Internal { operation: "verify".into(), reason }
                    })
            })?,
        };
        let findings = report.findings.iter().map(|f| {
            json!({
                "kind": f.kind.name(), "version": f.version, "path": f.path,
                "expected": f.expected, "found": f.found, "advice": f.advice()
            })
        });
        Ok(json!({
            "version": report.version, "first_version": report.first_version,
            "findings": findings.collect::<Vec<_>>(), "more_findings": report.more_findings,
            "commits": report.commits, "checkpoints": report.checkpoints,
            "compacted_files": report.compacted_files, "checksums": report.checksums,
            "files": report.files, "deletion_vectors": report.deletion_vectors
        })
        .to_string())
    });
    // what the tasks raised, as it was
    match raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None => found,
    }
}

/// What a task of a verification does.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct VerifyTask {
    inner: Task,
}

#[pymethods]
impl VerifyTask {
    #[new]
    fn new(py: Python<'_>, document: &str) -> PyResult<Self> {
        Task::from_json(document).map(|inner| VerifyTask { inner }).map_err(|e| to_python(py, &e))
    }

    /// Opens files; the answer.
    fn run(&self, py: Python<'_>, work: &str) -> PyResult<String> {
        runtime::stoppable(py, |cancel| self.inner.run(work, cancel))
    }
}

/// Tries the store of a table; what it answered as JSON.
#[pyfunction]
pub(crate) fn probe_store(
    py: Python<'_>,
    uri: String,
    storage_options: BTreeMap<String, String>,
) -> PyResult<String> {
    runtime::read(py, move || {
        let probe = commit::probe_store(&Location::open(&uri, &storage_options.into())?)?;
        Ok(json!({
            "list_millis": probe.list_millis, "put_if_absent": probe.put_if_absent, "refused": probe.refused,
            "clock_ahead_millis": probe.clock_ahead_millis
        })
        .to_string())
    })
}
