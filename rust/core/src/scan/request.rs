//! What a reader asks for, resolved against the schema.

use std::collections::BTreeSet;

use super::row_filter::RowFilter;
use crate::error::{Error, Result};
use crate::schema::{DataType, StructField, StructType};
use crate::similar::did_you_mean;

/// Columns and rows to read.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// Columns by logical name, in the order wanted; `None` is all in the table's order. None at all gives batches
    /// that have a number of rows only.
    pub columns: Option<Vec<String>>,
    /// Rows to keep, instead of all.
    pub filter: Option<RowFilter>,
    /// Whether each row also has its id and the version that it was last changed in, in the last two columns,
    /// [`ROW_ID`](super::ROW_ID) and [`ROW_COMMIT_VERSION`](super::ROW_COMMIT_VERSION). Only of a whole version.
    pub row_ids: bool,
    /// Most rows in a batch.
    pub batch_size: usize,
}

impl Default for ReadRequest {
    fn default() -> Self {
        ReadRequest { columns: None, filter: None, row_ids: false, batch_size: 32 << 10 }
    }
}

/// The columns to read: the requested ones, whose number is returned, then those that only the filter uses, cut
/// down to the fields that a predicate uses.
pub(super) fn resolve(
    schema: &StructType,
    columns: Option<&[String]>,
    filter: Option<&RowFilter>,
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
    let paths = filter.map(|filter| filter.paths(schema)).transpose()?.unwrap_or_default();
    let mut extra: Vec<(&StructField, Vec<&[String]>)> = Vec::new();
    for path in &paths {
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
