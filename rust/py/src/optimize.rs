//! `Optimize` and its tasks: files are rewritten in this process, or by tasks of an engine.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use deltaic_core::Error;
use deltaic_core::engine::{
    self, DistributedOptimize, OptimizeGather as Gather, OptimizeSpread as Spread, OptimizeTask as Task,
};
use deltaic_core::maintain::{self, CurveStats, OptimizeDone};
use deltaic_core::txn::Route;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::document::Document;
use crate::errors::to_python;
use crate::file_choices::FileChoices;
use crate::runtime;

/// The options of an optimize.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct OptimizeOptions {
    predicate: Option<String>,
    partitions: Option<Vec<BTreeMap<String, Option<String>>>>,
    target_size: Option<u64>,
    min_size: Option<u64>,
    max_deleted_ratio: Option<f64>,
    purge: bool,
    user_metadata: Option<String>,
    zorder_by: Vec<String>,
    check_statistics: bool,
    full: bool,
    files: Option<FileChoices>,
}

impl From<OptimizeOptions> for maintain::OptimizeOptions {
    fn from(options: OptimizeOptions) -> Self {
        let defaults = maintain::OptimizeOptions::default();
        let files = options.files.unwrap_or_default();
        maintain::OptimizeOptions {
            predicate: options.predicate,
            partitions: options.partitions,
            target_size: options.target_size,
            min_size: options.min_size,
            max_deleted_ratio: options.max_deleted_ratio.unwrap_or(defaults.max_deleted_ratio),
            purge: options.purge,
            user_metadata: options.user_metadata,
            zorder_by: options.zorder_by,
            check_statistics: options.check_statistics,
            full: options.full,
            parquet: files.parquet(),
            compression: files.compression,
            ..defaults
        }
    }
}

/// What tasks do.
#[derive(IntoPyObject)]
pub(crate) struct OptimizeWorks {
    whole: Vec<String>,
    samples: Vec<String>,
}

/// Chosen rows of a part of a bin.
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct OptimizeSample {
    bin: usize,
    rows: u64,
    chosen: Option<Vec<u8>>,
}

/// Bins, divided: a document for tasks, the number of ranges, and the parts.
#[derive(IntoPyObject)]
pub(crate) struct OptimizeRanges {
    document: String,
    count: usize,
    parts: Vec<String>,
}

/// Some rows of a range.
#[derive(IntoPyObject)]
pub(crate) struct RangeRows<'py> {
    range: usize,
    rows: Bound<'py, PyBytes>,
}

/// An optimize. Nothing is read by making one.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct Optimize {
    inner: Mutex<DistributedOptimize>,
}

impl Optimize {
    pub(crate) fn of(inner: DistributedOptimize) -> Self {
        Optimize { inner: Mutex::new(inner) }
    }

    fn lock(&self) -> MutexGuard<'_, DistributedOptimize> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Optimize {
    #[new]
    fn new(
        py: Python<'_>,
        uri: &str,
        storage_options: BTreeMap<String, String>,
        options: Document<OptimizeOptions>,
    ) -> PyResult<Self> {
        let made = DistributedOptimize::new(uri, storage_options.into(), options.0.into());
        made.map(Optimize::of).map_err(|e| to_python(py, &e))
    }

    /// Looks for what there is to do in the newest version: the bytes of the files to rewrite.
    fn plan(&self, py: Python<'_>) -> PyResult<u64> {
        runtime::stoppable(py, |cancel| self.lock().plan(cancel))
    }

    /// Does it in this process; what it did as JSON. The history says by which `route` where one is given.
    /// `tell` is called with how far it is.
    #[pyo3(signature = (route=None, tell=None))]
    fn run(&self, py: Python<'_>, route: Option<&str>, tell: Option<Py<PyAny>>) -> PyResult<String> {
        let route = route.map(Route::parse).transpose().map_err(|e| to_python(py, &e))?;
        runtime::followed(py, tell.as_ref(), |cancel, progress| {
            let mut optimize = self.lock();
            optimize.follow(progress);
            optimize.run(route, cancel).map(|done| to_json(&done))
        })
    }

    /// What was planned, for tasks in other processes that sort so many bytes of rows in memory. It holds the storage
    /// options.
    fn task(&self, py: Python<'_>, run_bytes: usize) -> PyResult<String> {
        self.lock().task(run_bytes).map_err(|e| to_python(py, &e))
    }

    /// The works of the tasks: bins that one rewrites each, and parts of bins of at least so many bytes that many rewrite.
    fn works(&self, py: Python<'_>, divided_from: Option<u64>) -> PyResult<OptimizeWorks> {
        let works = self.lock().works(divided_from).map_err(|e| to_python(py, &e))?;
        Ok(OptimizeWorks { whole: works.whole, samples: works.samples })
    }

    /// Divides bins by the samples of their parts.
    fn divide(&self, py: Python<'_>, samples: Vec<OptimizeSample>) -> PyResult<OptimizeRanges> {
        runtime::write(py, || {
            let sample = |OptimizeSample { bin, rows, chosen }| engine::OptimizeSample { bin, rows, chosen };
            let ranges = self.lock().divide(samples.into_iter().map(sample).collect())?;
            Ok(OptimizeRanges { document: ranges.document, count: ranges.count, parts: ranges.parts })
        })
    }

