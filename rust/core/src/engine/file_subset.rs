//! The rows of an operation, as an engine asks for them: those that match, and those that are left.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use rayon::prelude::*;

use super::distributed_dml::DistributedDml;
use crate::actions::Add;
use crate::cancel::Cancel;
use crate::deletion_vector::DeletionVector;
use crate::dml::{Change, rewrite};
use crate::error::Result;
use crate::scan::{PositionedRows, ReadRequest, RowIds, RowScan};
use crate::store::runtime;

/// Which files an engine reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSubset {
    /// All that may have matching rows.
    All,
    /// Those with matching rows.
    Touched,
    /// Those of them with rows that do not match; the matching rows are left out.
    Left,
}

impl FileSubset {
    /// From its name in lower case.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "all" => Some(FileSubset::All),
            "touched" => Some(FileSubset::Touched),
            "left" => Some(FileSubset::Left),
            _ => None,
        }
    }
}

impl DistributedDml {
    /// The files of a subset. Files with remaining rows get a deletion vector of the matching rows, which is in no log.
    ///
    /// # Errors
    /// As [`crate::snapshot::Snapshot::files`].
    pub fn files(&self, part: FileSubset) -> Result<Vec<Add>> {
        Ok(match part {
            FileSubset::All => self.candidates()?,
            FileSubset::Touched => self.touched.iter().map(|t| &t.add).chain(&self.whole).cloned().collect(),
            FileSubset::Left => {
                let left = self.touched.iter().filter(|t| !t.is_whole());
                left.map(|t| Add { deletion_vector: Some(t.gone().to_inline()), ..t.add.clone() }).collect()
            }
        })
    }

    /// Writes the remaining rows of the touched files into new files, which it adds, together with `new` rows: the
    /// columns of the table and those of [`DistributedDml::row_id_columns`], checked against the rules of the table.
    /// Remaining rows keep their row ids.
    ///
    /// # Errors
    /// As [`crate::scan::read_file`], errors of the store, and [`crate::Error::Interrupted`];
    /// [`crate::Error::SchemaMismatch`] for new rows of other columns.
    ///
    /// # Cost
    /// All columns of these rows are read and written in this process, several files at a time. Memory: the new rows, and
    /// the open files of one writer a core.
    pub fn copy_left(&mut self, new: Vec<RecordBatch>, cancel: &Cancel) -> Result<()> {
        self.job.attempt.uploads.stop_by(cancel);
        let written = rewrite(&self.job.attempt, Change::Elsewhere(&new), &self.touched, true)?;
        self.adds.extend(written.adds);
        Ok(())
    }

