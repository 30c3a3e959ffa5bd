//! From the wanted definition to the committed one: ids, recorded type changes, protocol, kept properties, checks.

use super::change::Change;
use super::definition::Definition;
use super::protocol::{Asked, for_new_table, upgraded};
use super::validate::check;
use super::{column_mapping, iceberg_compat, row_tracking, widen};
use crate::error::Result;
use crate::schema::{StructField, renew_limits};

/// The definition that is committed, from that of the table and the one that is wanted. Where nothing is to be done, it is
/// the wanted one.
///
/// # Errors
/// * [`crate::Error::InvalidSchema`], [`crate::Error::InvalidColumnChange`] when the schema breaks a rule.
/// * [`crate::Error::InvalidFeatureChange`] when the protocol cannot have what the metadata uses.
pub fn finalize(
    old: Option<&Definition>,
    mut new: Definition,
    asked: &Asked,
    change: Change,
) -> Result<Definition> {
    iceberg_compat::complete(old, &mut new, change);
    column_mapping::assign(old, &mut new, change)?;
    if let (Some(old), Change::Alter) = (old, change) {
        widen::record(old, &mut new)?;
        let is_kept = |field: &StructField| {
            old.schema.fields.iter().any(|of| of.name == field.name && of.data_type == field.data_type)
        };
        new.schema
            .fields
            .iter_mut()
            .filter(|field| field.data_type.is_nested() && !is_kept(field))
            .for_each(renew_limits);
    }
    new.protocol = match old {
        None => for_new_table(asked, &new.metadata, &new.schema)?,
        Some(_) => upgraded(&new.protocol, asked, &new.metadata, &new.schema)?,
    };
    row_tracking::name_columns(old, &mut new);
    if old.is_none_or(|old| old.schema != new.schema) {
        new.metadata.schema_string = new.schema.to_json();
    }
    iceberg_compat::check_stays(old, &new)?;
    check(old, &new, change)?;
    Ok(new)
}
