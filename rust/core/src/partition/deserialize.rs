//! Partition values: from the text of the log to typed Arrow values (PROTOCOL.md, "Partition Value Serialization").

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, NullArray, StringArray, TimestampMicrosecondArray,
    UInt32Array, new_null_array,
};
use arrow::compute::take;
use arrow::datatypes::Decimal128Type;
use arrow::datatypes::DecimalType;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};

use crate::error::{Error, Result};
use crate::schema::{DataType, arrow_type};

/// A serialized partition value as an array of one row. Null and the empty string are null, whatever the type. A
/// timestamp without a zone is taken to be in UTC.
///
/// # Errors
/// [`Error::InvalidSchema`] when the text is no value of the type; the error names `column`, text and type.
pub fn parse(column: &str, text: Option<&str>, data_type: &DataType) -> Result<ArrayRef> {
    let Some(text) = text.filter(|t| !t.is_empty()) else {
        return Ok(new_null_array(&arrow_type(data_type), 1));
    };
    typed(text, data_type).ok_or_else(|| Error::InvalidSchema {
        reason: format!("partition column `{column}`: {text:?} is not of type {}", data_type.name()),
    })
}

/// `value`, an array of one row, repeated.
pub(crate) fn repeat(value: &ArrayRef, rows: usize) -> Result<ArrayRef> {
    if value.is_null(0) || matches!(value.data_type(), arrow::datatypes::DataType::Null) {
        return Ok(new_null_array(value.data_type(), rows));
    }
    take(value, &UInt32Array::from(vec![0; rows]), None)
        .map_err(|e| Error::arrow("repeating a partition value", e))
}

fn typed(text: &str, data_type: &DataType) -> Option<ArrayRef> {
    Some(match data_type {
        DataType::String => Arc::new(StringArray::from(vec![text])),
        DataType::Binary => Arc::new(BinaryArray::from_vec(vec![text.as_bytes()])),
        DataType::Boolean => Arc::new(BooleanArray::from(vec![boolean(text)?])),
        DataType::Byte => Arc::new(Int8Array::from(vec![text.parse::<i8>().ok()?])),
        DataType::Short => Arc::new(Int16Array::from(vec![text.parse::<i16>().ok()?])),
        DataType::Integer => Arc::new(Int32Array::from(vec![text.parse::<i32>().ok()?])),
        DataType::Long => Arc::new(Int64Array::from(vec![text.parse::<i64>().ok()?])),
        // Rust reads the forms of Java too: `1.0E10`, `NaN`, `-Infinity`
        DataType::Float => Arc::new(Float32Array::from(vec![text.parse::<f32>().ok()?])),
        DataType::Double => Arc::new(Float64Array::from(vec![text.parse::<f64>().ok()?])),
        DataType::Decimal(precision, scale) => {
            let array = Decimal128Array::from(vec![decimal(text, *precision, *scale)?]);
            Arc::new(array.with_precision_and_scale(*precision, *scale).ok()?)
        }
        DataType::Date => Arc::new(Date32Array::from(vec![days(date(text)?)?])),
        DataType::Timestamp => {
            Arc::new(TimestampMicrosecondArray::from(vec![instant(text)?]).with_timezone("UTC"))
        }
        DataType::TimestampNtz => {
            Arc::new(TimestampMicrosecondArray::from(vec![wall_clock(text)?.and_utc().timestamp_micros()]))
        }
        DataType::Void => Arc::new(NullArray::new(1)),
        // never partition columns
        DataType::Variant
        | DataType::Struct(_)
        | DataType::Array(_)
        | DataType::Map(_)
        | DataType::UserDefined(_) => return None,
    })
}

fn boolean(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// The unscaled value, exactly: `12.5`, `-3`, `0E-18`, `1.2E+3`. Digits that the scale cannot hold must be zero.
fn decimal(text: &str, precision: u8, scale: i8) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.as_bytes().first()? {
        b'-' => (true, &mantissa[1..]),
        b'+' => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut unscaled: i128 = 0;
    for byte in whole.bytes().chain(fraction.bytes()) {
        if !byte.is_ascii_digit() {
            return None;
        }
        unscaled = unscaled.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
    }
    let shift = i32::from(scale).checked_add(exponent)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    if unscaled != 0 && shift >= 0 {
        unscaled = unscaled.checked_mul(10_i128.checked_pow(shift.unsigned_abs())?)?;
    } else if unscaled != 0 {
        let divisor = 10_i128.checked_pow(shift.unsigned_abs())?;
        if unscaled % divisor != 0 {
            return None;
        }
        unscaled /= divisor;
    }
    let value = if negative { -unscaled } else { unscaled };
    Decimal128Type::is_valid_decimal_precision(value, precision).then_some(value)
}

/// `{year}-{month}-{day}`; years beyond four digits may have a sign, as Java prints them.
fn date(text: &str) -> Option<NaiveDate> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let mut parts = digits.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let year = sign * i32::try_from(number(year, 7)?).ok()?;
    NaiveDate::from_ymd_opt(year, number(month, 2)?, number(day, 2)?)
}

/// Digits only: `parse` would also take a sign.
fn number(text: &str, most: usize) -> Option<u32> {
    let valid = !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    if valid { text.parse().ok() } else { None }
}

fn days(date: NaiveDate) -> Option<i32> {
    i32::try_from(date.signed_duration_since(DateTime::UNIX_EPOCH.date_naive()).num_days()).ok()
}

