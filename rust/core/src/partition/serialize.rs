//! Partition values as text (PROTOCOL.md, "Partition Value Serialization").

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Timelike};

use crate::error::{Error, Result};
use crate::schema::DataType;

/// A partition value: as the log has it, and as the name of the folder shows it. They differ for instants only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PartitionText {
    /// In `add.partitionValues`: instants in UTC and ISO 8601, as delta-spark 4 writes them.
    pub log: String,
    /// In the folder name, before escapes: what Spark's cast to string gives in UTC.
    pub folder: String,
}

/// The text of one value; `None` for null and for values whose text is empty, which the protocol makes null.
pub(crate) fn partition_text(
    array: &ArrayRef,
    row: usize,
    data_type: &DataType,
    column: &str,
) -> Result<Option<PartitionText>> {
    if array.is_null(row) {
        return Ok(None);
    }
    let refused =
        |what: &str| Error::InvalidSchema { reason: format!("partition column `{column}`: {what}") };
    let text = match data_type {
        DataType::String => array.as_string::<i32>().value(row).to_owned(),
        DataType::Byte => array.as_primitive::<Int8Type>().value(row).to_string(),
        DataType::Short => array.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::Integer => array.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Long => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float => {
            let value = array.as_primitive::<Float32Type>().value(row);
            java_float(f64::from(value), &format!("{:e}", value.abs()))
        }
        DataType::Double => {
            let value = array.as_primitive::<Float64Type>().value(row);
            java_float(value, &format!("{:e}", value.abs()))
        }
        DataType::Decimal(..) => array.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Date => {
            let days = array.as_primitive::<Date32Type>().value(row);
            date_text(days).ok_or_else(|| refused(&format!("day {days} is out of range")))?
        }
        DataType::Timestamp | DataType::TimestampNtz => {
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(row);
            let at = DateTime::from_timestamp_micros(micros)
                .ok_or_else(|| refused(&format!("timestamp {micros} µs is out of range")))?
                .naive_utc();
            let folder = space_timestamp(at);
            let log = if *data_type == DataType::Timestamp { iso_timestamp(at) } else { folder.clone() };
            return Ok(Some(PartitionText { log, folder }));
        }
        DataType::Binary => std::str::from_utf8(array.as_binary::<i32>().value(row))
            .map_err(|_| refused("binary values that are not UTF-8 cannot be partition values"))?
            .to_owned(),
        _ => return Err(refused(&format!("type {} cannot be a partition column", data_type.name()))),
    };
    Ok((!text.is_empty()).then(|| PartitionText { folder: text.clone(), log: text }))
}

/// `yyyy-MM-dd`; years beyond 9999 carry a sign, as in Spark.
pub(crate) fn date_text(days: i32) -> Option<String> {
    let date = NaiveDate::from_epoch_days(days)?;
    Some(format!("{}-{:02}-{:02}", year(date.year()), date.month(), date.day()))
}

fn year(year: i32) -> String {
    match year {
        0..=9999 => format!("{year:04}"),
        10_000.. => format!("+{year}"),
        _ => format!("-{:04}", year.unsigned_abs()),
    }
}

fn clock(at: NaiveDateTime, separator: char) -> String {
    let (date, time) = (at.date(), at.time());
    format!(
        "{}-{:02}-{:02}{separator}{:02}:{:02}:{:02}",
        year(date.year()),
        date.month(),
        date.day(),
        time.hour(),
        time.minute(),
        time.second()
    )
}

/// `2024-01-01T00:00:00.000000Z`.
fn iso_timestamp(at: NaiveDateTime) -> String {
    format!("{}.{:06}Z", clock(at, 'T'), at.and_utc().timestamp_subsec_micros())
}

/// `2024-01-01 00:00:00[.5]`.
fn space_timestamp(at: NaiveDateTime) -> String {
    match at.and_utc().timestamp_subsec_micros() {
        0 => clock(at, ' '),
        micros => format!("{}.{}", clock(at, ' '), format!("{micros:06}").trim_end_matches('0')),
    }
}

/// A timestamp as Spark names folders, in the form of the log. What is no such text stays as it is: the protocol allows
/// both forms.
pub(crate) fn timestamp_from_folder(text: &str) -> String {
    NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f")
        .map_or_else(|_| text.to_owned(), iso_timestamp)
}

/// `Double.toString`: the shortest digits, plain between 1e-3 and 1e7, else with an exponent. `digits` is `{:e}` of the
/// absolute value, in the precision of the type.
fn java_float(value: f64, digits: &str) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let with_zero = |fraction: &str| if fraction.is_empty() { "0".to_owned() } else { fraction.to_owned() };
    if value == 0.0 {
        return format!("{sign}0.0");
    }
    match exponent {
        -3..=-1 => format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize)),
        0..=6 => {
            let whole = exponent as usize + 1;
            let padded = format!("{digits:0<whole$}");
            format!("{sign}{}.{}", &padded[..whole], with_zero(&padded[whole..]))
        }
        _ => format!("{sign}{}.{}E{exponent}", &digits[..1], with_zero(&digits[1..])),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Decimal128Array, Float32Array, Float64Array, StringArray, TimestampMicrosecondArray};

    use super::*;

    fn text(array: impl Array + 'static, data_type: DataType) -> Option<PartitionText> {
        partition_text(&(Arc::new(array) as ArrayRef), 0, &data_type, "p").unwrap()
    }

    #[test]
    fn instants_are_iso_in_the_log_and_plain_in_the_folder() {
        let at = TimestampMicrosecondArray::from(vec![1_704_067_200_500_000]).with_timezone("UTC");
        let at = text(at, DataType::Timestamp).unwrap();
        assert_eq!(
            (at.log.as_str(), at.folder.as_str()),
            ("2024-01-01T00:00:00.500000Z", "2024-01-01 00:00:00.5")
        );
        let ntz = text(TimestampMicrosecondArray::from(vec![-1]), DataType::TimestampNtz).unwrap();
        assert_eq!(ntz.log, "1969-12-31 23:59:59.999999");
        assert_eq!(timestamp_from_folder("2024-01-01 00:00:00.5"), "2024-01-01T00:00:00.500000Z");
    }

    #[test]
    fn floats_are_written_as_java_does() {
        let cases = [
            (1.0, "1.0"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (1e7, "1.0E7"),
            (1_234_567.5, "1234567.5"),
            (-0.0, "-0.0"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
            (1.5e300, "1.5E300"),
            (100.0, "100.0"),
        ];
        for (value, expected) in cases {
            assert_eq!(text(Float64Array::from(vec![value]), DataType::Double).unwrap().log, expected);
        }
        assert_eq!(text(Float32Array::from(vec![0.1]), DataType::Float).unwrap().log, "0.1");
    }

    #[test]
    fn an_empty_text_is_null_and_decimals_keep_their_scale() {
        assert_eq!(text(StringArray::from(vec![""]), DataType::String), None);
        let decimal = Decimal128Array::from(vec![-5]).with_precision_and_scale(10, 3).unwrap();
        assert_eq!(text(decimal, DataType::Decimal(10, 3)).unwrap().log, "-0.005");
    }

    #[test]
    fn far_years_carry_a_sign() {
        assert_eq!(date_text(2_932_897).unwrap(), "+10000-01-01");
        assert_eq!(date_text(-1).unwrap(), "1969-12-31");
    }
}