    /// The matching rows, as they are in the version: the columns of the table, and after them those of
    /// [`DistributedDml::row_id_columns`] with the ids and commit versions that the rows have.
    ///
    /// # Errors
    /// As [`crate::scan::read_file`], and [`crate::Error::Interrupted`].
    ///
    /// # Cost
    /// The pages with such rows are read in this process, several files at a time. All rows are in memory.
    pub fn matched_rows(&mut self, cancel: &Cancel) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        self.job.attempt.uploads.stop_by(cancel);
        let (snapshot, attempt) = (&self.job.snapshot, &self.job.attempt);
        let row_ids = RowIds::of(snapshot.metadata())?;
        let mut schema = snapshot.schema().as_ref().clone();
        schema.fields.extend(row_ids.iter().flat_map(RowIds::columns));
        let (location, mode) = (snapshot.location().clone(), snapshot.column_mapping());
        let request = ReadRequest::default();
        let scan = RowScan::new(location, &schema, snapshot.partition_columns(), mode, request)?;
        let scan = Arc::new(scan);
        let read = |add: &Add, without: Option<&DeletionVector>| -> Result<Vec<RecordBatch>> {
            let rows = PositionedRows::open(&scan, add, without)?;
            rows.map(|next| {
                attempt.check()?;
                let (batch, places) = next?;
                RowIds::settled(row_ids.as_ref(), batch, add, &places)
            })
            .collect()
        };
        let some = self.touched.par_iter().map(|t| read(&t.add, Some(&t.others())));
        let whole = self.whole.par_iter().map(|add| {
            let load = |d| DeletionVector::load(d, snapshot.location());
            read(add, add.deletion_vector.as_ref().map(load).transpose()?.as_ref())
        });
        let found: Vec<Vec<RecordBatch>> =
            runtime::pool()?.install(|| some.chain(whole).collect::<Result<_>>())?;
        Ok((scan.schema().clone(), found.into_iter().flatten().collect()))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, BinaryArray, Int64Array, RecordBatchIterator, StringArray};

    use super::*;
    use crate::dml::DmlOptions;
    use crate::scan::testing::{lines, nine_rows};
    use crate::snapshot::{At, Snapshot};
    use crate::store::{Location, StorageOptions};
    use crate::txn::Operation;

    /// A table of the rows 0 to 8 in three files, whose rows keep their ids.
    fn table() -> (tempfile::TempDir, Location) {
        nine_rows(&[("delta.enableRowTracking", "true")])
    }

    /// A delete that takes one row of the first file and all of the second.
    fn begun(location: &Location) -> DistributedDml {
        let options = DmlOptions::default();
        let mut dml =
            DistributedDml::begin(location, StorageOptions::new(), Operation::new("DELETE"), options)
                .unwrap();
        let mut files = dml.files(FileSubset::All).unwrap();
        files.sort_by_key(|f| f.base_row_id);
        assert_eq!(files.len(), 3);
        let bitmap = |positions: &[usize]| {
            let mut bytes = vec![0_u8; 4096];
            positions.iter().for_each(|at| bytes[at / 8] |= 1 << (at % 8));
            bytes
        };
        let uris = [0, 1].map(|file: usize| files[file].path.resolve(location.root()).unwrap().uri());
        let bitmaps = [bitmap(&[1]), bitmap(&[0, 1, 2])];
        let columns: [(&str, ArrayRef); 4] = [
            ("file", Arc::new(StringArray::from_iter_values(uris))),
            ("bucket", Arc::new(Int64Array::from(vec![1, 1]))),
            ("bitmap", Arc::new(BinaryArray::from_iter_values(bitmaps))),
            ("count", Arc::new(Int64Array::from(vec![1, 3]))),
        ];
        let found = RecordBatch::try_from_iter(columns).unwrap();
        let found = RecordBatchIterator::new([Ok(found.clone())], found.schema());
        assert_eq!(dml.take_rows(found).unwrap().rows, 4);
        dml
    }

    /// The rows of the newest version, and where they are from.
    fn rows(location: &Location) -> Vec<String> {
        let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
        let schema = snapshot.schema();
        let mode = snapshot.column_mapping();
        let scan =
            Arc::new(RowScan::new(location.clone(), schema, &[], mode, ReadRequest::default()).unwrap());
        let mut rows: Vec<String> = snapshot
            .adds(None)
            .unwrap()
            .iter()
            .flat_map(|add| crate::scan::read_file(&scan, add).unwrap())
            .flat_map(|batch| lines(&batch.unwrap()))
            .collect();
        rows.sort();
        rows
    }

    fn files(dir: &tempfile::TempDir) -> usize {
        let parquet = |e: &std::fs::DirEntry| e.path().extension().is_some_and(|e| e == "parquet");
        std::fs::read_dir(dir.path()).unwrap().filter(|e| parquet(e.as_ref().unwrap())).count()
    }

    #[test]
    fn the_rows_that_are_left_have_the_others_in_their_vectors() {
        let (_dir, location) = table();
        let dml = begun(&location);
        assert_eq!(dml.files(FileSubset::Touched).unwrap().len(), 2);
        let left = dml.files(FileSubset::Left).unwrap();
        assert_eq!(left.len(), 1);
        let vector = DeletionVector::load(left[0].deletion_vector.as_ref().unwrap(), &location).unwrap();
        assert_eq!(vector.rows().iter().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn matching_rows_come_with_their_ids() {
        let (_dir, location) = table();
        let (schema, batches) = begun(&location).matched_rows(&Cancel::default()).unwrap();
        assert_eq!(schema.fields().len(), 4);
        let mut rows: Vec<String> = batches.iter().flat_map(lines).collect();
        rows.sort();
        // id, name, row id, and the version that made it
        assert_eq!(rows, ["1|n1|1|0", "3||3|1", "4|n4|4|1", "5|n5|5|1"]);
    }

    #[test]
    fn new_rows_go_to_the_file_of_those_that_are_left() {
        let (_dir, location) = table();
        let mut dml = begun(&location);
        let (_, new) = dml.matched_rows(&Cancel::default()).unwrap();
        let new = new.into_iter().filter(|batch| batch.num_rows() == 1).collect();
        dml.copy_left(new, &Cancel::default()).unwrap();
        assert_eq!(dml.counts().added_files, 1);
        dml.commit(false, Vec::new()).unwrap();
        assert_eq!(rows(&location), ["0|", "1|n1", "2|n2", "6|", "7|n7", "8|n8"]);
        let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
        assert_eq!(snapshot.adds(None).unwrap().len(), 2);
    }

    #[test]
    fn a_copy_that_is_stopped_or_not_committed_leaves_nothing() {
        let (dir, location) = table();
        let cancel = Cancel::default();
        cancel.cancel();
        let mut stopped = begun(&location);
        assert_eq!(stopped.copy_left(Vec::new(), &cancel).unwrap_err().kind(), "Interrupted");
        drop(stopped);
        let mut dropped = begun(&location);
        dropped.copy_left(Vec::new(), &Cancel::default()).unwrap();
        assert_eq!(files(&dir), 4);
        drop(dropped);
        assert_eq!((files(&dir), rows(&location).len()), (3, 9));
    }
}
