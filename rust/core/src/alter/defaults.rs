//! Default values of columns (PROTOCOL.md, "Default Columns").

use super::Definition;
use super::paths::refuse;
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::schema::{CURRENT_DEFAULT, DataType, GENERATION_EXPRESSION, IDENTITY_START, StructType};

/// Checks the defaults of a table: the table has the feature, and the columns may have one.
///
/// # Errors
/// [`Error::InvalidColumnChange`] for a column that is generated, of identities or a variant;
/// [`Error::InvalidFeatureChange`] where the table does not have the feature allowColumnDefaults.
pub(super) fn check(table: &Definition) -> Result<()> {
    let StructType { fields } = &table.schema;
    for field in fields.iter().filter(|f| f.metadata.contains_key(CURRENT_DEFAULT)) {
        let path = [field.name.clone()];
        if !table.protocol.supports(TableFeature::AllowColumnDefaults) {
            return Err(Error::InvalidFeatureChange {
                feature: TableFeature::AllowColumnDefaults.into(),
                reason: format!(
                    "the default of column `{}` needs it: set `delta.feature.allowColumnDefaults` = `supported`",
                    field.name
                ),
            }
            .of_condition(&condition::WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED));
        }
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
