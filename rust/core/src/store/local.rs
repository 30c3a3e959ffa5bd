use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use rayon::prelude::*;

use super::folder::{Folder, InTheWay};
#[cfg(all(test, unix))]
use super::power_cut::{synced_dir, synced_file};
use super::staged::staged_name;
use super::{FileMeta, PutOutcome, Store, buffers, io_error, runtime};
use crate::actions::ObjectPath;
use crate::error::{Error, Result};

/// A range of so many bytes is checked against the size of the file before memory is allocated.
const LARGE: u64 = 1 << 20;

/// The local file system. It needs no runtime, so that it works unchanged in a forked process, and a read costs one
/// system call more than the bytes.
///
/// Of a table nothing is written or deleted through a link below its folder.
#[derive(Debug, Clone, Default)]
pub struct LocalStore {
    root: Option<PathBuf>,
    /// The folders below which files are read, without following a link; none where any file may be.
    reads: Option<Vec<PathBuf>>,
}

impl LocalStore {
    /// The store of the table at `root`, which itself may be reached by links, with the folders below which files are read.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a place that is no local one.
    pub(crate) fn of_table(root: &ObjectPath, reads: Option<Vec<PathBuf>>) -> Result<Self> {
        Ok(LocalStore { root: Some(Self::path(root)?), reads })
    }

    /// Checks that no link is on the path of a file to read, or that the file does not exist.
    ///
    /// # Errors
    /// [`Error::OutsideTable`].
    pub(crate) fn check_links(&self, path: &ObjectPath) -> Result<()> {
        match self.opened(path) {
            Ok(_) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A file that is read.
    fn opened(&self, path: &ObjectPath) -> Result<File> {
        let local = Self::path(path)?;
        let Some(folders) = &self.reads else {
            return File::open(local).map_err(|e| io_error("get", path, e));
        };
        let (folder, name) =
            (local.parent().unwrap_or(Path::new("/")), local.file_name().unwrap_or_default());
        let way = folders.iter().find_map(|from| Some((from, folder.strip_prefix(from).ok()?)));
        let file = way.map(|(from, below)| Folder::open(from, below).and_then(|folder| folder.file(name)));
        let outside = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        file.unwrap_or_else(|| Err(outside())).map_err(|e| self.failure("read", path, e))
    }

    fn path(path: &ObjectPath) -> Result<PathBuf> {
        path.to_local().ok_or_else(|| Error::InvalidArgument {
            argument: path.to_string(),
            reason: "not a place in the local file system".into(),
        })
    }

    /// The folder from which no link is followed on the way to a file, the rest of the way, and the name.
    fn way<'a>(&'a self, local: &'a Path) -> (&'a Path, &'a Path, &'a OsStr) {
        let folder = local.parent().unwrap_or(Path::new("/"));
        let (from, below) = match self.root.as_deref().map(|root| (root, folder.strip_prefix(root))) {
            Some((root, Ok(below))) => (root, below),
            _ => (folder, Path::new("")),
        };
        (from, below, local.file_name().unwrap_or_default())
    }

    /// The error of what does not follow links.
    fn failure(&self, operation: &'static str, path: &ObjectPath, source: std::io::Error) -> Error {
        match source.get_ref().and_then(|inner| inner.downcast_ref::<InTheWay>()) {
            Some(way) => Error::OutsideTable {
                path: path.to_string(),
                table: self.root.as_deref().unwrap_or(Path::new("")).display().to_string(),
                operation,
                reason: format!("{way}, and it may lead anywhere"),
            },
            None => io_error(operation, path, source),
        }
    }

    /// Writes parts to a new hidden file of the folder of a file, durably; the folder and the name.
    fn stage(
        &self,
        local: &Path,
        parts: &mut dyn Iterator<Item = Result<Bytes>>,
        fail: &dyn Fn(std::io::Error) -> Error,
    ) -> Result<(Folder, OsString)> {
        let (from, below, name) = self.way(local);
        create_dirs(from).map_err(fail)?;
        let folder = Folder::create(from, below, &sync_dir).map_err(fail)?;
        let staged = OsString::from(staged_name(&name.to_string_lossy()));
        let mut file = folder.create_new(&staged).map_err(fail)?;
        let write = || {
            for part in parts {
                file.write_all(&part?).map_err(fail)?;
            }
            sync_file(&file, &folder.path().join(&staged)).map_err(fail)
        };
        let written = write();
        if let Err(e) = written {
            // the staged file is ours alone
            let _ = folder.remove(&staged);
            return Err(e);
        }
        Ok((folder, staged))
    }
}

/// A local path as a key has it; none where it is not UTF-8, which no log can name.
fn portable(path: &Path) -> Option<String> {
    Some(path.to_str()?.replace(std::path::MAIN_SEPARATOR, "/"))
}

fn millis(meta: &fs::Metadata) -> i64 {
    let modified = meta.modified().ok().and_then(|m| m.duration_since(UNIX_EPOCH).ok());
    modified.and_then(|d| i64::try_from(d.as_millis()).ok()).unwrap_or(0)
}

/// The files below a folder, and the links, which are not followed.
fn walk(dir: &Path, below: &str, files: &mut Vec<FileMeta>, links: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        let meta = entry.metadata()?;
        if meta.is_dir() {
            walk(&entry.path(), &format!("{name}/"), files, links)?;
        } else if meta.is_symlink() {
            links.push(entry.path());
        } else {
            files.push(FileMeta { name, size: meta.len(), modified: millis(&meta) });
        }
    }
    Ok(())
}

