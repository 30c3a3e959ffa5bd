//! Row tracking: the names under which row ids are kept in files (PROTOCOL.md, "Row Tracking").

use uuid::Uuid;

use super::Definition;
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::properties::TableProperty;

/// Property and prefix of the column of row ids, and of that of row commit versions.
pub(crate) const COLUMNS: [(TableProperty, &str); 2] = [
    (TableProperty::MaterializedRowIdColumn, "_row-id-col-"),
    (TableProperty::MaterializedRowCommitVersionColumn, "_row-commit-version-col-"),
];

/// Properties of which one may be true.
pub(super) const EITHER: [TableProperty; 2] =
    [TableProperty::EnableRowTracking, TableProperty::RowTrackingSuspended];

/// The error where both of [`EITHER`] are true, with its condition.
pub(super) fn both(error: Error) -> Error {
    let [on, suspended] = EITHER;
    let properties = [("property1", on.name()), ("property2", suspended.name())];
    error.named(&condition::ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION, properties)
}

/// Names the columns where the protocol has row tracking; a table keeps the names it has. Without row tracking they go.
pub(super) fn name_columns(old: Option<&Definition>, new: &mut Definition) {
    let supported = new.protocol.supports(TableFeature::RowTracking);
    for (property, prefix) in COLUMNS {
        if !supported {
            new.metadata.unset_property(property);
            continue;
        }
        let own = old.and_then(|old| old.property(property)).or_else(|| new.property(property));
        let name = own.map_or_else(|| format!("{prefix}{}", Uuid::new_v4()), str::to_owned);
        new.metadata.set_property(property, name);
    }
}

/// Whether a change turns row tracking on for a table that has files. An executor then commits in three steps: the
/// protocol with the feature (`delta.feature.rowTracking` = `supported`), row ids for all files (`dataChange` = false),
/// and only then the property.
pub fn needs_backfill(old: &Definition, new: &Definition) -> bool {
    !old.is_true(TableProperty::EnableRowTracking) && new.is_true(TableProperty::EnableRowTracking)
}

/// Checks that row tracking is on only where the protocol has it, that it is not suspended too, and that no column has a
/// name of its columns.
///
/// # Errors
/// [`Error::InvalidSchema`] that says which.
pub(super) fn check(table: &Definition) -> Result<()> {
    let [on, suspended] = EITHER;
    if table.is_true(on) && table.is_true(suspended) {
        return Err(both(Error::InvalidSchema { reason: "row tracking is on and suspended".into() }));
    }
    for (property, _) in COLUMNS {
        let Some(name) = table.property(property) else { continue };
        let mode = table.column_mapping();
        if let Some(field) =
            table.schema.fields.iter().find(|f| f.name == name || f.physical_name(mode) == name)
        {
            let reason = format!("column `{}` has the name that row tracking uses in files", field.name);
            let column = [("colName", field.name.as_str())];
            return Err(Error::InvalidSchema { reason }
                .named(&condition::ADDING_COLUMN_WITH_INTERNAL_NAME_FAILED, column));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::properties::{SetOptions, set_properties, unset_properties};
    use crate::alter::testing::table;
    use crate::schema::{DataType, StructField};

    #[test]
    fn the_columns_are_named_once() {
        let plain = table("a long", &[]);
        let on = [("delta.enableRowTracking".to_owned(), "true".to_owned())].into();
        let tracked = set_properties(&plain, &on, SetOptions::default()).unwrap();
        assert!(needs_backfill(&plain, &tracked) && !needs_backfill(&tracked, &tracked));
        assert!(tracked.protocol.supports(TableFeature::DomainMetadata));
        let name = tracked.property(COLUMNS[0].0).unwrap();
        assert!(name.starts_with("_row-id-col-"));
        let off = unset_properties(&tracked, &["delta.enableRowTracking".into()], false).unwrap();
        assert_eq!(off.property(COLUMNS[0].0), Some(name));
        let mut clash = tracked.clone();
        clash.schema.fields.push(StructField::new(name, DataType::Long, true));
        assert!(check(&clash).unwrap_err().to_string().contains("row tracking uses"));
    }
}
