use std::collections::BTreeSet;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use crate::actions::ObjectPath;
use crate::error::{Error, Result};

/// One object of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMeta {
    /// Name relative to the folder that was listed, with `/` where it lies deeper.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Modification time, in milliseconds since the Unix epoch.
    pub modified: i64,
}

/// Whether some try of a request may have arrived at the server, or may still do so, without an answer that says what became
/// of it. It goes with the request to the client, which tries again by itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Doubt(Arc<AtomicBool>);

impl Doubt {
    #[cfg_attr(not(feature = "https"), expect(dead_code))]
    pub(super) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The answer of [`Store::put_if_absent`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutOutcome {
    /// The object was absent and is now there, durably.
    Created,
    /// An object existed, and is unchanged. After a retried request it may be our own: read it back.
    AlreadyExists,
}

/// A store of objects. Calls block; they may be made from many threads.
///
/// # Errors
/// Every method gives [`Error::NotFound`] for a missing object and [`Error::Storage`] for anything else.
pub trait Store: Debug + Send + Sync {
    /// Lists the objects directly in `dir` whose name is at or after `from`, ordered by name. One request (or as many
    /// as the store has pages). A folder that does not exist is empty.
    fn list_from(&self, dir: &ObjectPath, from: &str) -> Result<Vec<FileMeta>>;

    /// Lists all objects below `dir`, at any depth, in no order. Links of a file system are neither listed nor followed.
    fn list_all(&self, dir: &ObjectPath) -> Result<Vec<FileMeta>>;

    /// As [`Store::list_all`], and the links of a file system below `dir`. Object stores have none.
    fn list_tree(&self, dir: &ObjectPath) -> Result<(Vec<FileMeta>, Vec<ObjectPath>)> {
        Ok((self.list_all(dir)?, Vec::new()))
    }

    /// The location after every link on the path is followed; `None` if nothing exists there. In an object store it is
    /// where its name says.
    fn real_path(&self, path: &ObjectPath) -> Result<Option<ObjectPath>> {
        Ok(Some(path.clone()))
    }

    /// Names of the objects and folders directly in `dir`, in no order; on stores with folders empty ones, too. A folder
    /// that does not exist is empty.
    fn entries(&self, dir: &ObjectPath) -> Result<Vec<String>> {
        let below = self.list_all(dir)?.into_iter();
        let first = below.map(|file| file.name.split('/').next().unwrap_or_default().to_owned());
        Ok(first.collect::<BTreeSet<String>>().into_iter().collect())
    }

    /// The first objects of [`Store::list_from`], by one request where the store has pages, and whether they are all.
    fn list_first(&self, dir: &ObjectPath, from: &str) -> Result<(Vec<FileMeta>, bool)> {
        Ok((self.list_from(dir, from)?, true))
    }

    /// Whether requests take long enough that two are better made at once.
    fn is_far(&self) -> bool {
        false
    }

    /// An object, or a part of it, that this process has and that costs no request.
    fn kept(&self, path: &ObjectPath, range: Option<&Range<u64>>) -> Option<Bytes> {
        let _ = (path, range);
        None
    }

    /// The same store, of which nothing is kept; `None` where nothing is.
    fn afresh(&self) -> Option<Arc<dyn Store>> {
        None
    }

    /// The objects directly in `dir`, and the names of the folders there, which others may list at the same time. `None`
    /// where one listing of all is as good.
    fn one_level(&self, _dir: &ObjectPath) -> Result<Option<(Vec<FileMeta>, Vec<String>)>> {
        Ok(None)
    }

    /// Size and modification time of an object.
    fn head(&self, path: &ObjectPath) -> Result<FileMeta>;

    /// That of several objects, in order. Stores with latency overlap the requests.
    fn head_many(&self, paths: &[ObjectPath]) -> Vec<Result<FileMeta>> {
        paths.iter().map(|path| self.head(path)).collect()
    }

    /// The whole object.
    fn get(&self, path: &ObjectPath) -> Result<Bytes>;

    /// Part of an object.
    fn get_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes>;

    /// Several objects at once, in order. Stores with latency overlap the requests.
    fn get_many(&self, paths: &[ObjectPath]) -> Vec<Result<Bytes>> {
        paths.iter().map(|p| self.get(p)).collect()
    }

    /// Several parts of one object, in order. Stores with latency overlap and join the requests.
    fn get_ranges(&self, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().map(|r| self.get_range(path, r.clone())).collect()
    }

    /// Creates an object, atomically and durably, only if there is none of that name.
    ///
    /// # Errors
    /// [`Error::Storage`] means that the outcome is unknown: the object may or may not be there.
    fn put_if_absent(&self, path: &ObjectPath, body: Bytes) -> Result<PutOutcome>;

    /// Creates or replaces an object, durably.
    fn put(&self, path: &ObjectPath, body: Bytes) -> Result<()>;

    /// Creates or replaces an object from parts, which are taken one after the other, so that not all of them are in
    /// memory at once where the store can do without. The object appears whole, after the last part; a part that is an
    /// error ends it, and then nothing changes.
    fn put_parts(&self, path: &ObjectPath, parts: &mut dyn Iterator<Item = Result<Bytes>>) -> Result<()> {
        let mut body = Vec::new();
        for part in parts {
            body.extend_from_slice(&part?);
        }
        self.put(path, body.into())
    }

    /// Makes files that other programs wrote below `root` as durable as [`Store::put`] makes its own: a local file system
    /// syncs them and their folders. Object stores have nothing to do.
    fn make_durable(&self, root: &ObjectPath, files: &[ObjectPath]) -> Result<()> {
        let _ = (root, files);
        Ok(())
    }

    /// Removes an object. A missing one is an error only where the store reports it (S3 does not).
    fn delete(&self, path: &ObjectPath) -> Result<()>;

    /// Removes several objects, with an answer for each, in order. Stores with latency overlap the requests.
    fn delete_many(&self, paths: &[ObjectPath]) -> Vec<Result<()>> {
        paths.iter().map(|p| self.delete(p)).collect()
    }
}

impl<S: Store + ?Sized> Store for Arc<S> {
    fn list_from(&self, dir: &ObjectPath, from: &str) -> Result<Vec<FileMeta>> {
        (**self).list_from(dir, from)
    }
    fn list_all(&self, dir: &ObjectPath) -> Result<Vec<FileMeta>> {
        (**self).list_all(dir)
    }
    fn list_tree(&self, dir: &ObjectPath) -> Result<(Vec<FileMeta>, Vec<ObjectPath>)> {
        (**self).list_tree(dir)
    }
    fn real_path(&self, path: &ObjectPath) -> Result<Option<ObjectPath>> {
        (**self).real_path(path)
    }
    fn entries(&self, dir: &ObjectPath) -> Result<Vec<String>> {
        (**self).entries(dir)
    }
    fn list_first(&self, dir: &ObjectPath, from: &str) -> Result<(Vec<FileMeta>, bool)> {
        (**self).list_first(dir, from)
    }
    fn is_far(&self) -> bool {
        (**self).is_far()
    }
    fn kept(&self, path: &ObjectPath, range: Option<&Range<u64>>) -> Option<Bytes> {
        (**self).kept(path, range)
    }
    fn afresh(&self) -> Option<Arc<dyn Store>> {
        (**self).afresh()
    }
    fn one_level(&self, dir: &ObjectPath) -> Result<Option<(Vec<FileMeta>, Vec<String>)>> {
        (**self).one_level(dir)
    }
    fn head(&self, path: &ObjectPath) -> Result<FileMeta> {
        (**self).head(path)
    }
    fn get(&self, path: &ObjectPath) -> Result<Bytes> {
        (**self).get(path)
    }
    fn get_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes> {
        (**self).get_range(path, range)
    }
    fn head_many(&self, paths: &[ObjectPath]) -> Vec<Result<FileMeta>> {
        (**self).head_many(paths)
    }
    fn get_many(&self, paths: &[ObjectPath]) -> Vec<Result<Bytes>> {
        (**self).get_many(paths)
    }
    fn get_ranges(&self, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        (**self).get_ranges(path, ranges)
    }
    fn put_if_absent(&self, path: &ObjectPath, body: Bytes) -> Result<PutOutcome> {
        (**self).put_if_absent(path, body)
    }
    fn put(&self, path: &ObjectPath, body: Bytes) -> Result<()> {
        (**self).put(path, body)
    }
    fn put_parts(&self, path: &ObjectPath, parts: &mut dyn Iterator<Item = Result<Bytes>>) -> Result<()> {
        (**self).put_parts(path, parts)
    }
    fn make_durable(&self, root: &ObjectPath, files: &[ObjectPath]) -> Result<()> {
        (**self).make_durable(root, files)
    }
    fn delete(&self, path: &ObjectPath) -> Result<()> {
        (**self).delete(path)
    }
    fn delete_many(&self, paths: &[ObjectPath]) -> Vec<Result<()>> {
        (**self).delete_many(paths)
    }
}

/// The error of an I/O failure at `path`.
pub(crate) fn io_error(operation: &'static str, path: &ObjectPath, source: std::io::Error) -> Error {
    if source.kind() == std::io::ErrorKind::NotFound {
        Error::NotFound { path: path.to_string() }
    } else {
        Error::storage(operation, path.to_string(), source)
    }
}
