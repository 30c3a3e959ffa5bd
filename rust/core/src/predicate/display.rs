//! Predicates as SQL-like text, for error messages and reports.

use std::fmt::{Display, Formatter, Result};

use chrono::{DateTime, Days, NaiveDate};

use super::{CompareOp, Literal, Predicate};
use crate::schema::in_backticks;

impl Display for CompareOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            CompareOp::Eq => "=",
            CompareOp::Ne => "<>",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
            CompareOp::NullSafeEq => "<=>",
        })
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Literal::Null => f.write_str("NULL"),
            Literal::Boolean(v) => f.write_str(if *v { "TRUE" } else { "FALSE" }),
            Literal::Long(v) => write!(f, "{v}"),
            Literal::Double(v) if v.is_finite() => write!(f, "{v:?}D"),
            Literal::Double(v) => write!(f, "double('{v}')"),
            Literal::Decimal(v) => f.write_str(v),
            Literal::String(v) => quoted(f, v),
            Literal::Date(days) => match day(*days) {
                Some(d) => write!(f, "DATE '{d}'"),
                None => write!(f, "DATE {days}"),
            },
            Literal::Timestamp(micros) => match DateTime::from_timestamp_micros(*micros) {
                Some(t) => write!(f, "TIMESTAMP '{}Z'", t.naive_utc()),
                None => write!(f, "TIMESTAMP {micros}"),
            },
            Literal::TimestampNtz(micros) => match DateTime::from_timestamp_micros(*micros) {
                Some(t) => write!(f, "TIMESTAMP_NTZ '{}'", t.naive_utc()),
                None => write!(f, "TIMESTAMP_NTZ {micros}"),
            },
            Literal::Binary(bytes) => {
                f.write_str("X'")?;
                bytes.iter().try_for_each(|b| write!(f, "{b:02X}"))?;
                f.write_str("'")
            }
        }
    }
}

impl Display for Predicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Predicate::And(parts) => joined(f, parts, " AND ", "TRUE"),
            Predicate::Or(parts) => joined(f, parts, " OR ", "FALSE"),
            Predicate::Not(inner) => write!(f, "NOT ({inner})"),
            Predicate::Compare { op, column, value } => {
                name(f, column)?;
                write!(f, " {op} {value}")
            }
            Predicate::In { column, values } => {
                name(f, column)?;
                f.write_str(" IN (")?;
                for (i, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
            Predicate::IsNull { column } => {
                name(f, column)?;
                f.write_str(" IS NULL")
            }
            Predicate::IsNotNull { column } => {
                name(f, column)?;
                f.write_str(" IS NOT NULL")
            }
            Predicate::StartsWith { column, prefix } => {
                name(f, column)?;
                f.write_str(" LIKE ")?;
                let escaped = prefix.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
                quoted(f, &(escaped + "%"))
            }
            Predicate::Constant(Some(true)) => f.write_str("TRUE"),
            Predicate::Constant(Some(false)) => f.write_str("FALSE"),
            Predicate::Constant(None) => f.write_str("NULL"),
            Predicate::Unknown(text) => f.write_str(text),
        }
    }
}

fn day(days: i32) -> Option<NaiveDate> {
    let span = Days::new(u64::from(days.unsigned_abs()));
    if days < 0 {
        NaiveDate::default().checked_sub_days(span)
    } else {
        NaiveDate::default().checked_add_days(span)
    }
}

fn quoted(f: &mut Formatter<'_>, text: &str) -> Result {
    write!(f, "'{}'", text.replace('\'', "''"))
}

/// A name, in backticks where it is more than letters, digits and underscores.
fn name(f: &mut Formatter<'_>, path: &[String]) -> Result {
    for (i, part) in path.iter().enumerate() {
        if i > 0 {
            f.write_str(".")?;
        }
        let plain = part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && !part.is_empty();
        if plain { f.write_str(part)? } else { f.write_str(&in_backticks(part))? }
    }
    Ok(())
}

fn joined(f: &mut Formatter<'_>, parts: &[Predicate], between: &str, empty: &str) -> Result {
    match parts {
        [] => f.write_str(empty),
        [one] => write!(f, "{one}"),
        many => {
            for (i, part) in many.iter().enumerate() {
                if i > 0 {
                    f.write_str(between)?;
                }
                match part {
                    Predicate::And(p) | Predicate::Or(p) if p.len() > 1 => write!(f, "({part})")?,
                    Predicate::Unknown(_) => write!(f, "({part})")?,
                    _ => write!(f, "{part}")?,
                }
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predicate_reads_like_sql() {
        let column = |name: &str| vec![name.to_owned()];
        let compare = |op, name: &str, value| Predicate::Compare { op, column: column(name), value };
        let predicate = Predicate::And(vec![
            compare(CompareOp::Ge, "id", Literal::Long(5)),
            Predicate::Or(vec![
                Predicate::IsNull { column: vec!["s".into(), "x y".into()] },
                Predicate::StartsWith { column: column("name"), prefix: "O'_".into() },
            ]),
            Predicate::Not(Box::new(Predicate::In {
                column: column("d"),
                values: vec![Literal::Date(-1), Literal::Null, Literal::Binary(vec![0, 255])],
            })),
            compare(CompareOp::NullSafeEq, "t", Literal::Timestamp(1_500_000)),
            compare(CompareOp::Lt, "x", Literal::Double(f64::NEG_INFINITY)),
            compare(CompareOp::Ne, "x", Literal::Double(f64::NAN)),
            Predicate::Unknown("f(x) > 1".into()),
        ]);
        assert_eq!(
            predicate.to_string(),
            r"id >= 5 AND (s.`x y` IS NULL OR name LIKE 'O''\_%') AND NOT (d IN (DATE '1969-12-31', NULL, X'00FF')) AND t <=> TIMESTAMP '1970-01-01 00:00:01.500Z' AND x < double('-inf') AND x <> double('NaN') AND (f(x) > 1)"
        );
        assert_eq!(Predicate::And(vec![]).to_string(), "TRUE");
    }
}
