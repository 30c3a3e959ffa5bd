//! Why a scan opens a file, or passes it over.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray, StringViewArray};
use arrow_buffer::BooleanBufferBuilder;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::{Error, Result};
use crate::predicate::{BoundColumn, Predicate};
use crate::prune::{PredicatePart, RuledOut};
use crate::replay::{FileBatch, FileStream, FilesRequest};
use crate::snapshot::Snapshot;

/// Which files [`explain`] reports one by one; the totals are of all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown {
    /// At most so many.
    pub limit: Option<usize>,
    /// Only those that are kept, or only those that are dropped.
    pub kept: Option<bool>,
}

/// Number and bytes of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Totals {
    fn add(&mut self, size: i64) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(u64::try_from(size).unwrap_or_default());
    }
}

/// What a predicate does to the files of a version.
#[derive(Debug, Default, Serialize)]
pub struct ScanExplanation {
    /// Files that a scan opens.
    pub kept: Totals,
    /// Files that it does not.
    pub dropped: Totals,
    /// What each part of the predicate drops, most files first. A file that it takes several parts to drop counts for each
    /// of them.
    pub parts: Vec<PartTotals>,
    /// Tests that neither partition values nor statistics decide.
    pub undecided: Vec<String>,
    /// The files, in the order of the log.
    pub files: Vec<FileVerdict>,
}

/// What a part of a predicate drops.
#[derive(Debug, Serialize)]
pub struct PartTotals {
    /// The part, as SQL.
    pub part: String,
    /// What rules the files out.
    pub by: By,
    /// How many.
    #[serde(flatten)]
    pub totals: Totals,
}

/// What rules a file out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum By {
    /// The partition values of its action.
    #[serde(rename = "partition values")]
    PartitionValues,
    /// The statistics of its action, in places together with partition values.
    #[serde(rename = "statistics")]
    Statistics,
    /// The typed values of a checkpoint, which can be narrower than the text that is shown.
    #[serde(rename = "checkpoint")]
    Checkpoint,
    /// The predicate itself, which no row can match.
    #[serde(rename = "constant")]
    Constant,
}

/// Why a file is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Why {
    /// Nothing shows that no row matches.
    #[serde(rename = "may match")]
    MayMatch,
    /// The predicate asks for statistics, and the file has none of its columns.
    #[serde(rename = "no statistics")]
    NoStatistics,
}

/// What happens to one file.
#[derive(Debug, Serialize)]
pub struct FileVerdict {
    /// As the log has it.
    pub path: String,
    /// Bytes.
    pub size: i64,
    /// Whether a scan opens it.
    pub kept: bool,
    /// Why it is kept; empty for a dropped one.
    pub why: Option<Why>,
    /// Why it is dropped: each of these parts of the predicate is true for none of its rows, and at least one would
    /// have to be.
    pub causes: Vec<Cause>,
    /// `numRecords`: rows of the file, deleted ones included.
    pub num_records: Option<i64>,
    /// The statistics in the log of the columns of the predicate.
    pub columns: Vec<ColumnFacts>,
}

/// A part of the predicate that rules a file out.
#[derive(Debug, Clone, Serialize)]
pub struct Cause {
    /// The part, as SQL.
    pub part: String,
    /// What rules the file out.
    pub by: By,
    /// The columns that it is about.
    pub columns: Vec<String>,
}

/// The statistics in the log of a column of one file.
#[derive(Debug, Serialize)]
pub struct ColumnFacts {
    /// Its name, with dots between those of nested fields.
    pub column: String,
    /// Of a partition column: the value as text, or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_value: Option<Option<String>>,
    /// Of another column: what of `minValues`, `maxValues` and `nullCount` there is, as written.
    #[serde(flatten)]
    pub statistics: BTreeMap<&'static str, Box<RawValue>>,
}

/// Says of each file of a version why a scan with this predicate opens it or does not.
///
/// The verdict is that of [`Snapshot::files`], which every scan asks; only the reasons are found here, by judging the
/// parts of the predicate with the rules that judge the whole.
///
/// # Errors
/// As [`Snapshot::files`].
///
/// # Cost
/// Twice that of [`Snapshot::files`], once of them without pruning, and memory for the files that are shown.
pub fn explain(snapshot: &Snapshot, predicate: &Predicate, shown: Shown) -> Result<ScanExplanation> {
    let (schema, mode) = (snapshot.schema(), snapshot.column_mapping());
    let part = PredicatePart::of(predicate, schema, snapshot.partition_columns(), mode)?;
    let undecided = part.undecided().iter().map(ToString::to_string).collect();
    let stats = part.pruner.uses_stats();
    let mut survivors = Survivors::new(
        snapshot.files(FilesRequest { predicate: Some(predicate.clone()), ..FilesRequest::default() })?,
    );
    let mut reported = Told { part, shown, out: ScanExplanation { undecided, ..ScanExplanation::default() } };
    for batch in snapshot.files(FilesRequest { stats, ..FilesRequest::default() })? {
        let batch = batch?;
        let mut dropped = BooleanBufferBuilder::new(batch.num_files());
        for row in 0..batch.num_files() {
            dropped.append(!survivors.take(&batch, row)?);
        }
        reported.batch(&batch, &dropped.finish());
    }
    match survivors.next()? {
        None => {
            reported.out.parts.sort_by_key(|p| (std::cmp::Reverse(p.totals.files), p.by));
            Ok(reported.out)
        }
        Some((batch, row)) => Err(Error::DataFile {
            path: batch.paths().value(row).to_owned(),
            reason: "a scan opens it, and the version does not have it: please report this".into(),
        }),
    }
}

