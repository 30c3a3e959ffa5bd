//! The timestamp rule.

use super::side::Side;

/// Zones differ from UTC by less than this, in microseconds; local mean times of the past by almost 16 hours.
const WIDEST_OFFSET: i64 = 16 * 3_600_000_000;
/// What is cut off below a millisecond.
const CUT: i64 = 999;
/// What is cut off an offset below a minute.
const OFFSET_SECONDS: i64 = 60_000_000;
/// 1973-01-01. The last zone whose offset had seconds dropped them in January 1972.
const WHOLE_MINUTES_SINCE: i64 = 94_694_400_000_000;

/// A bound of a statistic, widened to all values that it may denote.
///
/// Statistics are cut down to milliseconds, and writers differ in which way they cut before 1970; a value with digits
/// below a millisecond was not cut. Offsets are printed in hours and minutes, so a printed time before 1973 may be off by
/// the seconds of its offset.
pub(crate) fn widened(micros: i64, side: Side) -> i64 {
    let cut = if micros.rem_euclid(1000) == 0 { CUT } else { 0 };
    let seconds = if micros < WHOLE_MINUTES_SINCE { OFFSET_SECONDS } else { 0 };
    side.outwards(micros, cut + seconds)
}

/// The most that any bound is widened.
pub(crate) fn widened_most(micros: i64, side: Side) -> i64 {
    side.outwards(micros, CUT + OFFSET_SECONDS)
}

/// A wall-clock time that denotes an instant in the zone of an unknown writer.
pub(crate) fn in_any_zone(micros: i64, side: Side) -> i64 {
    side.outwards(micros, WIDEST_OFFSET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_widened_by_what_was_cut() {
        let now = 1_700_000_000_000_000;
        assert_eq!(widened(now, Side::Upper), now + 999);
        assert_eq!(widened(now, Side::Lower), now - 999);
        assert_eq!(widened(now + 1, Side::Upper), now + 1);
        assert_eq!(widened(-1000, Side::Upper), -1 + 60_000_000);
        assert_eq!(widened(-1000, Side::Lower), -1999 - 60_000_000);
        assert_eq!(widened(i64::MAX / 1000 * 1000, Side::Upper), i64::MAX);
    }

    #[test]
    fn bounds_of_many_are_widened_by_the_most_that_one_is() {
        assert_eq!(widened_most(1, Side::Upper), 1 + 999 + 60_000_000);
        assert_eq!(widened_most(1, Side::Lower), 1 - 999 - 60_000_000);
        assert_eq!(in_any_zone(0, Side::Upper), 57_600_000_000);
    }
}
