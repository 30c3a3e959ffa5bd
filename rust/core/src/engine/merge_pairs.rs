//! The rows of a merge that has few: those of the table that have the keys of the source are found and read here.

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;

use super::distributed_dml::DistributedDml;
use crate::cancel::Cancel;
use crate::dml::{MergeSource, PairKey, PairLimits, find_pairs, paired_rows};
use crate::error::Result;
use crate::sums::SaturatingSum;

impl DistributedDml {
    /// Whether the files that may have matching rows are of at most so many bytes: then this process looks for pairs in them.
    ///
    /// # Errors
    /// As [`crate::snapshot::Snapshot::files`].
    pub fn may_find_pairs(&mut self, most_bytes: u64) -> Result<bool> {
        let files = self.candidates()?;
        let may = files.iter().map(|add| add.size.unsigned_abs()).saturating_sum() <= most_bytes;
        self.pair_files = if may { files } else { Vec::new() };
        Ok(may)
    }

    /// Finds the rows of the files of [`DistributedDml::may_find_pairs`] whose keys a row of the source has, and remembers them.
    /// Returns how many pairs there are; none, where they are more than the limits say, and then none are remembered.
    ///
    /// # Errors
    /// As [`MergeSource::read`]; [`crate::Error::InvalidArgument`] without a key, [`crate::Error::InvalidExpression`] for keys
    /// that the table or the source does not have; as [`crate::scan::read_file`], and [`crate::Error::Interrupted`].
    ///
    /// # Cost
    /// The columns of the keys, in the row groups and pages that may match, several files at a time. Memory: the keys of the
    /// source, a few batches a core, and 16 bytes for each pair.
    pub fn find_pairs(
        &mut self,
        source: impl RecordBatchReader,
        keys: &[PairKey],
        limits: PairLimits,
        cancel: &Cancel,
    ) -> Result<Option<u64>> {
        self.job.attempt.uploads.stop_by(cancel);
        let attempt = &self.job.attempt;
        let source = MergeSource::read(&attempt.plan.location.root().to_string(), source)?;
        let found = find_pairs(attempt, &source, keys, std::mem::take(&mut self.pair_files), limits)?;
        let number = found.as_ref().map(|pairs| pairs.len());
        self.pairs = found.unwrap_or_default();
        Ok(number)
    }

