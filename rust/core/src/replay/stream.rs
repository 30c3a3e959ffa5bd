use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, StringViewArray, StringViewBuilder, new_null_array,
};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::Fields;
use rayon::prelude::*;

use super::checkpoint::CheckpointReader;
use super::checkpoint_pages::FilePages;
use super::checksum_validation::Count;
use super::columns::{FileBatch, FilesRequest, file_columns, schema_of};
use super::row_group::{GroupReader, ReadPlan, Sizes};
use super::scan_source::ScanSource;
use super::tail::without;
use crate::error::{Error, Result};
use crate::prune::Pruner;
use crate::report::Counters;
use crate::store::{Recycling, runtime};

/// The live files of a snapshot, a batch at a time.
///
/// One row group a core is read at once, or several small ones, and some of its rows are decoded at a time, so that the
/// files of several row groups come in turns. Nothing is kept after the consumer has it.
pub struct FileStream {
    source: ScanSource,
    plan: Arc<ReadPlan>,
    /// Batches of the tail and of a JSON checkpoint that are still to come.
    batches: VecDeque<(FileBatch, bool)>,
    /// Row groups that are still to come.
    units: VecDeque<(usize, usize)>,
    /// Row groups that are being read.
    open: Vec<GroupReader>,
    /// What gives the same files from others of the log, as long as none of these was given.
    again: Option<Again>,
    /// The files of the row groups that were read first, which come after the batches.
    first: VecDeque<FileBatch>,
    ready: VecDeque<FileBatch>,
    /// Of a listing of all files, the output so far.
    count: Option<Count>,
    /// Fields of the parsed statistics that are handed over as they are; none where they are not asked for.
    parsed: Fields,
    /// Whether statistics stay null if there is no text of them.
    texts_only: bool,
    /// One row group is read into the memory of another.
    _recycling: Recycling,
}

/// The same listing from other files of the log, after one failed.
pub(crate) type Again = Box<dyn FnOnce(Error) -> Result<FileStream> + Send + Sync>;

/// Rows that are decoded at once, for each core: enough to be worth waking it.
const WORTH_ROWS: usize = 16 * 1024;

impl fmt::Debug for FileStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = self.open.len() + self.units.len();
        write!(f, "FileStream({} batches and {groups} row groups to come)", self.batches.len())
    }
}

fn failed(e: arrow::error::ArrowError) -> Error {
    Error::arrow("listing the files of a snapshot", e)
}

impl FileStream {
    pub(crate) fn new(source: ScanSource, request: &FilesRequest, pruner: Option<Pruner>) -> Self {
        // rows of the tail are live by construction, rows of a checkpoint are not
        let mut batches: VecDeque<(FileBatch, bool)> =
            source.tail.batches.iter().map(|b| (b.clone(), true)).collect();
        let mut units = VecDeque::new();
        let mut pages = Vec::new();
        if let Some(checkpoint) = &source.checkpoint {
            batches.extend(checkpoint.json_adds.iter().map(|b| (b.clone(), false)));
            for (index, file) in checkpoint.parquet.iter().enumerate() {
                let judging = pruner.as_ref().filter(|_| file.is_in_todays_calendar());
                let wanted = judging.map(|p| p.row_groups(file.metadata()));
                let mut groups = Vec::new();
                for group in 0..file.metadata().num_row_groups() {
                    if !file.may_hold(group, "add", "path") {
                        continue;
                    }
                    if wanted.as_ref().is_some_and(|w| !w.get(group).copied().unwrap_or(true)) {
                        source.counters.row_groups_skipped(1);
                    } else {
                        units.push_back((index, group));
                        groups.push(group);
                    }
                }
                pages.push(FilePages::of(groups));
            }
        }
        let (stats, extended) = (request.stats, request.extended);
        let asked = pruner.as_ref().zip(source.checkpoint.as_ref());
        let asked_again = asked.is_some_and(|(pruner, checkpoint)| checkpoint.held.asked_again(pruner));
        let sizes = Sizes::default();
        let plan = Arc::new(ReadPlan { pruner, asked_again, stats, extended, sizes, pages });
        FileStream {
            source,
            plan,
            batches,
            units,
            open: Vec::new(),
            again: None,
            first: VecDeque::new(),
            ready: VecDeque::new(),
            count: None,
            parsed: Fields::empty(),
            texts_only: false,
            _recycling: Recycling::begin(),
        }
    }

