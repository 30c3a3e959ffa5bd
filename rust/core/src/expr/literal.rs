//! Constants with Spark's types.

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, NullArray, StringArray, TimestampMicrosecondArray,
};
use sqlparser::ast as sql;
use std::sync::Arc;

use super::ast::{Interval, Literal};
use super::time_text::{parse_date, parse_timestamp};
use crate::schema::DataType;

type Parsed<T = Literal> = Result<T, String>;

/// The text of a string constant, with Spark's escapes.
pub(super) fn text(value: &sql::Value) -> Parsed<String> {
    match value {
        sql::Value::SingleQuotedString(raw) => unescape(&raw.replace("''", "'")),
        sql::Value::DoubleQuotedString(raw) => unescape(&raw.replace("\"\"", "\"")),
        sql::Value::SingleQuotedRawStringLiteral(raw) | sql::Value::DoubleQuotedRawStringLiteral(raw) => {
            Ok(raw.clone())
        }
        other => Err(format!("`{other}` is not a text")),
    }
}

pub(super) fn of_value(value: &sql::Value) -> Parsed {
    Ok(match value {
        sql::Value::Null => Literal::Null,
        sql::Value::Boolean(truth) => Literal::Boolean(*truth),
        sql::Value::Number(digits, long) => number(digits, *long)?,
        sql::Value::HexStringLiteral(digits) => Literal::Binary(hex(digits)?),
        other => Literal::String(text(other)?),
    })
}

/// The constant for a minus and this number, where it is one without a suffix.
pub(super) fn negative(value: &sql::Value) -> Parsed<Option<Literal>> {
    match value {
        sql::Value::Number(digits, long) => number(&format!("-{digits}"), *long).map(Some),
        _ => Ok(None),
    }
}

fn number(digits: &str, long: bool) -> Parsed {
    let bad = || format!("the number `{digits}` does not fit its type");
    if long {
        return digits.parse().map(Literal::Long).map_err(|_| bad());
    }
    if digits.contains(['e', 'E']) {
        return digits.parse().ok().filter(|v: &f64| v.is_finite()).map(Literal::Double).ok_or_else(bad);
    }
    if digits.contains('.') {
        return decimal(digits);
    }
    if let Ok(value) = digits.parse() {
        return Ok(Literal::Integer(value));
    }
    if let Ok(value) = digits.parse() {
        return Ok(Literal::Long(value));
    }
    decimal(digits)
}

/// A number with a letter after it that names the type.
pub(super) fn suffixed(number: &str) -> Parsed {
    let upper = number.to_ascii_uppercase();
    let bad = || format!("the number `{number}` does not fit its type");
    let split = |suffix: &str| upper.strip_suffix(suffix);
    if let Some(digits) = split("BD") {
        if digits.contains('E') {
            return Err(format!("`{number}` is not supported; write it without an exponent"));
        }
        return decimal(digits);
    }
    let parsed = if let Some(digits) = split("D") {
        digits.parse().ok().filter(|v: &f64| v.is_finite()).map(Literal::Double)
    } else if let Some(digits) = split("F") {
        digits.parse().ok().filter(|v: &f32| v.is_finite()).map(Literal::Float)
    } else if let Some(digits) = split("S") {
        digits.parse().ok().map(Literal::Short)
    } else if let Some(digits) = split("Y") {
        digits.parse().ok().map(Literal::Byte)
    } else {
        split("L").and_then(|digits| digits.parse().ok()).map(Literal::Long)
    };
    parsed.ok_or_else(bad)
}

/// Precision and scale as Spark counts them: `0.01` is `decimal(2,2)`.
fn decimal(digits: &str) -> Parsed {
    let bad = || format!("the number `{digits}` has more than 38 digits");
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let scale = i8::try_from(fraction.len()).map_err(|_| bad())?;
    let unscaled: i128 = format!("{whole}{fraction}").parse().map_err(|_| bad())?;
    let own = unscaled.unsigned_abs().to_string().len();
    let precision = u8::try_from(own.max(fraction.len())).ok().filter(|p| *p <= 38).ok_or_else(bad)?;
    Ok(Literal::Decimal(unscaled, precision, scale))
}

