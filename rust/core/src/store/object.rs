use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    Error as Refused, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
};

use super::credentials::{Fresh, GivenCredentials};
use super::kept::Kept;
use super::{Doubt, FileMeta, PutOutcome, Store, runtime};
use crate::actions::ObjectPath;
use crate::error::{Error, Result};

/// Requests of one call that are under way at once.
const CONCURRENCY: usize = 64;
/// Objects of one request that deletes many, where the store has such requests: the most that S3 takes.
const BULK: usize = 1000;
/// Objects of a page of a listing: as many as S3 has.
const PAGE: usize = 1000;
/// Bytes of a part of a large upload.
const PART: usize = 8 << 20;

/// S3, Azure, GCS or memory, through the `object_store` crate.
#[derive(Clone)]
pub struct ObjectAdapter {
    store: Arc<dyn ObjectStore>,
    /// Leading part of a key that names the container in the URL and not the object.
    skip: usize,
    /// Who renews the credentials, if anybody does.
    fresh: Option<Arc<Fresh>>,
    /// What this process keeps of the store, if anything.
    kept: Option<Arc<Kept>>,
    /// Whether it is a server.
    far: bool,
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
        ObjectAdapter { store, skip, fresh: None, kept: None, far: false }
    }

    /// The store as a server, whose credentials are renewed where it refuses them before they expire, and of which this
    /// process keeps something.
    pub(super) fn of_server(self, fresh: Option<Arc<Fresh>>, kept: Option<Kept>) -> Self {
        ObjectAdapter { fresh, kept: kept.map(Arc::new), far: true, ..self }
    }

    /// Objects of a listing below `dir`, by their names there.
    fn listed(&self, dir: &ObjectPath, prefix: &Path, found: Vec<ObjectMeta>) -> Vec<FileMeta> {
        let named = found.into_iter().map(|object| {
            let tag = object.e_tag.clone();
            let file = meta(prefix, object);
            if let Some(kept) = &self.kept {
                kept.listed(&dir.join(&file.name), tag.as_deref());
            }
            file
        });
        named.collect()
    }

    fn find(&self, path: &ObjectPath, range: Option<&Range<u64>>) -> Option<Bytes> {
        self.kept.as_ref()?.find(path, range)
    }

    fn keep(&self, path: &ObjectPath, range: Option<&Range<u64>>, tag: Option<&str>, body: &Bytes) {
        if let Some(kept) = &self.kept {
            kept.keep(path, range, tag, body);
        }
    }

    /// Lists at most so many objects from a name on, in no order.
    fn list_some(&self, dir: &ObjectPath, from: &str, most: usize) -> Result<(Vec<FileMeta>, bool)> {
        let prefix = self.path(dir)?;
        // the offset is exclusive: the greatest string below `from` does not exist, so one byte is taken off and
        // what comes before `from` is filtered again
        let mut shorter = from.to_owned();
        shorter.pop();
        let offset = Path::parse(format!("{}/{shorter}", prefix.as_ref())).unwrap_or_else(|_| prefix.clone());
        let root = prefix.clone();
        let found: Vec<ObjectMeta> = self.run("list", dir, move |store, _| {
            let (root, offset) = (root.clone(), offset.clone());
            async move { store.list_with_offset(Some(&root), &offset).take(most).try_collect().await }
        })?;
        let all = found.len() < most;
        let mut files = self.listed(dir, &prefix, found);
        files.retain(|m| m.name.as_str() >= from && !m.name.contains('/'));
        files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok((files, all))
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
        F: Fn(Arc<dyn ObjectStore>, Path) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        self.answer(path, call)?.map_err(|e| convert(operation, path, e))
    }

    /// The answer to a request.
    fn answer<T, F, Fut>(&self, path: &ObjectPath, call: F) -> Result<object_store::Result<T>>
    where
        T: Send + 'static,
        F: Fn(Arc<dyn ObjectStore>, Path) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let (store, at, fresh) = (self.store.clone(), self.path(path)?, self.fresh.clone());
        runtime::block_on(async move { signed(fresh.as_deref(), || call(store.clone(), at.clone())).await })
    }

    /// Deletes at most [`BULK`] objects, by one request where the store takes it; otherwise one by one, several at a time.
    fn delete_bulk(&self, paths: &[ObjectPath]) -> Vec<Result<()>> {
        let one_by_one =
            || self.run_many("delete", paths, |store, at| async move { store.delete(&at).await });
        let (store, fresh, places): (_, _, Result<Vec<Path>>) =
            (self.store.clone(), self.fresh.clone(), paths.iter().map(|path| self.path(path)).collect());
        let (Ok(places), [first, _, ..]) = (places, paths) else { return one_by_one() };
        let answers = runtime::block_on(async move {
            let delete = async || {
                let places = stream::iter(places.clone().into_iter().map(Ok)).boxed();
                store.delete_stream(places).collect::<Vec<_>>().await
            };
            let used = used(fresh.as_deref()).await;
            let answers = delete().await;
            let refused = answers.iter().any(|answer| answer.as_ref().is_err_and(is_refusal));
            match refused && renewed(fresh.as_deref(), used.as_ref()).await {
                true => delete().await,
                false => answers,
            }
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
        let (store, fresh) = (self.store.clone(), self.fresh.clone());
        let places: Vec<Result<Path>> = paths.iter().map(|p| self.path(p)).collect();
        let named: Vec<ObjectPath> = paths.to_vec();
        let all = runtime::block_on(async move {
            let (store, fresh, call) = (&store, fresh.as_deref(), &call);
            let requests = places.into_iter().zip(named).map(|(place, path)| async move {
                let at = place?;
                let answer = signed(fresh, || call(store.clone(), at.clone())).await;
                answer.map_err(|e| convert(operation, &path, e))
            });
            stream::iter(requests).buffered(CONCURRENCY).collect::<Vec<_>>().await
        });
        all.unwrap_or_else(|e| paths.iter().map(|_| Err(e.clone())).collect())
    }
}

/// The answer to a request, which is sent again where the store refused the credentials and there are others: a refused
/// request has done nothing.
async fn signed<T, Fut>(fresh: Option<&Fresh>, call: impl Fn() -> Fut) -> object_store::Result<T>
where
    Fut: Future<Output = object_store::Result<T>>,
{
    let used = used(fresh).await;
    match call().await {
        Err(refused) if is_refusal(&refused) && renewed(fresh, used.as_ref()).await => call().await,
        answer => answer,
    }
}

/// The credentials that the next request is signed with, where they are renewed.
async fn used(fresh: Option<&Fresh>) -> Option<Arc<GivenCredentials>> {
    // the request finds the same error
    fresh?.get().await.ok()
}

async fn renewed(fresh: Option<&Fresh>, used: Option<&Arc<GivenCredentials>>) -> bool {
    match (fresh, used) {
        (Some(fresh), Some(used)) => fresh.renewed_after(used).await,
        _ => false,
    }
}

/// Whether the store did not take the credentials. object_store has a kind of error for that, except for listings, and S3
/// answers those that have expired as a bad request: the text says it.
fn is_refusal(error: &object_store::Error) -> bool {
    match error {
        Refused::PermissionDenied { .. } | Refused::Unauthenticated { .. } => true,
        Refused::Generic { .. } => {
            let text = error.to_string();
            ["status code: 401", "status code: 403", "ExpiredToken"].iter().any(|said| text.contains(said))
        }
        _ => false,
    }
}

fn convert(operation: &'static str, path: &ObjectPath, error: object_store::Error) -> Error {
    if let Some(of_credentials) = credentials_error(&error) {
        return of_credentials;
    }
    match error {
        object_store::Error::NotFound { .. } => Error::NotFound { path: path.to_string() },
        e => Error::storage(operation, path.to_string(), e),
    }
}

/// The error of who gives the credentials, which comes through the store.
fn credentials_error(error: &(dyn std::error::Error + 'static)) -> Option<Error> {
    std::iter::successors(Some(error), |error| error.source())
        .find_map(|error| error.downcast_ref::<Error>())
        .cloned()
}

/// An object, and the tag of its content.
async fn whole(store: Arc<dyn ObjectStore>, at: Path) -> object_store::Result<(Bytes, Option<String>)> {
    let found = store.get(&at).await?;
    let tag = found.meta.e_tag.clone();
    Ok((found.bytes().await?, tag))
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
        Ok(self.list_some(dir, from, usize::MAX)?.0)
    }

    fn list_first(&self, dir: &ObjectPath, from: &str) -> Result<(Vec<FileMeta>, bool)> {
        self.list_some(dir, from, PAGE)
    }

    fn is_far(&self) -> bool {
        self.far
    }

    fn kept(&self, path: &ObjectPath, range: Option<&Range<u64>>) -> Option<Bytes> {
        self.find(path, range)
    }

    fn afresh(&self) -> Option<Arc<dyn Store>> {
        self.kept.is_some().then(|| Arc::new(ObjectAdapter { kept: None, ..self.clone() }) as Arc<dyn Store>)
    }

    fn list_all(&self, dir: &ObjectPath) -> Result<Vec<FileMeta>> {
        let prefix = self.path(dir)?;
        let found: Vec<ObjectMeta> =
            self.run("list", dir, |store, root| async move { store.list(Some(&root)).try_collect().await })?;
        Ok(self.listed(dir, &prefix, found))
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
        if let Some(kept) = self.find(path, None) {
            return Ok(kept);
        }
        let (body, tag) = self.run("get", path, |store, at| async move { whole(store, at).await })?;
        self.keep(path, None, tag.as_deref(), &body);
        Ok(body)
    }

    fn get_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes> {
        if let Some(kept) = self.find(path, Some(&range)) {
            return Ok(kept);
        }
        let asked = range.clone();
        let body = self.run("get", path, move |store, at| {
            let range = asked.clone();
            async move { store.get_range(&at, range).await }
        })?;
        self.keep(path, Some(&range), None, &body);
        Ok(body)
    }

    fn get_many(&self, paths: &[ObjectPath]) -> Vec<Result<Bytes>> {
        let kept: Vec<Option<Bytes>> = paths.iter().map(|path| self.find(path, None)).collect();
        let missing = paths.iter().zip(&kept).filter(|(_, kept)| kept.is_none());
        let missing: Vec<ObjectPath> = missing.map(|(path, _)| path.clone()).collect();
        let got = self.run_many("get", &missing, |store, at| async move { whole(store, at).await });
        let mut got = missing.iter().zip(got).map(|(path, got)| {
            got.map(|(body, tag)| {
                self.keep(path, None, tag.as_deref(), &body);
                body
            })
        });
        kept.into_iter().filter_map(|kept| kept.map(Ok).or_else(|| got.next())).collect()
    }

    fn get_ranges(&self, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let kept: Option<Vec<Bytes>> = ranges.iter().map(|range| self.find(path, Some(range))).collect();
        if let Some(kept) = kept {
            return Ok(kept);
        }
        let asked = ranges.to_vec();
        let bodies = self.run("get", path, move |store, at| {
            let ranges = asked.clone();
            async move { store.get_ranges(&at, &ranges).await }
        })?;
        ranges.iter().zip(&bodies).for_each(|(range, body)| self.keep(path, Some(range), None, body));
        Ok(bodies)
    }

    fn put_if_absent(&self, path: &ObjectPath, body: Bytes) -> Result<PutOutcome> {
        let (sent, doubt) = (body.clone(), Doubt::default());
        let noted = doubt.clone();
        let put = move |store: Arc<dyn ObjectStore>, at: Path| {
            let mut options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            options.extensions.insert(noted.clone());
            let body = sent.clone();
            async move { store.put_opts(&at, body.into(), options).await }
        };
        match self.answer(path, put)? {
            Ok(put) => {
                self.keep(path, None, put.e_tag.as_deref(), &body);
                Ok(PutOutcome::Created)
            }
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                Ok(PutOutcome::AlreadyExists)
            }
            // no refusal of the last try is one of the put
            Err(e) if doubt.is_there() => {
                Err(Error::storage("put", path.to_string(), format!("{e}; an earlier try may have arrived")))
            }
            Err(e) => Err(convert("put", path, e)),
        }
    }

    fn put(&self, path: &ObjectPath, body: Bytes) -> Result<()> {
        let sent = body.clone();
        let put = move |store: Arc<dyn ObjectStore>, at: Path| {
            let body = sent.clone();
            async move { store.put(&at, body.into()).await }
        };
        let put = self.run("put", path, put)?;
        self.keep(path, None, put.e_tag.as_deref(), &body);
        Ok(())
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
                // best effort: a store keeps, and charges for, an upload that is neither completed nor aborted
                let _ = runtime::block_on(async move { open.abort().await });
            }
            return Err(error);
        }
        let Some(mut open) = upload else { return self.put(path, waiting.freeze()) };
        let ended = async move {
            let last = open.put_part(waiting.freeze().into()).await;
            let ended = match last {
                Ok(()) => open.complete().await.map(drop),
                Err(error) => Err(error),
            };
            if ended.is_err() {
                // as above; one that was completed after all is not there to be aborted
                let _ = open.abort().await;
            }
            ended
        };
        runtime::block_on(ended)?.map_err(|e| convert("put", path, e))
    }

    fn delete(&self, path: &ObjectPath) -> Result<()> {
        self.run("delete", path, |store, at| async move { store.delete(&at).await })
    }

    fn delete_many(&self, paths: &[ObjectPath]) -> Vec<Result<()>> {
        paths.chunks(BULK).flat_map(|paths| self.delete_bulk(paths)).collect()
    }
}
