//! Fewer and larger files: small ones are joined, or rows are laid out along a curve, and rows that deletion vectors hide
//! are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::bins::{Bin, bins, groups, whole_partitions};
use super::cubes::{CubeRules, CurveStats, FileCount};
use super::layout::{Columns, Layout};
use super::purge::to_be_purged;
use super::rewrite_files::{cluster_all, note, write_all};
use crate::actions::{Add, OperationName};
use crate::conflict::{Changes, RowRelocations};
use crate::error::{Error, Result, condition};
use crate::expr::has_subquery;
use crate::features::check_writer;
use crate::properties::{TableProperty, parse_byte_size};
use crate::snapshot::{At, Snapshot};
use crate::stats::num_records;
use crate::store::Location;
use crate::txn::{Operation, Transaction, quartiles, retried, rewrite_metrics};
use crate::write::{
    ParquetOptions, RowCondition, SourceRows, Uploads, WriteOptions, WritePlan, canonical, plan_snapshot,
    rows_of_partitions,
};

/// How to optimize.
#[derive(Debug, Clone)]
pub struct OptimizeOptions {
    /// The partitions to look at: a condition on partition columns, in Spark SQL. None takes all.
    pub predicate: Option<String>,
    /// Columns by whose Z-order the rows of each partition are sorted, in new files: a condition on any of them then
    /// reads few of the files. Every file of the partitions is rewritten. Each is a name or a list of names as in SQL,
    /// such as `a` or `s.x, b`.
    pub zorder_by: Vec<String>,
    /// Whether columns of [`OptimizeOptions::zorder_by`] must have statistics: without them the order is of no use.
    pub check_statistics: bool,
    /// For a clustered table: whether files that were clustered by other columns than those that the table has now are
    /// clustered again.
    pub full: bool,
    /// Bytes of files that are joined into one; none takes `delta.targetFileSize` of the table, or 1 GiB.
    pub target_size: Option<u64>,
    /// Files below this size are joined; none takes the target size.
    pub min_size: Option<u64>,
    /// Files of which more than this share of the rows is deleted are written again.
    pub max_deleted_ratio: f64,
    /// Whether files of which any row is deleted, and those that have columns which were dropped, are written again without
    /// these, and nothing else is done: a REORG in the history. The two fields above and the order of a clustered table do not count then.
    pub purge: bool,
    /// Compression of the new files; none takes `delta.parquet.compression.codec` of the table, or snappy.
    pub compression: Option<String>,
    /// How else they are encoded.
    pub parquet: ParquetOptions,
    /// Text for `commitInfo.userMetadata`.
    pub user_metadata: Option<String>,
    /// Whether a writer started it by itself, after a commit: for the history.
    pub auto: bool,
    /// How long lost races are repeated, the optimize on what the winners left included.
    pub commit_budget: Duration,
}

impl Default for OptimizeOptions {
    fn default() -> Self {
        OptimizeOptions {
            predicate: None,
            zorder_by: Vec::new(),
            check_statistics: true,
            full: false,
            target_size: None,
            min_size: None,
            max_deleted_ratio: 0.05,
            purge: false,
            compression: None,
            parquet: ParquetOptions::default(),
            user_metadata: None,
            auto: false,
            commit_budget: Duration::from_secs(300),
        }
    }
}

/// What an optimize did. Sizes and vectors are those of the commit: where others deleted rows meanwhile, a file that nothing
/// was left of is in neither list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Results of sorting rows by Z-order.
    pub zorder: Option<CurveStats>,
    /// Where the table is clustered.
    pub clustering: Option<CurveStats>,
    /// What failed after the commit. The commit is not undone.
    pub warnings: Vec<String>,
}

