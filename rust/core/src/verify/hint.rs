//! `_last_checkpoint` against the checkpoint that it names.

use super::finding::FindingKind;
use super::log_files::LogFiles;
use super::report::VerifyReport;
use crate::error::{Error, Result};
use crate::log::{Checkpoint, LastCheckpoint};
use crate::replay::CheckpointReader;
use crate::store::Location;

/// The hint, read before the log is listed, so that what it names must be in the listing.
pub(super) struct Hint {
    hint: LastCheckpoint,
    sound: bool,
}

impl Hint {
    pub(super) fn version(&self) -> u64 {
        self.hint.version
    }
}

/// Reads the hint; one that is damaged is reported.
pub(super) fn read(location: &Location, report: &mut VerifyReport) -> Result<Option<Hint>> {
    let path = location.log_dir().join(LastCheckpoint::NAME);
    let body = match location.store().get(&path) {
        Err(Error::NotFound { .. }) => return Ok(None),
        body => body?,
    };
    match LastCheckpoint::parse(&body, &path) {
        Ok(hint) => Ok(Some(Hint { hint, sound: LastCheckpoint::checksum_is_right(&body) })),
        Err(error) => {
            report.found(FindingKind::UnreadableHint, None, path, "the hint", error);
            Ok(None)
        }
    }
}

/// Compares the hint with the log.
pub(super) fn compare(
    location: &Location,
    hint: &Hint,
    log: &LogFiles,
    report: &mut VerifyReport,
) -> Result<()> {
    let path = location.log_dir().join(LastCheckpoint::NAME);
    let Hint { hint, sound } = hint;
    let version = hint.version;
    let mut differs = |expected: String, found: String| {
        report.found(FindingKind::HintDiffers, version, &path, expected, found);
    };
    if !*sound {
        differs("the checksum of its content".into(), "another one".into());
    }
    let parts = |c: &Checkpoint| match c.files.as_slice() {
        [file] if !matches!(file.kind, crate::log::LogFileKind::MultiPartCheckpoint { .. }) => None,
        files => u32::try_from(files.len()).ok(),
    };
    let top = hint.v2_checkpoint.as_ref().map(|v| v.path.as_str());
    let named = |c: &&Checkpoint| match top {
        Some(name) => c.files.first().is_some_and(|f| f.name == name),
        None => hint.parts == parts(c),
    };
    let there: &[Checkpoint] = log.checkpoints.get(&version).map_or(&[], Vec::as_slice);
    let Some(checkpoint) = there.iter().find(named).or_else(|| there.first().filter(|_| top.is_none()))
    else {
        differs(
            "an existing checkpoint".into(),
            format!("{:?}, which does not exist", top.unwrap_or("none")),
        );
        return Ok(());
    };
    if hint.parts.is_some() && hint.parts != parts(checkpoint) {
        differs(format!("parts: {:?}", parts(checkpoint)), format!("{:?}", hint.parts));
    }
    let reader = match CheckpointReader::open(location, checkpoint) {
        // reported as a checkpoint that cannot be read
        Err(Error::LogCorrupt { .. } | Error::NotFound { .. }) => return Ok(()),
        reader => reader?,
    };
    if let (Some(said), Some(found)) = (hint.num_of_add_files, reader.num_adds())
        && said >= 0
        && said.unsigned_abs() != found
    {
        differs(format!("numOfAddFiles: {found}"), said.to_string());
    }
    Ok(())
}
