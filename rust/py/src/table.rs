//! `deltaic._core.Table`: one version of a table. What is small crosses as JSON, what is large as Arrow.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_core::actions::ObjectPath;
use deltaic_core::conflict::TransactionRecord;
use deltaic_core::maintain::{clustering_columns, shown_clustering_columns};
use deltaic_core::replay::FilesRequest;
use deltaic_core::scan::explain::{Shown, explain};
use deltaic_core::scan::{ReadRequest, RowScan};
use deltaic_core::schema::to_arrow_schema;
use deltaic_core::snapshot::{At, Snapshot, resolve_table_path};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::txn::explain_conflicts;
use deltaic_core::{Error, Result, checkpoint, scan};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde::Serialize;
use serde_json::json;

use crate::arrow::schema_capsule;
use crate::changes::Changes;
use crate::errors::to_python;
use crate::files::FileLines;
use crate::predicate::{JsonPredicate, inner, read_request};
use crate::stream::{Batches, Open, Stream};
use crate::verify::level;
use crate::{commits, files, runtime};

/// What a cleanup of the log deleted, and what it could not delete, with the reason.
#[derive(IntoPyObject)]
pub(crate) struct CleanedLog {
    deleted: Vec<String>,
    failed: Vec<(String, String)>,
}

/// One version of a Delta table.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct Table {
    snapshot: Snapshot,
    options: StorageOptions,
}

impl Table {
    pub(crate) fn location(&self) -> &Location {
        self.snapshot.location()
    }

    /// The options that the store was opened with.
    pub(crate) fn options(&self) -> &StorageOptions {
        &self.options
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}

fn to_json(py: Python<'_>, value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value)
        .map_err(|e| to_python(py, &Error::InvalidSchema { reason: format!("no JSON: {e}") }))
}

/// A location as it can be opened again.
pub(crate) fn uri_of(root: &ObjectPath) -> String {
    root.to_local().map_or_else(|| root.to_uri(), |_| root.to_string())
}

#[pymethods]
impl Table {
    #[new]
    #[pyo3(signature = (uri, version=None, timestamp=None, storage_options=None, verify=None))]
    fn new(
        py: Python<'_>,
        uri: String,
        version: Option<u64>,
        timestamp: Option<i64>,
        storage_options: Option<BTreeMap<String, String>>,
        verify: Option<String>,
    ) -> PyResult<Self> {
        let options = StorageOptions::from(storage_options.unwrap_or_default());
        runtime::read(py, move || {
            let (path, at) = resolve_table_path(&uri, At::given(&uri, version, timestamp)?, &options)?;
            let location = Location::open(&path, &options)?;
            Ok(Table { snapshot: Snapshot::open_with(location, at, level(verify.as_deref())?)?, options })
        })
    }

    /// The version.
    #[getter]
    fn version(&self) -> u64 {
        self.snapshot.version()
    }

    /// The level of its readings.
    #[getter]
    fn verify_level(&self) -> &'static str {
        self.snapshot.level().name()
    }

    /// The location: a local path, or a URL with what is special in one escaped, so that it opens the same table.
    #[getter]
    fn uri(&self) -> String {
        uri_of(self.snapshot.location().root())
    }

    /// The options that the store was opened with.
    #[getter]
    fn storage_options(&self) -> BTreeMap<String, String> {
        (*self.options).clone()
    }

    /// Partition columns in order, logical names.
    #[getter]
    fn partition_columns(&self) -> Vec<String> {
        self.snapshot.partition_columns().to_vec()
    }

    /// When the version was committed, in milliseconds since the Unix epoch.
    fn timestamp(&self, py: Python<'_>) -> PyResult<i64> {
        let snapshot = self.snapshot.clone();
        runtime::read(py, move || snapshot.timestamp())
    }

    /// The `protocol` action as JSON.
    fn protocol(&self, py: Python<'_>) -> PyResult<String> {
        to_json(py, self.snapshot.protocol())
    }

