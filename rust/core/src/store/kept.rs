//! Objects that never change, as this process has read or written them: commits, checkpoints, checksums, deletion vectors.
//! A second reading of one is no request.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use bytes::Bytes;

use crate::actions::ObjectPath;
use crate::error::{Error, Result};

/// The variable of the environment that says how many bytes are kept, 0 for none.
const SETTING: &str = "DELTAIC_CACHE_BYTES";
const DEFAULT: usize = 64 << 20;
/// The part of all that one object may take.
const SHARE: usize = 8;

/// One store, as it is opened with some options: who has other credentials shares nothing.
#[derive(Debug)]
pub(crate) struct Kept {
    store: u64,
    most: usize,
    /// What the store last said of objects of the log, which may be written again after a table is dropped: their tags.
    tags: Mutex<HashMap<String, String>>,
}

/// An object, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    store: u64,
    path: String,
    range: Option<Range<u64>>,
}

struct Entry {
    tag: Option<String>,
    body: Bytes,
    used: u64,
}

#[derive(Default)]
struct All {
    entries: HashMap<Key, Entry>,
    /// By when they were last used.
    order: BTreeMap<u64, Key>,
    bytes: usize,
    clock: u64,
}

static ALL: Mutex<Option<All>> = Mutex::new(None);

impl Kept {
    /// For a store that is opened with some options; `None` where nothing is kept.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a value of the variable that is no number.
    pub(super) fn of(opened_with: &impl Hash) -> Result<Option<Self>> {
        let most = match std::env::var(SETTING) {
            Ok(text) => text.trim().parse().map_err(|_| Error::InvalidArgument {
                argument: SETTING.into(),
                reason: format!("`{text}` is no number of bytes"),
            })?,
            Err(_) => DEFAULT,
        };
        let mut hasher = DefaultHasher::new();
        opened_with.hash(&mut hasher);
        let (store, tags) = (hasher.finish(), Mutex::default());
        Ok((most > 0).then_some(Kept { store, most, tags }))
    }

    /// An object or a part of it, if it is kept and still what the store has.
    pub(super) fn find(&self, path: &ObjectPath, range: Option<&Range<u64>>) -> Option<Bytes> {
        let kind = Kind::of(path)?;
        let tag = match kind {
            Kind::Log => Some(self.tags().get(path.key())?.clone()),
            Kind::Vector => None,
        };
        with_all(|all| {
            let whole = self.key(path, None);
            if let Some(body) = all.find(&whole, tag.as_ref()) {
                let Some(range) = range else { return Some(body) };
                let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
                return (start <= end && end <= body.len()).then(|| body.slice(start..end));
            }
            all.find(&self.key(path, Some(range?)), tag.as_ref())
        })
        .flatten()
    }

    /// The store has listed an object.
    pub(super) fn listed(&self, path: &ObjectPath, tag: Option<&str>) {
        if let (Some(Kind::Log), Some(tag)) = (Kind::of(path), tag) {
            self.tags().insert(path.key().to_owned(), tag.to_owned());
        }
    }

    /// An object, or a part of it, was read or written.
    pub(super) fn keep(
        &self,
        path: &ObjectPath,
        range: Option<&Range<u64>>,
        tag: Option<&str>,
        body: &Bytes,
    ) {
        let tag = match (Kind::of(path), tag) {
            (Some(Kind::Log), Some(tag)) => Some(tag.to_owned()),
            (Some(Kind::Vector), _) => None,
            _ => return,
        };
        if body.len() > self.most / SHARE {
            return;
        }
        self.listed(path, tag.as_deref());
        // not a slice of something larger, which would be kept with it
        let body = Bytes::copy_from_slice(body);
        with_all(|all| all.put(self.key(path, range), tag, body, self.most));
    }

    fn tags(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.tags.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, path: &ObjectPath, range: Option<&Range<u64>>) -> Key {
        Key { store: self.store, path: path.to_string(), range: range.cloned() }
    }
}

impl All {
    fn find(&mut self, key: &Key, tag: Option<&String>) -> Option<Bytes> {
        let entry = self.entries.get_mut(key).filter(|entry| entry.tag.as_ref() == tag)?;
        self.order.remove(&entry.used);
        self.clock += 1;
        entry.used = self.clock;
        self.order.insert(self.clock, key.clone());
        Some(entry.body.clone())
    }

    fn put(&mut self, key: Key, tag: Option<String>, body: Bytes, most: usize) {
        self.clock += 1;
        self.bytes += body.len();
        self.order.insert(self.clock, key.clone());
        if let Some(old) = self.entries.insert(key, Entry { tag, body, used: self.clock }) {
            self.order.remove(&old.used);
            self.bytes -= old.body.len();
        }
        while self.bytes > most
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.bytes -= self.entries.remove(&oldest).map_or(0, |entry| entry.body.len());
        }
    }
}

