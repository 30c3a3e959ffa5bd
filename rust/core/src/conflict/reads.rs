use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{MapBuilder, MapFieldNames, StringBuilder, StringViewBuilder};
use arrow_buffer::BooleanBuffer;

use super::winner::Winner;
use super::{PredicateRecord, ReadsRecord};
use crate::actions::{Action, Add, FilePath, ObjectPath, PartitionValues, Remove};
use crate::error::{Error, Result};
use crate::predicate::Predicate;
use crate::prune::Pruner;
use crate::schema::{ColumnMappingMode, StructType};

/// What a transaction read of its version. The less it claims, the fewer commits it conflicts with; what it does not
/// claim, others may change under it.
#[derive(Debug, Clone, Default)]
pub struct Reads {
    state: bool,
    whole_table: bool,
    predicates: Vec<ReadPredicate>,
    files: BTreeSet<String>,
    apps: BTreeSet<String>,
}

#[derive(Debug, Clone)]
struct ReadPredicate {
    predicate: Predicate,
    pruner: Arc<Pruner>,
    /// The files that held rows of the predicate, where they are known.
    matched: Option<BTreeSet<String>>,
}

/// Partition values and statistics of a file; `None` where its action has no partition values.
struct FileFacts<'a> {
    partition_values: Option<&'a PartitionValues>,
    stats: Option<&'a str>,
}

impl Reads {
    /// Claims all that the table is: rows, files, metadata, protocol, domains and applications.
    pub fn state(&mut self) {
        self.state = true;
        self.whole_table = true;
    }

    /// Claims every row.
    pub fn whole_table(&mut self) {
        self.whole_table = true;
    }

    /// Claims every row that matches a predicate. `matched`, where given, are all the files that held such rows, and the
    /// transaction used the matching rows of them only.
    ///
    /// # Errors
    /// [`Error::InvalidPredicate`] for a column that the table does not have, [`Error::LogCorrupt`] for a path that
    /// cannot be decoded.
    pub fn predicate(
        &mut self,
        predicate: &Predicate,
        matched: Option<&mut dyn Iterator<Item = &FilePath>>,
        table: (&StructType, &[String], ColumnMappingMode),
        root: &ObjectPath,
    ) -> Result<()> {
        let (schema, partition_columns, mode) = table;
        let pruner = Arc::new(Pruner::bind(predicate, schema, partition_columns, mode)?);
        let matched = match matched {
            Some(paths) => Some(paths.map(|p| p.identity(root)).collect::<Result<_>>()?),
            None => None,
        };
        self.predicates.push(ReadPredicate { predicate: predicate.clone(), pruner, matched });
        Ok(())
    }

    /// Claims every row of a file.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] for a path that cannot be decoded.
    pub fn file(&mut self, path: &FilePath, root: &ObjectPath) -> Result<()> {
        self.files.insert(path.identity(root)?);
        Ok(())
    }

    /// Claims the version of an application.
    pub fn app(&mut self, app_id: &str) {
        self.apps.insert(app_id.to_owned());
    }

    /// Claims that are not bound to a table.
    pub(super) fn record(&self) -> ReadsRecord {
        let record = |p: &ReadPredicate| PredicateRecord {
            predicate: p.predicate.clone(),
            matched: p.matched.clone(),
        };
        ReadsRecord {
            state: self.state,
            whole_table: self.whole_table,
            predicates: self.predicates.iter().map(record).collect(),
            files: self.files.clone(),
            apps: self.apps.clone(),
        }
    }

    /// Claims that are bound to this table.
    ///
    /// # Errors
    /// [`Error::InvalidPredicate`] for a column that the table does not have.
    pub fn of(record: &ReadsRecord, table: (&StructType, &[String], ColumnMappingMode)) -> Result<Self> {
        let (schema, partition_columns, mode) = table;
        let bind = |p: &PredicateRecord| -> Result<ReadPredicate> {
            let pruner = Arc::new(Pruner::bind(&p.predicate, schema, partition_columns, mode)?);
            Ok(ReadPredicate { predicate: p.predicate.clone(), pruner, matched: p.matched.clone() })
        };
        Ok(Reads {
            state: record.state,
            whole_table: record.whole_table,
            predicates: record.predicates.iter().map(bind).collect::<Result<_>>()?,
            files: record.files.clone(),
            apps: record.apps.clone(),
        })
    }

