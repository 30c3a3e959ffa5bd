//! The rows of the source, by their number.

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchReader, UInt64Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::{concat_batches, filter_record_batch, interleave_record_batch, take_record_batch};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

use crate::error::{Error, Result};
use crate::schema::{ColumnMappingMode, StructType, from_arrow};
use crate::write::{Part, Spill, conform_batch, physical_schema};

/// Bytes of rows that are held in memory. Those that follow are in a file of the system's temporary folder.
const HELD_BYTES: usize = 256 << 20;
/// Rows of a batch in that file: what is read at once.
const STORED_ROWS: usize = 32 << 10;

/// All rows of the source of a merge. It was read once; the rows are the same each time.
#[derive(Debug)]
pub struct MergeSource {
    columns: StructType,
    schema: SchemaRef,
    batches: Vec<Batch>,
    /// The number of the first row of each batch, and the number of all.
    starts: Vec<u32>,
    spill: Option<Spill>,
    /// Bytes of rows that are in memory, and of those that may be.
    held: usize,
    most: usize,
}

#[derive(Debug)]
enum Batch {
    Held(RecordBatch),
    Stored(Part),
}

impl MergeSource {
    /// Reads all rows. `path` is the table that errors name.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`] for a column that Delta has no type for, [`Error::InvalidArgument`] for two columns of one
    /// name and for more than 2^32 - 2 rows, errors of the reader, and of the temporary folder.
    ///
    /// # Cost
    /// Memory: 256 MiB of rows at the most; the others go to a file in the temporary folder.
    pub fn read(path: &str, data: impl RecordBatchReader) -> Result<Self> {
        Self::read_holding(path, data, HELD_BYTES)
    }

    pub(super) fn read_holding(path: &str, data: impl RecordBatchReader, most: usize) -> Result<Self> {
        let columns = from_arrow(&data.schema())?;
        let mut seen = std::collections::BTreeSet::new();
        if let Some(twice) = columns.fields.iter().find(|f| !seen.insert(f.name.to_lowercase())) {
            let reason =
                format!("two columns are named `{}`, which expressions cannot tell apart", twice.name);
            return Err(Error::InvalidArgument { argument: "source".into(), reason });
        }
        let schema = physical_schema(&columns, ColumnMappingMode::None);
        let mut source = Self::empty(columns, schema, most);
        for batch in data {
            let batch = batch.map_err(|e| Error::arrow("reading the source of a merge", e))?;
            source.add(conform_batch(path, &batch, &source.columns, &source.schema)?)?;
        }
        Ok(source)
    }

    fn empty(columns: StructType, schema: SchemaRef, most: usize) -> Self {
        MergeSource { columns, schema, batches: Vec::new(), starts: vec![0], spill: None, held: 0, most }
    }

    fn add(&mut self, batch: RecordBatch) -> Result<()> {
        let size = |c: &ArrayRef| c.to_data().get_slice_memory_size().unwrap_or(0);
        let bytes = batch.columns().iter().map(size).sum::<usize>();
        let rows = batch.num_rows();
        if self.held.saturating_add(bytes) <= self.most {
            self.held += bytes;
            return self.push(Batch::Held(batch), rows);
        }
        for at in (0..rows).step_by(STORED_ROWS) {
            let part = batch.slice(at, STORED_ROWS.min(rows - at));
            let spill = match &mut self.spill {
                Some(spill) => spill,
                none => none.insert(Spill::create()?),
            };
            let stored = Batch::Stored(spill.write(&part, STORED_ROWS)?);
            self.push(stored, part.num_rows())?;
        }
        Ok(())
    }

    /// The rows for whose number `kept` is true, numbered anew.
    ///
    /// # Errors
    /// Those of the temporary folder.
    pub(super) fn filtered(self, kept: &BooleanBuffer) -> Result<Self> {
        let mut left = Self::empty(self.columns.clone(), self.schema.clone(), self.most);
        for batch in self.scan() {
            let (first, batch) = batch?;
            let kept = BooleanArray::from(kept.slice(first as usize, batch.num_rows()));
            left.add(filter_record_batch(&batch, &kept).map_err(failed)?)?;
        }
        Ok(left)
    }

    fn push(&mut self, batch: Batch, rows: usize) -> Result<()> {
        let next = u32::try_from(rows).ok().and_then(|rows| self.len().checked_add(rows));
        let Some(next) = next.filter(|n| *n < u32::MAX) else {
            let reason =
                "a merge takes less than 4,294,967,295 rows at once: merge a part after the other".into();
            return Err(Error::InvalidArgument { argument: "source".into(), reason });
        };
        self.starts.push(next);
        self.batches.push(batch);
        Ok(())
    }

