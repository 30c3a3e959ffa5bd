use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "hdfs")]
use super::hdfs::HdfsStore;
use super::opened::open_remote;
#[cfg(feature = "hdfs")]
use super::root::hdfs_settings;
use super::root::parse_root;
use super::{AllowedLocations, Contained, LocalStore, Meter, Metered, StorageOptions, Store};
use crate::actions::{FilePath, ObjectPath};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::progress::Progress;

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
    progress: Progress,
}

impl Location {
    /// The place that a path or URL names. Nothing is read.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) when the URL cannot be parsed or has credentials, a query or a fragment, an option cannot be
    /// sent, or the scheme has no store in this build.
    pub fn open(uri: &str, options: &StorageOptions) -> Result<Self> {
        let root = parse_root(uri, options)?;
        let reads = AllowedLocations::parse(options, &root)?;
        let (store, server) = open_store(&root, &root, &reads, options)?;
        let options = Arc::new(options.clone());
        let (others, cancel, progress) = (Arc::default(), Cancel::default(), Progress::default());
        Ok(Location { root, store, options, reads, others, server: server.into(), cancel, progress })
    }

    /// A place in a store that is already open.
    pub fn with_store(root: ObjectPath, store: Arc<dyn Store>) -> Self {
        let reads = AllowedLocations::Any;
        let store = Arc::new(Contained::new(store, root.clone(), reads.clone()));
        let (options, others, server) = (Arc::default(), Arc::default(), Arc::from(""));
        let (cancel, progress) = (Cancel::default(), Progress::default());
        Location { root, store, options, reads, others, server, cancel, progress }
    }

    /// The same place, for operations that this can stop.
    pub fn stopped_by(&self, cancel: &Cancel) -> Self {
        Location { cancel: cancel.clone(), ..self.clone() }
    }

    /// The same place, for an operation that this follows.
    pub fn followed_by(&self, progress: &Progress) -> Self {
        Location { progress: progress.clone(), ..self.clone() }
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

    /// What follows the operation at this place.
    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
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
    /// [`Error::Credentials`](crate::error::Error::Credentials).
    pub fn hadoop_settings(&self) -> Result<StorageOptions> {
        super::hadoop_settings(&self.root.to_uri(), &self.options)
    }

    /// The place of a file of the log that may be read, for reading it by other means than [`Location::store_for`].
    ///
    /// # Errors
    /// [`Error::OutsideTable`](crate::error::Error::OutsideTable) where [`ALLOWED_LOCATIONS`](super::ALLOWED_LOCATIONS) does not allow it; those of [`FilePath::resolve`].
    pub(crate) fn readable(&self, path: &FilePath) -> Result<ObjectPath> {
        let place = path.resolve(&self.root)?;
        self.check_read(&place)?;
        Ok(place)
    }

    /// Checks that a file may be read.
    ///
    /// # Errors
    /// [`Error::OutsideTable`](crate::error::Error::OutsideTable) where [`ALLOWED_LOCATIONS`](super::ALLOWED_LOCATIONS) does not allow it.
    pub(crate) fn check_read(&self, place: &ObjectPath) -> Result<()> {
        self.reads.check(place)?;
        match place.scheme() == "file" && !self.reads_any() {
            true => LocalStore::of_table(&self.root, self.reads.folders())?.check_links(place),
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
    /// As [`Location::open`]; [`Error::OutsideTable`](crate::error::Error::OutsideTable) where [`ALLOWED_LOCATIONS`](super::ALLOWED_LOCATIONS) does not allow to read it.
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

/// The store of a path, for the table at `root`, and its server: it writes and deletes only there.
fn open_store(
    path: &ObjectPath,
    root: &ObjectPath,
    reads: &AllowedLocations,
    options: &StorageOptions,
) -> Result<(Arc<dyn Store>, String)> {
    let (store, server): (Arc<dyn Store>, String) = match path.scheme() {
        "file" => (Arc::new(LocalStore::of_table(path, reads.folders())?), String::new()),
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
