//! Memory of what was read, for the next read: to get new pages of the system takes as long as the bytes do.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use crate::unlocked::if_unlocked;

/// Bytes that are kept at most. All of them were in use at once before.
const MOST: usize = 128 << 20;

/// Buffers that nobody uses. They are never waited for: a forked child may find them locked for ever, and does without.
#[derive(Debug)]
struct Pool {
    free: Mutex<Vec<Vec<u8>>>,
    /// Reads of many objects that are under way.
    users: AtomicUsize,
}

static POOL: Pool = Pool::new();

/// While there is one, memory of what was read from local files is kept for what comes next.
#[derive(Debug)]
pub(crate) struct Recycling(&'static Pool);

impl Recycling {
    /// To be held by what reads many objects, or parts of one.
    pub(crate) fn begin() -> Self {
        POOL.begin()
    }
}

impl Drop for Recycling {
    fn drop(&mut self) {
        if self.0.users.fetch_sub(1, Ordering::Relaxed) == 1 {
            drop(self.0.with_free(std::mem::take));
        }
    }
}

/// An empty buffer for so many bytes.
pub(super) fn take(bytes: usize) -> Vec<u8> {
    POOL.take(bytes)
}

/// Bytes whose memory is free again once nothing holds them.
pub(super) fn lent(bytes: Vec<u8>) -> Bytes {
    POOL.lent(bytes)
}

impl Pool {
    const fn new() -> Self {
        Pool { free: Mutex::new(Vec::new()), users: AtomicUsize::new(0) }
    }

    fn begin(&'static self) -> Recycling {
        self.users.fetch_add(1, Ordering::Relaxed);
        Recycling(self)
    }

    fn is_idle(&self) -> bool {
        self.users.load(Ordering::Relaxed) == 0
    }

    fn with_free<T>(&self, work: impl FnOnce(&mut Vec<Vec<u8>>) -> T) -> Option<T> {
        if_unlocked(&self.free, work)
    }

    fn take(&self, bytes: usize) -> Vec<u8> {
        if self.is_idle() {
            return reserved(bytes);
        }
        let found = self.with_free(|free| {
            let sizes = || free.iter().map(Vec::capacity).enumerate();
            let fits = sizes().filter(|(_, size)| *size >= bytes && size / 4 <= bytes.max(1024));
            let best = fits.min_by_key(|(_, size)| *size).map(|(at, _)| at);
            // where none fits, what is too small makes room
            let small = || sizes().filter(|(_, size)| *size < bytes).max_by_key(|(_, size)| *size);
            let gone = best.or_else(|| small().map(|(at, _)| at));
            let buffer = gone.map(|at| free.swap_remove(at));
            buffer.filter(|_| best.is_some())
        });
        // the next one may be a little longer; memory that is not written to is none yet
        found.flatten().unwrap_or_else(|| reserved(bytes.saturating_add(bytes / 8)))
    }

    fn lent(&'static self, bytes: Vec<u8>) -> Bytes {
        if self.is_idle() { Bytes::from(bytes) } else { Bytes::from_owner(Lent { bytes, pool: self }) }
    }

    fn give(&self, mut buffer: Vec<u8>) {
        if self.is_idle() {
            return;
        }
        buffer.clear();
        self.with_free(|free| {
            let kept: usize = free.iter().map(Vec::capacity).sum();
            if kept.saturating_add(buffer.capacity()) <= MOST {
                free.push(buffer);
            }
        });
    }
}

/// A buffer without room where the system has none: that is an error of what reads into it.
fn reserved(bytes: usize) -> Vec<u8> {
    let mut buffer = Vec::new();
    let _ = buffer.try_reserve_exact(bytes);
    buffer
}

struct Lent {
    bytes: Vec<u8>,
    pool: &'static Pool,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.pool.give(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_memory_for_the_next_read_while_somebody_reads() {
        static POOL: Pool = Pool::new();
        let (first, second) = (POOL.begin(), POOL.begin());
        let mut buffer = POOL.take(100_000);
        buffer.extend_from_slice(b"content");
        let place = buffer.as_ptr();
        let part = POOL.lent(buffer).slice(3..);
        // a part holds the whole
        let other = POOL.take(100_000);
        assert_ne!(other.as_ptr(), place);
        assert_eq!(part, "tent");
        drop(part);
        drop(first);
        let again = POOL.take(90_000);
        assert!(again.as_ptr() == place && again.is_empty());
        // what is read outlives the reads
        let read = POOL.lent(again);
        drop(second);
        assert!(read.is_empty());
        drop(read);
        assert_eq!(POOL.with_free(|free| free.len()), Some(0));
        assert_eq!(POOL.lent(vec![1, 2]), [1, 2][..]);
    }

    #[test]
    fn a_buffer_is_not_given_to_what_needs_far_less_or_more() {
        static POOL: Pool = Pool::new();
        let _recycling = POOL.begin();
        for (wanted, left) in [(0, 1), (1000, 1), (1 << 18, 0), (1 << 20, 0), ((1 << 20) + 1, 0)] {
            drop(POOL.lent(vec![7; 1 << 20]));
            let buffer = POOL.take(wanted);
            assert!(buffer.is_empty() && buffer.capacity() >= wanted, "{wanted}");
            assert_eq!(POOL.with_free(|free| std::mem::take(free).len()), Some(left), "{wanted}");
        }
    }

    #[test]
    fn locked_buffers_are_not_waited_for_and_no_more_are_kept_than_may_be() {
        static POOL: Pool = Pool::new();
        let _recycling = POOL.begin();
        let lock = POOL.free.lock().unwrap();
        drop(POOL.lent(vec![7; 10]));
        assert!(POOL.take(10).capacity() >= 10 && lock.is_empty());
        drop(lock);
        drop(POOL.lent(reserved(MOST + 1)));
        assert_eq!(POOL.with_free(|free| free.len()), Some(0));
        // no system has so much
        assert_eq!(POOL.take(usize::MAX).capacity(), 0);
    }
}
