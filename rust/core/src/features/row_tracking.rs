//! Row tracking (PROTOCOL.md, "Row Tracking"): whether files get row ids, and the highest one that the log records.

use serde::{Deserialize, Serialize};

use super::TableFeature;
use crate::actions::{DomainMetadata, Metadata, Protocol};
use crate::error::{Error, Result};
use crate::properties::TableProperty;

/// The metadata domain of the highest row id.
pub(crate) const ROW_TRACKING_DOMAIN: &str = "delta.rowTracking";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HighWaterMark {
    pub(crate) row_id_high_water_mark: i64,
}

/// Whether every file that is added to the table gets row ids.
pub(crate) fn assigns_row_ids(protocol: &Protocol, metadata: &Metadata) -> bool {
    protocol.supports(TableFeature::RowTracking) && !metadata.is_true(TableProperty::RowTrackingSuspended)
}

/// The highest row id that a domain records; nothing for other domains and for a tombstone.
///
/// # Errors
/// [`Error::LogCorrupt`] when it cannot be read: ids would be given twice.
pub(crate) fn high_water_mark(path: &str, domain: &DomainMetadata) -> Result<Option<i64>> {
    if domain.domain != ROW_TRACKING_DOMAIN || domain.removed {
        return Ok(None);
    }
    let mark: HighWaterMark = serde_json::from_str(&domain.configuration).map_err(|e| {
        Error::corrupt(path, None, format!("the domain `{ROW_TRACKING_DOMAIN}` has no high-water mark: {e}"))
    })?;
    Ok(Some(mark.row_id_high_water_mark))
}
