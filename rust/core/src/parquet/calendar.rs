//! The calendar of dates and timestamps in a Parquet file, as its footer notes it.
//!
//! Spark may write by the hybrid calendar: Julian before 1582-10-15. Everything else, and every reader of today, has the
//! proleptic Gregorian calendar; the same number is another day there.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, StructArray, new_null_array};
use arrow::datatypes::{DataType, Date32Type, TimeUnit, TimestampMicrosecondType};
use arrow::error::ArrowError;
use chrono::{DateTime, NaiveDate};
use parquet::basic::Type as Physical;
use parquet::file::metadata::{FileMetaData, KeyValue};

/// 1582-10-15, the first day of the Gregorian calendar.
const SWITCH_DAY: i32 = -141_427;
/// 1900-01-01 in UTC: later instants are the same in both calendars, whatever the time zone.
const SWITCH_MICROS: i64 = -2_208_988_800_000_000;
const MICROS_PER_DAY: i64 = 86_400_000_000;
/// Where Spark notes what it knows of a file.
const NOTES: &str = "org.apache.spark.";
/// The oldest Spark that deltaic runs on. Nothing but the calendar follows from it.
const OLDEST_SPARK: &str = "4.0.0";

/// The note of files that this crate writes, whose calendar is the proleptic Gregorian one, as the protocol has it.
///
/// Spark knows that of files with a version of Spark from 3.1 on and no mark of its legacy mode. Of others a session decides
/// (`spark.sql.parquet.datetimeRebaseModeInRead`): with `LEGACY` it moves days before 1582-10-15 and times before 1900, and with
/// `EXCEPTION`, the default before Spark 4, it refuses them.
pub(crate) fn calendar_note() -> Vec<KeyValue> {
    vec![KeyValue::new(format!("{NOTES}version"), OLDEST_SPARK.to_owned())]
}

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
            let found = file.key_value_metadata()?.iter().find(|kv| kv.key == format!("{NOTES}{key}"));
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

    /// Whether it is the hybrid one.
    pub(crate) fn is_hybrid(&self) -> bool {
        self.dates || self.instants.is_some()
    }

    /// Statistics, moved to today's calendar at any depth of structs; null, which is unknown, where that cannot be done.
    ///
    /// # Errors
    /// Those of arrow for structs that do not fit together.
    pub(crate) fn moved(&self, stats: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        Ok(match (stats.data_type(), &self.instants) {
            (DataType::Date32, _) if self.dates => {
                Arc::new(stats.as_primitive::<Date32Type>().unary_opt::<_, Date32Type>(rebase_day))
            }
            (DataType::Timestamp(TimeUnit::Microsecond, Some(_)), Some(zone)) => {
                let micros = stats.as_primitive::<TimestampMicrosecondType>();
                let move_one = |instant| match instant {
                    late if late >= SWITCH_MICROS => Some(late),
                    early if is_utc(zone) => rebase_micros(early),
                    _ => None,
                };
                let moved = micros.unary_opt::<_, TimestampMicrosecondType>(move_one);
                Arc::new(moved.with_data_type(stats.data_type().clone()))
            }
            (DataType::Timestamp(_, Some(_)), Some(_)) => new_null_array(stats.data_type(), stats.len()),
            (DataType::Struct(fields), _) if !fields.is_empty() => {
                let of = stats.as_struct();
                let columns = of.columns().iter().map(|column| self.moved(column));
                let columns = columns.collect::<Result<_, _>>()?;
                Arc::new(StructArray::try_new(fields.clone(), columns, of.nulls().cloned())?)
            }
            _ => stats.clone(),
        })
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
    let moved: PrimitiveArray<TimestampMicrosecondType> = micros.try_unary(|instant| {
        if instant >= SWITCH_MICROS {
            return Ok(instant);
        }
        if !is_utc(zone) {
            let zone = if zone.is_empty() { "unknown" } else { zone };
            return Err(ArrowError::NotYetImplemented(format!(
                "a timestamp before 1900 in the hybrid calendar of Spark's legacy mode (time zone {zone}) is not supported"
            )));
        }
        rebase_micros(instant).ok_or_else(|| {
            ArrowError::ComputeError(format!("timestamp {instant} is out of the calendar's range"))
        })
    })?;
    Ok(Arc::new(moved.with_data_type(array.data_type().clone())))
}

fn is_utc(zone: &str) -> bool {
    matches!(zone, "UTC" | "Etc/UTC" | "GMT" | "Z" | "+00:00")
}

/// The instant with the same date and time of day in UTC.
fn rebase_micros(instant: i64) -> Option<i64> {
    let day = i32::try_from(instant.div_euclid(MICROS_PER_DAY)).ok()?;
    instant.checked_add((i64::from(rebase_day(day)?) - i64::from(day)) * MICROS_PER_DAY)
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
    use arrow::datatypes::Field;
    use arrow::util::display::array_value_to_string;
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

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
    fn statistics_move_at_any_depth_and_are_unknown_where_they_cannot() {
        let days: ArrayRef = Arc::new(Date32Array::from(vec![Some(-719_164), None, Some(0)]));
        let early = -14_826_000_000_000_000; // in the year 1500
        let micros = |zone: &str| -> ArrayRef {
            let of = TimestampMicrosecondArray::from(vec![Some(early), None, Some(1)]);
            Arc::new(of.with_timezone(zone))
        };
        let clock: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![Some(early), None, Some(1)]));
        let of = |columns: &[(&str, &ArrayRef)]| -> ArrayRef {
            let field = |(name, column): &(&str, &ArrayRef)| {
                (Arc::new(Field::new(*name, column.data_type().clone(), true)), (*column).clone())
            };
            Arc::new(StructArray::from(columns.iter().map(field).collect::<Vec<_>>()))
        };
        let stats = of(&[("d", &days), ("in", &of(&[("at", &micros("UTC")), ("clock", &clock)]))]);
        let hybrid = |zone: &str| Calendar { dates: true, instants: Some(zone.to_owned()) };
        let read = |moved: &ArrayRef, row: usize| array_value_to_string(moved, row).unwrap();
        let moved = hybrid("UTC").moved(&stats).unwrap();
        assert_eq!(moved.data_type(), stats.data_type());
        let shifted = early - 9 * MICROS_PER_DAY;
        let in_utc = moved.as_struct().column(1).as_struct();
        assert_eq!(read(moved.as_struct().column(0), 0), "0001-01-01");
        assert_eq!(in_utc.column(0).as_primitive::<TimestampMicrosecondType>().value(0), shifted);
        assert_eq!(in_utc.column(1), &clock, "times without a zone are not moved");
        assert_eq!(read(moved.as_struct().column(0), 2), "1970-01-01");
        let moved = hybrid("Asia/Tokyo").moved(&stats).unwrap();
        let instants = moved.as_struct().column(1).as_struct().column(0);
        assert!(instants.is_null(0) && instants.is_null(1) && instants.is_valid(2));
        assert_eq!(&Calendar::default().moved(&stats).unwrap(), &stats);
    }

    #[test]
    fn what_this_crate_writes_is_in_todays_calendar() {
        let schema = SchemaDescriptor::new(Arc::new(
            parse_message_type("message m { optional int32 d (DATE); }").unwrap(),
        ));
        let of = |notes| Calendar::of(&FileMetaData::new(2, 0, None, notes, Arc::new(schema.clone()), None));
        assert!(!of(Some(calendar_note())).is_hybrid() && !of(None).is_hybrid());
        let legacy = KeyValue::new(format!("{NOTES}legacyDateTime"), String::new());
        assert!(of(Some([calendar_note(), vec![legacy]].concat())).is_hybrid());
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
