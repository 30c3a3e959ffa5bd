//! `WritePlan`: a write of a Spark DataFrame, whose files are written by Spark or by tasks, and committed here.

use std::collections::BTreeMap;

use deltaic_core::actions::Add;
use deltaic_core::alter::SetOptions;
use deltaic_core::engine::DistributedWrite;
use deltaic_core::engine::file_list::spark_uri;
use deltaic_core::expr::RuleKind;
use deltaic_core::schema::StructType;
use deltaic_core::write::{DefineMode, Defines, WriteMode, WriteOptions, WrittenFile, footer_adds};
use deltaic_core::{Error, Result};
use pyo3::prelude::*;

use crate::arrow::import;
use crate::document::Document;
use crate::errors::to_python;
use crate::file_choices::FileChoices;
use crate::optimize::Optimize;
use crate::predicate::{JsonPredicate, of_scans};
use crate::runtime::{read, write};
use crate::spark::SparkTable;

/// What a write of rows says of the table that it makes or replaces.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct WriteDefinition {
    mode: String,
    cluster_by: Vec<Vec<String>>,
    managed: bool,
}

/// The options of a write.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct WritePlanOptions {
    mode: String,
    partition_by: Vec<String>,
    replace_where: Option<String>,
    dynamic_partitions: bool,
    merge_schema: bool,
    overwrite_schema: bool,
    check_replaced: bool,
    engine_replaces: bool,
    data_change: bool,
    rules_held: bool,
    whole_partitions: bool,
    shown: BTreeMap<String, String>,
    user_metadata: Option<String>,
    app_transaction: Option<(String, i64)>,
    files: FileChoices,
    optimize_write: Option<bool>,
    auto_compact: Option<bool>,
    configuration: BTreeMap<String, String>,
    defaults: BTreeMap<String, String>,
    arbitrary_properties: bool,
    engine: Option<String>,
    defines: Option<WriteDefinition>,
    description: Option<String>,
    at_version: Option<u64>,
    streams: bool,
    saved_as_table: Option<bool>,
}

impl WritePlanOptions {
    fn into_core(self) -> Result<WriteOptions> {
        let defines = match self.defines {
            Some(WriteDefinition { mode, cluster_by, managed }) => {
                Some(Defines { mode: DefineMode::parse(&mode)?, cluster_by, managed })
            }
            None => None,
        };
        Ok(WriteOptions {
            mode: match &defines {
                Some(defines) => defines.write_mode(),
                None => WriteMode::parse(&self.mode)?,
            },
            replace_where: self.replace_where,
            dynamic_partitions: self.dynamic_partitions,
            merge_schema: self.merge_schema,
            overwrite_schema: self.overwrite_schema,
            check_replaced: self.check_replaced,
            engine_replaces: self.engine_replaces,
            data_change: self.data_change,
            rules_held: self.rules_held,
            whole_partitions: self.whole_partitions,
            partition_by: self.partition_by,
            configuration: self.configuration,
            creation_only: true,
            defaults: self.defaults,
            optimize_write: self.optimize_write,
            auto_compact: self.auto_compact,
            all_nullable: true,
            parquet: self.files.parquet(),
            max_rows_per_file: self.files.max_records_per_file,
            compaction: self.files.compaction(),
            compression: self.files.compression,
            properties: SetOptions { allow_arbitrary: self.arbitrary_properties },
            shown: self.shown,
            user_metadata: self.user_metadata,
            app_transaction: self.app_transaction,
            engine: self.engine,
            defines,
            description: self.description,
            at_version: self.at_version,
            streams: self.streams,
            saved_as_table: self.saved_as_table,
            ..WriteOptions::default()
        })
    }
}

/// A checked write. Nothing is written by making one.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct WritePlan {
    pub(crate) inner: DistributedWrite,
    columns: String,
    /// Whether a projection of Spark gives the columns of the data files.
    #[pyo3(get)]
    direct: bool,
}

impl WritePlan {
    /// Of a write of rows of this schema.
    pub(crate) fn of(inner: DistributedWrite, data: &StructType) -> Result<Self> {
        let frame = inner.frame_columns(data);
        let columns = to_json(&frame.columns)?;
        Ok(WritePlan { inner, columns, direct: frame.direct })
    }
}

#[pymethods]
impl WritePlan {
    #[new]
    fn new(
        py: Python<'_>,
        path: String,
        storage_options: BTreeMap<String, String>,
        schema: String,
        options: Document<WritePlanOptions>,
    ) -> PyResult<Self> {
        read(py, move || {
            let data = StructType::from_json(&schema)?;
            let options = options.0.into_core()?;
            let inner = DistributedWrite::plan(&path, storage_options.into(), &data, options)?;
            WritePlan::of(inner, &data)
        })
    }

