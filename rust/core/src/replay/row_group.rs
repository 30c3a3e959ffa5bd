//! The live files of one row group of a checkpoint, some at a time. It is pruned by partition values, then by statistics
//! of what is left, then the columns of what is left are decoded.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, StringViewArray, StringViewBuilder, StructArray,
};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;

use super::checkpoint::CheckpointReader;
use super::checkpoint_file::Decoding;
use super::checkpoint_pages::{CheckpointPages, FilePages};
use super::columns::{FileBatch, conform, file_columns, own_texts, schema_of};
use super::pruned_rows::{Pruned, adds_of, by_held, by_partition, by_stats};
use super::scan_source::ScanSource;
use super::stats_json::stats_json;
use super::tail::without;
use crate::error::{Error, Result};
use crate::prune::Pruner;

/// How many rows are read at once.
pub(super) struct Sizes {
    /// Rows of a batch: their columns fit in a cache, and the next ones find the memory that they had.
    pub(super) batch: usize,
    /// Rows of a turn, so few that they can be held.
    pub(super) turn: usize,
    /// Rows of the row groups of a file for which its page index is read: fewer are a page or two.
    pub(super) paged: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes { batch: 8 * 1024, turn: 32 * 1024, paged: 4 * 1024 }
    }
}

/// Rows of a batch at least.
pub(super) const LEAST_ROWS: usize = 8;
/// One row of so many, or fewer, is few.
const SPARSE: usize = 8;

/// The request for every file.
pub(super) struct ReadPlan {
    pub(super) pruner: Option<Pruner>,
    /// Whether statistics of the same columns were asked for before, and are worth being held.
    pub(super) asked_again: bool,
    pub(super) stats: bool,
    pub(super) extended: bool,
    pub(super) sizes: Sizes,
    /// By number of the file of the checkpoint.
    pub(super) pages: Vec<FilePages>,
}

/// A row group that is read in turns.
pub(super) struct GroupReader {
    /// The file of the checkpoint, and the row group.
    place: (usize, usize),
    /// Rows that are still to be decoded, as far as it is known.
    left: usize,
    reading: Option<Reading>,
}

/// What is left of a row group after pruning.
struct Reading {
    decoding: Decoding,
    /// Rows of a turn.
    turn: usize,
    /// Whether few of the rows are read, so that their texts are copied: the pages are freed.
    sparse: bool,
    /// The type of `stats_parsed`, where it is handed over.
    handed: Option<DataType>,
    schema: SchemaRef,
}

fn failed(e: ArrowError) -> Error {
    Error::arrow("listing the files of a checkpoint", e)
}

/// Parts of nearly the same size, none of them larger than the most; the size of the first.
fn even(rows: usize, most: usize) -> usize {
    rows.div_ceil(rows.div_ceil(most).max(1)).max(1)
}

impl GroupReader {
    pub(super) fn new(checkpoint: &CheckpointReader, index: usize, group: usize) -> Self {
        let rows = checkpoint.parquet[index].metadata().row_group(group).num_rows();
        GroupReader { place: (index, group), left: usize::try_from(rows).unwrap_or_default(), reading: None }
    }

    /// Rows that the next turn decodes.
    pub(super) fn next_rows(&self, plan: &ReadPlan) -> usize {
        self.left.min(plan.sizes.turn)
    }

    pub(super) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// The live files of the next rows. Without `parsed`, statistics are the texts alone.
    ///
    /// # Errors
    /// As [`CheckpointFile::decode`]. What failed must not be asked again.
    pub(super) fn turn(
        &mut self,
        plan: &ReadPlan,
        checkpoint: &CheckpointReader,
        source: &ScanSource,
        parsed: Option<&Fields>,
    ) -> Result<Vec<FileBatch>> {
        let file = &checkpoint.parquet[self.place.0];
        if self.reading.is_none() {
            match plan.begin(checkpoint, self.place, source, parsed)? {
                Some((reading, rows)) => (self.reading, self.left) = (Some(reading), rows),
                None => self.left = 0,
            }
        }
        let Some(reading) = &mut self.reading else { return Ok(Vec::new()) };
        let (mut out, mut rows, sparse) = (Vec::new(), 0, reading.sparse);
        while rows < reading.turn {
            let Some(batch) = file.next(&mut reading.decoding)? else { break };
            rows += batch.num_rows();
            out.extend(plan.files(&batch, reading, source)?);
        }
        // a reader that gives fewer rows than it was asked for is at its end
        self.left = if rows < reading.turn { 0 } else { self.left.saturating_sub(rows) };
        if self.left == 0 {
            self.reading = None;
        }
        if out.len() > 1 && sparse { FileBatch::joined(&out).map(|one| vec![one]) } else { Ok(out) }
    }
}

