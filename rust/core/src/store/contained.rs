use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::{AllowedLocations, FileMeta, PutOutcome, Store, staged_for};
use crate::actions::ObjectPath;
use crate::error::{Error, Result};

/// The only access of a table to a store: nothing outside the table is written or deleted, and in `_delta_log` only
/// files with a name of the log. Only what [`AllowedLocations`] allows is read.
#[derive(Debug)]
pub(crate) struct Contained {
    inner: Arc<dyn Store>,
    root: ObjectPath,
    reads: AllowedLocations,
}

impl Contained {
    pub(crate) fn new(inner: Arc<dyn Store>, root: ObjectPath, reads: AllowedLocations) -> Self {
        Contained { inner, root, reads }
    }

    fn check(&self, operation: &'static str, path: &ObjectPath) -> Result<()> {
        let refused = |reason: &str| {
            Err(Error::OutsideTable {
                path: path.to_string(),
                table: self.root.to_string(),
                operation,
                reason: reason.to_owned(),
            })
        };
        let Some(name) = path.below(&self.root) else { return refused("it is not below the table") };
        match name.split_once('/').unwrap_or((name, "")) {
            ("_delta_log", file) if is_of_log(file) => Ok(()),
            (folder, _) if is_log(folder) => refused("the log has no files of such a name"),
            _ => Ok(()),
        }
    }
}

/// Whether some file system takes a name for `_delta_log`, or for a path below: without case, with dots, spaces or a
/// stream after it, with backslashes.
fn is_log(folder: &str) -> bool {
    let name = folder.split(['\\', ':']).next().unwrap_or_default();
    name.trim_end_matches(['.', ' ']).eq_ignore_ascii_case("_delta_log")
}

/// Whether a name below `_delta_log` is one that the log gives.
pub(crate) fn is_of_log(name: &str) -> bool {
    match name.split_once('/') {
        Some(("_sidecars", sidecar)) => !sidecar.contains('/'),
        Some(_) => false,
        None => {
            let known = |name: &str| name == "_last_checkpoint" || is_probe(name) || is_of_version(name);
            known(name) || staged_for(name).is_some_and(known)
        }
    }
}

/// Whether it begins with a version, as commits, checksums and checkpoints do: twenty digits.
fn is_of_version(name: &str) -> bool {
    name.split_once('.').is_some_and(|(version, kind)| {
        version.len() == 20 && version.bytes().all(|b| b.is_ascii_digit()) && !kind.is_empty()
    })
}

/// What a writer tries a store with; see `commit::probe`.
fn is_probe(name: &str) -> bool {
    name.starts_with("_probe_") && name.ends_with(".tmp")
}

impl Store for Contained {
    fn list_from(&self, dir: &ObjectPath, from: &str) -> Result<Vec<FileMeta>> {
        self.inner.list_from(dir, from)
    }

    fn list_all(&self, dir: &ObjectPath) -> Result<Vec<FileMeta>> {
        self.inner.list_all(dir)
    }

    fn list_tree(&self, dir: &ObjectPath) -> Result<(Vec<FileMeta>, Vec<ObjectPath>)> {
        self.inner.list_tree(dir)
    }

    fn entries(&self, dir: &ObjectPath) -> Result<Vec<String>> {
        self.inner.entries(dir)
    }

    fn one_level(&self, dir: &ObjectPath) -> Result<Option<(Vec<FileMeta>, Vec<String>)>> {
        self.inner.one_level(dir)
    }

    fn real_path(&self, path: &ObjectPath) -> Result<Option<ObjectPath>> {
        self.inner.real_path(path)
    }

    fn list_first(&self, dir: &ObjectPath, from: &str) -> Result<(Vec<FileMeta>, bool)> {
        self.inner.list_first(dir, from)
    }

    fn is_far(&self) -> bool {
        self.inner.is_far()
    }

    fn kept(&self, path: &ObjectPath, range: Option<&Range<u64>>) -> Option<Bytes> {
        self.reads.check(path).ok()?;
        self.inner.kept(path, range)
    }

    fn afresh(&self) -> Option<Arc<dyn Store>> {
        let inner = self.inner.afresh()?;
        Some(Arc::new(Contained { inner, root: self.root.clone(), reads: self.reads.clone() }))
    }

    fn head(&self, path: &ObjectPath) -> Result<FileMeta> {
        self.reads.check(path)?;
        self.inner.head(path)
    }

