use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use crate::actions::{DeletionVectorDescriptor, ObjectPath};
use crate::error::Result;
use crate::scan::DeletionVector;
use crate::scan::deletion_vector::{file_path, write_file};
use crate::store::Location;

/// Where deletion vectors are read and written, so that the check itself needs no store.
pub trait Vectors: Debug {
    /// The vector of a descriptor.
    ///
    /// # Errors
    /// [`crate::Error::DeletionVector`] when it is missing or damaged.
    fn load(&self, descriptor: &DeletionVectorDescriptor) -> Result<DeletionVector>;

    /// Stores a vector.
    ///
    /// # Errors
    /// What the store says.
    fn store(&self, vector: &DeletionVector) -> Result<DeletionVectorDescriptor>;
}

/// Serialized vectors up to this size are held by the log itself: a request for a file costs more than the bytes.
const INLINE: usize = 256;

/// Deletion vectors of a table.
#[derive(Debug)]
pub struct StoredVectors {
    location: Location,
    created: Mutex<Vec<ObjectPath>>,
}

impl StoredVectors {
    /// Of the table at a location.
    pub fn new(location: &Location) -> Self {
        StoredVectors { location: location.clone(), created: Mutex::default() }
    }

    /// Deletes, as far as the store lets it, the files that were written here: the commit that names them was not made.
    pub fn discard(&self) {
        for path in self.created.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = self.location.store().delete(&path);
        }
    }
}

impl Vectors for StoredVectors {
    fn load(&self, descriptor: &DeletionVectorDescriptor) -> Result<DeletionVector> {
        DeletionVector::load(descriptor, &self.location)
    }

    fn store(&self, vector: &DeletionVector) -> Result<DeletionVectorDescriptor> {
        let inline = vector.to_inline();
        if inline.size_in_bytes as usize <= INLINE {
            return Ok(inline);
        }
        let (body, mut descriptors) = write_file(std::slice::from_ref(vector), "", Uuid::new_v4())?;
        let descriptor = descriptors.pop().unwrap_or(inline);
        if let Some(path) = file_path(&descriptor, self.location.root())? {
            self.created.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
            self.location.store().put(&path, body)?;
        }
        Ok(descriptor)
    }
}
