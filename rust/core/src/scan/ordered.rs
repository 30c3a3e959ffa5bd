//! Items of many files in the order of the files: a few files are read at once, and what is read ahead is bounded.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::error::{Error, Result};
use crate::panics::internal;
use crate::store::Location;

/// Items of a file that wait for the consumer.
const ITEMS_AHEAD: usize = 2;
/// Files that are read at once from a store that answers late; a local disk needs no more than the cores.
const WORKERS: usize = 8;
/// Bytes of files that are rewritten and are read at once, where they are more than one.
const BYTES_AHEAD: u64 = 32 << 20;

/// A file to read.
pub(crate) trait Job: Send + 'static {
    /// What it gives.
    type Item: Send + 'static;

    /// Its name, for errors.
    fn name(&self) -> String;

    /// Bytes that are read ahead while others are consumed: none where that is bounded by the number of files alone.
    fn bytes(&self) -> u64;

    /// Opens it.
    ///
    /// # Errors
    /// Those of the file.
    fn open(self) -> Result<impl Iterator<Item = Result<Self::Item>> + Send>;
}

/// Items of files, one file after the other.
pub(crate) type InTurn<T> = Box<dyn Iterator<Item = Result<T>> + Send>;

/// How many files of a table are read at once.
pub(crate) fn workers(location: &Location) -> usize {
    let cores = std::thread::available_parallelism().map_or(2, |n| n.get());
    let local = location.root().scheme() == "file";
    if local { cores.min(WORKERS) } else { WORKERS }
}

/// The items of files of a table that are rewritten. From a store that answers late a few files are read at once, of
/// 32 MiB together or one.
///
/// # Errors
/// [`Error::Storage`] when no thread can be started.
pub(crate) fn in_turn<J: Job>(location: &Location, files: Vec<J>) -> Result<InTurn<J::Item>> {
    if location.store().is_far() && files.len() > 1 {
        let workers = workers(location).min(files.len());
        return Ok(Box::new(Ordered::start(files.into_iter().map(Ok), workers, BYTES_AHEAD)?));
    }
    let items = files.into_iter().flat_map(|file| -> InTurn<J::Item> {
        match file.open() {
            Ok(items) => Box::new(items),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    });
    Ok(Box::new(items))
}

/// The items of files, one file after the other, until the first error. When it is dropped, the reading stops.
pub(super) struct Ordered<T> {
    slots: Option<Receiver<Slot<T>>>,
    current: Option<Slot<T>>,
    workers: Vec<JoinHandle<()>>,
    gate: Arc<Gate>,
}

/// The items of one file, or the error that took its place.
struct Slot<T> {
    items: Receiver<Result<T>>,
    bytes: u64,
}

/// Bounds the bytes of files that were begun and are not consumed.
#[derive(Debug)]
struct Gate {
    begun: Mutex<Begun>,
    changed: Condvar,
    most: u64,
}

#[derive(Debug, Default)]
struct Begun {
    bytes: u64,
    /// Whether nobody wants more.
    closed: bool,
}

/// The source of the workers' next file. Its holder also queues the slot, so slots are in order.
struct Queue<I, T> {
    files: I,
    slots: Option<SyncSender<Slot<T>>>,
}

impl<T> fmt::Debug for Ordered<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ordered").field("gate", &self.gate).finish_non_exhaustive()
    }
}

impl Gate {
    /// Waits until a file may be begun; whether anybody wants it.
    fn enter(&self, bytes: u64) -> bool {
        let full = |begun: &mut Begun| {
            !begun.closed && begun.bytes > 0 && begun.bytes.saturating_add(bytes) > self.most
        };
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let mut begun = self.changed.wait_while(begun, full).unwrap_or_else(PoisonError::into_inner);
        begun.bytes = begun.bytes.saturating_add(bytes);
        !begun.closed
    }

    fn change(&self, by: impl FnOnce(&mut Begun)) {
        by(&mut self.begun.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

impl<T: Send + 'static> Ordered<T> {
    /// Reads these files, `workers` at a time, as long as those that are begun and not consumed have so many bytes, or
    /// are one.
    ///
    /// # Errors
    /// [`Error::Storage`] when no thread can be started.
    pub(super) fn start<J, I>(files: I, workers: usize, most_bytes: u64) -> Result<Self>
    where
        J: Job<Item = T>,
        I: Iterator<Item = Result<J>> + Send + 'static,
    {
        let workers = workers.max(1);
        let (sender, slots) = sync_channel(2 * workers);
        let queue = Arc::new(Mutex::new(Queue { files, slots: Some(sender) }));
        let gate = Gate { begun: Mutex::default(), changed: Condvar::new(), most: most_bytes };
        let gate = Arc::new(gate);
        let mut out = Ordered { slots: Some(slots), current: None, workers: Vec::new(), gate: gate.clone() };
        for _ in 0..workers {
            let (queue, gate) = (queue.clone(), gate.clone());
            let worker = std::thread::Builder::new().name("deltaic-rows".into());
            match worker.spawn(move || work(&queue, &gate)) {
                Ok(worker) => out.workers.push(worker),
                Err(_) if !out.workers.is_empty() => break,
                Err(error) => return Err(Error::storage("read", "a new thread", error)),
            }
        }
        Ok(out)
    }
}

impl<T> Ordered<T> {
    /// Stops the workers and waits for them.
    fn stop(&mut self) {
        // a worker that sends to nobody ends
        self.current = None;
        self.slots = None;
        self.gate.change(|begun| begun.closed = true);
        for worker in self.workers.drain(..) {
            // its panics were caught and sent
            let _ = worker.join();
        }
    }
}

impl<T> Iterator for Ordered<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(slot) = &self.current {
                match slot.items.recv() {
                    Ok(Ok(item)) => return Some(Ok(item)),
                    Ok(Err(error)) => {
                        self.stop();
                        return Some(Err(error));
                    }
                    Err(_) => {
                        let bytes = slot.bytes;
                        self.gate.change(|begun| begun.bytes = begun.bytes.saturating_sub(bytes));
                    }
                }
            }
            self.current = self.slots.as_ref().and_then(|slots| slots.recv().ok());
            if self.current.is_none() {
                self.stop();
                return None;
            }
        }
    }
}

