//! What an overwrite takes away, and which rows it may bring.

use std::collections::BTreeSet;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};

use super::fit::{fit_batch, physical_schema};
use super::mode::{WriteMode, WriteOptions};
use super::offender::shown;
use super::partition_value::partition_text;
use super::plan::WritePlan;
use super::rules::Rules;
use super::split::PartitionKey;
use super::text_limits::limit_batch;
use crate::actions::{Add, PartitionValues};
use crate::condition;
use crate::dml::{Attempt, Condition, Removed, inserted, remove_rows};
use crate::error::{Error, Result};
use crate::expr::{has_subquery, parse};
use crate::predicate::{CompareOp, Literal, Predicate};
use crate::scan::partition;
use crate::schema::ColumnMappingMode;
use crate::snapshot::Snapshot;
use crate::txn::Transaction;

/// Checks the options of an overwrite. Nothing is read.
///
/// # Errors
/// [`Error::InvalidArgument`] for options that contradict each other or belong to another mode,
/// [`Error::InvalidExpression`] for what is no condition on this table.
pub(super) fn check_options(plan: &WritePlan, options: &WriteOptions) -> Result<()> {
    let invalid = |argument: &str, reason: &str| {
        Err(Error::InvalidArgument { argument: argument.to_owned(), reason: reason.to_owned() })
    };
    let Some(text) = options.replace_where.as_deref() else {
        if options.dynamic_partitions && options.mode != WriteMode::Overwrite {
            return invalid("partition_overwrite", "`dynamic` goes with the mode overwrite only");
        }
        return Ok(());
    };
    if options.mode != WriteMode::Overwrite {
        return invalid("replace_where", "goes with the mode overwrite only");
    }
    if options.dynamic_partitions {
        return invalid(
            "replace_where",
            "and dynamic partition overwrite say two different things; give one",
        )
        .map_err(|error| error.of_condition(&condition::REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE));
    }
    let condition = Condition::new(Some(text), plan).map_err(|error| match parse(text) {
        Ok(_) => error,
        Err(_) if has_subquery(text) => {
            let said = [("operation", "DELETE"), ("cond", text)];
            error.named(&condition::UNSUPPORTED_SUBQUERY, said)
        }
        Err(_) => error.named(&condition::FAILED_RECOGNIZE_PREDICATE, [("predicate", text)]),
    })?;
    if !options.data_change && condition.other_column().is_some() {
        // rows that leave with rows that stay are written again, and readers of changes would take both for the same
        return invalid(
            "replace_where",
            "is on data columns, and `dataChange` is false: rows would change in silence",
        )
        .map_err(|error| {
            error.named(&condition::REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET, [("dataFilters", text)])
        });
    }
    Ok(())
}

