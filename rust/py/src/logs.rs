//! Events of the core for Python's `logging`. They wait in a queue, because the thread that reports may hold a lock that a
//! thread with the GIL waits for; the door of `runtime` hands them over while it waits and when its work is done.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use log::{Level, LevelFilter, Log, Metadata, Record};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Events that wait at most; further ones are counted and dropped.
const MOST: usize = 10_000;

/// Name of the logger, level of `logging`, seconds since the Unix epoch, text.
type Event = (String, u8, f64, String);

struct Queue {
    send: SyncSender<Event>,
    /// Locked only by a thread that holds the GIL, and not while Python runs: a fork never finds it locked.
    receive: Mutex<Receiver<Event>>,
    dropped: AtomicU64,
}

static QUEUE: OnceLock<Queue> = OnceLock::new();

fn queue() -> &'static Queue {
    QUEUE.get_or_init(|| {
        let (send, receive) = sync_channel(MOST);
        Queue { send, receive: Mutex::new(receive), dropped: AtomicU64::new(0) }
    })
}

struct Forward;

impl Log for Forward {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // spans, and what dependencies log, are not forwarded
        metadata.target().starts_with("deltaic::")
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let level = match record.level() {
            Level::Error => 40,
            Level::Warn => 30,
            Level::Info => 20,
            Level::Debug | Level::Trace => 10,
        };
        let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let event = (record.target().replace("::", "."), level, created, record.args().to_string());
        if queue().send.try_send(event).is_err() {
            queue().dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn flush(&self) {}
}

/// Forwards events from now on. Before the first [`listen`] none is made.
pub(crate) fn install() {
    // another logger in this process was first only where the extension is loaded twice
    let _ = log::set_logger(&Forward);
}

/// Takes the level of the logger `deltaic` for the events to come.
pub(crate) fn listen(py: Python<'_>) {
    static LOGGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let level = LOGGER
        .get_or_try_init(py, || {
            py.import("logging")?.call_method1("getLogger", ("deltaic",)).map(Bound::unbind)
        })
        .and_then(|logger| logger.bind(py).call_method0("getEffectiveLevel")?.extract::<u32>());
    log::set_max_level(match level {
        Ok(0..=10) => LevelFilter::Debug,
        Ok(11..=20) => LevelFilter::Info,
        Ok(21..=30) => LevelFilter::Warn,
        Ok(31..=40) => LevelFilter::Error,
        _ => LevelFilter::Off,
    });
}

/// Hands the events that wait over to `deltaic.logs`.
pub(crate) fn hand_over(py: Python<'_>) {
    let Some(queue) = QUEUE.get() else { return };
    let events: Vec<Event> =
        queue.receive.lock().unwrap_or_else(PoisonError::into_inner).try_iter().collect();
    let dropped = queue.dropped.swap(0, Ordering::Relaxed);
    if events.is_empty() && dropped == 0 {
        return;
    }
    let handed = py.import("deltaic.logs").and_then(|logs| logs.call_method1("emit", (events, dropped)));
    if let Err(error) = handed {
        error.write_unraisable(py, None);
    }
}
