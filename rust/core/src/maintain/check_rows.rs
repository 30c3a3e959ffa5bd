//! Rows that are there against a rule that is to come.

use arrow::array::{Array, RecordBatch};
use arrow::util::display::array_value_to_string;

use crate::error::{Error, Result};
use crate::expr::Evaluator;
use crate::scan::{ReadRequest, read};
use crate::schema::StructType;
use crate::snapshot::Snapshot;

/// Refuses an expression that is not true for every row of the table; null is not true.
///
/// # Errors
/// [`Error::InvariantViolation`] with the first such row; [`Error::InvalidExpression`] for what cannot be evaluated.
///
/// # Cost
/// The columns of the expression, in all rows.
pub(super) fn check_rows(snapshot: &Snapshot, name: &str, expression: &str) -> Result<()> {
    let schema = snapshot.schema();
    let whole = Evaluator::condition(expression, schema)?;
    // an expression without columns needs the number of rows all the same
    let read_columns = match whole.columns() {
        [] => (0..schema.fields.len()).collect(),
        columns => columns.to_vec(),
    };
    let fields: Vec<_> = read_columns.iter().filter_map(|at| schema.fields.get(*at).cloned()).collect();
    let columns = Some(fields.iter().map(|f| f.name.clone()).collect());
    let condition = Evaluator::condition(expression, &StructType { fields })?;
    for batch in read(snapshot, ReadRequest { columns, ..Default::default() })? {
        let batch = batch?;
        let truth = condition.truth(&batch)?;
        if let Some(row) = (0..truth.len()).find(|row| truth.is_null(*row) || !truth.value(*row)) {
            return Err(Error::InvariantViolation {
                path: snapshot.location().root().to_string(),
                rule: format!("CHECK constraint {name}"),
                expression: expression.to_owned(),
                row: shown(&batch, row),
            });
        }
    }
    Ok(())
}

fn shown(batch: &RecordBatch, row: usize) -> String {
    let schema = batch.schema();
    let values = schema.fields().iter().zip(batch.columns()).filter_map(|(field, column)| {
        let value = match column.is_null(row) {
            true => "NULL".to_owned(),
            false => array_value_to_string(column, row).ok()?,
        };
        Some(format!("{} = {value}", field.name()))
    });
    values.collect::<Vec<_>>().join(", ")
}
