//! Rows of a table beside those of a source that have their keys, for an engine that does the rest of a merge.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use rayon::prelude::*;

use super::bound::BoundMerge;
use super::clauses::MergeRequest;
use super::source::MergeSource;
use crate::actions::Add;
use crate::deletion_vector::DeletionVector;
use crate::dml::{DmlAttempt, Touched, in_each};
use crate::error::{Error, Result};
use crate::scan::{PositionedRows, ReadRequest, RowIds, RowScan};
use crate::schema::{StructType, in_backticks};
use crate::store::runtime;
use crate::sums::SaturatingSum;

/// The names of both sides in a condition that is made here.
const TARGET: &str = "target";
const SOURCE: &str = "source";
/// Columns of pairs: the file (URI), the position in it, and the number of the row of the source.
const PLACE: [(&str, DataType); 3] =
    [("file", DataType::Utf8), ("row", DataType::UInt64), ("source", DataType::UInt32)];

/// A column of a table that must equal one of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairKey {
    /// The column of the table.
    pub target: String,
    /// The column of the source.
    pub source: String,
    /// Whether nulls are equal.
    pub null_safe: bool,
}

/// How much this process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairLimits {
    /// Pairs.
    pub most_pairs: u64,
    /// Bytes that the rows of the pairs take in their files.
    pub most_held_bytes: u64,
}

/// Rows of a table and of a source that have the same keys.
#[derive(Debug, Default)]
pub(crate) struct KeyPairs {
    files: Vec<PairedFile>,
}

/// Those of one file.
#[derive(Debug)]
struct PairedFile {
    file: Touched,
    /// Position and number of the row of the source, in the order of both.
    pairs: Vec<(u64, u32)>,
}

impl KeyPairs {
    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.files.iter().map(|file| file.pairs.len() as u64).saturating_sum()
    }
}

/// Finds the rows of these files whose keys a row of the source has. None where they are more than the limits say.
///
/// # Errors
/// [`Error::InvalidArgument`] without a key; [`Error::InvalidExpression`] for keys that the table or the source does not have
/// or that cannot be compared; as [`crate::scan::read_file`].
///
/// # Cost
/// The columns of the keys, in the row groups and pages that may match. Memory: the keys of the source, a few batches a
/// core, and 16 bytes for each pair.
pub(crate) fn find_pairs(
    attempt: &DmlAttempt,
    source: &MergeSource,
    keys: &[PairKey],
    candidates: Vec<Add>,
    limits: PairLimits,
) -> Result<Option<KeyPairs>> {
    let plan = &attempt.plan;
    let request = request(keys);
    let merge = BoundMerge::new(&request, plan, source)?;
    let Some(index) = &merge.index else {
        return Err(Error::InvalidArgument { argument: "keys".into(), reason: "there is none".into() });
    };
    let (scan, found) = (merge.scan(plan)?, AtomicU64::new(0));
    let is_full = || found.load(Ordering::Relaxed) > limits.most_pairs;
    let look = |add: Add| -> Result<Option<PairedFile>> {
        let deleted = add.deletion_vector.as_ref().map(|d| DeletionVector::load(d, &plan.location));
        let deleted = deleted.transpose()?;
        let mut rows = PositionedRows::open(&scan, &add, deleted.as_ref())?;
        let (total, mut pairs) = (rows.total(), Vec::new());
        for batch in &mut rows {
            attempt.check()?;
            if is_full() {
                return Ok(None);
            }
            let (batch, places) = batch?;
            let before = pairs.len();
            index.probe(&merge.sought, batch.columns(), batch.num_rows(), |row, source| {
                pairs.push((places[row as usize], source));
            })?;
            found.fetch_add((pairs.len() - before) as u64, Ordering::Relaxed);
        }
        if pairs.is_empty() {
            return Ok(None);
        }
        let matched = pairs.iter().map(|(row, _)| *row).collect();
        Ok(Some(PairedFile { file: Touched { add, matched, deleted, rows: total }, pairs }))
    };
    let files: Vec<Option<PairedFile>> = in_each(attempt, candidates, look)?;
    let files: Vec<PairedFile> = files.into_iter().flatten().collect();
    let held = files.iter().map(|PairedFile { file, pairs }| {
        let bytes = u128::from(file.add.size.unsigned_abs()) * pairs.len() as u128;
        u64::try_from(bytes / u128::from(file.rows.max(1))).unwrap_or(u64::MAX)
    });
    Ok((!is_full() && held.saturating_sum() <= limits.most_held_bytes).then_some(KeyPairs { files }))
}

