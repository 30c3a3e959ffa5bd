use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_core::actions::ObjectPath;
use deltaic_core::store::{FileMeta, Location, PutOutcome, Store};
use deltaic_core::{Error, Result};

const LOG: &str = "_delta_log/";

/// A table as it lies in a store, in memory: a [`Store`] that cannot be written. Copies share the bodies, so that each damage can
/// have a table of its own.
#[derive(Debug, Clone, Default)]
pub struct Image {
    /// Body and time of each object, by its name below the root.
    pub objects: BTreeMap<String, (Bytes, i64)>,
}

impl Image {
    /// The root of every image.
    pub fn root() -> ObjectPath {
        ObjectPath::new("memory://", "/t")
    }

    /// Everything that is at a location.
    pub fn of(location: &Location) -> Self {
        let (root, store) = (location.root(), location.store());
        let files = store.list_all(root).unwrap().into_iter();
        let read = |f: FileMeta| (f.name.clone(), (store.get(&root.join(&f.name)).unwrap(), f.modified));
        Image { objects: files.map(read).collect() }
    }

    /// A place that holds a copy of it.
    pub fn location(&self) -> Location {
        Location::with_store(Image::root(), Arc::new(self.clone()))
    }

    /// The names of the files of the log, sidecars included.
    pub fn log(&self) -> Vec<String> {
        self.objects.keys().filter(|name| name.starts_with(LOG)).cloned().collect()
    }

    /// Without the files of the log for which this holds.
    pub fn without(mut self, dropped: impl Fn(&str) -> bool) -> Self {
        self.objects.retain(|name, _| !name.strip_prefix(LOG).is_some_and(&dropped));
        self
    }

    /// The body of an object.
    pub fn body(&self, name: &str) -> &Bytes {
        &self.objects[name].0
    }

    /// Creates or replaces an object; a new one is newer than all.
    pub fn put(&mut self, name: &str, body: Bytes) {
        let modified = self.objects.get(name).map_or(i64::MAX / 2, |(_, modified)| *modified);
        self.objects.insert(name.to_owned(), (body, modified));
    }

    fn key(&self, path: &ObjectPath) -> String {
        let root = Image::root();
        path.key().strip_prefix(root.key()).unwrap_or(path.key()).trim_start_matches('/').to_owned()
    }

    fn object(&self, path: &ObjectPath) -> Result<&(Bytes, i64)> {
        self.objects.get(&self.key(path)).ok_or_else(|| Error::NotFound { path: path.to_string() })
    }

    fn refused<T>(path: &ObjectPath) -> Result<T> {
        Err(Error::storage("put", path.to_string(), "nothing is written here"))
    }
}

impl Store for Image {
    fn list_from(&self, dir: &ObjectPath, from: &str) -> Result<Vec<FileMeta>> {
        let all = self.list_all(dir)?.into_iter();
        Ok(all.filter(|f| !f.name.contains('/') && f.name.as_str() >= from).collect())
    }

    fn list_all(&self, dir: &ObjectPath) -> Result<Vec<FileMeta>> {
        let below = match self.key(dir) {
            key if key.is_empty() => key,
            key => format!("{key}/"),
        };
        let objects = self.objects.range(below.clone()..).take_while(|(name, _)| name.starts_with(&below));
        let meta = |(name, (body, modified)): (&String, &(Bytes, i64))| FileMeta {
            name: name[below.len()..].to_owned(),
            size: body.len() as u64,
            modified: *modified,
        };
        Ok(objects.map(meta).collect())
    }

    fn head(&self, path: &ObjectPath) -> Result<FileMeta> {
        let (body, modified) = self.object(path)?;
        Ok(FileMeta { name: path.name().to_owned(), size: body.len() as u64, modified: *modified })
    }

    fn get(&self, path: &ObjectPath) -> Result<Bytes> {
        self.object(path).map(|(body, _)| body.clone())
    }

    fn get_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes> {
        let body = &self.object(path)?.0;
        let size = body.len() as u64;
        if range.start > range.end || range.start >= size {
            return Err(Error::storage("get", path.to_string(), format!("{range:?} of {size} bytes")));
        }
        Ok(body.slice(range.start as usize..range.end.min(size) as usize))
    }

    fn put_if_absent(&self, path: &ObjectPath, _: Bytes) -> Result<PutOutcome> {
        Image::refused(path)
    }

    fn put(&self, path: &ObjectPath, _: Bytes) -> Result<()> {
        Image::refused(path)
    }

    fn delete(&self, path: &ObjectPath) -> Result<()> {
        Image::refused(path)
    }
}