/// Refuses rows that the condition of the overwrite would not take away again: `given` as they came, `fitted` as they
/// are written.
///
/// # Errors
/// [`Error::ReplaceWhereMismatch`] with the first such row, [`Error::InvalidExpression`] for one that the condition cannot
/// be computed for.
pub(super) fn check_rows(
    plan: &WritePlan,
    condition: &Condition<'_>,
    given: &RecordBatch,
    fitted: &RecordBatch,
    rules: &Rules,
) -> Result<()> {
    let path = plan.location.root().to_string();
    // the condition has the names of the table, a fitted batch those of the files
    let named = match plan.column_mapping {
        ColumnMappingMode::None => fitted.clone(),
        _ => {
            let names = physical_schema(rules.incomplete(), ColumnMappingMode::None);
            let batch = fit_batch(&path, given, rules.incomplete(), &names)?;
            let batch = limit_batch(&path, batch, &plan.schema, &plan.text_limits)?;
            let mut columns = batch.columns().to_vec();
            for place in rules.computed() {
                columns[place] = fitted.column(place).clone();
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

/// What leaves the table, and what was written for that.
#[derive(Default)]
pub(super) struct Replaced {
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// Where only the rows of a condition leave.
    pub(super) rows: Option<ReplacedRows>,
}

/// Rows that left, and the files that were written for that.
pub(super) struct ReplacedRows {
    pub(super) removed: Removed,
    pub(super) change_files: u64,
    pub(super) attempt: Attempt,
}

/// Stages the removal of what an overwrite replaces, and claims what it read for that. `adds` are the new files. Nothing
/// happens in other modes and where the transaction makes the table.
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
    let Some(snapshot) = txn.snapshot().cloned() else { return Ok(replaced) };
    if options.mode != WriteMode::Overwrite {
        return Ok(replaced);
    }
    let files = if let Some(condition) = &options.replace_where {
        return replace_rows(txn, &snapshot, plan, condition, adds, options);
    } else if options.dynamic_partitions && !plan.partition_columns.is_empty() {
        let partitions = adds.iter().map(|a| canonical(plan, &a.partition_values));
        let partitions: BTreeSet<Vec<Option<String>>> = partitions.collect::<Result<_>>()?;
        let predicate = rows_of_partitions(plan, &partitions);
        txn.read_predicate(&predicate)?;
        let mut files = Vec::new();
        for add in snapshot.adds(Some(&predicate))? {
            if partitions.contains(&canonical(plan, &add.partition_values)?) {
                files.push(add);
            }
        }
        files
    } else {
        txn.read_whole_table();
        snapshot.adds(None)?
    };
    for add in files {
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
    let attempt = Attempt::new(plan.clone(), options.clone());
    let removed = remove_rows(&attempt, snapshot, txn, &Condition::new(Some(condition), plan)?)?;
    txn.set_row_ids_preserved(true);
    let mut change_files = removed.change_files;
    // readers tell changes from files and vectors, or they read all of them from files of changes
    if change_files > 0 {
        let inserts = inserted(&attempt, adds)?;
        change_files += inserts.len() as u64;
        inserts.into_iter().for_each(|cdc| txn.cdc(cdc));
    }
    let (files, bytes) = (removed.removed_files, removed.removed_bytes);
    Ok(Replaced { files, bytes, rows: Some(ReplacedRows { removed, change_files, attempt }) })
}

fn typed<'p>(plan: &'p WritePlan, values: &PartitionValues) -> Result<Vec<(&'p str, ArrayRef)>> {
    let names = plan.partition_columns.iter().zip(&plan.physical_partition_columns);
    names
        .filter_map(|(name, physical)| Some((name, physical, plan.schema.field(name)?)))
        .map(|(name, physical, field)| {
            let text = values.get(physical).and_then(Option::as_deref);
            Ok((name.as_str(), partition::parse(name, text, &field.data_type)?))
        })
        .collect()
}

/// Partition values in one spelling, in the order of the partition columns: writers differ in that of times and numbers.
pub(crate) fn canonical(plan: &WritePlan, values: &PartitionValues) -> Result<Vec<Option<String>>> {
    Ok(partition_key(plan, values)?.into_iter().map(|text| text.map(|t| t.log)).collect())
}

/// What the files of a partition are told by.
pub(super) fn partition_key(plan: &WritePlan, values: &PartitionValues) -> Result<PartitionKey> {
    typed(plan, values)?
        .into_iter()
        .map(|(name, array)| match plan.schema.field(name) {
            Some(field) => partition_text(&array, 0, &field.data_type, name),
            None => Ok(None),
        })
        .collect()
}

/// The rows of these partitions.
pub(crate) fn rows_of_partitions(plan: &WritePlan, partitions: &BTreeSet<Vec<Option<String>>>) -> Predicate {
    let is = |(name, value): (&String, &Option<String>)| match value {
        None => Predicate::IsNull { column: vec![name.clone()] },
        Some(text) => Predicate::Compare {
            op: CompareOp::Eq,
            column: vec![name.clone()],
            value: Literal::String(text.clone()),
        },
    };
    let one = |values: &Vec<Option<String>>| {
        Predicate::And(plan.partition_columns.iter().zip(values).map(is).collect())
    };
    Predicate::Or(partitions.iter().map(one).collect())
}