/// Uses what is kept, unless another thread does: a forked child must not wait for a thread that it does not have.
fn with_all<T>(use_them: impl FnOnce(&mut All) -> T) -> Option<T> {
    let mut all = match ALL.try_lock() {
        Ok(all) => all,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    Some(use_them(all.get_or_insert_default()))
}

/// What is kept.
enum Kind {
    /// Files of the log with a version in their name, and sidecars: the tag says whether one is still the same.
    Log,
    /// Files of deletion vectors: their names are never used again.
    Vector,
}

impl Kind {
    fn of(path: &ObjectPath) -> Option<Self> {
        let mut parts = path.key().rsplit('/');
        let (name, folder, above) = (parts.next()?, parts.next()?, parts.next());
        if name.starts_with("deletion_vector_") && name.ends_with(".bin") {
            return Some(Kind::Vector);
        }
        let versioned = folder == "_delta_log" && name.starts_with(|c: char| c.is_ascii_digit());
        let sidecar = folder == "_sidecars" && above == Some("_delta_log");
        let known = [".json", ".crc", ".parquet"].iter().any(|end| name.ends_with(end));
        (known && (versioned || sidecar)).then_some(Kind::Log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test at a time: what another thread uses is not found.
    static ALONE: Mutex<()> = Mutex::new(());

    fn alone() -> MutexGuard<'static, ()> {
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(key: &str) -> ObjectPath {
        ObjectPath::new("s3://bucket", key)
    }

    fn kept(name: &str, most: usize) -> Kept {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Kept { store: hasher.finish(), most, tags: Mutex::default() }
    }

    #[test]
    fn a_file_of_the_log_is_found_while_the_store_has_the_same() {
        let _alone = alone();
        let (kept, commit) = (kept("same", 1 << 20), path("/t/_delta_log/00000000000000000001.json"));
        kept.keep(&commit, None, Some("a"), &Bytes::from_static(b"one"));
        assert_eq!(kept.find(&commit, None).unwrap(), "one");
        assert_eq!(kept.find(&commit, Some(&(1..3))).unwrap(), "ne");
        assert!(kept.find(&commit, Some(&(1..9))).is_none());
        // the table was dropped and made again
        kept.listed(&commit, Some("b"));
        assert!(kept.find(&commit, None).is_none());
    }

    #[test]
    fn what_was_not_listed_by_this_store_is_not_found() {
        let _alone = alone();
        let commit = path("/t/_delta_log/00000000000000000001.json");
        kept("listed", 1 << 20).keep(&commit, None, Some("a"), &Bytes::from_static(b"one"));
        let other = kept("listed", 1 << 20);
        assert!(other.find(&commit, None).is_none());
        other.listed(&commit, Some("a"));
        assert!(other.find(&commit, None).is_some());
        // other credentials
        let stranger = kept("stranger", 1 << 20);
        stranger.listed(&commit, Some("a"));
        assert!(stranger.find(&commit, None).is_none());
    }

    #[test]
    fn only_what_never_changes_is_kept() {
        let _alone = alone();
        let kept = kept("never", 1 << 20);
        for (key, is_kept) in [
            ("/t/_delta_log/_last_checkpoint", false),
            ("/t/part-0.parquet", false),
            ("/t/_delta_log/00000000000000000001.crc", true),
            ("/t/_delta_log/_sidecars/a.parquet", true),
            ("/t/deletion_vector_a.bin", true),
        ] {
            kept.keep(&path(key), None, Some("a"), &Bytes::from_static(b"x"));
            assert_eq!(kept.find(&path(key), None).is_some(), is_kept, "{key}");
        }
    }

    #[test]
    fn the_least_recently_used_goes_first_and_what_is_large_is_not_kept() {
        let _alone = alone();
        let mut all = All::default();
        let key = |n: u64| Key { store: 0, path: n.to_string(), range: None };
        for n in 0..4 {
            all.put(key(n), None, Bytes::from_static(&[0; 10]), 40);
        }
        assert!(all.find(&key(0), None).is_some());
        all.put(key(4), None, Bytes::from_static(&[0; 10]), 40);
        assert!(all.find(&key(1), None).is_none() && all.find(&key(0), None).is_some());
        assert_eq!((all.bytes, all.entries.len(), all.order.len()), (40, 4, 4));
        let (kept, vector) = (kept("large", 80), path("/t/deletion_vector_b.bin"));
        kept.keep(&vector, None, None, &Bytes::from_static(&[0; 11]));
        assert!(kept.find(&vector, None).is_none());
    }
}