impl ReadPlan {
    /// Prunes a row group, and begins to decode what is left of it: that and the number of its rows, or nothing.
    fn begin(
        &self,
        checkpoint: &CheckpointReader,
        place: (usize, usize),
        source: &ScanSource,
        parsed: Option<&Fields>,
    ) -> Result<Option<(Reading, usize)>> {
        let (file, group) = (&checkpoint.parquet[place.0], place.1);
        let rows = usize::try_from(file.metadata().row_group(group).num_rows()).unwrap_or_default();
        source.counters.checkpoint_rows(rows as u64);
        let pruned = Pruned { file, group, rows, pages: self.pages(checkpoint, place.0)? };
        let keep = self.kept(checkpoint, place, source, pruned)?;
        let kept = keep.as_ref().map_or(rows, BooleanBuffer::count_set_bits);
        if kept == 0 {
            return Ok(None);
        }
        let columns = file_columns(self.stats, self.extended);
        let mut wanted: Vec<Vec<&str>> = columns.iter().map(|c| vec!["add", c.field]).collect();
        let mut fields: Vec<Arc<Field>> = schema_of(&columns).fields().iter().cloned().collect();
        let mut handed = None;
        if let Some(parsed) = parsed.filter(|_| self.stats)
            && let Some(field) = file.field(&["add", "stats_parsed"])
        {
            wanted.push(vec!["add", "stats_parsed"]);
            let kind = DataType::Struct(parsed.clone());
            if !parsed.is_empty() && same_type(field.data_type(), &kind) {
                fields.push(Arc::new(Field::new("stats_parsed", kind.clone(), true)));
                handed = Some(kind);
            }
        }
        let turn = even(kept, self.sizes.turn);
        // of a row group with few matches, a batch has the rows of as many others
        let batch = even(turn, (self.sizes.batch / (rows / kept).max(1)).max(LEAST_ROWS));
        let decoding = pruned.start(&wanted, keep.as_ref(), batch)?;
        let sparse = kept * SPARSE <= rows;
        Ok(Some((Reading { decoding, turn, sparse, handed, schema: Arc::new(Schema::new(fields)) }, kept)))
    }

    /// The page index of a file, where one helps: what is held of statistics is of all rows.
    fn pages(&self, checkpoint: &CheckpointReader, index: usize) -> Result<Option<&CheckpointPages>> {
        let (Some(pruner), Some(of_file)) = (&self.pruner, self.pages.get(index)) else { return Ok(None) };
        let file = &checkpoint.parquet[index];
        if self.asked_again || !file.is_in_todays_calendar() {
            return Ok(None);
        }
        of_file.get(file, pruner, self.sizes.paged)
    }

    /// The rows of a row group that predicates let live; none where nothing is known.
    fn kept(
        &self,
        checkpoint: &CheckpointReader,
        place: (usize, usize),
        source: &ScanSource,
        pruned: Pruned<'_>,
    ) -> Result<Option<BooleanBuffer>> {
        let Some(pruner) = &self.pruner else { return Ok(None) };
        let rows = pruned.rows;
        let counters = &source.counters;
        let mut keep = pruned.pages.and_then(|pages| pages.kept(pruned.group).cloned());
        if let Some(kept) = &keep {
            let dropped = (rows - kept.count_set_bits()) as u64;
            match pruner.uses_stats() {
                true => counters.pruned_by_stats(dropped),
                false => counters.pruned_by_partition(dropped),
            }
        }
        let none_left = |keep: &Option<BooleanBuffer>| keep.as_ref().is_some_and(|k| k.count_set_bits() == 0);
        if pruner.uses_partitions()
            && !none_left(&keep)
            && let Some((kept, adds)) = by_partition(pruner, pruned, keep.as_ref())?
        {
            counters.pruned_by_partition((adds - kept.count_set_bits()) as u64);
            keep = Some(kept);
        }
        if pruner.uses_stats() && !none_left(&keep) {
            let again = if self.asked_again { by_held(pruner, checkpoint, place, rows)? } else { None };
            let judged = match again {
                None => by_stats(pruner, pruned, keep.as_ref())?,
                judged => judged,
            };
            if let Some((kept, adds)) = judged {
                counters.pruned_by_stats((adds - kept.count_set_bits()) as u64);
                keep = Some(kept);
            }
        }
        Ok(keep)
    }

