use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A clock that stands still until it is moved. Clones share the time.
#[derive(Debug, Clone)]
pub struct Clock(Arc<AtomicI64>);

impl Clock {
    /// A clock at this time, in milliseconds since the Unix epoch.
    pub fn at(millis: i64) -> Self {
        Clock(Arc::new(AtomicI64::new(millis)))
    }

    /// The time, in milliseconds since the Unix epoch.
    pub fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Sets the time; it may go back, as real clocks do.
    pub fn set(&self, millis: i64) {
        self.0.store(millis, Ordering::SeqCst);
    }

    /// Moves the time by `millis` and gives the new one.
    pub fn advance(&self, millis: i64) -> i64 {
        self.0.fetch_add(millis, Ordering::SeqCst) + millis
    }
}

impl Default for Clock {
    /// 2026-01-01 00:00:00 UTC.
    fn default() -> Self {
        Clock::at(1_767_225_600_000)
    }
}
