use std::time::{Duration, Instant};

use uuid::Uuid;

/// Pauses between attempts: exponential with full jitter, until a deadline. Writers that lost the same race spread out
/// instead of meeting again.
#[derive(Debug, Clone)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    shrinks: bool,
    attempt: u32,
    deadline: Instant,
}

impl Backoff {
    /// Pauses of up to `base`, doubled by each attempt up to `cap`, as long as `budget` lasts.
    pub fn new(base: Duration, cap: Duration, budget: Duration) -> Self {
        Backoff { base, cap, shrinks: false, attempt: 0, deadline: Instant::now() + budget }
    }

    /// Pauses after lost races: up to 5 ms, doubled by each race, up to a second shared among the races lost so far. Who
    /// has lost many waits no longer than who has just come, and so is not always behind those.
    pub fn after_lost_races(budget: Duration) -> Self {
        let (base, cap) = (Duration::from_millis(5), Duration::from_secs(1));
        Backoff { shrinks: true, ..Backoff::new(base, cap, budget) }
    }

    /// Pauses before a request is repeated that had no clear answer.
    pub(super) fn after_unclear_answers() -> Self {
        Backoff::new(Duration::from_millis(20), Duration::from_secs(1), Duration::from_secs(60))
    }

    /// Waits; false, at once, when the deadline has passed.
    pub fn pause(&mut self) -> bool {
        if Instant::now() >= self.deadline {
            return false;
        }
        let ceiling = self.ceiling();
        self.attempt = self.attempt.saturating_add(1);
        std::thread::sleep(ceiling.mul_f64(unit_random()));
        true
    }

    fn ceiling(&self) -> Duration {
        let cap = if self.shrinks { self.cap / self.attempt.saturating_add(1) } else { self.cap };
        self.base.saturating_mul(1 << self.attempt.min(16)).min(cap)
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
        assert_eq!(some.attempt, 2);
    }

    #[test]
    fn pauses_grow_up_to_a_bound() {
        let budget = Duration::from_secs(1);
        let ceilings = |mut backoff: Backoff| {
            let of_attempt = |attempt| {
                backoff.attempt = attempt;
                backoff.ceiling().as_millis()
            };
            [0, 1, 5, 6, 9, 99, u32::MAX].map(of_attempt)
        };
        let (base, cap) = (Duration::from_millis(20), Duration::from_secs(1));
        assert_eq!(ceilings(Backoff::new(base, cap, budget)), [20, 40, 640, 1000, 1000, 1000, 1000]);
        assert_eq!(ceilings(Backoff::after_lost_races(budget)), [5, 10, 160, 142, 100, 10, 0]);
    }

    #[test]
    fn jitter_stays_below_one() {
        assert!((0..1000).map(|_| unit_random()).all(|u| (0.0..1.0).contains(&u)));
    }
}