    /// Its columns.
    pub(crate) fn columns(&self) -> &StructType {
        &self.columns
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The rows, batch by batch, each with the number of its first row.
    pub(super) fn scan(&self) -> impl Iterator<Item = Result<(u32, RecordBatch)>> {
        let numbered = self.starts.iter().zip(&self.batches);
        numbered.map(|(first, batch)| Ok((*first, self.load(batch)?)))
    }

    fn load(&self, batch: &Batch) -> Result<RecordBatch> {
        let part = match batch {
            Batch::Held(rows) => return Ok(rows.clone()),
            Batch::Stored(part) => *part,
        };
        let rows = self.spill.as_ref().map(|spill| spill.read(part)).transpose()?;
        rows.and_then(|mut rows| rows.next()).unwrap_or_else(|| {
            let reason = "a batch of the source is not in its file".into();
            Err(Error::Internal { operation: "merge".into(), reason })
        })
    }

    /// The rows with these numbers, in this order, with the columns at `places`.
    ///
    /// # Errors
    /// [`Error::Storage`] when the temporary file cannot be read.
    ///
    /// # Cost
    /// Each stored batch that has one of the rows is read once. Memory: one of them beside the result.
    pub(super) fn take(&self, numbers: &[u32], places: &[usize]) -> Result<Vec<ArrayRef>> {
        let schema = self.schema.project(places).map_err(failed)?;
        let narrow = |batch: &Batch| self.load(batch)?.project(places).map_err(failed);
        let at = |number: u32| self.starts.partition_point(|start| *start <= number) - 1;
        if numbers.is_empty() || places.is_empty() {
            return Ok(RecordBatch::new_empty(schema.into()).columns().to_vec());
        }
        if self.spill.is_none() {
            let mut used: Vec<usize> = numbers.iter().map(|number| at(*number)).collect();
            used.sort_unstable();
            used.dedup();
            let batches = used.iter().map(|of| narrow(&self.batches[*of])).collect::<Result<Vec<_>>>()?;
            let batches: Vec<&RecordBatch> = batches.iter().collect();
            let row = |number: &u32| {
                let of = at(*number);
                (used.partition_point(|u| *u < of), (*number - self.starts[of]) as usize)
            };
            let rows: Vec<(usize, usize)> = numbers.iter().map(row).collect();
            return Ok(interleave_record_batch(&batches, &rows).map_err(failed)?.columns().to_vec());
        }
        // a batch after the other, and then in the order that was asked for
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_unstable_by_key(|place| numbers[*place]);
        let mut parts = Vec::new();
        for of_batch in order.chunk_by(|a, b| at(numbers[*a]) == at(numbers[*b])) {
            let Some(first) = of_batch.first() else { continue };
            let of = at(numbers[*first]);
            let rows = of_batch.iter().map(|place| u64::from(numbers[*place] - self.starts[of]));
            let rows: UInt64Array = rows.collect();
            parts.push(take_record_batch(&narrow(&self.batches[of])?, &rows).map_err(failed)?);
        }
        let sorted = concat_batches(&schema.into(), &parts).map_err(failed)?;
        let mut back = vec![0_u64; order.len()];
        order.iter().enumerate().for_each(|(at, place)| back[*place] = at as u64);
        Ok(take_record_batch(&sorted, &UInt64Array::from(back)).map_err(failed)?.columns().to_vec())
    }
}

fn failed(error: ArrowError) -> Error {
    Error::arrow("the rows of the source of a merge", error)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, Int64Array, StringArray};
    use arrow::datatypes::{DataType, Field, Int64Type, Schema};
    use arrow::record_batch::RecordBatchIterator;

    use super::*;

    fn source(most: usize) -> MergeSource {
        let fields = vec![Field::new("id", DataType::Int64, true), Field::new("name", DataType::Utf8, true)];
        let schema = Arc::new(Schema::new(fields));
        let batch = |from: i64| {
            let ids: Int64Array = (from..from + 100).collect();
            let names: StringArray = (from..from + 100).map(|id| Some(format!("n{id}"))).collect();
            Ok(RecordBatch::try_new(schema.clone(), vec![Arc::new(ids), Arc::new(names)]).unwrap())
        };
        let batches: Vec<_> = (0..5).map(|n| batch(n * 100)).collect();
        MergeSource::read_holding("t", RecordBatchIterator::new(batches, schema.clone()), most).unwrap()
    }

    #[test]
    fn rows_have_their_numbers_in_memory_and_in_the_file() {
        for most in [usize::MAX, 3000, 0] {
            let source = source(most);
            assert_eq!(source.len(), 500);
            let numbers = [499, 0, 100, 99, 250, 250, 1];
            let rows = source.take(&numbers, &[0, 1]).unwrap();
            let ids: Vec<i64> = rows[0].as_primitive::<Int64Type>().values().to_vec();
            assert_eq!(ids, numbers.map(i64::from));
            let names: Vec<_> = rows[1].as_string::<i32>().iter().flatten().collect();
            assert_eq!(names, numbers.map(|n| format!("n{n}")));
            let all = source.scan().map(|batch| batch.map(|(first, rows)| (first, rows.num_rows())));
            assert_eq!(all.collect::<Result<Vec<_>>>().unwrap().iter().map(|(_, n)| n).sum::<usize>(), 500);
        }
    }

    #[test]
    fn columns_that_differ_in_case_only_are_refused() {
        let fields = vec![Field::new("id", DataType::Int64, true), Field::new("ID", DataType::Int64, true)];
        let schema = Arc::new(Schema::new(fields));
        let none =
            RecordBatchIterator::new(Vec::<std::result::Result<RecordBatch, ArrowError>>::new(), schema);
        assert!(matches!(MergeSource::read("t", none), Err(Error::InvalidArgument { .. })));
    }
}
