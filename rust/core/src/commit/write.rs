use super::attempt::{CommitAttempt, Step};
use super::probe::check_store;
use super::{Backoff, CommitOutcome};
use crate::actions::{ActionRef, CommitInfo, encode};
use crate::error::{Error, Result};
use crate::events;
use crate::log::commit_path;
use crate::store::Location;

/// Writes `actions` as commit `version`, if there is none. `info.txn_id` must be unique to this transaction: after
/// every answer except a clear yes the commit is read back and the ids are compared, so a lost answer is not a
/// conflict, and no commit is made twice. An unclear put is repeated with the same body, at the same version, which is
/// safe for the same reason.
///
/// # Errors
/// An error means that the commit was **not** made; [`Error::Unsupported`] that the store cannot hold a log, because it
/// ignores the condition of put-if-absent (tried once for each remote store). [`CommitOutcome::Unknown`] is not an error
/// here because the caller must act on it: nothing that the commit refers to may be deleted.
pub fn write_commit<'a>(
    location: &Location,
    version: u64,
    info: &CommitInfo,
    actions: impl IntoIterator<Item = impl Into<ActionRef<'a>>>,
) -> Result<CommitOutcome> {
    check_store(location)?;
    if i64::try_from(version).is_err() {
        let what = format!("a version above {}", i64::MAX);
        return Err(Error::Unsupported { path: location.root().to_string(), what });
    }
    let path = commit_path(location, version);
    let body = encode(info, actions, &path.to_string())?;
    let mut attempt = CommitAttempt::new(path.clone(), version, info.txn_id.as_deref().unwrap_or_default());
    let mut backoff = Backoff::after_unclear_answers();
    loop {
        if attempt.is_repeated() {
            events::repeated(&path.to_string());
            backoff.pause();
        }
        match attempt.step() {
            Step::Put => attempt.put_answered(location.store().put_if_absent(&path, body.clone())),
            Step::Read => attempt.read_answered(location.store().get(&path)),
            Step::Over => break,
        }
    }
    let unclear = || Error::storage("put", path.to_string(), "the attempt ended without an outcome");
    attempt.end().unwrap_or_else(|| Err(unclear()))
}
