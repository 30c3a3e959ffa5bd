//! The files of one commit that hold its changes (PROTOCOL.md, "Add CDC File").

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use roaring::RoaringTreemap;
use serde_json::Value;

use crate::actions::{
    Action, Add, Cdc, CommitInfo, DeletionVectorDescriptor, OperationName, PartitionValues, Remove,
};
use crate::deletion_vector::DeletionVector;
use crate::error::{Error, Result};
use crate::parquet::DataFile;
use crate::scan::row_count;
use crate::schema::{CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION};
use crate::snapshot::format_timestamp;
use crate::store::{Location, runtime};

/// What the rows of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// Rows of a data file that are new.
    Insert,
    /// Deleted rows of a data file.
    Delete,
    /// Changes that were written as such; each row has its change type.
    Cdc,
}

impl ChangeKind {
    /// `insert`, `delete` or `cdc`.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Insert => "insert",
            ChangeKind::Delete => "delete",
            ChangeKind::Cdc => "cdc",
        }
    }
}

/// A file that holds changes of one version.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeFile {
    /// What its rows are.
    pub kind: ChangeKind,
    /// The version.
    pub version: u64,
    /// When the version was committed, in milliseconds since the Unix epoch.
    pub timestamp: i64,
    /// The file, as a scan reads it: its deletion vector leaves out every row that is no change, and its partition values
    /// have those of the columns [`COMMIT_VERSION`], [`COMMIT_TIMESTAMP`] and, unless it is a [`ChangeKind::Cdc`],
    /// [`CHANGE_TYPE`].
    pub file: Add,
}

/// The facts of the commit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Committed<'a> {
    pub(super) location: &'a Location,
    pub(super) partitioned: bool,
    /// File of the log.
    pub(super) path: &'a str,
    pub(super) version: u64,
    pub(super) timestamp: i64,
}

/// The files of a commit, in the order of its actions: `cdc` files where there are any, otherwise those that it added and
/// removed. Of a file that stays with other deleted rows, only the rows that changed are left.
///
/// # Errors
/// [`Error::LogCorrupt`] for a removed file of a partitioned table whose partition values are not known;
/// [`Error::DeletionVector`] and [`Error::DataFile`] for vectors that cannot be compared.
///
/// # Cost
/// Both deletion vectors and the footer of each file whose deleted rows changed.
pub(super) fn files(commit: Committed<'_>, actions: Vec<Action>) -> Result<Vec<ChangeFile>> {
    let mut cdc = Vec::new();
    let mut moved = Vec::new();
    let mut nothing_merged = false;
    for action in actions {
        match action {
            Action::Cdc(file) => cdc.push(*file),
            Action::Add(add) if add.data_change => moved.push(Moved::Added(*add)),
            Action::Remove(remove) if remove.data_change => moved.push(Moved::Removed(*remove)),
            Action::CommitInfo(info) => nothing_merged |= merged_nothing(&info),
            _ => {}
        }
    }
    if !cdc.is_empty() {
        return Ok(cdc.into_iter().map(|file| commit.file(ChangeKind::Cdc, of_cdc(file))).collect());
    }
    if nothing_merged { Ok(Vec::new()) } else { commit.moved(moved) }
}

/// Whether a merge changed no row, although it may have rewritten files.
fn merged_nothing(info: &CommitInfo) -> bool {
    let none = |metric: &str| {
        let value = info.operation_metrics.as_ref().and_then(|metrics| metrics.get(metric));
        matches!(value, Some(Value::String(text)) if text == "0")
    };
    info.operation.as_deref() == Some(OperationName::Merge.name())
        && ["numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"].into_iter().all(none)
}

/// A file that a commit moves.
#[derive(Debug)]
enum Moved {
    Added(Add),
    Removed(Remove),
}

