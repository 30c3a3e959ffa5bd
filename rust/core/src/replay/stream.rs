use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, MapArray, RecordBatch, StringViewArray,
    StringViewBuilder, StructArray, new_null_array,
};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Fields, Schema};
use parquet::arrow::arrow_reader::RowSelection;
use rayon::prelude::*;

use super::checkpoint::{CheckpointFile, CheckpointReader};
use super::checksum_validation::Count;
use super::columns::{FileBatch, FilesRequest, STRING_MAP, conform, file_columns, schema_of};
use super::stats_json::stats_json;
use super::tail::{Tail, without};
use crate::error::{Error, Result};
use crate::prune::{BoundColumn, Pruner};
use crate::report::Counters;
use crate::store::{Location, runtime};

/// What a listing reads: a tail over a checkpoint.
#[derive(Clone)]
pub(crate) struct ScanSource {
    pub(crate) location: Location,
    pub(crate) tail: Arc<Tail>,
    pub(crate) checkpoint: Option<Arc<CheckpointReader>>,
    pub(crate) counters: Arc<Counters>,
}

/// The live files of a snapshot, a batch at a time.
///
/// One row group a core is decoded at once, or several small ones; nothing is kept after the consumer has it.
pub struct FileStream {
    source: ScanSource,
    plan: Arc<ReadPlan>,
    /// Batches of the tail and of a JSON checkpoint that are still to come.
    batches: VecDeque<(FileBatch, bool)>,
    /// Row groups that are still to come.
    units: VecDeque<(usize, usize)>,
    ready: VecDeque<FileBatch>,
    /// Of a listing of all files, the output so far.
    count: Option<Count>,
    /// Fields of the parsed statistics that are handed over as they are; none where they are not asked for.
    parsed: Fields,
    /// Whether statistics stay null if there is no text of them.
    texts_only: bool,
}

/// Rows that are decoded at once, for each core: enough to be worth waking it, and few enough to be held.
const WAVE_ROWS: u64 = 32 * 1024;

/// The request for every file.
struct ReadPlan {
    pruner: Option<Pruner>,
    stats: bool,
    extended: bool,
}

impl fmt::Debug for FileStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileStream({} batches and {} row groups to come)", self.batches.len(), self.units.len())
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
        if let Some(checkpoint) = &source.checkpoint {
            batches.extend(checkpoint.json_adds.iter().map(|b| (b.clone(), false)));
            for (index, file) in checkpoint.parquet.iter().enumerate() {
                let wanted = pruner.as_ref().map(|p| p.row_groups(file.metadata()));
                for group in 0..file.metadata().num_row_groups() {
                    if !file.may_hold(group, "add", "path") {
                        continue;
                    }
                    if wanted.as_ref().is_some_and(|w| !w.get(group).copied().unwrap_or(true)) {
                        source.counters.row_groups_skipped(1);
                    } else {
                        units.push_back((index, group));
                    }
                }
            }
        }
        let plan = Arc::new(ReadPlan { pruner, stats: request.stats, extended: request.extended });
        FileStream {
            source,
            plan,
            batches,
            units,
            ready: VecDeque::new(),
            count: None,
            parsed: Fields::empty(),
            texts_only: false,
        }
    }

    /// A listing of all files, which is counted to its end where there is something to compare it with.
    pub(crate) fn counted(mut self, count: Option<Count>) -> Self {
        self.count = count;
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
        self.count = None;
        self.units.retain(|(index, _)| wanted(*index));
        self
    }

    /// Only the files of one Parquet file of the checkpoint, by index.
    pub(crate) fn only_file(mut self, index: usize) -> Self {
        self.batches.clear();
        self.only(|i| i == index)
    }

    /// The next row groups: one for each core at least, and more until they have enough rows.
    fn wave(&mut self, checkpoint: &CheckpointReader, cores: usize) -> Vec<(usize, usize)> {
        let (mut wave, mut rows) = (Vec::new(), 0);
        while wave.len() < cores || rows < cores as u64 * WAVE_ROWS {
            let Some((index, group)) = self.units.pop_front() else { break };
            rows += checkpoint.parquet[index].metadata().row_group(group).num_rows().unsigned_abs();
            wave.push((index, group));
        }
        wave
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
        let Some(checkpoint) = self.source.checkpoint.clone() else { return Ok(()) };
        let pool = runtime::pool()?;
        let wave = self.wave(&checkpoint, pool.current_num_threads());
        let (plan, source, texts_only) = (&self.plan, &self.source, self.texts_only);
        let parsed = Some(&self.parsed).filter(|_| !texts_only);
        let read = |(index, group): (usize, usize)| {
            plan.row_group(&checkpoint.parquet[index], group, source, parsed)
        };
        let found: Vec<Vec<FileBatch>> =
            pool.install(|| wave.into_par_iter().map(read).collect::<Result<_>>())?;
        self.ready.extend(found.into_iter().flatten());
        Ok(())
    }
}

