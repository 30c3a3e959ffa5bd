//! Dates and timestamps as text, in the forms that Spark's casts know. Days and microseconds are since the epoch.

use chrono::{DateTime, Datelike, NaiveDate, Timelike};

const MICROS_PER_SECOND: i64 = 1_000_000;
pub(super) const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// The day of a number of days, within the calendar that can be computed with.
pub(super) fn date_of(days: i32) -> Result<NaiveDate, String> {
    chrono::TimeDelta::try_days(i64::from(days))
        .and_then(|delta| DateTime::UNIX_EPOCH.date_naive().checked_add_signed(delta))
        .ok_or_else(|| format!("day {days} is out of the calendar's range"))
}

pub(super) fn days_of(date: NaiveDate) -> i32 {
    // the calendar of chrono has fewer than 2^31 days
    date.signed_duration_since(DateTime::UNIX_EPOCH.date_naive()).num_days() as i32
}

/// The date and the microsecond of the day.
pub(super) fn split_micros(micros: i64) -> (i32, i64) {
    // 64-bit microseconds are fewer than 2^31 days
    (micros.div_euclid(MICROS_PER_DAY) as i32, micros.rem_euclid(MICROS_PER_DAY))
}

pub(super) fn format_date(days: i32) -> Result<String, String> {
    let date = date_of(days)?;
    let year = match date.year() {
        year @ 0..=9999 => format!("{year:04}"),
        year if year > 0 => format!("+{year}"),
        year => format!("-{:04}", year.unsigned_abs()),
    };
    Ok(format!("{year}-{:02}-{:02}", date.month(), date.day()))
}

pub(super) fn format_timestamp(micros: i64) -> Result<String, String> {
    let (days, of_day) = split_micros(micros);
    let (seconds, fraction) = (of_day / MICROS_PER_SECOND, of_day % MICROS_PER_SECOND);
    let mut text =
        format!("{} {:02}:{:02}:{:02}", format_date(days)?, seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction > 0 {
        text.push_str(format!(".{fraction:06}").trim_end_matches('0'));
    }
    Ok(text)
}

/// `[+-]yyyy[-m[m][-d[d]]]`, and anything after a space or `T`.
pub(super) fn parse_date(text: &str) -> Option<i32> {
    let mut rest = text.trim_matches(is_space);
    let date = read_date(&mut rest)?;
    let done = rest.is_empty() || (date.whole && rest.starts_with([' ', 'T']));
    done.then(|| days_of(date.date))
}

/// White space and control characters, which Spark trims before it casts.
pub(super) fn is_space(c: char) -> bool {
    c <= ' ' || c == '\u{7f}'
}

struct ReadDate {
    date: NaiveDate,
    whole: bool,
}

fn read_date(rest: &mut &str) -> Option<ReadDate> {
    let negative = rest.starts_with('-');
    if rest.starts_with(['+', '-']) {
        *rest = &rest[1..];
    }
    let year = read_digits(rest, 4, 7)?;
    let year = i32::try_from(if negative { -year } else { year }).ok()?;
    let part = |rest: &mut &str| -> Option<Option<u32>> {
        let Some(after) = rest.strip_prefix('-') else { return Some(None) };
        *rest = after;
        Some(Some(u32::try_from(read_digits(rest, 1, 2)?).ok()?))
    };
    let month = part(rest)?;
    let day = if month.is_some() { part(rest)? } else { None };
    let date = NaiveDate::from_ymd_opt(year, month.unwrap_or(1), day.unwrap_or(1))?;
    Some(ReadDate { date, whole: day.is_some() })
}

fn read_digits(rest: &mut &str, least: usize, most: usize) -> Option<i64> {
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    if !(least..=most).contains(&length) {
        return None;
    }
    let (digits, after) = rest.split_at(length);
    *rest = after;
    digits.parse().ok()
}

/// A timestamp as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Written {
    /// What the clock on the wall shows.
    pub(super) wall: i64,
    /// Seconds east of UTC, where a zone was written.
    offset: Option<i32>,
}

impl Written {
    /// The instant; UTC is the zone where none was written.
    pub(super) fn instant(self) -> i64 {
        self.wall.saturating_sub(i64::from(self.offset.unwrap_or(0)) * MICROS_PER_SECOND)
    }

    /// The wall clock, unless a zone was written.
    pub(super) fn local(self) -> Option<i64> {
        self.offset.is_none().then_some(self.wall)
    }
}

/// A date as [`parse_date`] reads it, and after a space or `T` `h[h]:m[m][:s[s][.fraction]][zone]`.
///
/// # Errors
/// For a time zone that is a name, and a time without a date: Spark knows them, this parser does not.
pub(super) fn parse_timestamp(text: &str) -> Result<Option<Written>, String> {
    let text = text.trim_matches(is_space);
    let mut rest = text;
    if rest.starts_with('T') || rest.bytes().take_while(u8::is_ascii_digit).count() < 3 && rest.contains(':')
    {
        return Err(format!("the time `{text}` has no date, which is not supported"));
    }
    let Some(date) = read_date(&mut rest) else { return Ok(None) };
    let midnight = i64::from(days_of(date.date)).checked_mul(MICROS_PER_DAY);
    let Some(midnight) = midnight else { return Ok(None) };
    if rest.is_empty() {
        return Ok(Some(Written { wall: midnight, offset: None }));
    }
    let Some(after) = rest.strip_prefix([' ', 'T']).filter(|_| date.whole) else { return Ok(None) };
    rest = after;
    let Some(of_day) = read_time(&mut rest) else { return Ok(None) };
    let offset = match rest.trim_matches(is_space) {
        "" if rest.is_empty() => None,
        zone => match read_zone(zone) {
            Some(offset) => Some(offset),
            None if zone.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                return Err(format!("the time zone `{zone}` is not supported"));
            }
            None => return Ok(None),
        },
    };
    Ok(midnight.checked_add(of_day).map(|wall| Written { wall, offset }))
}

