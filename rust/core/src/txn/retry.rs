use std::time::{Duration, Instant};

use crate::commit::Backoff;
use crate::error::{Error, Result};
use crate::events;

/// Retries an operation that lost a race it may not follow: it depends only on the table, so the newest version is as
/// good as the one before. An attempt gets the time that is left for its commit.
///
/// # Errors
/// Errors of the last attempt.
pub(crate) fn retried<T>(budget: Duration, mut attempt: impl FnMut(Duration) -> Result<T>) -> Result<T> {
    let deadline = Instant::now() + budget;
    let mut backoff = Backoff::new(Duration::from_millis(5), Duration::from_millis(500), budget);
    loop {
        match attempt(deadline.saturating_duration_since(Instant::now())) {
            Err(error) if is_lost_race(&error) && backoff.pause() => events::starts_again(&error),
            other => return other,
        }
    }
}

fn is_lost_race(error: &Error) -> bool {
    matches!(
        error,
        Error::ConcurrentAppend(_)
            | Error::ConcurrentDeleteRead(_)
            | Error::ConcurrentDeleteDelete(_)
            | Error::ConcurrentWrite(_)
            | Error::MetadataChanged(_)
            | Error::ProtocolChanged(_)
    )
}
