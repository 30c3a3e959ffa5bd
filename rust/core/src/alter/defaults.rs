//! Default values of columns (PROTOCOL.md, "Default Columns").

use super::Definition;
use super::paths::refuse;
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::schema::{
    CURRENT_DEFAULT, DataType, FIELD_ID, GENERATION_EXPRESSION, IDENTITY_START, StructField,
};

/// Checks the defaults of a table: the columns may have one, and for one that `old` did not have the table has the
/// feature. A table that delta-spark makes of a DataFrame has defaults without it, and keeps them.
///
/// # Errors
/// [`Error::InvalidColumnChange`] for a column that is generated, of identities or a variant;
/// [`Error::InvalidFeatureChange`] where the table does not have the feature allowColumnDefaults.
pub(super) fn check(old: Option<&Definition>, new: &Definition) -> Result<()> {
    for field in with_default(new) {
        if old.is_some_and(|old| !with_default(old).any(|before| is_kept(before, field))) {
            check_feature(new, field)?;
        }
        let path = [field.name.clone()];
        let null =
            field.metadata[CURRENT_DEFAULT].as_str().is_some_and(|v| v.trim().eq_ignore_ascii_case("null"));
        if field.data_type.any(&|t| *t == DataType::Variant) && !null {
            return Err(refuse(&path, "the default of a variant is null"));
        }
        for key in [GENERATION_EXPRESSION, IDENTITY_START] {
            if field.metadata.contains_key(key) {
                return Err(refuse(
                    &path,
                    format!("it has `{key}`; a column can have only one source of its values"),
                ));
            }
        }
    }
    Ok(())
}

/// Checks that a table whose definition has defaults has the feature.
///
/// # Errors
/// [`Error::InvalidFeatureChange`].
pub(crate) fn check_defaults_supported(new: &Definition) -> Result<()> {
    with_default(new).try_for_each(|field| check_feature(new, field))
}

fn with_default(table: &Definition) -> impl Iterator<Item = &StructField> {
    table.schema.fields.iter().filter(|f| f.metadata.contains_key(CURRENT_DEFAULT))
}

/// Whether a column has the default that it had, also under another name.
fn is_kept(before: &StructField, now: &StructField) -> bool {
    let value = |field: &StructField, key: &str| field.metadata.get(key).cloned();
    let id = value(now, FIELD_ID);
    let same = before.name.eq_ignore_ascii_case(&now.name) || id.is_some() && value(before, FIELD_ID) == id;
    same && value(before, CURRENT_DEFAULT) == value(now, CURRENT_DEFAULT)
}

fn check_feature(table: &Definition, field: &StructField) -> Result<()> {
    if table.protocol.supports(TableFeature::AllowColumnDefaults) {
        return Ok(());
    }
    Err(Error::InvalidFeatureChange {
        feature: TableFeature::AllowColumnDefaults.into(),
        reason: format!(
            "the default of column `{}` needs it: set `delta.feature.allowColumnDefaults` = `supported`",
            field.name
        ),
    }
    .of_condition(&condition::WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED))
}
