use std::ops::Range;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use hdfs_native::client::FileStatus;
use hdfs_native::file::FileWriter;
use hdfs_native::{Client, HdfsError, WriteOptions};
use object_store::{OBJECT_STORE_COALESCE_DEFAULT, coalesce_ranges};

use super::clients::{self, Wanted};
use super::errors::{convert, is_answer};
use super::settings::HdfsSettings;
use crate::actions::ObjectPath;
use crate::error::{Error, Result};
use crate::store::staged::staged_name;
use crate::store::{FileMeta, PutOutcome, Store, runtime};

/// Requests of one call that are under way at once.
const CONCURRENCY: usize = 32;

type Answer<T> = std::result::Result<T, HdfsError>;

/// HDFS or a ViewFS. As in the log store of delta-spark, a file is written under a hidden name beside its own, closed, and
/// renamed; a rename without overwrite is what makes a commit.
#[derive(Debug, Clone)]
pub(crate) struct HdfsStore {
    wanted: Wanted,
}

impl HdfsStore {
    /// The file system of a place. Nothing is sent.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the settings name no such file system.
    pub(crate) fn of(path: &ObjectPath, settings: &HdfsSettings) -> Result<Self> {
        let (url, settings) = settings.client(path)?;
        let store = HdfsStore { wanted: Wanted { url, settings } };
        clients::client(&store.wanted)?.map_err(|e| match e {
            HdfsError::InvalidArgument(reason) if !reason.contains("No NameNode hosts") => {
                Error::InvalidArgument { argument: path.to_string(), reason }
            }
            e => convert("open", path, e),
        })?;
        Ok(store)
    }

