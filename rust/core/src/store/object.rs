use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    Error as Refused, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
};

use super::{FileMeta, PutOutcome, Store, runtime};
use crate::actions::ObjectPath;
use crate::error::{Error, Result};

/// Requests of one call that are under way at once.
const CONCURRENCY: usize = 64;
/// Objects of one request that deletes many, where the store has such requests: the most that S3 takes.
const BULK: usize = 1000;
/// Bytes of a part of a large upload.
const PART: usize = 8 << 20;

/// S3, Azure, GCS or memory, through the `object_store` crate.
#[derive(Clone)]
pub struct ObjectAdapter {
    store: Arc<dyn ObjectStore>,
    /// Leading part of a key that names the container in the URL and not the object.
    skip: usize,
}

/// Without what the store was made with: some of that are credentials.
impl fmt::Debug for ObjectAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectAdapter").field("store", &self.store.to_string()).finish_non_exhaustive()
    }
}

impl ObjectAdapter {
    /// Adapts a store; `skip` bytes of every key belong to the container.
    pub fn new(store: Arc<dyn ObjectStore>, skip: usize) -> Self {
        ObjectAdapter { store, skip }
    }

    /// A store in memory, for tests and small tables.
    pub fn memory() -> Self {
        ObjectAdapter::new(Arc::new(object_store::memory::InMemory::new()), 0)
    }

    fn path(&self, path: &ObjectPath) -> Result<Path> {
        let key = path.key().get(self.skip..).unwrap_or_default();
        Path::parse(key).map_err(|e| Error::storage("address", path.to_string(), e))
    }

    fn run<T, F, Fut>(&self, operation: &'static str, path: &ObjectPath, call: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(Arc<dyn ObjectStore>, Path) -> Fut,
        Fut: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let future = call(self.store.clone(), self.path(path)?);
        runtime::block_on(future)?.map_err(|e| convert(operation, path, e))
    }

    /// Deletes at most [`BULK`] objects, by one request where the store takes it; otherwise one by one, several at a time.
    fn delete_bulk(&self, paths: &[ObjectPath]) -> Vec<Result<()>> {
        let one_by_one =
            || self.run_many("delete", paths, |store, at| async move { store.delete(&at).await });
        let (store, places): (_, Result<Vec<Path>>) =
            (self.store.clone(), paths.iter().map(|path| self.path(path)).collect());
        let (Ok(places), [first, _, ..]) = (places, paths) else { return one_by_one() };
        let answers = runtime::block_on(async move {
            let places = stream::iter(places.into_iter().map(Ok)).boxed();
            store.delete_stream(places).collect::<Vec<_>>().await
        });
        match answers {
            // one answer for each, in their order
            Ok(answers) if answers.len() == paths.len() => {
                let named = answers.into_iter().zip(paths);
                named.map(|(answer, path)| answer.map(drop).map_err(|e| convert("delete", path, e))).collect()
            }
            Ok(mut answers) => match answers.pop() {
                Some(Err(refused @ (Refused::PermissionDenied { .. } | Refused::Unauthenticated { .. }))) => {
                    let error = convert("delete", first, refused);
                    paths.iter().map(|_| Err(error.clone())).collect()
                }
                // the request as a whole has failed, as on servers of S3 that do not know it
                _ => one_by_one(),
            },
            Err(error) => paths.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    /// As [`ObjectAdapter::run`], for many objects, several at a time; the answers are in the order of the paths.
    fn run_many<T, F, Fut>(&self, operation: &'static str, paths: &[ObjectPath], call: F) -> Vec<Result<T>>
    where
        T: Send + 'static,
        F: Fn(Arc<dyn ObjectStore>, Path) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let store = self.store.clone();
        let places: Vec<Result<Path>> = paths.iter().map(|p| self.path(p)).collect();
        let named: Vec<ObjectPath> = paths.to_vec();
        let all = runtime::block_on(async move {
            let requests = places.into_iter().zip(named).map(|(place, path)| {
                let request = place.map(|at| call(store.clone(), at));
                async move { request?.await.map_err(|e| convert(operation, &path, e)) }
            });
            stream::iter(requests).buffered(CONCURRENCY).collect::<Vec<_>>().await
        });
        all.unwrap_or_else(|e| paths.iter().map(|_| Err(e.clone())).collect())
    }
}

fn convert(operation: &'static str, path: &ObjectPath, error: object_store::Error) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Error::NotFound { path: path.to_string() },
        e => Error::storage(operation, path.to_string(), e),
    }
}

fn meta(prefix: &Path, m: ObjectMeta) -> FileMeta {
    let raw = m.location.as_ref();
    let name = raw.strip_prefix(prefix.as_ref()).unwrap_or(raw).trim_start_matches('/').to_owned();
    FileMeta { name, size: m.size, modified: m.last_modified.timestamp_millis() }
}

fn one(path: &ObjectPath, found: &ObjectMeta) -> FileMeta {
    let (size, modified) = (found.size, found.last_modified.timestamp_millis());
    FileMeta { name: path.name().to_owned(), size, modified }
}

impl Store for ObjectAdapter {
    fn list_from(&self, dir: &ObjectPath, from: &str) -> Result<Vec<FileMeta>> {
        let prefix = self.path(dir)?;
        // the offset is exclusive: the greatest string below `from` does not exist, so one byte is taken off and
        // what comes before `from` is filtered again
        let mut shorter = from.to_owned();
        shorter.pop();
        let offset = Path::parse(format!("{}/{shorter}", prefix.as_ref())).unwrap_or_else(|_| prefix.clone());
        let root = prefix.clone();
        let found: Vec<ObjectMeta> = self.run("list", dir, move |store, _| async move {
            store.list_with_offset(Some(&root), &offset).try_collect().await
        })?;
        let mut out: Vec<FileMeta> = found
            .into_iter()
            .map(|m| meta(&prefix, m))
            .filter(|m| m.name.as_str() >= from && !m.name.contains('/'))
            .collect();
        out.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(out)
    }

