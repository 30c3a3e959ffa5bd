//! The rows of the table that a merge is about, the row of the source that each matches, and the clause that applies.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::take;
use roaring::{RoaringBitmap, RoaringTreemap};

use super::bound::BoundMerge;
use super::clauses::MergeWhen;
use super::shown::shown;
use super::source::MergeSource;
use crate::actions::{Add, FilePath};
use crate::deletion_vector::DeletionVector;
use crate::dml::{DmlAttempt, Touched, in_each};
use crate::error::{Error, Result, condition};
use crate::expr::Evaluator;
use crate::scan::{PositionedRows, RowScan};

/// Pairs of rows that are compared at once.
const PAIRS: usize = 32 << 10;
/// Rows and columns that the error of several matches shows.
const SHOWN_ROWS: usize = 3;
const SHOWN_COLUMNS: usize = 5;
/// Where delta-spark's error sends its readers.
const USAGE: &str = "https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge";

/// A row of the table that a clause applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Acted {
    /// Its position in the file.
    pub(super) row: u64,
    /// The row of the source that it matches.
    pub(super) source: Option<u32>,
    /// The number of the clause.
    pub(super) clause: u16,
}

/// What a merge finds in a table.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Files with rows that a clause applies to.
    pub(crate) touched: Vec<Touched>,
    /// These rows of each of them, in the order of their positions.
    pub(super) acted: Vec<Vec<Acted>>,
    /// Rows of the source that match a row of the table.
    pub(super) matched: RoaringBitmap,
    /// Files with a row that matches, or that a clause applies to.
    pub(crate) read: Vec<FilePath>,
    often: Vec<String>,
}

/// One file.
#[derive(Debug, Default)]
struct Looked {
    file: Option<(Touched, Vec<Acted>)>,
    matched: RoaringBitmap,
    read: Option<FilePath>,
    often: Vec<String>,
}

/// Looks for matches in these files, several at a time.
///
/// # Errors
/// [`Error::MultipleMatches`] where a row of the table matches several rows of the source, unless each has the same
/// effect; [`Error::InvalidExpression`] for a row that a condition cannot be computed for; as
/// [`crate::scan::read_file`].
///
/// # Cost
/// The columns of the condition and of the conditions of clauses. Memory: a few batches a core, and 24 bytes for each
/// row that a clause applies to.
pub(super) fn find(
    attempt: &DmlAttempt,
    merge: &BoundMerge<'_>,
    source: &MergeSource,
    candidates: Vec<Add>,
) -> Result<Found> {
    let look = Look { attempt, merge, source, scan: merge.scan(&attempt.plan)? };
    let looked: Vec<Looked> = in_each(attempt, candidates, |add| look.at(add))?;
    let mut found = Found::default();
    for one in looked {
        if let Some((touched, acted)) = one.file {
            found.touched.push(touched);
            found.acted.push(acted);
        }
        found.matched |= one.matched;
        found.read.extend(one.read);
        found.often.extend(one.often);
    }
    match found.often.is_empty() || merge.request.may_match_often() {
        true => Ok(found),
        false => Err(several(attempt, found.often)),
    }
}

fn several(attempt: &DmlAttempt, mut rows: Vec<String>) -> Error {
    rows.truncate(SHOWN_ROWS);
    let path = attempt.plan.location.root().to_string();
    Error::MultipleMatches { path, rows }
        .named(&condition::MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE, [("usageReference", USAGE)])
}

struct Look<'a> {
    attempt: &'a DmlAttempt,
    merge: &'a BoundMerge<'a>,
    source: &'a MergeSource,
    scan: Arc<RowScan>,
}

