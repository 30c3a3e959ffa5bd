//! Values from text: dates, timestamps and decimals as Spark casts strings to them. What Spark would read differently
//! in another mode or zone is not guessed: it is `None`, or the caller learns that there was no zone.

use chrono::{NaiveDate, NaiveTime};

pub(crate) const MICROS_PER_DAY: i64 = 86_400_000_000;

/// A parsed timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimestampText {
    /// Microseconds since the epoch: of the instant where there is a zone, else of the wall clock read as UTC.
    pub(crate) micros: i64,
    /// Offset from UTC in seconds, if the text has a zone.
    pub(crate) offset: Option<i32>,
}

/// Days since the epoch of `yyyy`, `yyyy-[m]m` or `yyyy-[m]m-[d]d`, the last also with a time after it, which is cut.
pub(crate) fn parse_date(text: &str) -> Option<i32> {
    let text = text.trim();
    let date = text.split([' ', 'T']).next()?;
    // a time may only follow a whole date
    if date.len() < text.len() && date.matches('-').count() != 2 {
        return None;
    }
    date_days(date)
}

/// `date`, `date time` or `dateTtime`, with a zone after the time or not. Digits below a microsecond are cut.
pub(crate) fn parse_timestamp(text: &str) -> Option<TimestampText> {
    let text = text.trim();
    let (date, time) = match text.find([' ', 'T']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let midnight = i64::from(date_days(date)?).checked_mul(MICROS_PER_DAY)?;
    let Some(time) = time else { return Some(TimestampText { micros: midnight, offset: None }) };
    if date.matches('-').count() != 2 {
        return None;
    }
    let end = time.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(time.len());
    let micros = midnight.checked_add(time_micros(&time[..end])?)?;
    let zone = time[end..].trim();
    if zone.is_empty() {
        return Some(TimestampText { micros, offset: None });
    }
    let offset = zone_seconds(zone)?;
    Some(TimestampText { micros: micros.checked_sub(i64::from(offset) * 1_000_000)?, offset: Some(offset) })
}

fn date_days(date: &str) -> Option<i32> {
    let mut parts = date.split('-');
    let year = digits(parts.next()?, 4, 6)?;
    let month = parts.next().map_or(Some(1), |p| digits(p, 1, 2))?;
    let day = parts.next().map_or(Some(1), |p| digits(p, 1, 2))?;
    if parts.next().is_some() {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    i32::try_from(date.signed_duration_since(NaiveDate::default()).num_days()).ok()
}

/// `[h]h:[m]m[:[s]s[.fraction]]`.
fn time_micros(time: &str) -> Option<i64> {
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let mut parts = clock.split(':');
    let hour = digits(parts.next()?, 1, 2)?;
    let minute = digits(parts.next()?, 1, 2)?;
    let second = parts.next().map(|p| digits(p, 1, 2));
    if parts.next().is_some() || (second.is_none() && time.contains('.')) {
        return None;
    }
    let second = second.unwrap_or(Some(0))?;
    NaiveTime::from_hms_opt(hour, minute, second)?;
    let mut micros = 0;
    for i in 0..6 {
        micros = micros * 10 + fraction.as_bytes().get(i).map_or(0, |b| i64::from(b.wrapping_sub(b'0')));
    }
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some((i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second)) * 1_000_000 + micros)
}

/// `Z`, `UTC`, `GMT`, `±h[h][:mm[:ss]]`, and the latter after `UTC` or `GMT`. Named regions are not read.
fn zone_seconds(zone: &str) -> Option<i32> {
    let zone = zone.strip_prefix("UTC").or_else(|| zone.strip_prefix("GMT")).unwrap_or(zone);
    if zone.is_empty() || zone == "Z" {
        return Some(0);
    }
    let (sign, clock) = match (zone.strip_prefix('+'), zone.strip_prefix('-')) {
        (Some(rest), _) => (1, rest),
        (_, Some(rest)) => (-1, rest),
        _ => return None,
    };
    let mut seconds = 0;
    let mut parts = clock.split(':');
    for (unit, limit) in [(3600, 18), (60, 59), (1, 59)] {
        let Some(part) = parts.next() else { break };
        let value = digits(part, if unit == 3600 { 1 } else { 2 }, 2).filter(|v| *v <= limit)?;
        seconds += value as i32 * unit;
    }
    parts.next().is_none().then_some(sign * seconds)
}

fn digits(text: &str, least: usize, most: usize) -> Option<u32> {
    let fits = (least..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

/// A decimal number: `unscaled * 10^-scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DecimalText {
    unscaled: i128,
    scale: i32,
}

/// Where a number lies among the values of a scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rescaled {
    /// It is one of them.
    Exact(i128),
    /// Strictly between this one and the next.
    Above(i128),
}

/// `[±]digits[.digits][e[±]digits]`; `None` for anything else and for numbers of more than 38 digits.
pub(crate) fn parse_decimal(text: &str) -> Option<DecimalText> {
    let text = text.trim();
    let (number, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // trailing zeros of the fraction add nothing and could overflow
    let fraction = fraction.trim_end_matches('0');
    let mut unscaled = 0i128;
    for b in whole.bytes().chain(fraction.bytes()) {
        if !b.is_ascii_digit() {
            return None;
        }
        unscaled = unscaled.checked_mul(10)?.checked_add(i128::from(b - b'0'))?;
    }
    let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    Some(DecimalText { unscaled: if negative { -unscaled } else { unscaled }, scale })
}

impl DecimalText {
    /// A whole number.
    pub(crate) fn whole(value: i64) -> Self {
        DecimalText { unscaled: i128::from(value), scale: 0 }
    }

    /// Whether it is below zero.
    pub(crate) fn is_negative(self) -> bool {
        self.unscaled < 0
    }

    /// The number at another scale, or `None` where it does not fit in 128 bits.
    pub(crate) fn rescale(self, scale: i8) -> Option<Rescaled> {
        if self.unscaled == 0 {
            return Some(Rescaled::Exact(0));
        }
        let shift = i32::from(scale).checked_sub(self.scale)?;
        let power = 10i128.checked_pow(shift.unsigned_abs());
        if shift >= 0 {
            return Some(Rescaled::Exact(self.unscaled.checked_mul(power?)?));
        }
        // more digits than 128 bits hold: smaller than any unit
        let Some(power) = power else {
            return Some(Rescaled::Above(if self.unscaled < 0 { -1 } else { 0 }));
        };
        let floor = self.unscaled.div_euclid(power);
        Some(if self.unscaled.rem_euclid(power) == 0 {
            Rescaled::Exact(floor)
        } else {
            Rescaled::Above(floor)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_parse_as_spark_casts_them() {
        for (text, days) in [
            ("1970-01-01", Some(0)),
            (" 1969-12-31 ", Some(-1)),
            ("1970-1-2", Some(1)),
            ("1970", Some(0)),
            ("1970-02", Some(31)),
            ("1970-01-02 10:00:00", Some(1)),
            ("1970-01-02T10:00:00Z", Some(1)),
            ("1970-02T1", None),
            ("1970-02-30", None),
            ("70-01-01", None),
            ("", None),
        ] {
            assert_eq!(parse_date(text), days, "{text}");
        }
    }

    #[test]
    fn timestamps_parse_as_spark_casts_them() {
        let zoned = |micros, offset| Some(TimestampText { micros, offset: Some(offset) });
        let bare = |micros| Some(TimestampText { micros, offset: None });
        for (text, expected) in [
            ("1970-01-01", bare(0)),
            ("1970-01-01 00:00:01", bare(1_000_000)),
            ("1970-01-01T00:00:00.123456Z", zoned(123_456, 0)),
            ("1970-01-01 00:00:00.1234567", bare(123_456)),
            ("1970-01-01 00:00:00.5", bare(500_000)),
            ("1970-01-01T01:00:00+01:00", zoned(0, 3600)),
            ("1970-01-01T00:00:00.000-07:52", zoned(28_320_000_000, -28_320)),
            ("1970-01-01 00:00:00 UTC", zoned(0, 0)),
            ("1970-01-01 00:00:00 GMT+1", zoned(-3_600_000_000, 3600)),
            ("1969-12-31 23:59:59.999", bare(-1_000)),
            ("1970-01-01 00:00", bare(0)),
            ("1970-01-01 00:00:00 Europe/Berlin", None),
            ("1970-01-01 25:00:00", None),
            ("1970-01-01 00:00:00.1x", None),
            ("yesterday", None),
        ] {
            assert_eq!(parse_timestamp(text), expected, "{text}");
        }
    }

    #[test]
    fn decimals_keep_every_digit() {
        let at = |text: &str, scale| parse_decimal(text).and_then(|d| d.rescale(scale));
        assert_eq!(at("12.50", 2), Some(Rescaled::Exact(1250)));
        assert_eq!(at("-12.505", 2), Some(Rescaled::Above(-1251)));
        assert_eq!(at("12.505", 2), Some(Rescaled::Above(1250)));
        assert_eq!(at("1E+3", 0), Some(Rescaled::Exact(1000)));
        assert_eq!(at("1e-60", 2), Some(Rescaled::Above(0)));
        assert_eq!(at("-1e-60", 2), Some(Rescaled::Above(-1)));
        assert_eq!(at("0E-18", 2), Some(Rescaled::Exact(0)));
        assert_eq!(at("1e60", 2), None);
        for bad in ["", ".", "1.2.3", "12a", "NaN", "1e", "--1"] {
            assert_eq!(parse_decimal(bad), None, "{bad}");
        }
    }
}