    /// The `metaData` action as JSON.
    fn metadata(&self, py: Python<'_>) -> PyResult<String> {
        to_json(py, self.snapshot.metadata())
    }

    /// Names of all table features that the protocol has, the ones that its versions imply included.
    fn features(&self) -> Vec<String> {
        self.snapshot.protocol().features().into_iter().map(str::to_owned).collect()
    }

    /// The clustering columns, as paths of logical names.
    fn clustering_columns(&self, py: Python<'_>) -> PyResult<Vec<Vec<String>>> {
        let snapshot = self.snapshot.clone();
        runtime::read(py, move || clustering_columns(&snapshot))
    }

    /// The clustering columns, as the detail of a table shows them.
    fn shown_clustering_columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let snapshot = self.snapshot.clone();
        runtime::read(py, move || shown_clustering_columns(&snapshot))
    }

    /// The schema in the form of the protocol, with no class of a user-defined type that is not Spark's own.
    fn schema_json(&self) -> String {
        self.snapshot.schema().for_spark().to_json()
    }

    /// The schema as a capsule of the Arrow C data interface.
    fn schema_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &to_arrow_schema(self.snapshot.schema()))
    }

    /// What was listed, read and skipped, as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        to_json(py, &self.snapshot.report())
    }

    /// The files that may hold a match of the predicate (JSON).
    #[pyo3(signature = (predicate=None, stats=false))]
    fn files(&self, py: Python<'_>, predicate: Option<JsonPredicate>, stats: bool) -> PyResult<Stream> {
        let request = FilesRequest { predicate: inner(predicate), stats, extended: false };
        let snapshot = self.snapshot.clone();
        let open: Open = Arc::new(move || files::open(&snapshot, request.clone()));
        let first = open.clone();
        // a broken log is found here and not where a peer asks
        let started = runtime::read(py, move || first())?;
        Ok(Stream::with_started(files::files_schema(stats), open, started))
    }

    /// The files that may hold a match of the predicate (JSON), as JSON: for readers without an Arrow library.
    #[pyo3(signature = (predicate=None, stats=false))]
    fn files_json(
        &self,
        py: Python<'_>,
        predicate: Option<JsonPredicate>,
        stats: bool,
    ) -> PyResult<FileLines> {
        let request = FilesRequest { predicate: inner(predicate), stats, extended: false };
        let snapshot = self.snapshot.clone();
        runtime::read(py, move || FileLines::open(&snapshot, request))
    }

    /// Number of files, their bytes, how many have deletion vectors, and how many rows these delete, as JSON.
    #[pyo3(signature = (predicate=None))]
    fn files_totals(&self, py: Python<'_>, predicate: Option<JsonPredicate>) -> PyResult<String> {
        let request = FilesRequest { predicate: inner(predicate), ..Default::default() };
        let snapshot = self.snapshot.clone();
        let totals = runtime::read(py, move || files::totals(&snapshot, request))?;
        to_json(py, &totals)
    }

    /// Why a scan with the predicate (JSON) opens each file, or does not, as JSON.
    #[pyo3(signature = (predicate, limit=None, kept=None))]
    fn explain(
        &self,
        py: Python<'_>,
        predicate: JsonPredicate,
        limit: Option<usize>,
        kept: Option<bool>,
    ) -> PyResult<String> {
        let snapshot = self.snapshot.clone();
        let reported = runtime::read(py, move || explain(&snapshot, &predicate.0, Shown { limit, kept }))?;
        to_json(py, &reported)
    }

    /// The rows for which the condition, as a predicate (JSON) and as SQL, is true, with their row ids if asked.
    #[pyo3(signature = (columns=None, predicate=None, condition=None, row_ids=false))]
    fn rows(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        predicate: Option<JsonPredicate>,
        condition: Option<String>,
        row_ids: bool,
    ) -> PyResult<Stream> {
        let request = ReadRequest { row_ids, ..read_request(columns, predicate, condition) };
        // every check that needs no file is made now
        let scan = RowScan::of(&self.snapshot, request.clone()).map_err(|e| to_python(py, &e))?;
        let snapshot = self.snapshot.clone();
        let open = move || -> Result<Batches> { Ok(Box::new(scan::read(&snapshot, request.clone())?)) };
        Ok(Stream::new(scan.schema().clone(), Arc::new(open)))
    }

    /// The changes up to this version, between two bounds that are each a version or a time.
    #[pyo3(signature = (start=None, start_millis=None, end=None, end_millis=None, *, allow_out_of_range=false))]
    fn changes(
        &self,
        py: Python<'_>,
        start: Option<u64>,
        start_millis: Option<i64>,
        end: Option<u64>,
        end_millis: Option<i64>,
        allow_out_of_range: bool,
    ) -> PyResult<Changes> {
        let (snapshot, options) = (self.snapshot.clone(), self.options.clone());
        let (start, end) = ((start, start_millis), (end, end_millis));
        runtime::read(py, move || Changes::plan(&snapshot, options, start, end, allow_out_of_range))
    }

    /// The commits, newest first, as JSON.
    #[pyo3(signature = (limit=None))]
    fn history(&self, py: Python<'_>, limit: Option<usize>) -> PyResult<String> {
        let snapshot = self.snapshot.clone();
        let commits = runtime::read(py, move || snapshot.history(limit))?;
        let commits: Vec<_> = commits
            .iter()
            .map(|c| {
                json!({
                    "version": c.version, "timestamp": c.timestamp, "fileTimestamp": c.file_timestamp,
                    "info": c.info
                })
            })
            .collect();
        to_json(py, &commits)
    }

    /// What the commit of a version did, as JSON: its actions, counted and summed.
    fn commit(&self, py: Python<'_>, version: u64) -> PyResult<String> {
        let location = self.snapshot.location().clone();
        let summary = runtime::read(py, move || commits::summary(&location, version))?;
        to_json(py, &summary)
    }

    /// Writes a checkpoint of this version; what was done as JSON.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<String> {
        let done = runtime::write(py, || checkpoint::checkpoint(&self.snapshot))?;
        let done = json!({
            "version": done.version, "name": done.name, "existed": done.existed, "files": done.num_files,
            "actions": done.num_actions, "bytes": done.size, "written": done.written,
            "sidecars_written": done.sidecars_written, "sidecars_reused": done.sidecars_reused,
        });
        to_json(py, &done)
    }

    /// Writes one file for the commits `start` to `end`; what was done as JSON.
    fn compact_log(&self, py: Python<'_>, start: u64, end: u64) -> PyResult<String> {
        let done = runtime::write(py, || checkpoint::compact(self.snapshot.location(), start, end))?;
        let done = json!({
            "start": done.from, "end": done.to, "name": done.name, "existed": done.existed,
            "actions": done.actions, "kept": done.kept, "bytes": done.size,
        });
        to_json(py, &done)
    }

    /// Deletes expired log files.
    fn clean_log(&self, py: Python<'_>, dry_run: bool) -> PyResult<CleanedLog> {
        let done = runtime::write(py, || checkpoint::cleanup(&self.snapshot, dry_run))?;
        Ok(CleanedLog { deleted: done.deleted, failed: done.failed })
    }

    /// What a transaction (JSON) would meet behind its version; every rule of the matrix, as JSON.
    fn explain_conflict(&self, py: Python<'_>, transaction: &str) -> PyResult<String> {
        let location = self.snapshot.location().clone();
        let transaction = TransactionRecord::from_json(transaction).map_err(|e| to_python(py, &e))?;
        let reported = runtime::read(py, move || explain_conflicts(&location, &transaction))?;
        to_json(py, &reported)
    }

    /// The newest version.
    fn update(&self, py: Python<'_>) -> PyResult<Self> {
        let snapshot = self.snapshot.clone();
        let options = self.options.clone();
        runtime::read(py, move || Ok(Table { snapshot: snapshot.update()?, options }))
    }
}
