//! Expressions as SQL text that Spark reads as the core does, whatever the settings of a session.

use std::fmt::Write;

use super::ast::{Binary, Expr, Interval, Literal};
use super::time_text::{format_date, format_timestamp};
use crate::schema::{DataType, in_backticks};

/// The syntax that Spark's parser replaces by values of the session and of the environment, also within quotes.
const VARIABLE: &str = "${";

type Printed<T = ()> = Result<T, String>;

/// The expression as one of Spark SQL: names are quoted, and no setting of a session gives a constant another meaning.
///
/// # Errors
/// A reason, for what has no such text: a name that holds `${`.
pub fn print(expr: &Expr) -> Result<String, String> {
    let mut out = String::new();
    write(expr, Level::Or, &mut out)?;
    Ok(out)
}

/// The precedence of an expression, the loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Predicate,
    Sum,
    Product,
    Whole,
}

fn level(expr: &Expr) -> Level {
    match expr {
        Expr::Binary(op, ..) => operator(*op).1,
        Expr::Not(_) => Level::Not,
        Expr::IsNull(_) | Expr::In(..) | Expr::Like(..) => Level::Predicate,
        _ => Level::Whole,
    }
}

fn operator(op: Binary) -> (&'static str, Level) {
    match op {
        Binary::And => ("AND", Level::And),
        Binary::Or => ("OR", Level::Or),
        Binary::Eq => ("=", Level::Predicate),
        Binary::Ne => ("<>", Level::Predicate),
        Binary::Lt => ("<", Level::Predicate),
        Binary::Le => ("<=", Level::Predicate),
        Binary::Gt => (">", Level::Predicate),
        Binary::Ge => (">=", Level::Predicate),
        Binary::NullSafeEq => ("<=>", Level::Predicate),
        Binary::Add => ("+", Level::Sum),
        Binary::Subtract => ("-", Level::Sum),
        Binary::Concat => ("||", Level::Sum),
        Binary::Multiply => ("*", Level::Product),
        Binary::Divide => ("/", Level::Product),
        Binary::IntegralDivide => ("DIV", Level::Product),
        Binary::Remainder => ("%", Level::Product),
    }
}

/// Writes an expression, in parentheses where it is looser than its place.
fn write(expr: &Expr, least: Level, out: &mut String) -> Printed {
    if level(expr) >= least {
        return bare(expr, out);
    }
    out.push('(');
    bare(expr, out)?;
    out.push(')');
    Ok(())
}

fn bare(expr: &Expr, out: &mut String) -> Printed {
    match expr {
        Expr::Column(parts) => names(parts, out)?,
        Expr::Literal(value) => literal(value, out)?,
        Expr::Binary(op, left, right) => {
            let (sign, level) = operator(*op);
            let (first, second) = match level {
                // from left to right
                Level::Sum => (Level::Sum, Level::Product),
                Level::Product => (Level::Product, Level::Whole),
                Level::Or => (Level::And, Level::And),
                Level::And => (Level::Not, Level::Not),
                _ => (Level::Sum, Level::Sum),
            };
            write(left, first, out)?;
            spaced(sign, out);
            write(right, second, out)?;
        }
        Expr::Not(x) => {
            out.push_str("NOT ");
            write(x, Level::Whole, out)?;
        }
        Expr::Negate(x) => {
            // a constant right after the sign is another constant
            out.push_str("(-(");
            write(x, Level::Or, out)?;
            out.push_str("))");
        }
        Expr::IsNull(x) => {
            write(x, Level::Sum, out)?;
            out.push_str(" IS NULL");
        }
        Expr::In(x, items) => {
            write(x, Level::Sum, out)?;
            out.push_str(" IN (");
            list(items, out)?;
            out.push(')');
        }
        Expr::Like(value, pattern, escape, ignores_case) => {
            write(value, Level::Sum, out)?;
            out.push_str(if *ignores_case { " ILIKE " } else { " LIKE " });
            write(pattern, Level::Sum, out)?;
            if *escape != '\\' {
                if !is_plain(*escape) {
                    return Err(format!("the escape {escape:?} has no text"));
                }
                // this must be a constant that is written as one
                let _ = write!(out, " ESCAPE '{escape}'");
            }
        }
        Expr::Case(branches, otherwise) => {
            out.push_str("CASE");
            for (condition, value) in branches {
                out.push_str(" WHEN ");
                write(condition, Level::Or, out)?;
                out.push_str(" THEN ");
                write(value, Level::Or, out)?;
            }
            if let Some(value) = otherwise {
                out.push_str(" ELSE ");
                write(value, Level::Or, out)?;
            }
            out.push_str(" END");
        }
        Expr::Cast(x, to, tries) => {
            out.push_str(if *tries { "TRY_CAST(" } else { "CAST(" });
            write(x, Level::Or, out)?;
            let _ = write!(out, " AS {})", type_name(to)?);
        }
        Expr::Field(x, field) => {
            base(x, out)?;
            out.push('.');
            name(field, out)?;
        }
        Expr::Index(x, index) => {
            base(x, out)?;
            out.push('[');
            // within brackets the parser here knows sums at most
            write(index, Level::Sum, out)?;
            out.push(']');
        }
        Expr::Call(function, args) => call(function, args, out)?,
    }
    Ok(())
}

/// What a field or an element is taken of.
fn base(x: &Expr, out: &mut String) -> Printed {
    if matches!(x, Expr::Column(_) | Expr::Field(..) | Expr::Index(..)) {
        return bare(x, out);
    }
    out.push('(');
    bare(x, out)?;
    out.push(')');
    Ok(())
}

