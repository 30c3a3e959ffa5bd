//! Lazy Arrow streams: nothing is read before a peer asks, and each export is a new scan.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use deltaic_core::Result;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::{schema_capsule, stream_capsule, stream_error};
use crate::runtime;

/// Batches of the core.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// What starts a scan.
pub(crate) type Open = Arc<dyn Fn() -> Result<Batches> + Send + Sync>;

/// How much of a scan is read before it is handed to a peer. The C stream interface carries an error as text only, so
/// what fails this early is raised as the class that it is.
const AHEAD: usize = 8 << 20;

/// Batches for Arrow peers, which take it as it is. Each export is a new scan.
#[pyclass(frozen, module = "deltaic._core", name = "ArrowStream")]
pub(crate) struct Stream {
    schema: SchemaRef,
    open: Open,
    /// A scan that was started to find its errors early: that of the first export.
    started: Mutex<Option<Batches>>,
}

impl Stream {
    /// A stream of scans that start when they are asked for.
    pub(crate) fn new(schema: SchemaRef, open: Open) -> Self {
        Stream { schema, open, started: Mutex::new(None) }
    }

    /// One batch.
    pub(crate) fn of(batch: RecordBatch) -> Self {
        let schema = batch.schema();
        Stream::new(schema, Arc::new(move || Ok(Box::new(std::iter::once(Ok(batch.clone()))) as Batches)))
    }

    /// The same, with the first scan started already.
    pub(crate) fn with_started(schema: SchemaRef, open: Open, started: Batches) -> Self {
        Stream { schema, open, started: Mutex::new(Some(started)) }
    }
}

#[pymethods]
impl Stream {
    /// A capsule of the Arrow C stream interface. The requested schema is not looked at: peers cast for themselves.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner).take();
        let open = self.open.clone();
        let (first, rest) = runtime::read(py, move || {
            let mut batches = match started {
                Some(batches) => batches,
                None => open()?,
            };
            let (mut first, mut bytes) = (VecDeque::new(), 0);
            while bytes < AHEAD
                && let Some(batch) = batches.next()
            {
                let batch = batch?;
                bytes += batch.get_array_memory_size();
                first.push_back(batch);
            }
            Ok((first, batches))
        })?;
        let batches = first.into_iter().map(Ok).chain(rest.map(|batch| batch.map_err(stream_error)));
        stream_capsule(py, self.schema.clone(), batches)
    }

    /// A capsule of the schema of every batch.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.schema.fields().iter().map(|f| f.name().as_str()).collect();
        format!("<deltaic Arrow stream of {}>", names.join(", "))
    }
}
