//! The rows of several data files in one, in their order.

use super::one_file::write_file;
use super::partitions::partition_key;
use super::plan::WritePlan;
use super::source_rows::{SourceRows, Sources};
use super::uploads::Uploads;
use crate::actions::Add;
use crate::error::Result;
use crate::scan::RowIds;

/// A new file, and what its sources had.
#[derive(Debug)]
pub(crate) struct Compacted {
    /// The file; none where nothing was left of the sources.
    pub(crate) add: Option<Add>,
    /// The rows of each source.
    pub(crate) sources: Vec<SourceRows>,
}

/// Writes the rows that are left of these files of one partition into one, in their order. Where rows have ids that they
/// keep, the new file says which. The first plan says how the files are read, the second, of the same columns, how the new
/// one is written.
///
/// # Errors
/// As [`crate::scan::read_file`], and errors of the store; [`Error::InvalidSchema`] where the table tracks rows and does
/// not name the columns of their ids.
///
/// # Cost
/// Each file is read once, in their order; from a store that answers late a few are read ahead, as [`crate::scan::in_turn`]
/// has it. Memory is that of two row groups or of 32 MiB of files, and of a part of the upload.
pub(crate) fn compact(
    (from, plan): (&WritePlan, &WritePlan),
    files: &[Add],
    number: usize,
    uploads: &Uploads,
) -> Result<Compacted> {
    let Some(first) = files.first() else { return Ok(Compacted { add: None, sources: Vec::new() }) };
    let row_ids = RowIds::of(&plan.metadata)?;
    let with_ids = |plan: &WritePlan| match &row_ids {
        Some(ids) => plan.with_columns(ids.columns()),
        None => plan.clone(),
    };
    let (from, plan) = (&with_ids(from), &with_ids(plan));
    let mut rows = Sources::open((from, plan), row_ids, files.to_vec())?;
    let Some(batch) = rows.next() else { return Ok(Compacted { add: None, sources: rows.into_rows() }) };
    let key = partition_key(from, &first.partition_values)?;
    let add = write_file(plan, key, number, &mut std::iter::once(batch).chain(&mut rows), uploads)?;
    Ok(Compacted { add: Some(add), sources: rows.into_rows() })
}
