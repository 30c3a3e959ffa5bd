//! Which rows a read keeps.

use arrow::array::{BooleanArray, RecordBatch};

use crate::error::{Error, Result};
use crate::expr::{Evaluator, implied, parse};
use crate::predicate::eval::filter_mask;
use crate::predicate::{ColumnPath, Predicate};
use crate::schema::{COLLATIONS, StructType};

/// The rows to keep: exactly those for which it is true.
#[derive(Debug, Clone)]
pub enum RowFilter {
    /// Comparisons of columns with values.
    Predicate(Predicate),
    /// A condition in Spark SQL, as [`Evaluator`] computes it.
    Condition(String),
}

impl From<Predicate> for RowFilter {
    fn from(predicate: Predicate) -> Self {
        RowFilter::Predicate(predicate)
    }
}

impl RowFilter {
    /// A predicate that is true wherever this is, on a table with this schema: what it cannot express is unknown. It prunes
    /// files, row groups and pages, and is the claim of what a transaction read.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for what is not a condition on this table.
    pub fn predicate(&self, schema: &StructType) -> Result<Predicate> {
        if let RowFilter::Condition(text) = self {
            Evaluator::condition(text, schema)?;
        }
        self.implied()
    }

    /// As [`RowFilter::predicate`], of one that a scan checks against its table.
    pub(super) fn implied(&self) -> Result<Predicate> {
        match self {
            RowFilter::Predicate(predicate) => Ok(predicate.clone()),
            RowFilter::Condition(text) => Ok(implied(&parse(text)?, text)),
        }
    }

    /// The columns and fields that it needs.
    pub(super) fn paths(&self, schema: &StructType) -> Result<Vec<ColumnPath>> {
        match self {
            RowFilter::Predicate(predicate) => {
                let mut paths = Vec::new();
                used(predicate, &mut paths)?;
                check_collations(schema, predicate)?;
                Ok(paths.into_iter().cloned().collect())
            }
            RowFilter::Condition(text) => {
                let columns = Evaluator::condition(text, schema)?;
                let fields = columns.columns().iter().filter_map(|at| schema.fields.get(*at));
                Ok(fields.map(|field| vec![field.name.clone()]).collect())
            }
        }
    }

    /// For batches that begin with these columns, with all that the filter needs.
    pub(super) fn bind(self, read: &StructType) -> Result<BoundFilter> {
        Ok(match self {
            RowFilter::Predicate(predicate) => BoundFilter::Predicate(predicate),
            RowFilter::Condition(text) => BoundFilter::Condition(Evaluator::condition(&text, read)?),
        })
    }
}

/// A filter of batches that have the columns of a read.
#[derive(Debug)]
pub(super) enum BoundFilter {
    Predicate(Predicate),
    Condition(Evaluator),
}

impl BoundFilter {
    /// The truth of each row.
    pub(super) fn mask(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        match self {
            BoundFilter::Predicate(predicate) => filter_mask(predicate, batch),
            BoundFilter::Condition(condition) => condition.truth(batch),
        }
    }
}

/// The columns that a predicate uses.
fn used<'a>(predicate: &'a Predicate, paths: &mut Vec<&'a ColumnPath>) -> Result<()> {
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().try_for_each(|p| used(p, paths))?,
        Predicate::Not(part) => used(part, paths)?,
        Predicate::Compare { column, .. }
        | Predicate::In { column, .. }
        | Predicate::IsNull { column }
        | Predicate::IsNotNull { column }
        | Predicate::StartsWith { column, .. } => paths.push(column),
        Predicate::Constant(_) => {}
        Predicate::Unknown(text) => {
            return Err(Error::InvalidPredicate {
                predicate: text.clone(),
                reason: "rows cannot be filtered by it".into(),
            });
        }
    }
    Ok(())
}

/// Text with a collation does not compare by its bytes, as rows do here: only whether it is null can be asked.
fn check_collations(schema: &StructType, predicate: &Predicate) -> Result<()> {
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => {
            parts.iter().try_for_each(|p| check_collations(schema, p))
        }
        Predicate::Not(part) => check_collations(schema, part),
        Predicate::Compare { column, .. }
        | Predicate::In { column, .. }
        | Predicate::StartsWith { column, .. } => match schema.field_at(column) {
            Some(field) if field.metadata.contains_key(COLLATIONS) => Err(Error::InvalidPredicate {
                predicate: predicate.to_string(),
                reason: format!("`{}` has a collation: filter its rows with Spark", column.join(".")),
            }),
            _ => Ok(()),
        },
        Predicate::IsNull { .. }
        | Predicate::IsNotNull { .. }
        | Predicate::Constant(_)
        | Predicate::Unknown(_) => Ok(()),
    }
}