    fn list_all(&self, dir: &ObjectPath) -> Result<Vec<FileMeta>> {
        let prefix = self.path(dir)?;
        let found: Vec<ObjectMeta> =
            self.run("list", dir, |store, root| async move { store.list(Some(&root)).try_collect().await })?;
        Ok(found.into_iter().map(|m| meta(&prefix, m)).collect())
    }

    fn entries(&self, dir: &ObjectPath) -> Result<Vec<String>> {
        let found =
            self.run("list", dir, |store, root| async move { store.list_with_delimiter(Some(&root)).await })?;
        let objects = found.objects.into_iter().map(|object| object.location);
        let all = objects.chain(found.common_prefixes);
        Ok(all.filter_map(|path| path.filename().map(str::to_owned)).collect())
    }

    fn one_level(&self, dir: &ObjectPath) -> Result<Option<(Vec<FileMeta>, Vec<String>)>> {
        let prefix = self.path(dir)?;
        let found =
            self.run("list", dir, |store, root| async move { store.list_with_delimiter(Some(&root)).await })?;
        let folders = found.common_prefixes.iter().filter_map(|path| path.filename().map(str::to_owned));
        let folders = folders.collect();
        Ok(Some((found.objects.into_iter().map(|m| meta(&prefix, m)).collect(), folders)))
    }

    fn head(&self, path: &ObjectPath) -> Result<FileMeta> {
        let found = self.run("head", path, |store, at| async move { store.head(&at).await })?;
        Ok(one(path, &found))
    }

    fn head_many(&self, paths: &[ObjectPath]) -> Vec<Result<FileMeta>> {
        let found = self.run_many("head", paths, |store, at| async move { store.head(&at).await });
        found.into_iter().zip(paths).map(|(found, path)| Ok(one(path, &found?))).collect()
    }

    fn get(&self, path: &ObjectPath) -> Result<Bytes> {
        self.run("get", path, |store, at| async move { store.get(&at).await?.bytes().await })
    }

    fn get_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes> {
        self.run("get", path, |store, at| async move { store.get_range(&at, range).await })
    }

    fn get_many(&self, paths: &[ObjectPath]) -> Vec<Result<Bytes>> {
        self.run_many("get", paths, |store, at| async move { store.get(&at).await?.bytes().await })
    }

    fn get_ranges(&self, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let ranges = ranges.to_vec();
        self.run("get", path, |store, at| async move { store.get_ranges(&at, &ranges).await })
    }

    fn put_if_absent(&self, path: &ObjectPath, body: Bytes) -> Result<PutOutcome> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let at = self.path(path)?;
        let store = self.store.clone();
        match runtime::block_on(async move { store.put_opts(&at, body.into(), options).await })? {
            Ok(_) => Ok(PutOutcome::Created),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                Ok(PutOutcome::AlreadyExists)
            }
            Err(e) => Err(convert("put", path, e)),
        }
    }

    fn put(&self, path: &ObjectPath, body: Bytes) -> Result<()> {
        self.run("put", path, |store, at| async move { store.put(&at, body.into()).await }).map(drop)
    }

    fn put_parts(&self, path: &ObjectPath, parts: &mut dyn Iterator<Item = Result<Bytes>>) -> Result<()> {
        // the parts of an upload are of one size, which some stores demand
        let mut waiting = BytesMut::new();
        let mut upload: Option<Box<dyn MultipartUpload>> = None;
        let fill = |upload: &mut Option<Box<dyn MultipartUpload>>, waiting: &mut BytesMut| {
            for part in parts {
                waiting.extend_from_slice(&part?);
                while waiting.len() > PART {
                    let body = waiting.split_to(PART).freeze();
                    let mut open = match upload.take() {
                        Some(open) => open,
                        None => {
                            self.run("put", path, |store, at| async move { store.put_multipart(&at).await })?
                        }
                    };
                    let sent = open.put_part(body.into());
                    *upload = Some(open);
                    runtime::block_on(sent)?.map_err(|e| convert("put", path, e))?;
                }
            }
            Ok(())
        };
        if let Err(error) = fill(&mut upload, &mut waiting) {
            if let Some(mut open) = upload {
                // best effort: the store forgets an upload that is never completed
                let _ = runtime::block_on(async move { open.abort().await });
            }
            return Err(error);
        }
        let Some(mut open) = upload else { return self.put(path, waiting.freeze()) };
        let ended = async move {
            open.put_part(waiting.freeze().into()).await?;
            open.complete().await
        };
        runtime::block_on(ended)?.map(drop).map_err(|e| convert("put", path, e))
    }

    fn delete(&self, path: &ObjectPath) -> Result<()> {
        self.run("delete", path, |store, at| async move { store.delete(&at).await })
    }

    fn delete_many(&self, paths: &[ObjectPath]) -> Vec<Result<()>> {
        paths.chunks(BULK).flat_map(|paths| self.delete_bulk(paths)).collect()
    }
}
