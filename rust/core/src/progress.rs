//! How far a running operation is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Follows an operation from any thread: one at a place that it was given to by [`Location::followed_by`]. It counts the
/// files that the operation is about, and their bytes. An operation that is retried begins to count anew, and one that
/// rewrites the files in which it finds rows counts these twice: when they are searched, and when they are rewritten.
///
/// [`Location::followed_by`]: crate::store::Location::followed_by
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    files: AtomicU64,
    all_files: AtomicU64,
    bytes: AtomicU64,
    all_bytes: AtomicU64,
}

/// What an operation has done, and what it is to do. Of all files it is zero until it is known, and it grows where it turns
/// out that there is more to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reached {
    /// Files that are done.
    pub files: u64,
    /// All files.
    pub all_files: u64,
    /// Bytes of the files that are done.
    pub bytes: u64,
    /// Bytes of all files; zero where the operation does not know them.
    pub all_bytes: u64,
}

impl Progress {
    /// How far it is.
    pub fn reached(&self) -> Reached {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counters { files, all_files, bytes, all_bytes } = &*self.0;
        Reached { files: of(files), all_files: of(all_files), bytes: of(bytes), all_bytes: of(all_bytes) }
    }

    /// Begins with what is to be done.
    pub(crate) fn expect(&self, all_files: u64, all_bytes: u64) {
        let Counters { files, bytes, .. } = &*self.0;
        for (counter, value) in
            [(files, 0), (bytes, 0), (&self.0.all_files, all_files), (&self.0.all_bytes, all_bytes)]
        {
            counter.store(value, Ordering::Relaxed);
        }
    }

    /// Adds what is to be done, too.
    pub(crate) fn expect_more(&self, files: u64, bytes: u64) {
        self.0.all_files.fetch_add(files, Ordering::Relaxed);
        self.0.all_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds what was done.
    pub(crate) fn done(&self, files: u64, bytes: u64) {
        self.0.files.fetch_add(files, Ordering::Relaxed);
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}
