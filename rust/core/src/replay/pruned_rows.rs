//! Which rows of a row group of a checkpoint may be asked for, by partition values and by statistics.

use arrow::array::{Array, AsArray, BooleanBufferBuilder, MapArray, RecordBatch, StructArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use parquet::arrow::arrow_reader::RowSelection;

use super::checkpoint::CheckpointReader;
use super::checkpoint_file::{CheckpointFile, Decoding};
use super::checkpoint_pages::CheckpointPages;
use super::columns::{STRING_MAP, conform};
use super::held_stats::HeldStats;
use crate::error::{Error, Result};
use crate::prune::{BoundColumn, HeldFacts, Pruner};

fn failed(e: ArrowError) -> Error {
    Error::arrow("pruning the files of a checkpoint", e)
}

/// The `add`s of decoded rows of a checkpoint, null where a row is another action.
pub(super) fn adds_of(batch: &RecordBatch) -> Option<&StructArray> {
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

/// Rows that are judged by statistics at once: these fit in a cache.
const JUDGED_ROWS: usize = 4096;
/// Rows that are judged by partition values at once: each distinct value is judged once.
const CODED_ROWS: usize = 64 * 1024;

/// A row group that is pruned.
#[derive(Clone, Copy)]
pub(super) struct Pruned<'a> {
    pub(super) file: &'a CheckpointFile,
    pub(super) group: usize,
    pub(super) rows: usize,
    pub(super) pages: Option<&'a CheckpointPages>,
}

impl Pruned<'_> {
    /// As [`CheckpointFile::start`].
    ///
    /// # Errors
    /// As [`CheckpointFile::decode`].
    pub(super) fn start(
        &self,
        columns: &[Vec<&str>],
        selection: Option<&BooleanBuffer>,
        rows: usize,
    ) -> Result<Decoding> {
        let selection = selection.map(|rows| RowSelection::from_boolean_buffer(rows.clone()));
        match self.pages {
            Some(pages) => pages.start(self.file, self.group, columns, selection, rows),
            None => self.file.start(self.group, columns, selection, rows),
        }
    }

    /// Rows of the row group from those among `before`.
    fn placed(&self, judged: BooleanBuffer, before: Option<&BooleanBuffer>) -> BooleanBuffer {
        let Some(before) = before else { return judged };
        let mut keep = BooleanBufferBuilder::new(self.rows);
        keep.append_n(self.rows, false);
        for (index, row) in before.set_indices().enumerate() {
            if judged.value(index) {
                keep.set_bit(row, true);
            }
        }
        keep.finish()
    }
}

/// The rows of a row group, among those in `before`, that are `add`s whose partition values may match, and how many of
/// `before` are `add`s; nothing where the file does not record it.
pub(super) fn by_partition(
    pruner: &Pruner,
    pruned: Pruned<'_>,
    before: Option<&BooleanBuffer>,
) -> Result<Option<(BooleanBuffer, usize)>> {
    let Pruned { file, group, .. } = pruned;
    // a parsed timestamp may have been read in another zone, or be INT96: the text says more
    let timestamps = |c: &BoundColumn| c.data_type == crate::schema::DataType::Timestamp;
    let parsed = file.field(&["add", "partitionValues_parsed"]).is_some()
        && file.is_in_todays_calendar()
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
    let mut decoding = match before {
        None => file.start_coded(group, &columns, CODED_ROWS)?,
        Some(_) => pruned.start(&columns, before, CODED_ROWS)?,
    };
    while let Some(batch) = file.next(&mut decoding)? {
        let Some(rows) = adds_of(&batch) else { continue };
        adds += rows.len() - rows.null_count();
        let judged = match rows.column_by_name("partitionValues_parsed").and_then(|p| p.as_struct_opt()) {
            Some(parsed) => pruner.by_partition_struct(parsed),
            None => match rows.column_by_name("partitionValues").and_then(|map| map.as_map_opt()) {
                Some(map) => pruner.by_partition_values(map),
                None => BooleanBuffer::new_set(rows.len()),
            },
        };
        keep.append_buffer(&and_valid(judged, rows));
    }
    Ok(Some((pruned.placed(keep.finish(), before), adds)))
}

