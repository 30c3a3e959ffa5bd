//! Fewer and larger files: small ones are joined, or rows are laid out along a curve, and rows that deletion vectors hide
//! are left out.

use std::time::Duration;

use super::bin_work::run_all;
use super::optimize_done::OptimizeDone;
use super::optimize_options::{OptimizeOptions, Partitions};
use super::optimize_plan::OptimizePlan;
use crate::error::Result;
use crate::store::Location;
use crate::txn::retried;
use crate::write::Uploads;

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
