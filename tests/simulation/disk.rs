//! The store below the faults: objects in memory, whose age is ours to set, and a memory of every commit that was made.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use deltaic_core::actions::ObjectPath;
use deltaic_core::store::{FileMeta, Location, PutOutcome, Store};
use deltaic_core::{Error, Result};

pub(crate) const DAY: i64 = 86_400_000;

/// A commit that was made, whether or not it is still there.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) body: Bytes,
    pub(crate) modified: i64,
}

#[derive(Debug, Default)]
struct Inner {
    objects: BTreeMap<String, (Bytes, i64)>,
    clock: i64,
    commits: BTreeMap<u64, Made>,
    /// What a store must never do, or a writer have done.
    wrong: Vec<String>,
    /// Whether put-if-absent forgets its condition: to show that it would be seen.
    overwrites: bool,
}

/// Clones share the objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<Inner>>);

fn root() -> ObjectPath {
    ObjectPath::new("memory://", "/t")
}

/// The version of a commit's path.
fn version(key: &str) -> Option<u64> {
    let name = key.split_once("/_delta_log/")?.1.strip_suffix(".json")?;
    (name.len() == 20).then(|| name.parse().ok())?
}

fn not_found(path: &ObjectPath) -> Error {
    Error::NotFound { path: path.to_string() }
}

impl Disk {
    /// An empty one. Each object is a second younger than the one before, and all are younger than a day.
    pub(crate) fn new(overwrites: bool) -> Self {
        let disk = Disk::default();
        disk.inner().clock = chrono::Utc::now().timestamp_millis() - DAY / 2;
        disk.inner().overwrites = overwrites;
        disk
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    /// The table as it lies here, without faults.
    pub(crate) fn location(&self) -> Location {
        Location::with_store(root(), Arc::new(self.clone()))
    }

    /// The table through another store.
    pub(crate) fn through(store: Arc<dyn Store>) -> Location {
        Location::with_store(root(), store)
    }

    /// The same history as nothing but commits, all of them.
    pub(crate) fn commits_only(&self) -> Disk {
        let disk = Disk::default();
        {
            let (ours, mut theirs) = (self.inner(), disk.inner());
            for (version, made) in &ours.commits {
                let path = root().join(&format!("_delta_log/{version:020}.json"));
                theirs.objects.insert(path.key().to_owned(), (made.body.clone(), made.modified));
            }
        }
        disk
    }

    /// Makes everything that is here older.
    pub(crate) fn age(&self, millis: i64) {
        let mut inner = self.inner();
        inner.objects.values_mut().for_each(|o| o.1 -= millis);
        inner.commits.values_mut().for_each(|c| c.modified -= millis);
    }

    /// Every commit that was ever made.
    pub(crate) fn commits(&self) -> BTreeMap<u64, Made> {
        self.inner().commits.clone()
    }

    /// The newest version.
    pub(crate) fn head(&self) -> u64 {
        self.inner().commits.keys().next_back().copied().unwrap_or(0)
    }

    pub(crate) fn wrong(&self) -> Vec<String> {
        self.inner().wrong.clone()
    }

    fn store(&self, path: &ObjectPath, body: Bytes, only_if_absent: bool) -> PutOutcome {
        let mut inner = self.inner();
        if only_if_absent && !inner.overwrites && inner.objects.contains_key(path.key()) {
            return PutOutcome::AlreadyExists;
        }
        inner.clock += 1000;
        let modified = inner.clock;
        if let Some(version) = version(path.key()) {
            let next = inner.commits.keys().next_back().map_or(0, |v| v + 1);
            if version != next {
                inner.wrong.push(format!("commit {version} was made where {next} was next"));
            }
            inner.commits.insert(version, Made { body: body.clone(), modified });
        }
        inner.objects.insert(path.key().to_owned(), (body, modified));
        PutOutcome::Created
    }

    fn below(&self, dir: &ObjectPath) -> Vec<FileMeta> {
        let prefix = format!("{}/", dir.key());
        let inner = self.inner();
        let below = inner.objects.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix));
        below
            .map(|(key, (body, modified))| FileMeta {
                name: key[prefix.len()..].to_owned(),
                size: body.len() as u64,
                modified: *modified,
            })
            .collect()
    }
}

impl Store for Disk {
    fn list_from(&self, dir: &ObjectPath, from: &str) -> Result<Vec<FileMeta>> {
        let all = self.below(dir).into_iter();
        Ok(all.filter(|f| !f.name.contains('/') && f.name.as_str() >= from).collect())
    }

    fn list_all(&self, dir: &ObjectPath) -> Result<Vec<FileMeta>> {
        Ok(self.below(dir))
    }

    fn head(&self, path: &ObjectPath) -> Result<FileMeta> {
        let inner = self.inner();
        let (body, modified) = inner.objects.get(path.key()).ok_or_else(|| not_found(path))?;
        Ok(FileMeta { name: path.name().to_owned(), size: body.len() as u64, modified: *modified })
    }

    fn get(&self, path: &ObjectPath) -> Result<Bytes> {
        self.inner().objects.get(path.key()).map(|o| o.0.clone()).ok_or_else(|| not_found(path))
    }

    fn get_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes> {
        let body = self.get(path)?;
        let (start, end) = (range.start as usize, range.end as usize);
        if end > body.len() {
            return Err(Error::storage("get", path.to_string(), "it is shorter"));
        }
        Ok(body.slice(start..end))
    }

    fn put_if_absent(&self, path: &ObjectPath, body: Bytes) -> Result<PutOutcome> {
        Ok(self.store(path, body, true))
    }

    fn put(&self, path: &ObjectPath, body: Bytes) -> Result<()> {
        self.store(path, body, false);
        Ok(())
    }

    fn delete(&self, path: &ObjectPath) -> Result<()> {
        self.inner().objects.remove(path.key()).map(drop).ok_or_else(|| not_found(path))
    }
}
