//! What of a condition partition values and statistics can decide.

use super::ast::{Binary, Expr, Literal as Constant};
use crate::predicate::{CompareOp, Literal, Predicate};

/// A predicate that is true wherever the condition is: a part that it cannot express is unknown, and keeps all files.
/// `text` names such parts.
pub(crate) fn implied(condition: &Expr, text: &str) -> Predicate {
    match condition {
        Expr::Binary(Binary::And, left, right) => {
            Predicate::And(vec![implied(left, text), implied(right, text)])
        }
        Expr::Binary(Binary::Or, left, right) => {
            Predicate::Or(vec![implied(left, text), implied(right, text)])
        }
        Expr::Not(part) => Predicate::Not(Box::new(implied(part, text))),
        leaf => self::leaf(leaf).unwrap_or_else(|| Predicate::Unknown(text.to_owned())),
    }
}

fn leaf(condition: &Expr) -> Option<Predicate> {
    Some(match condition {
        Expr::Binary(op, left, right) => match (left.as_ref(), right.as_ref()) {
            (Expr::Column(column), value) => {
                Predicate::Compare { op: compare(*op)?, column: column.clone(), value: literal(value)? }
            }
            (value, Expr::Column(column)) => Predicate::Compare {
                op: flipped(compare(*op)?),
                column: column.clone(),
                value: literal(value)?,
            },
            _ => return None,
        },
        Expr::IsNull(operand) => match operand.as_ref() {
            Expr::Column(column) => Predicate::IsNull { column: column.clone() },
            _ => return None,
        },
        Expr::In(operand, values) => match operand.as_ref() {
            Expr::Column(column) => Predicate::In {
                column: column.clone(),
                values: values.iter().map(literal).collect::<Option<_>>()?,
            },
            _ => return None,
        },
        Expr::Like(operand, pattern, escape, false) => match (operand.as_ref(), pattern.as_ref()) {
            (Expr::Column(column), Expr::Literal(Constant::String(pattern))) => {
                let prefix = pattern.strip_suffix('%')?;
                if prefix.contains(['%', '_', *escape]) {
                    return None;
                }
                Predicate::StartsWith { column: column.clone(), prefix: prefix.to_owned() }
            }
            _ => return None,
        },
        Expr::Column(column) => {
            Predicate::Compare { op: CompareOp::Eq, column: column.clone(), value: Literal::Boolean(true) }
        }
        Expr::Literal(Constant::Boolean(truth)) => Predicate::Constant(Some(*truth)),
        Expr::Literal(Constant::Null) => Predicate::Constant(None),
        _ => return None,
    })
}

fn compare(op: Binary) -> Option<CompareOp> {
    Some(match op {
        Binary::Eq => CompareOp::Eq,
        Binary::Ne => CompareOp::Ne,
        Binary::Lt => CompareOp::Lt,
        Binary::Le => CompareOp::Le,
        Binary::Gt => CompareOp::Gt,
        Binary::Ge => CompareOp::Ge,
        Binary::NullSafeEq => CompareOp::NullSafeEq,
        _ => return None,
    })
}

fn flipped(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        same => same,
    }
}

fn literal(value: &Expr) -> Option<Literal> {
    Some(match value {
        Expr::Literal(constant) => match constant {
            Constant::Null => Literal::Null,
            Constant::Boolean(v) => Literal::Boolean(*v),
            Constant::Byte(v) => Literal::Long((*v).into()),
            Constant::Short(v) => Literal::Long((*v).into()),
            Constant::Integer(v) => Literal::Long((*v).into()),
            Constant::Long(v) => Literal::Long(*v),
            Constant::Float(v) => Literal::Double((*v).into()),
            Constant::Double(v) => Literal::Double(*v),
            Constant::Decimal(unscaled, _, scale) => Literal::Decimal(decimal(*unscaled, *scale)?),
            Constant::String(v) => Literal::String(v.clone()),
            Constant::Binary(v) => Literal::Binary(v.clone()),
            Constant::Date(v) => Literal::Date(*v),
            Constant::Timestamp(v) | Constant::SessionTimestamp(v) => Literal::Timestamp(*v),
            Constant::TimestampNtz(v) => Literal::TimestampNtz(*v),
            Constant::Interval(_) => return None,
        },
        Expr::Negate(value) => match literal(value)? {
            Literal::Long(v) => Literal::Long(v.checked_neg()?),
            Literal::Double(v) => Literal::Double(-v),
            Literal::Decimal(text) => Literal::Decimal(match text.strip_prefix('-') {
                Some(positive) => positive.to_owned(),
                None => format!("-{text}"),
            }),
            _ => return None,
        },
        _ => return None,
    })
}

/// A decimal number as text.
fn decimal(unscaled: i128, scale: i8) -> Option<String> {
    let scale = usize::try_from(scale).ok()?;
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let point = if scale == 0 { "" } else { "." };
    Some(format!("{}{whole}{point}{fraction}", if unscaled < 0 { "-" } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::parse;

    fn shown(text: &str) -> String {
        implied(&parse(text).unwrap(), "?").to_string()
    }

    #[test]
    fn what_the_predicate_cannot_say_is_unknown() {
        for (text, expected) in [
            ("id > 5", "id > 5"),
            ("5 > id", "id < 5"),
            ("s.x <=> -1.50", "s.x <=> -1.50"),
            ("name LIKE 'ab%' AND id IN (1, NULL)", "name LIKE 'ab%' AND id IN (1, NULL)"),
            ("name IS NOT NULL OR flag", "NOT (name IS NULL) OR flag = TRUE"),
            ("d = DATE '2026-01-02'", "d = DATE '2026-01-02'"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        let unknown = |text: &str| matches!(implied(&parse(text).unwrap(), "?"), Predicate::Unknown(_));
        for text in ["id + 1 > 5", "a = b", "name LIKE 'a_b%'", "upper(name) = 'A'", "name ILIKE 'a%'"] {
            assert!(unknown(text), "{text}");
        }
    }

    #[test]
    fn decimals_are_written_out() {
        for (unscaled, scale, text) in [(150, 2, "1.50"), (-5, 2, "-0.05"), (7, 0, "7"), (0, 1, "0.0")] {
            assert_eq!(decimal(unscaled, scale).as_deref(), Some(text));
        }
    }
}
