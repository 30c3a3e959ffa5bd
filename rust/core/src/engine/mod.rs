//! What a distributed engine is handed: the files of a scan, and writes and changes of rows whose files its tasks make.
//!
//! | file | for |
//! |---|---|
//! | `file_list`, `change_list` | reads: the files of a version, and those of the change data feed |
//! | `distributed_write` | writes: checked before the tasks, committed with the files that they made |
//! | `distributed_dml` | deletes, updates and merges, over a `file_subset` of the table, of rows that come in `bitmaps` |
//! | `merge_pairs` | merges of few rows: the pairs of both sides are found here |
//! | `distributed_optimize`, `optimize_task` | optimizes: planned and committed here, rewritten by tasks |
//! | `distributed_convert` | conversions of Parquet files: tasks read footers |
//! | `distributed_verify` | verifications: tasks open files |
//! | `distributed_vacuum` | vacuums: tasks list and delete |
//! | `documents` | what travels between the two |
//! | `spark_schema` | the schema as Spark reads it |

mod bitmaps;
pub mod change_list;
mod distributed_convert;
mod distributed_dml;
mod distributed_optimize;
mod distributed_vacuum;
mod distributed_verify;
mod distributed_write;
mod documents;
pub mod file_list;
mod file_subset;
mod merge_pairs;
mod optimize_task;
mod spark_schema;

pub use distributed_convert::{ConvertTask, DistributedConvert};
pub use distributed_dml::{DistributedDml, DmlCounts, TakenRows};
pub use distributed_optimize::{
    CompactionAfter, DistributedOptimize, OptimizeRanges, OptimizeSample, OptimizeWorks,
};
pub use distributed_vacuum::{DistributedVacuum, VacuumTask};
pub use distributed_verify::{RunsTasks, VerifyTask, verify_by_tasks};
pub use distributed_write::DistributedWrite;
pub use file_subset::FileSubset;
pub use optimize_task::{OptimizeGather, OptimizeSpread, OptimizeTask};
