//! Which files of a clustered table are clustered again: cubes are the files that one run wrote for one set of rows.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use super::bins::Bin;
use crate::actions::Add;

/// The one clustering implementation that there is.
const PROVIDER: &str = "liquid";
/// Tag: the cube that a file is of.
const ID: &str = "ZCUBE_ID";
/// Tag: JSON of the columns that the cube is clustered by.
const COLUMNS: &str = "ZCUBE_ZORDER_BY";

/// How many files, and how many bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileCount {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl FileCount {
    pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a Add>) -> Self {
        files.into_iter().fold(FileCount::default(), |sum, add| FileCount {
            files: sum.files + 1,
            bytes: sum.bytes.saturating_add(add.size.unsigned_abs()),
        })
    }
}

/// What an optimize along a curve found and did, as delta-spark counts it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CurveStats {
    /// Files of cubes of the same columns.
    pub cube_files: FileCount,
    /// All other files.
    pub other_files: FileCount,
    /// The cubes of the first.
    pub cubes: u64,
    /// Files that were written again.
    pub merged: FileCount,
    /// Cubes that were written.
    pub new_cubes: u64,
}

/// The clustered columns, and the limit for one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct CubeRules<'a> {
    /// The columns of the table.
    pub(super) columns: &'a [String],
    /// Bytes from which a cube is left alone.
    pub(super) full_size: u64,
    /// Bytes of a new cube.
    pub(super) new_size: u64,
    /// Whether files that were clustered by other columns, or by another implementation, are clustered again.
    pub(super) all: bool,
}

/// The cube of a file, and its columns.
fn cube(add: &Add) -> Option<(&str, Vec<String>)> {
    let tags = add.tags.as_ref()?;
    let id = tags.get(ID)?.as_deref()?;
    Some((id, serde_json::from_str(tags.get(COLUMNS)?.as_deref()?).ok()?))
}

