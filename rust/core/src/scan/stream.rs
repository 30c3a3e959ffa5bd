//! The rows of many files in order: a few files are read at once, and what is read ahead is bounded.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::ordered::{Job, Ordered};
use super::read::{RowScan, open};
use crate::actions::Add;
use crate::deletion_vector::Shared;
use crate::error::Result;

/// Batches of rows, see [`read`](super::read). When it is dropped, the reading stops.
pub struct RowStream {
    schema: SchemaRef,
    rows: Ordered<RecordBatch>,
}

/// Files and the scan that reads them.
type Files = (Arc<RowScan>, Vec<Add>);

/// A file, with the deletion vectors of those that were listed with it.
struct File {
    scan: Arc<RowScan>,
    add: Add,
    vectors: Arc<Shared>,
}

impl Job for File {
    type Item = RecordBatch;

    fn name(&self) -> String {
        self.add.path.to_string()
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn open(self) -> Result<impl Iterator<Item = Result<RecordBatch>> + Send> {
        open(&self.scan, &self.add, &self.vectors)
    }
}

impl fmt::Debug for RowStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowStream").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl RowStream {
    /// Reads the files that `batches` gives, each by its scan, `workers` at a time. All scans give rows of `schema`.
    ///
    /// # Errors
    /// [`Error::Storage`](crate::Error::Storage) when no thread can be started.
    pub(crate) fn start<I>(schema: SchemaRef, batches: I, workers: usize) -> Result<Self>
    where
        I: Iterator<Item = Result<Files>> + Send + 'static,
    {
        let files = batches.flat_map(|batch| match batch {
            Ok((scan, adds)) => {
                let vectors = Arc::new(Shared::of(&adds, scan.location().root()));
                let file = |add| Ok(File { scan: scan.clone(), add, vectors: vectors.clone() });
                adds.into_iter().map(file).collect::<Vec<_>>()
            }
            Err(error) => vec![Err(error)],
        });
        Ok(RowStream { schema, rows: Ordered::start(files, workers, u64::MAX)? })
    }

    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}

impl Iterator for RowStream {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows.next()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use arrow::array::{ArrayRef, AsArray, Int64Array};
    use arrow::datatypes::Int64Type;

    use super::*;
    use crate::error::Error;
    use crate::scan::ReadRequest;
    use crate::scan::testing::{Folder, field, schema};

    fn batch(from: i64, rows: i64) -> RecordBatch {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(from..from + rows));
        RecordBatch::try_from_iter([("id", ids)]).unwrap()
    }

    /// Files of ten rows, three batches each.
    fn files(folder: &Folder, count: i64) -> (Arc<RowScan>, Vec<Add>) {
        let adds =
            (0..count).map(|i| folder.parquet(&format!("{i}.parquet"), &batch(i * 10, 10), 4)).collect();
        (folder.scan(&schema(&field("id", r#""long""#)), &[], ReadRequest::default()), adds)
    }

    fn start<I>(scan: &Arc<RowScan>, batches: I, workers: usize) -> RowStream
    where
        I: Iterator<Item = Result<Files>> + Send + 'static,
    {
        RowStream::start(scan.schema().clone(), batches, workers).unwrap()
    }

    fn ids(batch: &RecordBatch) -> Vec<i64> {
        batch.column(0).as_primitive::<Int64Type>().values().to_vec()
    }

    #[test]
    fn rows_come_in_the_order_of_the_files_whatever_the_number_of_workers() {
        let folder = Folder::new();
        let (scan, adds) = files(&folder, 25);
        for workers in [1, 2, 5, 40] {
            let batches: Vec<_> = adds.chunks(7).map(|c| Ok((scan.clone(), c.to_vec()))).collect();
            let stream = start(&scan, batches.into_iter(), workers);
            let rows: Vec<i64> = stream.flat_map(|b| ids(&b.unwrap())).collect();
            assert_eq!(rows, (0..250).collect::<Vec<_>>(), "{workers} workers");
        }
    }

    #[test]
    fn the_first_error_ends_the_stream_after_the_rows_before_it() {
        let folder = Folder::new();
        let (scan, mut adds) = files(&folder, 10);
        adds[4].path = crate::actions::FilePath::from_log("gone.parquet");
        let mut stream = start(&scan, vec![Ok((scan.clone(), adds.clone()))].into_iter(), 3);
        let mut rows = 0;
        let error = loop {
            match stream.next().unwrap() {
                Ok(batch) => rows += batch.num_rows(),
                Err(error) => break error,
            }
        };
        assert_eq!((rows, error.kind()), (40, "DataFile"));
        assert!(stream.next().is_none());

        let broken = Err(Error::corrupt("00000000000000000007.json", Some(7), "torn"));
        let of = |adds: &[Add]| Ok((scan.clone(), adds.to_vec()));
        let batches = vec![of(&adds[..2]), broken, of(&adds[2..4])];
        let kinds: Vec<String> = start(&scan, batches.into_iter(), 3)
            .map(|b| b.map_or_else(|e| e.kind().to_owned(), |b| b.num_rows().to_string()))
            .collect();
        assert_eq!(kinds, ["4", "4", "2", "4", "4", "2", "LogCorrupt"]);
    }

    #[test]
    fn a_dropped_stream_reads_no_more() {
        let folder = Folder::new();
        let (scan, adds) = files(&folder, 1);
        let taken = Arc::new(AtomicUsize::new(0));
        let counter = taken.clone();
        let by = scan.clone();
        let endless = std::iter::repeat_with(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok((by.clone(), vec![adds[0].clone()]))
        });
        let mut stream = start(&scan, endless, 2);
        assert_eq!(ids(&stream.next().unwrap().unwrap()), [0, 1, 2, 3]);
        drop(stream);
        // the workers have ended: nothing else holds the scan, and what was read ahead was bounded
        assert_eq!(Arc::strong_count(&scan), 1);
        assert!(taken.load(Ordering::SeqCst) <= 8, "{} files taken", taken.load(Ordering::SeqCst));
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let folder = Folder::new();
        let (scan, adds) = files(&folder, 1);
        let mut left = 2;
        let by = scan.clone();
        let batches = std::iter::from_fn(move || {
            left -= 1;
            assert!(left > 0, "out of files");
            Some(Ok((by.clone(), adds.clone())))
        });
        let results: Vec<_> = start(&scan, batches, 1).collect();
        let error = results.last().unwrap().as_ref().unwrap_err().to_string();
        assert!(
            error.contains("internal error in `read of the log`") && error.contains("out of files"),
            "{error}"
        );
    }
}
