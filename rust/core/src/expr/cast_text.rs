//! Casts from and to text: the forms that Spark reads and writes.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};

use super::kernel::{Eval, texts};
use super::time_text::{format_date, format_timestamp, is_space};
use crate::predicate::not_finite;
use crate::schema::DataType;

pub(super) fn to_text(array: &ArrayRef, from: &DataType) -> Eval<ArrayRef> {
    macro_rules! each {
        ($kind:ty, $text:expr) => {{
            let values = array.as_primitive::<$kind>();
            (0..array.len())
                .map(|row| if array.is_null(row) { Ok(None) } else { $text(values.value(row)).map(Some) })
                .collect::<Eval<Vec<_>>>()?
        }};
    }
    texts(match from {
        DataType::Byte => each!(Int8Type, |v: i8| Ok(v.to_string())),
        DataType::Short => each!(Int16Type, |v: i16| Ok(v.to_string())),
        DataType::Integer => each!(Int32Type, |v: i32| Ok(v.to_string())),
        DataType::Long => each!(Int64Type, |v: i64| Ok(v.to_string())),
        DataType::Float => each!(Float32Type, |v| Ok(java_float(v))),
        DataType::Double => each!(Float64Type, |v| Ok(java_double(v))),
        DataType::Decimal(_, scale) => each!(Decimal128Type, |v| decimal_text(v, *scale)),
        DataType::Date => each!(Date32Type, format_date),
        DataType::Timestamp | DataType::TimestampNtz => each!(TimestampMicrosecondType, format_timestamp),
        DataType::Boolean => array.as_boolean().iter().map(|v| v.map(|v| v.to_string())).collect(),
        DataType::Binary => {
            let bytes = array.as_binary::<i32>().iter();
            let text = |b: &[u8]| {
                String::from_utf8(b.to_vec())
                    .map_err(|_| "bytes that are no UTF-8 cannot be cast to string".to_owned())
            };
            bytes.map(|b| b.map(text).transpose()).collect::<Eval<Vec<_>>>()?
        }
        other => return Err(format!("a cast of {} to string is not supported", other.name())),
    })
}

/// By one setting of Spark a decimal below 10^-6 has an exponent, by the other none has.
fn decimal_text(value: i128, scale: i8) -> Eval<String> {
    let digits = value.unsigned_abs().to_string().len() as i32;
    if digits - 1 - i32::from(scale) < -6 {
        return Err(format!("the decimal {} as text is not supported", plain(value, scale)));
    }
    Ok(plain(value, scale))
}

/// As `Double.toString` of Java.
pub(super) fn java_double(value: f64) -> String {
    java(value.is_nan(), value.is_infinite(), value < 0.0, &format!("{value:e}"))
}

/// As `Float.toString` of Java.
pub(super) fn java_float(value: f32) -> String {
    java(value.is_nan(), value.is_infinite(), value < 0.0, &format!("{value:e}"))
}

/// From the shortest digits, `-1.25e-7`: without an exponent from 10^-3 up to 10^7, and always with a fraction.
fn java(nan: bool, infinite: bool, negative: bool, shortest: &str) -> String {
    if nan {
        return "NaN".into();
    }
    if infinite {
        return if negative { "-Infinity".into() } else { "Infinity".into() };
    }
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    if digits == "0" {
        return format!("{sign}0.0");
    }
    let fraction = |text: &str| if text.is_empty() { "0".to_owned() } else { text.to_owned() };
    if (-3..7).contains(&exponent) {
        if exponent < 0 {
            return format!("{sign}0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1));
        }
        let whole = exponent as usize + 1;
        let padded = format!("{digits:0<whole$}");
        return format!("{sign}{}.{}", &padded[..whole], fraction(&padded[whole..]));
    }
    format!("{sign}{}.{}E{exponent}", &digits[..1], fraction(&digits[1..]))
}

pub(super) fn truth(text: &str) -> Eval<bool> {
    match text.trim_matches(is_space).to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "1" => Ok(true),
        "f" | "false" | "n" | "no" | "0" => Ok(false),
        _ => Err(format!("'{text}' cannot be cast to boolean")),
    }
}

