//! `StreamSource`: a table as a stream of files, for the streaming sources of Spark.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_core::engine::file_list;
use deltaic_core::scan::splits;
use deltaic_core::store::StorageOptions;
use deltaic_core::stream::{BatchPart, Offset, Place, ReadLimit, Source, SourceOptions, check_places};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::runtime::read;
use crate::spark_scan::encoded;

/// A table as a stream. Offsets are JSON text.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct StreamSource {
    inner: Arc<Source>,
}

#[pymethods]
impl StreamSource {
    /// `start_millis` is the value of the option `startingTimestamp`, `settings` are those of the session (names without
    /// `spark.databricks.delta.`), and `metadata_path` is where the source of a query that runs has its part of the
    /// checkpoint.
    #[new]
    #[pyo3(signature = (path, options, start_millis, storage_options, settings=None, metadata_path=None))]
    fn new(
        py: Python<'_>,
        path: String,
        options: BTreeMap<String, String>,
        start_millis: Option<i64>,
        storage_options: BTreeMap<String, String>,
        settings: Option<BTreeMap<String, String>>,
        metadata_path: Option<String>,
    ) -> PyResult<Self> {
        read(py, move || {
            let options = SourceOptions::parse(&path, &options, start_millis)?.in_session(
                &path,
                &settings.unwrap_or_default(),
                metadata_path,
            )?;
            Ok(StreamSource { inner: Arc::new(Source::open(&path, &storage_options.into(), options)?) })
        })
    }

    /// What the bridge asks of a version: see `SparkTable.describe`.
    fn describe(&self) -> String {
        file_list::describe(self.inner.snapshot()).to_string()
    }

    /// The version whose schema the stream has.
    #[getter]
    fn schema_version(&self) -> u64 {
        self.inner.schema_version()
    }

    /// Begins the log of schemas of a query that planned the batch up to `end` before it kept one.
    #[pyo3(signature = (start, end))]
    fn begin_log(&self, py: Python<'_>, start: Option<String>, end: String) -> PyResult<()> {
        let inner = self.inner.clone();
        read(py, move || {
            let start = start.as_deref().map(Offset::from_json).transpose()?;
            inner.begin_log_of(start.as_ref(), &Offset::from_json(&end)?)
        })
    }

    /// The rows up to an offset are taken. Raises where the schema changes there, and the query must be started again.
    fn commit(&self, py: Python<'_>, end: String) -> PyResult<()> {
        let inner = self.inner.clone();
        read(py, move || inner.commit(&Offset::from_json(&end)?))
    }

    /// The schema of the rows as JSON, with all column metadata.
    #[getter]
    fn schema(&self) -> String {
        file_list::schema(self.inner.snapshot().schema()).to_string()
    }

    /// Ends the stream at the newest data when `latest` is first called.
    fn stop_at_what_is_there(&self) {
        self.inner.stop_at_what_is_there();
    }

    /// The offset before the first file.
    fn first(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.inner.clone();
        read(py, move || Ok(inner.first()?.to_json()))
    }

    /// The offset after all current data.
    fn head(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.inner.clone();
        read(py, move || Ok(inner.head()?.to_json()))
    }

    /// The end offset of the next batch: the newest data with `everything`, else within the limits of the options, with
    /// `max_files` in the place of theirs.
    #[pyo3(signature = (start=None, *, everything=false, max_files=None))]
    fn latest(
        &self,
        py: Python<'_>,
        start: Option<String>,
        everything: bool,
        max_files: Option<u64>,
    ) -> PyResult<Option<String>> {
        let inner = self.inner.clone();
        read(py, move || {
            let start = start.as_deref().map(Offset::from_json).transpose()?;
            let limit = match (everything, max_files) {
                (true, _) => ReadLimit::All,
                (false, Some(_)) => ReadLimit::Most { files: max_files, bytes: inner.options().max_bytes },
                (false, None) => inner.options().limit(),
            };
            Ok(inner.latest(start.as_ref(), limit)?.map(|offset| offset.to_json()))
        })
    }

    /// The files of a batch, in parts that one scan can read.
    #[pyo3(signature = (start, end))]
    fn batch(&self, py: Python<'_>, start: Option<String>, end: String) -> PyResult<Vec<StreamPart>> {
        let inner = self.inner.clone();
        read(py, move || {
            let start = start.as_deref().map(Offset::from_json).transpose()?;
            let parts = inner.batch(start.as_ref(), &Offset::from_json(&end)?)?;
            let options = inner.storage();
            Ok(parts
                .into_iter()
                .map(|part| StreamPart { part: Arc::new(part), options: options.clone() })
                .collect())
        })
    }
}

/// Where a source of a query keeps its schemas.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct StreamPlace {
    table: String,
    location: String,
    uri: String,
    source: Option<String>,
}

/// Checks that the logs of schemas of a query are below its checkpoint, unless `anywhere`, each in a place of its own.
#[pyfunction]
pub(crate) fn check_stream_places(
    py: Python<'_>,
    checkpoint: String,
    places: Vec<StreamPlace>,
    anywhere: bool,
) -> PyResult<()> {
    let place = |StreamPlace { table, location, uri, source }| Place { table, location, uri, source };
    let places: Vec<_> = places.into_iter().map(place).collect();
    read(py, move || check_places(&checkpoint, &places, anywhere))
}

/// Files of a batch.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct StreamPart {
    part: Arc<BatchPart>,
    options: StorageOptions,
}

#[pymethods]
impl StreamPart {
    /// What the bridge asks of a relation of these files: see `SparkTable.describe`.
    fn describe(&self, identity: &str) -> String {
        let mut facts = file_list::describe(&self.part.snapshot);
        facts["identity"] = identity.into();
        facts["timeTravel"] = true.into();
        facts["deletionVectors"] = self.part.files.iter().any(|f| f.deletion_vector.is_some()).into();
        facts.to_string()
    }

    /// The files as one block.
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let part = self.part.clone();
        let block = read(py, move || file_list::encode_adds(&part.snapshot, &part.files))?;
        Ok(PyBytes::new(py, &block))
    }

    /// Bytes of all files.
    fn size(&self) -> i64 {
        self.part.files.iter().fold(0, |all, f| f.size.saturating_add(all))
    }

    /// Groups of files of at most so many bytes, for `read_split`.
    fn splits(&self, py: Python<'_>, most_bytes: i64) -> PyResult<Vec<Vec<u8>>> {
        let (part, options) = (self.part.clone(), self.options.clone());
        read(py, move || encoded(&splits(&part.snapshot, &options, &part.files, &[], most_bytes)))
    }
}
