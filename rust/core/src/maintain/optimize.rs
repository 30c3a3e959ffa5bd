//! Fewer and larger files: small ones are joined, and rows that deletion vectors hide are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::bins::bins;
use super::rewrite_files::{note, write_all};
use crate::actions::Add;
use crate::alter::parse_byte_size;
use crate::cancel::Cancel;
use crate::conflict::{Changes, RowMoves};
use crate::error::{Error, Result};
use crate::predicate::Predicate;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::txn::row_ids::num_records;
use crate::txn::{Operation, Transaction, quartiles, retried, rewrite_metrics};
use crate::write::{
    PartitionFilter, Target, Uploads, WriteOptions, WritePlan, canonical, check_writer, plan_existing,
};

/// How to optimize.
#[derive(Debug, Clone)]
pub struct OptimizeOptions {
    /// The partitions to look at: a condition on partition columns. None takes all.
    pub predicate: Option<Predicate>,
    /// Bytes of files that are joined into one; none takes `delta.targetFileSize` of the table, or 1 GiB.
    pub target_size: Option<u64>,
    /// Files below this size are joined; none takes the target size.
    pub min_size: Option<u64>,
    /// Files of which more than this share of the rows is deleted are written again.
    pub max_deleted_ratio: f64,
    /// Text for `commitInfo.userMetadata`.
    pub user_metadata: Option<String>,
    /// How long lost races are repeated, the optimize on what the winners left included.
    pub commit_budget: Duration,
    /// Stops the optimize, as long as it has not begun to commit.
    pub cancel: Cancel,
}

impl Default for OptimizeOptions {
    fn default() -> Self {
        OptimizeOptions {
            predicate: None,
            target_size: None,
            min_size: None,
            max_deleted_ratio: 0.05,
            user_metadata: None,
            commit_budget: Duration::from_secs(300),
            cancel: Cancel::default(),
        }
    }
}

/// What an optimize did. Sizes and vectors are those of the commit: where others deleted rows meanwhile, a file that nothing
/// was left of is in neither list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OptimizeDone {
    /// Version that was committed; none where there was nothing to do.
    pub version: Option<u64>,
    /// Files that were looked at.
    pub considered: u64,
    /// Partitions that something was done in.
    pub partitions: u64,
    /// Sizes of the files that joined, ascending.
    pub added: Vec<u64>,
    /// Sizes of the files that left, ascending.
    pub removed: Vec<u64>,
    /// Deletion vectors that left with their files.
    pub vectors: u64,
    /// Rows that vectors hid when the files were read, which are not in the new ones.
    pub deleted_rows: u64,
    /// Bytes of these vectors.
    pub vector_bytes: u64,
    /// What went wrong after the commit, which stands.
    pub warnings: Vec<String>,
}

/// Joins small files of a partition into larger ones, and writes files again that deletion vectors hide too many rows of.
/// No row changes, and readers of changes see nothing. Rows keep their order within the files that they come from, and
/// their row ids and commit versions. Appends may land meanwhile, and with deletion vectors enabled so may row-level
/// deletes and updates of the same files. Where there is nothing to do, nothing is committed. A failure leaves the table
/// as it was.
///
/// An optimize that loses a race it may not follow, because another writer rewrote one of the files, is made anew from
/// what the winner left, until the budget of the commit is used up. Files of an attempt that was not committed are
/// deleted; after [`Error::CommitStateUnknown`] they stay, because they may be part of the table.
///
/// # Errors
/// [`Error::InvalidArgument`] for a condition that is not on partition columns, [`Error::UnsupportedFeature`] for a table
/// that asks more of a writer, [`Error::DataFile`] for a file that cannot be read, [`Error::ConcurrentDeleteDelete`] and
/// the other conflicts of [`Transaction::commit`] when the budget is used up, [`Error::Interrupted`] where it was asked to
/// stop, and what the store says.
///
/// # Cost
/// The files that are joined are read and written once an attempt, several new files at a time. Memory is that of a row
/// group of each.
pub fn optimize(location: &Location, options: &OptimizeOptions) -> Result<OptimizeDone> {
    retried(options.commit_budget, |budget| attempt(location, options, budget))
}

