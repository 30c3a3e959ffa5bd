//! Other files of the log for a version: where some that it was to be read from are damaged, or a cleanup of the log by
//! another writer took them since it was opened.

use std::collections::BTreeSet;

use super::load::{compacted, reopen};
use super::log_state::State;
use super::state::Snapshot;
use crate::error::{Error, Result};
use crate::log::{Checkpoint, Listing};
use crate::store::Location;

impl Snapshot {
    /// What `read` finds in the log of the version; once more from other files, where those that it read are gone.
    ///
    /// # Errors
    /// Those of `read`; as [`Snapshot::open`] where what is left of the log does not give the version any more.
    pub(crate) fn retried<T>(&self, read: impl Fn() -> Result<T>) -> Result<T> {
        match read() {
            Err(error) => {
                self.reselect_gone(error)?;
                read()
            }
            found => found,
        }
    }

    /// Selects other files where the one of the checkpoint that an error is about does not exist any more.
    ///
    /// # Errors
    /// The same error where it is about something else; as [`Snapshot::open`] where what is left of the log does not give
    /// the version any more.
    pub(super) fn reselect_gone(&self, error: Error) -> Result<()> {
        let Error::LogCorrupt { path, .. } = &error else { return Err(error) };
        if !is_gone(self.location(), path) {
            return Err(error);
        }
        let mut state = self.state();
        // otherwise another listing of this version has found it out
        if state.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.reads(path)) {
            let names = names(state.segment.checkpoint.as_ref());
            self.reselect(&mut state, names, error)?;
        }
        Ok(())
    }

    /// Selects other files after a checkpoint or a compacted file turned out to be broken, or a commit to be gone.
    ///
    /// # Errors
    /// The same error where there are no others; as [`Snapshot::open`] where some are gone, and what is left of the log does
    /// not give the version any more.
    pub(super) fn pass_over(&self, state: &mut State, error: Error) -> Result<()> {
        let (Error::LogCorrupt { path, .. } | Error::NotFound { path }) = &error else { return Err(error) };
        let broken = match compacted(&state.segment.tail, path) {
            Some(name) => BTreeSet::from([name]),
            None => match state.segment.tail.iter().find(|f| path.ends_with(&f.name)) {
                // a commit is not a cache, but where a checkpoint has what it says it may be gone
                Some(commit) if matches!(error, Error::NotFound { .. }) => {
                    BTreeSet::from([commit.name.clone()])
                }
                Some(_) => return Err(error),
                None => names(state.segment.checkpoint.as_ref()),
            },
        };
        if broken.is_empty() || broken.iter().all(|b| state.excluded.contains(b)) {
            return Err(error);
        }
        self.reselect(state, broken, error)
    }

    fn reselect(&self, state: &mut State, broken: BTreeSet<String>, error: Error) -> Result<()> {
        let listing = Listing::read(self.location(), 0)?;
        let is_listed = |name: &String| listing.files.iter().any(|file| file.name == *name);
        let gone = !broken.iter().all(is_listed);
        self.counters().fell_back(format!("ignored {broken:?}: {error}"));
        let excluded = state.excluded.iter().cloned().chain(broken).collect();
        let again = reopen(self.location(), &listing, Some(self.version()), excluded, self.counters());
        // the remaining files may not give the version any more: then the first error is the one that matters, but for
        // files that are gone, where it is that the version is
        let opened = again.map_err(|now| if gone { now } else { error.clone() })?;
        // what is known of the table came from the corrupt file
        if (&opened.protocol, &opened.metadata) != (self.protocol(), self.metadata()) {
            return Err(error);
        }
        state.segment = opened.segment;
        state.excluded = opened.excluded;
        state.checkpoint = opened.checkpoint;
        (state.base, state.tail) = (None, None);
        Ok(())
    }
}

fn names(checkpoint: Option<&Checkpoint>) -> BTreeSet<String> {
    checkpoint.iter().flat_map(|c| &c.files).map(|f| f.name.clone()).collect()
}

/// Whether a path is one in the log, and does not exist.
fn is_gone(location: &Location, path: &str) -> bool {
    let log = location.log_dir();
    let Some(name) = path.strip_prefix(&format!("{log}/")) else { return false };
    matches!(location.store().head(&log.join(name)), Err(Error::NotFound { .. }))
}
