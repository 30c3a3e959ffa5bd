use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use percent_encoding::percent_decode_str;
use url::Url;

#[cfg(feature = "hdfs")]
use super::hdfs::{HdfsSettings, HdfsStore};
use super::opened::open_remote;
use super::{AllowedLocations, Contained, LocalStore, Meter, Metered, StorageOptions, Store};
use super::{hadoop, secrets};
use crate::actions::{FilePath, ObjectPath};
use crate::cancel::Cancel;
use crate::error::{Error, Result};

/// A table's place: its root and the store that holds it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Location {
    root: ObjectPath,
    store: Arc<dyn Store>,
    options: Arc<StorageOptions>,
    reads: AllowedLocations,
    /// Stores of other prefixes that absolute paths in the log lead to.
    others: Arc<Mutex<BTreeMap<String, Arc<dyn Store>>>>,
    /// See [`Location::served_by`].
    server: Arc<str>,
    cancel: Cancel,
}

impl Location {
    /// The place that a path or URL names. Nothing is read.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when the URL cannot be parsed or has credentials, a query or a fragment, an option cannot be
    /// sent, or the scheme has no store in this build.
    pub fn open(uri: &str, options: &StorageOptions) -> Result<Self> {
        let root = parse_root(uri, options)?;
        let reads = AllowedLocations::parse(options, &root)?;
        let (store, server) = open_store(&root, &root, &reads, options)?;
        let options = Arc::new(options.clone());
        let (others, cancel) = (Arc::default(), Cancel::default());
        Ok(Location { root, store, options, reads, others, server: server.into(), cancel })
    }

    /// A place in a store that is already open.
    pub fn with_store(root: ObjectPath, store: Arc<dyn Store>) -> Self {
        let reads = AllowedLocations::Any;
        let store = Arc::new(Contained::new(store, root.clone(), reads.clone()));
        let (options, others, server) = (Arc::default(), Arc::default(), Arc::from(""));
        Location { root, store, options, reads, others, server, cancel: Cancel::default() }
    }

    /// The same place, for operations that this can stop.
    pub fn stopped_by(&self, cancel: &Cancel) -> Self {
        Location { cancel: cancel.clone(), ..self.clone() }
    }

    /// The same place, read from the store alone: nothing that this process has kept is trusted.
    pub(crate) fn afresh(&self) -> Self {
        match self.store.afresh() {
            Some(store) => Location { store, ..self.clone() },
            None => self.clone(),
        }
    }

    /// What stops the operations at this place.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// The same place with what is read from its own store counted.
    pub(crate) fn metered(&self, meter: Arc<Meter>) -> Self {
        let store: Arc<dyn Store> = Arc::new(Metered::new(self.store.clone(), meter));
        Location { store, ..self.clone() }
    }

    /// What the options of the store say under a name.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// Hadoop's settings for what the options say of this place; see [`hadoop_settings`](super::hadoop_settings).
    ///
    /// # Errors
    /// [`Error::Credentials`].
    pub fn hadoop_settings(&self) -> Result<StorageOptions> {
        super::hadoop_settings(&self.root.to_uri(), &self.options)
    }

    /// The place of a file of the log that may be read, for reading it by other means than [`Location::store_for`].
    ///
    /// # Errors
    /// [`Error::OutsideTable`] where [`ALLOWED_LOCATIONS`](super::ALLOWED_LOCATIONS) does not allow it; those of [`FilePath::resolve`].
    pub(crate) fn readable(&self, path: &FilePath) -> Result<ObjectPath> {
        let place = path.resolve(&self.root)?;
        self.check_read(&place)?;
        Ok(place)
    }

    /// Checks that a file may be read.
    ///
    /// # Errors
    /// [`Error::OutsideTable`] where [`ALLOWED_LOCATIONS`](super::ALLOWED_LOCATIONS) does not allow it.
    pub(crate) fn check_read(&self, place: &ObjectPath) -> Result<()> {
        self.reads.check(place)?;
        match place.scheme() == "file" && !self.reads_any() {
            true => LocalStore::of_table(&self.root, &self.reads)?.check_links(place),
            false => Ok(()),
        }
    }