/// Date and time without a zone; a date alone is midnight.
fn wall_clock(text: &str) -> Option<NaiveDateTime> {
    let Some((day, time)) = text.split_once([' ', 'T']) else {
        return Some(date(text)?.and_time(NaiveTime::MIN));
    };
    Some(date(day)?.and_time(clock(time)?))
}

/// `{hour}:{minute}:{second}` with up to nine digits of a fraction, of which microseconds are kept.
fn clock(text: &str) -> Option<NaiveTime> {
    let (time, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = time.split(':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let second = parts.next().map_or(Some(0), |s| number(s, 2))?;
    if parts.next().is_some() {
        return None;
    }
    let value = number(fraction, 9)?;
    let nanos = value * 10_u32.pow(9 - fraction.len() as u32);
    NaiveTime::from_hms_micro_opt(hour, minute, second, nanos / 1000)
}

/// Microseconds since the epoch: `Z` or an offset when there is one, else UTC.
fn instant(text: &str) -> Option<i64> {
    let time = text.find([' ', 'T']).map_or(text.len(), |at| at + 1);
    let (local, offset) = match text[time..].find(['Z', '+', '-']) {
        None => (text, 0),
        Some(at) => (&text[..time + at], offset_seconds(&text[time + at..])?),
    };
    wall_clock(local.trim_end())?.and_utc().timestamp_micros().checked_sub(offset * 1_000_000)
}

/// `Z`, `+02:00`, `+0200`, `+02`.
fn offset_seconds(text: &str) -> Option<i64> {
    let sign = match text.as_bytes().first()? {
        b'Z' if text.len() == 1 => return Some(0),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = text[1..].chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (number(&digits, 2)?, 0),
        4 => (number(digits.get(..2)?, 2)?, number(digits.get(2..)?, 2)?),
        _ => return None,
    };
    (hours <= 18 && minutes < 60).then(|| sign * i64::from(hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::testing::text as text_of;

    fn shown(text: &str, data_type: &DataType) -> String {
        match parse("p", Some(text), data_type) {
            Ok(array) => text_of(&array, 0),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_type_is_read() {
        for (data_type, text, want) in [
            (DataType::String, "a=b/c%20 é", "a=b/c%20 é"),
            (DataType::Binary, "\u{1}\u{2}é", "0102c3a9"),
            (DataType::Boolean, "true", "true"),
            (DataType::Boolean, "False", "false"),
            (DataType::Byte, "-128", "-128"),
            (DataType::Short, "32767", "32767"),
            (DataType::Integer, "-2147483648", "-2147483648"),
            (DataType::Long, "9223372036854775807", "9223372036854775807"),
            (DataType::Float, "1.5", "1.5"),
            (DataType::Double, "NaN", "NaN"),
            (DataType::Double, "-Infinity", "-inf"),
            (DataType::Double, "1.0E10", "10000000000.0"),
            (DataType::Decimal(10, 2), "-12.5", "-12.50"),
            (DataType::Decimal(38, 18), "0E-18", "0.000000000000000000"),
            (DataType::Decimal(10, 0), "1.2E+3", "1200"),
            (DataType::Decimal(3, 1), "1.500", "1.5"),
            (DataType::Date, "1969-12-31", "1969-12-31"),
            (DataType::Date, "0001-01-01", "0001-01-01"),
            (DataType::Timestamp, "1970-01-01 00:00:00", "1970-01-01T00:00:00Z"),
            (DataType::Timestamp, "1970-01-01 00:00:00.123456", "1970-01-01T00:00:00.123456Z"),
            (DataType::Timestamp, "1970-01-01T00:00:00.123456Z", "1970-01-01T00:00:00.123456Z"),
            (DataType::Timestamp, "1969-12-31T23:59:59.5+02:00", "1969-12-31T21:59:59.500Z"),
            (DataType::Timestamp, "2020-02-29", "2020-02-29T00:00:00Z"),
            (DataType::TimestampNtz, "2021-11-18 02:30:00.1", "2021-11-18T02:30:00.100"),
        ] {
            assert_eq!(shown(text, &data_type), want, "{text} as {}", data_type.name());
        }
    }

    #[test]
    fn what_is_no_value_of_the_type_is_refused_by_name() {
        for (data_type, text) in [
            (DataType::Boolean, "maybe"),
            (DataType::Byte, "128"),
            (DataType::Integer, "1.0"),
            (DataType::Integer, "0x1"),
            (DataType::Double, "one"),
            (DataType::Decimal(3, 1), "1.25"),
            (DataType::Decimal(3, 1), "100"),
            (DataType::Decimal(3, 1), "."),
            (DataType::Date, "2021-02-29"),
            (DataType::Date, "2021-02"),
            (DataType::Timestamp, "2021-01-01 25:00:00"),
            (DataType::Timestamp, "2021-01-01 00:00:00 Europe/Berlin"),
            (DataType::TimestampNtz, "2021-01-01T00:00:00Z"),
        ] {
            let want = format!("schema: partition column `p`: {text:?} is not of type {}", data_type.name());
            assert_eq!(shown(text, &data_type), want);
        }
    }

    #[test]
    fn null_and_the_empty_string_are_null_for_every_type() {
        for data_type in
            [DataType::String, DataType::Long, DataType::Binary, DataType::Timestamp, DataType::Decimal(5, 2)]
        {
            for text in [None, Some("")] {
                let array = parse("p", text, &data_type).unwrap();
                assert_eq!((array.len(), array.null_count()), (1, 1));
                assert_eq!(array.data_type(), &arrow_type(&data_type));
                assert_eq!(repeat(&array, 3).unwrap().null_count(), 3);
            }
        }
    }
}