/// As [`walk`]; a missing folder has none.
fn walked(dir: &ObjectPath) -> Result<(Vec<FileMeta>, Vec<PathBuf>)> {
    let (mut files, mut links) = (Vec::new(), Vec::new());
    match walk(&LocalStore::path(dir)?, "", &mut files, &mut links) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && files.is_empty() => Ok((files, links)),
        done => done.map(|()| (files, links)).map_err(|e| io_error("list", dir, e)),
    }
}

/// Tests watch what becomes durable.
#[cfg(not(all(test, unix)))]
fn synced_file(_: &Path) {}
#[cfg(not(all(test, unix)))]
fn synced_dir(_: &Path) {}

/// Makes the names in a folder durable. Not every system lets a folder be opened; those have no such need.
fn sync_dir(dir: &Path) -> std::io::Result<()> {
    synced_dir(dir);
    match File::open(dir) {
        Ok(handle) if cfg!(unix) => handle.sync_all(),
        _ => Ok(()),
    }
}

/// Makes the content of a file durable.
fn sync_file(file: &File, path: &Path) -> std::io::Result<()> {
    synced_file(path);
    file.sync_all()
}

/// Creates missing folders, each durable in its parent.
fn create_dirs(dir: &Path) -> std::io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent() {
        create_dirs(parent)?;
        match fs::create_dir(dir) {
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(e),
            _ => sync_dir(parent)?,
        }
    }
    Ok(())
}

