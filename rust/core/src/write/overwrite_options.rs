//! The options of an overwrite.

use super::mode::{WriteMode, WriteOptions};
use super::plan::WritePlan;
use super::row_condition::RowCondition;
use crate::error::{Error, Result, condition};
use crate::expr::{has_subquery, parse};

/// Checks the options of an overwrite. Nothing is read.
///
/// # Errors
/// [`Error::InvalidArgument`] for options that contradict each other or belong to another mode,
/// [`Error::InvalidExpression`] for what is not a condition on this table.
pub(super) fn check_options(plan: &WritePlan, options: &WriteOptions) -> Result<()> {
    let invalid = |argument: &str, reason: &str| {
        Err(Error::InvalidArgument { argument: argument.to_owned(), reason: reason.to_owned() })
    };
    let Some(text) = options.replace_where.as_deref() else {
        if options.dynamic_partitions && options.mode != WriteMode::Overwrite {
            return invalid("partition_overwrite", "`dynamic` needs the mode overwrite");
        }
        return Ok(());
    };
    if options.mode != WriteMode::Overwrite {
        return invalid("replace_where", "needs the mode overwrite");
    }
    if options.dynamic_partitions && !plan.partition_columns.is_empty() {
        return invalid("replace_where", "and dynamic partition overwrite contradict each other; give one")
            .map_err(|error| error.of_condition(&condition::REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE));
    }
    if options.engine_replaces {
        return Ok(());
    }
    let condition = RowCondition::new(Some(text), plan).map_err(|error| match parse(text) {
        Ok(_) => error,
        Err(_) if has_subquery(text) => {
            let said = [("operation", "DELETE"), ("cond", text)];
            error.named(&condition::UNSUPPORTED_SUBQUERY, said)
        }
        Err(_) => error.named(&condition::FAILED_RECOGNIZE_PREDICATE, [("predicate", text)]),
    })?;
    if !options.data_change && condition.other_column().is_some() {
        // removed rows and remaining rows are rewritten together, and readers of changes could not distinguish them
        return invalid(
            "replace_where",
            "is on data columns, and `dataChange` is false: rows would change without being reported",
        )
        .map_err(|error| {
            error.named(&condition::REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET, [("dataFilters", text)])
        });
    }
    Ok(())
}
