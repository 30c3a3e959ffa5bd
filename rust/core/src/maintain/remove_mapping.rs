//! Taking column mapping away by its property.

use super::alteration::{Alteration, altered};
use super::feature_steps::StepJob;
use crate::alter::drop_feature::unmapped;
use crate::error::Result;
use crate::properties::TableProperty;
use crate::schema::ColumnMappingMode;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::write::definition;

const MODE: TableProperty = TableProperty::ColumnMappingMode;

/// A table that has no column mapping any more.
pub(super) struct Unmapped {
    /// The newest version.
    pub(super) version: u64,
    /// The remaining alteration.
    pub(super) rest: Option<Alteration>,
}

/// Removes column mapping in one commit, if the alteration unsets it and the table has it. Otherwise does nothing.
///
/// # Errors
/// Before anything is written, as [`unmapped`], and the errors of the rest of the alteration; then as
/// [`StepJob::unmap`].
pub(super) fn remove_mapping(
    location: &Location,
    alteration: &Alteration,
    user_metadata: Option<&str>,
) -> Result<Option<Unmapped>> {
    let Some((mode, rest)) = without_mode(alteration) else { return Ok(None) };
    let snapshot = Snapshot::open(location.clone(), At::Latest)?;
    let table = definition(&snapshot)?;
    if table.column_mapping() == ColumnMappingMode::None {
        return Ok(None);
    }
    if let Some(rest) = &rest {
        altered(&table, rest)?;
    }
    let mut new = unmapped(&table)?;
    if let Some(mode) = mode {
        new.metadata.set_property(MODE, mode);
    }
    StepJob { snapshot: &snapshot, table: &table, user_metadata }.unmap(new)?;
    Ok(Some(Unmapped { version: Snapshot::open(location.clone(), At::Latest)?.version(), rest }))
}

/// The mode that stays as property of an alteration that takes column mapping away, and its rest.
fn without_mode(alteration: &Alteration) -> Option<(Option<&'static str>, Option<Alteration>)> {
    let is_mode = |key: &str| MODE.is(key);
    match alteration {
        Alteration::SetProperties { properties, options } => {
            let mode = properties.iter().find(|(key, _)| is_mode(key))?.1;
            if !mode.eq_ignore_ascii_case("none") {
                return None;
            }
            let mut properties = properties.clone();
            properties.retain(|key, _| !is_mode(key));
            let rest = (!properties.is_empty())
                .then_some(Alteration::SetProperties { properties, options: *options });
            Some((Some("none"), rest))
        }
        Alteration::UnsetProperties { keys, if_exists } => {
            let others: Vec<String> = keys.iter().filter(|key| !is_mode(key)).cloned().collect();
            let rest = (!others.is_empty())
                .then_some(Alteration::UnsetProperties { keys: others.clone(), if_exists: *if_exists });
            (others.len() < keys.len()).then_some((None, rest))
        }
        _ => None,
    }
}
