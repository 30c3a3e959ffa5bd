//! Structs of the source that lack fields of those of the table.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StructArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{Field, Fields};

use crate::error::{Error, Result, condition};
use crate::expr::visible;
use crate::schema::{DataType, StructType};

/// Checks that no struct of the source lacks a field: without an evolving schema all must match.
///
/// # Errors
/// [`Error::SchemaMismatch`] for one that does.
pub(super) fn check_all_fields(path: &str, given: &DataType, wanted: &DataType) -> Result<()> {
    let (DataType::Struct(own), DataType::Struct(table)) = (given, wanted) else { return Ok(()) };
    if !has_more(table, own) {
        return Ok(());
    }
    let reason = format!("cannot cast {} to {}: all fields must match", given.name(), wanted.name());
    Err(Error::SchemaMismatch { path: path.to_owned(), reason }.named(
        &condition::UPDATE_SCHEMA_MISMATCH_EXPRESSION,
        [("fromCatalog", given.name()), ("toCatalog", wanted.name())],
    ))
}

/// Whether a struct, or one within it, has fields that the other has not.
fn has_more(table: &StructType, given: &StructType) -> bool {
    table.fields.iter().any(|field| match given.field(&field.name).map(|own| &own.data_type) {
        None => true,
        Some(DataType::Struct(own)) => match &field.data_type {
            DataType::Struct(table) => has_more(table, own),
            _ => false,
        },
        Some(_) => false,
    })
}

/// The new values of a column: fields that only the table has stay as they are, also where the new value is null.
///
/// # Errors
/// [`Error::Arrow`] for values of other types than these.
pub(super) fn keeping_fields(
    old: &ArrayRef,
    new: &ArrayRef,
    given: &DataType,
    wanted: &DataType,
) -> Result<ArrayRef> {
    let (DataType::Struct(own), DataType::Struct(table)) = (given, wanted) else { return Ok(new.clone()) };
    let (Some(before), Some(after)) = (old.as_struct_opt(), new.as_struct_opt()) else {
        return Ok(new.clone());
    };
    if !has_more(table, own) {
        return Ok(new.clone());
    }
    let mut children = Vec::with_capacity(table.fields.len());
    for (place, field) in table.fields.iter().enumerate() {
        let kept = field_of(before, place)?;
        let lower = field.name.to_lowercase();
        children.push(match own.fields.iter().position(|f| f.name.to_lowercase() == lower) {
            Some(at) => {
                keeping_fields(&kept, &field_of(after, at)?, &own.fields[at].data_type, &field.data_type)?
            }
            None => kept,
        });
    }
    let fields = table.fields.iter().zip(&children);
    let fields: Fields = fields.map(|(f, c)| Field::new(&f.name, c.data_type().clone(), true)).collect();
    let there = (0..new.len()).map(|row| before.is_valid(row) || after.is_valid(row));
    let nulls = NullBuffer::new(there.collect::<BooleanBuffer>());
    Ok(Arc::new(StructArray::try_new(fields, children, Some(nulls)).map_err(failed)?))
}

/// The values of a field, null where the struct is.
fn field_of(of: &StructArray, place: usize) -> Result<ArrayRef> {
    let child = of.columns().get(place).ok_or_else(|| Error::Internal {
        operation: "merge".into(),
        reason: "a struct has fewer fields than its type".into(),
    })?;
    visible(of, child).map_err(failed)
}

fn failed(error: arrow::error::ArrowError) -> Error {
    Error::arrow("the fields of a struct", error)
}
