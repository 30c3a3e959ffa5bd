//! `Dml`: a delete, update, merge or replacing write whose rows Spark looks at and writes, and that is committed here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use deltaic_core::dml::{DmlOptions, PairKey, PairLimits};
use deltaic_core::engine::{DistributedDml, FileSubset, file_list};
use deltaic_core::scan::row_id_bases;
use deltaic_core::schema::StructType;
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::txn::{Operation, Route};
use deltaic_core::{Cancel, Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

use crate::arrow::import;
use crate::document::Document;
use crate::errors::to_python;
use crate::file_choices::FileChoices;
use crate::optimize::Optimize;
use crate::predicate::{JsonPredicate, inner, of_scans};
use crate::runtime::{stoppable, write};
use crate::spark::SparkTable;
use crate::spark_scan::ScanPlan;
use crate::spark_write::{WritePlan, actions, to_json};
use crate::stream::{Batches, Stream};

/// The options of an operation.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SparkDmlOptions {
    user_metadata: Option<String>,
    app_transaction: Option<(String, i64)>,
    auto_compact: Option<bool>,
    vectors: bool,
    files: FileChoices,
    engine: Option<String>,
}

impl From<SparkDmlOptions> for DmlOptions {
    fn from(options: SparkDmlOptions) -> Self {
        let files = options.files;
        DmlOptions {
            user_metadata: options.user_metadata,
            app_transaction: options.app_transaction,
            auto_compact: options.auto_compact,
            compaction: files.compaction(),
            parquet: files.parquet(),
            compression: files.compression,
            max_rows_per_file: files.max_records_per_file,
            vectors: options.vectors,
            engine: options.engine,
            ..Default::default()
        }
    }
}

/// How many rows a table of bitmaps selects, and how many matches.
#[derive(IntoPyObject)]
pub(crate) struct TakenRows {
    rows: u64,
    matches: u64,
}

/// An operation on one version. Nothing is changed before `commit`.
#[pyclass(frozen, module = "deltaic._core")]
pub(crate) struct Dml {
    /// None when it is over.
    inner: Mutex<Option<DistributedDml>>,
}

#[pymethods]
impl Dml {
    #[new]
    fn new(
        py: Python<'_>,
        path: String,
        storage_options: BTreeMap<String, String>,
        operation: String,
        parameters: BTreeMap<String, String>,
        options: Document<SparkDmlOptions>,
    ) -> PyResult<Self> {
        write(py, move || {
            let mut shown = Operation::new(operation);
            for (name, value) in parameters {
                shown = shown.with(&name, value);
            }
            let options = DmlOptions::from(options.0);
            let storage = StorageOptions::from(storage_options);
            let location = Location::open(&path, &storage)?;
            let inner = DistributedDml::begin(&location, storage, shown, options)?;
            Ok(Dml { inner: Mutex::new(Some(inner)) })
        })
    }

    /// A write that first removes rows, on the version that its plan found.
    #[staticmethod]
    fn of_write(py: Python<'_>, plan: &WritePlan) -> PyResult<Self> {
        let inner = DistributedDml::of_write(plan.inner.clone()).map_err(|e| to_python(py, &e))?;
        Ok(Dml { inner: Mutex::new(Some(inner)) })
    }

