use std::time::{Duration, Instant};

use uuid::Uuid;

/// Pauses between attempts: exponential with full jitter, until a deadline. Writers that lost the same race spread out
/// instead of meeting again.
#[derive(Debug, Clone)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    attempt: u32,
    deadline: Instant,
}

impl Backoff {
    /// Pauses of up to `base`, doubled by each attempt up to `cap`, as long as `budget` lasts.
    pub fn new(base: Duration, cap: Duration, budget: Duration) -> Self {
        Backoff { base, cap, attempt: 0, deadline: Instant::now() + budget }
    }

    /// How many pauses were made.
    pub fn attempts(&self) -> u32 {
        self.attempt
    }

    /// Waits; false, at once, when the deadline has passed.
    pub fn pause(&mut self) -> bool {
        if Instant::now() >= self.deadline {
            return false;
        }
        let ceiling = self.base.saturating_mul(1 << self.attempt.min(16)).min(self.cap);
        self.attempt += 1;
        std::thread::sleep(ceiling.mul_f64(unit_random()));
        true
    }
}

/// A number in [0, 1) from the random bits of a version 4 UUID.
fn unit_random() -> f64 {
    // the low 32 bits of a version 4 UUID are all random
    f64::from(Uuid::new_v4().as_u128() as u32) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_ends_the_pauses() {
        let mut none = Backoff::new(Duration::from_nanos(1), Duration::from_nanos(1), Duration::ZERO);
        assert!(!none.pause());
        let mut some =
            Backoff::new(Duration::from_nanos(1), Duration::from_nanos(1), Duration::from_secs(3600));
        assert!(some.pause() && some.pause());
        assert_eq!(some.attempts(), 2);
    }

    #[test]
    fn jitter_stays_below_one() {
        assert!((0..1000).map(|_| unit_random()).all(|u| (0.0..1.0).contains(&u)));
    }
}