/// Compacts small files of a partition into larger ones, and rewrites files of which deletion vectors delete too many
/// rows. No row changes, and readers of changes see nothing. Rows keep their order within the files that they come
/// from, and their row ids and commit versions. Appends may land meanwhile, and with deletion vectors enabled so may
/// row-level deletes and updates of the same files. If there is nothing to do, nothing is committed. A failure leaves
/// the table as it was.
///
/// With [`OptimizeOptions::zorder_by`] all rows of a partition are sorted by the Z-order of these columns. A clustered table
/// is clustered by its columns, along a Hilbert curve: files that were added since the last time, and cubes of less than 100
/// times the target size; what is clustered already is left alone. Files of both then hold rows that are near each other in
/// all of the columns, and are about as large as the target. Row-level changes of the same files that land meanwhile
/// make the optimize start again.
///
/// An optimize that loses a race it may not follow, because another writer rewrote one of the files, is retried on the
/// newest version, until the budget of the commit is used up. Files of an attempt that was not committed are deleted;
/// after [`Error::CommitStateUnknown`] they stay, because they may be part of the table.
///
/// # Errors
/// [`Error::InvalidArgument`] for a condition that is not on partition columns, for columns without an order for a Z-order,
/// and for both where the table is clustered; [`Error::InvalidExpression`] for what is not a condition on this table,
/// or cannot be computed for a partition; [`Error::UnsupportedFeature`] for a table that asks more of a writer,
/// [`Error::DataFile`] for a file that cannot be read, [`Error::ConcurrentDeleteDelete`] and the other conflicts of
/// [`Transaction::commit`] when the budget is used up, [`Error::Interrupted`] where it was asked to stop, and errors of
/// the store.
///
/// # Cost
/// The files that are compacted are read and written once an attempt, several new files at a time. Memory is that of a row
/// group of each. Along a curve the columns of the curve are read once more, before; rows of a partition or cube that are more
/// than 128 MiB go through a temporary file of the system, and memory is about 400 MiB.
pub fn optimize(location: &Location, options: &OptimizeOptions) -> Result<OptimizeDone> {
    retried(options.commit_budget, |budget| attempt(location, options, None, budget))
}

/// Partitions by one spelling of their values.
pub(super) type Partitions = BTreeSet<Vec<Option<String>>>;

/// As [`optimize`], of these partitions.
pub(super) fn optimize_partitions(
    location: &Location,
    options: &OptimizeOptions,
    these: &Partitions,
) -> Result<OptimizeDone> {
    retried(options.commit_budget, |budget| attempt(location, options, Some(these), budget))
}

fn attempt(
    location: &Location,
    options: &OptimizeOptions,
    these: Option<&Partitions>,
    budget: Duration,
) -> Result<OptimizeDone> {
    let snapshot = Snapshot::open(location.clone(), At::Latest)?;
    check_writer(&location.root().to_string(), snapshot.protocol())?;
    let files = WriteOptions {
        compression: options.compression.clone(),
        parquet: options.parquet.clone(),
        ..Default::default()
    };
    let plan = plan_snapshot(&snapshot, &files)?;
    let layout = Layout::of(&snapshot, &plan, options)?;
    let wanted = Wanted::of(&plan, options, these)?;
    let files = wanted.files(&snapshot)?;
    let considered = files.values().map(Vec::len).sum::<usize>() as u64;
    let mut done = OptimizeDone { considered, ..Default::default() };
    let own = snapshot
        .metadata()
        .property(TableProperty::TargetFileSize)
        .and_then(|text| parse_byte_size(text).ok());
    let target_size = options.target_size.or(own).unwrap_or(1 << 30);
    let bins = match &layout {
        Layout::Joined if options.purge => groups(to_be_purged(&plan, files)?, target_size, &|_| true),
        Layout::Joined => {
            let min_size = options.min_size.unwrap_or(target_size);
            bins(files, target_size, min_size, options.max_deleted_ratio)
        }
        Layout::ZOrdered(_) => whole_partitions(files),
        Layout::Clustered(columns) => {
            let (bins, stats) =
                cube_rules(columns, target_size, options).choose(files.into_values().flatten().collect());
            done.clustering = Some(stats);
            bins
        }
    };
    if bins.is_empty() {
        return Ok(done);
    }
    let uploads = Uploads::new(location);
    let (mut adds, mut moves) = (Vec::new(), RowRelocations::default());
    if let Some((curve, columns)) = layout.curve() {
        for mut new in cluster_all(&plan, &bins, (curve, columns), target_size, &uploads)? {
            if done.clustering.is_some() {
                cube_rules(columns, target_size, options).mark(&mut new.adds);
            }
            done.deleted_rows += deleted(&new.sources);
            adds.append(&mut new.adds);
        }
    } else {
        for (bin, new) in bins.iter().zip(write_all((&plan, &plan), &bins, &uploads)?) {
            note(location, bin, &new, &mut moves)?;
            done.deleted_rows += deleted(&new.sources);
            adds.extend(new.add);
        }
    }
    done.partitions = bins.iter().map(|bin| &bin.partition).collect::<BTreeSet<_>>().len() as u64;
    if let Layout::ZOrdered(_) = layout {
        done.zorder = Some(zorder_stats(&bins, done.partitions));
    }
    let mut txn = Transaction::begin(&snapshot, operation(options, &layout, wanted.predicates()));
    txn.rewrite(bins.iter().flat_map(|bin| &bin.files), adds, moves);
    let metrics = rewrite_metrics(txn.changes());
    txn.operation_mut().set_metrics(metrics);
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

/// The partitions that are looked at.
struct Wanted<'a> {
    plan: &'a WritePlan,
    condition: RowCondition<'a>,
    these: Option<&'a Partitions>,
}