/// A merge that has no clause, so that its condition alone counts.
fn request(keys: &[PairKey]) -> MergeRequest {
    let equal = |key: &PairKey| {
        let equals = if key.null_safe { "<=>" } else { "=" };
        let (target, source) = (in_backticks(&key.target), in_backticks(&key.source));
        format!("{TARGET}.{target} {equals} {SOURCE}.{source}")
    };
    let parts: Vec<String> = keys.iter().map(equal).collect();
    MergeRequest {
        condition: if parts.is_empty() { "true".to_owned() } else { parts.join(" AND ") },
        target_alias: TARGET.to_owned(),
        source_alias: SOURCE.to_owned(),
        clauses: Vec::new(),
        with_schema_evolution: false,
    }
}

/// The rows of the pairs of a `table` of these columns, in their order: file, position and number of the row of the source,
/// then the columns of these names, then with `row_ids` those of row ids, where rows have them. None where they take more
/// memory than `most_bytes`.
///
/// # Errors
/// [`Error::InvalidArgument`] for a column that the table does not have; as [`crate::scan::read_file`].
///
/// # Cost
/// These columns in the pages that have such rows, several files at a time. The rows are in memory, and those beyond
/// `most_bytes` are not read.
pub(crate) fn paired_rows(
    attempt: &DmlAttempt,
    table: &StructType,
    pairs: &KeyPairs,
    columns: &[String],
    row_ids: bool,
    most_bytes: u64,
) -> Result<Option<(SchemaRef, Vec<RecordBatch>)>> {
    let plan = &attempt.plan;
    let row_ids = if row_ids { RowIds::of(&plan.metadata)? } else { None };
    let of_ids = row_ids.iter().flat_map(RowIds::columns).collect::<Vec<_>>();
    let names = columns.iter().chain(of_ids.iter().map(|field| &field.name)).cloned().collect();
    let mut schema = table.clone();
    schema.fields.extend(of_ids);
    let read = ReadRequest { columns: Some(names), ..ReadRequest::default() };
    let (location, partitions) = (plan.location.clone(), &plan.partition_columns);
    let scan = Arc::new(RowScan::new(location, &schema, partitions, plan.column_mapping, read)?);
    let place = PLACE.iter().map(|(name, kind)| Arc::new(Field::new(*name, kind.clone(), false)));
    let fields: Fields = place.chain(scan.schema().fields().iter().cloned()).collect();
    let schema = Arc::new(Schema::new(fields));
    let held = AtomicU64::new(0);
    let is_full = || held.load(Ordering::Relaxed) > most_bytes;
    let read = |paired: &PairedFile| -> Result<Vec<RecordBatch>> {
        let add = &paired.file.add;
        let uri = add.path.resolve(plan.location.root())?.to_uri();
        let mut left = paired.pairs.as_slice();
        let rows = PositionedRows::open(&scan, add, Some(&paired.file.others()))?;
        let rows = rows.map(|next| {
            attempt.check()?;
            let (batch, places) = next?;
            let batch = RowIds::settled(row_ids.as_ref(), batch, add, &places)?;
            let last = places.last().copied();
            let (these, later) = left.split_at(left.partition_point(|(row, _)| Some(*row) <= last));
            left = later;
            let pairs = beside(&schema, &batch, &places, these, &uri)?;
            held.fetch_add(pairs.get_array_memory_size() as u64, Ordering::Relaxed);
            Ok(pairs)
        });
        rows.take_while(|_| !is_full()).collect()
    };
    let files = || pairs.files.par_iter().map(read).collect::<Result<Vec<Vec<RecordBatch>>>>();
    let found = runtime::pool()?.install(files)?;
    Ok((!is_full()).then(|| (schema.clone(), found.into_iter().flatten().collect())))
}

/// The rows of a batch, once for each pair that they are in.
fn beside(
    schema: &SchemaRef,
    batch: &RecordBatch,
    places: &[u64],
    pairs: &[(u64, u32)],
    uri: &str,
) -> Result<RecordBatch> {
    let failed = |e| Error::arrow("the rows of a merge", e);
    let mut at = 0;
    let rows = pairs.iter().map(|(row, _)| {
        while places.get(at).is_some_and(|place| place < row) {
            at += 1;
        }
        at as u64
    });
    let rows: UInt64Array = rows.collect();
    let place: [ArrayRef; 3] = [
        Arc::new(StringArray::from_iter_values(pairs.iter().map(|_| uri))),
        Arc::new(UInt64Array::from_iter_values(pairs.iter().map(|(row, _)| *row))),
        Arc::new(UInt32Array::from_iter_values(pairs.iter().map(|(_, source)| *source))),
    ];
    let taken = batch.columns().iter().map(|column| take(column, &rows, None).map_err(failed));
    let columns = place.into_iter().map(Ok).chain(taken).collect::<Result<Vec<_>>>()?;
    RecordBatch::try_new(schema.clone(), columns).map_err(failed)
}