    /// Whether a log may name any file, as the protocol allows.
    pub(crate) fn reads_any(&self) -> bool {
        self.reads == AllowedLocations::Any
    }

    /// Root of the table.
    pub fn root(&self) -> &ObjectPath {
        &self.root
    }

    /// `_delta_log` of the table.
    pub fn log_dir(&self) -> ObjectPath {
        self.root.join("_delta_log")
    }

    /// Which server holds the root, as far as options say it: two buckets of one name at two endpoints are two stores.
    pub(crate) fn served_by(&self) -> &str {
        &self.server
    }

    /// The store of the root.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The store of a file: the table's own, or that of an absolute path elsewhere, which is only read.
    ///
    /// # Errors
    /// As [`Location::open`]; [`Error::OutsideTable`] where [`ALLOWED_LOCATIONS`](super::ALLOWED_LOCATIONS) does not allow to read it.
    pub fn store_for(&self, path: &ObjectPath) -> Result<Arc<dyn Store>> {
        self.reads.check(path)?;
        if path.prefix() == self.root.prefix() {
            return Ok(self.store.clone());
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = others.get(path.prefix()) {
            return Ok(store.clone());
        }
        let (store, _) = open_store(path, &self.root, &self.reads, &self.options)?;
        others.insert(path.prefix().to_owned(), store.clone());
        Ok(store)
    }
}

pub(super) fn invalid(uri: &str, reason: impl ToString) -> Error {
    Error::InvalidArgument { argument: secrets::without_secrets(uri), reason: reason.to_string() }
}

/// `s3a` and `s3n` are Hadoop's names of `s3`; `file:/x` is `file:///x`; what has no scheme is a path of the file system
/// that the options have as Hadoop's default, or else a local one.
pub(super) fn parse_root(uri: &str, options: &StorageOptions) -> Result<ObjectPath> {
    let scheme = uri.split_once(':').map(|(s, _)| s).filter(|s| {
        s.len() > 1 && s.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    });
    let Some(scheme) = scheme else {
        if uri.is_empty() {
            return Err(invalid(uri, "an empty path is not a table"));
        }
        if let Some(place) = in_default_fs(uri, options)? {
            return Ok(place);
        }
        let absolute = std::path::absolute(uri).map_err(|e| invalid(uri, e))?;
        let text = absolute.to_str().ok_or_else(|| invalid(uri, "not UTF-8"))?;
        return Ok(ObjectPath::new("file://", &text.replace(std::path::MAIN_SEPARATOR, "/")));
    };
    if scheme == "file" {
        let rest = uri["file:".len()..].trim_start_matches('/');
        let decoded = percent_decode_str(rest).decode_utf8().map_err(|e| invalid(uri, e))?;
        return Ok(ObjectPath::new("file://", &decoded));
    }
    let url = Url::parse(uri).map_err(|e| invalid(uri, e))?;
    secrets::check_url(&url)?;
    let prefix = &url[..url::Position::BeforePath];
    let decoded = percent_decode_str(url.path()).decode_utf8().map_err(|e| invalid(uri, e))?;
    #[cfg(feature = "hdfs")]
    if matches!(url.scheme(), "hdfs" | "viewfs") && !url.has_host() {
        // `hdfs:/x` is `hdfs:///x`
        let place = ObjectPath::new(&format!("{}://", url.scheme()), &decoded);
        return hdfs_settings(options)?.qualified(&place);
    }
    Ok(ObjectPath::new(prefix, &decoded))
}

/// The place of a path without a scheme, where Hadoop's default file system is not the local one. A relative path is one of
/// the working folder, which the setting of a session of Spark has as its path.
fn in_default_fs(path: &str, options: &StorageOptions) -> Result<Option<ObjectPath>> {
    let Some(default) = hadoop::default_fs(options) else { return Ok(None) };
    let url = Url::parse(default).map_err(|e| invalid(hadoop::DEFAULT_FS, format!("`{default}`: {e}")))?;
    if url.scheme() == "file" {
        return Ok(None);
    }
    secrets::check_url(&url)?;
    let working = percent_decode_str(url.path()).decode_utf8().map_err(|e| invalid(hadoop::DEFAULT_FS, e))?;
    let root = ObjectPath::new(&url[..url::Position::BeforePath], &working);
    if path.starts_with('/') {
        return Ok(Some(ObjectPath::new(root.prefix(), path)));
    }
    if root.key().trim_matches('/').is_empty() {
        let reason = format!(
            "a relative path has no place in `{default}`, the default file system: give a whole path"
        );
        return Err(invalid(path, reason));
    }
    Ok(Some(root.join(path)))
}

#[cfg(feature = "hdfs")]
fn hdfs_settings(options: &StorageOptions) -> Result<HdfsSettings> {
    HdfsSettings::of(options, |name| std::env::var(name).ok())
}

/// The store of a path, for the table at `root`, and its server: it writes and deletes only there.
fn open_store(
    path: &ObjectPath,
    root: &ObjectPath,
    reads: &AllowedLocations,
    options: &StorageOptions,
) -> Result<(Arc<dyn Store>, String)> {
    let (store, server): (Arc<dyn Store>, String) = match path.scheme() {
        "file" => (Arc::new(LocalStore::of_table(path, reads)?), String::new()),
        #[cfg(feature = "hdfs")]
        "hdfs" | "viewfs" => {
            super::opened::choose_tls();
            (Arc::new(HdfsStore::of(path, &hdfs_settings(options)?)?), String::new())
        }
        _ => {
            let (store, server) = open_remote(path, options)?;
            (Arc::new(store), server)
        }
    };
    Ok((Arc::new(Contained::new(store, root.clone(), reads.clone())), server))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(uri: &str, options: &[(&str, &str)]) -> Result<String> {
        let options = options.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        parse_root(uri, &options).map(|root| root.to_uri())
    }

    #[test]
    fn every_spelling_of_a_local_table_is_one_root() {
        for uri in ["/data/a b", "file:/data/a%20b", "file:///data/a%20b/", "/data/a b/"] {
            assert_eq!(root(uri, &[]).unwrap(), "file:///data/a%20b", "{uri}");
        }
    }

    #[test]
    fn a_local_path_is_not_decoded() {
        assert_eq!(root("/data/a%20b", &[]).unwrap(), "file:///data/a%2520b");
    }

    #[test]
    fn a_path_without_a_scheme_is_one_of_the_default_file_system() {
        for (default, uri, place) in [
            ("hdfs://nn:9000", "/data/a%b", "hdfs://nn:9000/data/a%25b"),
            ("hdfs://nn:8020/", "/data/t/", "hdfs://nn/data/t"),
            ("hdfs://nn/user/me", "t", "hdfs://nn/user/me/t"),
            ("s3a://bucket", "/t", "s3a://bucket/t"),
            ("hdfs://nn", "file:/t", "file:///t"),
            ("hdfs://nn", "hdfs://other/t", "hdfs://other/t"),
            ("file:///", "/t", "file:///t"),
        ] {
            // options of a read are in lower case
            for name in ["fs.defaultFS", "fs.defaultfs"] {
                assert_eq!(root(uri, &[(name, default)]).unwrap(), place, "{default} {uri}");
            }
        }
        let refused = root("t", &[("fs.defaultFS", "hdfs://nn")]).unwrap_err().to_string();
        assert!(refused.contains("whole path"), "{refused}");
        assert!(root("/t", &[("fs.defaultFS", "hdfs://u:secret@nn")]).is_err());
    }

    #[cfg(feature = "hdfs")]
    #[test]
    fn a_name_node_that_is_not_named_is_that_of_the_default_file_system() {
        let default = [("fs.defaultFS", "hdfs://nn:9000/user/me")];
        for uri in ["hdfs:///t", "hdfs:/t", "/t", "hdfs://nn:9000/t"] {
            assert_eq!(root(uri, &default).unwrap(), "hdfs://nn:9000/t", "{uri}");
        }
    }
}