    /// Commits what tasks answered; what it did as JSON. None where another writer was faster: then it is planned again.
    fn commit(&self, py: Python<'_>, answers: Vec<String>) -> PyResult<Option<String>> {
        runtime::write(py, || Ok(self.lock().commit(&answers)?.map(|done| to_json(&done))))
    }

    /// Deletes what tasks wrote that is not committed.
    fn discard(&self, py: Python<'_>) -> PyResult<()> {
        runtime::write(py, || {
            self.lock().discard();
            Ok(())
        })
    }
}

/// What a task of an optimize does.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct OptimizeTask {
    inner: Task,
}

#[pymethods]
impl OptimizeTask {
    /// From `Optimize.task`, and for bins that many tasks rewrite the document of `Optimize.divide`.
    #[new]
    #[pyo3(signature = (document, ranges=None))]
    fn new(py: Python<'_>, document: &str, ranges: Option<&str>) -> PyResult<Self> {
        let task = Task::from_json(document);
        let task = task.and_then(|task| match ranges {
            Some(ranges) => task.with_ranges(ranges),
            None => Ok(task),
        });
        task.map(|inner| OptimizeTask { inner }).map_err(|e| to_python(py, &e))
    }

    /// Rewrites a bin; the answer for `Optimize.commit`.
    fn run(&self, py: Python<'_>, work: &str) -> PyResult<String> {
        runtime::stoppable(py, |cancel| self.inner.run(work, cancel))
    }

    /// Chooses rows of a part of a bin, for `Optimize.divide`.
    fn sample(&self, py: Python<'_>, work: &str) -> PyResult<OptimizeSample> {
        let (bin, rows, chosen) = runtime::stoppable(py, |cancel| self.inner.sample(work, cancel))?;
        Ok(OptimizeSample { bin, rows, chosen })
    }

    /// The rows of a part of a bin, by range.
    fn spread(&self, py: Python<'_>, work: &str) -> PyResult<OptimizeSpread> {
        runtime::write(py, || self.inner.spread(work))
            .map(|inner| OptimizeSpread { inner: Mutex::new(inner) })
    }

    /// Takes the rows of a range.
    fn gather(&self, py: Python<'_>, number: usize) -> PyResult<OptimizeGather> {
        runtime::write(py, || self.inner.gather(number))
            .map(|inner| OptimizeGather { inner: Mutex::new(Some(inner)) })
    }
}

/// An iterator over rows of ranges.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct OptimizeSpread {
    inner: Mutex<Spread>,
}

#[pymethods]
impl OptimizeSpread {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<RangeRows<'py>>> {
        let next =
            runtime::write(py, || self.inner.lock().unwrap_or_else(PoisonError::into_inner).next_rows())?;
        Ok(next.map(|(range, rows)| RangeRows { range, rows: PyBytes::new(py, &rows) }))
    }
}

/// The rows of a range.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct OptimizeGather {
    inner: Mutex<Option<Gather>>,
}

#[pymethods]
impl OptimizeGather {
    /// Takes some.
    fn push(&self, py: Python<'_>, rows: &[u8]) -> PyResult<()> {
        runtime::write(py, || match &mut *self.inner.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(gather) => gather.push(rows),
            None => Err(finished()),
        })
    }

    /// Writes all of them; the answer for `Optimize.commit`.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        runtime::write(py, || {
            let gather = self.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
            gather.ok_or_else(finished)?.finish()
        })
    }
}

fn finished() -> Error {
    Error::InvalidArgument { argument: "gather".into(), reason: "it is finished".into() }
}

fn to_json(done: &OptimizeDone) -> String {
    let [min, p25, p50, p75, max] = done.quartiles();
    json!({
        "version": done.version, "considered_files": done.considered, "partitions": done.partitions,
        "added_files": done.added.len(), "added_bytes": done.added.iter().sum::<u64>(),
        "removed_files": done.removed.len(), "removed_bytes": done.removed.iter().sum::<u64>(),
        "removed_vectors": done.vectors, "deleted_rows": done.deleted_rows,
        "min_file_size": min, "p25_file_size": p25, "p50_file_size": p50, "p75_file_size": p75,
        "max_file_size": max, "min_removed_size": done.removed.first().copied().unwrap_or_default(),
        "max_removed_size": done.removed.last().copied().unwrap_or_default(),
        "warnings": done.warnings,
        "zorder": done.zorder.as_ref().map(curve_stats), "clustering": done.clustering.as_ref().map(curve_stats)
    })
    .to_string()
}

fn curve_stats(stats: &CurveStats) -> serde_json::Value {
    json!({
        "cube_files": stats.cube_files.files, "cube_bytes": stats.cube_files.bytes, "cubes": stats.cubes,
        "other_files": stats.other_files.files, "other_bytes": stats.other_files.bytes,
        "merged_files": stats.merged.files, "merged_bytes": stats.merged.bytes, "new_cubes": stats.new_cubes
    })
}
