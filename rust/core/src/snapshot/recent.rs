use std::collections::VecDeque;
use std::sync::{Mutex, TryLockError};

use super::at::At;
use super::level::Verify;
use super::state::Snapshot;
use crate::error::{Error, Result};
use crate::store::{Location, StorageOptions};

/// Tables whose newest snapshot is kept; the one that was used longest ago goes first.
const KEPT: usize = 16;

type Key = (String, StorageOptions, Verify);

static RECENT: Mutex<VecDeque<(Key, Snapshot)>> = Mutex::new(VecDeque::new());

impl Snapshot {
    /// The newest version of a table, as [`Snapshot::open_with`] gives it. This process keeps the snapshots of the tables that
    /// it used last, and advances one of them where it can: a session that opens the same table again and again reads new
    /// commits only.
    ///
    /// # Errors
    /// As [`Snapshot::update`].
    ///
    /// # Cost
    /// Of a table that is kept: one listing and the new commits. At the level [`Verify::Full`] none is kept.
    pub fn newest(uri: &str, options: &StorageOptions, level: Verify) -> Result<Snapshot> {
        if level == Verify::Full {
            return Snapshot::open_with(Location::open(uri, options)?, At::Latest, level);
        }
        let key = (uri.to_owned(), options.clone(), level);
        let known = with_recent(|recent| {
            recent.iter().find(|(k, _)| *k == key).map(|(_, snapshot)| snapshot.clone())
        });
        let snapshot = match known.flatten() {
            None => Snapshot::open_with(Location::open(uri, options)?, At::Latest, level)?,
            Some(held) => held.advanced(|| Location::open(uri, options))?,
        };
        with_recent(|recent| {
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
            // what was given is never followed by something older
            Err(gap @ Error::LogGap { .. }) => Err(gap),
            // a load from nothing reports what is wrong now
            Err(_) => self.reopened(location()?),
            Ok(newest) => Ok(newest),
        }
    }
}

/// Uses the kept snapshots, unless another thread does: a forked child must not wait for a thread that it does not have.
fn with_recent<T>(use_them: impl FnOnce(&mut VecDeque<(Key, Snapshot)>) -> T) -> Option<T> {
    match RECENT.try_lock() {
        Ok(mut recent) => Some(use_them(&mut recent)),
        Err(TryLockError::Poisoned(poisoned)) => Some(use_them(&mut poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}