/// The columns of a checkpoint file that have the statistics of a predicate's columns: leaves of `stats_parsed` or, where the
/// file has none of these, the text.
fn stats_columns<'p>(pruner: &'p Pruner, file: &CheckpointFile) -> Vec<Vec<&'p str>> {
    let mut columns: Vec<Vec<&str>> = Vec::new();
    if file.field(&["add", "stats_parsed"]).is_some() {
        for leaf in pruner.stats_leaves() {
            for kind in ["minValues", "maxValues", "nullCount"] {
                let mut path = vec!["add", "stats_parsed", kind];
                path.extend(leaf.physical.iter().map(String::as_str));
                if file.field(&path).is_some() {
                    columns.push(path);
                }
            }
        }
    }
    columns.push(if columns.is_empty() {
        vec!["add", "stats"]
    } else {
        vec!["add", "stats_parsed", "numRecords"]
    });
    columns
}

/// The same as [`by_stats`], of all rows, from what is held of the statistics; it is held from now on where there is room for
/// it. Nothing where the predicate needs what is not held.
pub(super) fn by_held(
    pruner: &Pruner,
    checkpoint: &CheckpointReader,
    place: (usize, usize),
    rows: usize,
) -> Result<Option<(BooleanBuffer, usize)>> {
    let held = match checkpoint.held.of(place, pruner.stats_leaves()) {
        Some(held) => held,
        None if !HeldStats::has_room(rows, pruner.stats_leaves().len()) => return Ok(None),
        None => match facts(pruner, &checkpoint.parquet[place.0], place.1, rows)? {
            Some(facts) => checkpoint.held.hold(place, pruner.stats_leaves(), facts),
            None => return Ok(None),
        },
    };
    let Some(first) = held.first() else { return Ok(None) };
    let adds = first.facts().files();
    let columns: Vec<&HeldFacts> = held.iter().map(|one| one.facts()).collect();
    let kept = pruner.by_held(&columns, &adds);
    Ok(Some((kept, adds.count_set_bits())))
}

/// What the statistics of a row group say of the columns of a predicate; nothing where the file does not record it.
fn facts(
    pruner: &Pruner,
    file: &CheckpointFile,
    group: usize,
    rows: usize,
) -> Result<Option<Vec<HeldFacts>>> {
    let columns = stats_columns(pruner, file);
    if !has_any(file, &columns) {
        return Ok(None);
    }
    let mut held: Vec<HeldFacts> = pruner.stats_leaves().iter().map(|_| HeldFacts::default()).collect();
    let mut decoding = file.start(group, &columns, None, JUDGED_ROWS)?;
    while let Some(batch) = file.next(&mut decoding)? {
        // a reader that skips a batch would shift the others
        let Some(adds) = adds_of(&batch) else { return Ok(None) };
        let all = and_valid(BooleanBuffer::new_set(adds.len()), adds);
        match adds.column_by_name("stats_parsed").and_then(|p| p.as_struct_opt()) {
            Some(parsed) => pruner.hold_struct(parsed, &all, &mut held),
            None => {
                let stats = conform(adds, "stats", &DataType::Utf8View).map_err(failed)?;
                pruner.hold_json(stats.as_string_view(), &all, &mut held);
            }
        }
    }
    Ok(held.iter().all(|column| column.len() == rows).then_some(held))
}

/// The rows of a row group, among those in `before`, that are `add`s whose statistics may match, and how many of
/// `before` are `add`s; nothing where the file does not record it.
pub(super) fn by_stats(
    pruner: &Pruner,
    pruned: Pruned<'_>,
    before: Option<&BooleanBuffer>,
) -> Result<Option<(BooleanBuffer, usize)>> {
    let file = pruned.file;
    let mut columns = stats_columns(pruner, file);
    // `p = 1 OR x = 5` needs both, although partition values alone decide nothing
    if !pruner.partition_columns().is_empty() {
        columns.push(vec!["add", "partitionValues"]);
    }
    if !has_any(file, &columns) {
        return Ok(None);
    }
    let mut judged = BooleanBufferBuilder::new(0);
    let mut adds = 0;
    let mut decoding = pruned.start(&columns, before, JUDGED_ROWS)?;
    while let Some(batch) = file.next(&mut decoding)? {
        let Some(rows) = adds_of(&batch) else { continue };
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
    }
    Ok(Some((pruned.placed(judged.finish(), before), adds)))
}
