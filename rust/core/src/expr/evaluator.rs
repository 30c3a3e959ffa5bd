use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};

use super::ast::Expr;
use super::bind::bind;
use super::bound::Bound;
use super::cast::{cast_to, is_known};
use super::coerce::{common, is_atomic};
use super::eval::Batch;
use super::parse::parse;
use crate::error::{Error, Result, condition};
use crate::schema::{DataType, StructType};

/// An expression over the columns of a table, with names resolved and types known. Its result is that of Spark with
/// either setting of `spark.sql.ansi.enabled`, in the session time zone UTC; where the two settings differ, and for an
/// overflow, a cast that fails or a division by zero, it gives an error.
#[derive(Debug, Clone)]
pub struct Evaluator {
    text: String,
    bound: Arc<Bound>,
    columns: Vec<usize>,
}

impl Evaluator {
    /// From SQL text.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] when it cannot be parsed, names an unknown column or function, or has types that do
    /// not go together.
    pub fn new(text: &str, schema: &StructType) -> Result<Self> {
        Self::of(text, &parse(text)?, schema)
    }

    /// As [`Evaluator::new`], for text that is a condition.
    ///
    /// # Errors
    /// As [`Evaluator::new`], and when the result is no boolean.
    pub fn condition(text: &str, schema: &StructType) -> Result<Self> {
        let evaluator = Self::new(text, schema)?;
        match evaluator.data_type() {
            DataType::Boolean | DataType::Void => Ok(evaluator),
            other => {
                let said = [("filter", text.to_owned()), ("type", other.name().to_uppercase())];
                let error = evaluator.invalid(format!("it gives {}, not boolean", other.name()));
                Err(error.named(&condition::DATATYPE_MISMATCH_FILTER_NOT_BOOLEAN, said))
            }
        }
    }

    /// From a parsed expression; `text` is what errors call it.
    ///
    /// # Errors
    /// As [`Evaluator::new`].
    pub fn of(text: &str, expr: &Expr, schema: &StructType) -> Result<Self> {
        let bound = bind(expr, schema).map_err(|reason| unbound(expr, schema, text, reason))?;
        let mut columns = Vec::new();
        bound.columns(&mut columns);
        columns.sort_unstable();
        columns.dedup();
        Ok(Evaluator { text: text.to_owned(), bound: Arc::new(bound), columns })
    }

    /// The type in which its values are compared with those of another, where both have it by every setting of Spark.
    pub(crate) fn compared_as(&self, other: &Evaluator) -> Option<DataType> {
        common(self.data_type(), other.data_type()).filter(is_atomic)
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Type of the result.
    pub fn data_type(&self) -> &DataType {
        &self.bound.data_type
    }

    /// Places of the columns of the schema that it reads, in order.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The value for each row. The columns of the batch are those of the schema, in its order and types; names do not
    /// matter, and only those in [`Evaluator::columns`] are read.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a value that it cannot be computed for.
    pub fn evaluate(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        let mut places = vec![None; batch.num_columns()];
        let mut columns = Vec::with_capacity(self.columns.len());
        for place in &self.columns {
            let column = batch.columns().get(*place).ok_or_else(|| {
                self.invalid(format!(
                    "the batch has {} columns, and the expression reads one more",
                    batch.num_columns()
                ))
            })?;
            places[*place] = Some(columns.len());
            columns.push(column.clone());
        }
        let batch = Batch { columns, places: Arc::from(places), rows: batch.num_rows() };
        self.bound.evaluate(&batch).map_err(|reason| self.invalid(reason))
    }

    /// As [`Evaluator::evaluate`], cast to a type as an assignment does it: a value that does not fit is an error.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn evaluate_as(&self, batch: &RecordBatch, to: &DataType) -> Result<ArrayRef> {
        let values = self.evaluate(batch)?;
        cast_to(&values, self.data_type(), to, false).map_err(|reason| self.invalid(reason))
    }

    /// Checks that the result can be cast to the type of a column.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] when there is no such cast.
    pub fn check_assignable(&self, to: &DataType) -> Result<()> {
        match is_known(self.data_type(), to) {
            true => Ok(()),
            false => Err(self.invalid(format!("it gives {}, not {}", self.data_type().name(), to.name()))),
        }
    }

    /// The truth of each row; null is unknown.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`], and when the result is no boolean.
    pub fn truth(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let values = self.evaluate(batch)?;
        match values.as_boolean_opt() {
            Some(truth) => Ok(truth.clone()),
            None if *self.data_type() == DataType::Void => Ok(BooleanArray::new_null(values.len())),
            None => Err(self.invalid(format!("it gives {}, not boolean", self.data_type().name()))),
        }
    }

    fn invalid(&self, reason: String) -> Error {
        Error::InvalidExpression { expression: self.text.clone(), reason }
    }
}

/// The error of an expression that does not go with a schema.
pub(super) fn unbound(expr: &Expr, schema: &StructType, text: &str, reason: String) -> Error {
    let error = Error::InvalidExpression { expression: text.to_owned(), reason };
    match unknown_column(expr, schema) {
        None => error,
        Some(name) => {
            let names: Vec<_> = schema.fields.iter().map(|f| format!("`{}`", f.name)).collect();
            let parameters = [("objectName", format!("`{name}`")), ("proposal", names.join(", "))];
            error.named(&condition::UNRESOLVED_COLUMN_WITH_SUGGESTION, parameters)
        }
    }
}

/// The first column that an expression names and the schema lacks.
fn unknown_column<'a>(expr: &'a Expr, schema: &StructType) -> Option<&'a str> {
    let mut found = None;
    expr.visit(&mut |part| {
        if let Expr::Column(parts) = part
            && let Some(name) = parts.first()
            && !schema.fields.iter().any(|f| f.name.to_lowercase() == name.to_lowercase())
        {
            found = found.or(Some(name.as_str()));
        }
    });
    found
}
