//! Creating, appending and overwriting: data to files, files to a commit.

use std::collections::BTreeMap;
use std::time::Instant;

use arrow::array::RecordBatchReader;

use super::identity_retry::{can_retry, retry};
use super::new_files::{NewFiles, fill};
use super::overwrite::{Replaced, stage};
use crate::actions::{Add, OperationName};
use crate::alter::identity::Identity;
use crate::conflict::IdentityValues;
use crate::error::{Conflict, ConflictKind, ConflictRule, Error, Result};
use crate::maintain::{AutoCompact, clustering_columns};
use crate::schema::{ColumnMappingMode, StructType, from_arrow};
use crate::snapshot::{At, Snapshot};
use crate::stats::num_records;
use crate::store::Location;
use crate::sums::SaturatingSum;
use crate::txn::{Operation, Transaction};
use crate::write::{
    DefineMode, Defines, Rules, TableSpec, Target, Uploads, WriteMode, WriteOptions, WritePlan, WriteResult,
    plan_write,
};

/// Writes the data into the table, which is created if there is none. Either all of it is committed as one version, or
/// the table is as it was; files of a write that failed are deleted, except after [`Error::CommitStateUnknown`], when
/// they may be part of the table. The data is read once, batch by batch; memory is bounded by the files that are open
/// at once. Where another writer gave values of an identity column meanwhile, an append writes its rows again, with the
/// next values.
///
/// Where `delta.autoOptimize.optimizeWrite` is set on a table with partitions, the rows of a partition are in one file
/// up to the target size, in any order of input: rows that are more than 128 MiB wait in the temporary folder of the
/// system. Where
/// `delta.autoOptimize.autoCompact` is set, the small files of the partitions that were written to are joined after the
/// commit, if there are 50 or more of them; a failure of that is a warning.
///
/// # Errors
/// All of [`plan_write`], before the first batch is read. Then [`Error::SchemaMismatch`] for a value that must not be
/// null or does not fit, [`Error::InvariantViolation`] for a row that breaks a rule of the table and
/// [`Error::InvalidExpression`] for one that a rule cannot be computed for, [`Error::ReplaceWhereMismatch`] for a row that is not among those that the overwrite replaces, [`Error::Arrow`] from the data itself, [`Error::MetadataChanged`] and
/// [`Error::ProtocolChanged`] when another writer changed the table so that this data may not follow, and errors of the
/// store.
pub fn write(
    location: &Location,
    data: impl RecordBatchReader,
    options: &WriteOptions,
) -> Result<WriteResult> {
    let given = from_arrow(&data.schema())?;
    let mut plan = plan_write(location, &given, options)?;
    if let Target::Skip(version) = plan.target {
        return Ok(WriteResult::skipped(version));
    }
    let deadline = Instant::now().checked_add(options.commit_budget);
    let mut uploads = Uploads::new(location);
    let mut rules = Rules::of(&plan, &given)?;
    let written = fill(&plan, data, &mut rules, &uploads, options, None)?;
    let mut new = NewFiles::of(written, &rules);
    loop {
        let adds = if new.marks.is_empty() { Vec::new() } else { new.adds.clone() };
        let compaction = AutoCompact::of(&plan, &new.adds);
        let result = commit(&plan, new, options);
        match &result {
            Err(error) if can_retry(error, options) && deadline.is_none_or(|end| Instant::now() < end) => {
                let again = Uploads::new(location);
                (plan, new) = retry(&plan, adds, &given, &again, options)?;
                uploads = again;
                if let Target::Skip(version) = plan.target {
                    return Ok(WriteResult::skipped(version));
                }
            }
            _ => {
                if keeps_files(&result) {
                    uploads.keep();
                }
                return result.map(|result| compacted(result, compaction));
            }
        }
    }
}

/// Commits files that are written already: the other half of [`write()`], for files that Spark wrote. The files are never
/// deleted here; after any error but [`Error::CommitStateUnknown`], and when the result is `skipped`, they belong to
/// nothing and the caller deletes them.
///
/// # Errors
/// As [`Transaction::commit`]: [`Error::MetadataChanged`], [`Error::CommitStateUnknown`],
/// [`Error::TableAlreadyExists`], and errors of the store.
///
/// # Cost
/// That of the commit; on a local file system the sync of each file and its folders.
pub fn commit_adds(plan: &WritePlan, adds: Vec<Add>, options: &WriteOptions) -> Result<WriteResult> {
    make_durable(plan, &adds)?;
    commit_made(plan, adds, &[], options)
}