impl Store for LocalStore {
    fn list_from(&self, dir: &ObjectPath, from: &str) -> Result<Vec<FileMeta>> {
        let local = Self::path(dir)?;
        let entries = match fs::read_dir(&local) {
            Err(e)
                if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
            {
                return Ok(Vec::new());
            }
            entries => entries.map_err(|e| io_error("list", dir, e))?,
        };
        let mut out = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| io_error("list", dir, e))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.as_str() < from {
                continue;
            }
            match entry.metadata() {
                Ok(meta) if meta.is_file() => {
                    out.push(FileMeta { name, size: meta.len(), modified: millis(&meta) });
                }
                // a link counts as what it points to
                Ok(meta) if meta.is_symlink() => {
                    if let Ok(meta) = fs::metadata(entry.path())
                        && meta.is_file()
                    {
                        out.push(FileMeta { name, size: meta.len(), modified: millis(&meta) });
                    }
                }
                // a folder, or removed since the folder was read
                _ => {}
            }
        }
        out.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(out)
    }

    fn list_all(&self, dir: &ObjectPath) -> Result<Vec<FileMeta>> {
        Ok(walked(dir)?.0)
    }

    fn list_tree(&self, dir: &ObjectPath) -> Result<(Vec<FileMeta>, Vec<ObjectPath>)> {
        let (files, links) = walked(dir)?;
        let place = |link: PathBuf| Some(ObjectPath::new("file://", &portable(&link)?));
        Ok((files, links.into_iter().filter_map(place).collect()))
    }

    fn real_path(&self, path: &ObjectPath) -> Result<Option<ObjectPath>> {
        match fs::canonicalize(Self::path(path)?) {
            Ok(real) => Ok(portable(&real).map(|real| ObjectPath::new("file://", &real))),
            Err(e)
                if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(e) => Err(io_error("resolve", path, e)),
        }
    }

    fn entries(&self, dir: &ObjectPath) -> Result<Vec<String>> {
        let entries = match fs::read_dir(Self::path(dir)?) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|e| io_error("list", dir, e))?,
        };
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.map(|e| e.file_name().to_string_lossy().into_owned()).map_err(|e| io_error("list", dir, e))
        };
        entries.map(name).collect()
    }

    fn head(&self, path: &ObjectPath) -> Result<FileMeta> {
        let found = match self.reads {
            None => fs::metadata(Self::path(path)?),
            Some(_) => self.opened(path)?.metadata(),
        };
        let meta = found.map_err(|e| io_error("head", path, e))?;
        if meta.is_dir() {
            return Err(Error::NotFound { path: path.to_string() });
        }
        Ok(FileMeta { name: path.name().to_owned(), size: meta.len(), modified: millis(&meta) })
    }

    fn get(&self, path: &ObjectPath) -> Result<Bytes> {
        let fail = |e| io_error("get", path, e);
        let mut file = self.opened(path)?;
        let size = file.metadata().map_err(fail)?.len();
        // one byte more shows the end without another allocation
        let mut body = buffers::take(usize::try_from(size).unwrap_or_default().saturating_add(1));
        file.read_to_end(&mut body).map_err(fail)?;
        Ok(buffers::lent(body))
    }

    fn get_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes> {
        self.get_ranges(path, std::slice::from_ref(&range)).map(|mut parts| parts.pop().unwrap_or_default())
    }

    fn get_many(&self, paths: &[ObjectPath]) -> Vec<Result<Bytes>> {
        match runtime::pool() {
            Ok(pool) if paths.len() > 4 => {
                pool.install(|| paths.par_iter().with_min_len(4).map(|p| self.get(p)).collect())
            }
            _ => paths.iter().map(|p| self.get(p)).collect(),
        }
    }

    fn get_ranges(&self, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let fail = |e| io_error("get", path, e);
        let mut file = self.opened(path)?;
        ranges
            .iter()
            .map(|range| {
                let wanted = range.end.saturating_sub(range.start);
                file.seek(SeekFrom::Start(range.start)).map_err(fail)?;
                // what asks for more than the file has gets no memory for it
                let there =
                    if wanted < LARGE { wanted } else { wanted.min(file.metadata().map_err(fail)?.len()) };
                let mut body = buffers::take(usize::try_from(there).unwrap_or_default());
                Read::by_ref(&mut file).take(wanted).read_to_end(&mut body).map_err(fail)?;
                if body.len() as u64 != wanted {
                    let reason = format!("has no bytes {}..{}: it is shorter", range.start, range.end);
                    return Err(Error::storage("get", path.to_string(), reason));
                }
                Ok(buffers::lent(body))
            })
            .collect()
    }

    fn put_if_absent(&self, path: &ObjectPath, body: Bytes) -> Result<PutOutcome> {
        let fail = |e| self.failure("put", path, e);
        let local = Self::path(path)?;
        let (folder, staged) = self.stage(&local, &mut std::iter::once(Ok(body)), &fail)?;
        // a link cannot replace: it is the atomic create-if-absent of every local file system
        let linked = folder.link(&staged, local.file_name().unwrap_or_default());
        let _ = folder.remove(&staged);
        match linked {
            Ok(()) => {
                sync_dir(folder.path()).map_err(fail)?;
                Ok(PutOutcome::Created)
            }
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(PutOutcome::AlreadyExists),
            Err(e) => Err(fail(e)),
        }
    }

    fn put(&self, path: &ObjectPath, body: Bytes) -> Result<()> {
        self.put_parts(path, &mut std::iter::once(Ok(body)))
    }

    fn put_parts(&self, path: &ObjectPath, parts: &mut dyn Iterator<Item = Result<Bytes>>) -> Result<()> {
        let fail = |e| self.failure("put", path, e);
        let local = Self::path(path)?;
        let (folder, staged) = self.stage(&local, parts, &fail)?;
        if let Err(e) = folder.rename(&staged, local.file_name().unwrap_or_default()) {
            let _ = folder.remove(&staged);
            return Err(fail(e));
        }
        sync_dir(folder.path()).map_err(fail)
    }

    fn make_durable(&self, root: &ObjectPath, files: &[ObjectPath]) -> Result<()> {
        let root = Self::path(root)?;
        let locals: Vec<PathBuf> = files.iter().map(Self::path).collect::<Result<_>>()?;
        let mut folders: BTreeSet<&Path> = root.parent().into_iter().collect();
        for file in &locals {
            let above = file.ancestors().skip(1);
            folders.extend(above.take_while(|folder| folder.starts_with(&root)));
        }
        let sync = |(path, local): (&ObjectPath, &PathBuf)| {
            let (from, below, name) = self.way(local);
            let opened = Folder::open(from, below).and_then(|folder| folder.file(name));
            opened.and_then(|file| sync_file(&file, local)).map_err(|e| {
                match self.failure("make durable", path, e) {
                    // a commit would name it
                    Error::NotFound { path } => Error::storage("make durable", path, "it does not exist"),
                    error => error,
                }
            })
        };
        runtime::pool()?.install(|| files.par_iter().zip(&locals).try_for_each(sync))?;
        let fail = |path: &Path, e| Error::storage("make durable", path.display().to_string(), e);
        folders.into_iter().try_for_each(|folder| sync_dir(folder).map_err(|e| fail(folder, e)))
    }

    fn delete(&self, path: &ObjectPath) -> Result<()> {
        let local = Self::path(path)?;
        let (from, below, name) = self.way(&local);
        let deleted = Folder::open(from, below).and_then(|folder| folder.remove(name));
        deleted.map_err(|e| self.failure("delete", path, e))
    }
}