    /// The live files of decoded rows; none where none of them lives.
    fn files(&self, rows: &RecordBatch, reading: &Reading, source: &ScanSource) -> Result<Option<FileBatch>> {
        let Some(adds) = adds_of(rows) else { return Ok(None) };
        let mut arrays = file_columns(self.stats, self.extended)
            .iter()
            .map(|c| conform(adds, c.field, &c.data_type))
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed)?;
        if let Some(parsed) = adds.column_by_name("stats_parsed").and_then(|p| p.as_struct_opt()) {
            arrays[STATS] = filled(arrays[STATS].as_string_view(), parsed);
        }
        if let Some(handed) = &reading.handed {
            arrays.push(conform(adds, "stats_parsed", handed).map_err(failed)?);
        }
        if reading.sparse {
            arrays = arrays.iter().map(own_texts).collect();
        }
        let batch = RecordBatch::try_new(reading.schema.clone(), arrays).map_err(failed)?;
        let batch = match adds.nulls() {
            Some(valid) if valid.null_count() > 0 => {
                filter_record_batch(&batch, &BooleanArray::new(valid.inner().clone(), None))
                    .map_err(failed)?
            }
            _ => batch,
        };
        let batch = without(&FileBatch::new(batch), &source.tail.keys, source.location.root())?;
        Ok((batch.num_files() > 0).then_some(batch))
    }
}

/// The place of the statistics among the columns of a batch.
const STATS: usize = 5;

/// Whether two types hold the same values under the same names; the name of UTC does not matter.
fn same_type(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Struct(a), DataType::Struct(b)) => {
            let same = |(a, b): (&Arc<Field>, &Arc<Field>)| {
                a.name() == b.name() && same_type(a.data_type(), b.data_type())
            };
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        (DataType::Timestamp(a, from), DataType::Timestamp(b, to)) => {
            a == b && from.is_some() == to.is_some()
        }
        (a, b) => a == b,
    }
}

/// The statistics as text, made from the struct where the text is missing.
fn filled(text: &StringViewArray, parsed: &StructArray) -> ArrayRef {
    if text.null_count() == 0 {
        return Arc::new(text.clone());
    }
    let mut out = StringViewBuilder::with_capacity(text.len());
    for row in 0..text.len() {
        if text.is_valid(row) {
            out.append_value(text.value(row));
        } else {
            out.append_option(stats_json(parsed, row));
        }
    }
    Arc::new(out.finish())
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::TimeUnit::{Microsecond, Millisecond};

    use super::*;

    #[test]
    fn types_are_the_same_by_names_types_and_zones() {
        let of = |fields: &[(&str, DataType)]| {
            DataType::Struct(fields.iter().map(|(n, t)| Field::new(*n, t.clone(), true)).collect())
        };
        let utc = |name: &str| DataType::Timestamp(Microsecond, Some(name.into()));
        let (long, text) = (DataType::Int64, DataType::Utf8);
        let base = of(&[("a", long.clone()), ("b", utc("UTC"))]);
        assert!(same_type(&base, &of(&[("a", long.clone()), ("b", utc("+00:00"))])));
        for other in [
            of(&[("a", long.clone())]),
            of(&[("a", long.clone()), ("c", utc("UTC"))]),
            of(&[("b", utc("UTC")), ("a", long.clone())]),
            of(&[("a", text), ("b", utc("UTC"))]),
            of(&[("a", long.clone()), ("b", DataType::Timestamp(Microsecond, None))]),
            of(&[("a", long.clone()), ("b", DataType::Timestamp(Millisecond, Some("UTC".into())))]),
            of(&[("a", long.clone()), ("b", utc("UTC")), ("c", long)]),
        ] {
            assert!(!same_type(&base, &other) && !same_type(&other, &base), "{other}");
        }
    }
}
