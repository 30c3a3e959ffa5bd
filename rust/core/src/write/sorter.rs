//! Rows in the order of their keys, however many there are: sorted runs in a file of the system's temporary folder, merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, interleave_record_batch, take_record_batch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;

use super::temporary::{Part, Spill, SpilledRows};
use crate::error::{Error, Result};

/// Rows of a run that are in memory at once while runs are merged.
const STEP: usize = 1 << 10;
/// Rows of a sorted batch.
const BATCH: usize = 8 << 10;

/// Takes rows with their keys, and gives them back in the order of the keys. Rows of equal keys keep their order.
///
/// Memory is about three times the bytes of a run, and for each run a step of its rows. What fits into one run is never
/// written to disk.
#[derive(Debug)]
pub(super) struct Sorter {
    run_bytes: usize,
    waiting: Vec<RecordBatch>,
    bytes: usize,
    rows: u64,
    /// Sorted runs.
    spill: Option<(Spill, Vec<Part>)>,
}

impl Sorter {
    /// Runs are of this many bytes.
    pub(super) fn new(run_bytes: usize) -> Self {
        Sorter { run_bytes, waiting: Vec::new(), bytes: 0, rows: 0, spill: None }
    }

    /// Rows that were taken.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes rows. All have the same columns.
    ///
    /// # Errors
    /// [`Error::Storage`] when the temporary folder cannot be written to.
    pub(super) fn push(&mut self, rows: &RecordBatch, keys: BinaryArray) -> Result<()> {
        self.push_keyed(keyed(rows, keys)?)
    }

    /// The same of rows whose last column is their key.
    ///
    /// # Errors
    /// As [`Sorter::push`].
    pub(super) fn push_keyed(&mut self, keyed: RecordBatch) -> Result<()> {
        let bytes = |c: &ArrayRef| c.to_data().get_slice_memory_size().unwrap_or(0);
        self.bytes += keyed.columns().iter().map(bytes).sum::<usize>();
        self.rows += keyed.num_rows() as u64;
        self.waiting.push(keyed);
        if self.bytes >= self.run_bytes { self.spill() } else { Ok(()) }
    }

    /// Writes the rows that wait as a run.
    fn spill(&mut self) -> Result<()> {
        let Some(run) = self.run()? else { return Ok(()) };
        let (spill, runs) = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert((Spill::create()?, Vec::new())),
        };
        runs.push(spill.write(&run, STEP)?);
        Ok(())
    }

    /// The rows that wait, sorted.
    fn run(&mut self) -> Result<Option<RecordBatch>> {
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        let Some(first) = waiting.first() else { return Ok(None) };
        let all = concat_batches(first.schema_ref(), &waiting).map_err(failed)?;
        drop(waiting);
        in_order(&all)
    }

    /// The rows, sorted.
    ///
    /// # Errors
    /// As [`Sorter::push`].
    pub(super) fn finish(mut self) -> Result<SortedRows> {
        if self.spill.is_some() {
            self.spill()?;
        }
        let Some((spill, runs)) = self.spill.take() else {
            let run = self.run()?.filter(|run| run.num_rows() > 0);
            return Ok(SortedRows::One(run.map(|run| (run, 0))));
        };
        let runs = runs.into_iter().map(|run| Cursor::open(spill.read(run)?));
        let mut merge = Merge { cursors: runs.collect::<Result<_>>()?, next: BinaryHeap::new() };
        for (number, cursor) in merge.cursors.iter().enumerate() {
            if let Some(key) = cursor.key() {
                merge.next.push(Reverse((key.to_vec(), number)));
            }
        }
        Ok(SortedRows::Many(merge))
    }
}

/// Rows in the order of their keys, batch by batch.
#[derive(Debug)]
pub(super) enum SortedRows {
    /// All in memory, and how many of them were given.
    One(Option<(RecordBatch, usize)>),
    /// Runs that are merged.
    Many(Merge),
}

impl Iterator for SortedRows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            SortedRows::One(rows) => {
                let (run, at) = rows.as_mut()?;
                let count = BATCH.min(run.num_rows() - *at);
                let batch = without_key(&run.slice(*at, count));
                *at += count;
                if *at == run.num_rows() {
                    *rows = None;
                }
                Some(batch)
            }
            SortedRows::Many(merge) => merge.batch().transpose(),
        }
    }
}

/// Runs, and the keys of their next rows.
#[derive(Debug)]
pub(super) struct Merge {
    cursors: Vec<Cursor>,
    next: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
}

impl Merge {
    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        let (mut steps, mut picks): (Vec<RecordBatch>, _) = (Vec::new(), Vec::with_capacity(BATCH));
        // where the step of each run is among the steps
        let mut places: Vec<Option<usize>> = vec![None; self.cursors.len()];
        while picks.len() < BATCH {
            let Some(Reverse((_, run))) = self.next.pop() else { break };
            let cursor = &mut self.cursors[run];
            let Some(step) = &cursor.step else { continue };
            let place = *places[run].get_or_insert_with(|| {
                steps.push(step.clone());
                steps.len() - 1
            });
            picks.push((place, cursor.row));
            if cursor.advance()? {
                places[run] = None;
            }
            if let Some(key) = cursor.key() {
                self.next.push(Reverse((key.to_vec(), run)));
            }
        }
        if picks.is_empty() {
            return Ok(None);
        }
        let steps: Vec<&RecordBatch> = steps.iter().collect();
        let merged = interleave_record_batch(&steps, &picks).map_err(failed)?;
        without_key(&merged).map(Some)
    }
}

