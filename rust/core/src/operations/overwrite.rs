//! What an overwrite removes, and which rows it may write.

use std::collections::BTreeSet;

use arrow::array::{RecordBatch, RecordBatchOptions};

use crate::actions::Add;
use crate::dml::{DmlAttempt, Removed, inserted, remove_rows};
use crate::error::{Error, Result};
use crate::replay::FilesRequest;
use crate::schema::{ColumnMappingMode, limit_batch};
use crate::snapshot::Snapshot;
use crate::txn::Transaction;
use crate::write::failing_row::shown;
use crate::write::{
    RowCondition, Rules, WriteMode, WriteOptions, WritePlan, canonical, conform_batch, physical_schema,
    rows_of_partitions,
};

/// Refuses rows that the condition of the overwrite does not match: `given` as they came, `conformed` as they are
/// written.
///
/// # Errors
/// [`Error::ReplaceWhereMismatch`] with the first such row, [`Error::InvalidExpression`] for one that the condition cannot
/// be computed for.
pub(super) fn check_rows(
    plan: &WritePlan,
    condition: &RowCondition<'_>,
    given: &RecordBatch,
    conformed: &RecordBatch,
    rules: &Rules,
) -> Result<()> {
    let path = plan.location.root().to_string();
    // the condition has the names of the table, a conformed batch those of the files
    let named = match plan.column_mapping {
        ColumnMappingMode::None => conformed.clone(),
        _ => {
            let names = physical_schema(rules.incomplete(), ColumnMappingMode::None);
            let batch = conform_batch(&path, given, rules.incomplete(), &names)?;
            let batch = limit_batch(&path, batch, &plan.schema, &plan.text_limits)?;
            let mut columns = batch.columns().to_vec();
            for place in rules.computed() {
                columns[place] = conformed.column(place).clone();
            }
            let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            RecordBatch::try_new_with_options(names, columns, &rows)
                .map_err(|e| Error::arrow(format!("data for `{path}`"), e))?
        }
    };
    let Some((row, columns)) = condition.first_other(&named)? else { return Ok(()) };
    let values = columns.iter().filter_map(|at| {
        Some(format!("{} = {}", named.schema().field(*at).name(), shown(named.column(*at), row)?))
    });
    let row = values.collect::<Vec<_>>().join(", ");
    Err(Error::ReplaceWhereMismatch { path, predicate: condition.text().unwrap_or_default().to_owned(), row })
}

/// What is removed from the table, and what was written for that.
#[derive(Default)]
pub(super) struct Replaced {
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// If only the rows of a condition are removed.
    pub(super) rows: Option<ReplacedRows>,
}

/// Rows that left, and the files that were written for that.
pub(super) struct ReplacedRows {
    pub(super) removed: Removed,
    pub(super) change_files: u64,
    pub(super) attempt: DmlAttempt,
}

/// Stages the removal of what an overwrite replaces, and claims what it read for that. `adds` are the new files.
/// Nothing happens in other modes, or if the transaction creates the table.
///
/// # Errors
/// As [`remove_rows`], and as [`inserted`].
pub(super) fn stage(
    txn: &mut Transaction,
    plan: &WritePlan,
    adds: &[Add],
    options: &WriteOptions,
) -> Result<Replaced> {
    let mut replaced = Replaced::default();
    if options.mode != WriteMode::Overwrite {
        return Ok(replaced);
    }
    let Some(snapshot) = txn.snapshot().cloned() else {
        // an overwrite is no blind append, in delta-spark also where it makes the table
        txn.read_whole_table();
        return Ok(replaced);
    };
    if let Some(condition) = &options.replace_where {
        return replace_rows(txn, &snapshot, plan, condition, adds, options);
    }
    let (predicate, partitions) = if options.dynamic_partitions && !plan.partition_columns.is_empty() {
        let partitions = adds.iter().map(|a| canonical(plan, &a.partition_values));
        let partitions: BTreeSet<Vec<Option<String>>> = partitions.collect::<Result<_>>()?;
        let predicate = rows_of_partitions(plan, &partitions);
        txn.read_predicate(&predicate)?;
        (Some(predicate), Some(partitions))
    } else {
        txn.read_whole_table();
        (None, None)
    };
    for add in snapshot.each_add(FilesRequest::whole(predicate.as_ref()))? {
        let add = add?;
        if let Some(partitions) = &partitions
            && !partitions.contains(&canonical(plan, &add.partition_values)?)
        {
            continue;
        }
        replaced.files += 1;
        replaced.bytes = replaced.bytes.saturating_add(add.size.unsigned_abs());
        txn.remove_file(&add, options.data_change);
    }
    Ok(replaced)
}

/// Stages the removal of the rows of a condition as a delete does it.
fn replace_rows(
    txn: &mut Transaction,
    snapshot: &Snapshot,
    plan: &WritePlan,
    condition: &str,
    adds: &[Add],
    options: &WriteOptions,
) -> Result<Replaced> {
    let attempt = DmlAttempt::new(plan.clone(), options.clone());
    let removed = remove_rows(&attempt, snapshot, txn, &RowCondition::new(Some(condition), plan)?)?;
    txn.set_row_ids_preserved(true);
    let mut change_files = removed.change_files;
    // readers derive changes from files and vectors, or they read all of them from files of changes
    if change_files > 0 {
        let inserts = inserted(&attempt, adds)?;
        change_files += inserts.len() as u64;
        inserts.into_iter().for_each(|cdc| txn.cdc(cdc));
    }
    let (files, bytes) = (removed.removed_files, removed.removed_bytes);
    Ok(Replaced { files, bytes, rows: Some(ReplacedRows { removed, change_files, attempt }) })
}
