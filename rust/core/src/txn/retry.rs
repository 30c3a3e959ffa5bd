use std::time::{Duration, Instant};

use crate::commit::Backoff;
use crate::error::{Error, Result};
use crate::events;

/// How long an operation is retried that lost a race it may not follow: it depends only on the table, so the newest version
/// is as good as the one before.
#[derive(Debug)]
pub(crate) struct Retries {
    deadline: Instant,
    backoff: Backoff,
}

impl Retries {
    /// For so long, from now on.
    pub(crate) fn new(budget: Duration) -> Self {
        Retries { deadline: Instant::now() + budget, backoff: Backoff::after_lost_races(budget) }
    }

    /// The time that is left for the commit of an attempt.
    pub(crate) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Whether the operation begins again after this error, after a pause.
    pub(crate) fn begins_again(&mut self, error: &Error) -> bool {
        let again = is_lost_race(error) && self.backoff.pause();
        if again {
            events::starts_again(error);
        }
        again
    }
}

/// Retries an operation as [`Retries`] allows. An attempt gets the time that is left for its commit.
///
/// # Errors
/// Errors of the last attempt.
pub(crate) fn retried<T>(budget: Duration, mut attempt: impl FnMut(Duration) -> Result<T>) -> Result<T> {
    let mut retries = Retries::new(budget);
    loop {
        match attempt(retries.left()) {
            Err(error) if retries.begins_again(&error) => {}
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
