//! Rows along a curve that are more than one task sorts: they are divided into ranges of the curve, and what many tasks
//! read of a range one task sorts and writes.
//!
//! [`sampled`] chooses rows of a part of the files, [`Ranges`] divides the curve by all that was chosen, [`Spread`] reads
//! a part of the files and gives its rows by range, and [`Gather`] takes the rows of one range.

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::concat_batches;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use serde::{Deserialize, Serialize};

use super::cluster::{Limited, columns_at, physical_paths, sample};
use super::curve::Curve;
use super::one_file::write_file;
use super::partitions::partition_key;
use super::plan::WritePlan;
use super::range_ids::{Cuts, MergedSample, RangeIds};
use super::sorter::{Sorter, in_order, keyed, keys_of};
use super::source_rows::Sources;
use super::uploads::Uploads;
use crate::actions::{Add, PartitionValues};
use crate::error::{Error, Result};
use crate::scan::RowIds;

/// Bytes of rows that are handed on at once, about.
const PIECE: usize = 8 << 20;

/// Rows that were chosen of a part of the files, in the form in which they travel.
#[derive(Debug)]
pub(crate) struct SampledRows {
    /// An Arrow stream; none where there is no row.
    pub(crate) chosen: Option<Vec<u8>>,
    /// Rows that are left of the files.
    pub(crate) rows: u64,
}

/// Chooses rows of some files of those to lay out, `before` of whose rows come before them, of `total`.
///
/// # Errors
/// As [`super::cluster()`].
pub(crate) fn sampled(
    plan: &WritePlan,
    files: &[Add],
    columns: &[Vec<String>],
    (before, total): (u64, u64),
    uploads: &Uploads,
) -> Result<SampledRows> {
    match sample(plan, files, columns, Some((before, total)), uploads)? {
        None => Ok(SampledRows { chosen: None, rows: 0 }),
        Some(sample) => {
            let chosen = to_stream(&sample.chosen()?)?;
            Ok(SampledRows { chosen: Some(chosen), rows: sample.seen() - before })
        }
    }
}

/// All that was chosen.
#[derive(Debug, Default)]
pub(crate) struct Sampled {
    merged: MergedSample,
    /// Rows of the files.
    pub(crate) rows: u64,
}

impl Sampled {
    /// Adds what was chosen of a part.
    ///
    /// # Errors
    /// [`Error::Internal`] for something else.
    pub(crate) fn add(&mut self, part: &SampledRows) -> Result<()> {
        self.rows = self.rows.saturating_add(part.rows);
        for batch in part.chosen.iter().flat_map(|bytes| from_stream(bytes)) {
            self.merged.add(&batch?)?;
        }
        Ok(())
    }

    /// The curve in so many ranges of about as many rows.
    pub(crate) fn divided(self, curve: Curve, columns: Vec<Vec<String>>, parts: u64) -> Ranges {
        let rows_of_file = self.rows.div_ceil(parts.max(1)).max(1);
        let (cuts, bounds) = self.merged.divided(curve, parts);
        Ranges { curve, columns, cuts, bounds, rows_of_file }
    }
}

/// How rows are divided.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ranges {
    curve: Curve,
    /// The columns of the curve, by path of logical names.
    columns: Vec<Vec<String>>,
    cuts: Cuts,
    /// The least keys of the ranges but the first.
    bounds: Vec<Vec<u8>>,
    /// Rows of a new file, about.
    rows_of_file: u64,
}

impl Ranges {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.bounds.len() + 1
    }
}

/// The rows of files, by range.
pub(crate) struct Spread {
    ranges: Ranges,
    ids: Option<RangeIds>,
    paths: Vec<Vec<String>>,
    rows: Sources,
    waiting: Vec<RecordBatch>,
    /// Parts of what was sorted last: a range, and its rows as an Arrow stream.
    ready: Vec<(usize, Vec<u8>)>,
    run_bytes: usize,
    uploads: Uploads,
}

impl Spread {
    /// Of the rows that are left of these files. So many bytes of them are sorted at once.
    ///
    /// # Errors
    /// As [`super::cluster()`].
    pub(crate) fn open(plan: &WritePlan, files: Vec<Add>, ranges: Ranges, run_bytes: usize) -> Result<Self> {
        let plan = with_ids(plan)?;
        let paths = physical_paths(&plan, &ranges.columns);
        let uploads = Uploads::new(&plan.location);
        let rows = Sources::open((&plan, &plan), RowIds::of(&plan.metadata)?, files)?;
        Ok(Spread {
            ranges,
            ids: None,
            paths,
            rows,
            waiting: Vec::new(),
            ready: Vec::new(),
            run_bytes,
            uploads,
        })
    }

