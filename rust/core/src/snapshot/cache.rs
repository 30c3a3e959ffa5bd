use std::collections::VecDeque;
use std::sync::Mutex;

use super::at::At;
use super::level::{Checks, Verify};
use super::load::has_commit;
use super::state::Snapshot;
use crate::error::{Error, Result};
use crate::store::{Location, StorageOptions};
use crate::unlocked::if_unlocked;

/// Tables whose newest snapshot is kept; the one that was used longest ago is evicted first.
const KEPT: usize = 16;

type Key = (String, StorageOptions, Verify);

static CACHE: Mutex<VecDeque<(Key, Snapshot)>> = Mutex::new(VecDeque::new());

impl Snapshot {
    /// [`Snapshot::newest`] for callers that have the check of the whole table, or do not need it.
    ///
    /// # Errors
    /// As [`Snapshot::update`].
    pub(crate) fn newest_with_checks(
        uri: &str,
        options: &StorageOptions,
        checks: Checks,
    ) -> Result<Snapshot> {
        if let Checks::Full(_) = checks {
            return Snapshot::open_with_checks(Location::open(uri, options)?, At::Latest, checks);
        }
        let key = (uri.to_owned(), options.clone(), checks.level());
        let known = if_unlocked(&CACHE, |recent| {
            recent.iter().find(|(k, _)| *k == key).map(|(_, snapshot)| snapshot.clone())
        });
        let snapshot = match known.flatten() {
            None => Snapshot::open_with_checks(Location::open(uri, options)?, At::Latest, checks)?,
            Some(held) => held.advanced(|| Location::open(uri, options))?,
        };
        if_unlocked(&CACHE, |recent| {
            recent.retain(|(k, _)| *k != key);
            recent.push_back((key, snapshot.clone()));
            if recent.len() > KEPT {
                recent.pop_front();
            }
        });
        Ok(snapshot)
    }

    /// The newest version of the table, as [`Snapshot::newest`] gives it: from this snapshot where its log is as it was.
    ///
    /// # Errors
    /// As [`Snapshot::update`].
    ///
    /// # Cost
    /// One listing and the new commits.
    pub fn follow(&self) -> Result<Snapshot> {
        self.advanced(|| Ok(self.location().clone()))
    }

    fn advanced(&self, location: impl FnOnce() -> Result<Location>) -> Result<Snapshot> {
        match self.update() {
            // a listing that is not up to date: a returned snapshot is not followed by an older one
            Err(gap @ Error::LogGap { .. }) if has_commit(self.location(), self.version())? => Err(gap),
            // somebody took commits out of the log: it is what is left of it, unless more than commits tells of them
            Err(Error::LogGap { .. }) => Snapshot::open_with_checks(location()?, At::Latest, self.checks()),
            // a load from nothing reports what is wrong now
            Err(_) => self.reopened(location()?),
            Ok(newest) => Ok(newest),
        }
    }
}