impl Iterator for FileStream {
    type Item = Result<FileBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                self.source.counters.files_kept(batch.num_files() as u64);
                if let Some(count) = &mut self.count {
                    count.add(&batch);
                }
                return Some(Ok(batch));
            }
            if self.batches.is_empty() && self.units.is_empty() {
                let counters = &self.source.counters;
                return self.count.take().and_then(|count| count.finish(counters).err()).map(Err);
            }
            if let Err(error) = self.advance() {
                self.batches.clear();
                self.units.clear();
                self.count = None;
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

    /// Reads the live files of one row group: prunes by partition values, then by statistics of what is left, then
    /// decodes the columns of what is left. Without `parsed`, statistics are the texts alone.
    fn row_group(
        &self,
        file: &CheckpointFile,
        group: usize,
        source: &ScanSource,
        parsed: Option<&Fields>,
    ) -> Result<Vec<FileBatch>> {
        let counters = &source.counters;
        let rows = usize::try_from(file.metadata().row_group(group).num_rows()).unwrap_or_default();
        counters.checkpoint_rows(rows as u64);
        let mut keep: Option<BooleanBuffer> = None;
        if let Some(pruner) = &self.pruner {
            if pruner.uses_partitions()
                && let Some((kept, adds)) = by_partition(pruner, file, group)?
            {
                counters.pruned_by_partition((adds - kept.count_set_bits()) as u64);
                keep = Some(kept);
            }
            if pruner.uses_stats()
                && keep.as_ref().is_none_or(|k| k.count_set_bits() > 0)
                && let Some((kept, adds)) = by_stats(pruner, file, group, keep.as_ref(), rows)?
            {
                counters.pruned_by_stats((adds - kept.count_set_bits()) as u64);
                keep = Some(kept);
            }
        }
        if keep.as_ref().is_some_and(|k| k.count_set_bits() == 0) {
            return Ok(Vec::new());
        }
        let columns = file_columns(self.stats, self.extended);
        let mut wanted: Vec<Vec<&str>> = columns.iter().map(|c| vec!["add", c.field]).collect();
        let from_struct = self.stats && parsed.is_some() && file.field(&["add", "stats_parsed"]).is_some();
        let parsed = parsed.cloned().unwrap_or_default();
        if from_struct {
            wanted.push(vec!["add", "stats_parsed"]);
        }
        let schema = schema_of(&columns);
        let handed = DataType::Struct(parsed.clone());
        let hand_over = from_struct
            && !parsed.is_empty()
            && file.field(&["add", "stats_parsed"]).is_some_and(|f| same_type(f.data_type(), &handed));
        let selection = keep.map(RowSelection::from_boolean_buffer);
        let mut out = Vec::new();
        for batch in file.decode(group, &wanted, selection)? {
            let Some(adds) = adds_of(&batch) else { continue };
            let mut arrays = columns
                .iter()
                .map(|c| conform(adds, c.field, &c.data_type))
                .collect::<Result<Vec<_>, _>>()
                .map_err(failed)?;
            if from_struct
                && let Some(parsed) = adds.column_by_name("stats_parsed").and_then(|p| p.as_struct_opt())
            {
                arrays[5] = filled(arrays[5].as_string_view(), parsed);
            }
            let mut schema = schema.clone();
            if hand_over {
                arrays.push(conform(adds, "stats_parsed", &handed).map_err(failed)?);
                let fields = schema.fields().iter().cloned();
                let last = Arc::new(Field::new("stats_parsed", handed.clone(), true));
                schema = Arc::new(Schema::new(fields.chain([last]).collect::<Fields>()));
            }
            let batch = RecordBatch::try_new(schema, arrays).map_err(failed)?;
            let batch = match adds.nulls() {
                Some(valid) if valid.null_count() > 0 => {
                    filter_record_batch(&batch, &BooleanArray::new(valid.inner().clone(), None))
                        .map_err(failed)?
                }
                _ => batch,
            };
            let batch = without(&FileBatch::new(batch), &source.tail.keys, source.location.root())?;
            if batch.num_files() > 0 {
                out.push(batch);
            }
        }
        Ok(out)
    }
}

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

fn adds_of(batch: &RecordBatch) -> Option<&StructArray> {
    batch.column_by_name("add").and_then(|c| c.as_struct_opt())
}

fn and_valid(keep: BooleanBuffer, adds: &StructArray) -> BooleanBuffer {
    match adds.nulls() {
        Some(valid) if valid.null_count() > 0 => &keep & valid.inner(),
        _ => keep,
    }
}

/// Whether a checkpoint file has any of these columns: where it has none, nothing is known of its rows, and nothing decoded.
fn has_any(file: &CheckpointFile, columns: &[Vec<&str>]) -> bool {
    columns.iter().any(|c| file.field(c).is_some())
}