/// Files that others wrote are made durable: a commit never names a file that a power cut could still take.
///
/// # Errors
/// Errors of the store.
pub(crate) fn make_durable<'a>(plan: &WritePlan, adds: impl IntoIterator<Item = &'a Add>) -> Result<()> {
    let (store, root) = (plan.location.store(), plan.location.root());
    let files: Vec<_> = adds.into_iter().map(|add| add.path.resolve(root)).collect::<Result<_>>()?;
    if files.is_empty() { Ok(()) } else { store.make_durable(root, &files) }
}

/// As [`commit_adds`], of durable files with values that were made for these identity columns (logical names). Their marks come
/// from the statistics, which these columns always have.
///
/// # Errors
/// As [`commit_adds`]; [`Error::InvalidArgument`] for files without these statistics.
pub(crate) fn commit_made(
    plan: &WritePlan,
    adds: Vec<Add>,
    identities: &[String],
    options: &WriteOptions,
) -> Result<WriteResult> {
    if let Target::Skip(version) = plan.target {
        return Ok(WriteResult::skipped(version));
    }
    let rows = adds.iter().filter_map(num_records).map(i64::unsigned_abs).saturating_sum();
    let marks = marks_of(plan, &adds, identities)?;
    let compaction = AutoCompact::of(plan, &adds);
    commit(plan, NewFiles { adds, rows, marks }, options).map(|result| compacted(result, compaction))
}

/// Compacts after a commit, where the table asks for it. Only now, because the files are the table's: nothing that happens
/// here can take them away.
fn compacted(mut result: WriteResult, compaction: Option<AutoCompact>) -> WriteResult {
    if let (Some(compaction), false) = (compaction, result.skipped) {
        result.warnings.extend(compaction.run(result.version));
    }
    result
}

/// The farthest values of identity columns (logical names) in files, by physical name.
///
/// # Errors
/// [`Error::InvalidArgument`] for a file without statistics of a column.
pub(crate) fn marks_of(
    plan: &WritePlan,
    adds: &[Add],
    identities: &[String],
) -> Result<BTreeMap<String, i64>> {
    let mut marks = BTreeMap::new();
    for name in identities {
        let Some(field) = plan.schema.field(name) else { continue };
        let Some(identity) = Identity::of(field)? else { continue };
        let physical = field.physical_name(plan.column_mapping).to_owned();
        for add in adds {
            let mark =
                identity_bound(add, &physical, identity.step).ok_or_else(|| Error::InvalidArgument {
                    argument: "adds".into(),
                    reason: format!("`{}` has no statistics of the identity column `{name}`", add.path),
                })?;
            let farther = |old: i64| if identity.step > 0 { old.max(mark) } else { old.min(mark) };
            marks.entry(physical.clone()).and_modify(|old| *old = farther(*old)).or_insert(mark);
        }
    }
    Ok(marks)
}

/// The farthest value of a column in a file, in the direction of a step.
fn identity_bound(add: &Add, physical: &str, step: i64) -> Option<i64> {
    let stats: serde_json::Value = serde_json::from_str(add.stats.as_deref()?).ok()?;
    stats.get(if step > 0 { "maxValues" } else { "minValues" })?.get(physical)?.as_i64()
}

/// Whether the table has the files, or may have.
fn keeps_files(result: &Result<WriteResult>) -> bool {
    match result {
        Ok(result) => !result.skipped,
        Err(error) => matches!(error, Error::CommitStateUnknown { .. }),
    }
}

fn commit(plan: &WritePlan, new: NewFiles, options: &WriteOptions) -> Result<WriteResult> {
    let bytes = new.adds.iter().map(|a| a.size.unsigned_abs()).saturating_sum();
    let files = new.adds.len() as u64;
    let created = plan.target == Target::New;
    let result = WriteResult { files, rows: new.rows, bytes, created, ..Default::default() };
    if !created {
        return land(plan, new, result, options);
    }
    match land(plan, new.clone(), result.clone(), options) {
        Err(Error::TableAlreadyExists { .. }) => {}
        other => return other,
    }
    match follow_creator(plan, options)? {
        Ok(theirs) => land(&theirs, new, WriteResult { created: false, ..result }, options),
        Err(skipped) => Ok(skipped),
    }
}

