//! The files of a version as a batch of facts that Spark joins with the rows of each file.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Builder, ListBuilder, RecordBatch, StringArray};
use arrow::datatypes::{Field, Schema};

use super::partition_values::partition_columns;
use crate::actions::Add;
use crate::deletion_vector::DeletionVector;
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;

/// Most words of the bits of deleted rows: 64 MiB, which Spark sends to each executor.
const MOST_WORDS: u64 = 8 << 20;

/// One row a file: `path`, its decoded URI; `deleted`, the deleted rows as bits (row `n` is bit `n % 64` of word
/// `n / 64`), null where there are none; and the typed values of the partition columns as `p0`, `p1` …
/// `None` where the bits of all files take more than 64 MiB.
///
/// # Errors
/// [`Error::DeletionVector`] when one is missing or damaged, [`Error::LogCorrupt`] for a path or a partition value that
/// cannot be read.
///
/// # Cost
/// Every deletion vector is read.
pub fn file_facts(snapshot: &Snapshot, files: &[Add]) -> Result<Option<RecordBatch>> {
    let location = snapshot.location();
    let mut paths = Vec::with_capacity(files.len());
    let mut deleted = ListBuilder::new(Int64Builder::new());
    let mut left = MOST_WORDS;
    for file in files {
        paths.push(location.readable(&file.path)?.uri());
        match &file.deletion_vector {
            None => deleted.append_null(),
            Some(descriptor) => {
                let vector = DeletionVector::load(descriptor, location)?;
                match left.checked_sub(length(&vector)) {
                    Some(rest) => left = rest,
                    None => return Ok(None),
                }
                for word in words(&vector) {
                    deleted.values().append_value(word);
                }
                deleted.append(true);
            }
        }
    }
    let mut columns: Vec<(String, ArrayRef)> = vec![
        ("path".into(), Arc::new(StringArray::from(paths))),
        ("deleted".into(), Arc::new(deleted.finish())),
    ];
    let values = partition_columns(snapshot, files.iter().map(|f| &f.partition_values))?;
    columns.extend(values.into_iter().enumerate().map(|(i, (_, values))| (format!("p{i}"), values)));
    let fields: Vec<Field> =
        columns.iter().map(|(n, a)| Field::new(n, a.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, a)| a).collect())
        .map(Some)
        .map_err(|e| Error::arrow("facts of files", e))
}

/// How many words of 64 bits the deleted rows take.
fn length(vector: &DeletionVector) -> u64 {
    vector.rows().max().map_or(0, |last| last / 64 + 1)
}

/// The deleted rows as words of 64 bits.
fn words(vector: &DeletionVector) -> Vec<i64> {
    let mut words = vec![0u64; length(vector) as usize];
    for row in vector.rows() {
        words[(row / 64) as usize] |= 1 << (row % 64);
    }
    words.into_iter().map(|w| w as i64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deleted_rows_are_bits() {
        assert!(words(&DeletionVector::default()).is_empty());
        let vector: DeletionVector = [0, 63, 64, 200].into_iter().collect();
        assert_eq!(words(&vector), [1 | i64::MIN, 1, 0, 1 << 8]);
    }
}