/// The files that a scan opens, which come in the order of all files.
struct Survivors {
    files: FileStream,
    batch: Option<FileBatch>,
    row: usize,
}

impl Survivors {
    fn new(files: FileStream) -> Self {
        Survivors { files, batch: None, row: 0 }
    }

    fn next(&mut self) -> Result<Option<(&FileBatch, usize)>> {
        while self.batch.as_ref().is_none_or(|b| self.row >= b.num_files()) {
            match self.files.next().transpose()? {
                Some(batch) => (self.batch, self.row) = (Some(batch), 0),
                None => return Ok(None),
            }
        }
        Ok(self.batch.as_ref().map(|b| (b, self.row)))
    }

    /// Whether a file is the next one of them; then it is passed.
    fn take(&mut self, batch: &FileBatch, row: usize) -> Result<bool> {
        let Some((next, at)) = self.next()? else { return Ok(false) };
        let same = next.paths().value(at) == batch.paths().value(row)
            && next.deletion_vector(at) == batch.deletion_vector(row);
        self.row += usize::from(same);
        Ok(same)
    }
}

struct Told {
    part: PredicatePart,
    shown: Shown,
    out: ScanExplanation,
}

impl Told {
    fn batch(&mut self, batch: &FileBatch, dropped: &arrow_buffer::BooleanBuffer) {
        let values = batch.partition_values();
        let none = || StringViewArray::new_null(batch.num_files());
        let stats = batch.record_batch().column_by_name("stats");
        let stats = stats.and_then(|s| s.as_string_view_opt()).cloned().unwrap_or_else(none);
        let Told { part, shown, out } = self;
        let judged = part.judge(values, &stats, dropped);
        for row in 0..batch.num_files() {
            let kept = !dropped.value(row);
            let size = batch.sizes().value(row);
            if kept { &mut out.kept } else { &mut out.dropped }.add(size);
            let causes = if kept { Vec::new() } else { causes(part, &judged.ruled_out(row)) };
            for cause in &causes {
                match out.parts.iter_mut().find(|p| p.part == cause.part && p.by == cause.by) {
                    Some(known) => known.totals.add(size),
                    None => {
                        let mut totals = Totals::default();
                        totals.add(size);
                        out.parts.push(PartTotals { part: cause.part.clone(), by: cause.by, totals });
                    }
                }
            }
            let wanted = shown.kept.is_none_or(|only| only == kept);
            if !wanted || shown.limit.is_some_and(|limit| out.files.len() >= limit) {
                continue;
            }
            let text = stats.is_valid(row).then(|| stats.value(row));
            let said = Statistics::of(text);
            let valued = |c: &BoundColumn| ColumnFacts {
                column: c.logical.join("."),
                partition_value: Some(c.physical.first().and_then(|name| batch.partition_value(row, name))),
                statistics: BTreeMap::new(),
            };
            let counted = |c: &BoundColumn| ColumnFacts {
                column: c.logical.join("."),
                partition_value: None,
                statistics: said.of_column(&c.physical),
            };
            let mut columns: Vec<_> = part.pruner.partition_columns().iter().map(valued).collect();
            columns.extend(part.pruner.stats_leaves().iter().map(counted));
            let bare = columns.iter().all(|c| c.partition_value.is_some() || c.statistics.is_empty());
            let why = if bare && part.pruner.uses_stats() { Why::NoStatistics } else { Why::MayMatch };
            out.files.push(FileVerdict {
                path: batch.paths().value(row).to_owned(),
                size,
                kept,
                why: kept.then_some(why),
                causes,
                num_records: said.num_records(),
                columns,
            });
        }
    }
}

fn causes(whole: &PredicatePart, ruled_out: &[RuledOut<'_>]) -> Vec<Cause> {
    let columns = |part: &PredicatePart, by: By| {
        let (values, leaves) = (part.pruner.partition_columns(), part.pruner.stats_leaves());
        let leaves = if by == By::PartitionValues { &[] } else { leaves };
        values.iter().chain(leaves).map(|c| c.logical.join(".")).collect::<Vec<_>>()
    };
    let cause = |part: &PredicatePart, by: By| Cause {
        part: part.predicate.to_string(),
        by,
        columns: columns(part, by),
    };
    if ruled_out.is_empty() {
        return vec![cause(whole, By::Checkpoint)];
    }
    ruled_out
        .iter()
        .map(|RuledOut { part, by_values }| {
            let by = if *by_values { By::PartitionValues } else { By::Statistics };
            let bare = columns(part, By::Statistics).is_empty();
            cause(part, if bare { By::Constant } else { by })
        })
        .collect()
}

/// The statistics of one file, as written.
#[derive(Default)]
struct Statistics<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Statistics<'a> {
    fn of(text: Option<&'a str>) -> Self {
        Statistics(text.and_then(|t| serde_json::from_str(t).ok()).unwrap_or_default())
    }

    fn num_records(&self) -> Option<i64> {
        self.0.get("numRecords")?.get().parse().ok()
    }

    fn of_column(&self, path: &[String]) -> BTreeMap<&'static str, Box<RawValue>> {
        let names = [("min", "minValues"), ("max", "maxValues"), ("null_count", "nullCount")];
        let found = |(name, section)| {
            let mut at: &RawValue = self.0.get(section)?;
            for part in path {
                at = serde_json::from_str::<BTreeMap<String, &RawValue>>(at.get()).ok()?.remove(part)?;
            }
            (at.get() != "null").then(|| (name, at.to_owned()))
        };
        names.into_iter().filter_map(found).collect()
    }
}
