//! Stops a running operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::panics::caught;

/// How often a wait looks for a stop.
const POLL: Duration = Duration::from_millis(50);

/// Stops operations from any thread: those at a place that it was given to by [`Location::stopped_by`]. It is asked
/// between batches of rows, between files, and just before each try of an operation commits. What it stopped fails with
/// [`Error::Interrupted`]: the table is as it was, and the files that were written are deleted. A commit that has begun
/// is completed. A VACUUM that was stopped has deleted some of the files that it may delete.
///
/// [`Location::stopped_by`]: crate::store::Location::stopped_by
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the operation to stop. It cannot be taken back.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the operation is to continue.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once it was asked to stop.
    pub(crate) fn check(&self) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(Error::Interrupted),
            false => Ok(()),
        }
    }

    /// Reads what may take long in one call, such as a listing, on a thread of its own. Once it was asked to stop, the
    /// answer is no longer waited for.
    ///
    /// # Errors
    /// Those of the work, and [`Error::Interrupted`].
    pub(crate) fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (send, receive) = sync_channel(1);
        let work = move || {
            // the receiver no longer exists after a stop
            let _ = send.send(caught(|| "list".into(), work));
        };
        let started = std::thread::Builder::new().name("deltaic-list".into()).spawn(work);
        started.map_err(|source| Error::storage("start a thread for", "this process", source))?;
        loop {
            self.check()?;
            match receive.recv_timeout(POLL) {
                Ok(done) => return done,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Interrupted),
            }
        }
    }
}
