//! The new values of an update: each computed from the row as it was.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, StructArray, new_null_array};
use arrow::compute::{is_null, nullif};
use arrow::datatypes::{Field, Fields};

use super::nullable_rows::nullable_rows;
use crate::error::{Error, Result};
use crate::expr::{Evaluator, Expr, parse};
use crate::schema::{CURRENT_DEFAULT, DataType, StructField, StructType};
use crate::similar::did_you_mean;

/// What an update sets.
#[derive(Debug)]
pub(crate) struct Assignments {
    all: Vec<Assignment>,
}

#[derive(Debug)]
struct Assignment {
    /// Places of the column and, within it, of the field of each struct on the way.
    path: Vec<usize>,
    /// As it was written.
    target: String,
    data_type: DataType,
    value: Evaluator,
}

impl Assignments {
    /// From columns, or fields of structs, and SQL expressions; `DEFAULT` is the default of the column. Everything is
    /// parsed and bound.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no column at all, one that does not exist, lies in an array or map, or is set twice;
    /// [`Error::InvalidExpression`] for an expression that cannot be evaluated or does not give the type of its column.
    pub(crate) fn new(set: &[(String, String)], schema: &StructType) -> Result<Self> {
        if set.is_empty() {
            return Err(invalid("nothing is set: give columns and their values".into()));
        }
        Self::bound(set, schema, |text| Evaluator::new(text, schema))
    }

    /// The same with values that `bind` binds to rows of other columns.
    ///
    /// # Errors
    /// As [`Assignments::new`], and those of `bind`.
    pub(super) fn bound(
        set: &[(String, String)],
        schema: &StructType,
        bind: impl Fn(&str) -> Result<Evaluator>,
    ) -> Result<Self> {
        let mut all: Vec<Assignment> = Vec::with_capacity(set.len());
        for (target, text) in set {
            let (path, field) = resolve(target, schema)?;
            if let Some(other) = all.iter().find(|a| a.path.starts_with(&path) || path.starts_with(&a.path)) {
                return Err(invalid(format!("`{}` and `{target}` set the same value", other.target)));
            }
            let default = text.trim().eq_ignore_ascii_case("default") && path.len() == 1;
            let value = match default && schema.field(text.trim()).is_none() {
                true => {
                    let own = field.metadata.get(CURRENT_DEFAULT).and_then(|v| v.as_str());
                    Evaluator::new(own.unwrap_or("NULL"), &StructType::default())?
                }
                false => bind(text)?,
            };
            value.check_assignable(&field.data_type)?;
            let data_type = field.data_type.clone();
            all.push(Assignment { path, target: target.clone(), data_type, value });
        }
        Ok(Assignments { all })
    }

    /// Whether the column at this place, or a field of it, is set.
    pub(super) fn sets(&self, place: usize) -> bool {
        self.all.iter().any(|a| a.path.first() == Some(&place))
    }

    /// Whether the column at this place, or a field of it, stays as it is.
    pub(super) fn keeps(&self, place: usize) -> bool {
        !self.all.iter().any(|a| a.path == [place])
    }

    /// The rows with their new values.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a row that a value cannot be computed for, or whose value does not fit.
    pub(super) fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        self.apply_to(batch, batch)
    }

    /// The rows with their new values, which are computed from the same number of rows `from`.
    ///
    /// # Errors
    /// As [`Assignments::apply`].
    pub(super) fn apply_to(&self, batch: &RecordBatch, from: &RecordBatch) -> Result<RecordBatch> {
        let values = self.all.iter().map(|a| a.value.evaluate_as(from, &a.data_type));
        let values = values.collect::<Result<Vec<ArrayRef>>>()?;
        let mut columns = batch.columns().to_vec();
        for (assignment, value) in self.all.iter().zip(values) {
            let Some((first, rest)) = assignment.path.split_first() else { continue };
            columns[*first] = replaced(&columns[*first], rest, value)?;
        }
        let schema = batch.schema();
        let named = schema.fields().iter().map(|field| field.name().clone()).zip(columns);
        nullable_rows(named, batch.num_rows(), "the new values of rows")
    }
}

/// The column with another value at a path within it. A null struct becomes one of nulls and that value.
fn replaced(column: &ArrayRef, path: &[usize], value: ArrayRef) -> Result<ArrayRef> {
    let Some((first, rest)) = path.split_first() else { return Ok(value) };
    let failed = |e| Error::arrow("the new value of a field", e);
    let Some(outer) = column.as_struct_opt() else { return Ok(value) };
    let missing: BooleanArray = is_null(column).map_err(failed)?;
    let mut children = Vec::with_capacity(outer.num_columns());
    for (place, child) in outer.columns().iter().enumerate() {
        let child = match missing.true_count() {
            0 => child.clone(),
            all if all == missing.len() => new_null_array(child.data_type(), child.len()),
            _ => nullif(child, &missing).map_err(failed)?,
        };
        children.push(match place == *first {
            true => replaced(&child, rest, value.clone())?,
            false => child,
        });
    }
    let fields = outer.fields().iter().zip(&children);
    let fields: Fields = fields.map(|(f, c)| Field::new(f.name(), c.data_type().clone(), true)).collect();
    Ok(Arc::new(StructArray::try_new_with_length(fields, children, None, column.len()).map_err(failed)?))
}

/// The places on the way to a column or field, and its field.
fn resolve<'s>(target: &str, schema: &'s StructType) -> Result<(Vec<usize>, &'s StructField)> {
    let unknown = || {
        let columns: Vec<&str> = schema.fields.iter().map(|f| f.name.as_str()).collect();
        let like = did_you_mean(target, &columns);
        invalid(format!("no column `{target}`{like}. The table has {}", columns.join(", ")))
    };
    let parts = match schema.field(target) {
        Some(field) => vec![field.name.clone()],
        None => match parse(target) {
            Ok(Expr::Column(parts)) => parts,
            _ => return Err(unknown()),
        },
    };
    let mut level = schema;
    let mut path = Vec::with_capacity(parts.len());
    let mut parts = parts.iter().peekable();
    while let Some(part) = parts.next() {
        let field = level.field(part).ok_or_else(unknown)?;
        path.push(level.fields.iter().position(|f| f.name == field.name).ok_or_else(unknown)?);
        if parts.peek().is_none() {
            return Ok((path, field));
        }
        match &field.data_type {
            DataType::Struct(inner) => level = inner,
            DataType::Array(_) | DataType::Map(_) => {
                return Err(invalid(format!(
                    "`{target}` lies in {} `{}`: set the whole column",
                    field.data_type.name(),
                    field.name
                )));
            }
            _ => return Err(unknown()),
        }
    }
    Err(unknown())
}

fn invalid(reason: String) -> Error {
    Error::InvalidArgument { argument: "set".into(), reason }
}
