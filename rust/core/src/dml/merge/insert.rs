//! New rows of a merge: those of the source that match no row of the table.

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::{filter_record_batch, not};
use roaring::RoaringBitmap;

use super::clauses::MergeWhen;
use super::plan::{MergePlan, MergeWritten};
use crate::dml::DmlAttempt;
use crate::dml::change_data::{self, ChangeType, ChangeWriter};
use crate::error::{Error, Result};
use crate::write::{Rules, TableWriter, conform_rows};

/// Writes the new rows, and adds what was written. Where rows of the table change, too, and the table records changes,
/// they are changes as well: readers of the feed then look at nothing else.
///
/// # Errors
/// As a write of these rows.
pub(super) fn insert(
    attempt: &DmlAttempt,
    merge: &MergePlan<'_>,
    matched: &RoaringBitmap,
    others_change: bool,
    written: &mut MergeWritten,
) -> Result<()> {
    let (plan, uploads, options) = (&attempt.plan, &attempt.uploads, &attempt.write);
    let mut rules = Vec::with_capacity(merge.inserts.len());
    for insert in &merge.inserts {
        rules.push(insert.as_ref().map(|insert| Rules::of(plan, &insert.given)).transpose()?);
    }
    if rules.iter().all(Option::is_none) {
        return Ok(());
    }
    let change_plan = (others_change && attempt.feeds_changes()).then(|| change_data::plan(plan));
    let mut data = TableWriter::new(plan, uploads, options, None);
    let mut changes = change_plan.as_ref().map(|plan| ChangeWriter::new(plan, uploads, options));
    for batch in merge.source.scan() {
        attempt.check()?;
        let (first, batch) = batch?;
        let is_new = (first..).take(batch.num_rows()).map(|number| Some(!matched.contains(number)));
        let mut rest = kept(&batch, &is_new.collect())?;
        for (number, condition) in merge.bound.conditions(MergeWhen::NotMatched) {
            let clause = usize::from(number);
            let applies = match condition {
                Some(condition) => {
                    let places = rest.project(&merge.bound.source_places).map_err(failed)?;
                    let rows = merge.bound.sought.rows(None, Some(places.columns()), rest.num_rows())?;
                    let truth = condition.truth(&rows)?;
                    let mask: BooleanArray = truth.iter().map(|t| Some(t == Some(true))).collect();
                    let applies = kept(&rest, &mask)?;
                    rest = kept(&rest, &not(&mask).map_err(failed)?)?;
                    applies
                }
                None => std::mem::replace(&mut rest, batch.slice(0, 0)),
            };
            let (Some(insert), Some(rules)) = (&merge.inserts[clause], &mut rules[clause]) else { continue };
            if applies.num_rows() == 0 {
                continue;
            }
            let new = insert.apply(&merge.joined, applies.columns(), applies.num_rows())?;
            rules.advance_to(&written.marks);
            let new = conform_rows(plan, rules, &new)?;
            written.marks.extend(rules.marks());
            written.rows[clause] += new.num_rows() as u64;
            data.write(&new)?;
            if let Some(changes) = &mut changes {
                changes.write(&new, ChangeType::Insert)?;
            }
        }
    }
    written.files.adds.extend(data.finish()?.into_iter().map(|file| file.add));
    written.files.cdc.extend(changes.map(ChangeWriter::finish).transpose()?.unwrap_or_default());
    Ok(())
}

fn kept(batch: &RecordBatch, mask: &BooleanArray) -> Result<RecordBatch> {
    filter_record_batch(batch, mask).map_err(failed)
}

fn failed(error: arrow::error::ArrowError) -> Error {
    Error::arrow("the new rows of a merge", error)
}