    /// Whether nothing of the rows was read.
    pub fn is_blind(&self) -> bool {
        !self.state && !self.whole_table && self.predicates.is_empty() && self.files.is_empty()
    }

    pub(super) fn reads_state(&self) -> bool {
        self.state
    }

    pub(super) fn reads_app(&self, app_id: &str) -> bool {
        self.apps.contains(app_id)
    }

    /// For each of the files that were added: whether some claim covers rows of it, and the predicate if it is one.
    pub(super) fn of_added(&self, adds: &[&Add]) -> Result<Vec<Option<Option<&Predicate>>>> {
        if self.whole_table {
            return Ok(vec![Some(None); adds.len()]);
        }
        let files: Vec<_> = adds
            .iter()
            .map(|a| FileFacts { partition_values: Some(&a.partition_values), stats: a.stats.as_deref() })
            .collect();
        let found = first_match(self.predicates.iter(), &files)?;
        Ok(found.into_iter().map(|p| p.map(|p| Some(&p.predicate))).collect())
    }

    /// Follows a winner that moved rows of claimed files (`dataChange` false): the files that they may be in now are claimed
    /// in their place. A file of a rewrite counts for every claim on a file that the rewrite removed, since the log
    /// does not record where a row went.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] for a path that cannot be decoded.
    pub fn follow(&mut self, winner: &Winner, root: &ObjectPath) -> Result<()> {
        let (mut left, mut joined) = (Vec::new(), Vec::new());
        for action in &winner.actions {
            match action {
                Action::Remove(remove) if !remove.data_change => left.push(remove.path.identity(root)?),
                Action::Add(add) if !add.data_change => joined.push(add.path.identity(root)?),
                _ => {}
            }
        }
        let matched = self.predicates.iter_mut().filter_map(|p| p.matched.as_mut());
        for claimed in matched.chain([&mut self.files]) {
            if left.iter().any(|file| claimed.contains(file)) {
                claimed.extend(joined.iter().cloned());
            }
        }
        Ok(())
    }

    /// Whether a claim covers rows of a file that was removed. With `row_level`, the transaction itself deletes rows of
    /// the file, and a predicate whose files are known claims no other rows of it.
    pub(super) fn of_removed(&self, identity: &str, remove: &Remove, row_level: bool) -> Result<bool> {
        if self.whole_table || self.files.contains(identity) {
            return Ok(true);
        }
        let matched = |p: &ReadPredicate| p.matched.as_ref().is_some_and(|m| m.contains(identity));
        if !row_level && self.predicates.iter().any(matched) {
            return Ok(true);
        }
        let file =
            FileFacts { partition_values: remove.partition_values.as_ref(), stats: remove.stats.as_deref() };
        let open = self.predicates.iter().filter(|p| p.matched.is_none());
        Ok(first_match(open, std::slice::from_ref(&file))?.iter().any(Option::is_some))
    }
}

/// For each file the first predicate that a row of it may match.
fn first_match<'p>(
    predicates: impl Iterator<Item = &'p ReadPredicate>,
    files: &[FileFacts<'_>],
) -> Result<Vec<Option<&'p ReadPredicate>>> {
    let mut out = vec![None; files.len()];
    let mut predicates = predicates.peekable();
    if predicates.peek().is_none() || files.is_empty() {
        return Ok(out);
    }
    let names = MapFieldNames { entry: "key_value".into(), key: "key".into(), value: "value".into() };
    let mut values = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
    let mut stats = StringViewBuilder::new();
    for file in files {
        for (key, value) in file.partition_values.into_iter().flatten() {
            values.keys().append_value(key);
            values.values().append_option(value.as_deref());
        }
        values.append(true).map_err(|e| Error::arrow("partition values of a winner", e))?;
        stats.append_option(file.stats);
    }
    let (values, stats) = (values.finish(), stats.finish());
    for read in predicates {
        let partitions = read.pruner.by_partition_values(&values);
        let known = BooleanBuffer::collect_bool(files.len(), |i| files[i].partition_values.is_some());
        let keep = read.pruner.by_stats_json(&stats, &values, &(&partitions & &known));
        for (i, found) in out.iter_mut().enumerate() {
            if found.is_none() && (!known.value(i) || keep.value(i)) {
                *found = Some(read);
            }
        }
    }
    Ok(out)
}
