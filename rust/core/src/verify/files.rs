//! The live files of the version: what their actions say, and whether they are in the store.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::deep::{Existing, LooksInto};
use super::facts::Facts;
use super::finding::FindingKind;
use super::identities::IdentityColumn;
use super::report::VerifyReport;
use crate::actions::{Add, FilePath, ObjectPath};
use crate::error::Result;
use crate::maintain::{look, needs};
use crate::partition;
use crate::replay::FilesRequest;
use crate::schema::DataType;
use crate::snapshot::Snapshot;
use crate::store::Location;

/// From this many files on, one listing of a remote table is cheaper than a HEAD for each.
const LIST_FROM: usize = 500;

/// The files in the store: looked after one by one, or known from one listing.
enum Presence {
    Heads,
    /// Size by hashed path.
    Listed(HashMap<u64, u64>),
}

impl Presence {
    fn of(location: &Location, files: usize) -> Result<Self> {
        if location.root().scheme() == "file" || files < LIST_FROM {
            return Ok(Presence::Heads);
        }
        let listed = location.store().list_all(location.root())?;
        Ok(Presence::Listed(
            listed.into_iter().map(|f| (hash(&location.root().join(&f.name)), f.size)).collect(),
        ))
    }

    /// The sizes of files, `None` for missing ones.
    fn sizes(&self, location: &Location, paths: &[ObjectPath]) -> Result<Vec<Option<u64>>> {
        let by_head = |paths: &[ObjectPath]| -> Result<Vec<Option<u64>>> {
            Ok(look(location, paths)?.into_iter().map(|m| m.map(|m| m.size)).collect())
        };
        let Presence::Listed(listed) = self else { return by_head(paths) };
        let mut sizes: Vec<Option<u64>> = paths.iter().map(|p| listed.get(&hash(p)).copied()).collect();
        // files missing in the listing may lie elsewhere, or be newer
        let unknown: Vec<usize> = (0..paths.len()).filter(|i| sizes[*i].is_none()).collect();
        let asked: Vec<ObjectPath> = unknown.iter().map(|i| paths[*i].clone()).collect();
        for (index, size) in unknown.into_iter().zip(by_head(&asked)?) {
            sizes[index] = size;
        }
        Ok(sizes)
    }
}

fn hash(path: &ObjectPath) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

/// A partition column: name, name in the log, type.
struct PartitionColumn {
    name: String,
    physical: String,
    data_type: DataType,
}

fn partition_columns(snapshot: &Snapshot) -> Vec<PartitionColumn> {
    let schema = snapshot.schema();
    let physical = schema.physical_names(snapshot.partition_columns(), snapshot.column_mapping());
    let columns = snapshot.partition_columns().iter().zip(physical);
    let typed = |name: &String| schema.field(name).map_or(DataType::String, |f| f.data_type.clone());
    columns.map(|(n, physical)| PartitionColumn { data_type: typed(n), name: n.clone(), physical }).collect()
}

/// Verifies the live files of a snapshot, a batch at a time, and has them looked into where somebody does that.
pub(super) fn check(
    snapshot: &Snapshot,
    num_files: usize,
    by: Option<&mut dyn LooksInto>,
    report: &mut VerifyReport,
) -> Result<()> {
    let location = snapshot.location();
    location.progress().expect(num_files as u64, 0);
    let presence = Presence::of(location, num_files)?;
    let (partitions, identities) = (partition_columns(snapshot), IdentityColumn::of(snapshot));
    let version = snapshot.version();
    let mut waiting = by.map(|by| Waiting { facts: Facts::of(snapshot), version, by, files: Vec::new() });
    let request = FilesRequest { predicate: None, stats: true, extended: true };
    for batch in snapshot.files(request)? {
        let adds: Vec<Add> = batch?.adds().collect::<Result<_>>()?;
        let (mut data, mut vectors) = (Vec::new(), Vec::new());
        for add in &adds {
            report.files += 1;
            report.deletion_vectors += u64::from(add.deletion_vector.is_some());
            match needs(&add.path, add.deletion_vector.as_ref(), location.root()) {
                Ok((path, vector)) => {
                    data.push((add, path));
                    vectors.extend(vector.map(|v| (add, v)));
                }
                Err(error) => {
                    let expected = "a path, and the name of a deletion vector";
                    report.found(FindingKind::UnreadableAdd, version, &add.path, expected, error);
                }
            }
            check_values(add, &partitions, version, report);
            check_stats(add, &identities, version, report);
        }
        let paths: Vec<ObjectPath> = data.iter().map(|(_, p)| p.clone()).collect();
        let mut there = Vec::new();
        for ((add, path), size) in data.iter().zip(presence.sizes(location, &paths)?) {
            match size {
                None => report.found(FindingKind::MissingFile, version, path, "the data file", "no file"),
                Some(size) if i64::try_from(size) != Ok(add.size) => {
                    let expected = format!("{} bytes", add.size);
                    // a log may name any file: the size of a file elsewhere is not revealed
                    let inside = path.below(location.root()).is_some();
                    let found = if inside { format!("{size} bytes") } else { "another size".into() };
                    report.found(FindingKind::FileSizeDiffers, version, path, expected, found);
                }
                Some(_) => there.push(*add),
            }
        }
        let lost = check_vectors(location, &presence, vectors, version, report)?;
        if waiting.is_none() {
            location.progress().done(adds.len() as u64, 0);
        }
        if let Some(waiting) = &mut waiting {
            for add in there {
                let lost_vector = lost.contains(&add.path);
                waiting.add(Existing { add: add.clone(), lost_vector }, report)?;
            }
        }
    }
    waiting.map_or(Ok(()), |mut waiting| waiting.look(report))
}

