//! Creating and appending: data to files, files to a commit.

use std::collections::BTreeMap;

use arrow::array::RecordBatchReader;
use chrono::Utc;
use serde_json::Value;

use super::fit::fit_batch;
use super::mode::{WriteMode, WriteOptions, WriteResult};
use super::parquet_writer::{DataFiles, WrittenData};
use super::plan::{Target, WritePlan, plan_write};
use super::schema::from_arrow;
use super::split::Splitter;
use super::text_limits::limit_batch;
use super::uploads::Uploads;
use crate::actions::{Action, Add, CommitInfo, Txn};
use crate::commit::{AppendCommit, Landed, commit_append};
use crate::error::{Error, Result};
use crate::schema::{ColumnMappingMode, StructType};
use crate::snapshot::{At, Snapshot};
use crate::store::Location;

/// Writes the data into the table, which is created where there is none. Either all of it is there afterwards, in one
/// version, or the table is as it was; files of a write that failed are deleted, except after
/// [`Error::CommitStateUnknown`], when they may be part of the table. The data is read once, batch by batch; memory is
/// bounded by the files that are open at once.
///
/// # Errors
/// All of [`plan_write`], before the first batch is read. Then [`Error::SchemaMismatch`] for a value that must not be
/// null or does not fit, [`Error::Arrow`] from the data itself, [`Error::CommitConflict`] when another writer changed the
/// table so that this data may not follow, and what the store says.
pub fn write(
    location: &Location,
    data: impl RecordBatchReader,
    options: &WriteOptions,
) -> Result<WriteResult> {
    let plan = plan_write(location, &from_arrow(&data.schema())?, options)?;
    if let Target::Skip(version) = plan.target {
        return Ok(WriteResult::skipped(version));
    }
    let uploads = Uploads::new(location.store().clone());
    let written = fill(&plan, data, &uploads, options, None)?;
    let rows = written.iter().map(|w| w.rows).sum();
    let adds = written.into_iter().map(|w| w.add).collect();
    let result = commit(&plan, adds, rows, options);
    if keeps_files(&result) {
        uploads.keep();
    }
    result
}

/// Writes the data into files, all below `folder` of the table where one is given.
pub(super) fn fill(
    plan: &WritePlan,
    data: impl RecordBatchReader,
    uploads: &Uploads,
    options: &WriteOptions,
    folder: Option<&str>,
) -> Result<Vec<WrittenData>> {
    let path = plan.location.root().to_string();
    let mut files = DataFiles::new(plan, uploads, options, folder);
    let splitter = Splitter::new(&plan.schema, &plan.partition_columns, plan.data_positions());
    let fitted = plan.fitted_schema();
    for batch in data {
        let batch = batch.map_err(|e| Error::arrow("reading the data to write", e))?;
        let batch = fit_batch(&path, &batch, &plan.schema, &fitted)?;
        let batch = limit_batch(&path, batch, &plan.schema, &plan.text_limits)?;
        for (key, rows) in splitter.split(&path, &batch)? {
            files.write(key, &rows)?;
        }
    }
    files.finish()
}

/// Commits files that are written already: the other half of [`write`], for files that Spark wrote. The files are never
/// deleted here; after any error but [`Error::CommitStateUnknown`], and when the result is `skipped`, they belong to
/// nothing and the caller deletes them.
///
/// # Errors
/// [`Error::CommitConflict`], [`Error::CommitStateUnknown`], [`Error::TableAlreadyExists`], and what the store says.
pub fn commit_adds(plan: &WritePlan, adds: Vec<Add>, options: &WriteOptions) -> Result<WriteResult> {
    if let Target::Skip(version) = plan.target {
        return Ok(WriteResult::skipped(version));
    }
    let rows = adds.iter().filter_map(num_records).sum();
    commit(plan, adds, rows, options)
}

fn num_records(add: &Add) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Rows {
        #[serde(rename = "numRecords")]
        num_records: u64,
    }
    serde_json::from_str::<Rows>(add.stats.as_deref()?).ok().map(|r| r.num_records)
}

/// Whether the table has the files, or may have.
fn keeps_files(result: &Result<WriteResult>) -> bool {
    match result {
        Ok(result) => !result.skipped,
        Err(error) => matches!(error, Error::CommitStateUnknown { .. }),
    }
}

