use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use super::Changes;
use crate::actions::{DeletionVectorDescriptor, ObjectPath};
use crate::deletion_vector::{DeletionVector, file_path, write_file};
use crate::error::Result;
use crate::store::Location;

/// Where deletion vectors are read and written, so that the check itself needs no store.
pub trait Vectors: Debug {
    /// The vector of a descriptor.
    ///
    /// # Errors
    /// [`crate::Error::DeletionVector`] when it is missing or damaged.
    fn load(&self, descriptor: &DeletionVectorDescriptor) -> Result<DeletionVector>;

    /// Stores vectors. Their descriptors, in order.
    ///
    /// # Errors
    /// Errors of the store.
    fn store_all(&self, vectors: &[DeletionVector]) -> Result<Vec<DeletionVectorDescriptor>>;
}

/// Size at which a file of vectors is closed and the next begun.
const FILE: usize = 16 << 20;

/// Deletion vectors of a table.
#[derive(Debug)]
pub struct StoredVectors {
    location: Location,
    created: Mutex<Vec<ObjectPath>>,
    inline: usize,
}

impl StoredVectors {
    /// Of the table at a location.
    pub fn new(location: &Location) -> Self {
        StoredVectors { location: location.clone(), created: Mutex::default(), inline: 0 }
    }

    /// The same that keeps vectors up to so many bytes in the log.
    #[must_use]
    pub(crate) fn inline(self, bytes: usize) -> Self {
        StoredVectors { inline: bytes, ..self }
    }

    /// Deletes, as far as the store allows it, the files that were written here and that these changes, which were
    /// committed, do not name: a vector that was merged with that of a winner is in another file.
    pub fn discard_all_but(&self, committed: &Changes) {
        let vectors = committed.adds.iter().filter_map(|add| add.deletion_vector.as_ref());
        let named: HashSet<ObjectPath> =
            vectors.filter_map(|vector| file_path(vector, self.location.root()).ok().flatten()).collect();
        let mut created = self.created.lock().unwrap_or_else(PoisonError::into_inner);
        for path in created.drain(..).filter(|path| !named.contains(path)) {
            let _ = self.location.store().delete(&path);
        }
    }

    /// Deletes, as far as the store allows it, the files that were written here: the commit that names them was not made.
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

    /// Many of them in one file, small ones too: delta-spark's VACUUM fails on a vector that the log itself holds.
    fn store_all(&self, vectors: &[DeletionVector]) -> Result<Vec<DeletionVectorDescriptor>> {
        if vectors.iter().all(|vector| vector.rows().serialized_size() < self.inline) {
            return Ok(vectors.iter().map(DeletionVector::to_inline).collect());
        }
        let mut descriptors = Vec::with_capacity(vectors.len());
        let (mut first, mut bytes) = (0, 0);
        for (at, vector) in vectors.iter().enumerate() {
            bytes += vector.rows().serialized_size();
            if bytes < FILE && at + 1 < vectors.len() {
                continue;
            }
            let (body, stored) = write_file(&vectors[first..=at], "", Uuid::new_v4())?;
            if let Some(path) =
                stored.first().map(|d| file_path(d, self.location.root())).transpose()?.flatten()
            {
                self.created.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
                self.location.store().put(&path, body)?;
            }
            descriptors.extend(stored);
            (first, bytes) = (at + 1, 0);
        }
        Ok(descriptors)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::ObjectAdapter;

    /// Every sixteenth row: two bytes a row.
    fn vector(rows: u64) -> DeletionVector {
        (0..rows).map(|row| row * 16).collect()
    }

    #[test]
    fn vectors_share_a_file_until_it_is_large() {
        let root = ObjectPath::new("memory://", "/t");
        let location = Location::with_store(root, Arc::new(ObjectAdapter::memory()));
        let stored = StoredVectors::new(&location);
        let large = vector((FILE as u64) / 4);
        assert!((FILE / 2..FILE).contains(&large.rows().serialized_size()));
        let small = vector(3);
        let vectors = [small.clone(), large.clone(), large, small.clone(), small];
        let descriptors = stored.store_all(&vectors).unwrap();
        let file = |d: &DeletionVectorDescriptor| file_path(d, location.root()).unwrap().unwrap();
        let files: Vec<ObjectPath> = descriptors.iter().map(file).collect();
        assert!(files[..3].iter().all(|f| *f == files[0]), "{files:?}");
        assert!(files[3..].iter().all(|f| *f == files[3]) && files[3] != files[0], "{files:?}");
        for (descriptor, vector) in descriptors.iter().zip(&vectors) {
            assert!(stored.load(descriptor).unwrap().rows() == vector.rows());
        }
        stored.discard();
        assert!(descriptors.iter().all(|d| stored.load(d).is_err()));
    }
}
