//! The rows of many files in order: a few files are read at once, and what is read ahead is bounded.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::read::{RowScan, open};
use crate::actions::Add;
use crate::deletion_vector::Shared;
use crate::error::{Error, Result};
use crate::panics::internal;

/// Batches of a file that wait for the consumer.
const BATCHES_AHEAD: usize = 2;

/// Batches of rows, see [`read`](super::read). When it is dropped, the reading stops.
pub struct RowStream {
    schema: SchemaRef,
    files: Option<Receiver<FileSlot>>,
    current: Option<FileSlot>,
    workers: Vec<JoinHandle<()>>,
}

/// The batches of one file, or the error that took its place.
type FileSlot = Receiver<Result<RecordBatch>>;

/// Files and the scan that reads them.
type Files = (Arc<RowScan>, Vec<Add>);

/// The source of the workers' next file. Its holder also queues the slot, so slots are in order.
struct Queue<I> {
    batches: I,
    adds: VecDeque<(Arc<RowScan>, Add, Arc<Shared>)>,
    slots: Option<SyncSender<FileSlot>>,
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
    /// [`Error::Storage`] when no thread can be started.
    pub(crate) fn start<I>(schema: SchemaRef, batches: I, workers: usize) -> Result<Self>
    where
        I: Iterator<Item = Result<Files>> + Send + 'static,
    {
        let workers = workers.max(1);
        let (slots, files) = sync_channel(2 * workers);
        let queue = Queue { batches, adds: VecDeque::new(), slots: Some(slots) };
        let queue = Arc::new(Mutex::new(queue));
        let mut stream = RowStream { schema, files: Some(files), current: None, workers: Vec::new() };
        for _ in 0..workers {
            let queue = queue.clone();
            let worker = std::thread::Builder::new().name("deltaic-rows".into()).spawn(move || work(&queue));
            match worker {
                Ok(worker) => stream.workers.push(worker),
                Err(_) if !stream.workers.is_empty() => break,
                Err(error) => return Err(Error::storage("read", "a new thread", error)),
            }
        }
        Ok(stream)
    }

    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Stops the workers and waits for them.
    fn stop(&mut self) {
        // a worker that sends to nobody ends
        self.current = None;
        self.files = None;
        for worker in self.workers.drain(..) {
            // its panics were caught and sent
            let _ = worker.join();
        }
    }
}

impl Iterator for RowStream {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.current.as_ref().and_then(|slot| slot.recv().ok()) {
                Some(Ok(batch)) => return Some(Ok(batch)),
                Some(Err(error)) => {
                    self.stop();
                    return Some(Err(error));
                }
                None => match self.files.as_ref().and_then(|files| files.recv().ok()) {
                    Some(slot) => self.current = Some(slot),
                    None => {
                        self.stop();
                        return None;
                    }
                },
            }
        }
    }
}

impl Drop for RowStream {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Takes files until there are no more or nobody wants them.
fn work<I: Iterator<Item = Result<Files>>>(queue: &Mutex<Queue<I>>) {
    loop {
        let Some((scan, add, vectors, batches)) = take(queue) else { return };
        let sent = catch_unwind(AssertUnwindSafe(|| send_rows(&scan, &add, &vectors, &batches)));
        if let Err(panic) = sent {
            // the consumer may be gone
            let _ = batches.send(Err(panicked(add.path.as_str(), panic.as_ref())));
        }
    }
}

type Taken = (Arc<RowScan>, Add, Arc<Shared>, SyncSender<Result<RecordBatch>>);

/// The next file, with its slot queued.
fn take<I: Iterator<Item = Result<Files>>>(queue: &Mutex<Queue<I>>) -> Option<Taken> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let slots = queue.slots.clone()?;
    while queue.adds.is_empty() {
        let next = catch_unwind(AssertUnwindSafe(|| queue.batches.next()))
            .unwrap_or_else(|panic| Some(Err(panicked("the log", panic.as_ref()))));
        match next {
            Some(Ok((scan, adds))) => {
                let vectors = Arc::new(Shared::of(&adds, scan.location().root()));
                queue.adds.extend(adds.into_iter().map(|add| (scan.clone(), add, vectors.clone())));
            }
            Some(Err(error)) => {
                let (sender, slot) = sync_channel(1);
                // no room is needed for one, and nobody may be listening
                let _ = sender.send(Err(error));
                let _ = slots.send(slot);
                queue.slots = None;
                return None;
            }
            None => {
                queue.slots = None;
                return None;
            }
        }
    }
    let (scan, add, vectors) = queue.adds.pop_front()?;
    let (sender, slot) = sync_channel(BATCHES_AHEAD);
    if slots.send(slot).is_err() {
        queue.slots = None;
        return None;
    }
    Some((scan, add, vectors, sender))
}

fn send_rows(scan: &Arc<RowScan>, add: &Add, vectors: &Shared, batches: &SyncSender<Result<RecordBatch>>) {
    let rows = match open(scan, add, vectors) {
        Ok(rows) => rows,
        Err(error) => {
            // nobody may be listening
            let _ = batches.send(Err(error));
            return;
        }
    };
    for batch in rows {
        if batches.send(batch).is_err() {
            return;
        }
    }
}

fn panicked(path: &str, panic: &(dyn std::any::Any + Send)) -> Error {
    internal(format!("read of {path}"), panic)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use arrow::array::{ArrayRef, AsArray, Int64Array};
    use arrow::datatypes::Int64Type;

    use super::*;
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