    /// The rows of the table of the pairs that were found, as they are in the version: the URI of the file, the position in
    /// it and the number of the row of the source, then the columns of these names, then with `row_ids` those of
    /// [`DistributedDml::row_id_columns`] with the ids and commit versions that the rows have. None where they take more
    /// memory than `most_bytes`.
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] for a column that the table does not have; as [`crate::scan::read_file`], and
    /// [`crate::Error::Interrupted`].
    ///
    /// # Cost
    /// These columns in the pages that have such rows, several files at a time. The rows are in memory, and those that are
    /// beyond `most_bytes` are not read.
    pub fn paired_rows(
        &mut self,
        columns: &[String],
        row_ids: bool,
        most_bytes: u64,
        cancel: &Cancel,
    ) -> Result<Option<(SchemaRef, Vec<RecordBatch>)>> {
        self.job.attempt.uploads.stop_by(cancel);
        paired_rows(&self.job.attempt, self.job.snapshot.schema(), &self.pairs, columns, row_ids, most_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatchIterator, StringArray};
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::dml::DmlOptions;
    use crate::operations::{delete, write};
    use crate::scan::testing::{lines, nine_rows};
    use crate::store::{Location, StorageOptions};
    use crate::txn::Operation;
    use crate::write::{WriteMode, WriteOptions};

    const ALL: PairLimits = PairLimits { most_pairs: u64::MAX, most_held_bytes: u64::MAX };

    /// A table of the rows 0 to 8 in three files: names of every third are null, and the row 4 was deleted.
    fn table() -> (tempfile::TempDir, Location) {
        let properties = [("delta.enableRowTracking", "true"), ("delta.enableDeletionVectors", "true")];
        let (dir, location) = nine_rows(&properties);
        delete(&location, Some("id = 4"), &DmlOptions::default()).unwrap();
        (dir, location)
    }

    fn begun(location: &Location) -> DistributedDml {
        let operation = Operation::new("MERGE");
        DistributedDml::begin(location, StorageOptions::new(), operation, DmlOptions::default()).unwrap()
    }

    fn source(ids: &[Option<i32>], names: &[Option<&str>]) -> impl RecordBatchReader {
        let columns: [(&str, ArrayRef); 2] = [
            ("k", Arc::new(Int32Array::from(ids.to_vec()))),
            ("n", Arc::new(StringArray::from(names.to_vec()))),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(n, c)| (n, c, true))).unwrap();
        RecordBatchIterator::new([Ok(batch.clone())], batch.schema())
    }

    fn key(target: &str, source: &str, null_safe: bool) -> PairKey {
        PairKey { target: target.into(), source: source.into(), null_safe }
    }

    /// The pairs without their files.
    fn rows(dml: &mut DistributedDml, columns: &[&str], row_ids: bool) -> Vec<String> {
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let found = dml.paired_rows(&columns, row_ids, u64::MAX, &Cancel::default()).unwrap();
        let (schema, batches) = found.unwrap();
        assert_eq!(schema.fields().len(), 3 + columns.len() + if row_ids { 2 } else { 0 });
        let places = |batch: &RecordBatch| batch.project(&(1..schema.fields().len()).collect::<Vec<_>>());
        let mut rows: Vec<String> = batches.iter().flat_map(|b| lines(&places(b).unwrap())).collect();
        rows.sort();
        rows
    }

    #[test]
    fn rows_are_beside_each_row_of_the_source_that_has_their_keys() {
        let (_dir, location) = table();
        let mut dml = begun(&location);
        let ids = [Some(8), Some(1), None, Some(4), Some(1), Some(100)];
        let names = [None, Some("n1"), None, None, Some("other"), None];
        let find = |dml: &mut DistributedDml, keys: &[PairKey]| {
            assert!(dml.may_find_pairs(u64::MAX).unwrap());
            dml.find_pairs(source(&ids, &names), keys, ALL, &Cancel::default()).unwrap()
        };
        // the row of the table that was deleted is not found
        assert_eq!(find(&mut dml, &[key("id", "k", false)]), Some(3));
        // position, number in the source, the columns, and row id with its version
        assert_eq!(rows(&mut dml, &["name", "id"], true), ["1|1|n1|1|1|0", "1|4|n1|1|1|0", "2|0|n8|8|8|2",]);
        assert_eq!(rows(&mut dml, &[], false), ["1|1", "1|4", "2|0"]);
        assert_eq!(find(&mut dml, &[key("id", "k", false), key("name", "n", false)]), Some(1));
        assert_eq!(rows(&mut dml, &["id"], false), ["1|1|1"]);
        // nulls of both sides
        assert_eq!(find(&mut dml, &[key("name", "n", true)]), Some(13));
        assert_eq!(find(&mut dml, &[key("name", "n", false)]), Some(1));
        assert_eq!(find(&mut dml, &[key("ID", "k", false)]), Some(3));
    }

    #[test]
    fn nothing_is_remembered_beyond_the_limits() {
        let (_dir, location) = table();
        let mut dml = begun(&location);
        let cancel = Cancel::default();
        let keys = [key("id", "k", false)];
        let ids: Vec<Option<i32>> = (0..9).map(Some).collect();
        let names = vec![None; 9];
        assert!(!dml.may_find_pairs(10).unwrap());
        for limits in [PairLimits { most_pairs: 7, ..ALL }, PairLimits { most_held_bytes: 10, ..ALL }] {
            assert!(dml.may_find_pairs(u64::MAX).unwrap());
            assert_eq!(dml.find_pairs(source(&ids, &names), &keys, limits, &cancel).unwrap(), None);
            assert!(rows(&mut dml, &["id"], false).is_empty());
        }
        assert!(dml.may_find_pairs(u64::MAX).unwrap());
        let all = PairLimits { most_pairs: 8, ..ALL };
        assert_eq!(dml.find_pairs(source(&ids, &names), &keys, all, &cancel).unwrap(), Some(8));
        assert!(dml.paired_rows(&["id".into()], false, 10, &cancel).unwrap().is_none());
        assert_eq!(rows(&mut dml, &["id"], false).len(), 8);
    }

    #[test]
    fn what_is_no_key_is_refused_and_work_stops() {
        let (_dir, location) = table();
        let mut dml = begun(&location);
        let mut find = |keys: &[PairKey], cancel: &Cancel| {
            assert!(dml.may_find_pairs(u64::MAX).unwrap());
            dml.find_pairs(source(&[Some(1)], &[None]), keys, ALL, cancel).unwrap_err().kind()
        };
        assert_eq!(find(&[], &Cancel::default()), "InvalidArgument");
        assert_eq!(find(&[key("none", "k", false)], &Cancel::default()), "InvalidExpression");
        let stopped = Cancel::default();
        stopped.cancel();
        assert_eq!(find(&[key("id", "k", false)], &stopped), "Interrupted");
    }

    type Row = (Option<i64>, Option<String>);

    fn value_rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
        proptest::collection::vec((option::of(-3_i64..4), option::of("[ab]{0,2}")), 0..most)
    }

    fn batch(rows: &[Row], names: [&str; 2]) -> RecordBatch {
        let columns: [ArrayRef; 2] = [
            Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|row| row.1.clone()).collect::<StringArray>()),
        ];
        let named = names.into_iter().zip(columns).map(|(name, column)| (name, column, true));
        RecordBatch::try_from_iter_with_nullable(named).unwrap()
    }

    fn reader(batch: &RecordBatch) -> impl RecordBatchReader + use<> {
        RecordBatchIterator::new([Ok(batch.clone())], batch.schema())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn pairs_are_those_of_each_row_with_each(
            files in proptest::collection::vec(value_rows(9), 1..4),
            of_source in value_rows(9),
            null_safe in any::<(bool, bool)>(),
            both in any::<bool>(),
            deleted in option::of(-3_i64..4),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let location = Location::open(dir.path().to_str().unwrap(), &StorageOptions::new()).unwrap();
            let configuration = [("delta.enableDeletionVectors".to_owned(), "true".to_owned())];
            for rows in &files {
                let options = WriteOptions {
                    mode: WriteMode::Append,
                    configuration: configuration.clone().into(),
                    ..WriteOptions::default()
                };
                write(&location, reader(&batch(rows, ["a", "b"])), &options).unwrap();
            }
            if let Some(deleted) = deleted {
                delete(&location, Some(&format!("a = {deleted}")), &DmlOptions::default()).unwrap();
            }
            let keys = [key("a", "x", null_safe.0), key("b", "y", null_safe.1)];
            let keys = if both { &keys[..] } else { &keys[..1] };
            let mut dml = begun(&location);
            prop_assert!(dml.may_find_pairs(u64::MAX).unwrap());
            let found = dml.find_pairs(reader(&batch(&of_source, ["x", "y"])), keys, ALL, &Cancel::default());
            let same = |key: usize, one: bool, null: bool| keys.get(key).is_none_or(|key| one && (key.null_safe || !null));
            let mut expected = Vec::new();
            for (a, b) in files.iter().flatten().filter(|row| deleted.is_none() || row.0 != deleted) {
                for (number, (x, y)) in of_source.iter().enumerate() {
                    if same(0, a == x, a.is_none()) && same(1, b == y, b.is_none()) {
                        let text = a.map_or_else(String::new, |a| a.to_string());
                        expected.push(format!("{number}|{text}|{}", b.clone().unwrap_or_default()));
                    }
                }
            }
            expected.sort();
            prop_assert_eq!(found.unwrap(), Some(expected.len() as u64));
            let mut rows: Vec<String> = rows(&mut dml, &["a", "b"], false);
            // without the position
            rows.iter_mut().for_each(|row| *row = row.split_once('|').unwrap().1.to_owned());
            rows.sort();
            prop_assert_eq!(rows, expected);
        }
    }
}