fn hex(digits: &str) -> Parsed<Vec<u8>> {
    let bad = || format!("`{digits}` are not hexadecimal digits");
    let padded = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.to_owned() };
    let nibble = |b: u8| (b as char).to_digit(16).map(|v| v as u8);
    let byte = |pair: &[u8]| Some((nibble(pair[0])? << 4) | nibble(pair[1])?);
    padded.as_bytes().chunks(2).map(byte).collect::<Option<_>>().ok_or_else(bad)
}

/// `DATE '…'` and the like.
pub(super) fn typed(name: &str, text: &str) -> Parsed {
    let bad = || format!("`{text}` is not a {name}");
    Ok(match name.to_ascii_uppercase().as_str() {
        "DATE" => Literal::Date(parse_date(text).ok_or_else(bad)?),
        // without a zone in it Spark takes the session's, which is UTC here
        "TIMESTAMP" | "TIMESTAMP_LTZ" => {
            let written = parse_timestamp(text)?.ok_or_else(bad)?;
            match written.local() {
                Some(wall) => Literal::SessionTimestamp(wall),
                None => Literal::Timestamp(written.instant()),
            }
        }
        "TIMESTAMP_NTZ" => {
            let parsed = parse_timestamp(text)?.ok_or_else(bad)?;
            Literal::TimestampNtz(parsed.local().ok_or_else(bad)?)
        }
        _ => return Err(format!("a literal of type `{name}` is not supported")),
    })
}

/// `INTERVAL n unit`.
pub(super) fn interval(interval: &sql::Interval) -> Parsed {
    let bad = || format!("`{interval}` is not supported");
    let raw = match interval.value.as_ref() {
        sql::Expr::Value(value) => match &value.value {
            sql::Value::Number(digits, _) => digits.clone(),
            other => text(other)?,
        },
        sql::Expr::UnaryOp { op: sql::UnaryOperator::Minus, expr } => match expr.as_ref() {
            sql::Expr::Value(sql::ValueWithSpan { value: sql::Value::Number(digits, _), .. }) => {
                format!("-{digits}")
            }
            _ => return Err(bad()),
        },
        _ => return Err(bad()),
    };
    let (count, unit) = match (&interval.leading_field, &interval.last_field) {
        (Some(unit), None) => (raw.trim().to_owned(), unit.to_string()),
        (None, None) => {
            let (count, unit) = raw.trim().split_once(' ').ok_or_else(bad)?;
            (count.to_owned(), unit.trim().to_owned())
        }
        _ => return Err(bad()),
    };
    let count: i64 = count.parse().map_err(|_| bad())?;
    let unit = unit.to_ascii_lowercase();
    let unit = unit.strip_suffix('s').unwrap_or(&unit);
    let months = |by: i32| i32::try_from(count).ok().and_then(|n| n.checked_mul(by)).map(Interval::Months);
    let days = |by: i32| i32::try_from(count).ok().and_then(|n| n.checked_mul(by)).map(Interval::Days);
    let micros = |by: i64| count.checked_mul(by).map(Interval::Micros);
    let span = match unit {
        "year" => months(12),
        "month" => months(1),
        "week" => days(7),
        "day" => days(1),
        "hour" => micros(3_600_000_000),
        "minute" => micros(60_000_000),
        "second" => micros(1_000_000),
        "millisecond" => micros(1_000),
        "microsecond" => micros(1),
        _ => None,
    };
    span.map(Literal::Interval).ok_or_else(bad)
}

