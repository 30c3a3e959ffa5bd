//! The columns of both sides in one expression: each side is a struct by its name.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, NullArray, RecordBatch, RecordBatchOptions, StructArray};
use arrow::datatypes::{Field, Fields, Schema};

use super::clauses::MergeRequest;
use crate::error::{Error, Result, condition};
use crate::expr::{Evaluator, Expr, parse};
use crate::schema::{DataType, StructField, StructType};

/// Whose columns an expression may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Both,
    Target,
    Source,
}

/// Resolves the columns of expressions: `alias.column`, or `column` where one side has it.
#[derive(Debug)]
pub(super) struct Names<'a> {
    pub(super) request: &'a MergeRequest,
    pub(super) target: &'a StructType,
    pub(super) source: &'a StructType,
}

impl Names<'_> {
    /// The expression, every column with the name of its side before it. `clause` is what errors call its place.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for text that cannot be parsed and for a column that no side has, or both.
    pub(super) fn expression(&self, text: &str, scope: Scope, clause: &str) -> Result<Expr> {
        parse(text)?.renamed(&mut |parts| self.resolved(parts, scope, text, clause))
    }

    fn sides(&self, scope: Scope) -> Vec<(&String, &StructType)> {
        let mut sides = Vec::with_capacity(2);
        if scope != Scope::Source {
            sides.push((&self.request.target_alias, self.target));
        }
        if scope != Scope::Target {
            sides.push((&self.request.source_alias, self.source));
        }
        sides
    }

    fn resolved(&self, parts: &[String], scope: Scope, text: &str, clause: &str) -> Result<Vec<String>> {
        let sides = self.sides(scope);
        let qualified = sides.iter().filter_map(|(alias, columns)| match parts {
            [side, column, rest @ ..] if side.to_lowercase() == alias.to_lowercase() => {
                columns.field(column).map(|field| path(alias, field, rest))
            }
            _ => None,
        });
        let plain = sides.iter().filter_map(|(alias, columns)| match parts {
            [column, rest @ ..] => columns.field(column).map(|field| path(alias, field, rest)),
            [] => None,
        });
        let mut found: Vec<Vec<String>> = qualified.collect();
        if found.is_empty() {
            found = plain.collect();
        }
        let shown = parts.join(".");
        match (found.pop(), found.pop()) {
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => Err(Error::InvalidExpression {
                expression: text.to_owned(),
                reason: format!(
                    "both sides have `{shown}`: write `{}.{shown}` or `{}.{shown}`",
                    self.request.target_alias, self.request.source_alias
                ),
            }
            .named(&condition::MERGE_UNRESOLVED_EXPRESSION, self.facts(&shown, clause, &sides))),
            (None, _) => Err(Error::InvalidExpression {
                expression: text.to_owned(),
                reason: format!("no column `{shown}`. There are {}", listed(&sides)),
            }
            .named(&condition::MERGE_UNRESOLVED_EXPRESSION, self.facts(&shown, clause, &sides))),
        }
    }

    fn facts(
        &self,
        shown: &str,
        clause: &str,
        sides: &[(&String, &StructType)],
    ) -> [(&'static str, String); 3] {
        [("sqlExpr", shown.to_owned()), ("clause", clause.to_owned()), ("cols", listed(sides))]
    }
}

fn path(alias: &str, field: &StructField, rest: &[String]) -> Vec<String> {
    [alias, field.name.as_str()].into_iter().map(str::to_owned).chain(rest.iter().cloned()).collect()
}

fn listed(sides: &[(&String, &StructType)]) -> String {
    let all = sides.iter().flat_map(|(alias, columns)| {
        columns.fields.iter().map(move |field| format!("{alias}.{}", field.name))
    });
    all.collect::<Vec<_>>().join(", ")
}

/// The columns of one side that expressions read. All are resolved.
pub(super) fn columns_of<'e>(
    alias: &str,
    expressions: impl IntoIterator<Item = &'e Expr>,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for expression in expressions {
        expression.columns(&mut |parts| {
            if let [side, column, ..] = parts
                && side == alias
            {
                found.insert(column.clone());
            }
        });
    }
    found
}

/// Whether an expression reads columns of one side only.
pub(super) fn is_of(alias: &str, expression: &Expr) -> bool {
    let mut others = false;
    expression.columns(&mut |parts| others |= parts.first().is_none_or(|side| side != alias));
    !others
}

/// Rows of the table beside rows of the source, some columns of each.
#[derive(Debug, Clone)]
pub(super) struct Joined {
    /// A struct for each side.
    schema: StructType,
    pub(super) target: StructType,
    pub(super) source: StructType,
}

impl Joined {
    /// Of these columns.
    pub(super) fn new(request: &MergeRequest, target: StructType, source: StructType) -> Self {
        let side = |name: &String, columns: &StructType| {
            StructField::new(name, DataType::Struct(Box::new(columns.clone())), false)
        };
        let fields = vec![side(&request.target_alias, &target), side(&request.source_alias, &source)];
        Joined { schema: StructType { fields }, target, source }
    }

    /// Binds a resolved expression.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for one that cannot be evaluated.
    pub(super) fn bind(&self, text: &str, expression: &Expr) -> Result<Evaluator> {
        Evaluator::of(text, expression, &self.schema)
    }

    /// Binds a resolved condition.
    ///
    /// # Errors
    /// As [`Joined::bind`], and for what is no condition.
    pub(super) fn bind_condition(&self, text: &str, expression: &Expr) -> Result<Evaluator> {
        let evaluator = self.bind(text, expression)?;
        match evaluator.data_type() {
            DataType::Boolean | DataType::Void => Ok(evaluator),
            other => Err(Error::InvalidExpression {
                expression: text.to_owned(),
                reason: format!("it gives {}, not boolean", other.name()),
            }),
        }
    }

    /// The rows; a side that is not given is not read.
    ///
    /// # Errors
    /// [`Error::Arrow`] for columns of unequal lengths.
    pub(super) fn rows(
        &self,
        target: Option<&[ArrayRef]>,
        source: Option<&[ArrayRef]>,
        rows: usize,
    ) -> Result<RecordBatch> {
        let side = |columns: Option<&[ArrayRef]>, of: &StructType| -> Result<ArrayRef> {
            let Some(columns) = columns else { return Ok(Arc::new(NullArray::new(rows))) };
            let fields = of.fields.iter().zip(columns);
            let fields: Fields =
                fields.map(|(f, c)| Field::new(&f.name, c.data_type().clone(), true)).collect();
            let both = StructArray::try_new_with_length(fields, columns.to_vec(), None, rows);
            Ok(Arc::new(both.map_err(failed)?))
        };
        let columns = vec![side(target, &self.target)?, side(source, &self.source)?];
        let fields: Vec<Field> = self
            .schema
            .fields
            .iter()
            .zip(&columns)
            .map(|(f, c)| Field::new(&f.name, c.data_type().clone(), true))
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options).map_err(failed)
    }
}

fn failed(error: arrow::error::ArrowError) -> Error {
    Error::arrow("the rows of a merge", error)
}
