//! When versions were committed.

use super::at::format_timestamp;
use super::clock::{in_commit_timestamp, monotonic};
use crate::actions::Metadata;
use crate::error::{Error, Result};
use crate::features::in_commit_since;
use crate::log::{Listing, LogFile};
use crate::store::Location;

/// Commits, with the time at which each counts as committed.
pub(crate) struct CommitTimes<'a> {
    location: &'a Location,
    commits: Vec<&'a LogFile>,
    file_times: Vec<i64>,
    in_commit_since: Option<u64>,
}

impl<'a> CommitTimes<'a> {
    /// The commits of a listing of the whole log whose versions can be rebuilt, by the metadata of the newest one.
    ///
    /// # Errors
    /// [`Error::InvalidTimeTravel`] when no commit is left.
    pub(crate) fn new(location: &'a Location, listing: &'a Listing, metadata: &Metadata) -> Result<Self> {
        // a version can be rebuilt from commit 0 or from the first checkpoint on
        let first_commit = listing.commits().next().map(|c| c.version);
        let first_checkpoint = listing.files.iter().find(|f| f.is_checkpoint()).map(|f| f.version);
        let earliest = if first_commit == Some(0) { 0 } else { first_checkpoint.unwrap_or(0) };
        Self::since_version(earliest, location, listing, metadata)
    }

    /// As [`CommitTimes::new`], for all existing commits.
    pub(crate) fn of_all(location: &'a Location, listing: &'a Listing, metadata: &Metadata) -> Result<Self> {
        Self::since_version(0, location, listing, metadata)
    }

    fn since_version(
        earliest: u64,
        location: &'a Location,
        listing: &'a Listing,
        metadata: &Metadata,
    ) -> Result<Self> {
        let times = monotonic(listing.commits());
        let commits: Vec<&LogFile> = listing.commits().filter(|c| c.version >= earliest).collect();
        if commits.is_empty() {
            let reason = "the log holds no commit with a time, only a checkpoint".to_owned();
            return Err(Error::InvalidTimeTravel { path: location.root().to_string(), reason });
        }
        let file_times =
            commits.iter().map(|c| times.get(&c.version).copied().unwrap_or(c.modified)).collect();
        Ok(CommitTimes { location, commits, file_times, in_commit_since: in_commit_since(metadata) })
    }

    fn time(&self, index: usize) -> Result<i64> {
        let commit = self.commits[index];
        match self.in_commit_since {
            Some(since) if commit.version >= since => in_commit_timestamp(self.location, commit.version),
            _ => Ok(self.file_times[index]),
        }
    }

    /// The error that a time is before the first commit or after the last.
    ///
    /// # Errors
    /// What reading the commits gives.
    pub(crate) fn out_of_range(&self, millis: i64) -> Result<Error> {
        let last = self.commits.len() - 1;
        Ok(Error::TimestampOutOfRange {
            path: self.location.root().to_string(),
            timestamp: format_timestamp(millis),
            earliest: format_timestamp(self.time(0)?),
            earliest_version: self.commits[0].version,
            latest: format_timestamp(self.time(last)?),
            latest_version: self.commits[last].version,
        })
    }

    /// The last commit at or before a time.
    ///
    /// # Errors
    /// [`Error::TimestampOutOfRange`] for a time before the first commit or after the last.
    pub(crate) fn at(&self, millis: i64) -> Result<u64> {
        let last = self.commits.len() - 1;
        if millis < self.time(0)? || millis > self.time(last)? {
            return Err(self.out_of_range(millis)?);
        }
        Ok(self.commits[self.since(millis + 1)? - 1].version)
    }

    /// The last commit at or before a time, also when that is after the last of all; `None` before the first.
    ///
    /// # Errors
    /// What reading the commits gives.
    pub(crate) fn last_until(&self, millis: i64) -> Result<Option<u64>> {
        Ok(self.since(millis.saturating_add(1))?.checked_sub(1).map(|index| self.commits[index].version))
    }

    /// The first commit at or after a time; `None` after the last.
    ///
    /// # Errors
    /// What reading the commits gives.
    pub(crate) fn first_since(&self, millis: i64) -> Result<Option<u64>> {
        Ok(self.commits.get(self.since(millis)?).map(|commit| commit.version))
    }

    /// The index of the first commit at or after a time; times grow with the version.
    fn since(&self, millis: i64) -> Result<usize> {
        let (mut low, mut high) = (0, self.commits.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.time(middle)? < millis { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}
