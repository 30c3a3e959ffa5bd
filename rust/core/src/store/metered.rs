use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::Bytes;

use super::{FileMeta, PutOutcome, Store};
use crate::actions::ObjectPath;
use crate::error::Result;

/// Requests and bytes that went through a [`Metered`] store.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub(crate) lists: AtomicU64,
    pub(crate) listed: AtomicU64,
    pub(crate) gets: AtomicU64,
    pub(crate) bytes: AtomicU64,
}

/// A store that counts what is read through it.
#[derive(Debug)]
pub(crate) struct Metered {
    inner: Arc<dyn Store>,
    meter: Arc<Meter>,
}

impl Metered {
    pub(crate) fn new(inner: Arc<dyn Store>, meter: Arc<Meter>) -> Self {
        Metered { inner, meter }
    }

    fn listed(&self, files: Result<Vec<FileMeta>>) -> Result<Vec<FileMeta>> {
        self.meter.lists.fetch_add(1, Relaxed);
        if let Ok(files) = &files {
            self.meter.listed.fetch_add(files.len() as u64, Relaxed);
        }
        files
    }

    fn got(&self, body: &Bytes) {
        self.meter.bytes.fetch_add(body.len() as u64, Relaxed);
    }
}

impl Store for Metered {
    fn list_from(&self, dir: &ObjectPath, from: &str) -> Result<Vec<FileMeta>> {
        self.listed(self.inner.list_from(dir, from))
    }

    fn list_all(&self, dir: &ObjectPath) -> Result<Vec<FileMeta>> {
        self.listed(self.inner.list_all(dir))
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
        let (files, all) = self.inner.list_first(dir, from)?;
        Ok((self.listed(Ok(files))?, all))
    }

    fn is_far(&self) -> bool {
        self.inner.is_far()
    }

    fn kept(&self, path: &ObjectPath, range: Option<&Range<u64>>) -> Option<Bytes> {
        self.inner.kept(path, range)
    }

    fn head(&self, path: &ObjectPath) -> Result<FileMeta> {
        self.meter.gets.fetch_add(1, Relaxed);
        self.inner.head(path)
    }

    fn head_many(&self, paths: &[ObjectPath]) -> Vec<Result<FileMeta>> {
        self.meter.gets.fetch_add(paths.len() as u64, Relaxed);
        self.inner.head_many(paths)
    }

    fn get(&self, path: &ObjectPath) -> Result<Bytes> {
        if let Some(kept) = self.inner.kept(path, None) {
            return Ok(kept);
        }
        self.meter.gets.fetch_add(1, Relaxed);
        self.inner.get(path).inspect(|b| self.got(b))
    }

    fn get_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes> {
        self.meter.gets.fetch_add(1, Relaxed);
        self.inner.get_range(path, range).inspect(|b| self.got(b))
    }

    fn get_many(&self, paths: &[ObjectPath]) -> Vec<Result<Bytes>> {
        let mut all: Vec<Option<Result<Bytes>>> =
            paths.iter().map(|path| self.inner.kept(path, None).map(Ok)).collect();
        let asked: Vec<ObjectPath> =
            paths.iter().zip(&all).filter(|(_, kept)| kept.is_none()).map(|(path, _)| path.clone()).collect();
        self.meter.gets.fetch_add(asked.len() as u64, Relaxed);
        let got = self.inner.get_many(&asked);
        got.iter().flatten().for_each(|b| self.got(b));
        for (place, got) in all.iter_mut().filter(|place| place.is_none()).zip(got) {
            *place = Some(got);
        }
        all.into_iter().flatten().collect()
    }

    fn get_ranges(&self, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if ranges.iter().any(|range| self.inner.kept(path, Some(range)).is_none()) {
            self.meter.gets.fetch_add(1, Relaxed);
        }
        self.inner.get_ranges(path, ranges).inspect(|all| all.iter().for_each(|b| self.got(b)))
    }

    fn put_if_absent(&self, path: &ObjectPath, body: Bytes) -> Result<PutOutcome> {
        self.inner.put_if_absent(path, body)
    }

    fn put(&self, path: &ObjectPath, body: Bytes) -> Result<()> {
        self.inner.put(path, body)
    }

    fn put_parts(&self, path: &ObjectPath, parts: &mut dyn Iterator<Item = Result<Bytes>>) -> Result<()> {
        self.inner.put_parts(path, parts)
    }

    fn make_durable(&self, root: &ObjectPath, files: &[ObjectPath]) -> Result<()> {
        self.inner.make_durable(root, files)
    }

    fn delete(&self, path: &ObjectPath) -> Result<()> {
        self.inner.delete(path)
    }

    fn delete_many(&self, paths: &[ObjectPath]) -> Vec<Result<()>> {
        self.inner.delete_many(paths)
    }
}