impl<T> Drop for Ordered<T> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Takes files until there are no more or nobody wants them.
fn work<J: Job, I: Iterator<Item = Result<J>>>(queue: &Mutex<Queue<I, J::Item>>, gate: &Gate) {
    loop {
        let Some((file, items)) = take(queue, gate) else { return };
        let name = file.name();
        let sent = catch_unwind(AssertUnwindSafe(|| send(file, &items)));
        if let Err(panic) = sent {
            // the consumer may be gone
            let _ = items.send(Err(internal(format!("read of {name}"), panic.as_ref())));
        }
    }
}

/// The next file, with its slot queued.
fn take<J: Job, I: Iterator<Item = Result<J>>>(
    queue: &Mutex<Queue<I, J::Item>>,
    gate: &Gate,
) -> Option<(J, SyncSender<Result<J::Item>>)> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let slots = queue.slots.clone()?;
    let next = catch_unwind(AssertUnwindSafe(|| queue.files.next()));
    let next = next.unwrap_or_else(|panic| Some(Err(internal("read of the log".into(), panic.as_ref()))));
    let file = match next {
        Some(Ok(file)) => file,
        Some(Err(error)) => {
            let (sender, items) = sync_channel(1);
            // no room is needed for one, and nobody may be listening
            let _ = sender.send(Err(error));
            let _ = slots.send(Slot { items, bytes: 0 });
            queue.slots = None;
            return None;
        }
        None => {
            queue.slots = None;
            return None;
        }
    };
    let bytes = file.bytes();
    let (sender, items) = sync_channel(ITEMS_AHEAD);
    if !gate.enter(bytes) || slots.send(Slot { items, bytes }).is_err() {
        queue.slots = None;
        return None;
    }
    Some((file, sender))
}

fn send<J: Job>(file: J, items: &SyncSender<Result<J::Item>>) {
    let found = match file.open() {
        Ok(found) => found,
        Err(error) => {
            // nobody may be listening
            let _ = items.send(Err(error));
            return;
        }
    };
    for item in found {
        if items.send(item).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// A file of `count` numbers, which says how many bytes of files are open.
    struct Numbers {
        first: u64,
        count: u64,
        size: u64,
        open: Arc<AtomicU64>,
        most: Arc<AtomicU64>,
    }

    struct Opened {
        left: std::ops::Range<u64>,
        size: u64,
        open: Arc<AtomicU64>,
    }

    impl Job for Numbers {
        type Item = u64;

        fn name(&self) -> String {
            self.first.to_string()
        }

        fn bytes(&self) -> u64 {
            self.size
        }

        fn open(self) -> Result<impl Iterator<Item = Result<u64>> + Send> {
            let now = self.open.fetch_add(self.size, Ordering::SeqCst) + self.size;
            self.most.fetch_max(now, Ordering::SeqCst);
            Ok(Opened { left: self.first..self.first + self.count, size: self.size, open: self.open })
        }
    }

    impl Iterator for Opened {
        type Item = Result<u64>;

        fn next(&mut self) -> Option<Self::Item> {
            self.left.next().map(Ok)
        }
    }

    impl Drop for Opened {
        fn drop(&mut self) {
            self.open.fetch_sub(self.size, Ordering::SeqCst);
        }
    }

    #[test]
    fn files_that_are_read_at_once_have_no_more_bytes_than_the_limit_and_come_in_order() {
        // the third alone is more than the limit
        let sizes = [10, 20, 500, 40, 40, 40, 1, 1, 1, 100, 99, 3];
        for workers in [1, 3, 12] {
            let (open, most) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
            let file = |(at, size): (usize, u64)| {
                let (open, most) = (open.clone(), most.clone());
                Ok(Numbers { first: at as u64 * 100, count: 7, size, open, most })
            };
            let files: Vec<_> = sizes.into_iter().enumerate().map(file).collect();
            let items = Ordered::start(files.into_iter(), workers, 100).unwrap();
            let found: Vec<u64> = items.map(|item| item.unwrap()).collect();
            let wanted: Vec<u64> = (0..sizes.len() as u64).flat_map(|at| at * 100..at * 100 + 7).collect();
            assert_eq!(found, wanted, "{workers} workers");
            assert_eq!(most.load(Ordering::SeqCst), 500, "{workers} workers");
            assert_eq!(open.load(Ordering::SeqCst), 0);
        }
    }

    #[test]
    fn what_waits_for_room_ends_when_nobody_wants_more() {
        let (open, most) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let file = |at: u64| {
            let (open, most) = (open.clone(), most.clone());
            Ok(Numbers { first: at * 100, count: 100, size: 80, open, most })
        };
        let files: Vec<_> = (0..10).map(file).collect();
        let mut items = Ordered::start(files.into_iter(), 4, 100).unwrap();
        assert_eq!(items.next().unwrap().unwrap(), 0);
        // joins the workers
        drop(items);
        assert_eq!((open.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (0, 80));
    }
}
