//! Where a stream without a checkpoint begins.

use super::offset::Offset;
use super::options::Start;
use super::source::Source;
use crate::error::{Error, Result};
use crate::log::Listing;
use crate::snapshot::{At, CommitTimes, Snapshot};

impl Source {
    /// The offset before the first file.
    pub(super) fn beginning(&self) -> Result<Offset> {
        let id = self.table_id();
        Ok(match self.options.start {
            Start::Table => Offset::before(id, self.table.version(), true),
            Start::Version(version) => {
                self.check_is_there(version)?;
                self.check_protocol(version)?;
                Offset::before(id, version, false)
            }
            Start::Latest => Offset { mark: true, ..Offset::before(id, self.newest()?.version() + 1, false) },
            Start::Timestamp(millis) => {
                let version = self.first_since(millis)?;
                self.check_protocol(version)?;
                Offset::before(id, version, false)
            }
        })
    }

    /// Whether the stream begins with a version that nobody has committed yet, nor the one before it.
    pub(super) fn is_ahead(&self, from: &Offset) -> Result<bool> {
        let may_be = self.options.allow_out_of_range && matches!(self.options.start, Start::Version(_));
        Ok(may_be && from.version > self.newest()?.version() + 1)
    }

    fn check_is_there(&self, version: u64) -> Result<()> {
        if Listing::read(&self.location, version)?.commits().any(|c| c.version == version) {
            return Ok(());
        }
        let latest = self.newest()?.version();
        if version > latest && self.options.allow_out_of_range {
            return Ok(());
        }
        let first = Listing::read(&self.location, 0)?.commits().next().map_or(0, |c| c.version);
        let path = self.location.root().to_string();
        Err(Error::VersionNotFound { path, version, earliest: first, latest })
    }

    /// Checks that this reader supports the features of the table in a version, where they are known: a start need not
    /// be a version that can be reconstructed.
    fn check_protocol(&self, version: u64) -> Result<()> {
        if version >= self.table.version() {
            return Ok(());
        }
        match Snapshot::open(self.location.clone(), At::Version(version)) {
            Err(error) if matches!(error.plain(), Error::UnsupportedFeature { .. }) => Err(error),
            _ => Ok(()),
        }
    }

    /// The first version that was committed at or after a time; the oldest one for a time before all of them.
    fn first_since(&self, millis: i64) -> Result<u64> {
        let newest = self.newest()?;
        let listing = Listing::read(&self.location, 0)?;
        let times = CommitTimes::of_all(&self.location, &listing, newest.metadata())?;
        match times.first_since(millis)? {
            Some(version) => Ok(version),
            None if self.options.allow_out_of_range => Ok(newest.version() + 1),
            None => Err(times.out_of_range(millis)?),
        }
    }
}
