//! The files inside a table that versions need, by their names in the store, however the log spells them.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use foldhash::quality::RandomState;

use crate::actions::ObjectPath;
use crate::error::{Error, Result};
use crate::store::Location;

/// Names relative to the table. A file that the log spells by an absolute path, or by way of links, is here by the name
/// that a listing gives it.
#[derive(Debug)]
pub(super) struct Kept<'a> {
    location: &'a Location,
    /// The table's folder when every link on the way is followed.
    real_root: Option<ObjectPath>,
    /// Links below the table that were seen.
    links: HashSet<ObjectPath>,
    /// Folders when every link on the way is followed.
    folders: HashMap<String, Option<ObjectPath>, RandomState>,
    /// Hashes of the names. Two names of one hash keep a file that could be deleted, and never the other way round.
    names: HashSet<u64, RandomState>,
}

impl<'a> Kept<'a> {
    /// Of a table where a listing met these links.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn new(location: &'a Location, links: Vec<ObjectPath>) -> Result<Self> {
        let real_root = location.store().real_path(location.root())?;
        let links = links.into_iter().collect();
        Ok(Kept { location, real_root, links, folders: HashMap::default(), names: HashSet::default() })
    }

    /// Keeps a file; what lies outside the table is kept anyway.
    ///
    /// # Errors
    /// [`Error::OutsideTable`] where it is unknown whether the file lies inside; errors of the store.
    pub(super) fn insert(&mut self, path: &ObjectPath) -> Result<()> {
        let root = self.location.root();
        if let Some(name) = path.below(root) {
            self.names.insert(self.hash(name));
        }
        if path.prefix() != root.prefix() {
            return check_elsewhere(path, root);
        }
        let real = match self.links.contains(path) {
            true => self.location.store().real_path(path)?,
            false => self.real_folder(path)?.map(|folder| folder.join(path.name())),
        };
        if let (Some(real), Some(real_root)) = (real, &self.real_root)
            && let Some(name) = real.below(real_root)
        {
            self.names.insert(self.hash(name));
        }
        Ok(())
    }

    /// Whether a version needs the file of this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.names.contains(&self.hash(name))
    }

    fn hash(&self, name: &str) -> u64 {
        self.names.hasher().hash_one(name)
    }

    fn real_folder(&mut self, path: &ObjectPath) -> Result<Option<ObjectPath>> {
        let key = path.key().rsplit_once('/').map_or("", |(folder, _)| folder);
        if let Some(known) = self.folders.get(key) {
            return Ok(known.clone());
        }
        let real = self.location.store().real_path(&ObjectPath::new(path.prefix(), key))?;
        self.folders.insert(key.to_owned(), real.clone());
        Ok(real)
    }
}

/// Stores that cannot be one another under another name.
const STORES: [&[&str]; 4] =
    [&["file"], &["s3", "s3a", "s3n"], &["gs"], &["abfs", "abfss", "wasb", "wasbs", "az", "adl"]];

/// Checks that a file of another store is not one of the table's under another name. One of another bucket is not.
fn check_elsewhere(path: &ObjectPath, root: &ObjectPath) -> Result<()> {
    let family = |place: &ObjectPath| STORES.iter().position(|names| names.contains(&place.scheme()));
    let reported = match (family(path), family(root)) {
        (Some(one), Some(other)) if one == other => path.scheme() == root.scheme() || one == 1,
        (one, other) => one.is_some() && other.is_some(),
    };
    if reported || path.scheme() == root.scheme() {
        return Ok(());
    }
    Err(Error::OutsideTable {
        path: path.to_string(),
        table: root.to_string(),
        operation: "vacuum",
        reason: format!(
            "`{}` may be another name of `{}`, and a file of this table may be there: open the table by the names of its log",
            path.prefix(),
            root.prefix()
        ),
    })
}