/// A run that is read.
#[derive(Debug)]
struct Cursor {
    reader: SpilledRows,
    /// None at the end.
    step: Option<RecordBatch>,
    row: usize,
}

impl Cursor {
    fn open(mut reader: SpilledRows) -> Result<Self> {
        let step = reader.next().transpose()?;
        Ok(Cursor { reader, step, row: 0 })
    }

    fn key(&self) -> Option<&[u8]> {
        Some(keys_of(self.step.as_ref()?)?.value(self.row))
    }

    /// Advances to the next row; returns whether it is of another step.
    fn advance(&mut self) -> Result<bool> {
        self.row += 1;
        if self.step.as_ref().is_some_and(|step| self.row < step.num_rows()) {
            return Ok(false);
        }
        self.row = 0;
        self.step = self.reader.next().transpose()?;
        Ok(true)
    }
}

/// The rows with their keys as the last column.
///
/// # Errors
/// [`Error::Arrow`] where these are not as many.
pub(super) fn keyed(rows: &RecordBatch, keys: BinaryArray) -> Result<RecordBatch> {
    let mut fields = rows.schema_ref().fields().to_vec();
    fields.push(Arc::new(Field::new("key", DataType::Binary, false)));
    let mut columns = rows.columns().to_vec();
    columns.push(Arc::new(keys));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(failed)
}

/// Rows in the order of their keys, the last column; none without one.
///
/// # Errors
/// [`Error::Arrow`] where there are more bytes than an array holds.
pub(super) fn in_order(all: &RecordBatch) -> Result<Option<RecordBatch>> {
    let Some(keys) = keys_of(all) else { return Ok(None) };
    let mut order: Vec<u32> = (0..all.num_rows() as u32).collect();
    order.sort_by(|a, b| keys.value(*a as usize).cmp(keys.value(*b as usize)));
    take_record_batch(all, &UInt32Array::from(order)).map(Some).map_err(failed)
}

/// The last column.
pub(super) fn keys_of(keyed: &RecordBatch) -> Option<&BinaryArray> {
    keyed.columns().last()?.as_binary_opt()
}

/// All columns but the last.
fn without_key(keyed: &RecordBatch) -> Result<RecordBatch> {
    let columns = keyed.num_columns().saturating_sub(1);
    keyed.project(&(0..columns).collect::<Vec<_>>()).map_err(failed)
}

fn failed(error: ArrowError) -> Error {
    Error::arrow("sorting rows", error)
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, StringArray};
    use arrow::datatypes::Int64Type;
    use proptest::prelude::*;

    use super::*;

    fn push(sorter: &mut Sorter, rows: &[(u8, i64)]) {
        let text: ArrayRef = Arc::new(StringArray::from_iter(
            rows.iter().map(|(key, n)| (n % 3 > 0).then(|| format!("{key}/{n}"))),
        ));
        let number: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.1)));
        let batch =
            RecordBatch::try_from_iter_with_nullable([("key", text, true), ("n", number, true)]).unwrap();
        let keys = BinaryArray::from_iter_values(rows.iter().map(|r| vec![r.0; usize::from(r.0 % 4)]));
        sorter.push(&batch, keys).unwrap();
    }

    fn sorted(sorter: Sorter) -> Vec<(Option<String>, i64)> {
        let mut out = Vec::new();
        for batch in sorter.finish().unwrap() {
            let batch = batch.unwrap();
            assert!((1..=BATCH).contains(&batch.num_rows()) && batch.num_columns() == 2);
            let (text, number) =
                (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<Int64Type>());
            let text = text.iter().map(|t| t.map(str::to_owned));
            out.extend(text.zip(number.values().iter().copied()));
        }
        out
    }

    proptest! {
        #[test]
        fn rows_come_in_the_order_of_keys_and_of_coming(
            batches in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..20),
            run_bytes in 1_usize..4000,
        ) {
            let mut expected: Vec<(Vec<u8>, _)> = Vec::new();
            let (mut small, mut large) = (Sorter::new(run_bytes), Sorter::new(usize::MAX));
            for batch in batches {
                let first = expected.len() as i64;
                let rows: Vec<(u8, i64)> = batch.into_iter().zip(first..).collect();
                for sorter in [&mut small, &mut large] {
                    push(sorter, &rows);
                }
                let row = |(key, n): (u8, i64)| {
                    (vec![key; usize::from(key % 4)], ((n % 3 > 0).then(|| format!("{key}/{n}")), n))
                };
                expected.extend(rows.into_iter().map(row));
            }
            prop_assert_eq!(small.rows(), expected.len() as u64);
            expected.sort_by(|a, b| a.0.cmp(&b.0));
            let expected: Vec<_> = expected.into_iter().map(|e| e.1).collect();
            prop_assert_eq!(&sorted(small), &expected);
            prop_assert_eq!(&sorted(large), &expected);
        }
    }

    #[test]
    fn many_rows_of_many_runs_are_merged_batch_by_batch() {
        let mut sorter = Sorter::new(100_000);
        for part in 0..50 {
            let rows: Vec<(u8, i64)> = (0..1000).map(|n| (((n * 7) % 256) as u8, part * 1000 + n)).collect();
            push(&mut sorter, &rows);
        }
        assert!(sorter.spill.as_ref().unwrap().1.len() > 3);
        assert_eq!(sorted(sorter).len(), 50_000);
    }
}
