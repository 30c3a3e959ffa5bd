//! What the crate reports of its work, in one list: events of `tracing`, and records of `log` where nobody subscribes.
//!
//! | target | level | event |
//! |---|---|---|
//! | `deltaic::open` | debug | a version was opened or advanced to |
//! | `deltaic::fallback` | warn | a corrupt hint, checkpoint or checksum was ignored |
//! | `deltaic::commit` | info | a commit landed, or its application transaction was recorded before |
//! | `deltaic::commit` | debug | a put without a clear answer is repeated |
//! | `deltaic::commit` | warn | it is unknown whether a commit landed |
//! | `deltaic::retry` | info | a commit or an operation lost a race and is retried |
//! | `deltaic::credentials` | warn | who gives the credentials failed; those that are there are used until they expire |
//! | `deltaic::after_commit` | debug | a checksum, checkpoint, manifest or cleanup after a commit |
//! | `deltaic::after_commit` | warn | one of these failed; the commit stands |
//!
//! No event has a value of a row, a credential or an option of a store. Where nobody listens an event costs one atomic read.

use std::time::Duration;

use tracing::{Span, debug, debug_span, info, warn};

use crate::error::Error;

/// The span of opening a version.
pub(crate) fn opening(table: &str) -> Span {
    debug_span!(target: "deltaic::open", "open", table)
}

/// The span of committing a transaction.
pub(crate) fn committing(table: &str, operation: &str) -> Span {
    debug_span!(target: "deltaic::commit", "commit", table, operation)
}

/// A version was opened.
pub(crate) fn opened(table: &str, version: u64, from: &str, took: Duration) {
    debug!(target: "deltaic::open", table, version, from, ms = millis(took), "opened");
}

/// A corrupt file of the log was ignored.
pub(crate) fn fell_back(table: &str, what: &str) {
    warn!(target: "deltaic::fallback", table, "{what}");
}

/// A commit landed.
pub(crate) fn landed(table: &str, version: u64, operation: &str, attempts: u32) {
    info!(target: "deltaic::commit", table, version, operation, attempts, "committed");
}

/// Nothing was committed, because an earlier commit recorded the application transaction.
pub(crate) fn already_recorded(table: &str, version: u64) {
    info!(target: "deltaic::commit", table, version, "nothing committed: the application transaction is recorded");
}

/// Credentials could not be renewed.
pub(crate) fn not_renewed(store: &str, error: &Error) {
    warn!(target: "deltaic::credentials", store, %error, "the credentials are not renewed");
}

/// A put without a clear answer is repeated.
pub(crate) fn repeated(path: &str) {
    debug!(target: "deltaic::commit", path, "the store gave no clear answer; trying again");
}

/// It is unknown whether the commit landed.
pub(crate) fn unknown(table: &str, version: u64, reason: &str) {
    warn!(target: "deltaic::commit", table, version, reason, "the state of the commit is unknown");
}

/// A commit lost the race for a version and is retried at the next one that is free.
pub(crate) fn lost_version(table: &str, version: u64, winners: usize, attempts: u32) {
    info!(target: "deltaic::retry", table, version, winners, attempts, "another writer was first; trying the next version");
}

/// An operation lost a race that it may not follow, and starts again from what the winner left.
pub(crate) fn starts_again(error: &Error) {
    info!(target: "deltaic::retry", %error, "lost a race; starting again from the newest version");
}

/// Something after a commit was done.
pub(crate) fn done_after_commit(table: &str, version: u64, what: &str) {
    debug!(target: "deltaic::after_commit", table, version, "{what}");
}

/// Something after a commit failed; the commit stands.
pub(crate) fn failed_after_commit(warnings: &[String]) {
    for warning in warnings {
        warn!(target: "deltaic::after_commit", "{warning}");
    }
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}