    /// Some rows of one range; none after the last. A range comes more than once.
    ///
    /// # Errors
    /// Those of the files.
    pub(crate) fn next_rows(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        loop {
            if let Some(part) = self.ready.pop() {
                return Ok(Some(part));
            }
            let mut bytes = 0;
            for batch in &mut self.rows {
                self.uploads.check()?;
                let batch = batch?;
                let columns = columns_at(&batch, &self.paths)?;
                let ids = match &self.ids {
                    Some(ids) => ids,
                    None => self.ids.insert(RangeIds::with_cuts(self.ranges.cuts.clone(), &columns)?),
                };
                let keyed = keyed(&batch, ids.keys(self.ranges.curve, &columns)?)?;
                bytes += keyed.columns().iter().map(size).sum::<usize>();
                self.waiting.push(keyed);
                if bytes >= self.run_bytes {
                    break;
                }
            }
            let Some(first) = self.waiting.first() else { return Ok(None) };
            let all = concat_batches(first.schema_ref(), &self.waiting).map_err(failed)?;
            self.waiting.clear();
            self.divide(&all)?;
        }
    }

    fn divide(&mut self, rows: &RecordBatch) -> Result<()> {
        let Some(sorted) = in_order(rows)? else { return Ok(()) };
        let Some(keys) = keys_of(&sorted) else { return Ok(()) };
        let bytes = sorted.columns().iter().map(size).sum::<usize>().max(1);
        let step = (sorted.num_rows() as u128 * PIECE as u128 / bytes as u128).max(1) as usize;
        let mut from = 0;
        for range in 0..self.ranges.count() {
            let to = match self.ranges.bounds.get(range) {
                Some(bound) => first_at_least(keys, bound),
                None => sorted.num_rows(),
            };
            while from < to {
                let rows = step.min(to - from);
                self.ready.push((range, to_stream(&sorted.slice(from, rows))?));
                from += rows;
            }
        }
        Ok(())
    }
}

fn size(column: &ArrayRef) -> usize {
    column.to_data().get_slice_memory_size().unwrap_or(0)
}

/// The first of sorted keys that is not below this one.
fn first_at_least(keys: &arrow::array::BinaryArray, bound: &[u8]) -> usize {
    let (mut low, mut high) = (0, keys.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match keys.value(middle) < bound {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// The rows of one range.
pub(crate) struct Gather {
    plan: WritePlan,
    values: PartitionValues,
    rows_of_file: u64,
    sorter: Sorter,
}

impl Gather {
    /// Of a partition with these values. So many bytes of rows are sorted in memory.
    ///
    /// # Errors
    /// As [`super::cluster()`].
    pub(crate) fn new(
        plan: &WritePlan,
        values: PartitionValues,
        ranges: &Ranges,
        run_bytes: usize,
    ) -> Result<Self> {
        let plan = with_ids(plan)?;
        Ok(Gather { plan, values, rows_of_file: ranges.rows_of_file, sorter: Sorter::new(run_bytes) })
    }

    /// Takes rows that a [`Spread`] gave.
    ///
    /// # Errors
    /// [`Error::Internal`] for something else, and [`Error::Storage`] when the temporary folder of the system is full.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        from_stream(bytes).try_for_each(|batch| self.sorter.push_keyed(batch?))
    }

    /// Writes them in their order: one file, or more where the range has more rows than the sample made believe.
    ///
    /// # Errors
    /// As [`super::cluster()`].
    pub(crate) fn finish(self, number: usize, uploads: &Uploads) -> Result<Vec<Add>> {
        let total = self.sorter.rows();
        let count = (total.saturating_add(self.rows_of_file / 2) / self.rows_of_file).max(1).min(total);
        let mut sorted = Limited::of(self.sorter.finish()?);
        let mut adds = Vec::new();
        for file in 0..count {
            sorted.allow((file + 1) * total / count - file * total / count);
            let key = partition_key(&self.plan, &self.values)?;
            adds.push(write_file(&self.plan, key, number, &mut sorted, uploads)?);
        }
        Ok(adds)
    }
}

fn with_ids(plan: &WritePlan) -> Result<WritePlan> {
    Ok(match RowIds::of(&plan.metadata)? {
        Some(ids) => plan.with_columns(ids.columns()),
        None => plan.clone(),
    })
}

fn to_stream(rows: &RecordBatch) -> Result<Vec<u8>> {
    let mut out = StreamWriter::try_new(Vec::new(), rows.schema_ref()).map_err(failed)?;
    out.write(rows).map_err(failed)?;
    out.into_inner().map_err(failed)
}

fn from_stream(bytes: &[u8]) -> Box<dyn Iterator<Item = Result<RecordBatch>> + '_> {
    match StreamReader::try_new(bytes, None) {
        Ok(batches) => Box::new(batches.map(|batch| batch.map_err(failed))),
        Err(error) => Box::new(std::iter::once(Err(failed(error)))),
    }
}

fn failed(error: arrow::error::ArrowError) -> Error {
    Error::arrow("rows between tasks", error)
}