    /// A listing of all files, which is counted to its end where there is something to compare it with.
    pub(crate) fn counted(mut self, count: Option<Count>) -> Self {
        self.count = count;
        self
    }

    /// Where the first rows of the checkpoint cannot be read, the listing that this gives takes its place. Rows of the checkpoint
    /// are read before the first file is given.
    pub(crate) fn or_again(mut self, again: Again) -> Self {
        self.again = Some(again);
        self
    }

    /// With a column `stats_parsed` of these fields at the end of the batches that come from checkpoint files which have
    /// just these. Only for listings with statistics.
    pub(crate) fn with_parsed(mut self, fields: &Fields) -> Self {
        self.parsed = fields.clone();
        self
    }

    /// With the texts of the statistics alone: none is made where a file has but the parsed form.
    pub(crate) fn texts_only(mut self) -> Self {
        self.texts_only = true;
        self
    }

    /// Only the files of the tail and of these Parquet files of the checkpoint, by index.
    pub(crate) fn only(mut self, wanted: impl Fn(usize) -> bool) -> Self {
        (self.count, self.again) = (None, None);
        self.units.retain(|(index, _)| wanted(*index));
        self
    }

    /// Only the files of one Parquet file of the checkpoint, by index.
    pub(crate) fn only_file(mut self, index: usize) -> Self {
        self.batches.clear();
        self.only(|i| i == index)
    }

    /// Opens row groups: one for each core at least, and more until they have enough rows.
    fn open(&mut self, checkpoint: &CheckpointReader, cores: usize) {
        let mut rows: usize = self.open.iter().map(|reader| reader.next_rows(&self.plan)).sum();
        while self.open.len() < cores || rows < cores * WORTH_ROWS {
            let Some((index, group)) = self.units.pop_front() else { break };
            let reader = GroupReader::new(checkpoint, index, group);
            rows += reader.next_rows(&self.plan);
            self.open.push(reader);
        }
    }

    fn advance(&mut self) -> Result<()> {
        if let Some((batch, live)) = self.batches.pop_front() {
            let batch = if live {
                batch
            } else {
                without(&batch, &self.source.tail.keys, self.source.location.root())?
            };
            self.ready.extend(self.plan.json_batch(&batch, &self.source.counters)?);
            return Ok(());
        }
        if self.first.is_empty() {
            let found = self.turn()?;
            self.ready.extend(found);
        } else {
            self.ready.append(&mut self.first);
        }
        Ok(())
    }

    /// The files of some rows of the checkpoint.
    fn turn(&mut self) -> Result<Vec<FileBatch>> {
        let Some(checkpoint) = self.source.checkpoint.clone() else { return Ok(Vec::new()) };
        let pool = runtime::pool()?;
        self.open(&checkpoint, pool.current_num_threads());
        let (plan, source) = (&self.plan, &self.source);
        let parsed = Some(&self.parsed).filter(|_| !self.texts_only);
        let read = |reader: &mut GroupReader| reader.turn(plan, &checkpoint, source, parsed);
        let found: Vec<Vec<FileBatch>> =
            pool.install(|| self.open.par_iter_mut().map(read).collect::<Result<_>>())?;
        self.open.retain(|reader| !reader.is_done());
        Ok(found.into_iter().flatten().collect())
    }