fn spaced(sign: &str, out: &mut String) {
    let _ = write!(out, " {sign} ");
}

fn list(items: &[Expr], out: &mut String) -> Printed {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write(item, Level::Or, out)?;
    }
    Ok(())
}

fn names(parts: &[String], out: &mut String) -> Printed {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push('.');
        }
        name(part, out)?;
    }
    Ok(())
}

fn name(text: &str, out: &mut String) -> Printed {
    if text.contains(VARIABLE) {
        return Err(format!("the name `{text}` holds `{VARIABLE}`, which Spark replaces by a variable"));
    }
    out.push_str(&in_backticks(text));
    Ok(())
}

fn call(function: &str, args: &[Expr], out: &mut String) -> Printed {
    let trimmed = match (function, args) {
        ("__trim_both", [_]) => "trim",
        ("__trim_both", _) => "BOTH",
        ("__trim_leading", _) => "LEADING",
        ("__trim_trailing", _) => "TRAILING",
        _ => function,
    };
    match (function, args) {
        ("extract", [Expr::Literal(Literal::String(field)), of]) => {
            let _ = write!(out, "EXTRACT({} FROM ", word(field)?);
            write(of, Level::Or, out)?;
        }
        (_, [of, what]) if function.starts_with("__trim_") => {
            let _ = write!(out, "TRIM({trimmed} ");
            write(what, Level::Or, out)?;
            out.push_str(" FROM ");
            write(of, Level::Or, out)?;
        }
        _ => {
            out.push_str(word(trimmed)?);
            out.push('(');
            list(args, out)?;
        }
    }
    out.push(')');
    Ok(())
}

/// A word of SQL that needs no quotes.
fn word(text: &str) -> Printed<&str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match text.chars().all(plain) && text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => Ok(text),
        false => Err(format!("`{text}` is not a word of SQL")),
    }
}

/// Whether a text may hold it between quotes: it means the same with either setting of
/// `spark.sql.parser.escapedStringLiterals`.
fn is_plain(c: char) -> bool {
    !matches!(c, '\'' | '\\' | '$') && !c.is_control()
}

fn literal(value: &Literal, out: &mut String) -> Printed {
    // writing to a text does not fail
    let _ = match value {
        Literal::Null => write!(out, "NULL"),
        Literal::Boolean(truth) => write!(out, "{}", if *truth { "TRUE" } else { "FALSE" }),
        Literal::Byte(v) => number(*v < 0, format_args!("{v}Y"), out),
        Literal::Short(v) => number(*v < 0, format_args!("{v}S"), out),
        Literal::Integer(v) => number(*v < 0, format_args!("{v}"), out),
        Literal::Long(v) => number(*v < 0, format_args!("{v}L"), out),
        Literal::Float(v) => number(v.is_sign_negative(), format_args!("{v:e}F"), out),
        Literal::Double(v) => number(v.is_sign_negative(), format_args!("{v:e}D"), out),
        Literal::Decimal(v, _, scale) => number(*v < 0, format_args!("{}BD", digits(*v, *scale)), out),
        Literal::String(text) if text.chars().all(is_plain) => write!(out, "'{text}'"),
        Literal::String(text) => write!(out, "CAST(X'{}' AS STRING)", hex(text.as_bytes())),
        Literal::Binary(bytes) => write!(out, "X'{}'", hex(bytes)),
        Literal::Date(days) => write!(out, "DATE '{}'", format_date(*days)?),
        Literal::Timestamp(micros) => write!(out, "TIMESTAMP '{}Z'", format_timestamp(*micros)?),
        Literal::SessionTimestamp(micros) => write!(out, "TIMESTAMP '{}'", format_timestamp(*micros)?),
        Literal::TimestampNtz(micros) => write!(out, "TIMESTAMP_NTZ '{}'", format_timestamp(*micros)?),
        Literal::Interval(Interval::Months(n)) => write!(out, "INTERVAL '{n}' MONTH"),
        Literal::Interval(Interval::Days(n)) => write!(out, "INTERVAL '{n}' DAY"),
        Literal::Interval(Interval::Micros(n)) => write!(out, "INTERVAL '{n}' MICROSECOND"),
    };
    Ok(())
}

/// A number; two signs in a row begin a comment.
fn number(negative: bool, text: std::fmt::Arguments<'_>, out: &mut String) -> std::fmt::Result {
    match negative {
        true => write!(out, "({text})"),
        false => write!(out, "{text}"),
    }
}

fn digits(unscaled: i128, scale: i8) -> String {
    let scale = usize::try_from(scale).unwrap_or(0);
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        let _ = write!(out, "{byte:02X}");
        out
    })
}

fn type_name(data_type: &DataType) -> Printed<String> {
    Ok(match data_type {
        DataType::Boolean => "BOOLEAN".into(),
        DataType::Byte => "TINYINT".into(),
        DataType::Short => "SMALLINT".into(),
        DataType::Integer => "INT".into(),
        DataType::Long => "BIGINT".into(),
        DataType::Float => "FLOAT".into(),
        DataType::Double => "DOUBLE".into(),
        DataType::String => "STRING".into(),
        DataType::Binary => "BINARY".into(),
        DataType::Date => "DATE".into(),
        DataType::Timestamp => "TIMESTAMP".into(),
        DataType::TimestampNtz => "TIMESTAMP_NTZ".into(),
        DataType::Decimal(precision, scale) => format!("DECIMAL({precision},{scale})"),
        other => return Err(format!("the type {} has no text", other.name())),
    })
}