    /// The version that it works on.
    #[getter]
    fn version(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |dml| Ok(dml.snapshot().version()))
    }

    /// Whether the table has recorded the application transaction before: then there is nothing to do.
    #[getter]
    fn recorded(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |dml| dml.recorded())
    }

    /// The location of the table as a URI.
    #[getter]
    fn root(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |dml| Ok(dml.snapshot().location().root().to_uri()))
    }

    /// The schema of the table as JSON, with all column metadata.
    #[getter]
    fn schema(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |dml| Ok(dml.snapshot().schema().for_spark().to_json()))
    }

    /// The schema of the table as it will be, as JSON.
    #[getter]
    fn new_schema(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |dml| Ok(dml.new_schema().for_spark().to_json()))
    }

    /// What fills a column that rows lack, as JSON like that of the rules of a write; none where nothing does.
    fn filled(&self, py: Python<'_>, column: &str) -> PyResult<Option<String>> {
        self.with(py, |dml| dml.filled(column)?.map(|filled| to_json(&filled)).transpose())
    }

    /// With the commit the table gets the columns of a schema, given as JSON, that it lacks.
    fn evolve(&self, py: Python<'_>, schema: &str) -> PyResult<()> {
        self.with(py, |dml| dml.evolve(&StructType::from_json(schema)?))
    }

    /// The partition columns.
    #[getter]
    fn partition_columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |dml| Ok(dml.snapshot().partition_columns().to_vec()))
    }

    /// Refuses what takes rows away, in a table that loses none.
    fn check_removable(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |dml| dml.check_removable())
    }

    /// Whether rows are marked as deleted where they are.
    #[getter]
    fn uses_vectors(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |dml| Ok(dml.uses_vectors()))
    }

    /// Whether the table wants files of row-level changes.
    #[getter]
    fn has_change_feed(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |dml| Ok(dml.has_change_feed()))
    }

    /// The columns of files for row ids and row commit versions; empty where rows do not keep them.
    #[getter]
    fn row_id_columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |dml| Ok(dml.row_id_columns()?.into_iter().map(|f| f.name).collect()))
    }

    /// A predicate that every matching row makes true, as JSON.
    fn set_predicate(&self, py: Python<'_>, predicate: Option<JsonPredicate>) -> PyResult<()> {
        self.with(py, |dml| {
            dml.set_predicate(inner(predicate));
            Ok(())
        })
    }

    /// The location of the table as Spark spells it.
    #[getter]
    fn uri(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |dml| Ok(file_list::spark_uri(dml.snapshot().location().root())))
    }

    /// The version that it works on, as the bridge reads it.
    fn table(&self, py: Python<'_>) -> PyResult<SparkTable> {
        self.with(py, |dml| Ok(SparkTable::of(dml.snapshot().clone(), true)))
    }

    /// What its queries read of the table besides the matching rows: a predicate (JSON) for each scan, or none for
    /// every row.
    fn read_rows_of(&self, py: Python<'_>, reads: Vec<Option<JsonPredicate>>) -> PyResult<()> {
        self.with(py, |dml| {
            dml.read_rows_of(of_scans(reads));
            Ok(())
        })
    }

    /// Files (URIs as Spark spells them) with rows that decided something and stay as they are.
    fn read_files(&self, py: Python<'_>, uris: Vec<String>) -> PyResult<()> {
        self.with(py, |dml| dml.read_files(uris.iter().map(String::as_str)))
    }

    /// The different partition values as an Arrow stream, with their numbers in the column `number`.
    fn partitions(&self, py: Python<'_>, number: &str) -> PyResult<Stream> {
        Ok(Stream::of(self.with(py, |dml| dml.partitions(number))?))
    }

    /// Selects every row.
    fn take_all(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, DistributedDml::take_all)
    }

    /// Selects every row of these partitions.
    fn take_partitions(&self, py: Python<'_>, numbers: Vec<usize>) -> PyResult<()> {
        self.with(py, |dml| dml.take_partitions(&numbers))
    }

    /// Selects the rows that match a condition, which this process reads if their files are of at most so many bytes; whether
    /// they are.
    fn take_where(&self, py: Python<'_>, condition: &str, most_bytes: u64) -> PyResult<bool> {
        self.with(py, |dml| dml.take_where(condition, most_bytes))
    }

    /// Selects the rows of a table of bitmaps.
    fn take_rows(&self, py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<TakenRows> {
        let table = import(table)?;
        let taken = self.with(py, |dml| dml.take_rows(table))?;
        Ok(TakenRows { rows: taken.rows, matches: taken.matches })
    }

    /// Numbers of what it does so far, as JSON.
    fn counts(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |dml| serde_json::to_string(&dml.counts()).map_err(|e| invalid("counts", &e)))
    }

    /// What the bridge asks of a relation of a `part` of the files: see `SparkTable`.
    fn describe(&self, py: Python<'_>, part: &str, identity: &str, row_ids: bool) -> PyResult<String> {
        self.with(py, |dml| {
            let mut facts = file_list::describe(dml.snapshot());
            facts["identity"] = identity.into();
            facts["timeTravel"] = true.into();
            facts["claimed"] = (part_of(part)? == FileSubset::All).into();
            if part_of(part)? == FileSubset::Left {
                facts["deletionVectors"] = true.into();
            }
            let more = if row_ids { dml.row_id_columns()? } else { Vec::new() };
            for column in more {
                let field = serde_json::json!({"name": column.name, "type": "long", "nullable": true, "metadata": {}});
                for schema in ["schema", "physical"] {
                    if let Some(Value::Array(fields)) = facts[schema].get_mut("fields") {
                        fields.push(field.clone());
                    }
                }
            }
            Ok(facts.to_string())
        })
    }

    /// The files of a `part`, as `SparkTable.files`: of `all`, those that may have rows of the predicate; those that are
    /// `touched`; or those of them of which rows are `left`, without the matching rows.
    #[pyo3(signature = (part, predicate=None))]
    fn files<'py>(
        &self,
        py: Python<'py>,
        part: &str,
        predicate: Option<JsonPredicate>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let block = self.with(py, |dml| match part_of(part)? {
            FileSubset::All => file_list::encode(dml.snapshot(), inner(predicate), None),
            part => file_list::encode_adds(dml.snapshot(), &dml.files(part)?),
        })?;
        Ok(PyBytes::new(py, &block))
    }

    /// Bytes of all files of the version.
    fn size(&self, py: Python<'_>) -> PyResult<i64> {
        self.with(py, |dml| file_list::total_size(dml.snapshot()))
    }

    /// The plan of a read of the files of a `part`; of `all` those that may hold a row for which a predicate is true.
    #[pyo3(signature = (part, row_ids, predicate=None))]
    fn scan(
        &self,
        py: Python<'_>,
        part: &str,
        row_ids: bool,
        predicate: Option<JsonPredicate>,
    ) -> PyResult<ScanPlan> {
        self.with(py, |dml| {
            if let (FileSubset::All, Some(predicate)) = (part_of(part)?, inner(predicate)) {
                let (snapshot, options) = (dml.snapshot().clone(), dml.storage().clone());
                return ScanPlan::of_matching(snapshot, options, Some(predicate), row_ids);
            }
            let files = dml.files(part_of(part)?)?;
            let more = if row_ids { dml.row_id_columns()? } else { Vec::new() };
            Ok(ScanPlan::of(dml.snapshot().clone(), dml.storage().clone(), files, more))
        })
    }

    /// The matching rows, read in this process, as an Arrow stream: the columns of the table and those of row ids.
    fn matched_rows(&self, py: Python<'_>) -> PyResult<Stream> {
        Ok(held(self.stoppable(py, DistributedDml::matched_rows)?))
    }

    /// Whether the files that may have matching rows are of at most so many bytes, so that this process looks for pairs.
    fn may_find_pairs(&self, py: Python<'_>, most_bytes: u64) -> PyResult<bool> {
        self.with(py, |dml| dml.may_find_pairs(most_bytes))
    }

    /// Finds the rows that have the keys of rows of a source (an Arrow stream of its keys), where they are within limits, and
    /// returns how many pairs there are. Keys are columns of the table and of the source, and whether nulls are equal.
    fn find_pairs(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        keys: Vec<(String, String, bool)>,
        most_pairs: u64,
        most_held_bytes: u64,
    ) -> PyResult<Option<u64>> {
        let source = import(source)?;
        let keys = keys.into_iter().map(|(target, source, null_safe)| PairKey { target, source, null_safe });
        let keys: Vec<PairKey> = keys.collect();
        let limits = PairLimits { most_pairs, most_held_bytes };
        self.stoppable(py, |dml, cancel| dml.find_pairs(source, &keys, limits, cancel))
    }

    /// The rows of the table of the pairs, as an Arrow stream: file, position, number of the row of the source, and these
    /// columns. None where they take more memory than `most_bytes`.
    fn paired_rows(
        &self,
        py: Python<'_>,
        columns: Vec<String>,
        row_ids: bool,
        most_bytes: u64,
    ) -> PyResult<Option<Stream>> {
        let rows =
            self.stoppable(py, |dml, cancel| dml.paired_rows(&columns, row_ids, most_bytes, cancel))?;
        Ok(rows.map(held))
    }

    /// Writes the rows that are left of the touched files into new ones, in this process, and among them `new` ones.
    #[pyo3(signature = (new=None))]
    fn copy_left(&self, py: Python<'_>, new: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let new = new.map(import).transpose()?;
        self.stoppable(py, |dml, cancel| {
            let new = new.into_iter().flatten().collect::<std::result::Result<_, _>>();
            dml.copy_left(new.map_err(|e| Error::arrow("new rows", e))?, cancel)
        })
    }

    /// Where the row ids of the touched files begin, as an Arrow stream: `path`, `base_row_id` and
    /// `default_row_commit_version`.
    fn row_id_bases(&self, py: Python<'_>) -> PyResult<Stream> {
        let batch = self.with(py, |dml| {
            row_id_bases(dml.snapshot().location().root(), &dml.files(FileSubset::Touched)?)
        })?;
        Ok(Stream::of(batch))
    }

    /// A plan to write rows into data files below a folder of their own: rows of the table as they are, or `changed`.
    /// `schema` is the JSON of the frame's.
    fn data_plan(&self, py: Python<'_>, schema: &str, changed: bool, folder: String) -> PyResult<WritePlan> {
        self.with(py, |dml| {
            let plan = WritePlan::of(dml.data_plan(changed)?, &StructType::from_json(schema)?);
            dml.own_folder(folder);
            plan
        })
    }

    /// A plan to write new rows into data files: the rules of the table fill the columns that `schema` lacks.
    fn insert_plan(&self, py: Python<'_>, schema: &str, folder: String) -> PyResult<WritePlan> {
        self.with(py, |dml| {
            let data = StructType::from_json(schema)?;
            let plan = WritePlan::of(dml.insert_plan(&data)?, &data);
            dml.own_folder(folder);
            plan
        })
    }

    /// A plan to write files of row-level changes.
    fn change_plan(&self, py: Python<'_>, schema: &str, folder: String) -> PyResult<WritePlan> {
        self.with(py, |dml| {
            let plan = WritePlan::of(dml.change_plan()?, &StructType::from_json(schema)?);
            dml.own_folder(folder);
            plan
        })
    }

    /// Adds data files.
    fn add_files(&self, py: Python<'_>, adds: Vec<String>) -> PyResult<()> {
        self.with(py, |dml| {
            dml.add_files(actions(&adds)?);
            Ok(())
        })
    }

    /// Adds data files of new rows, and records these as row-level changes, too, if requested.
    fn add_inserts(&self, py: Python<'_>, adds: Vec<String>, as_changes: bool) -> PyResult<()> {
        self.with(py, |dml| dml.add_inserts(actions(&adds)?, as_changes))
    }

    /// Adds files of row-level changes.
    fn add_changes(&self, py: Python<'_>, files: Vec<String>) -> PyResult<()> {
        self.with(py, |dml| {
            dml.add_changes(actions(&files)?);
            Ok(())
        })
    }

    /// Commits, and is over then; the version, which is the one that it works on where the application transaction was
    /// recorded meanwhile, and the compaction that is left to do: one of at least `left_from` bytes of files.
    #[pyo3(signature = (by_vectors, metrics, left_from=None, routes=None))]
    fn commit(
        &self,
        py: Python<'_>,
        by_vectors: bool,
        metrics: BTreeMap<String, u64>,
        left_from: Option<u64>,
        routes: Option<Vec<String>>,
    ) -> PyResult<(u64, Option<Optimize>)> {
        write(py, || {
            let routes = routes.unwrap_or_default();
            let routes = routes.iter().map(|name| Route::parse(name)).collect::<Result<_>>()?;
            let mut dml = self.lock().take().ok_or_else(over)?;
            let after = left_from.map(|from| dml.leave_compaction(from));
            dml.set_routes(routes);
            let version = dml.commit(by_vectors, metrics.into_iter().collect())?;
            Ok((version, after.and_then(|after| after.optimize()).map(Optimize::of)))
        })
    }

    /// Is over, without a commit: what was written is deleted.
    fn discard(&self, py: Python<'_>) -> PyResult<()> {
        write(py, || {
            drop(self.lock().take());
            Ok(())
        })
    }
}

