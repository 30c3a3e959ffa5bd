use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::actions::ObjectPath;
use crate::cancel::Cancel;
use crate::commit::check_store;
use crate::error::Result;
use crate::store::Location;

/// The files that a write has created. Unless they are kept, they are deleted again when the write is over: a failed
/// write leaves none behind, as far as the store lets it.
#[derive(Debug)]
pub(crate) struct Uploads {
    location: Location,
    created: Mutex<Vec<ObjectPath>>,
    cancel: Cancel,
}

impl Uploads {
    /// Those of an operation at a place, which what stops it there stops.
    pub(crate) fn new(location: &Location) -> Self {
        Uploads { location: location.clone(), created: Mutex::default(), cancel: location.cancel().clone() }
    }

    /// The writers of files ask this one whether to continue.
    pub(crate) fn stop_by(&mut self, cancel: &Cancel) {
        self.cancel = cancel.clone();
    }

    /// Whether to continue.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`] once the write was asked to stop.
    pub(crate) fn check(&self) -> Result<()> {
        self.cancel.check()
    }

    /// Uploads a file and tracks it.
    ///
    /// # Errors
    /// Those of the store; [`crate::Error::Unsupported`] for one that cannot hold a log, and then nothing is uploaded.
    pub(crate) fn put(&self, path: &ObjectPath, body: Bytes) -> Result<()> {
        self.track(path)?;
        self.location.store().put(path, body)
    }

    /// The same for a file whose parts come one after the other.
    pub(super) fn put_parts(
        &self,
        path: &ObjectPath,
        parts: &mut dyn Iterator<Item = Result<Bytes>>,
    ) -> Result<()> {
        self.track(path)?;
        self.location.store().put_parts(path, parts)
    }

    /// Before a put, because one that fails may have landed.
    fn track(&self, path: &ObjectPath) -> Result<()> {
        check_store(&self.location)?;
        self.created.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        Ok(())
    }

    /// Answers for files no longer: they are committed, or may be.
    pub(crate) fn keep(&self) {
        self.created.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Drop for Uploads {
    fn drop(&mut self) {
        for path in self.created.get_mut().unwrap_or_else(PoisonError::into_inner) {
            // best effort: what stays is an orphan that no log names
            let _ = self.location.store().delete(path);
        }
    }
}
