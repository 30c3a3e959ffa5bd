//! Row ids (PROTOCOL.md, "Row Tracking").

use super::add_facts::FileKey;
use super::finding::FindingKind;
use super::names;
use super::report::VerifyReport;
use super::state::State;
use crate::error::Result;
use crate::features::{ROW_TRACKING_DOMAIN, TableFeature, high_water_mark};
use crate::properties::TableProperty;
use crate::store::Location;

/// Compares the row ids of the live files with one another and with the high-water mark.
pub(super) fn check(location: &Location, state: &State, report: &mut VerifyReport) -> Result<()> {
    let (Some(protocol), Some(metadata)) = (&state.counted.protocol, &state.counted.metadata) else {
        return Ok(());
    };
    if !protocol.supports(TableFeature::RowTracking) {
        return Ok(());
    }
    let name = |key: FileKey, since: u64| names::of(location, key, since);
    let version = state.version;
    if metadata.is_true(TableProperty::EnableRowTracking) {
        let lacks =
            |f: &super::state::LiveFile| f.facts.base_row_id.is_none() || f.facts.commit_version.is_none();
        for (key, file) in state.files.iter().filter(|(_, f)| lacks(f)) {
            let expected = "`baseRowId` and `defaultRowCommitVersion`";
            let path = name(*key, file.since);
            report.found(FindingKind::MissingRowIds, version, path, expected, "an `add` without them");
        }
    }
    let mut ranges: Vec<(i64, i64, FileKey, u64)> = state
        .files
        .iter()
        .filter_map(|(key, f)| {
            let (base, rows) = (f.facts.base_row_id?, f.facts.rows?);
            (rows > 0).then(|| (base, base.saturating_add(rows - 1), *key, f.since))
        })
        .collect();
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        let [(_, end, a, since), (start, other, b, later)] = pair else { continue };
        if start <= end {
            let expected = format!("no row id twice, and {} has ids up to {end}", name(*a, *since));
            report.found(
                FindingKind::OverlappingRowIds,
                version,
                name(*b, *later),
                expected,
                format!("{start} to {other}"),
            );
        }
    }
    let mark = match state.domains.get(ROW_TRACKING_DOMAIN) {
        None => None,
        Some(domain) => match high_water_mark(&location.log_dir().to_string(), domain) {
            Ok(mark) => mark,
            Err(error) => {
                let (path, expected) = (ROW_TRACKING_DOMAIN, "a high-water mark");
                report.found(FindingKind::RowIdsAboveMark, version, path, expected, error);
                return Ok(());
            }
        },
    };
    for (base, end, key, since) in ranges.iter().rev().take_while(|(_, end, ..)| Some(*end) > mark) {
        let expected = format!("ids up to the mark {mark:?}");
        report.found(
            FindingKind::RowIdsAboveMark,
            version,
            name(*key, *since),
            expected,
            format!("{base} to {end}"),
        );
    }
    Ok(())
}
