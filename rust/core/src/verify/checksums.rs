//! Version checksums against the replay of their versions.

use serde::Deserialize;

use super::add_facts::{AddFacts, file_key};
use super::differences::show;
use super::finding::FindingKind;
use super::names;
use super::report::VerifyReport;
use super::state::State;
use crate::actions::Add;
use crate::checksum::{Checksum, checksum_differences};
use crate::error::Result;
use crate::log::LogFile;
use crate::store::Location;

/// What a checksum may have besides the facts: every live file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AllFiles {
    #[serde(default)]
    all_files: Option<Vec<Add>>,
}

/// Compares a checksum with the state at its version.
pub(super) fn compare(
    location: &Location,
    file: &LogFile,
    body: &[u8],
    state: Option<&State>,
    report: &mut VerifyReport,
) -> Result<()> {
    let path = location.log_dir().join(&file.name).to_string();
    let parsed = Checksum::parse(body, &path, file.version);
    let listed = serde_json::from_slice::<AllFiles>(body);
    let (said, listed) = match (parsed, listed) {
        (Ok(said), Ok(listed)) => (said, listed.all_files),
        (Err(error), _) => {
            report.found(FindingKind::UnreadableChecksum, file.version, path, "a version checksum", error);
            return Ok(());
        }
        (_, Err(error)) => {
            report.found(FindingKind::UnreadableChecksum, file.version, path, "a list `allFiles`", error);
            return Ok(());
        }
    };
    let Some(state) = state else { return Ok(()) };
    let Some(found) = state.checksum() else { return Ok(()) };
    report.checksums += 1;
    for difference in checksum_differences(&said, &found) {
        report.found(
            FindingKind::ChecksumDiffers,
            file.version,
            &path,
            format!("{}: {} by replay of the log", difference.field, difference.found),
            difference.said,
        );
    }
    if let Some(histogram) = &said.file_size_histogram {
        let sums = histogram.sums();
        let right = (found.num_files, found.table_size_bytes);
        if sums != right {
            let (expected, found) = (format!("fileSizeHistogram: {right:?} in all"), format!("{sums:?}"));
            report.found(FindingKind::ChecksumDiffers, file.version, &path, expected, found);
        }
    }
    let Some(listed) = listed else { return Ok(()) };
    for add in &listed {
        let key = file_key(add.path.as_str(), add.deletion_vector.as_ref(), location.root())?;
        let known = state.files.get(&key);
        if known.is_none_or(|known| !known.facts.agrees(&AddFacts::of(add), true)) {
            let log = known.and_then(|known| names::add_of(location, key, known.since));
            let (expected, found) = show(log.as_ref(), Some(add));
            let expected = format!("allFiles: `{}` with {expected}", add.path);
            report.found(FindingKind::ChecksumDiffers, file.version, &path, expected, found);
        }
    }
    if listed.len() != state.files.len() {
        let (expected, found) = (format!("allFiles: {}", state.files.len()), listed.len());
        report.found(FindingKind::ChecksumDiffers, file.version, &path, expected, found);
    }
    Ok(())
}
