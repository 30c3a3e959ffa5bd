//! Literals in the type of the column that they meet. A cast is exact, or says where the literal lies among the values
//! of the column; what Spark would decide by its mode or by rounding the column is not guessed.

use super::Literal;
use super::scalar::Scalar;
use super::text::{
    DecimalText, MICROS_PER_DAY, Rescaled, TimestampText, parse_date, parse_decimal, parse_timestamp,
};
use crate::schema::DataType;

/// A literal among the values of a column.
#[derive(Debug)]
pub(crate) enum Cast {
    /// SQL NULL.
    Null,
    /// One of the values.
    Exact(Scalar<'static>),
    /// Strictly between this value and the next.
    Between(Scalar<'static>),
    /// Above every value.
    AboveAll,
    /// Below every value.
    BelowAll,
    /// To be compared with the column cast to double, as Spark does.
    AsDouble(f64),
    /// The two do not compare here.
    Incomparable,
}

/// Casts a literal to the type of a column. Text and wall-clock times without a zone are UTC.
pub(crate) fn cast(literal: &Literal, data_type: &DataType) -> Cast {
    if matches!(literal, Literal::Null) {
        return Cast::Null;
    }
    match data_type {
        DataType::Byte => to_integer(literal, i8::MIN.into(), i8::MAX.into()),
        DataType::Short => to_integer(literal, i16::MIN.into(), i16::MAX.into()),
        DataType::Integer => to_integer(literal, i32::MIN.into(), i32::MAX.into()),
        DataType::Long => to_integer(literal, i64::MIN, i64::MAX),
        DataType::Float => exact(to_float(literal).map(Scalar::Double)),
        DataType::Double => exact(to_double(literal).map(Scalar::Double)),
        DataType::Decimal(precision, scale) => to_decimal(literal, *precision, *scale),
        DataType::Boolean => exact(to_boolean(literal).map(Scalar::Boolean)),
        DataType::String | DataType::Binary => {
            exact(to_bytes(literal, data_type).map(|b| Scalar::Bytes(b.into())))
        }
        DataType::Date => to_date(literal),
        DataType::Timestamp | DataType::TimestampNtz => {
            exact(to_timestamp(literal, data_type).map(Scalar::Integer))
        }
        DataType::Void
        | DataType::Variant
        | DataType::Struct(_)
        | DataType::Array(_)
        | DataType::Map(_)
        | DataType::UserDefined(_) => Cast::Incomparable,
    }
}

fn exact(value: Option<Scalar<'static>>) -> Cast {
    value.map_or(Cast::Incomparable, Cast::Exact)
}

fn to_integer(literal: &Literal, least: i64, most: i64) -> Cast {
    // the first whole number that is not above the literal, and whether it is the literal
    let (floor, is_exact) = match literal {
        Literal::Long(v) => (i128::from(*v), true),
        Literal::Double(v) => {
            const EXACT: f64 = (1u64 << 53) as f64;
            const LONG: f64 = (1u64 << 63) as f64;
            if v.is_nan() || *v > LONG {
                return Cast::AboveAll;
            }
            if *v < -LONG {
                return Cast::BelowAll;
            }
            if v.abs() >= EXACT && most == i64::MAX {
                return Cast::AsDouble(*v);
            }
            (v.floor() as i128, v.floor() == *v)
        }
        Literal::Decimal(text) => match parse_decimal(text).and_then(|d| d.rescale(0)) {
            Some(Rescaled::Exact(v)) => (v, true),
            Some(Rescaled::Above(v)) => (v, false),
            None => return Cast::Incomparable,
        },
        Literal::String(text) => match text.trim().parse::<i64>() {
            Ok(v) => (i128::from(v), true),
            Err(_) => return Cast::Incomparable,
        },
        _ => return Cast::Incomparable,
    };
    if floor > i128::from(most) || (floor == i128::from(most) && !is_exact) {
        return Cast::AboveAll;
    }
    match i64::try_from(floor) {
        Ok(v) if v >= least && is_exact => Cast::Exact(Scalar::Integer(v)),
        Ok(v) if v >= least => Cast::Between(Scalar::Integer(v)),
        _ => Cast::BelowAll,
    }
}

fn to_double(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Double(v) => Some(*v),
        Literal::Long(v) => Some(*v as f64),
        Literal::String(text) => not_finite(text.trim()).or_else(|| finite(text)),
        Literal::Decimal(text) => finite(text),
        _ => None,
    }
}

fn finite(text: &str) -> Option<f64> {
    parse_decimal(text)?;
    text.trim().parse().ok()
}

/// What Spark casts a text to that is no finite number.
pub(crate) fn not_finite(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "nan" => Some(f64::NAN),
        "inf" | "+inf" | "infinity" | "+infinity" => Some(f64::INFINITY),
        "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Spark compares a float with a whole number or text as floats in one mode and as doubles in the other: only literals
/// that are the same in both are taken.
fn to_float(literal: &Literal) -> Option<f64> {
    let value = to_double(literal)?;
    match literal {
        Literal::Long(_) | Literal::String(_) if value.is_finite() && f64::from(value as f32) != value => {
            None
        }
        _ => Some(value),
    }
}

fn to_decimal(literal: &Literal, precision: u8, scale: i8) -> Cast {
    let number = match literal {
        Literal::Long(v) => DecimalText::whole(*v),
        Literal::Decimal(text) => match parse_decimal(text) {
            Some(number) => number,
            None => return Cast::Incomparable,
        },
        Literal::Double(v) => return Cast::AsDouble(*v),
        _ => return Cast::Incomparable,
    };
    let most = 10i128.checked_pow(precision.into()).map_or(i128::MAX, |p| p - 1);
    match number.rescale(scale) {
        None if number.is_negative() => Cast::BelowAll,
        None => Cast::AboveAll,
        Some(Rescaled::Exact(v) | Rescaled::Above(v)) if v > most => Cast::AboveAll,
        Some(Rescaled::Exact(v) | Rescaled::Above(v)) if v < -most => Cast::BelowAll,
        Some(Rescaled::Exact(v)) => Cast::Exact(Scalar::Decimal(v)),
        Some(Rescaled::Above(v)) => Cast::Between(Scalar::Decimal(v)),
    }
}

fn to_boolean(literal: &Literal) -> Option<bool> {
    match literal {
        Literal::Boolean(v) => Some(*v),
        Literal::String(t) if t.eq_ignore_ascii_case("true") => Some(true),
        Literal::String(t) if t.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn to_bytes(literal: &Literal, data_type: &DataType) -> Option<Vec<u8>> {
    match literal {
        Literal::String(text) => Some(text.clone().into_bytes()),
        Literal::Binary(bytes) if *data_type == DataType::Binary || std::str::from_utf8(bytes).is_ok() => {
            Some(bytes.clone())
        }
        _ => None,
    }
}

fn to_date(literal: &Literal) -> Cast {
    match literal {
        Literal::Date(days) => Cast::Exact(Scalar::Integer(i64::from(*days))),
        Literal::String(text) => exact(parse_date(text).map(|d| Scalar::Integer(d.into()))),
        Literal::Timestamp(micros) | Literal::TimestampNtz(micros) => {
            let days = Scalar::Integer(micros.div_euclid(MICROS_PER_DAY));
            if micros.rem_euclid(MICROS_PER_DAY) == 0 { Cast::Exact(days) } else { Cast::Between(days) }
        }
        _ => Cast::Incomparable,
    }
}

fn to_timestamp(literal: &Literal, data_type: &DataType) -> Option<i64> {
    match literal {
        Literal::Timestamp(micros) | Literal::TimestampNtz(micros) => Some(*micros),
        Literal::Date(days) => i64::from(*days).checked_mul(MICROS_PER_DAY),
        Literal::String(text) => match (parse_timestamp(text)?, data_type) {
            // Spark drops the zone when it casts to a wall-clock time
            (TimestampText { micros, offset: Some(offset) }, DataType::TimestampNtz) => {
                micros.checked_add(i64::from(offset) * 1_000_000)
            }
            (TimestampText { micros, .. }, _) => Some(micros),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(literal: Literal, data_type: DataType) -> String {
        format!("{:?}", cast(&literal, &data_type))
    }

    #[test]
    fn numbers_are_placed_among_the_values_of_the_column() {
        use DataType::{Byte, Decimal, Double, Float, Integer, Long};
        let decimal = |t: &str| Literal::Decimal(t.into());
        for (literal, data_type, expected) in [
            (Literal::Long(5), Long, "Exact(Integer(5))"),
            (Literal::Long(300), Byte, "AboveAll"),
            (Literal::Long(-129), Byte, "BelowAll"),
            (Literal::Double(1.5), Integer, "Between(Integer(1))"),
            (Literal::Double(-1.5), Integer, "Between(Integer(-2))"),
            (Literal::Double(127.5), Byte, "AboveAll"),
            (Literal::Double(-128.5), Byte, "BelowAll"),
            (Literal::Double(f64::NAN), Long, "AboveAll"),
            (Literal::Double(f64::NEG_INFINITY), Long, "BelowAll"),
            (Literal::Double(9007199254740992.0), Long, "AsDouble(9007199254740992.0)"),
            (Literal::Double(9007199254740992.0), Integer, "AboveAll"),
            (decimal("2.0"), Integer, "Exact(Integer(2))"),
            (decimal("2.01"), Integer, "Between(Integer(2))"),
            (Literal::Long(5), Decimal(10, 2), "Exact(Decimal(500))"),
            (decimal("1.005"), Decimal(10, 2), "Between(Decimal(100))"),
            (decimal("100"), Decimal(4, 2), "AboveAll"),
            (decimal("-1e70"), Decimal(38, 2), "BelowAll"),
            (Literal::Double(0.1), Decimal(4, 2), "AsDouble(0.1)"),
            (decimal("0.1"), Double, "Exact(Double(0.1))"),
            (Literal::String("NaN".into()), Double, "Exact(Double(NaN))"),
            (Literal::String(" -Infinity ".into()), Float, "Exact(Double(-inf))"),
            (Literal::String("nan".into()), Float, "Exact(Double(NaN))"),
            (Literal::String("not a number".into()), Double, "Incomparable"),
            (Literal::Long(16_777_217), Float, "Incomparable"),
            (Literal::Long(16_777_216), Float, "Exact(Double(16777216.0))"),
            (Literal::String("5".into()), Integer, "Exact(Integer(5))"),
            (Literal::String("5.5".into()), Integer, "Incomparable"),
            (Literal::Boolean(true), Integer, "Incomparable"),
        ] {
            assert_eq!(show(literal, data_type), expected);
        }
    }

    #[test]
    fn text_becomes_dates_and_timestamps() {
        let text = |t: &str| Literal::String(t.into());
        assert_eq!(show(text("1970-01-02"), DataType::Date), "Exact(Integer(1))");
        assert_eq!(show(text("1970-01-02T12:00:00"), DataType::Date), "Exact(Integer(1))");
        assert_eq!(show(Literal::TimestampNtz(MICROS_PER_DAY + 1), DataType::Date), "Between(Integer(1))");
        assert_eq!(show(text("1970-01-01 00:00:01.5"), DataType::Timestamp), "Exact(Integer(1500000))");
        assert_eq!(show(text("1970-01-01T01:00:00+01:00"), DataType::Timestamp), "Exact(Integer(0))");
        assert_eq!(
            show(text("1970-01-01T01:00:00+01:00"), DataType::TimestampNtz),
            "Exact(Integer(3600000000))"
        );
        assert_eq!(show(Literal::Date(1), DataType::Timestamp), "Exact(Integer(86400000000))");
        assert_eq!(show(text("noon"), DataType::Timestamp), "Incomparable");
        assert_eq!(show(Literal::Null, DataType::Date), "Null");
    }
}
