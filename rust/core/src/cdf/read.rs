//! The rows of changes.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use super::files::{ChangeFile, ChangeKind};
use super::plan::ChangeDataFeed;
use crate::actions::Add;
use crate::error::Result;
use crate::scan::{ReadRequest, RowScan, RowStream, Split, splits_of, workers};
use crate::schema::{CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, by_name};
use crate::store::StorageOptions;

impl ChangeDataFeed {
    /// Reads the changes to Arrow batches: the columns of the table, then what happened to the row, in which version, and
    /// when. Rows come version by version; within one in the order of the commit's actions and, within a file, of the file.
    /// The predicate may name all columns, and exactly the rows for which it is true are given.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a column that is unknown or named twice,
    /// [`Error::InvalidPredicate`](crate::Error::InvalidPredicate) for a predicate that cannot be evaluated. The stream gives
    /// the errors of [`ChangeDataFeed::files`] and of [`read_file`](crate::scan::read_file), such as a file that VACUUM deleted, and
    /// ends with the first.
    ///
    /// # Cost
    /// Every file of the changes is opened. Memory as for [`ChangeDataFeed::files`], and the row groups and a few batches of at most
    /// 8 files.
    pub fn read(&self, request: ReadRequest) -> Result<RowStream> {
        let data = self.scan(ChangeKind::Insert, &request)?;
        let cdc = self.scan(ChangeKind::Cdc, &request)?;
        let schema = data.schema().clone();
        let files = self.files().map(move |commit| {
            let commit = commit?;
            let scan = match commit.first().map(|file| file.kind) {
                Some(ChangeKind::Cdc) => cdc.clone(),
                _ => data.clone(),
            };
            Ok((scan, commit.into_iter().map(|file| file.file).collect::<Vec<Add>>()))
        });
        RowStream::start(schema, files, workers(self.snapshot.location()))
    }

    /// The schema of the rows of a request, with every check that needs no file.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) and
    /// [`Error::InvalidPredicate`](crate::Error::InvalidPredicate), as [`ChangeDataFeed::read`].
    pub fn row_schema(&self, request: &ReadRequest) -> Result<SchemaRef> {
        Ok(self.scan(ChangeKind::Insert, request)?.schema().clone())
    }

    /// Groups of files, each of at most `most_bytes` unless it is one file, for other processes to read, as
    /// [`splits`](crate::scan::splits) makes them. `options` are those that opened the table.
    ///
    /// # Errors
    /// Those of [`ChangeDataFeed::files`].
    ///
    /// # Cost
    /// As [`ChangeDataFeed::files`], and memory for all of them.
    pub fn splits(&self, options: &StorageOptions, most_bytes: i64) -> Result<Vec<Split>> {
        let mut out = Vec::new();
        let mut run: Vec<Add> = Vec::new();
        let mut kind = ChangeKind::Insert;
        let schema = by_name(&self.schema);
        let mut flush = |kind: ChangeKind, files: &[Add]| {
            let columns = self.partition_columns(kind);
            out.extend(splits_of(&self.snapshot, (&schema, &columns), options, files, most_bytes));
        };
        for commit in self.files() {
            for ChangeFile { kind: next, file, .. } in commit? {
                if (next == ChangeKind::Cdc) != (kind == ChangeKind::Cdc) {
                    flush(kind, &run);
                    run.clear();
                }
                kind = next;
                run.push(file);
            }
        }
        flush(kind, &run);
        Ok(out)
    }

    /// Partition columns of the files of a kind: those of the table, and what all rows of a file have in common.
    fn partition_columns(&self, kind: ChangeKind) -> Vec<String> {
        let mut columns = self.snapshot.partition_columns().to_vec();
        if kind != ChangeKind::Cdc {
            columns.push(CHANGE_TYPE.into());
        }
        columns.extend([COMMIT_VERSION.into(), COMMIT_TIMESTAMP.into()]);
        columns
    }

    fn scan(&self, kind: ChangeKind, request: &ReadRequest) -> Result<Arc<RowScan>> {
        let (location, mode) = (self.snapshot.location().clone(), self.snapshot.column_mapping());
        let columns = self.partition_columns(kind);
        Ok(Arc::new(RowScan::new(location, &by_name(&self.schema), &columns, mode, request.clone())?))
    }
}
