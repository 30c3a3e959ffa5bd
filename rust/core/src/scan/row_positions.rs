//! Rows with their positions in the data file: the parts of deletion vectors and row ids.

use std::sync::Arc;

use arrow::array::RecordBatch;

use super::positions::Positions;
use super::read::{FileRows, RowScan, open_without};
use crate::actions::Add;
use crate::deletion_vector::DeletionVector;
use crate::error::Result;

/// The rows of one file, batch by batch, each with the positions of its rows in the file.
#[derive(Debug)]
pub(crate) struct PositionedRows {
    rows: FileRows,
    places: Positions,
}

impl PositionedRows {
    /// Opens a file without the rows of a vector, regardless of the vector in the action. The scan must not filter.
    ///
    /// # Errors
    /// As [`super::read::read_file`].
    ///
    /// # Cost
    /// As [`super::read::read_file`].
    pub(crate) fn open(scan: &Arc<RowScan>, add: &Add, without: Option<&DeletionVector>) -> Result<Self> {
        let mut places = Positions::default();
        let rows = open_without(scan, add, without, Some(&mut places))?;
        Ok(PositionedRows { rows, places })
    }

    /// Number of rows of the file, deleted ones included.
    pub(crate) fn total(&self) -> u64 {
        self.places.rows
    }
}

impl Iterator for PositionedRows {
    type Item = Result<(RecordBatch, Vec<u64>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.rows.next()? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error)),
        };
        let places = self.places.take(batch.num_rows() as u64);
        Some(Ok((batch, places)))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;

    use super::*;
    use crate::predicate::{CompareOp, Literal, Predicate};
    use crate::scan::ReadRequest;
    use crate::scan::testing::{Folder, numbers, numbers_schema, only};
    use crate::schema::ColumnMappingMode;

    #[test]
    fn positions_are_those_in_the_file_whatever_is_skipped() {
        let folder = Folder::new();
        // `id` is the position
        let add = folder.parquet("f.parquet", &numbers(1000), 300);
        let deleted: DeletionVector = [0, 5, 299, 300, 650, 999].into_iter().collect();
        for predicate in [None, Some((CompareOp::Ge, 600)), Some((CompareOp::Lt, 0))] {
            let request = ReadRequest { batch_size: 64, ..only(&["id"]) };
            let mut scan = RowScan::new(
                folder.location.clone(),
                &numbers_schema(),
                &[],
                ColumnMappingMode::None,
                request,
            )
            .unwrap();
            if let Some((op, value)) = predicate {
                let predicate =
                    Predicate::Compare { op, column: vec!["id".into()], value: Literal::Long(value) };
                scan = scan.pruned_by(&predicate).unwrap();
            }
            let scan = Arc::new(scan);
            for vector in [None, Some(&deleted)] {
                let rows = PositionedRows::open(&scan, &add, vector).unwrap();
                assert_eq!(rows.total(), 1000);
                let mut seen = Vec::new();
                for batch in rows {
                    let (batch, places) = batch.unwrap();
                    let ids: Vec<u64> = batch
                        .column(0)
                        .as_primitive::<Int64Type>()
                        .values()
                        .iter()
                        .map(|v| *v as u64)
                        .collect();
                    assert_eq!(ids, places);
                    seen.extend(places);
                }
                let first = match predicate {
                    None => 0,
                    Some((_, 600)) => 600,
                    Some(_) => 1000,
                };
                let left = (first..1000).filter(|row| vector.is_none_or(|v| !v.rows().contains(*row)));
                assert_eq!(seen, left.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn rows_without_columns_have_positions_too() {
        let folder = Folder::new();
        let add = folder.parquet("f.parquet", &numbers(10), 4);
        let scan = folder.scan(&numbers_schema(), &[], only(&[]));
        let deleted: DeletionVector = [0, 9].into_iter().collect();
        let places: Vec<u64> =
            PositionedRows::open(&scan, &add, Some(&deleted)).unwrap().flat_map(|b| b.unwrap().1).collect();
        assert_eq!(places, (1..9).collect::<Vec<_>>());
    }
}
