//! Row ids and row commit versions (PROTOCOL.md, "Row Tracking").

use crate::actions::{Add, DomainMetadata};
use crate::error::{Error, Result};
use crate::features::{HighWaterMark, ROW_TRACKING_DOMAIN};
use crate::stats::num_records;

/// Gives row ids to the files that have none, starting after `highest`, and the version to those without a commit version.
/// The domain that records the new highest id, if any was given.
///
/// # Errors
/// [`Error::DataFile`] for a file whose number of rows is not known: its statistics have no `numRecords`.
pub(super) fn assign(adds: &mut [Add], version: u64, highest: Option<i64>) -> Result<Option<DomainMetadata>> {
    let used_up = |path: &str| Error::Unsupported {
        path: path.to_owned(),
        what: format!("a row id above {}, which its rows would get,", i64::MAX),
    };
    let mut next = highest.map_or(Some(0), |h| h.checked_add(1));
    let mut given = false;
    for add in adds {
        if add.base_row_id.is_none() {
            let rows = num_records(add).ok_or_else(|| Error::DataFile {
                path: add.path.as_str().to_owned(),
                reason: "row ids need the number of its rows: write `numRecords` into its statistics".into(),
            })?;
            let first = next.ok_or_else(|| used_up(add.path.as_str()))?;
            let behind = first.checked_add(rows).ok_or_else(|| used_up(add.path.as_str()))?;
            add.base_row_id = Some(first);
            next = Some(behind);
            given = true;
        }
        if add.default_row_commit_version.is_none() {
            add.default_row_commit_version = i64::try_from(version).ok();
        }
    }
    let mark = HighWaterMark { row_id_high_water_mark: next.map_or(i64::MAX, |next| next - 1) };
    Ok(given.then(|| DomainMetadata {
        domain: ROW_TRACKING_DOMAIN.to_owned(),
        configuration: serde_json::to_string(&mark).unwrap_or_default(),
        removed: false,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::high_water_mark;

    fn add(rows: Option<i64>) -> Add {
        Add { stats: rows.map(|n| format!("{{\"numRecords\":{n}}}")), ..Default::default() }
    }

    #[test]
    fn ids_follow_one_another_and_old_ones_are_kept() {
        let mut adds = [add(Some(3)), Add { base_row_id: Some(1), ..add(Some(9)) }, add(Some(2))];
        let domain = assign(&mut adds, 4, Some(9)).unwrap().unwrap();
        assert_eq!(adds.each_ref().map(|a| a.base_row_id), [Some(10), Some(1), Some(13)]);
        assert_eq!(adds[0].default_row_commit_version, Some(4));
        assert_eq!(domain.configuration, r#"{"rowIdHighWaterMark":14}"#);
        assert_eq!(high_water_mark("t", &domain).unwrap(), Some(14));
        let mut first = [add(Some(1))];
        assert_eq!(
            assign(&mut first, 0, None).unwrap().unwrap().configuration,
            r#"{"rowIdHighWaterMark":0}"#
        );
        assert_eq!(assign(&mut [], 0, None).unwrap(), None);
    }

    #[test]
    fn a_file_of_unknown_length_is_refused() {
        assert_eq!(assign(&mut [add(None)], 0, None).unwrap_err().kind(), "DataFile");
    }
}