impl<'a> Wanted<'a> {
    fn of(plan: &'a WritePlan, options: &OptimizeOptions, these: Option<&'a Partitions>) -> Result<Self> {
        let partitioning = || plan.partition_columns.join(", ");
        let refusal = |column: &str| {
            let partitioning = partitioning();
            let reason = format!(
                "Predicate references non-partition column '{column}'. Only the partition columns may be \
                 referenced: [{partitioning}]"
            );
            let parameters = [("columnName", column.to_string()), ("columnList", partitioning)];
            Error::InvalidArgument { argument: "where".into(), reason }
                .named(&condition::NON_PARTITION_COLUMN_REFERENCE, parameters)
        };
        let condition = RowCondition::new(options.predicate.as_deref(), plan).map_err(|error| {
            if options.predicate.as_deref().is_some_and(has_subquery) {
                return error.of_condition(&condition::UNSUPPORTED_SUBQUERY_IN_PARTITION_PREDICATES);
            }
            let unknown = error.message_parameters().into_iter().find(|(name, _)| *name == "objectName");
            match unknown {
                None => error,
                Some((_, name)) => {
                    let parameters = [("columnName", name), ("columnList", partitioning())];
                    error.named(&condition::NON_PARTITION_COLUMN_REFERENCE, parameters)
                }
            }
        })?;
        match condition.other_column() {
            None => Ok(Wanted { plan, condition, these }),
            Some(column) => Err(refusal(column)),
        }
    }

    /// Their files, by partition.
    fn files(&self, snapshot: &Snapshot) -> Result<BTreeMap<Vec<Option<String>>, Vec<Add>>> {
        let these = self.these.map(|these| rows_of_partitions(self.plan, these));
        let files = snapshot.adds(these.as_ref().or(self.condition.predicate()))?;
        let mut out: BTreeMap<_, Vec<Add>> = BTreeMap::new();
        for add in self.condition.whole_files(files)? {
            let partition = canonical(self.plan, &add.partition_values)?;
            if self.these.is_none_or(|these| these.contains(&partition)) {
                out.entry(partition).or_default().push(add);
            }
        }
        Ok(out)
    }

    /// What the history shows.
    fn predicates(&self) -> Vec<String> {
        let partitioned = !self.plan.partition_columns.is_empty();
        let these = self.these.filter(|_| partitioned);
        let these = these.map(|these| rows_of_partitions(self.plan, these).to_string());
        these.or(self.condition.text().map(str::to_owned)).into_iter().collect()
    }
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
fn operation(options: &OptimizeOptions, layout: &Layout, predicates: Vec<String>) -> Operation {
    if options.purge {
        return reorg(predicates);
    }
    let (zorder_by, cluster_by) = match layout {
        Layout::Joined => (Vec::new(), Vec::new()),
        Layout::ZOrdered(columns) => (columns.names.clone(), Vec::new()),
        Layout::Clustered(columns) => (Vec::new(), columns.names.clone()),
    };
    let operation = Operation::new(OperationName::Optimize)
        .with_encoded("predicate", predicates)
        .with_encoded("zOrderBy", zorder_by)
        .with_encoded("clusterBy", cluster_by)
        .with_json("auto", options.auto);
    match layout {
        Layout::Clustered(_) => operation.with_json("isFull", options.full),
        _ => operation,
    }
}

/// What rewrites files for something that they should not have, with delta-spark's parameters.
pub(super) fn reorg(predicates: Vec<String>) -> Operation {
    Operation::new(OperationName::Reorg).with_encoded("predicate", predicates).with_json("applyPurge", true)
}

/// A cube is full from 100 files of the target size on, and a new one is half as large again, as those of delta-spark are.
fn cube_rules<'a>(columns: &'a Columns, target_size: u64, options: &OptimizeOptions) -> CubeRules<'a> {
    CubeRules {
        columns: &columns.names,
        full_size: target_size.saturating_mul(100),
        new_size: target_size.saturating_mul(150),
        all: options.full,
    }
}

/// All files count as files of no cube, and what became of each partition as one.
fn zorder_stats(bins: &[Bin], partitions: u64) -> CurveStats {
    let files = FileCount::of(bins.iter().flat_map(|bin| &bin.files));
    CurveStats { other_files: files, merged: files, new_cubes: partitions, ..Default::default() }
}

fn deleted(sources: &[SourceRows]) -> u64 {
    sources.iter().map(|source| source.deleted.cardinality()).sum()
}

/// The share of the rows of a file that are deleted; `None` where it has a vector and lacks its number of rows.
pub(super) fn deleted_ratio(add: &Add) -> Option<f64> {
    let Some(vector) = &add.deletion_vector else { return Some(0.0) };
    let rows = num_records(add).filter(|rows| *rows > 0)?;
    Some(vector.cardinality as f64 / rows as f64)
}
