//! A merge in files of the table: what is found, and what is written for it.

use std::collections::BTreeMap;

use super::find::{Found, find};
use super::insert::insert;
use super::plan::{MergePlan, MergeWritten};
use super::write::rewrite;
use crate::actions::Add;
use crate::dml::DmlAttempt;
use crate::error::Result;

/// Finds what matches in these files, and writes the new rows and the changes. Deletion vectors are left to the caller.
///
/// # Errors
/// As [`crate::operations::merge()`], except those of the commit.
pub(crate) fn merge_files(
    attempt: &DmlAttempt,
    merge: &MergePlan<'_>,
    candidates: Vec<Add>,
) -> Result<(Found, MergeWritten)> {
    let found = find(attempt, &merge.bound, merge.source, candidates)?;
    let files = rewrite(attempt, merge, &found)?;
    let mut written = MergeWritten { files, rows: vec![0; merge.updates.len()], marks: BTreeMap::new() };
    for acted in found.acted.iter().flatten() {
        written.rows[usize::from(acted.clause)] += 1;
    }
    insert(attempt, merge, &found.matched, !found.touched.is_empty(), &mut written)?;
    Ok((found, written))
}
