use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::actions::{DeletionVectorDescriptor, LogPath, ObjectPath};
use crate::error::Result;

/// The keys (path, deletion-vector id) that the commits of a tail mention. Layers of an advanced snapshot are shared.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeySet {
    layers: Vec<Arc<HashSet<Box<str>, RandomState>>>,
    with_vector: bool,
}

/// Layers beyond this number are merged, so that a probe stays a few look-ups.
const MAX_LAYERS: usize = 8;

/// The key of a logical file: its canonical path, and the id of its deletion vector after a NUL.
pub(crate) fn key<'a>(
    path: &'a str,
    vector: Option<&DeletionVectorDescriptor>,
    root: &ObjectPath,
) -> Result<Cow<'a, str>> {
    let identity = LogPath::identity_of(path, root)?;
    Ok(match vector {
        None => identity,
        Some(vector) => Cow::Owned(format!("{identity}\0{}", vector.unique_id())),
    })
}

impl KeySet {
    pub(crate) fn is_empty(&self) -> bool {
        self.layers.iter().all(|l| l.is_empty())
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.layers.iter().any(|l| l.contains(key))
    }

    /// Whether any key has a deletion vector.
    pub(crate) fn has_vectors(&self) -> bool {
        self.with_vector
    }

    /// These keys with the layers of a newer set on top.
    pub(crate) fn stacked(&self, newer: KeySet) -> Self {
        let with_vector = newer.with_vector;
        newer.layers.into_iter().fold(self.clone(), |all, keys| all.push(keys, with_vector))
    }

    fn push(mut self, layer: Arc<HashSet<Box<str>, RandomState>>, with_vector: bool) -> Self {
        if self.layers.len() >= MAX_LAYERS {
            let merged = self.layers.iter().flat_map(|l| l.iter().cloned()).collect();
            self.layers = vec![Arc::new(merged)];
        }
        self.with_vector |= with_vector;
        self.layers.push(layer);
        self
    }
}

/// Keys in the making.
#[derive(Debug, Default)]
pub(crate) struct KeyLayer {
    keys: HashSet<Box<str>, RandomState>,
    with_vector: bool,
}

impl KeyLayer {
    /// The finished set.
    pub(crate) fn finish(self) -> KeySet {
        if self.keys.is_empty() {
            return KeySet::default();
        }
        KeySet::default().push(Arc::new(self.keys), self.with_vector)
    }

    /// Adds a key; tells whether it is new.
    pub(crate) fn insert(&mut self, key: Cow<'_, str>, vector: bool) -> bool {
        self.with_vector |= vector;
        if self.keys.contains(key.as_ref()) {
            return false;
        }
        self.keys.insert(key.into_owned().into_boxed_str())
    }
}
