use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::actions::{DeletionVectorDescriptor, FilePath, ObjectPath};
use crate::error::Result;

/// The keys (path, deletion-vector id) that the commits of a tail mention. Layers of an advanced snapshot are shared.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeySet {
    layers: Vec<Arc<Layer>>,
    with_vector: bool,
}

/// Keys with filters in front: nearly all rows of a checkpoint are in no set, and a bit in the cache shows it.
#[derive(Debug)]
struct Layer {
    keys: Keys,
    /// A bit for each hash modulo its length, a power of two.
    filter: Box<[u64]>,
    /// The same for the marks of the ends of the keys.
    ends: Box<[u64]>,
}

/// Keys with their hashes, so that each is hashed once.
type Keys = HashTable<(u64, Box<str>)>;

fn holds(keys: &Keys, key: &str, hash: u64) -> bool {
    keys.find(hash, |(known, other)| *known == hash && other.as_ref() == key).is_some()
}

/// One for all keys, so that a probe hashes once.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::default);

/// Bits of the filter for each key: one probe in 16 of an absent key continues to the set.
const BITS_A_KEY: usize = 16;

impl Layer {
    fn new(keys: Keys) -> Self {
        let words = (keys.len() * BITS_A_KEY / 64 + 1).next_power_of_two();
        let mut filter = vec![0; words].into_boxed_slice();
        let mut ends = filter.clone();
        for (hash, key) in &keys {
            let (word, bit) = place(*hash, words);
            filter[word] |= bit;
            if let Some(end) = key.as_bytes().last_chunk() {
                let (word, bit) = place(mark(end), words);
                ends[word] |= bit;
            }
        }
        Layer { keys, filter, ends }
    }

    fn contains(&self, key: &str, hash: u64) -> bool {
        let (word, bit) = place(hash, self.filter.len());
        self.filter[word] & bit != 0 && holds(&self.keys, key, hash)
    }
}

/// Where the bit of a hash is in a filter of so many words.
#[inline]
fn place(hash: u64, words: usize) -> (usize, u64) {
    ((hash >> 6) as usize & (words - 1), 1 << (hash & 63))
}

/// Bytes of the end of a path: those that are marked, which hold most of what differs between names of files, and an extension.
const END: usize = 40;
const EXTENSION: usize = 8;
/// Digits of an escape that may reach into the last bytes of a path from before.
const DIGITS: usize = 2;

/// A number from the end of a path. It is no hash that withstands an attack: a false hit costs a look-up.
#[inline]
fn mark(end: &[u8; END]) -> u64 {
    const FACTORS: [u64; 4] =
        [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];
    let (words, _) = end[..END - EXTENSION].as_chunks::<8>();
    let mut all = 0;
    for (word, factor) in words.iter().zip(FACTORS) {
        all = (all ^ u64::from_le_bytes(*word)).wrapping_mul(factor);
        all ^= all >> 32;
    }
    all
}

/// The end of a path as the log has it, where the identity of the file has the same: nothing in it is escaped, and it is all
/// of one name.
#[inline]
fn end_of(written: &str) -> Option<&[u8; END]> {
    const fn eight(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    const ESCAPES: u64 = eight(b'%');
    const SLASHES: u64 = eight(b'/');
    const ONES: u64 = eight(1);
    const HIGHEST: u64 = eight(0x80);
    // a byte of the result has its highest bit where that of the argument is zero
    let zeros = |x: u64| x.wrapping_sub(ONES) & !x & HIGHEST;
    let changes_in = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        zeros(word ^ ESCAPES) | zeros(word ^ SLASHES)
    };
    let with_digits: &[u8; DIGITS + END] = written.as_bytes().last_chunk()?;
    let mut changes = changes_in(with_digits.last_chunk()?);
    // a loop and no iterator of both: this is for every file, and is to be inlined
    for word in with_digits.as_chunks().0 {
        changes |= changes_in(word);
    }
    if changes == 0 { with_digits.last_chunk() } else { None }
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

    /// Whether a file without a deletion vector may be among the keys, by the end of its path as the log has it.
    #[inline]
    pub(crate) fn may_hold(&self, written: &str) -> bool {
        let Some(end) = end_of(written) else { return true };
        let mark = mark(end);
        self.layers.iter().any(|layer| {
            let (word, bit) = place(mark, layer.ends.len());
            layer.ends[word] & bit != 0
        })
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
            let mut merged = Keys::new();
            for (hash, key) in self.layers.iter().flat_map(|layer| &layer.keys) {
                if !holds(&merged, key, *hash) {
                    merged.insert_unique(*hash, (*hash, key.clone()), |(hash, _)| *hash);
                }
            }
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
    keys: Keys,
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
        let hash = HASHER.hash_one(key.as_ref());
        if holds(&self.keys, &key, hash) {
            return false;
        }
        self.keys.insert_unique(hash, (hash, key.into_owned().into_boxed_str()), |(hash, _)| *hash);
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_among_the_keys_may_be_among_them_by_its_end(
            paths in vec("(/|file:/|s3://b/)?([a-z%/.]{0,3}|%2[05F]|\\./|p=1/){0,6}([0-9a-z-]{0,50}|[0-9a-f%]{40})(\\.parquet)?", 1..20),
            listed in vec(any::<bool>(), 20),
        ) {
            let root = ObjectPath::new("memory://", "/t");
            let mut keys = KeyLayer::default();
            for (path, _) in paths.iter().zip(&listed).filter(|(_, listed)| **listed) {
                if let Ok(key) = key(path, None, &root) {
                    keys.insert(key, false);
                }
            }
            let keys = keys.finish();
            for path in &paths {
                let Ok(key) = key(path, None, &root) else { continue };
                prop_assert!(!keys.contains(&key) || keys.may_hold(path), "{}", path);
            }
        }
    }

    #[test]
    fn an_escape_before_the_end_makes_the_key_shorter_than_the_path() {
        let root = ObjectPath::new("memory://", "/t");
        for length in END - 4..END + 4 {
            let path = format!("%20{}", "x".repeat(length));
            let mut keys = KeyLayer::default();
            keys.insert(key(&path, None, &root).unwrap(), false);
            assert!(keys.finish().may_hold(&path), "{path}");
        }
    }

    #[test]
    fn names_that_differ_have_different_ends() {
        let mut keys = KeyLayer::default();
        let name = |n: u64| {
            format!("p=1/part-00000-{:016x}.c000.snappy.parquet", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        };
        (0..1000).for_each(|n| assert!(keys.insert(name(n).into(), false)));
        let keys = keys.finish();
        assert!((0..1000).all(|n| keys.may_hold(&name(n))));
        let hits = (1000..101_000).filter(|n| keys.may_hold(&name(*n))).count();
        assert!(hits < 10_000, "{hits} of 100000 names that are not there are looked up");
        // what has no such end is looked up
        assert!(keys.may_hold("a.parquet") && keys.may_hold(&name(5000).replace(".c000", "%2Ec000")));
    }

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