    /// Reads the first rows of the checkpoint, and gives way to the other listing where they cannot be read.
    fn begin(&mut self, again: Again) -> Result<()> {
        match self.turn() {
            Ok(found) => self.first.extend(found),
            Err(error) => {
                let other = again(error)?;
                let (parsed, texts_only) = (std::mem::take(&mut self.parsed), self.texts_only);
                *self = FileStream { parsed, texts_only, ..other };
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.batches.is_empty() && self.units.is_empty() && self.open.is_empty() && self.first.is_empty()
    }

    fn end(&mut self) {
        self.batches.clear();
        self.units.clear();
        self.open.clear();
        self.first.clear();
        self.count = None;
    }
}

impl Iterator for FileStream {
    type Item = Result<FileBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(again) = self.again.take()
            && let Err(error) = self.begin(again)
        {
            self.end();
            return Some(Err(error));
        }
        loop {
            if let Some(batch) = self.ready.pop_front() {
                self.source.counters.files_kept(batch.num_files() as u64);
                if let Some(count) = &mut self.count {
                    count.add(&batch);
                }
                return Some(Ok(batch));
            }
            if self.is_done() {
                let counters = &self.source.counters;
                return self.count.take().and_then(|count| count.finish(counters).err()).map(Err);
            }
            if let Err(error) = self.advance() {
                self.end();
                return Some(Err(error));
            }
        }
    }
}

/// Statistics of commits are raw JSON strings: unescapes those of the rows in `keep`; others become null.
fn unescape(raw: &StringViewArray, keep: &BooleanBuffer) -> StringViewArray {
    let mut out = StringViewBuilder::with_capacity(raw.len());
    for row in 0..raw.len() {
        let text = (keep.value(row) && raw.is_valid(row)).then(|| raw.value(row));
        match text.map(serde_json::from_str::<std::borrow::Cow<'_, str>>) {
            Some(Ok(text)) => out.append_value(text),
            // a few writers store an object instead of the text
            Some(Err(_)) if text.is_some_and(|t| t.starts_with('{')) => out.append_option(text),
            _ => out.append_null(),
        }
    }
    out.finish()
}

impl ReadPlan {
    /// Prunes and projects live rows that come from JSON.
    fn json_batch(&self, batch: &FileBatch, counters: &Counters) -> Result<Option<FileBatch>> {
        let rows = batch.record_batch();
        let all = BooleanBuffer::new_set(rows.num_rows());
        let mut keep = all.clone();
        let raw = rows.column(5).as_string_view();
        let mut stats: Option<StringViewArray> = None;
        if let Some(pruner) = &self.pruner {
            if pruner.uses_partitions() {
                keep = pruner.by_partition_values(batch.partition_values());
                counters.pruned_by_partition((all.len() - keep.count_set_bits()) as u64);
            }
            if pruner.uses_stats() && keep.count_set_bits() > 0 {
                let before = keep.count_set_bits();
                let text = unescape(raw, &keep);
                keep = pruner.by_stats_json(&text, batch.partition_values(), &keep);
                counters.pruned_by_stats((before - keep.count_set_bits()) as u64);
                stats = Some(text);
            }
        }
        if keep.count_set_bits() == 0 {
            return Ok(None);
        }
        let columns = file_columns(self.stats, self.extended);
        let text = if self.stats { Some(stats.unwrap_or_else(|| unescape(raw, &keep))) } else { None };
        let arrays: Vec<ArrayRef> = columns
            .iter()
            .map(|c| match (c.name, &text) {
                ("stats", Some(text)) => Arc::new(text.clone()) as ArrayRef,
                (name, _) => match rows.column_by_name(name) {
                    Some(array) => array.clone(),
                    None => new_null_array(&c.data_type, rows.num_rows()),
                },
            })
            .collect();
        let batch = RecordBatch::try_new(schema_of(&columns), arrays).map_err(failed)?;
        FileBatch::new(batch).filter(&BooleanArray::new(keep, None)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_that_are_an_object_are_taken_as_their_text() {
        let raw = StringViewArray::from(vec![
            Some(r#""{\"numRecords\":1}""#),
            Some(r#"{"numRecords":2}"#),
            Some("3"),
            None,
            Some(r#""{}""#),
        ]);
        let keep = BooleanBuffer::from(vec![true, true, true, true, false]);
        let texts: Vec<_> = unescape(&raw, &keep).iter().map(|t| t.map(str::to_owned)).collect();
        let text = |t: &str| Some(t.to_owned());
        assert_eq!(texts, [text(r#"{"numRecords":1}"#), text(r#"{"numRecords":2}"#), None, None, None]);
    }
}