fn attempt(location: &Location, options: &OptimizeOptions, budget: Duration) -> Result<OptimizeDone> {
    options.cancel.check()?;
    let snapshot = Snapshot::open(location.clone(), At::Latest)?;
    let path = location.root().to_string();
    check_writer(&path, snapshot.protocol())?;
    let metadata = snapshot.metadata();
    let write = WriteOptions::default();
    let target = Target::Existing(snapshot.version());
    let plan = plan_existing(location, target, snapshot.protocol().clone(), metadata.clone(), &write)?;
    let files = candidates(&snapshot, &plan, options.predicate.as_ref())?;
    let considered = files.values().map(Vec::len).sum::<usize>() as u64;
    let mut done = OptimizeDone { considered, ..Default::default() };
    let own = metadata.configuration.get("delta.targetFileSize").and_then(|text| parse_byte_size(text).ok());
    let target_size = options.target_size.or(own).unwrap_or(1 << 30);
    let bins = bins(files, target_size, options.min_size.unwrap_or(target_size), options.max_deleted_ratio);
    if bins.is_empty() {
        return Ok(done);
    }
    let mut uploads = Uploads::new(location.store().clone());
    uploads.stop_by(&options.cancel);
    let written = write_all((&plan, &plan), &bins, &uploads)?;
    let (mut adds, mut moves) = (Vec::new(), RowMoves::default());
    for (bin, new) in bins.iter().zip(written) {
        note(location, bin, &new, &mut moves)?;
        done.deleted_rows += new.sources.iter().map(|source| source.deleted.cardinality()).sum::<u64>();
        adds.extend(new.add);
    }
    done.partitions = bins.iter().map(|bin| &bin.partition).collect::<BTreeSet<_>>().len() as u64;
    let mut txn = Transaction::begin(&snapshot, operation(options.predicate.as_ref()));
    txn.rewrite(bins.iter().flat_map(|bin| &bin.files), adds, moves);
    for (name, value) in rewrite_metrics(txn.changes()) {
        txn.operation_mut().set_metric(name, value);
    }
    txn.set_user_metadata(options.user_metadata.clone());
    txn.set_row_ids_preserved(true);
    txn.set_budget(budget);
    uploads.check()?;
    let landed = txn.commit_changes();
    if matches!(&landed, Ok(_) | Err(Error::CommitStateUnknown { .. })) {
        uploads.keep();
    }
    let (committed, changes) = landed?;
    done.version = Some(committed.version);
    done.warnings = committed.warnings;
    done.tell(&changes);
    Ok(done)
}

/// The files that the condition lets through, by partition.
fn candidates(
    snapshot: &Snapshot,
    plan: &WritePlan,
    predicate: Option<&Predicate>,
) -> Result<BTreeMap<Vec<Option<String>>, Vec<Add>>> {
    let filter = match predicate {
        None => None,
        Some(predicate) => {
            Some(PartitionFilter::of(plan, predicate).ok_or_else(|| Error::InvalidArgument {
                argument: "where".into(),
                reason: format!(
                    "`{predicate}` is not on partition columns alone: files are joined as a whole"
                ),
            })?)
        }
    };
    let mut out: BTreeMap<_, Vec<Add>> = BTreeMap::new();
    for add in snapshot.adds(predicate)? {
        if let Some(filter) = &filter
            && !filter.keeps(plan, &add.partition_values)?
        {
            continue;
        }
        out.entry(canonical(plan, &add.partition_values)?).or_default().push(add);
    }
    Ok(out)
}

impl OptimizeDone {
    /// Takes the files from the commit.
    fn tell(&mut self, changes: &Changes) {
        let sizes = |sizes: &mut dyn Iterator<Item = i64>| {
            let mut sizes: Vec<u64> = sizes.map(i64::unsigned_abs).collect();
            sizes.sort_unstable();
            sizes
        };
        self.added = sizes(&mut changes.adds.iter().map(|add| add.size));
        self.removed = sizes(&mut changes.removes.iter().filter_map(|remove| remove.size));
        let vectors = changes.removes.iter().filter_map(|remove| remove.deletion_vector.as_ref());
        let bytes: Vec<u64> = vectors.map(|v| u64::from(v.size_in_bytes.unsigned_abs())).collect();
        self.vectors = bytes.len() as u64;
        self.vector_bytes = bytes.iter().sum();
    }

    /// Smallest, first quartile, median, third quartile and largest size of the new files, as delta-spark takes them.
    pub fn quartiles(&self) -> [u64; 5] {
        quartiles(&self.added)
    }
}

/// The operation with delta-spark's parameters.
fn operation(predicate: Option<&Predicate>) -> Operation {
    let predicates: Vec<String> = predicate.iter().map(ToString::to_string).collect();
    Operation::new("OPTIMIZE")
        .with_encoded("predicate", predicates)
        .with_encoded("zOrderBy", Vec::<String>::new())
        .with_encoded("clusterBy", Vec::<String>::new())
        .with_json("auto", false)
}

/// The share of the rows of a file that are deleted; none where it has a vector and does not tell its rows.
pub(super) fn deleted_ratio(add: &Add) -> Option<f64> {
    let Some(vector) = &add.deletion_vector else { return Some(0.0) };
    let rows = num_records(add).filter(|rows| *rows > 0)?;
    Some(vector.cardinality as f64 / rows as f64)
}
