//! Which rows of a data file are decoded: those that are not deleted, in the row groups and pages that may match.

use std::collections::VecDeque;
use std::ops::Range;

use parquet::arrow::arrow_reader::RowSelection;
use parquet::arrow::push_decoder::RowGroupSelection;
use parquet::file::metadata::ParquetMetaData;

use super::deletion_vector::DeletionVector;
use super::file::DataFile;
use crate::error::{Error, Result};

/// Number of rows of a file.
pub(crate) fn row_count(metadata: &ParquetMetaData) -> u64 {
    metadata.row_groups().iter().map(|g| g.num_rows().max(0) as u64).sum()
}

/// Checks that a vector is of this file: one that deletes rows the file does not have belongs to another.
///
/// # Errors
/// [`Error::DeletionVector`] when it is not.
pub(crate) fn check_vector(
    deleted: Option<&DeletionVector>,
    metadata: &ParquetMetaData,
    file: &DataFile,
) -> Result<()> {
    let rows = row_count(metadata);
    match deleted.and_then(|d| d.rows().max()) {
        Some(last) if last >= rows => Err(Error::DeletionVector {
            path: file.path(),
            reason: format!("it deletes row {last}, but the data file has {rows} rows"),
        }),
        _ => Ok(()),
    }
}

/// The row groups of `wanted` with the rows that are left of what `matching` gives of each. Positions in the vector are
/// those in the file, whatever is skipped.
pub(super) fn select(
    metadata: &ParquetMetaData,
    wanted: &[usize],
    matching: impl Fn(usize) -> Option<RowSelection>,
    deleted: Option<&DeletionVector>,
) -> Vec<RowGroupSelection> {
    let starts = starts(metadata);
    let select = |group: &usize| {
        let keep = deleted.and_then(|d| d.keep(starts[*group]..starts[group + 1]));
        let keep = keep.map(RowSelection::from_boolean_buffer);
        let rows = match (keep, matching(*group)) {
            (Some(keep), Some(matching)) => Some(keep.intersection(&matching)),
            (keep, matching) => keep.or(matching),
        };
        let left = rows.as_ref().is_none_or(RowSelection::selects_any);
        left.then(|| RowGroupSelection::new(*group, rows))
    };
    wanted.iter().filter_map(select).collect()
}

/// Position of the first row of each row group, and behind the last one.
fn starts(metadata: &ParquetMetaData) -> Vec<u64> {
    let mut starts = vec![0];
    for group in metadata.row_groups() {
        starts.push(starts.last().copied().unwrap_or(0) + group.num_rows().max(0) as u64);
    }
    starts
}

/// The positions in the file of the rows that selections give, in their order.
pub(super) fn positions(
    metadata: &ParquetMetaData,
    selections: &[RowGroupSelection],
) -> VecDeque<Range<u64>> {
    let starts = starts(metadata);
    let mut out = VecDeque::new();
    for selected in selections {
        let (start, end) = (starts[selected.row_group_index()], starts[selected.row_group_index() + 1]);
        match selected.selection() {
            None => out.push_back(start..end),
            Some(rows) => match rows.as_mask() {
                Some(mask) => {
                    out.extend(mask.set_slices().map(|(from, to)| start + from as u64..start + to as u64));
                }
                None => {
                    let mut at = start;
                    for part in rows.iter() {
                        let next = at + part.row_count as u64;
                        if !part.skip {
                            out.push_back(at..next);
                        }
                        at = next;
                    }
                }
            },
        }
    }
    out
}

/// The positions of the rows that a vector leaves.
pub(super) fn left(rows: u64, deleted: Option<&DeletionVector>) -> VecDeque<Range<u64>> {
    match deleted.and_then(|d| d.keep(0..rows)) {
        Some(keep) => keep.set_slices().map(|(from, to)| from as u64..to as u64).collect(),
        None => std::iter::once(0..rows).collect(),
    }
}
