//! Threads of this process: the tokio runtime of the object stores and the rayon pool of the decoders. Threads do not
//! survive `fork`, so both are kept by process id, made on first use, and made again in a forked child.

use std::future::Future;
use std::sync::{Mutex, PoisonError, mpsc};

use crate::error::{Error, Result};

struct PerProcess<T: 'static> {
    slot: Mutex<Option<(u32, &'static T)>>,
}

impl<T> PerProcess<T> {
    const fn new() -> Self {
        PerProcess { slot: Mutex::new(None) }
    }

    /// The value of this process. That of a parent process is leaked: its threads are not ours to join.
    fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&'static T> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let pid = std::process::id();
        if let Some((owner, value)) = *slot
            && owner == pid
        {
            return Ok(value);
        }
        let value: &'static T = Box::leak(Box::new(make()?));
        *slot = Some((pid, value));
        Ok(value)
    }
}

static RUNTIME: PerProcess<tokio::runtime::Runtime> = PerProcess::new();
static POOL: PerProcess<rayon::ThreadPool> = PerProcess::new();

/// Runs a future on the runtime of this process and waits for it. Safe inside another runtime and in a forked child.
///
/// # Errors
/// [`Error::Storage`] when the runtime cannot start its threads or the task dies.
pub fn block_on<F, T>(future: F) -> Result<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let runtime = RUNTIME.get(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("deltaic-io")
            .enable_all()
            .build()
            .map_err(|e| Error::storage("start", "I/O threads", e))
    })?;
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // a dropped receiver has nothing to wait for
        let _ = sender.send(future.await);
    });
    receiver.recv().map_err(|e| Error::storage("run", "I/O task", e))
}

/// The pool of this process for decoding and pruning: one thread a core.
///
/// # Errors
/// [`Error::Storage`] when the threads cannot be started.
pub fn pool() -> Result<&'static rayon::ThreadPool> {
    POOL.get(|| {
        rayon::ThreadPoolBuilder::new()
            .thread_name(|i| format!("deltaic-{i}"))
            .build()
            .map_err(|e| Error::storage("start", "worker threads", e))
    })
}