impl CubeRules<'_> {
    fn is_ours(&self, add: &Add) -> bool {
        add.clustering_provider.as_deref().is_none_or(|provider| provider == PROVIDER)
            && cube(add).is_none_or(|(_, columns)| columns == self.columns)
    }

    /// The files to cluster again, in groups that become one cube each, and what was found. A full cube is left alone,
    /// and so is a single one that got no new files.
    pub(super) fn choose(&self, files: Vec<Add>) -> (Vec<Bin>, CurveStats) {
        let (ours, others): (Vec<Add>, Vec<Add>) = files.into_iter().partition(|add| self.is_ours(add));
        let mut fresh = Vec::new();
        let mut cubes: BTreeMap<String, Vec<Add>> = BTreeMap::new();
        for add in ours {
            match cube(&add).map(|(id, _)| id.to_owned()) {
                Some(id) => cubes.entry(id).or_default().push(add),
                None => fresh.push(add),
            }
        }
        let mut stats = CurveStats {
            cube_files: FileCount::of(cubes.values().flatten()),
            other_files: FileCount::of(fresh.iter().chain(&others)),
            cubes: cubes.len() as u64,
            ..Default::default()
        };
        cubes.retain(|_, files| FileCount::of(&*files).bytes < self.full_size);
        let again = if self.all { others } else { Vec::new() };
        if again.is_empty() && fresh.is_empty() && cubes.len() < 2 {
            return (Vec::new(), stats);
        }
        fresh.sort_by(|a, b| a.path.cmp(&b.path));
        let chosen: Vec<Add> = fresh.into_iter().chain(cubes.into_values().flatten()).chain(again).collect();
        stats.merged = FileCount::of(&chosen);
        let bins = self.grouped(chosen);
        stats.new_cubes = bins.len() as u64;
        (bins, stats)
    }

    fn grouped(&self, files: Vec<Add>) -> Vec<Bin> {
        let mut bins: Vec<Bin> = Vec::new();
        let mut size = 0_u64;
        for file in files {
            let bytes = file.size.unsigned_abs();
            match bins.last_mut().filter(|_| size.saturating_add(bytes) <= self.new_size) {
                Some(bin) => bin.files.push(file),
                None => {
                    size = 0;
                    bins.push(Bin { partition: Vec::new(), files: vec![file] });
                }
            }
            size = size.saturating_add(bytes);
        }
        bins
    }

    /// Says of the files of one group that they are a cube.
    pub(super) fn mark(&self, adds: &mut [Add]) {
        let (id, columns) = (Uuid::new_v4().to_string(), Value::from(self.columns).to_string());
        for add in adds {
            add.clustering_provider = Some(PROVIDER.into());
            let tags = add.tags.get_or_insert_default();
            tags.insert(ID.into(), Some(id.clone()));
            tags.insert(COLUMNS.into(), Some(columns.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::FilePath;

    fn file(name: &str, size: i64) -> Add {
        Add { path: FilePath::from_log(name), size, ..Default::default() }
    }

    fn clustered(names: &[&str], size: i64, columns: &[String]) -> Vec<Add> {
        let mut files: Vec<Add> = names.iter().map(|name| file(name, size)).collect();
        rules(columns).mark(&mut files);
        files
    }

    fn rules(columns: &[String]) -> CubeRules<'_> {
        CubeRules { columns, full_size: 100, new_size: 150, all: false }
    }

    fn names(bins: &[Bin]) -> Vec<String> {
        let joined = |b: &Bin| {
            let mut names: Vec<_> = b.files.iter().map(|f| f.path.as_str().to_owned()).collect();
            names.sort();
            names.join("+")
        };
        bins.iter().map(joined).collect()
    }

    #[test]
    fn new_files_are_clustered_with_cubes_that_are_not_full() {
        let columns = ["a".to_owned(), "b".to_owned()];
        let rules = rules(&columns);
        let mut files = vec![file("new", 20)];
        files.extend(clustered(&["small1", "small2"], 20, &columns));
        files.extend(clustered(&["full1", "full2"], 50, &columns));
        let (bins, stats) = rules.choose(files);
        assert_eq!(names(&bins), ["new+small1+small2"]);
        assert_eq!(
            (stats.cubes, stats.cube_files, stats.new_cubes),
            (2, FileCount { files: 4, bytes: 140 }, 1)
        );
        assert_eq!((stats.other_files.files, stats.merged), (1, FileCount { files: 3, bytes: 60 }));
    }

    #[test]
    fn one_cube_alone_is_left_alone() {
        let columns = ["a".to_owned()];
        let rules = rules(&columns);
        assert!(rules.choose(Vec::new()).0.is_empty());
        assert!(rules.choose(clustered(&["x", "y"], 20, &columns)).0.is_empty());
        let two = [clustered(&["x"], 20, &columns), clustered(&["y"], 20, &columns)].concat();
        assert_eq!(names(&rules.choose(two).0), ["x+y"]);
        assert_eq!(names(&rules.choose(vec![file("alone", 20)]).0), ["alone"]);
    }

    #[test]
    fn other_columns_and_implementations_only_when_all_is_asked_for() {
        let (columns, before) = (["a".to_owned()], ["b".to_owned()]);
        let foreign = Add { clustering_provider: Some("other".into()), ..file("foreign", 10) };
        let mut files = clustered(&["before"], 20, &before);
        files.push(foreign);
        let mut full = clustered(&["full"], 100, &columns);
        full.append(&mut files.clone());
        assert!(rules(&columns).choose(full.clone()).0.is_empty());
        let all = CubeRules { all: true, ..rules(&columns) };
        assert_eq!(names(&all.choose(full).0), ["before+foreign"]);
    }

    #[test]
    fn cubes_have_a_size() {
        let columns = ["a".to_owned()];
        let files: Vec<Add> = (0..5).map(|n| file(&n.to_string(), 70)).chain([file("huge", 400)]).collect();
        assert_eq!(names(&rules(&columns).choose(files).0), ["0+1", "2+3", "4", "huge"]);
    }
}
