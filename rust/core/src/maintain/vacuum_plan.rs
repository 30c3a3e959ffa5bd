//! Which files a vacuum may delete. A dry run ends here.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::files::{look, needed, needs};
use super::kept::Kept;
use super::tombstones::left;
use crate::actions::ObjectPath;
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;
use crate::store::{FileMeta, Location};

/// Where a vacuum looks for files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VacuumMode {
    /// In the store: finds also what failed writers left.
    #[default]
    Full,
    /// In the log: only files that it names as removed; nothing is listed.
    Lite,
}

impl VacuumMode {
    /// From its name in any case: `full`, `lite`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for any other name.
    pub fn parse(name: &str) -> Result<Self> {
        match name.to_lowercase().as_str() {
            "full" => Ok(VacuumMode::Full),
            "lite" => Ok(VacuumMode::Lite),
            _ => Err(Error::InvalidArgument {
                argument: "mode".into(),
                reason: format!("`{name}` is neither full nor lite"),
            }),
        }
    }
}

/// A file of an inventory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventoried {
    /// Its path, relative to the table and as the store has it: nothing is escaped.
    pub name: String,
    /// When it was last changed: milliseconds since the Unix epoch.
    pub modified: i64,
}

/// The files below a table, by their names relative to it, and the links of a file system.
pub(crate) type ListedTree = (Vec<FileMeta>, Vec<ObjectPath>);

/// Files to delete, with their sizes, and folders that they were found in.
#[derive(Debug, Default)]
pub(super) struct VacuumPlan {
    pub(super) files: Vec<(ObjectPath, u64)>,
    pub(super) folders: u64,
}

/// Plans a vacuum: files that were last changed before `cutoff` (milliseconds since the Unix epoch) and that no version
/// since then has. The store is listed before the log is read, so a file that is committed in between is seen as live.
///
/// # Errors
/// As [`Snapshot::files`], and errors of the store. Nothing is planned without the whole log, nor where it is unknown
/// whether a file of the log lies inside the table.
///
/// Where there is an `inventory` the store is not listed: the files of it are looked after one by one. Nor is it where
/// it was listed before.
pub(super) fn plan(
    snapshot: &Snapshot,
    mode: VacuumMode,
    inventory: Option<&[Inventoried]>,
    cutoff: i64,
    before: Option<ListedTree>,
) -> Result<VacuumPlan> {
    let location = snapshot.location();
    let root = location.root();
    let (listed, links) = match (mode, inventory, before) {
        (VacuumMode::Full, None, Some(listed)) => listed,
        (VacuumMode::Full, None, None) => {
            let (store, root) = (location.store().clone(), root.clone());
            location.cancel().wait_for(move || store.list_tree(&root))?
        }
        _ => Default::default(),
    };
    let snapshot = snapshot.update()?;
    let oldest = if mode == VacuumMode::Lite { 0 } else { cutoff };
    let mut kept = Kept::new(location, links)?;
    for needed in needed(&snapshot)? {
        let (data, vector) = needed?;
        kept.insert(&data)?;
        vector.iter().try_for_each(|vector| kept.insert(vector))?;
    }
    let mut expired: BTreeSet<ObjectPath> = BTreeSet::new();
    for file in left(&snapshot, oldest)? {
        let (data, vector) = needs(&file.path, file.vector.as_ref(), root)?;
        if file.since >= cutoff {
            kept.insert(&data)?;
            vector.iter().try_for_each(|vector| kept.insert(vector))?;
        } else if mode == VacuumMode::Lite {
            expired.insert(data);
            expired.extend(vector);
        }
    }
    let columns = snapshot.schema().physical_names(snapshot.partition_columns(), snapshot.column_mapping());
    let columns: Vec<String> =
        columns.into_iter().chain(snapshot.partition_columns().iter().cloned()).collect();
    let found: BTreeMap<ObjectPath, (u64, i64)> = match (mode, inventory) {
        (VacuumMode::Full, Some(files)) => {
            let own = |file: &&Inventoried| {
                file.modified < cutoff && is_inside(&file.name) && !is_hidden(&file.name, &columns)
            };
            let named: BTreeSet<&str> = files.iter().filter(own).map(|file| file.name.as_str()).collect();
            there(location, without_nested(location, named, &kept)?)?
        }
        (VacuumMode::Full, None) => {
            let tables = nested_tables(listed.iter().map(|f| f.name.as_str()));
            let own = |name: &str| {
                !is_hidden(name, &columns) && !folders_of(name).any(|folder| tables.contains(folder))
            };
            // most files are needed: of the others there are few
            let files =
                listed.iter().filter(|f| f.modified < cutoff && !kept.contains(&f.name) && own(&f.name));
            files.map(|f| (root.join(&f.name), (f.size, f.modified))).collect()
        }
        (VacuumMode::Lite, _) => {
            // what lies elsewhere belongs to another table: a clone only refers to it
            let inside = expired.iter().filter_map(|path| path.below(root));
            let named = inside.filter(|name| !is_hidden(name, &columns)).collect();
            there(location, without_nested(location, named, &kept)?)?
        }
    };
    let unneeded = |path: &ObjectPath| path.below(root).is_some_and(|name| !kept.contains(name));
    let files: Vec<(ObjectPath, u64)> = found
        .into_iter()
        .filter(|(path, (_, modified))| *modified < cutoff && unneeded(path))
        .map(|(path, (size, _))| (path, size))
        .collect();
    let folders: BTreeSet<&str> =
        files.iter().filter_map(|(p, _)| Some(p.key().rsplit_once('/')?.0)).collect();
    let folders = folders.len() as u64;
    Ok(VacuumPlan { files, folders })
}

