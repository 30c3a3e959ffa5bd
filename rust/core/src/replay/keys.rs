use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock};

use foldhash::fast::RandomState;

use crate::actions::{DeletionVectorDescriptor, FilePath, ObjectPath};
use crate::error::Result;

/// The keys (path, deletion-vector id) that the commits of a tail mention. Layers of an advanced snapshot are shared.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeySet {
    layers: Vec<Arc<Layer>>,
    with_vector: bool,
}

/// Keys with a filter in front: nearly all rows of a checkpoint are in no set, and a bit in the cache shows it.
#[derive(Debug)]
struct Layer {
    keys: HashSet<Box<str>, RandomState>,
    /// A bit for each hash modulo its length, a power of two.
    filter: Box<[u64]>,
}

/// One for all filters, so that a probe hashes once.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::default);

/// Bits of the filter for each key: one probe in 16 of an absent key continues to the set.
const BITS_A_KEY: usize = 16;

impl Layer {
    fn new(keys: HashSet<Box<str>, RandomState>) -> Self {
        let words = (keys.len() * BITS_A_KEY / 64 + 1).next_power_of_two();
        let mut filter = vec![0; words].into_boxed_slice();
        for key in &keys {
            let (word, bit) = place(HASHER.hash_one(key.as_ref()), words);
            filter[word] |= bit;
        }
        Layer { keys, filter }
    }

    fn contains(&self, key: &str, hash: u64) -> bool {
        let (word, bit) = place(hash, self.filter.len());
        self.filter[word] & bit != 0 && self.keys.contains(key)
    }
}

/// Where the bit of a hash is in a filter of so many words.
fn place(hash: u64, words: usize) -> (usize, u64) {
    ((hash >> 6) as usize & (words - 1), 1 << (hash & 63))
}

/// Layers beyond this number are merged, so that a probe stays a few look-ups.
const MAX_LAYERS: usize = 8;

/// The key of a logical file: its canonical path, and the id of its deletion vector after a NUL.
#[inline]
pub(crate) fn key<'a>(
    path: &'a str,
    vector: Option<&DeletionVectorDescriptor>,
    root: &ObjectPath,
) -> Result<Cow<'a, str>> {
    let identity = FilePath::identity_of(path, root)?;
    Ok(match vector {
        None => identity,
        Some(vector) => Cow::Owned(format!("{identity}\0{}", vector.unique_id())),
    })
}

impl KeySet {
    pub(crate) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    #[inline]
    pub(crate) fn contains(&self, key: &str) -> bool {
        let hash = HASHER.hash_one(key);
        self.layers.iter().any(|l| l.contains(key, hash))
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

    fn push(mut self, layer: Arc<Layer>, with_vector: bool) -> Self {
        if self.layers.len() >= MAX_LAYERS {
            let merged = self.layers.iter().flat_map(|l| l.keys.iter().cloned()).collect();
            self.layers = vec![Arc::new(Layer::new(merged))];
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
        KeySet::default().push(Arc::new(Layer::new(self.keys)), self.with_vector)
    }

    /// Adds a key; returns whether it is new.
    pub(crate) fn insert(&mut self, key: Cow<'_, str>, vector: bool) -> bool {
        self.with_vector |= vector;
        if self.keys.contains(key.as_ref()) {
            return false;
        }
        self.keys.insert(key.into_owned().into_boxed_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacked_sets_hold_the_keys_of_all_and_no_other() {
        let mut all = KeySet::default();
        for layer in 0..3 * MAX_LAYERS {
            let mut keys = KeyLayer::default();
            for file in 0..layer * 7 {
                assert!(keys.insert(format!("{layer}/{file}").into(), false));
                assert!(!keys.insert(format!("{layer}/{file}").into(), false));
            }
            all = all.stacked(keys.finish());
        }
        for layer in 0..3 * MAX_LAYERS {
            for file in 0..200 {
                assert_eq!(all.contains(&format!("{layer}/{file}")), file < layer * 7);
            }
        }
        assert!(KeySet::default().stacked(KeyLayer::default().finish()).is_empty());
    }
}