/// A whole number: a sign and digits.
pub(super) fn whole(text: &str) -> Option<i64> {
    text.trim_matches(is_space).parse().ok()
}

pub(super) fn double(text: &str) -> Option<f64> {
    let text = text.trim_matches(is_space);
    floating(text, text.parse().ok(), |t| t.parse().ok(), |special| special)
}

pub(super) fn float(text: &str) -> Option<f32> {
    let text = text.trim_matches(is_space);
    floating(text, text.parse().ok(), |t| t.parse().ok(), |special| special as f32)
}

fn floating<T>(
    text: &str,
    parsed: Option<T>,
    parse: impl Fn(&str) -> Option<T>,
    of_special: impl Fn(f64) -> T,
) -> Option<T> {
    if text.ends_with(|c: char| c.is_ascii_digit() || c == '.') {
        return parsed;
    }
    if let Some(special) = not_finite(text) {
        return Some(of_special(special));
    }
    // Java's suffixes
    let lower = text.to_ascii_lowercase();
    let digits = lower.strip_suffix(['d', 'f'])?;
    digits.ends_with(|c: char| c.is_ascii_digit() || c == '.').then(|| parse(digits))?
}

/// Unscaled value and scale of a number as text, with an exponent or not. Digits beyond 128 bits are cut if they are
/// after the point.
pub(super) fn decimal_digits(text: &str) -> Option<(i128, i8)> {
    let text = text.trim_matches(is_space);
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, mantissa) = match mantissa.as_bytes().first()? {
        b'-' => (true, &mantissa[1..]),
        b'+' => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    let mut scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let mut kept = significant.to_owned();
    if scale < 0 {
        if !kept.is_empty() {
            kept.push_str(&"0".repeat(usize::try_from(-scale).ok().filter(|n| *n <= 40)?));
        }
        scale = 0;
    }
    // more digits after the point than any decimal has cannot change the rounding but by a last digit that is not zero
    let most = 38;
    if kept.len() > most && scale > 0 {
        let cut = (kept.len() - most).min(usize::try_from(scale).ok()?);
        let sticky = kept[kept.len() - cut..].bytes().any(|b| b != b'0');
        kept.truncate(kept.len() - cut);
        scale -= i32::try_from(cut).ok()?;
        if sticky && kept.ends_with(['0', '5']) {
            return None;
        }
    }
    if scale > 100 {
        return Some((0, 0));
    }
    let value: i128 = if kept.is_empty() { 0 } else { kept.parse().ok()? };
    Some((if negative { -value } else { value }, i8::try_from(scale).ok()?))
}

/// A decimal without an exponent.
pub(super) fn plain(value: i128, scale: i8) -> String {
    let digits = value.unsigned_abs().to_string();
    let sign = if value < 0 { "-" } else { "" };
    let scale = usize::from(scale.unsigned_abs());
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_java_does() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (123.456, "123.456"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (1.5e300, "1.5E300"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(java_double(value), text);
        }
        assert_eq!(java_float(0.1), "0.1");
    }

    #[test]
    fn numbers_are_read_as_java_does() {
        assert_eq!(double(" 1e3 "), Some(1000.0));
        assert_eq!(double("1.5d"), Some(1.5));
        assert_eq!(double("-Infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(double("x"), None);
        assert_eq!(whole("+7"), Some(7));
        assert_eq!(whole("1.0"), None);
        assert_eq!(decimal_digits("-1.50"), Some((-150, 2)));
        assert_eq!(decimal_digits("15E-1"), Some((15, 1)));
        assert_eq!(decimal_digits("2e3"), Some((2000, 0)));
        assert_eq!(decimal_digits("."), None);
    }
}