    fn head_many(&self, paths: &[ObjectPath]) -> Vec<Result<FileMeta>> {
        let refusals: Vec<Option<Error>> = paths.iter().map(|p| self.reads.check(p).err()).collect();
        if refusals.iter().all(Option::is_none) {
            return self.inner.head_many(paths);
        }
        let head = |(path, refusal): (&ObjectPath, Option<Error>)| {
            refusal.map_or_else(|| self.inner.head(path), Err)
        };
        paths.iter().zip(refusals).map(head).collect()
    }

    fn get(&self, path: &ObjectPath) -> Result<Bytes> {
        self.reads.check(path)?;
        self.inner.get(path)
    }

    fn get_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes> {
        self.reads.check(path)?;
        self.inner.get_range(path, range)
    }

    fn get_many(&self, paths: &[ObjectPath]) -> Vec<Result<Bytes>> {
        let refusals: Vec<Option<Error>> = paths.iter().map(|p| self.reads.check(p).err()).collect();
        if refusals.iter().all(Option::is_none) {
            return self.inner.get_many(paths);
        }
        let get =
            |(path, refusal): (&ObjectPath, Option<Error>)| refusal.map_or_else(|| self.inner.get(path), Err);
        paths.iter().zip(refusals).map(get).collect()
    }

    fn get_ranges(&self, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.reads.check(path)?;
        self.inner.get_ranges(path, ranges)
    }

    fn put_if_absent(&self, path: &ObjectPath, body: Bytes) -> Result<PutOutcome> {
        self.check("write", path)?;
        self.inner.put_if_absent(path, body)
    }

    fn put(&self, path: &ObjectPath, body: Bytes) -> Result<()> {
        self.check("write", path)?;
        self.inner.put(path, body)
    }

    fn put_parts(&self, path: &ObjectPath, parts: &mut dyn Iterator<Item = Result<Bytes>>) -> Result<()> {
        self.check("write", path)?;
        self.inner.put_parts(path, parts)
    }

    fn make_durable(&self, root: &ObjectPath, files: &[ObjectPath]) -> Result<()> {
        self.inner.make_durable(root, files)
    }

    fn delete(&self, path: &ObjectPath) -> Result<()> {
        self.check("delete", path)?;
        self.inner.delete(path)
    }

    fn delete_many(&self, paths: &[ObjectPath]) -> Vec<Result<()>> {
        let refusals: Vec<Option<Error>> = paths.iter().map(|p| self.check("delete", p).err()).collect();
        if refusals.iter().all(Option::is_none) {
            return self.inner.delete_many(paths);
        }
        let delete = |(path, refusal): (&ObjectPath, Option<Error>)| {
            refusal.map_or_else(|| self.inner.delete(path), Err)
        };
        paths.iter().zip(refusals).map(delete).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_by_another_name_is_refused() {
        let root = ObjectPath::new("file://", "/t");
        let door = Contained::new(
            Arc::new(crate::store::ObjectAdapter::memory()),
            root.clone(),
            AllowedLocations::Any,
        );
        for (name, refused) in [
            ("_delta_log/00000000000000000001.json", false),
            ("_DELTA_LOG/00000000000000000001.json", true),
            ("_Delta_log", true),
            ("_delta_log./00000000000000000001.json", true),
            ("_delta_log .. /00000000000000000001.json", true),
            ("_delta_log::$INDEX_ALLOCATION/00000000000000000001.json", true),
            ("_delta_log\\00000000000000000001.json", true),
            ("_delta_logs/a.parquet", false),
            ("p=_delta_log/a.parquet", false),
            ("a/_delta_log/a.parquet", false),
        ] {
            let done = door.put(&root.join(name), Bytes::new());
            assert_eq!(matches!(done, Err(Error::OutsideTable { .. })), refused, "{name}: {done:?}");
        }
    }

    #[test]
    fn names_of_the_log() {
        for (name, of_log) in [
            ("00000000000000000001.json", true),
            ("00000000000000000001.crc", true),
            ("00000000000000000001.checkpoint.parquet", true),
            ("_last_checkpoint", true),
            ("_sidecars/a.parquet", true),
            ("_probe_1.tmp", true),
            (".00000000000000000001.json.0190a8e1b9f07c3c8f0b1d2e3f405162.tmp", true),
            (".00000000000000000001.json.tmp", false),
            (".x.json.0190a8e1b9f07c3c8f0b1d2e3f405162.tmp", false),
            ("_sidecars/x/a.parquet", false),
            ("data/a.parquet", false),
            ("a.parquet", false),
            ("1.json", false),
            ("00000000000000000001", false),
            ("", false),
        ] {
            assert_eq!(is_of_log(name), of_log, "{name}");
        }
    }
}
