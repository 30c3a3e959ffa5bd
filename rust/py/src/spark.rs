//! `SparkTable`: one version of a table, for the bridge into classic Spark sessions.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use deltaic_core::Error;
use deltaic_core::engine::file_list;
use deltaic_core::scan::{distinct_partitions, partition_columns};
use deltaic_core::snapshot::{At, Snapshot, resolve_table_path};
use deltaic_core::store::{self, Location, StorageOptions};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::to_python;
use crate::predicate::{JsonPredicate, inner};
use crate::runtime::read;
use crate::spark_scan::ScanPlan;
use crate::stream::Stream;
use crate::verify::level;

/// One version of a table as Spark needs it; see `rust/core/src/engine/file_list.rs`.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct SparkTable {
    snapshot: Snapshot,
    /// JSON of `file_list::describe`.
    facts: String,
    identity: String,
}

impl SparkTable {
    /// A version that is open; `travels` says that it is not just the newest one.
    pub(crate) fn of(snapshot: Snapshot, travels: bool) -> Self {
        let mut facts = file_list::describe(&snapshot);
        let identity = facts["identity"].as_str().unwrap_or_default().to_owned();
        if let Some(facts) = facts.as_object_mut() {
            facts.insert("timeTravel".into(), travels.into());
            facts.insert("rowTracking".into(), file_list::row_tracking(&snapshot));
        }
        SparkTable { snapshot, facts: facts.to_string(), identity }
    }
}

#[pymethods]
impl SparkTable {
    /// Opens a version; `timestamp` is in milliseconds since the Unix epoch. No file action is read.
    #[new]
    #[pyo3(signature = (uri, version, timestamp, storage_options, verify=None))]
    fn new(
        py: Python<'_>,
        uri: String,
        version: Option<u64>,
        timestamp: Option<i64>,
        storage_options: BTreeMap<String, String>,
        verify: Option<String>,
    ) -> PyResult<Self> {
        read(py, move || {
            let level = level(verify.as_deref())?;
            let storage_options = StorageOptions::from(storage_options);
            let asked = At::given(&uri, version, timestamp)?;
            let (path, at) = resolve_table_path(&uri, asked, &storage_options)?;
            let travels = !matches!(at, At::Latest);
            let snapshot = match at {
                At::Latest => Snapshot::newest(&path, &storage_options, level)?,
                at => Snapshot::open_with(Location::open(&path, &storage_options)?, at, level)?,
            };
            Ok(Self::of(snapshot, travels))
        })
    }

    /// Differs whenever the content may differ.
    #[getter]
    fn identity(&self) -> &str {
        &self.identity
    }

    /// Schema, partitioning and properties as JSON.
    fn describe(&self) -> &str {
        &self.facts
    }

    /// The newest version of the table; none where that is this one. Costs one listing, and the new commits.
    fn newest(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        let known = self.snapshot.clone();
        read(py, move || {
            let newest = known.follow()?;
            Ok((file_list::identity(&newest) != file_list::identity(&known)).then(|| Self::of(newest, false)))
        })
    }

    /// Checks that a query that was analyzed with these columns can read this version. `facts` is what `describe` said then.
    fn check_analyzed(&self, py: Python<'_>, facts: &str) -> PyResult<()> {
        let fits = file_list::check_analyzed(&self.snapshot, facts);
        fits.map_err(|e| to_python(py, &e))
    }

    /// The files that may hold a row for which the predicate (JSON) is true, as one block; with a limit no more of them than
    /// hold so many rows.
    #[pyo3(signature = (predicate=None, limit=None))]
    fn files<'py>(
        &self,
        py: Python<'py>,
        predicate: Option<JsonPredicate>,
        limit: Option<u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let snapshot = self.snapshot.clone();
        let block = read(py, move || {
            file_list::check_has_columns(&snapshot)?;
            file_list::encode(&snapshot, inner(predicate), limit)
        })?;
        Ok(PyBytes::new(py, &block))
    }

    /// The plan of a read of the files that may hold a row for which the predicate (JSON) is true.
    #[pyo3(signature = (storage_options, predicate=None, row_ids=false))]
    fn scan(
        &self,
        py: Python<'_>,
        storage_options: BTreeMap<String, String>,
        predicate: Option<JsonPredicate>,
        row_ids: bool,
    ) -> PyResult<ScanPlan> {
        let snapshot = self.snapshot.clone();
        read(py, move || {
            file_list::check_has_columns(&snapshot)?;
            ScanPlan::of_matching(snapshot, storage_options.into(), inner(predicate), row_ids)
        })
    }

    /// The different values of the partition columns, in columns of their types.
    fn partitions(&self, py: Python<'_>) -> PyResult<Stream> {
        let snapshot = self.snapshot.clone();
        let batch = read(py, move || {
            let all = distinct_partitions(&snapshot)?;
            let columns = partition_columns(&snapshot, all.iter())?;
            RecordBatch::try_from_iter_with_nullable(
                columns.into_iter().map(|(name, values)| (name, values, true)),
            )
            .map_err(|e| Error::arrow("partition values", e))
        })?;
        Ok(Stream::of(batch))
    }

    /// The same values as the log has them, in the same order.
    fn partition_values(&self, py: Python<'_>) -> PyResult<Vec<BTreeMap<String, Option<String>>>> {
        let snapshot = self.snapshot.clone();
        read(py, move || distinct_partitions(&snapshot))
    }

    /// Whether a file may have a deletion vector; false only where none has.
    fn may_have_deletion_vectors(&self, py: Python<'_>) -> PyResult<bool> {
        let snapshot = self.snapshot.clone();
        read(py, move || snapshot.may_have_deletion_vectors())
    }

    /// Rows that are not deleted, where the statistics tell.
    fn rows(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let snapshot = self.snapshot.clone();
        read(py, move || {
            file_list::check_has_columns(&snapshot)?;
            file_list::total_rows(&snapshot)
        })
    }

    /// Bytes of all files.
    fn size(&self, py: Python<'_>) -> PyResult<i64> {
        let snapshot = self.snapshot.clone();
        read(py, move || file_list::total_size(&snapshot))
    }
}

/// Hadoop's settings for what a store's options say of a place; see `store::hadoop_settings`.
#[pyfunction]
pub(crate) fn hadoop_settings(
    py: Python<'_>,
    uri: String,
    storage_options: BTreeMap<String, String>,
) -> PyResult<BTreeMap<String, String>> {
    read(py, move || Ok(store::hadoop_settings(&uri, &storage_options.into())?.into_iter().collect()))
}

/// A path, and the time in milliseconds that it named behind an `@`.
#[derive(IntoPyObject)]
pub(crate) struct TimeInPath {
    path: String,
    millis: i64,
}

/// The path and the time of `path@20260101000000000`, in milliseconds as if the digits were UTC; none for any other path, and
/// where a table has the whole name.
///
/// # Errors
/// `InvalidTimeTravelError` for digits that are no time.
#[pyfunction]
pub(crate) fn time_in_path(
    py: Python<'_>,
    uri: String,
    storage_options: BTreeMap<String, String>,
) -> PyResult<Option<TimeInPath>> {
    read(py, move || {
        Ok(match resolve_table_path(&uri, At::Latest, &storage_options.into())? {
            (path, At::Timestamp(millis)) => Some(TimeInPath { path, millis }),
            _ => None,
        })
    })
}
