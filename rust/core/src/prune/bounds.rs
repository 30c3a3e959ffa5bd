//! Minimum and maximum of a column, from statistics, as bounds that hold for every row.

use std::borrow::Cow;

use super::nulls::nulls_and_values;
use super::range::Facts;
use super::side::Side;
use super::timestamps;
use crate::predicate::BoundColumn;
use crate::predicate::scalar::Scalar;
use crate::predicate::text::{Rescaled, parse_date, parse_decimal, parse_timestamp};
use crate::schema::DataType;

/// Text of fewer bytes was not cut: writers cut at 32 characters or more, at worst 3 bytes earlier to keep UTF-8 whole.
const UNCUT_BYTES: usize = 29;

/// Whether statistics of this type carry bounds that can be used.
pub(crate) fn has_bounds(data_type: &DataType) -> bool {
    match data_type {
        DataType::Byte | DataType::Short | DataType::Integer | DataType::Long => true,
        DataType::Float | DataType::Double | DataType::Decimal(..) | DataType::String => true,
        DataType::Date | DataType::Timestamp | DataType::TimestampNtz => true,
        // the protocol does not say how bytes are written
        DataType::Boolean | DataType::Binary | DataType::Void | DataType::Variant => false,
        DataType::Struct(_) | DataType::Array(_) | DataType::Map(_) | DataType::UserDefined(_) => false,
    }
}

/// Whether the null count of this type is that of the rows. Of arrays and maps some writers count those of elements.
pub(crate) fn has_null_count(data_type: &DataType) -> bool {
    has_bounds(data_type) || matches!(data_type, DataType::Boolean | DataType::Binary | DataType::Variant)
}

/// What statistics say of a column.
pub(crate) fn facts<'a>(
    column: &BoundColumn,
    null_count: Option<i64>,
    num_records: Option<i64>,
    lower: Option<Scalar<'a>>,
    upper: Option<Scalar<'a>>,
) -> Facts<'a> {
    let (null, value) = nulls_and_values(null_count, num_records);
    let nan = matches!(column.data_type, DataType::Float | DataType::Double);
    Facts { null, value, nan, lower, upper }.checked()
}

/// A bound from the value of a statistic: it is widened by what the rows may exceed it, and dropped if it is not a bound.
pub(crate) fn bound<'a>(value: Scalar<'a>, column: &BoundColumn, side: Side) -> Option<Scalar<'a>> {
    Some(match (value, &column.data_type) {
        (Scalar::Double(v), _) if v.is_nan() => return None,
        (Scalar::Double(v), _) if column.was_float => {
            // printed as a float, read as a double: the nearest float may be the actual value
            let float = f64::from(v as f32);
            Scalar::Double(if side == Side::Lower { v.min(float) } else { v.max(float) })
        }
        (Scalar::Integer(v), DataType::Timestamp | DataType::TimestampNtz) => {
            Scalar::Integer(timestamps::widened(v, side))
        }
        (Scalar::Decimal(v), _) => Scalar::Decimal(decimal(v, side)?),
        (Scalar::Bytes(text), DataType::String) if side == Side::Upper => Scalar::Bytes(beyond(text)),
        (other, _) => other,
    })
}

/// The same from the smallest or largest value of a statistic over many files. What is added to one file's bound does not
/// grow with the value (a cut value next to an uncut one), so here the most is added that any file may need.
pub(crate) fn bound_of_many<'a>(value: Scalar<'a>, column: &BoundColumn, side: Side) -> Option<Scalar<'a>> {
    Some(match (value, &column.data_type) {
        // NaN, which is no bound, is not seen in the extremes
        (Scalar::Double(_), _) => return None,
        (Scalar::Integer(v), DataType::Timestamp | DataType::TimestampNtz) => {
            Scalar::Integer(timestamps::widened_most(v, side))
        }
        (Scalar::Decimal(v), _) if v.unsigned_abs() > EXACT => Scalar::Decimal(rounded(v, side)?),
        (Scalar::Bytes(text), DataType::String) if side == Side::Upper && text.len() >= UNCUT_BYTES => {
            Scalar::Bytes([&text[..UNCUT_BYTES], b"\xff"].concat().into())
        }
        (other, _) => other,
    })
}

/// Decimals of up to 15 digits survive a way through a double.
const EXACT: u128 = 1_000_000_000_000_000;

/// Some writers print decimals by way of a double. Beyond 15 digits that rounds; then no more than 17 are printed.
fn decimal(unscaled: i128, side: Side) -> Option<i128> {
    const PRINTED: u128 = 100_000_000_000_000_000;
    let mut significant = unscaled.unsigned_abs();
    while significant >= PRINTED && significant.is_multiple_of(10) {
        significant /= 10;
    }
    let is_exact = unscaled.unsigned_abs() <= EXACT || significant >= PRINTED;
    if is_exact { Some(unscaled) } else { rounded(unscaled, side) }
}

fn rounded(unscaled: i128, side: Side) -> Option<i128> {
    let error = (unscaled.abs() >> 51) + 1;
    if side == Side::Lower { unscaled.checked_sub(error) } else { unscaled.checked_add(error) }
}

