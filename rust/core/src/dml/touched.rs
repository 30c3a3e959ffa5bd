//! The files with rows that match the condition, and the positions of these rows.

use std::sync::Arc;

use rayon::prelude::*;
use roaring::RoaringTreemap;

use super::attempt::DmlAttempt;
use crate::actions::Add;
use crate::deletion_vector::DeletionVector;
use crate::error::Result;
use crate::scan::{PositionedRows, RowScan};
use crate::store::runtime;
use crate::sums::SaturatingSum;
use crate::write::RowCondition;

/// A file with matching rows.
#[derive(Debug)]
pub(crate) struct Touched {
    pub(crate) add: Add,
    /// Positions of the matching rows.
    pub(crate) matched: RoaringTreemap,
    /// The rows that were deleted before.
    pub(crate) deleted: Option<DeletionVector>,
    /// Number of rows of the file, deleted ones included.
    pub(crate) rows: u64,
}

impl Touched {
    /// Whether every remaining row matches.
    pub(crate) fn is_whole(&self) -> bool {
        self.matched.len() + self.deleted.as_ref().map_or(0, DeletionVector::cardinality) == self.rows
    }

    /// The rows deleted before, and the matching rows.
    pub(crate) fn gone(&self) -> DeletionVector {
        match &self.deleted {
            Some(deleted) => (deleted.rows() | &self.matched).into(),
            None => self.matched.clone().into(),
        }
    }

    /// All rows except those that match.
    pub(crate) fn others(&self) -> DeletionVector {
        let mut all = RoaringTreemap::new();
        all.insert_range(0..self.rows);
        (all - &self.matched).into()
    }
}

/// Searches the files for rows that match a condition. Returns the files with such rows, in their order.
///
/// # Errors
/// As [`crate::scan::read_file`]; [`crate::Error::InvalidExpression`] for a row that the condition cannot be computed
/// for.
///
/// # Cost
/// The columns of the condition, in the row groups and pages that may match. Memory: a few batches a core, and the
/// positions found.
pub(crate) fn find(
    attempt: &DmlAttempt,
    condition: &RowCondition<'_>,
    candidates: Vec<Add>,
) -> Result<Vec<Touched>> {
    let scan = condition.scan()?;
    let found = in_each(attempt, candidates, |add| look(attempt, &scan, condition, add))?;
    Ok(found.into_iter().flatten().collect())
}

/// What a look into each of these files finds, in their order. The files are counted as they are looked into.
///
/// # Errors
/// The first one of a look.
pub(crate) fn in_each<T: Send>(
    attempt: &DmlAttempt,
    files: Vec<Add>,
    look: impl Fn(Add) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let progress = attempt.plan.location.progress();
    progress.expect(files.len() as u64, files.iter().map(|file| file.size.unsigned_abs()).saturating_sum());
    let counted = |add: Add| {
        let bytes = add.size.unsigned_abs();
        let found = look(add);
        progress.done(1, bytes);
        found
    };
    runtime::pool()?.install(|| files.into_par_iter().map(counted).collect())
}

fn look(
    attempt: &DmlAttempt,
    scan: &Arc<RowScan>,
    condition: &RowCondition<'_>,
    add: Add,
) -> Result<Option<Touched>> {
    attempt.check()?;
    let load = |d| DeletionVector::load(d, &attempt.plan.location);
    let deleted = add.deletion_vector.as_ref().map(load).transpose()?;
    let mut rows = PositionedRows::open(scan, &add, deleted.as_ref())?;
    let total = rows.total();
    let mut matched = RoaringTreemap::new();
    for batch in &mut rows {
        attempt.check()?;
        let (batch, places) = batch?;
        condition.for_each_match(&batch, |row| {
            matched.insert(places[row]);
        })?;
    }
    Ok((!matched.is_empty()).then_some(Touched { add, matched, deleted, rows: total }))
}
