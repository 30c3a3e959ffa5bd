//! What a reader asks for, resolved against the schema.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::predicate::{ColumnPath, Predicate};
use crate::schema::{COLLATIONS, DataType, StructField, StructType};
use crate::similar::did_you_mean;

/// Columns and rows to read.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// Columns by logical name, in the order wanted; `None` is all in the table's order. None at all gives batches
    /// that have a number of rows only.
    pub columns: Option<Vec<String>>,
    /// Rows to keep: exactly those for which it is true.
    pub predicate: Option<Predicate>,
    /// Whether each row also has its id and the version that it was last changed in, in the last two columns,
    /// [`ROW_ID`](super::ROW_ID) and [`ROW_COMMIT_VERSION`](super::ROW_COMMIT_VERSION). Only of a whole version.
    pub row_ids: bool,
    /// Most rows in a batch.
    pub batch_size: usize,
}

impl Default for ReadRequest {
    fn default() -> Self {
        ReadRequest { columns: None, predicate: None, row_ids: false, batch_size: 32 << 10 }
    }
}

/// The columns to read: the requested ones, whose number is returned, then those that only the predicate uses, cut
/// down to the fields that it uses.
pub(super) fn resolve(
    schema: &StructType,
    columns: Option<&[String]>,
    predicate: Option<&Predicate>,
) -> Result<(StructType, usize)> {
    let mut fields = match columns {
        None => schema.fields.clone(),
        Some(names) => names.iter().map(|name| requested(schema, name)).collect::<Result<Vec<_>>>()?,
    };
    let mut seen = BTreeSet::new();
    if let Some(twice) = fields.iter().find(|f| !seen.insert(f.name.as_str())) {
        return Err(Error::InvalidArgument {
            argument: "columns".into(),
            reason: format!("`{}` is requested twice", twice.name),
        });
    }
    let requested = fields.len();
    let mut paths = Vec::new();
    if let Some(predicate) = predicate {
        used(predicate, &mut paths)?;
        check_collations(schema, predicate)?;
    }
    let mut extra: Vec<(&StructField, Vec<&[String]>)> = Vec::new();
    for path in paths {
        let unknown = || Error::InvalidPredicate {
            predicate: path.join("."),
            reason: format!("no such column. The table has {}", listed(schema)),
        };
        let (first, rest) = path.split_first().ok_or_else(unknown)?;
        let field = schema.field(first).ok_or_else(unknown)?;
        if fields[..requested].iter().any(|f| f.name == field.name) {
            continue;
        }
        match extra.iter_mut().find(|(f, _)| f.name == field.name) {
            Some((_, rests)) => rests.push(rest),
            None => extra.push((field, vec![rest])),
        }
    }
    fields.extend(extra.into_iter().map(|(field, rests)| narrowed(field, &rests)));
    Ok((StructType { fields }, requested))
}

fn requested(schema: &StructType, name: &str) -> Result<StructField> {
    schema.field(name).cloned().ok_or_else(|| Error::InvalidArgument {
        argument: "columns".into(),
        reason: format!(
            "no column `{name}`{}. The table has {}",
            did_you_mean(name, schema.fields.iter().map(|f| &f.name)),
            listed(schema)
        ),
    })
}

fn listed(schema: &StructType) -> String {
    schema.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ")
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

/// The field with only what the paths lead to, where all of them lead into a struct.
fn narrowed(field: &StructField, paths: &[&[String]]) -> StructField {
    let DataType::Struct(inner) = &field.data_type else { return field.clone() };
    let mut kept: Vec<(&StructField, Vec<&[String]>)> = Vec::new();
    for path in paths {
        let Some((first, rest)) = path.split_first() else { return field.clone() };
        let Some(child) = inner.field(first) else { return field.clone() };
        match kept.iter_mut().find(|(f, _)| f.name == child.name) {
            Some((_, rests)) => rests.push(rest),
            None => kept.push((child, vec![rest])),
        }
    }
    let fields = kept.into_iter().map(|(child, rests)| narrowed(child, &rests)).collect();
    StructField { data_type: DataType::Struct(Box::new(StructType { fields })), ..field.clone() }
}
