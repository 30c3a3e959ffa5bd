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
/// Size at which a file of vectors is closed and the next begun.
const FILE: usize = 16 << 20;

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

    /// Stores vectors, many of them in one file. Their descriptors, in order.
    ///
    /// # Errors
    /// What the store says.
    pub fn store_all(&self, vectors: &[DeletionVector]) -> Result<Vec<DeletionVectorDescriptor>> {
        let mut descriptors: Vec<_> = vectors.iter().map(DeletionVector::to_inline).collect();
        let large = |at: &usize| descriptors[*at].size_in_bytes as usize > INLINE;
        let large: Vec<usize> = (0..vectors.len()).filter(large).collect();
        let (mut file, mut bytes) = (Vec::new(), 0);
        for (n, at) in large.iter().enumerate() {
            file.push(*at);
            bytes += descriptors[*at].size_in_bytes as usize;
            if bytes < FILE && n + 1 < large.len() {
                continue;
            }
            let together: Vec<_> = file.iter().map(|at| vectors[*at].clone()).collect();
            let (body, stored) = write_file(&together, "", Uuid::new_v4())?;
            if let Some(path) =
                stored.first().map(|d| file_path(d, self.location.root())).transpose()?.flatten()
            {
                self.created.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
                self.location.store().put(&path, body)?;
            }
            for (at, descriptor) in file.drain(..).zip(stored) {
                descriptors[at] = descriptor;
            }
            bytes = 0;
        }
        Ok(descriptors)
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
        let stored = self.store_all(std::slice::from_ref(vector))?.pop();
        Ok(stored.unwrap_or_else(|| vector.to_inline()))
    }
}
