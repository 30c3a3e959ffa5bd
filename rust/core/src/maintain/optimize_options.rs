use std::collections::BTreeSet;
use std::time::Duration;

use crate::actions::PartitionValues;
use crate::write::ParquetOptions;

/// How to optimize.
#[derive(Debug, Clone)]
pub struct OptimizeOptions {
    /// The partitions to look at: a condition on partition columns, in Spark SQL. None takes all.
    pub predicate: Option<String>,
    /// The partitions for which an engine found [`OptimizeOptions::predicate`] to be true, by their values in the log. The
    /// predicate may be one that only the engine knows, and is not evaluated here.
    pub partitions: Option<Vec<PartitionValues>>,
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
            partitions: None,
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

/// Partitions by one spelling of their values.
pub(crate) type Partitions = BTreeSet<Vec<Option<String>>>;
