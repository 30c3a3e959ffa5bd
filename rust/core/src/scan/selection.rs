//! Which rows of a data file are decoded: those that are not deleted, in the row groups and pages that may match.

use std::collections::VecDeque;
use std::ops::Range;

use arrow_buffer::BooleanBufferBuilder;
use parquet::arrow::arrow_reader::RowSelection;
use parquet::arrow::push_decoder::RowGroupSelection;
use parquet::file::metadata::ParquetMetaData;

use crate::deletion_vector::DeletionVector;
use crate::error::{Error, Result, condition};
use crate::parquet::DataFile;
use crate::sums::SaturatingSum;

/// Bytes that a run of deleted rows takes in a selection: the skipped rows, and the kept ones after them.
const BYTES_OF_RUN: usize = 32;

/// Number of rows of a file.
pub(crate) fn row_count(metadata: &ParquetMetaData) -> u64 {
    metadata.row_groups().iter().map(|g| g.num_rows().max(0) as u64).saturating_sum()
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
        }
        .of_condition(&condition::DELETION_VECTOR_INVALID_ROW_INDEX)),
        _ => Ok(()),
    }
}

/// The row groups of `wanted` with the remaining rows of `matching` for each. Positions in the vector are
/// those in the file, whatever is skipped.
pub(super) fn select(
    metadata: &ParquetMetaData,
    wanted: &[usize],
    matching: impl Fn(usize) -> Option<RowSelection>,
    deleted: Option<&DeletionVector>,
) -> Vec<RowGroupSelection> {
    let starts = starts(metadata);
    let select = |group: &usize| {
        let keep = deleted.and_then(|d| keep(d, starts[*group]..starts[group + 1]));
        let rows = match (keep, matching(*group)) {
            (Some(keep), Some(matching)) => Some(keep.intersection(&matching)),
            (keep, matching) => keep.or(matching),
        };
        let left = rows.as_ref().is_none_or(RowSelection::selects_any);
        left.then(|| RowGroupSelection::new(*group, rows))
    };
    wanted.iter().filter_map(select).collect()
}

/// The rows of `range` that are left; `None` when all are. Few runs are kept as such, many as one bit a row: the memory
/// follows the size of the vector, not the number of rows that a footer says.
fn keep(deleted: &DeletionVector, range: Range<u64>) -> Option<RowSelection> {
    let length = usize::try_from(range.end - range.start).ok()?;
    let within = |row: u64| (row - range.start) as usize;
    let bits = length / 8;
    let most = (bits / BYTES_OF_RUN).max(1);
    let runs: Vec<Range<u64>> = deleted.runs(range.clone()).take(most + 1).collect();
    if runs.is_empty() {
        return None;
    }
    if runs.len() <= most {
        let left = between(runs.into_iter(), range.clone()).map(|r| within(r.start)..within(r.end));
        return Some(RowSelection::from_consecutive_ranges(left, length));
    }
    let mut keep = BooleanBufferBuilder::new(length);
    for run in deleted.runs(range.clone()) {
        keep.append_n(within(run.start) - keep.len(), true);
        keep.append_n(within(run.end) - within(run.start), false);
    }
    keep.append_n(length - keep.len(), true);
    Some(RowSelection::from_boolean_buffer(keep.finish()))
}

/// What lies between ascending runs in a range.
fn between(runs: impl Iterator<Item = Range<u64>>, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut from = range.start;
    runs.chain(std::iter::once(range.end..range.end)).filter_map(move |run| {
        let left = from..run.start;
        from = run.end;
        (!left.is_empty()).then_some(left)
    })
}

/// Position of the first row of each row group, and after the last one.
fn starts(metadata: &ParquetMetaData) -> Vec<u64> {
    let mut starts = vec![0];
    for group in metadata.row_groups() {
        starts.push(starts.last().copied().unwrap_or(0) + group.num_rows().max(0) as u64);
    }
    starts
}

/// Number of rows that selections give.
pub(super) fn selected(metadata: &ParquetMetaData, selections: &[RowGroupSelection]) -> u64 {
    let rows = |selected: &RowGroupSelection| match selected.selection() {
        Some(rows) => rows.row_count() as u64,
        None => metadata.row_group(selected.row_group_index()).num_rows().max(0) as u64,
    };
    selections.iter().map(rows).saturating_sum()
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

/// The positions of the rows that a vector keeps.
pub(super) fn left(rows: u64, deleted: Option<&DeletionVector>) -> VecDeque<Range<u64>> {
    match deleted {
        Some(deleted) => between(deleted.runs(0..rows), 0..rows).collect(),
        None => std::iter::once(0..rows).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rows that a selection of `length` rows keeps.
    fn kept(selection: Option<RowSelection>, length: u64) -> Vec<u64> {
        let Some(selection) = selection else { return (0..length).collect() };
        let mut at = 0;
        let mut kept = Vec::new();
        for part in Vec::<parquet::arrow::arrow_reader::RowSelector>::from(selection) {
            let next = at + part.row_count as u64;
            if !part.skip {
                kept.extend(at..next);
            }
            at = next;
        }
        assert_eq!(at, length);
        kept
    }

    proptest! {
        #[test]
        fn what_is_kept_is_what_is_not_deleted(
            deleted in proptest::collection::btree_set(0_u64..3000, 0..400),
            start in 0_u64..2000,
            length in 1_u64..3000,
        ) {
            let vector: DeletionVector = deleted.iter().copied().collect();
            let expected: Vec<u64> =
                (start..start + length).filter(|row| !deleted.contains(row)).map(|row| row - start).collect();
            prop_assert_eq!(kept(keep(&vector, start..start + length), length), expected);
            let left: Vec<u64> = left(length, Some(&vector)).into_iter().flatten().collect();
            prop_assert_eq!(left, (0..length).filter(|row| !deleted.contains(row)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn memory_follows_the_vector_and_not_the_rows() {
        let far = (1 << 40) - 1;
        let vector: DeletionVector = [5, far].into_iter().collect();
        let selection = keep(&vector, 0..1 << 40).unwrap();
        assert!(selection.as_mask().is_none());
        assert_eq!(selection.row_count(), (1 << 40) - 2);
        assert_eq!(left(1 << 40, Some(&vector)), [0..5, 6..far]);
    }
}