fn commit(plan: &WritePlan, adds: Vec<Add>, rows: u64, options: &WriteOptions) -> Result<WriteResult> {
    let bytes = adds.iter().map(|a| a.size.unsigned_abs()).sum();
    let files = adds.len() as u64;
    let txn = options.app_transaction.as_ref().map(|(app_id, version)| Txn {
        app_id: app_id.clone(),
        version: *version,
        last_updated: Some(Utc::now().timestamp_millis()),
    });
    if let (Target::Existing(version), true, None) = (plan.target, adds.is_empty(), &txn) {
        return Ok(WriteResult::skipped(version));
    }
    let mut actions: Vec<Action> = txn.iter().cloned().map(Action::from).collect();
    actions.extend(adds.into_iter().map(Action::from));
    let mut result = WriteResult { version: 0, files, rows, bytes, created: false, skipped: false };
    let mut attempt = AppendCommit {
        location: &plan.location,
        read_version: plan.read_version(),
        in_commit_timestamp: plan.in_commit_timestamp,
        txn: txn.as_ref(),
        budget: options.commit_budget,
    };
    if plan.target == Target::New {
        let head = [Action::from(plan.protocol.clone()), Action::from(plan.metadata.clone())];
        let all: Vec<Action> = head.into_iter().chain(actions.iter().cloned()).collect();
        match commit_append(&attempt, info(plan, None, &result, options), &all)? {
            Landed::Committed(version) => return Ok(WriteResult { version, created: true, ..result }),
            Landed::AlreadyRecorded(version) => return Ok(WriteResult::skipped(version)),
            Landed::Created { winner } => {
                let operation = winner.and_then(|w| w.operation);
                match follow_creator(plan, operation, options)? {
                    Ok((version, timestamp)) => {
                        attempt.read_version = Some(version);
                        attempt.in_commit_timestamp = timestamp;
                    }
                    Err(skipped) => return Ok(skipped),
                }
            }
        }
    }
    match commit_append(&attempt, info(plan, attempt.read_version, &result, options), &actions)? {
        Landed::Committed(version) => result.version = version,
        Landed::AlreadyRecorded(version) => return Ok(WriteResult::skipped(version)),
        Landed::Created { .. } => {
            // unreachable by construction: there is a version to follow
            return Err(Error::TableNotFound { path: plan.location.root().to_string() });
        }
    }
    Ok(result)
}

/// Another writer created the table while we wrote the first files for it. By mode that is an error, or the end, or the
/// files are appended, if the other's table is the one that we would have made.
fn follow_creator(
    plan: &WritePlan,
    winner: Option<String>,
    options: &WriteOptions,
) -> Result<std::result::Result<(u64, Option<i64>), WriteResult>> {
    let path = plan.location.root().to_string();
    let append = WriteOptions { mode: WriteMode::Append, ..options.clone() };
    match options.mode {
        WriteMode::ErrorIfExists => {
            let version = Snapshot::open(plan.location.clone(), At::Latest)?.version();
            return Err(Error::TableAlreadyExists { path, version });
        }
        WriteMode::Ignore => {
            let version = Snapshot::open(plan.location.clone(), At::Latest)?.version();
            return Ok(Err(WriteResult::skipped(version)));
        }
        WriteMode::Append => {}
    }
    let theirs = plan_write(&plan.location, &plan.schema, &append)?;
    if let Target::Skip(version) = theirs.target {
        return Ok(Err(WriteResult::skipped(version)));
    }
    let unmapped =
        theirs.column_mapping == ColumnMappingMode::None && plan.column_mapping == ColumnMappingMode::None;
    if !(unmapped
        && same_files(&plan.schema, &theirs.schema)
        && plan.partition_columns == theirs.partition_columns)
    {
        return Err(Error::CommitConflict {
            path,
            version: 0,
            winner,
            reason: "it created the table with other columns than these files have; repeat the write".into(),
        });
    }
    Ok(Ok((theirs.read_version().unwrap_or_default(), theirs.in_commit_timestamp)))
}

/// Whether files of one schema can be files of the other: same names, order and types, and no column that may be null
/// here and not there.
fn same_files(ours: &StructType, theirs: &StructType) -> bool {
    let types =
        |s: &StructType| s.fields.iter().map(|f| (f.name.clone(), f.data_type.clone())).collect::<Vec<_>>();
    types(ours) == types(theirs)
        && ours.fields.iter().zip(&theirs.fields).all(|(o, t)| t.nullable || !o.nullable)
}

fn info(
    plan: &WritePlan,
    read_version: Option<u64>,
    result: &WriteResult,
    options: &WriteOptions,
) -> CommitInfo {
    let text = |v: String| Value::String(v);
    let partition_by = Value::from(plan.partition_columns.clone()).to_string();
    let mut parameters = BTreeMap::from([("mode".to_owned(), text(options.mode.name().to_owned()))]);
    parameters.insert("partitionBy".to_owned(), text(partition_by));
    let metrics =
        [("numFiles", result.files), ("numOutputRows", result.rows), ("numOutputBytes", result.bytes)];
    let own = concat!("deltaic/", env!("CARGO_PKG_VERSION"));
    CommitInfo {
        operation: Some("WRITE".to_owned()),
        operation_parameters: Some(parameters),
        operation_metrics: Some(
            metrics.into_iter().map(|(k, v)| (k.to_owned(), text(v.to_string()))).collect(),
        ),
        read_version: read_version.and_then(|v| i64::try_from(v).ok()),
        isolation_level: Some("Serializable".to_owned()),
        is_blind_append: Some(true),
        user_metadata: options.user_metadata.clone(),
        engine_info: Some(options.engine.as_ref().map_or(own.to_owned(), |engine| format!("{engine} {own}"))),
        ..Default::default()
    }
}
