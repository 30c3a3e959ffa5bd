//! Opening a table at a level that the caller chooses. The level `full` verifies the table first, so it is opened from here.

use super::report::VerifyOptions;
use super::run::verify;
use crate::error::Result;
use crate::snapshot::{At, Checks, Snapshot, Verify};
use crate::store::{Location, StorageOptions};

impl Snapshot {
    /// Opens a version of the table at a location. The level is that of all readings of the snapshot, and of those that it is
    /// advanced to.
    ///
    /// # Errors
    /// [`crate::Error::TableNotFound`]; [`crate::Error::VersionNotFound`] and [`crate::Error::TimestampOutOfRange`] with the available range;
    /// [`crate::Error::LogGap`] and [`crate::Error::LogCorrupt`] for a broken log; [`crate::Error::UnsupportedFeature`] for a table that
    /// needs more of a reader; [`crate::Error::InvalidSchema`] for a type that is not known, [`crate::Error::Unsupported`] for a change of
    /// type that the protocol does not have. At the level [`Verify::Full`], [`crate::Error::LogCorrupt`] with the first finding of
    /// [`verify`].
    ///
    /// # Cost
    /// One GET of the hint, one listing from there, and one GET of the newest checksum, or of the commits after the
    /// checkpoint and the footer of the checkpoint. A version by timestamp lists the whole log. One HEAD more where a file of
    /// the log knows of a newer version than the newest commit. At the level [`Verify::Full`] also that of [`verify`].
    pub fn open_with(location: Location, at: At, level: Verify) -> Result<Self> {
        Snapshot::open_with_checks(location, at, checks_of(level))
    }

    /// The newest version of a table, as [`Snapshot::open_with`] gives it. This process keeps the snapshots of the tables that
    /// it used last, and advances one of them where it can: a session that opens the same table again and again reads new
    /// commits only.
    ///
    /// # Errors
    /// As [`Snapshot::update`].
    ///
    /// # Cost
    /// Of a table that is kept: one listing and the new commits. At the level [`Verify::Full`] none is kept.
    pub fn newest(uri: &str, options: &StorageOptions, level: Verify) -> Result<Self> {
        Snapshot::newest_with_checks(uri, options, checks_of(level))
    }
}

fn checks_of(level: Verify) -> Checks {
    match level {
        Verify::Fast => Checks::Fast,
        Verify::Checked => Checks::Checked,
        Verify::Full => Checks::Full(check_whole),
    }
}

/// Refuses a table in which [`verify`] finds something.
fn check_whole(location: &Location) -> Result<()> {
    verify(location, &VerifyOptions::default())?.check()
}