/// The maximum of a string column may be a prefix of it, with or without a tie-breaker at its end. 0xFF is above every
/// byte of UTF-8, so the prefix followed by it is above everything that starts with the prefix.
fn beyond(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if text.len() < UNCUT_BYTES {
        return text;
    }
    let tie_breaker =
        ["\u{7f}", "\u{fffd}", "\u{ffff}", "\u{10ffff}"].iter().find(|t| text.ends_with(t.as_bytes()));
    let prefix = &text[..text.len() - tie_breaker.map_or(0, |t| t.len())];
    [prefix, b"\xff"].concat().into()
}

/// A bound from a JSON value: a number, or text in quotes.
pub(crate) fn from_json<'a>(raw: &'a str, column: &BoundColumn, side: Side) -> Option<Scalar<'a>> {
    let value = match &column.data_type {
        DataType::Byte | DataType::Short | DataType::Integer | DataType::Long => Scalar::Integer(whole(raw)?),
        DataType::Float => Scalar::Double(f64::from(text(raw)?.parse::<f32>().ok()?)),
        DataType::Double => Scalar::Double(text(raw)?.parse().ok()?),
        DataType::Decimal(_, scale) => {
            Scalar::Decimal(match (parse_decimal(&text(raw)?)?.rescale(*scale)?, side) {
                (Rescaled::Exact(v) | Rescaled::Above(v), Side::Lower)
                | (Rescaled::Exact(v), Side::Upper) => v,
                (Rescaled::Above(v), Side::Upper) => v.checked_add(1)?,
            })
        }
        DataType::String => Scalar::Bytes(match quoted(raw)? {
            Cow::Borrowed(t) => Cow::Borrowed(t.as_bytes()),
            Cow::Owned(t) => Cow::Owned(t.into_bytes()),
        }),
        DataType::Date => Scalar::Integer(parse_date(&quoted(raw)?)?.into()),
        DataType::Timestamp => {
            let parsed = parse_timestamp(&quoted(raw)?)?;
            Scalar::Integer(match parsed.offset {
                Some(_) => parsed.micros,
                None => timestamps::in_any_zone(parsed.micros, side),
            })
        }
        DataType::TimestampNtz => {
            let parsed = parse_timestamp(&quoted(raw)?)?;
            // a zone has no place here; `Z` is what some writers print all the same
            if parsed.offset.is_some_and(|offset| offset != 0) {
                return None;
            }
            Scalar::Integer(parsed.micros)
        }
        _ => return None,
    };
    bound(value, column, side)
}

/// A whole number; `5.0` and `1e3` are.
fn whole(raw: &str) -> Option<i64> {
    raw.parse().ok().or_else(|| match parse_decimal(raw)?.rescale(0)? {
        Rescaled::Exact(v) => i64::try_from(v).ok(),
        Rescaled::Above(_) => None,
    })
}

/// The number, or what the quotes hold: NaN and infinities are text in JSON.
fn text(raw: &str) -> Option<Cow<'_, str>> {
    if raw.starts_with('"') { quoted(raw) } else { Some(Cow::Borrowed(raw)) }
}

fn quoted(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(raw).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_many(value: Scalar<'static>, data_type: DataType, side: Side) -> Scalar<'static> {
        let name = vec!["x".to_owned()];
        let column = BoundColumn {
            logical: name.clone(),
            physical: name,
            data_type,
            partition: false,
            was_float: false,
        };
        match bound_of_many(value, &column, side) {
            Some(Scalar::Decimal(v)) => Scalar::Decimal(v),
            Some(Scalar::Bytes(text)) => Scalar::Bytes(text.into_owned().into()),
            _ => Scalar::Boolean(false),
        }
    }

    #[test]
    fn bounds_of_many_files_are_as_wide_as_one_may_need() {
        let kind = || DataType::Decimal(38, 2);
        let decimal = |value: i128, side| match of_many(Scalar::Decimal(value), kind(), side) {
            Scalar::Decimal(v) => v,
            _ => 0,
        };
        // what a double holds is exact
        assert_eq!(decimal(999_999_999_999_999, Side::Upper), 999_999_999_999_999);
        let long = 12_345_678_901_234_567_890_i128;
        assert!(decimal(long, Side::Upper) > long && decimal(long, Side::Lower) < long);
        assert!(decimal(-long, Side::Upper) > -long && decimal(-long, Side::Lower) < -long);
        let text = |length: usize, side| {
            let value = Scalar::Bytes(vec![b'a'; length].into());
            matches!(of_many(value, DataType::String, side), Scalar::Bytes(text) if text.last() == Some(&255))
        };
        assert!(text(UNCUT_BYTES, Side::Upper) && text(UNCUT_BYTES + 9, Side::Upper));
        assert!(!text(UNCUT_BYTES - 1, Side::Upper) && !text(UNCUT_BYTES, Side::Lower));
    }

    #[test]
    fn a_decimal_of_sixteen_digits_may_be_rounded_by_one() {
        let (exact, inexact) = (EXACT as i128, EXACT as i128 + 1);
        for (side, error) in [(Side::Lower, -1), (Side::Upper, 1)] {
            assert_eq!(decimal(exact, side), Some(exact));
            assert_eq!(decimal(-exact, side), Some(-exact));
            assert_eq!(decimal(inexact, side), Some(inexact + error));
            assert_eq!(decimal(-inexact, side), Some(-inexact + error));
        }
    }
}