fn read_time(rest: &mut &str) -> Option<i64> {
    let hour = read_digits(rest, 1, 2).filter(|h| *h < 24)?;
    let (mut minute, mut second, mut fraction) = (0, 0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        *rest = after;
        minute = read_digits(rest, 1, 2).filter(|m| *m < 60)?;
        if let Some(after) = rest.strip_prefix(':') {
            *rest = after;
            second = read_digits(rest, 1, 2).filter(|s| *s < 60)?;
            if let Some(after) = rest.strip_prefix('.') {
                let length = after.bytes().take_while(u8::is_ascii_digit).count();
                // digits beyond microseconds are dropped
                let digits = &after[..length.min(6)];
                fraction = format!("{digits:0<6}").parse().ok()?;
                *rest = &after[length..];
            }
        }
    }
    Some(((hour * 60 + minute) * 60 + second) * MICROS_PER_SECOND + fraction)
}

/// `Z`, `UTC`, `GMT`, and offsets `+h[h][:mm[:ss]]`, with one of the names before them or not.
fn read_zone(zone: &str) -> Option<i32> {
    let offset = match zone {
        "Z" | "UTC" | "GMT" | "UT" => return Some(0),
        _ => ["UTC", "GMT", "UT"].iter().find_map(|name| zone.strip_prefix(name)).unwrap_or(zone),
    };
    let sign = match offset.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let mut rest = &offset[1..];
    if rest.len() == 4 && rest.bytes().all(|b| b.is_ascii_digit()) {
        let value: i32 = rest.parse().ok()?;
        return within_a_day(sign, value / 100, value % 100, 0);
    }
    let mut part = |needed: bool, first: bool| -> Option<i32> {
        if !first {
            match rest.strip_prefix(':') {
                Some(after) => rest = after,
                None => return (!needed && rest.is_empty()).then_some(0),
            }
        }
        read_digits(&mut rest, 1, 2).map(|v| v as i32)
    };
    let (hours, minutes, seconds) = (part(true, true)?, part(false, false)?, part(false, false)?);
    rest.is_empty().then(|| within_a_day(sign, hours, minutes, seconds))?
}

fn within_a_day(sign: i32, hours: i32, minutes: i32, seconds: i32) -> Option<i32> {
    let total = hours * 3600 + minutes * 60 + seconds;
    (hours <= 18 && minutes < 60 && seconds < 60 && total <= 18 * 3600).then_some(sign * total)
}

/// Hour, minute, second and microsecond of a microsecond of the day.
pub(super) fn clock(of_day: i64) -> (u32, u32, u32, u32) {
    let seconds = of_day / MICROS_PER_SECOND;
    let time = chrono::NaiveTime::from_num_seconds_from_midnight_opt(seconds as u32, 0).unwrap_or_default();
    (time.hour(), time.minute(), time.second(), (of_day % MICROS_PER_SECOND) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written_as_spark_does() {
        for (text, expected) in [
            ("1970-01-02", Some(1)),
            (" 2026-1-5 ", Some(20_458)),
            ("2026-01", Some(20_454)),
            ("2026", Some(20_454)),
            ("1970-01-02T10:00", Some(1)),
            ("1970-01-02 junk", Some(1)),
            ("1970-01-02x", None),
            ("26-01-01", None),
            ("1970-02-30", None),
            ("1970-001-01", None),
            ("", None),
        ] {
            assert_eq!(parse_date(text), expected, "{text}");
        }
        assert_eq!(format_date(-719_528).unwrap(), "0000-01-01");
        assert_eq!(format_date(2_932_897).unwrap(), "+10000-01-01");
    }

    #[test]
    fn timestamps_are_read_and_written_as_spark_does() {
        let micros = |text: &str| parse_timestamp(text).unwrap().map(Written::instant);
        assert_eq!(micros("1970-01-01 00:00:01.5"), Some(1_500_000));
        assert_eq!(micros("1970-01-01T1:2:3.1234567Z"), Some(3_723_123_456));
        assert_eq!(micros("1970-01-01 01:00:00+01:00"), Some(0));
        assert_eq!(micros("1970-01-01 00:00:00 -0130"), Some(5_400_000_000));
        assert_eq!(micros("1970-01-01 25:00:00"), None);
        assert!(parse_timestamp("1970-01-01 00:00:00 Europe/Berlin").is_err());
        assert!(parse_timestamp("12:00:00").is_err());
        assert_eq!(format_timestamp(-1).unwrap(), "1969-12-31 23:59:59.999999");
        assert_eq!(format_timestamp(1_500_000).unwrap(), "1970-01-01 00:00:01.5");
    }
}
