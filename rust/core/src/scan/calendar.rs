//! Dates and timestamps that Spark wrote in the hybrid calendar: Julian before 1582-10-15. Everything else, and every
//! reader of today, has the proleptic Gregorian calendar; the same number is another day there.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{Date32Type, TimestampMicrosecondType};
use arrow::error::ArrowError;
use chrono::{DateTime, NaiveDate};
use parquet::basic::Type as Physical;
use parquet::file::metadata::FileMetaData;

/// 1582-10-15, the first day of the Gregorian calendar.
const SWITCH_DAY: i32 = -141_427;
/// 1900-01-01 in UTC: later instants are the same in both calendars, whatever the time zone.
const SWITCH_MICROS: i64 = -2_208_988_800_000_000;
const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Which values of a file are in the hybrid calendar, as its writer noted in the footer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Calendar {
    /// Dates are.
    pub(crate) dates: bool,
    /// Instants are, and this was the time zone of the writer.
    pub(crate) instants: Option<String>,
}

impl Calendar {
    /// Reads the notes of Spark: its version, and the marks of its legacy mode. No note means today's calendar.
    pub(crate) fn of(file: &FileMetaData) -> Self {
        let note = |key: &str| {
            let found =
                file.key_value_metadata()?.iter().find(|kv| kv.key == format!("org.apache.spark.{key}"));
            found.map(|kv| kv.value.clone().unwrap_or_default())
        };
        let Some(version) = note("version") else { return Calendar::default() };
        // the versions that first wrote today's calendar
        let dates = version.as_str() < "3.0.0" || note("legacyDateTime").is_some();
        let int96 = version.as_str() < "3.1.0" || note("legacyINT96").is_some();
        let has_int96 = file.schema_descr().columns().iter().any(|c| c.physical_type() == Physical::INT96);
        let instants = if has_int96 { int96 } else { dates };
        Calendar { dates, instants: instants.then(|| note("timeZone").unwrap_or_default()) }
    }
}

/// Moves dates to today's calendar: year, month and day stay as they were written.
pub(crate) fn rebase_dates(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let days: &PrimitiveArray<Date32Type> = array.as_primitive();
    let moved: PrimitiveArray<Date32Type> = days.try_unary(|day| {
        rebase_day(day)
            .ok_or_else(|| ArrowError::ComputeError(format!("day {day} is out of the calendar's range")))
    })?;
    Ok(Arc::new(moved))
}

/// Moves microsecond timestamps to today's calendar. In a time zone other than UTC the offsets of old times are not
/// the same in both, so those before 1900 are refused.
pub(crate) fn rebase_instants(array: &ArrayRef, zone: &str) -> Result<ArrayRef, ArrowError> {
    let micros: &PrimitiveArray<TimestampMicrosecondType> = array.as_primitive();
    let utc = matches!(zone, "UTC" | "Etc/UTC" | "GMT" | "Z" | "+00:00");
    let moved: PrimitiveArray<TimestampMicrosecondType> = micros.try_unary(|instant| {
        if instant >= SWITCH_MICROS {
            return Ok(instant);
        }
        if !utc {
            let zone = if zone.is_empty() { "unknown" } else { zone };
            return Err(ArrowError::NotYetImplemented(format!(
                "a timestamp before 1900 in the hybrid calendar of Spark's legacy mode (time zone {zone}) is not supported"
            )));
        }
        let day = i32::try_from(instant.div_euclid(MICROS_PER_DAY)).ok();
        let moved = day.and_then(|day| Some((i64::from(rebase_day(day)?) - i64::from(day)) * MICROS_PER_DAY));
        moved.and_then(|by| instant.checked_add(by)).ok_or_else(|| {
            ArrowError::ComputeError(format!("timestamp {instant} is out of the calendar's range"))
        })
    })?;
    Ok(Arc::new(moved.with_data_type(array.data_type().clone())))
}

/// The day with the same year, month and day in the proleptic Gregorian calendar.
fn rebase_day(day: i32) -> Option<i32> {
    if day >= SWITCH_DAY {
        return Some(day);
    }
    // day number of the Julian calendar to its year, month and day; years begin in March
    let since = i64::from(day) + 2_440_588 + 32_082;
    let year = (4 * since + 3).div_euclid(1461);
    let of_year = since - (1461 * year).div_euclid(4);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5;
    let first = NaiveDate::from_ymd_opt(
        i32::try_from(year - 4800 + month / 10).ok()?,
        u32::try_from(month + 3 - 12 * (month / 10)).ok()?,
        1,
    )?;
    // 29 February of a year that is a leap year in one calendar only becomes 1 March
    let days = first.signed_duration_since(DateTime::UNIX_EPOCH.date_naive()).num_days() + of_month;
    i32::try_from(days).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Date32Array, TimestampMicrosecondArray};
    use arrow::util::display::array_value_to_string;

    #[test]
    fn the_shifts_are_those_of_the_calendars() {
        // first day of each shift, and the shift
        for (day, shift) in [
            (-719_164, 2),
            (-682_945, 1),
            (-646_420, 0),
            (-609_895, -1),
            (-536_845, -2),
            (-500_320, -3),
            (-463_795, -4),
            (-390_745, -5),
            (-354_220, -6),
            (-317_695, -7),
            (-244_645, -8),
            (-208_120, -9),
            (-171_595, -10),
            (-141_427, 0),
        ] {
            assert_eq!(rebase_day(day), Some(day + shift), "day {day}");
        }
        assert_eq!(rebase_day(-141_428), Some(-141_438));
        // 1500-02-29 exists in the Julian calendar only
        assert_eq!(rebase_day(-171_596), rebase_day(-171_595));
    }

    #[test]
    fn dates_keep_year_month_and_day() {
        let written: ArrayRef =
            Arc::new(Date32Array::from(vec![Some(-719_164), None, Some(-141_428), Some(0)]));
        let read = rebase_dates(&written).unwrap();
        let text: Vec<_> = (0..4).map(|i| array_value_to_string(&read, i).unwrap()).collect();
        assert_eq!(text, ["0001-01-01", "", "1582-10-04", "1970-01-01"]);
    }

    #[test]
    fn instants_move_in_utc_and_are_refused_elsewhere() {
        let of = |micros: i64| Arc::new(TimestampMicrosecondArray::from(vec![micros])) as ArrayRef;
        let day = of(-141_428 * MICROS_PER_DAY + 7);
        assert_eq!(&rebase_instants(&day, "UTC").unwrap(), &of(-141_438 * MICROS_PER_DAY + 7));
        let refused = rebase_instants(&day, "America/Los_Angeles").unwrap_err().to_string();
        assert!(refused.contains("(time zone America/Los_Angeles) is not supported"), "{refused}");
        let later = of(SWITCH_MICROS);
        assert_eq!(&rebase_instants(&later, "America/Los_Angeles").unwrap(), &later);
    }
}
