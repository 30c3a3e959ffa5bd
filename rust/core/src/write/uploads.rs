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
    /// Folder of the table that new files are below.
    folder: Option<String>,
    created: Mutex<Vec<ObjectPath>>,
    cancel: Cancel,
}

impl Uploads {
    /// Those of an operation at a place, which what stops it there stops.
    pub(crate) fn new(location: &Location) -> Self {
        let (created, cancel) = (Mutex::default(), location.cancel().clone());
        Uploads { location: location.clone(), folder: None, created, cancel }
    }

    /// The same, of files below a folder of the table.
    pub(crate) fn below(location: &Location, folder: &str) -> Self {
        let mut own = Uploads::new(location);
        own.folder = Some(folder.to_owned());
        own
    }

    /// Those that others created for the operation, which are its own from now on.
    pub(crate) fn taken_over(location: &Location, created: Vec<ObjectPath>) -> Self {
        let mut own = Uploads::new(location);
        own.created = Mutex::new(created);
        own
    }

    /// The folder that new files are below; none is the table's own.
    pub(super) fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
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
