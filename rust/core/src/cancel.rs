//! A way to stop what is under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// Stops the operation that it was given to, from any thread. It is asked between batches of rows, between files, and
/// just before each try of an operation commits. What it stopped fails with [`Error::Interrupted`]: the table is as it
/// was, and the files that were written are deleted. A commit that has begun goes to its end.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the operation to stop. It cannot be taken back.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the operation is to go on.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once it was asked to stop.
    pub(crate) fn check(&self) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(Error::Interrupted),
            false => Ok(()),
        }
    }
}
