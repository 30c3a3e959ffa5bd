//! Defaults that are literals.

use crate::predicate::text::{parse_date, parse_timestamp};
use crate::schema::DataType;

/// Whether a default is a literal of its type in the form that delta-spark takes for one: a bare number, `true`, `false`,
/// a string in quotation marks, also for dates and times. `NULL`, a literal in parentheses and one with its type before
/// it are none: delta-spark refuses each write to a table with `icebergCompatV3` that has such a default.
pub(super) fn is_literal(text: &str, data_type: &DataType) -> bool {
    let quoted = || {
        let within = ['\'', '"'].iter().find_map(|mark| text.strip_prefix(*mark)?.strip_suffix(*mark))?;
        (text.len() > 1).then_some(within)
    };
    match data_type {
        DataType::String => quoted().is_some(),
        DataType::Byte => text.parse::<i8>().is_ok(),
        DataType::Short => text.parse::<i16>().is_ok(),
        DataType::Integer => text.parse::<i32>().is_ok(),
        DataType::Long => text.strip_suffix(['l', 'L']).unwrap_or(text).parse::<i64>().is_ok(),
        DataType::Float | DataType::Double => {
            text.chars().all(|c| matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'))
                && text.parse::<f64>().is_ok()
        }
        DataType::Decimal(precision, scale) => is_decimal(text, *precision, *scale),
        DataType::Boolean => text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false"),
        DataType::Binary => {
            let hex = text.strip_prefix(['x', 'X']).and_then(|t| t.strip_prefix('\'')?.strip_suffix('\''));
            hex.is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit())) || quoted().is_some()
        }
        DataType::Date => quoted().is_some_and(|t| t.len() == 10 && parse_date(t).is_some()),
        DataType::Timestamp => quoted().is_some_and(|t| t.len() >= 19 && parse_timestamp(t).is_some()),
        DataType::TimestampNtz => {
            quoted().is_some_and(|t| t.len() >= 19 && parse_timestamp(t).is_some_and(|t| t.offset.is_none()))
        }
        _ => false,
    }
}

/// Whether all digits of a number fit.
fn is_decimal(text: &str, precision: u8, scale: i8) -> bool {
    let (precision, scale) = (usize::from(precision), usize::try_from(scale).unwrap_or(0));
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit());
    let some = !(whole.is_empty() && fraction.is_empty());
    all_digits && some && fraction.len() <= scale && whole.trim_start_matches('0').len() + scale <= precision
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_those_of_delta_spark() {
        use DataType::{
            Binary, Boolean, Byte, Date, Decimal, Double, Integer, Long, String, Timestamp, TimestampNtz,
        };
        for (data_type, literals, others) in [
            (Integer, vec!["5", "-5", "+5"], vec!["1+1", "(6)", "NULL", "5L", "'5'", "2147483648"]),
            (Byte, vec!["127"], vec!["128"]),
            (Long, vec!["5", "5L", "-5l"], vec!["5LL", "abs(5)"]),
            (Double, vec!["1.5", "1e3", "-2"], vec!["1.5D", "nan", "pi()"]),
            (Decimal(5, 2), vec!["123.45", "-1", "000999.9", ".5"], vec!["1234", "1.234", "1e1", ".", "1+1"]),
            (Boolean, vec!["true", "FALSE"], vec!["1 = 1", "'true'"]),
            (String, vec!["'a'", "\"a\"", "''"], vec!["a", "'", "upper('a'", "concat('a', b)", "'a\""]),
            (Binary, vec!["x'0aF'", "X''", "'a'"], vec!["x'zz'", "x0a"]),
            (
                Date,
                vec!["'2024-02-29'"],
                vec!["'2023-02-29'", "DATE '2024-02-29'", "'2024'", "current_date()"],
            ),
            (
                Timestamp,
                vec!["'2024-01-02 03:04:05'", "'2024-01-02T03:04:05.25'", "'2024-01-02T03:04:05+01:00'"],
                vec!["'2024-01-02'", "current_timestamp()", "TIMESTAMP '2024-01-02 03:04:05'"],
            ),
            (TimestampNtz, vec!["'2024-01-02 03:04:05'"], vec!["'2024-01-02 03:04:05Z'"]),
            (DataType::Variant, vec![], vec!["NULL"]),
        ] {
            for text in literals {
                assert!(is_literal(text, &data_type), "{text} {}", data_type.name());
            }
            for text in others {
                assert!(!is_literal(text, &data_type), "{text} {}", data_type.name());
            }
        }
    }
}
