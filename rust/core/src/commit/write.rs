use std::time::Duration;

use crate::actions::{CommitInfo, ObjectPath};
use crate::error::{Error, Result};
use crate::log::commit_name;
use crate::store::{Location, PutOutcome};

use super::{ActionRef, Backoff, CommitOutcome, Winner, encode::encode, probe::check_store};

/// How often a put without a clear answer is repeated, and an unreadable answer read again.
const ATTEMPTS: usize = 5;

/// Place of the commit of a version.
pub fn commit_path(location: &Location, version: u64) -> ObjectPath {
    location.log_dir().join(&commit_name(version))
}

/// What is at the place of a commit.
enum ReadBack {
    Ours,
    Theirs(Option<Box<CommitInfo>>),
    Absent,
    Unreadable(Error),
}

/// Writes `actions` as commit `version`, if there is none. `info.txn_id` must be unique to this transaction: after every
/// answer but a clear yes the commit is read back and the ids are compared, so a lost answer is no conflict, and no
/// commit is made twice. An unclear put is repeated with the same body, at the same version, which is safe for the same
/// reason.
///
/// # Errors
/// An error means that the commit was **not** made; [`Error::Unsupported`] that the store cannot hold a log, because it
/// ignores the condition of put-if-absent (tried once for each remote store). [`CommitOutcome::Unknown`] is not an error here because the caller
/// must act on it: nothing that the commit refers to may be deleted.
pub fn write_commit<'a>(
    location: &Location,
    version: u64,
    info: &CommitInfo,
    actions: impl IntoIterator<Item = impl Into<ActionRef<'a>>>,
) -> Result<CommitOutcome> {
    check_store(location)?;
    let path = commit_path(location, version);
    let body = encode(info, actions, &path.to_string())?;
    let id = info.txn_id.as_deref().unwrap_or_default();
    let mut backoff = short_pauses();
    let mut doubt = None;
    for _ in 0..ATTEMPTS {
        match location.store().put_if_absent(&path, body.clone()) {
            Ok(PutOutcome::Created) => return Ok(CommitOutcome::Committed(version)),
            Ok(PutOutcome::AlreadyExists) => {}
            Err(error @ Error::Storage { .. }) => doubt = Some(error),
            Err(error) => return Err(error),
        }
        match read_back(location, &path, version, id) {
            ReadBack::Ours => return Ok(CommitOutcome::Committed(version)),
            ReadBack::Theirs(winner) => return Ok(CommitOutcome::Conflict { version, winner }),
            ReadBack::Unreadable(error) => {
                let reason = match doubt {
                    Some(put) => format!("{put}; reading it back: {error}"),
                    None => format!("the store says that the version is there; reading it back: {error}"),
                };
                return Ok(CommitOutcome::Unknown { version, reason });
            }
            ReadBack::Absent => match doubt {
                Some(error) if is_refusal(&error) => return Err(error),
                _ => {
                    backoff.pause();
                }
            },
        }
    }
    match doubt {
        // a local put is over when it returns: what is not there now will not come
        Some(error) if path.scheme() == "file" => Err(error),
        Some(error) => Ok(CommitOutcome::Unknown {
            version,
            reason: format!("{error}; the version is not there, but the request may still be under way"),
        }),
        None => Ok(CommitOutcome::Unknown {
            version,
            reason: "the store says that the version is there, and that it is not".to_owned(),
        }),
    }
}

fn read_back(location: &Location, path: &ObjectPath, version: u64, id: &str) -> ReadBack {
    let mut backoff = short_pauses();
    let mut last = Error::NotFound { path: path.to_string() };
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            backoff.pause();
        }
        let parsed =
            location.store().get(path).and_then(|body| Winner::parse(version, &path.to_string(), &body));
        match parsed {
            Ok(winner) => {
                let info = winner.info();
                let ours = !id.is_empty() && info.and_then(|i| i.txn_id.as_deref()) == Some(id);
                return if ours { ReadBack::Ours } else { ReadBack::Theirs(info.cloned().map(Box::new)) };
            }
            Err(Error::NotFound { .. }) => return ReadBack::Absent,
            Err(error) => last = error,
        }
    }
    ReadBack::Unreadable(last)
}

fn short_pauses() -> Backoff {
    Backoff::new(Duration::from_millis(20), Duration::from_secs(1), Duration::from_secs(60))
}

/// Whether the store refused the request outright, so that nothing is under way.
fn is_refusal(error: &Error) -> bool {
    let Error::Storage { source, .. } = error else { return false };
    if let Some(error) = source.downcast_ref::<object_store::Error>() {
        use object_store::Error as Cause;
        return matches!(
            error,
            Cause::PermissionDenied { .. } | Cause::Unauthenticated { .. } | Cause::NotImplemented { .. }
        );
    }
    source.downcast_ref::<std::io::Error>().is_some_and(|e| {
        matches!(e.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem)
    })
}