impl Committed<'_> {
    fn moved(&self, moved: Vec<Moved>) -> Result<Vec<ChangeFile>> {
        let root = self.location.root();
        let mut added = HashMap::new();
        for action in &moved {
            if let Moved::Added(add) = action {
                added.insert(add.path.identity(root)?, add.clone());
            }
        }
        let mut removed = HashSet::new();
        for action in &moved {
            if let Moved::Removed(remove) = action {
                removed.insert(remove.path.identity(root)?);
            }
        }
        let one = |action: &Moved| -> Result<Vec<ChangeFile>> {
            match action {
                Moved::Added(add) if removed.contains(&add.path.identity(root)?) => Ok(Vec::new()),
                Moved::Added(add) => Ok(vec![self.file(ChangeKind::Insert, add.clone())]),
                Moved::Removed(remove) => match added.get(&remove.path.identity(root)?) {
                    Some(add) => self.between(add, remove.deletion_vector.as_ref()),
                    None => Ok(vec![self.file(ChangeKind::Delete, self.of_remove(remove)?)]),
                },
            }
        };
        let files: Vec<Vec<ChangeFile>> =
            runtime::pool()?.install(|| moved.par_iter().map(one).collect::<Result<_>>())?;
        Ok(files.concat())
    }

    /// The rows of a file that stays which are deleted only now, and those that are no longer deleted.
    fn between(&self, add: &Add, before: Option<&DeletionVectorDescriptor>) -> Result<Vec<ChangeFile>> {
        let rows = |vector: Option<&DeletionVectorDescriptor>| match vector {
            Some(vector) => Ok(DeletionVector::load(vector, self.location)?.rows().clone()),
            None => Ok(RoaringTreemap::new()),
        };
        let after = add.deletion_vector.as_ref();
        if before == after {
            return Ok(Vec::new());
        }
        let (before, after) = (rows(before)?, rows(after)?);
        let path = add.path.resolve(self.location.root())?;
        let footer = DataFile::open(self.location, path, add.size)?.metadata(false)?;
        let total = row_count(&footer);
        let changed = [(ChangeKind::Delete, &after - &before), (ChangeKind::Insert, &before - &after)];
        Ok(changed
            .into_iter()
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(kind, rows)| {
                let mut others = RoaringTreemap::new();
                others.insert_range(0..total);
                others -= &rows;
                // a row after the end of the file stays in the vector, and the scan refuses it
                others |= rows.into_iter().skip_while(|row| *row < total).collect::<RoaringTreemap>();
                let vector = (!others.is_empty()).then(|| DeletionVector::from(others).to_inline());
                self.file(kind, Add { deletion_vector: vector, ..add.clone() })
            })
            .collect())
    }

    fn of_remove(&self, remove: &Remove) -> Result<Add> {
        let partition_values = match &remove.partition_values {
            Some(values) => values.clone(),
            None if !self.partitioned => PartitionValues::default(),
            None => {
                let reason =
                    format!("`remove` of `{}` has no partitionValues, and its rows need them", remove.path);
                return Err(Error::corrupt(self.path, Some(self.version), reason));
            }
        };
        let size = match remove.size {
            Some(size) => size,
            None => {
                let path = remove.path.resolve(self.location.root())?;
                let found = self.location.store_for(&path)?.head(&path).map_err(|error| match error {
                    Error::NotFound { path } => {
                        let reason = "it was removed and no longer exists: VACUUM may have deleted it".into();
                        Error::DataFile { path, reason }
                    }
                    other => other,
                })?;
                i64::try_from(found.size).unwrap_or(i64::MAX)
            }
        };
        let (path, deletion_vector) = (remove.path.clone(), remove.deletion_vector.clone());
        Ok(Add { path, partition_values, size, deletion_vector, ..Add::default() })
    }

    fn file(&self, kind: ChangeKind, mut file: Add) -> ChangeFile {
        (file.stats, file.tags) = (None, None);
        let values = &mut file.partition_values;
        values.insert(COMMIT_VERSION.into(), Some(self.version.to_string()));
        values.insert(COMMIT_TIMESTAMP.into(), Some(format_timestamp(self.timestamp)));
        if kind != ChangeKind::Cdc {
            values.insert(CHANGE_TYPE.into(), Some(kind.name().to_owned()));
        }
        ChangeFile { kind, version: self.version, timestamp: self.timestamp, file }
    }
}

fn of_cdc(file: Cdc) -> Add {
    let Cdc { path, partition_values, size, .. } = file;
    Add { path, partition_values, size, ..Add::default() }
}