/// Rows that are judged at once: their statistics fit in a cache.
const JUDGED_ROWS: usize = 4096;

/// The rows of a row group that are `add`s whose partition values may match, and the number of `add`s; nothing where
/// the file does not record it.
fn by_partition(
    pruner: &Pruner,
    file: &CheckpointFile,
    group: usize,
) -> Result<Option<(BooleanBuffer, usize)>> {
    // a parsed timestamp may have been read in another zone, or be INT96: the text says more
    let timestamps = |c: &BoundColumn| c.data_type == crate::schema::DataType::Timestamp;
    let parsed = file.field(&["add", "partitionValues_parsed"]).is_some()
        && !pruner.partition_columns().iter().any(timestamps);
    let columns: Vec<Vec<&str>> = if parsed {
        let names = pruner.partition_columns().iter();
        names
            .filter_map(|c| Some(vec!["add", "partitionValues_parsed", c.physical.first()?.as_str()]))
            .collect()
    } else {
        vec![vec!["add", "partitionValues"]]
    };
    let usable = parsed && columns.iter().all(|c| file.field(c).is_some());
    let columns = if usable || !parsed { columns } else { vec![vec!["add", "partitionValues"]] };
    if !has_any(file, &columns) {
        return Ok(None);
    }
    let mut keep = BooleanBufferBuilder::new(0);
    let mut adds = 0;
    file.decode_coded(group, &columns, |batch| {
        let Some(rows) = adds_of(&batch) else { return Ok(()) };
        adds += rows.len() - rows.null_count();
        let judged = match rows.column_by_name("partitionValues_parsed").and_then(|p| p.as_struct_opt()) {
            Some(parsed) => pruner.by_partition_struct(parsed),
            None => match rows.column_by_name("partitionValues").and_then(|map| map.as_map_opt()) {
                Some(map) => pruner.by_partition_values(map),
                None => BooleanBuffer::new_set(rows.len()),
            },
        };
        keep.append_buffer(&and_valid(judged, rows));
        Ok(())
    })?;
    Ok(Some((keep.finish(), adds)))
}

/// The rows of a row group, among those in `before`, that are `add`s whose statistics may match, and how many of
/// `before` are `add`s; nothing where the file does not record it.
fn by_stats(
    pruner: &Pruner,
    file: &CheckpointFile,
    group: usize,
    before: Option<&BooleanBuffer>,
    rows: usize,
) -> Result<Option<(BooleanBuffer, usize)>> {
    let leaves = pruner.stats_leaves();
    let mut columns: Vec<Vec<&str>> = Vec::new();
    if file.field(&["add", "stats_parsed"]).is_some() {
        for leaf in leaves {
            for kind in ["minValues", "maxValues", "nullCount"] {
                let mut path = vec!["add", "stats_parsed", kind];
                path.extend(leaf.physical.iter().map(String::as_str));
                if file.field(&path).is_some() {
                    columns.push(path);
                }
            }
        }
    }
    let from_struct = !columns.is_empty();
    columns.push(if from_struct { vec!["add", "stats_parsed", "numRecords"] } else { vec!["add", "stats"] });
    // `p = 1 OR x = 5` needs both, although partition values alone decide nothing
    if !pruner.partition_columns().is_empty() {
        columns.push(vec!["add", "partitionValues"]);
    }
    if !has_any(file, &columns) {
        return Ok(None);
    }
    let selection = before.map(|k| RowSelection::from_boolean_buffer(k.clone()));
    let mut judged = BooleanBufferBuilder::new(0);
    let mut adds = 0;
    file.decode_each(group, &columns, selection, JUDGED_ROWS, |batch| {
        let Some(rows) = adds_of(&batch) else { return Ok(()) };
        adds += rows.len() - rows.null_count();
        let all = and_valid(BooleanBuffer::new_set(rows.len()), rows);
        let values = conform(rows, "partitionValues", &STRING_MAP).map_err(failed)?;
        let values: &MapArray = values.as_map();
        judged.append_buffer(&match rows.column_by_name("stats_parsed").and_then(|p| p.as_struct_opt()) {
            Some(parsed) => pruner.by_stats_struct(parsed, values, &all),
            None => {
                let stats = conform(rows, "stats", &DataType::Utf8View).map_err(failed)?;
                pruner.by_stats_json(stats.as_string_view(), values, &all)
            }
        });
        Ok(())
    })?;
    let judged = judged.finish();
    let Some(before) = before else { return Ok(Some((judged, adds))) };
    // back to positions in the row group
    let mut keep = BooleanBufferBuilder::new(rows);
    keep.append_n(rows, false);
    for (index, row) in before.set_indices().enumerate() {
        if judged.value(index) {
            keep.set_bit(row, true);
        }
    }
    Ok(Some((keep.finish(), adds)))
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