/// The existing files, with size and time of their last change.
fn there(location: &Location, named: Vec<ObjectPath>) -> Result<BTreeMap<ObjectPath, (u64, i64)>> {
    let found = look(location, &named)?;
    Ok(named.into_iter().zip(found).filter_map(|(p, m)| m.map(|m| (p, (m.size, m.modified)))).collect())
}

/// Whether a name that somebody else gives stays below the table.
fn is_inside(name: &str) -> bool {
    !name.split('/').any(|part| matches!(part, "" | "." | "..")) && !name.contains('\\')
}

/// The paths of these names that no version needs, except those below another table. An inventory need not list its
/// log.
fn without_nested(location: &Location, names: BTreeSet<&str>, kept: &Kept<'_>) -> Result<Vec<ObjectPath>> {
    let root = location.root();
    let unneeded: Vec<&str> = names.into_iter().filter(|name| !kept.contains(name)).collect();
    let mut tables: BTreeMap<&str, bool> = BTreeMap::new();
    for folder in unneeded.iter().flat_map(|name| folders_of(name)) {
        if !tables.contains_key(folder) {
            let log = root.join(&format!("{folder}/_delta_log"));
            tables.insert(folder, !location.store().list_from(&log, "")?.is_empty());
        }
    }
    let own = |name: &&str| !folders_of(name).any(|folder| tables.get(folder) == Some(&true));
    Ok(unneeded.into_iter().filter(own).map(|name| root.join(name)).collect())
}

/// Whether a vacuum ignores a file because it is hidden: it, or a folder above it, begins with `_` or `.`. Change data
/// and folders of partition columns with such names are not hidden.
fn is_hidden(name: &str, partition_columns: &[String]) -> bool {
    name.split('/').any(|part| {
        part.starts_with(['_', '.'])
            && part != "_change_data"
            && !part.split_once('=').is_some_and(|(column, _)| {
                let column = percent_encoding::percent_decode_str(column).decode_utf8_lossy();
                partition_columns.iter().any(|c| *c == column)
            })
    })
}

fn folders_of(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(at, _)| &name[..at])
}

/// Folders with a log of their own: their files belong to another table.
fn nested_tables<'a>(names: impl Iterator<Item = &'a str>) -> HashSet<&'a str> {
    names.filter_map(|name| name.find("/_delta_log/").map(|at| &name[..at])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_files_stay_but_for_change_data_and_partitions() {
        let columns = ["_day".to_owned()];
        for (name, hidden) in [
            ("a.parquet", false),
            ("p=1/a.parquet", false),
            ("_delta_log/0.json", true),
            ("_symlink_format_manifest/manifest", true),
            ("p=1/.a.parquet.crc", true),
            ("_spark_metadata/0", true),
            ("_change_data/a.parquet", false),
            ("_day=1/a.parquet", false),
            ("_month=1/a.parquet", true),
            ("deletion_vector_x.bin", false),
        ] {
            assert_eq!(is_hidden(name, &columns), hidden, "{name}");
        }
    }

    #[test]
    fn a_table_within_a_table_is_left_alone() {
        let tables = nested_tables(["x/_delta_log/0.json", "_delta_log/0.json", "y/a"].into_iter());
        assert_eq!(tables.into_iter().collect::<Vec<_>>(), ["x"]);
        assert_eq!(folders_of("a/b/c").collect::<Vec<_>>(), ["a", "a/b"]);
    }
}