impl Look<'_> {
    fn at(&self, add: Add) -> Result<Looked> {
        self.attempt.check()?;
        let load = |d| DeletionVector::load(d, &self.attempt.plan.location);
        let deleted = add.deletion_vector.as_ref().map(load).transpose()?;
        let mut rows = PositionedRows::open(&self.scan, &add, deleted.as_ref())?;
        let total = rows.total();
        let mut looked = Looked::default();
        let mut acted = Vec::new();
        for batch in &mut rows {
            self.attempt.check()?;
            let (batch, places) = batch?;
            self.look(&batch, &places, &mut looked, &mut acted)?;
        }
        if !looked.matched.is_empty() || !acted.is_empty() {
            looked.read = Some(add.path.clone());
        }
        if !acted.is_empty() {
            let matched: RoaringTreemap = acted.iter().map(|a: &Acted| a.row).collect();
            looked.file = Some((Touched { add, matched, deleted, rows: total }, acted));
        }
        Ok(looked)
    }

    fn look(
        &self,
        batch: &RecordBatch,
        places: &[u64],
        looked: &mut Looked,
        acted: &mut Vec<Acted>,
    ) -> Result<()> {
        let mut rows = Rows { batch, places, matches: vec![0; batch.num_rows()], acted: Vec::new() };
        let (mut waiting, mut failed) = (Pairs::default(), None);
        let mut pair = |target: u32, source: u32| {
            waiting.targets.push(target);
            waiting.sources.push(source);
            if waiting.targets.len() >= PAIRS && failed.is_none() {
                failed = self.compare(&mut rows, std::mem::take(&mut waiting), &mut looked.matched).err();
            }
        };
        match &self.merge.index {
            Some(index) => index.probe(&self.merge.sought, batch.columns(), batch.num_rows(), &mut pair)?,
            None => {
                for target in 0..batch.num_rows() as u32 {
                    self.attempt.check()?;
                    (0..self.source.len()).for_each(|source| pair(target, source));
                }
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        self.compare(&mut rows, waiting, &mut looked.matched)?;
        self.note_several(&rows, looked)?;
        if self.merge.request.is_about_unmatched_rows() {
            self.unmatched(&mut rows)?;
        }
        let mut found = rows.acted;
        found.sort_unstable_by_key(|a| a.row);
        found.dedup_by_key(|a| a.row);
        acted.extend(found);
        Ok(())
    }

    /// Keeps the pairs for which the rest of the condition is true, and finds the clause for each.
    fn compare(&self, rows: &mut Rows<'_>, mut pairs: Pairs, matched: &mut RoaringBitmap) -> Result<()> {
        if pairs.targets.is_empty() {
            return Ok(());
        }
        let merge = self.merge;
        if merge.rest.is_some() || merge.has_conditions(MergeWhen::Matched) {
            let target = taken(rows.batch.columns(), &pairs.targets)?;
            let source = self.source.take(&pairs.sources, &merge.source_places)?;
            pairs.rows = Some(merge.sought.rows(Some(&target), Some(&source), pairs.targets.len())?);
        }
        if let Some(rest) = &merge.rest {
            pairs = pairs.split(rest)?.0;
        }
        for (target, source) in pairs.targets.iter().zip(&pairs.sources) {
            rows.matches[*target as usize] += 1;
            matched.insert(*source);
        }
        rows.act(pairs, merge.conditions(MergeWhen::Matched))
    }

    fn unmatched(&self, rows: &mut Rows<'_>) -> Result<()> {
        let merge = self.merge;
        let numbers = (0_u32..).zip(&rows.matches).filter(|(_, n)| **n == 0).map(|(row, _)| row);
        let mut pairs = Pairs { rows: None, targets: numbers.collect(), sources: Vec::new() };
        if merge.has_conditions(MergeWhen::NotMatchedBySource) {
            let target = taken(rows.batch.columns(), &pairs.targets)?;
            pairs.rows = Some(merge.sought.rows(Some(&target), None, pairs.targets.len())?);
        }
        rows.act(pairs, merge.conditions(MergeWhen::NotMatchedBySource))
    }

    /// Keeps some of the rows that match several rows of the source, for the error.
    fn note_several(&self, rows: &Rows<'_>, looked: &mut Looked) -> Result<()> {
        let often = rows.matches.iter().enumerate().filter(|(_, times)| **times > 1);
        for (row, _) in often.take(SHOWN_ROWS.saturating_sub(looked.often.len())) {
            looked.often.push(self.shown(rows.batch, row)?);
        }
        Ok(())
    }

    fn shown(&self, batch: &RecordBatch, row: usize) -> Result<String> {
        let keys = self.merge.key_columns();
        let fields = self.merge.sought.target.fields.iter().zip(batch.columns());
        let fields = fields.filter(|(field, _)| keys.is_empty() || keys.contains(&field.name.as_str()));
        shown(fields.take(SHOWN_COLUMNS).map(|(field, column)| (field.name.as_str(), column)), row)
    }
}

/// Rows of one batch of a file.
struct Rows<'b> {
    batch: &'b RecordBatch,
    /// Their positions in the file.
    places: &'b [u64],
    /// How many rows of the source each matches.
    matches: Vec<u32>,
    acted: Vec<Acted>,
}

impl Rows<'_> {
    /// Notes the first clause that applies to each pair.
    fn act<'c>(
        &mut self,
        mut pairs: Pairs,
        clauses: impl Iterator<Item = (u16, Option<&'c Evaluator>)>,
    ) -> Result<()> {
        for (clause, condition) in clauses {
            let (applies, others) = match condition {
                Some(condition) => pairs.split(condition)?,
                None => (pairs, Pairs::default()),
            };
            let sources = applies.sources.iter().map(|source| Some(*source)).chain(std::iter::repeat(None));
            self.acted.extend(applies.targets.iter().zip(sources).map(|(target, source)| Acted {
                row: self.places[*target as usize],
                source,
                clause,
            }));
            pairs = others;
        }
        Ok(())
    }
}

/// Rows of the table, each beside one of the source or none, and their columns where a condition reads them.
#[derive(Debug, Default)]
struct Pairs {
    rows: Option<RecordBatch>,
    targets: Vec<u32>,
    /// Empty where there are none.
    sources: Vec<u32>,
}

impl Pairs {
    /// Those for which a condition is true, and the others.
    fn split(self, condition: &Evaluator) -> Result<(Self, Self)> {
        let Some(rows) = self.rows else { return Ok((self, Pairs::default())) };
        let truth = condition.truth(&rows)?;
        let mask: BooleanArray = truth.iter().map(|t| Some(t == Some(true))).collect();
        let part = |mask: &BooleanArray| -> Result<Pairs> {
            let of = |numbers: &[u32]| -> Vec<u32> {
                numbers.iter().zip(mask.values()).filter(|(_, kept)| *kept).map(|(n, _)| *n).collect()
            };
            let rows = arrow::compute::filter_record_batch(&rows, mask).map_err(failed)?;
            Ok(Pairs { rows: Some(rows), targets: of(&self.targets), sources: of(&self.sources) })
        };
        let others = arrow::compute::not(&mask).map_err(failed)?;
        Ok((part(&mask)?, part(&others)?))
    }
}

/// Some rows of columns.
pub(super) fn taken(columns: &[ArrayRef], rows: &[u32]) -> Result<Vec<ArrayRef>> {
    let rows = UInt32Array::from(rows.to_vec());
    columns.iter().map(|column| take(column, &rows, None).map_err(failed)).collect()
}

fn failed(error: arrow::error::ArrowError) -> Error {
    Error::arrow("the rows that a merge compares", error)
}