/// Existing files that are to be looked into.
struct Waiting<'a> {
    facts: Facts,
    version: u64,
    by: &'a mut dyn LooksInto,
    files: Vec<Existing>,
}

impl Waiting<'_> {
    fn add(&mut self, file: Existing, report: &mut VerifyReport) -> Result<()> {
        self.files.push(file);
        if self.files.len() >= self.by.most() { self.look(report) } else { Ok(()) }
    }

    fn look(&mut self, report: &mut VerifyReport) -> Result<()> {
        let files = std::mem::take(&mut self.files);
        if files.is_empty() {
            return Ok(());
        }
        let root = self.facts.location.root().clone();
        let paths: Vec<ObjectPath> =
            files.iter().map(|file| file.add.path.resolve(&root)).collect::<Result<_>>()?;
        for (path, wrongs) in paths.iter().zip(self.by.look(&self.facts, files)?) {
            for wrong in wrongs {
                report.found(wrong.kind, self.version, path, wrong.expected, wrong.found);
            }
        }
        Ok(())
    }
}

/// Checks that the files of deletion vectors exist and are long enough; returns the files that lost theirs. Many
/// vectors lie in one file.
fn check_vectors<'a>(
    location: &Location,
    presence: &Presence,
    vectors: Vec<(&'a Add, ObjectPath)>,
    version: u64,
    report: &mut VerifyReport,
) -> Result<HashSet<&'a FilePath>> {
    let mut lost = HashSet::new();
    let mut paths: Vec<ObjectPath> = vectors.iter().map(|(_, p)| p.clone()).collect();
    paths.sort();
    paths.dedup();
    let sizes = presence.sizes(location, &paths)?;
    for (add, path) in vectors {
        let size = paths.binary_search(&path).ok().and_then(|i| sizes[i]);
        let Some(vector) = &add.deletion_vector else { continue };
        // size before, checksum after the data
        let end = i64::from(vector.offset.unwrap_or(0)) + i64::from(vector.size_in_bytes) + 8;
        let expected = format!("the deletion vector of `{}`, up to byte {end}", add.path);
        let found = match size {
            None => "no file".to_owned(),
            Some(size) if i64::try_from(size).is_ok_and(|s| s < end) => format!("{size} bytes"),
            Some(_) => continue,
        };
        lost.insert(&add.path);
        report.found(FindingKind::MissingDeletionVector, version, path, expected, found);
    }
    Ok(lost)
}

fn check_values(add: &Add, columns: &[PartitionColumn], version: u64, report: &mut VerifyReport) {
    for column in columns {
        let expected =
            || format!("a value of the partition column `{}` ({})", column.name, column.data_type.name());
        let kind = FindingKind::PartitionValueInvalid;
        match add.partition_values.get(&column.physical) {
            None => report.found(kind, version, &add.path, expected(), "none"),
            Some(text) => {
                if let Err(error) = partition::parse(&column.name, text.as_deref(), &column.data_type) {
                    report.found(kind, version, &add.path, expected(), error);
                }
            }
        }
    }
}

fn check_stats(add: &Add, identities: &[IdentityColumn], version: u64, report: &mut VerifyReport) {
    let Some(text) = &add.stats else { return };
    match serde_json::from_str::<Value>(text) {
        Err(error) => {
            report.found(FindingKind::UnreadableAdd, version, &add.path, "statistics in JSON", error);
        }
        Ok(stats) => identities.iter().for_each(|column| column.check(add, &stats, version, report)),
    }
}