    /// From `to_bytes`, in another process.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let text = String::from_utf8_lossy(data);
        let inner = DistributedWrite::from_json(&text).map_err(|e| to_python(py, &e))?;
        Ok(WritePlan { inner, columns: "[]".into(), direct: false })
    }

    /// For tasks in other processes. It holds the storage options.
    fn to_bytes(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let inner = self.inner.clone();
        read(py, move || inner.to_json().map(String::into_bytes))
    }

    /// Whether there is nothing to write.
    #[getter]
    fn skip(&self) -> bool {
        self.inner.is_skipped()
    }

    /// The location of the table as a URI.
    #[getter]
    fn root(&self) -> String {
        self.inner.plan.location.root().to_uri()
    }

    /// The columns of the table and what the frame has for each, as JSON.
    #[getter]
    fn columns(&self) -> &str {
        &self.columns
    }

    /// What the rules of the table ask of the rows, as JSON.
    #[getter]
    fn rules(&self, py: Python<'_>) -> PyResult<String> {
        to_json(&self.inner.rules).map_err(|e| to_python(py, &e))
    }

    /// Whether the rows of a partition are to be gathered before they are written.
    #[getter]
    fn optimize_write(&self) -> bool {
        self.inner.plan.optimize_write
    }

    /// Compression that the write or the table asks for.
    #[getter]
    fn compression(&self) -> Option<&str> {
        self.inner.compression()
    }

    /// Whether files may have fields of variants as columns of their own.
    #[getter]
    fn shreds_variants(&self) -> bool {
        self.inner.shreds_variants()
    }

    /// The settings of Parquet's own writer that hold, by name.
    #[getter]
    fn parquet(&self) -> BTreeMap<String, String> {
        self.inner.parquet().clone()
    }

    /// Those that the write asked for and `write` cannot follow.
    #[getter]
    fn unfollowed(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let names = self.inner.unfollowed().map_err(|e| to_python(py, &e))?;
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// The partition columns in order, as data files name them.
    #[getter]
    fn partition_columns(&self) -> Vec<String> {
        self.inner.plan.physical_partition_columns.clone()
    }

    /// Writes Arrow data into files, below a folder of the table, and returns their `add` actions as JSON.
    #[pyo3(signature = (data, folder=None))]
    fn write(&self, py: Python<'_>, data: &Bound<'_, PyAny>, folder: Option<&str>) -> PyResult<Vec<String>> {
        let data = import(data)?;
        write(py, || texts(&self.inner.write_files(data, folder)?))
    }

    /// The `add` actions of files that Spark wrote, with statistics from their footers. `files` are paths relative to the
    /// table, decoded.
    fn footer_adds(&self, py: Python<'_>, files: Vec<String>) -> PyResult<Vec<String>> {
        let files = files.into_iter().map(|path| WrittenFile { path, partition_values: None }).collect();
        write(py, || texts(&footer_adds(&self.inner.plan, files)?))
    }

    /// What the options of the store say of this place, by Hadoop's names.
    #[getter]
    fn hadoop_settings(&self, py: Python<'_>) -> PyResult<BTreeMap<String, String>> {
        let location = self.inner.plan.location.clone();
        read(py, move || Ok(location.hadoop_settings()?.into_iter().collect()))
    }

    /// The location of the table as Spark spells it.
    #[getter]
    fn uri(&self) -> String {
        spark_uri(self.inner.plan.location.root())
    }

    /// The version that was found, as the bridge reads it; none where there is no table.
    fn table(&self) -> Option<SparkTable> {
        self.inner.plan.snapshot().map(|snapshot| SparkTable::of(snapshot.clone(), true))
    }

    /// Commits files; the version, or nothing where nothing was to be committed, and the compaction that is left to do.
    /// `reads` are the scans of the table in the query of the rows: a predicate (JSON) for each, or none for every row. A
    /// compaction of at least `left_from` bytes of files is left.
    #[pyo3(signature = (adds, reads=None, left_from=None))]
    fn commit(
        &self,
        py: Python<'_>,
        adds: Vec<String>,
        reads: Option<Vec<Option<JsonPredicate>>>,
        left_from: Option<u64>,
    ) -> PyResult<(Option<u64>, Option<Optimize>)> {
        write(py, || {
            let mut write = self.inner.clone();
            let after = left_from.map(|from| write.leave_compaction(from));
            let result = write.commit(actions(&adds)?, of_scans(reads.unwrap_or_default()))?;
            let left = after.and_then(|after| after.optimize()).map(Optimize::of);
            Ok(((!result.skipped).then_some(result.version), left))
        })
    }

    /// Deletes the files of a write that is known not to be committed: all below a folder, and those named.
    fn discard(&self, py: Python<'_>, folder: &str, adds: Vec<String>) -> PyResult<()> {
        write(py, || {
            self.inner.discard(folder, &actions(&adds)?);
            Ok(())
        })
    }
}

fn texts(adds: &[Add]) -> Result<Vec<String>> {
    adds.iter().map(to_json).collect()
}

pub(crate) fn actions(texts: &[String]) -> Result<Vec<Add>> {
    texts.iter().map(|t| serde_json::from_str(t).map_err(|e| no_json(&e))).collect()
}

pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| no_json(&e))
}

fn no_json(error: &serde_json::Error) -> Error {
    Error::InvalidArgument { argument: "adds".into(), reason: error.to_string() }
}

/// The functions of Spark that a rule of a table may call: a `check`, the value of a `generated` column or a `default`.
#[pyfunction]
pub(crate) fn rule_functions(kind: &str) -> Vec<&'static str> {
    deltaic_core::expr::rule_functions(&match kind {
        "check" => RuleKind::Check,
        "generated" => RuleKind::Generated(""),
        _ => RuleKind::Default(""),
    })
}
