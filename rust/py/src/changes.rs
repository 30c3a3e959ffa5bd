//! `Changes`: the row-level changes of a range of versions.

use std::sync::Arc;

use deltaic_core::cdf::{CdfBound, CdfRequest, ChangeDataFeed};
use deltaic_core::engine::change_list;
use deltaic_core::store::StorageOptions;
use deltaic_core::{Error, Result, Snapshot};
use pyo3::prelude::{Bound, *};
use pyo3::types::PyBytes;

use crate::errors::to_python;
use crate::predicate::{JsonPredicate, read_request};
use crate::runtime;
use crate::spark_scan::encoded;
use crate::stream::{Batches, Stream};

/// The changes of a range of versions; see `rust/core/src/cdf/`.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct Changes {
    plan: ChangeDataFeed,
    options: StorageOptions,
}

/// Files as one block, and their bytes.
#[derive(IntoPyObject)]
pub(crate) struct ChangeFiles<'py> {
    block: Bound<'py, PyBytes>,
    size: i64,
}

impl Changes {
    /// Plans the changes between two bounds, each a version or a time.
    pub(crate) fn plan(
        snapshot: &Snapshot,
        options: StorageOptions,
        start: (Option<u64>, Option<i64>),
        end: (Option<u64>, Option<i64>),
        allow_out_of_range: bool,
    ) -> Result<Self> {
        let start = bound("start", start)?.ok_or_else(|| Error::InvalidArgument {
            argument: "start".into(),
            reason: "missing; give the version or the time from which on changes are wanted".into(),
        })?;
        let request = CdfRequest { start, end: bound("end", end)?, allow_out_of_range };
        Ok(Changes { plan: ChangeDataFeed::plan(snapshot, &request)?, options })
    }
}

fn bound(argument: &str, given: (Option<u64>, Option<i64>)) -> Result<Option<CdfBound>> {
    match given {
        (None, None) => Ok(None),
        (Some(version), None) => Ok(Some(CdfBound::Version(version))),
        (None, Some(millis)) => Ok(Some(CdfBound::Timestamp(millis))),
        _ => Err(Error::InvalidArgument {
            argument: argument.into(),
            reason: "a version and a time are given; give one".into(),
        }),
    }
}

#[pymethods]
impl Changes {
    /// First and last version, or nothing where the range is empty.
    #[getter]
    fn versions(&self) -> Option<(u64, u64)> {
        self.plan.versions()
    }

    /// The version whose schema the rows have.
    #[getter]
    fn version(&self) -> u64 {
        self.plan.snapshot().version()
    }

    /// The location of the table as a URI.
    #[getter]
    fn root(&self) -> String {
        self.plan.snapshot().location().root().to_uri()
    }

    /// The schema as JSON, with the columns of the changes.
    #[getter]
    fn schema(&self) -> String {
        self.plan.schema().for_spark().to_json()
    }

    /// The rows for which the condition, as a predicate (JSON) and as SQL, is true.
    #[pyo3(signature = (columns=None, predicate=None, condition=None))]
    fn rows(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        predicate: Option<JsonPredicate>,
        condition: Option<String>,
    ) -> PyResult<Stream> {
        let request = read_request(columns, predicate, condition);
        let schema = self.plan.row_schema(&request).map_err(|e| to_python(py, &e))?;
        let plan = self.plan.clone();
        let open = move || -> Result<Batches> { Ok(Box::new(plan.read(request.clone())?)) };
        Ok(Stream::new(schema, Arc::new(open)))
    }

    /// Groups of files of at most so many bytes, for `read_split`.
    fn splits(&self, py: Python<'_>, most_bytes: i64) -> PyResult<Vec<Vec<u8>>> {
        let (plan, options) = (self.plan.clone(), self.options.clone());
        runtime::read(py, move || encoded(&plan.splits(&options, most_bytes)?))
    }

    /// What each version is made of, as JSON.
    fn commits(&self, py: Python<'_>) -> PyResult<String> {
        let plan = self.plan.clone();
        let commits = runtime::read(py, move || change_list::commits(&plan).collect::<Result<Vec<_>>>())?;
        Ok(serde_json::Value::Array(commits).to_string())
    }

    /// Schema, partitioning and properties for the bridge, as JSON.
    fn describe(&self) -> String {
        change_list::describe(&self.plan).to_string()
    }

    /// Checks that a query that was analyzed with these columns can read these changes. `facts` is what `describe` said then.
    fn check_analyzed(&self, py: Python<'_>, facts: &str) -> PyResult<()> {
        change_list::check_analyzed(&self.plan, facts).map_err(|e| to_python(py, &e))
    }

    /// All files for the bridge.
    fn files<'py>(&self, py: Python<'py>) -> PyResult<ChangeFiles<'py>> {
        let plan = self.plan.clone();
        let (block, size) = runtime::read(py, move || change_list::encode(&plan))?;
        Ok(ChangeFiles { block: PyBytes::new(py, &block), size })
    }
}
