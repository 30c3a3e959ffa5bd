//! Fewer and larger files: small ones are joined, or rows are laid out along a curve, and rows that deletion vectors hide
//! are left out.

use std::collections::BTreeSet;
use std::time::Duration;

use super::bin_work::run_all;
use super::cubes::CurveStats;
use super::optimize_plan::OptimizePlan;
use crate::conflict::Changes;
use crate::error::Result;
use crate::store::Location;
use crate::txn::{quartiles, retried};
use crate::write::{ParquetOptions, Uploads};

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
/// than 128 MiB go through a temporary file of the system, and memory is about 400 MiB. The plan holds the files that may be
/// rewritten, with their statistics: those that are large enough are passed by, unless files are ordered along a curve.
///
/// [`Error::CommitStateUnknown`]: crate::error::Error::CommitStateUnknown
/// [`Error::InvalidArgument`]: crate::error::Error::InvalidArgument
/// [`Error::InvalidExpression`]: crate::error::Error::InvalidExpression
/// [`Error::UnsupportedFeature`]: crate::error::Error::UnsupportedFeature
/// [`Error::DataFile`]: crate::error::Error::DataFile
/// [`Error::ConcurrentDeleteDelete`]: crate::error::Error::ConcurrentDeleteDelete
/// [`Error::Interrupted`]: crate::error::Error::Interrupted
/// [`Transaction::commit`]: crate::txn::Transaction::commit
pub fn optimize(location: &Location, options: &OptimizeOptions) -> Result<OptimizeDone> {
    retried(options.commit_budget, |budget| {
        attempt(&OptimizePlan::of(location, options, None)?, location, budget)
    })
}

/// Partitions by one spelling of their values.
pub(crate) type Partitions = BTreeSet<Vec<Option<String>>>;

/// As [`optimize`], of these partitions.
pub(super) fn optimize_partitions(
    location: &Location,
    options: &OptimizeOptions,
    these: &Partitions,
) -> Result<OptimizeDone> {
    retried(options.commit_budget, |budget| {
        attempt(&OptimizePlan::of(location, options, Some(these))?, location, budget)
    })
}

/// What was planned, in this process.
///
/// # Errors
/// As [`optimize`].
pub(crate) fn attempt(plan: &OptimizePlan, location: &Location, budget: Duration) -> Result<OptimizeDone> {
    let uploads = Uploads::new(location);
    let made = run_all(&plan.work, &plan.bins, &uploads)?;
    plan.commit(made, budget, &uploads)
}

impl OptimizeDone {
    /// Takes the files from the commit.
    pub(super) fn tell(&mut self, changes: &Changes) {
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
