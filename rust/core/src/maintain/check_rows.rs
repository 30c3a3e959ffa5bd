//! Checks existing rows against a new rule.

use crate::error::{Error, Result, condition};
use crate::expr::Evaluator;
use crate::scan::{ReadRequest, read};
use crate::schema::StructType;
use crate::snapshot::Snapshot;
use crate::write::failing_row::{first_not_true, first_shown};
use crate::write::rules::condition_of;

/// Refuses an expression that is not true for every row of the table; null is not true.
///
/// # Errors
/// [`Error::InvariantViolation`] with the first such row; [`Error::InvalidExpression`] for what cannot be evaluated.
///
/// # Cost
/// The columns of the expression, in all rows.
pub(super) fn check_rows(snapshot: &Snapshot, name: &str, expression: &str) -> Result<()> {
    let schema = snapshot.schema();
    let whole = condition_of(name, expression, schema)?;
    // an expression without columns needs the number of rows all the same
    let read_columns = match whole.columns() {
        [] => (0..schema.fields.len()).collect(),
        columns => columns.to_vec(),
    };
    let fields: Vec<_> = read_columns.iter().filter_map(|at| schema.fields.get(*at).cloned()).collect();
    let columns = Some(fields.iter().map(|f| f.name.clone()).collect());
    let condition = Evaluator::condition(expression, &StructType { fields })?;
    for batch in read(snapshot, ReadRequest { columns, ..Default::default() })? {
        snapshot.location().cancel().check()?;
        let batch = batch?;
        if let Some(row) = first_not_true(&condition.truth(&batch)?) {
            return Err(Error::InvariantViolation {
                path: snapshot.location().root().to_string(),
                rule: format!("CHECK constraint {name}"),
                expression: expression.to_owned(),
                row: first_shown(&batch, row, usize::MAX),
            }
            .of_condition(&condition::NEW_CHECK_CONSTRAINT_VIOLATION));
        }
    }
    Ok(())
}
