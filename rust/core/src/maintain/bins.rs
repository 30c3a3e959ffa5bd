//! Which files become one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::actions::Add;
use crate::replay::FileBatch;
use crate::stats::num_records;
use crate::sums::SaturatingSum;

/// Files of one partition that become one, or of a cube.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bin {
    /// Partition values in one spelling.
    pub(crate) partition: Vec<Option<String>>,
    /// The files, in the order in which their rows are to be.
    pub(crate) files: Vec<Add>,
}

impl Bin {
    /// Bytes of its files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|add| add.size.unsigned_abs()).saturating_sum()
    }
}

/// Files by partition, its values in one spelling.
pub(super) type FilesOfPartitions = BTreeMap<Vec<Option<String>>, Vec<Add>>;

/// Which files are worth it: those below `min` bytes, and those of which more than `max_deleted` of the rows are deleted or
/// that do not tell.
pub(super) struct Worth {
    pub(super) min: u64,
    pub(super) max_deleted: f64,
}

impl Worth {
    /// Without a look at the statistics.
    pub(super) fn may_be(&self, files: &FileBatch, file: usize) -> bool {
        files.sizes().value(file).unsigned_abs() < self.min || files.deleted(file).is_some()
    }

    pub(super) fn is_it(&self, add: &Add) -> bool {
        add.size.unsigned_abs() < self.min || self.of_deleted_rows(add)
    }

    /// A file alone is worth it only for its deleted rows.
    pub(super) fn of_deleted_rows(&self, add: &Add) -> bool {
        deleted_ratio(add).is_none_or(|ratio| ratio > self.max_deleted)
    }
}

/// The share of the rows of a file that are deleted; `None` where it has a vector and lacks its number of rows.
pub(super) fn deleted_ratio(add: &Add) -> Option<f64> {
    let Some(vector) = &add.deletion_vector else { return Some(0.0) };
    let rows = num_records(add).filter(|rows| *rows > 0)?;
    Some(vector.cardinality as f64 / rows as f64)
}

/// The files in groups of at most `target` bytes. A file is in one by itself only where it may be alone.
pub(super) fn groups(files: FilesOfPartitions, target: u64, alone: &dyn Fn(&Add) -> bool) -> Vec<Bin> {
    let mut out = Vec::new();
    for (partition, mut files) in files {
        files.sort_by(|a, b| (a.size, &a.path).cmp(&(b.size, &b.path)));
        let mut bin: Vec<Add> = Vec::new();
        let mut size = 0_u64;
        let mut close = |bin: Vec<Add>| {
            if bin.len() > 1 || bin.iter().any(alone) {
                out.push(Bin { partition: partition.clone(), files: bin });
            }
        };
        for file in files {
            if !bin.is_empty() && size.saturating_add(file.size.unsigned_abs()) > target {
                close(std::mem::take(&mut bin));
                size = 0;
            }
            size = size.saturating_add(file.size.unsigned_abs());
            bin.push(file);
        }
        close(bin);
    }
    out
}

/// All files of each partition.
pub(super) fn whole_partitions(files: FilesOfPartitions) -> Vec<Bin> {
    files.into_iter().map(|(partition, files)| Bin { partition, files }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::FilePath;
    use crate::deletion_vector::DeletionVector;

    fn file(name: &str, size: i64, deleted: u64) -> Add {
        let vector: DeletionVector = (0..deleted).collect();
        Add {
            path: FilePath::from_log(name),
            size,
            stats: Some("{\"numRecords\":100}".into()),
            deletion_vector: (deleted > 0).then(|| vector.to_inline()),
            ..Default::default()
        }
    }

    fn bins(mut files: FilesOfPartitions) -> Vec<Bin> {
        let worth = Worth { min: 60, max_deleted: 0.05 };
        files.values_mut().for_each(|files| files.retain(|add| worth.is_it(add)));
        groups(files, 100, &|add| worth.of_deleted_rows(add))
    }

    fn names(files: Vec<Add>) -> Vec<String> {
        let bins = bins([(Vec::new(), files)].into());
        let joined =
            |b: Bin| b.files.iter().map(|f| f.path.as_str().to_owned()).collect::<Vec<_>>().join("+");
        bins.into_iter().map(joined).collect()
    }

    #[test]
    fn small_files_are_joined_up_to_the_target() {
        let files = |sizes: &[i64]| {
            let name = |(n, size): (usize, &i64)| file(&format!("{n}"), *size, 0);
            names(sizes.iter().enumerate().map(name).collect())
        };
        assert_eq!(files(&[50, 40, 30, 20]), ["3+2+1",]);
        assert_eq!(files(&[30, 30, 40, 50, 50]), ["0+1+2", "3+4"]);
        // large ones are left alone, and so is one that has no other
        assert_eq!(files(&[60, 99]), [] as [&str; 0]);
        assert_eq!(files(&[10, 99]), [] as [&str; 0]);
        assert_eq!(files(&[]), [] as [&str; 0]);
    }

    #[test]
    fn files_with_many_deleted_rows_are_written_again() {
        assert_eq!(names(vec![file("a", 500, 6)]), ["a"]);
        assert_eq!(names(vec![file("a", 500, 5)]), [] as [&str; 0]);
        let untold = Add { stats: None, ..file("a", 500, 1) };
        assert_eq!(names(vec![untold]), ["a"]);
        assert_eq!(names(vec![file("a", 500, 6), file("b", 10, 0), file("c", 20, 0)]), ["b+c", "a"]);
    }

    #[test]
    fn partitions_are_never_mixed() {
        let one = |name: &str| vec![file(name, 10, 0), file(&format!("{name}2"), 10, 0)];
        let files = [(vec![Some("x".to_owned())], one("a")), (vec![None], one("b"))];
        let bins = bins(files.into());
        assert_eq!(bins.len(), 2);
        assert!(bins.iter().all(|b| b.files.len() == 2));
    }
}