impl Dml {
    fn lock(&self) -> MutexGuard<'_, Option<DistributedDml>> {
        self.inner.lock().unwrap_or_else(|poisoned| {
            // a panic left it half-way: it is over
            let mut inner = poisoned.into_inner();
            *inner = None;
            inner
        })
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut DistributedDml) -> Result<T> + Send,
    ) -> PyResult<T> {
        write(py, || work(self.lock().as_mut().ok_or_else(over)?))
    }

    /// As `with`, for work on data, which Ctrl-C stops.
    fn stoppable<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut DistributedDml, &Cancel) -> Result<T> + Send,
    ) -> PyResult<T> {
        stoppable(py, |cancel| work(self.lock().as_mut().ok_or_else(over)?, cancel))
    }
}

/// A stream of rows that are in memory.
fn held((schema, batches): (SchemaRef, Vec<RecordBatch>)) -> Stream {
    Stream::new(schema, Arc::new(move || Ok(Box::new(batches.clone().into_iter().map(Ok)) as Batches)))
}

fn over() -> Error {
    Error::InvalidArgument {
        argument: "operation".into(),
        reason: "it is over: it was committed or discarded".into(),
    }
}

fn part_of(name: &str) -> Result<FileSubset> {
    FileSubset::of(name).ok_or_else(|| Error::InvalidArgument {
        argument: "part".into(),
        reason: format!("`{name}` is none of all, touched and left"),
    })
}

fn invalid(argument: &str, error: &serde_json::Error) -> Error {
    Error::InvalidArgument { argument: argument.to_owned(), reason: error.to_string() }
}