fn land(
    plan: &WritePlan,
    new: NewFiles,
    mut result: WriteResult,
    options: &WriteOptions,
) -> Result<WriteResult> {
    let NewFiles { adds, marks, .. } = new;
    let mut txn = plan.transaction(operation(plan, options))?;
    define(&mut txn, plan, options);
    let generated = marks.keys().cloned().collect();
    txn.advance_identities(IdentityValues { written: marks, generated })?;
    let replaced = stage(&mut txn, plan, &adds, options)?;
    let same_table = txn.changes().metadata.is_none() && txn.changes().protocol.is_none();
    let same_rows = adds.is_empty() && txn.changes().removes.is_empty();
    let unchanged = same_table && same_rows && options.app_transaction.is_none();
    if let (Target::Existing(version), true) = (plan.target, unchanged) {
        return Ok(WriteResult::skipped(version));
    }
    result.removed = replaced.files;
    measure(&mut txn, &result, &replaced, options);
    if let Some((app_id, version)) = &options.app_transaction {
        txn.app_transaction(app_id, *version);
    }
    let data_change = options.data_change;
    adds.into_iter().for_each(|add| txn.add(Add { data_change, ..add }));
    txn.set_user_metadata(options.user_metadata.clone());
    txn.set_engine(options.engine.clone());
    txn.set_budget(options.commit_budget);
    let committed = match replaced.rows {
        Some(mut rows) => rows.attempt.commit(txn)?,
        None => txn.commit()?,
    };
    Ok(match committed.already_recorded {
        true => WriteResult::skipped(committed.version),
        false => WriteResult { version: committed.version, warnings: committed.warnings, ..result },
    })
}

/// Stages the definition that the write gives the table, where it is another.
fn define(txn: &mut Transaction, plan: &WritePlan, options: &WriteOptions) {
    plan.domains.iter().for_each(|domain| txn.domain(domain.clone()));
    let Some(snapshot) = txn.snapshot().cloned() else { return };
    if *snapshot.protocol() != plan.protocol {
        txn.set_protocol(plan.protocol.clone());
    }
    if *snapshot.metadata() != plan.metadata {
        txn.set_metadata(plan.metadata.clone());
        if options.replaces_schema() {
            txn.replaces_all_files();
        }
    }
}

/// Another writer created the table while we wrote the first files for it. By mode that is an error, or the end, or the
/// files are appended, if the other's table is the one that we would have made.
fn follow_creator(
    plan: &WritePlan,
    options: &WriteOptions,
) -> Result<std::result::Result<WritePlan, WriteResult>> {
    let path = plan.location.root().to_string();
    let newest = || Snapshot::open(plan.location.clone(), At::Latest);
    match options.mode {
        WriteMode::ErrorIfExists => {
            return Err(Error::TableAlreadyExists { path, version: newest()?.version() });
        }
        WriteMode::Ignore => return Ok(Err(WriteResult::skipped(newest()?.version()))),
        WriteMode::Append | WriteMode::Overwrite => {}
    }
    let theirs = plan_write(&plan.location, &plan.schema, options)?;
    if let Target::Skip(version) = theirs.target {
        return Ok(Err(WriteResult::skipped(version)));
    }
    let unmapped =
        theirs.column_mapping == ColumnMappingMode::None && plan.column_mapping == ColumnMappingMode::None;
    if unmapped
        && same_files(&plan.schema, &theirs.schema)
        && plan.partition_columns == theirs.partition_columns
    {
        return Ok(Ok(theirs));
    }
    let lost = Conflict {
        path,
        version: 0,
        winner: None,
        files: Vec::new(),
        predicate: None,
        rule: ConflictRule::TableCreated,
        level: None,
        reason: "it created the table with other columns than these files have; repeat the write".into(),
        advice: "repeat the write",
        transaction: None,
    };
    Err(Error::lost(ConflictKind::MetadataChanged, lost))
}

/// Whether files of one schema can be files of the other: same names, order and types, and no column that may be null
/// only in the first.
fn same_files(ours: &StructType, theirs: &StructType) -> bool {
    let types =
        |s: &StructType| s.fields.iter().map(|f| (f.name.clone(), f.data_type.clone())).collect::<Vec<_>>();
    types(ours) == types(theirs)
        && ours.fields.iter().zip(&theirs.fields).all(|(o, t)| t.nullable || !o.nullable)
}