    fn run<T, F, Fut>(&self, operation: &'static str, path: &ObjectPath, call: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(Client, String) -> Fut,
        Fut: Future<Output = Answer<T>> + Send + 'static,
    {
        self.ask(path, call)?.map_err(|e| convert(operation, path, e))
    }

    /// As [`HdfsStore::run`], with what the client answered.
    fn ask<T, F, Fut>(&self, path: &ObjectPath, call: F) -> Result<Answer<T>>
    where
        T: Send + 'static,
        F: FnOnce(Client, String) -> Fut,
        Fut: Future<Output = Answer<T>> + Send + 'static,
    {
        match clients::client(&self.wanted)? {
            Ok(client) => runtime::block_on(call(client, path.key().to_owned())),
            Err(error) => Ok(Err(error)),
        }
    }

    /// As [`HdfsStore::run`], for many files, several at a time; the answers are in the order of the paths.
    fn run_many<T, F, Fut>(&self, operation: &'static str, paths: &[ObjectPath], call: F) -> Vec<Result<T>>
    where
        T: Send + 'static,
        F: Fn(Client, String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer<T>> + Send + 'static,
    {
        let Some(first) = paths.first() else { return Vec::new() };
        let keys: Vec<String> = paths.iter().map(|path| path.key().to_owned()).collect();
        let all = self.run(operation, first, |client, _| async move {
            let requests = keys.into_iter().map(|key| call(client.clone(), key));
            Ok(stream::iter(requests).buffered(CONCURRENCY).collect::<Vec<_>>().await)
        });
        match all {
            Ok(answers) => {
                let named = answers.into_iter().zip(paths);
                named.map(|(answer, path)| answer.map_err(|e| convert(operation, path, e))).collect()
            }
            Err(error) => paths.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    /// What is directly in a folder; nothing where there is no folder.
    fn list(&self, dir: &ObjectPath) -> Result<Vec<FileStatus>> {
        self.run("list", dir, |client, key| async move { listed(&client, &key).await })
    }

    /// Writes parts to a new hidden file beside a file, through to the disks of the DataNodes.
    fn stage(&self, path: &ObjectPath, parts: &mut dyn Iterator<Item = Result<Bytes>>) -> Result<ObjectPath> {
        let staged = path.sibling(&staged_name(path.name()));
        let writer = self.run("put", path, {
            let key = staged.key().to_owned();
            |client, _| async move { client.create(&key, WriteOptions::default()).await }
        })?;
        if let Err(error) = fill(path, writer, parts) {
            self.drop_staged(&staged);
            return Err(error);
        }
        Ok(staged)
    }

    /// Removes a hidden file of ours, as far as possible: a cleanup of the log finds what is left.
    fn drop_staged(&self, staged: &ObjectPath) {
        let _ = self.ask(staged, |client, key| async move { client.delete(&key, false).await });
    }

    /// Renames a hidden file of ours. A rename whose answer was lost may still be under way: the hidden file is deleted, so
    /// that it cannot be made any more; if it was there no longer, it has been made.
    fn rename(&self, staged: &ObjectPath, path: &ObjectPath, overwrite: bool) -> Result<PutOutcome> {
        let to = path.key().to_owned();
        let renamed =
            self.ask(staged, |client, from| async move { client.rename(&from, &to, overwrite).await })?;
        let error = match renamed {
            Ok(()) => return Ok(PutOutcome::Created),
            Err(error) => error,
        };
        let made_impossible =
            self.ask(staged, |client, key| async move { client.delete(&key, false).await })?;
        match (error, made_impossible) {
            (HdfsError::AlreadyExists(_), _) => Ok(PutOutcome::AlreadyExists),
            (error, Ok(false)) if !is_answer(&error) && self.exists(path)? => Ok(PutOutcome::Created),
            (error, _) => Err(convert("put", path, error)),
        }
    }

    fn exists(&self, path: &ObjectPath) -> Result<bool> {
        match self.head(path) {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The entries of a folder, in the order of their names. A folder that does not exist, and a file, has none.
async fn listed(client: &Client, key: &str) -> Answer<Vec<FileStatus>> {
    match client.list_status(key, false).await {
        // of a file HDFS lists the file itself
        Ok(found) => Ok(found.into_iter().filter(|status| status.path != key).collect()),
        Err(HdfsError::FileNotFound(_)) => Ok(Vec::new()),
        Err(HdfsError::RPCError(class, _)) if class == "java.io.FileNotFoundException" => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Gives parts to the DataNodes, one after the other, and closes the file.
fn fill(
    path: &ObjectPath,
    mut writer: FileWriter,
    parts: &mut dyn Iterator<Item = Result<Bytes>>,
) -> Result<()> {
    let fail = |e| convert("put", path, e);
    for part in parts {
        let part = part?;
        let written;
        (writer, written) = runtime::block_on(async move {
            let written = writer.write_bytes(part).await;
            (writer, written)
        })?;
        written.map_err(fail)?;
    }
    let closed = runtime::block_on(async move {
        match writer.hsync().await {
            // a striped file has no such call; each of its blocks is on several DataNodes when it is closed
            Err(HdfsError::OperationFailed(reason)) if reason.contains("erasure-coded") => {}
            synced => synced?,
        }
        writer.close().await
    })?;
    closed.map_err(fail)
}

async fn whole(client: Client, key: String) -> Answer<Bytes> {
    let file = client.read(&key).await?;
    file.read_range(0, file.file_length()).await
}

fn millis(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

fn meta(name: &str, status: &FileStatus) -> FileMeta {
    let (name, size) = (name.to_owned(), status.length as u64);
    FileMeta { name, size, modified: millis(status.modification_time) }
}

/// A name relative to a folder.
fn below<'a>(folder: &str, status: &'a FileStatus) -> &'a str {
    status.path.strip_prefix(folder).unwrap_or(&status.path).trim_start_matches('/')
}

impl Store for HdfsStore {
    fn list_from(&self, dir: &ObjectPath, from: &str) -> Result<Vec<FileMeta>> {
        let found = self.list(dir)?;
        let files = found.iter().filter(|status| !status.isdir);
        let named = files.map(|status| meta(below(dir.key(), status), status));
        let mut out: Vec<FileMeta> = named.filter(|file| file.name.as_str() >= from).collect();
        out.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(out)
    }

    fn list_all(&self, dir: &ObjectPath) -> Result<Vec<FileMeta>> {
        let found = self.run("list", dir, |client, root| async move {
            let (mut files, mut folders) = (Vec::new(), vec![root.clone()]);
            while !folders.is_empty() {
                let lists = std::mem::take(&mut folders).into_iter().map(|folder| {
                    let client = client.clone();
                    async move { listed(&client, &folder).await }
                });
                let level: Vec<_> = stream::iter(lists).buffer_unordered(CONCURRENCY).try_collect().await?;
                for status in level.into_iter().flatten() {
                    match status.isdir {
                        true => folders.push(status.path),
                        false => files.push(meta(below(&root, &status), &status)),
                    }
                }
            }
            Ok(files)
        })?;
        Ok(found)
    }

    fn real_path(&self, path: &ObjectPath) -> Result<Option<ObjectPath>> {
        match self.run("head", path, |client, key| async move { client.get_file_info(&key).await }) {
            Ok(_) => Ok(Some(path.clone())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn entries(&self, dir: &ObjectPath) -> Result<Vec<String>> {
        Ok(self.list(dir)?.iter().map(|status| below(dir.key(), status).to_owned()).collect())
    }

    fn head(&self, path: &ObjectPath) -> Result<FileMeta> {
        let found = self.run("head", path, |client, key| async move { client.get_file_info(&key).await })?;
        match found.isdir {
            true => Err(Error::NotFound { path: path.to_string() }),
            false => Ok(meta(path.name(), &found)),
        }
    }

    fn get(&self, path: &ObjectPath) -> Result<Bytes> {
        self.run("get", path, whole)
    }

    fn get_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes> {
        self.get_ranges(path, std::slice::from_ref(&range)).map(|mut parts| parts.pop().unwrap_or_default())
    }

    fn get_many(&self, paths: &[ObjectPath]) -> Vec<Result<Bytes>> {
        self.run_many("get", paths, whole)
    }

    fn get_ranges(&self, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let wanted = ranges.to_vec();
        self.run("get", path, |client, key| async move {
            let file = client.read(&key).await?;
            let size = file.file_length() as u64;
            // the client panics where a file is too short
            if let Some(range) = wanted.iter().find(|range| range.end > size || range.start > range.end) {
                let reason = format!("has no bytes {}..{}: it has {size}", range.start, range.end);
                return Err(HdfsError::OperationFailed(reason));
            }
            let read = |range: Range<u64>| {
                let file = &file;
                async move {
                    let [start, end] =
                        [range.start, range.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
                    file.read_range(start, end - start).await
                }
            };
            coalesce_ranges(&wanted, read, OBJECT_STORE_COALESCE_DEFAULT).await
        })
    }

    fn put_if_absent(&self, path: &ObjectPath, body: Bytes) -> Result<PutOutcome> {
        // the loser of a race most often sees it here, and writes nothing
        if self.exists(path)? {
            return Ok(PutOutcome::AlreadyExists);
        }
        let staged = self.stage(path, &mut std::iter::once(Ok(body)))?;
        self.rename(&staged, path, false)
    }

    fn put(&self, path: &ObjectPath, body: Bytes) -> Result<()> {
        self.put_parts(path, &mut std::iter::once(Ok(body)))
    }

    fn put_parts(&self, path: &ObjectPath, parts: &mut dyn Iterator<Item = Result<Bytes>>) -> Result<()> {
        let staged = self.stage(path, parts)?;
        self.rename(&staged, path, true).map(drop)
    }

    fn delete(&self, path: &ObjectPath) -> Result<()> {
        let deleted =
            self.run("delete", path, |client, key| async move { client.delete(&key, false).await })?;
        gone(path, deleted)
    }

    fn delete_many(&self, paths: &[ObjectPath]) -> Vec<Result<()>> {
        let answers =
            self.run_many("delete", paths, |client, key| async move { client.delete(&key, false).await });
        answers.into_iter().zip(paths).map(|(answer, path)| gone(path, answer?)).collect()
    }
}

fn gone(path: &ObjectPath, deleted: bool) -> Result<()> {
    match deleted {
        true => Ok(()),
        false => Err(Error::NotFound { path: path.to_string() }),
    }
}