/// Spark's escapes. A backslash before `%` and `_` stays for `LIKE`.
fn unescape(raw: &str) -> Parsed<String> {
    let bad = || format!("the text '{raw}' ends within an escape");
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let first = escape.chars().next().ok_or_else(bad)?;
        let code = |digits: usize, radix: u32| -> Option<char> {
            char::from_u32(u32::from_str_radix(escape.get(1..=digits)?, radix).ok()?)
        };
        let octal =
            escape.get(..3).filter(|o| o.starts_with(['0', '1'])).and_then(|o| u8::from_str_radix(o, 8).ok());
        let (c, length) = match first {
            _ if octal.is_some() => (char::from(octal.unwrap_or_default()), 3),
            'u' if code(4, 16).is_some() => (code(4, 16).unwrap_or_default(), 5),
            'U' if code(8, 16).is_some() => (code(8, 16).unwrap_or_default(), 9),
            '0' => ('\0', 1),
            'b' => ('\u{8}', 1),
            'n' => ('\n', 1),
            'r' => ('\r', 1),
            't' => ('\t', 1),
            'Z' => ('\u{1a}', 1),
            '%' | '_' => {
                out.push('\\');
                (first, 1)
            }
            other => (other, other.len_utf8()),
        };
        out.push(c);
        rest = &escape[length..];
    }
    out.push_str(rest);
    Ok(out)
}

impl Literal {
    /// Its type; none for an interval, which is only allowed beside a date or timestamp.
    pub(super) fn data_type(&self) -> Option<DataType> {
        Some(match self {
            Literal::Null => DataType::Void,
            Literal::Boolean(_) => DataType::Boolean,
            Literal::Byte(_) => DataType::Byte,
            Literal::Short(_) => DataType::Short,
            Literal::Integer(_) => DataType::Integer,
            Literal::Long(_) => DataType::Long,
            Literal::Float(_) => DataType::Float,
            Literal::Double(_) => DataType::Double,
            Literal::Decimal(_, precision, scale) => DataType::Decimal(*precision, *scale),
            Literal::String(_) => DataType::String,
            Literal::Binary(_) => DataType::Binary,
            Literal::Date(_) => DataType::Date,
            Literal::Timestamp(_) | Literal::SessionTimestamp(_) => DataType::Timestamp,
            Literal::TimestampNtz(_) => DataType::TimestampNtz,
            Literal::Interval(_) => return None,
        })
    }

    /// As an array of one row.
    pub(super) fn array(&self) -> Result<ArrayRef, String> {
        Ok(match self {
            Literal::Null => Arc::new(NullArray::new(1)),
            Literal::Boolean(v) => Arc::new(BooleanArray::from(vec![*v])),
            Literal::Byte(v) => Arc::new(Int8Array::from(vec![*v])),
            Literal::Short(v) => Arc::new(Int16Array::from(vec![*v])),
            Literal::Integer(v) => Arc::new(Int32Array::from(vec![*v])),
            Literal::Long(v) => Arc::new(Int64Array::from(vec![*v])),
            Literal::Float(v) => Arc::new(Float32Array::from(vec![*v])),
            Literal::Double(v) => Arc::new(Float64Array::from(vec![*v])),
            Literal::Decimal(v, precision, scale) => Arc::new(
                Decimal128Array::from(vec![*v])
                    .with_precision_and_scale(*precision, *scale)
                    .map_err(|e| e.to_string())?,
            ),
            Literal::String(v) => Arc::new(StringArray::from(vec![v.as_str()])),
            Literal::Binary(v) => Arc::new(BinaryArray::from(vec![v.as_slice()])),
            Literal::Date(v) => Arc::new(Date32Array::from(vec![*v])),
            Literal::Timestamp(v) | Literal::SessionTimestamp(v) => {
                Arc::new(TimestampMicrosecondArray::from(vec![*v]).with_timezone("UTC"))
            }
            Literal::TimestampNtz(v) => Arc::new(TimestampMicrosecondArray::from(vec![*v])),
            Literal::Interval(_) => return Err("an interval is not a value of a column".into()),
        })
    }
}