/// What the history shows of a write, except metrics.
pub(crate) fn operation(plan: &WritePlan, options: &WriteOptions) -> Operation {
    if let Some(defines) = &options.defines {
        let name = match defines.mode {
            DefineMode::Create | DefineMode::CreateIfNotExists => OperationName::CreateTableAsSelect,
            DefineMode::Replace => OperationName::ReplaceTableAsSelect,
            DefineMode::CreateOrReplace => OperationName::CreateOrReplaceTableAsSelect,
        };
        let operation = TableSpec::of(plan.schema.clone(), options, defines).operation(name, &plan.metadata);
        return match defines.write_mode() {
            WriteMode::Overwrite => with_schema_switches(operation, options),
            _ => operation,
        };
    }
    if let (true, Some((query, batch))) = (options.streams, &options.app_transaction) {
        let complete = options.mode == WriteMode::Overwrite;
        return Operation::new(OperationName::StreamingUpdate)
            .with("outputMode", if complete { "Complete" } else { "Append" })
            .with("queryId", query.as_str())
            .with("epochId", batch.to_string());
    }
    // rows that are replaced by a condition leave the rest of the table as it is
    let whole = options.shown.is_empty() && options.replace_where.is_none();
    let mut operation = match options.saved_as_table {
        Some(managed) if whole => saved_as_table(plan, managed),
        _ => Operation::new(OperationName::Write)
            .with("mode", options.mode.name())
            .with_encoded("partitionBy", options.partition_by.clone()),
    };
    if let Some(predicate) = &options.replace_where {
        operation = operation.with("predicate", predicate.as_str());
    }
    for (name, value) in &options.shown {
        operation = operation.with(name, value.as_str());
    }
    if options.dynamic_partitions {
        operation = operation.with_json("isDynamicPartitionOverwrite", true);
    }
    with_schema_switches(operation, options)
}

fn with_schema_switches(operation: Operation, options: &WriteOptions) -> Operation {
    let switches =
        [("canOverwriteSchema", options.overwrite_schema), ("canMergeSchema", options.merge_schema)];
    let on = switches.into_iter().filter(|(_, on)| *on);
    on.fold(operation, |operation, (name, _)| operation.with_json(name, true))
}

/// The metrics of delta-spark: what was copied is in the output, too, and a file of which rows are marked as deleted counts
/// as one that was copied. Rows are not counted where some of them cannot be.
fn measure(txn: &mut Transaction, result: &WriteResult, replaced: &Replaced, options: &WriteOptions) {
    if options.streams {
        txn.operation_mut().set_metrics([
            ("numAddedFiles", result.files),
            ("numRemovedFiles", replaced.files),
            ("numOutputRows", result.rows),
            ("numOutputBytes", result.bytes),
        ]);
        return;
    }
    let removed = replaced.rows.as_ref().map(|rows| rows.removed).unwrap_or_default();
    let mut metrics = vec![
        ("numFiles", result.files + removed.added_files + removed.vectors_added),
        (
            "numOutputBytes",
            result.bytes.saturating_add(removed.added_bytes).saturating_add(removed.kept_bytes),
        ),
    ];
    if options.mode == WriteMode::Overwrite {
        metrics.extend([("numRemovedFiles", replaced.files), ("numRemovedBytes", replaced.bytes)]);
    }
    let copied = removed.copied_rows + removed.kept_rows;
    let rows = result.rows + copied;
    if let Some(replaced_rows) = &replaced.rows {
        metrics.push(("numAddedChangeFiles", replaced_rows.change_files));
        if rows > 0 {
            metrics.push(("numOutputRows", rows));
            match removed.deleted_rows {
                Some(0) | None if replaced.files > 0 => {}
                deleted => {
                    metrics.extend([("numDeletedRows", deleted.unwrap_or(0)), ("numCopiedRows", copied)])
                }
            }
        }
    } else {
        metrics.push(("numOutputRows", rows));
    }
    txn.operation_mut().set_metrics(metrics);
}

/// An overwrite by `saveAsTable`: shown as a definition, although the definition of the table does not change.
fn saved_as_table(plan: &WritePlan, managed: bool) -> Operation {
    let cluster_by = plan.snapshot().and_then(|snapshot| clustering_columns(snapshot).ok());
    let (mode, cluster_by) = (DefineMode::CreateOrReplace, cluster_by.unwrap_or_default());
    let defines = Defines { mode, cluster_by, managed };
    let description = plan.metadata.description.clone();
    let options = WriteOptions { description, ..WriteOptions::default() };
    TableSpec::of(plan.schema.clone(), &options, &defines)
        .operation(OperationName::CreateOrReplaceTableAsSelect, &plan.metadata)
        .with_json("isV1SaveAsTableOverwrite", true)
}
