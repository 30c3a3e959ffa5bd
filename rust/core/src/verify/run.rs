//! Verification of a table from its log to its files.

use super::deep::{Here, LooksInto};
use super::finding::FindingKind;
use super::log_files::LogFiles;
use super::report::{VerifyOptions, VerifyReport};
use super::{features, files, hint, history, row_ids};
use crate::error::{Error, Result};
use crate::log::Listing;
use crate::snapshot::{At, Checks, Snapshot};
use crate::store::Location;

/// Compares a table's log with itself and with its files, and returns the findings: none if the table is intact.
/// Nothing is written.
///
/// The log must be complete from version 0, or from its oldest checkpoint, to its newest version. It is replayed from
/// there on, by code that has nothing to do with the replay of [`Snapshot`], and each checkpoint, compacted file and
/// checksum is compared with the state at its version. Then each file of the version is looked after in the store.
///
/// # Errors
/// [`Error::TableNotFound`], [`Error::VersionNotFound`], [`Error::UnsupportedFeature`], and errors of the store other than
/// "not there". A problem of the table is not an error but a [`super::Finding`].
///
/// # Cost
/// The whole log and all checkpoints are read once, and a HEAD is made for each data file (or one listing, where that is
/// cheaper). Memory: about 150 bytes a live file, 60 a tombstone, and the commits that are parsed at once.
pub fn verify(location: &Location, options: &VerifyOptions) -> Result<VerifyReport> {
    verify_by(location, options, &mut Here)
}

/// As [`verify`], with somebody who looks into files where that is asked for.
///
/// # Errors
/// As [`verify`], and those of whoever looks into files.
pub(crate) fn verify_by(
    location: &Location,
    options: &VerifyOptions,
    by: &mut dyn LooksInto,
) -> Result<VerifyReport> {
    let location = &location.afresh();
    let mut report = VerifyReport::default();
    let hint = hint::read(location, &mut report)?;
    let listing = Listing::read(location, 0)?;
    let Some(log) = LogFiles::of(location, &listing, options.version, &mut report)? else {
        return Err(Error::TableNotFound { path: location.root().to_string() });
    };
    // later commits are not checked
    let at = At::Version(options.version.unwrap_or(log.head));
    let snapshot = Snapshot::open_with_checks(location.clone(), at, Checks::Fast);
    match &snapshot {
        Err(
            Error::LogGap { .. }
            | Error::LogCorrupt { .. }
            | Error::MissingAction { .. }
            | Error::InvalidSchema { .. }
            | Error::NotFound { .. },
        )
        | Ok(_) => {}
        Err(error) => return Err(error.clone()),
    }
    (report.version, report.first_version) = (log.head, log.first);
    let state = history::walk(location, &log, &mut report)?;
    if let Some(hint) = hint.filter(|h: &hint::Hint| options.version.is_none_or(|v| h.version() <= v)) {
        hint::compare(location, &hint, &log, &mut report)?;
    }
    if let Some(state) = &state {
        features::check(location, state, &mut report);
        row_ids::check(location, state, &mut report)?;
    }
    let checked = snapshot.and_then(|snapshot| {
        let num_files = state.as_ref().map_or(0, |s| s.files.len());
        files::check(&snapshot, num_files, options.deep.then_some(by), &mut report)
    });
    match checked {
        Ok(()) => {}
        Err(error @ (Error::Storage { .. } | Error::Interrupted)) => return Err(error),
        // damage was found before, unless replay is wrong
        Err(_) if !report.ok() => {}
        Err(error) => {
            let expected = "a table that can be read";
            report.found(FindingKind::UnreadableTable, log.head, location.root(), expected, error);
        }
    }
    Ok(report)
}
