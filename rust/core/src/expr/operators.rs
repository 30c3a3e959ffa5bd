//! Operators: the types of both sides, and the casts that Spark adds by itself.

use super::ast::{Binary, Literal};
use super::bound::{Bound, Node, accept, constant, unify};
use super::coerce::{as_decimal, common, decimal_result, is_atomic, is_integral, is_numeric};
use super::kernel::Eval;
use super::{cast, temporal, text};
use crate::schema::DataType;

/// A value as a condition.
pub(super) fn truth(x: Bound) -> Eval<Bound> {
    match x.data_type {
        DataType::Boolean => Ok(x),
        DataType::Void => Ok(x.value()?.cast(&DataType::Boolean)),
        _ => Err(format!("a condition is expected where the type is {}", x.data_type.name())),
    }
}

pub(super) fn binary(op: Binary, left: Bound, right: Bound) -> Eval<Bound> {
    match op {
        Binary::And => Ok(Bound::boolean(Node::And(Box::new(truth(left)?), Box::new(truth(right)?)))),
        Binary::Or => Ok(Bound::boolean(Node::Or(Box::new(truth(left)?), Box::new(truth(right)?)))),
        Binary::Concat => {
            concat(&[left.value()?, right.value()?]).map_err(|reason| format!("concat: {reason}"))
        }
        Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::NullSafeEq => {
            compare(op, left, right)
        }
        _ => match temporal::arithmetic(op, left, right)? {
            Ok(bound) => Ok(bound),
            Err((left, right)) => arithmetic(op, left.value()?, right.value()?),
        },
    }
}

pub(super) fn compare(op: Binary, left: Bound, right: Bound) -> Eval<Bound> {
    let (left, right) = comparable(left.value()?, right.value()?)?;
    Ok(Bound::boolean(Node::Compare(op, Box::new(left), Box::new(right))))
}

fn comparable(left: Bound, right: Bound) -> Eval<(Bound, Bound)> {
    use DataType as T;
    let to = match (&left.data_type, &right.data_type) {
        (T::Void, T::Void) => Some(T::Boolean),
        (T::String, other) | (other, T::String) if other != &T::String => match other {
            T::Date | T::Timestamp | T::TimestampNtz | T::Void => {
                Some(if *other == T::Void { T::String } else { other.clone() })
            }
            T::Decimal(..) | T::Double => Some(T::Double),
            T::Boolean => Some(T::Boolean),
            other => is_integral(other).then(|| other.clone()),
        },
        (T::Float, other) | (other, T::Float) if is_integral(other) => {
            let whole = if left.data_type == T::Float { &right } else { &left };
            let exact = matches!(other, T::Byte | T::Short) || small(whole);
            exact.then_some(T::Double)
        }
        (l, r) => common(l, r).filter(is_atomic),
    };
    let Some(to) = to else {
        return Err(format!(
            "a comparison of {} with {} is not supported; write a cast",
            left.data_type.name(),
            right.data_type.name()
        ));
    };
    Ok((left.cast(&to), right.cast(&to)))
}

/// Whether it is a whole number that a `float` holds exactly.
fn small(x: &Bound) -> bool {
    let array = x.literal().and_then(|a| cast::cast_to(a, &x.data_type, &DataType::Long, false).ok());
    array.is_some_and(|a| {
        use arrow::array::AsArray;
        use arrow::datatypes::Int64Type;
        a.as_primitive::<Int64Type>().values().iter().all(|v| v.unsigned_abs() <= 1 << 24)
    })
}

pub(super) fn member(x: Bound, list: Vec<Bound>) -> Eval<Bound> {
    let x = x.value()?;
    let list = list.into_iter().map(Bound::value).collect::<Eval<Vec<_>>>()?;
    let mut to = x.data_type.clone();
    for item in &list {
        let (l, r) = (&to, &item.data_type);
        to = match (l, r) {
            // by one setting of Spark both become text, by the other the text becomes the other type
            (DataType::String, other) | (other, DataType::String)
                if !matches!(other, DataType::String | DataType::Void) =>
            {
                canonical(item, other).then(|| other.clone())
            }
            _ => common(l, r).filter(|t| is_atomic(t) || *t == DataType::Void),
        }
        .ok_or_else(|| format!("IN of {} and {} is not supported; write a cast", l.name(), r.name()))?;
    }
    if to == DataType::Void {
        to = DataType::Boolean;
    }
    let list = list.into_iter().map(|item| item.cast(&to)).collect();
    Ok(Bound::boolean(Node::In(Box::new(x.cast(&to)), list)))
}

/// Whether it is a text that a value of the type is written as.
fn canonical(item: &Bound, to: &DataType) -> bool {
    let Some(array) = item.literal() else { return false };
    if item.data_type != DataType::String || matches!(to, DataType::Float | DataType::Double) {
        return false;
    }
    let there = cast::cast_to(array, &DataType::String, to, false);
    let back = there.and_then(|there| cast::cast_to(&there, to, &DataType::String, false));
    back.is_ok_and(|back| &back == array)
}

fn arithmetic(op: Binary, left: Bound, right: Bound) -> Eval<Bound> {
    use DataType as T;
    let refused = |l: &T, r: &T| {
        Err(format!("arithmetic of {} and {} is not supported; write a cast", l.name(), r.name()))
    };
    let (left, right) = match (&left.data_type, &right.data_type) {
        (T::Void, T::Void) => (left.cast(&T::Double), right.cast(&T::Double)),
        (T::Void, other) => {
            let other = other.clone();
            (left.cast(&other), right)
        }
        (other, T::Void) => {
            let other = other.clone();
            (left, right.cast(&other))
        }
        _ => (left, right),
    };
    let (l, r) = (left.data_type.clone(), right.data_type.clone());
    if !is_numeric(&l) || !is_numeric(&r) {
        return refused(&l, &r);
    }
    let decimal = matches!(l, T::Decimal(..)) || matches!(r, T::Decimal(..));
    let floating = matches!(l, T::Float | T::Double) || matches!(r, T::Float | T::Double);
    let node = |left, right| Node::Arithmetic(op, Box::new(left), Box::new(right));
    if decimal && !floating {
        let (left, right) = (to_decimal(left)?, to_decimal(right)?);
        let (Some(a), Some(b)) = (as_decimal(&left.data_type), as_decimal(&right.data_type)) else {
            return refused(&l, &r);
        };
        let (precision, scale) = decimal_result(op, a, b);
        let data_type = if op == Binary::IntegralDivide { T::Long } else { T::Decimal(precision, scale) };
        return Ok(Bound { node: node(left, right), data_type });
    }
    let to = match op {
        Binary::Divide => T::Double,
        Binary::IntegralDivide if floating => return refused(&l, &r),
        Binary::IntegralDivide => T::Long,
        _ => match common(&l, &r) {
            Some(to) => to,
            None => return refused(&l, &r),
        },
    };
    Ok(Bound { node: node(left.cast(&to), right.cast(&to)), data_type: to })
}

/// A whole number as a decimal: a constant of just its digits, any other of all that its type can have.
fn to_decimal(x: Bound) -> Eval<Bound> {
    let (precision, scale) = as_decimal(&x.data_type).ok_or("no decimal")?;
    let to = match x.literal() {
        Some(array) if is_integral(&x.data_type) => {
            let text = cast::cast_to(array, &x.data_type, &DataType::String, false)?;
            let digits =
                arrow::array::AsArray::as_string::<i32>(&text).value(0).trim_start_matches('-').len();
            DataType::Decimal(digits as u8, 0)
        }
        _ => DataType::Decimal(precision, scale),
    };
    Ok(x.cast(&to))
}

pub(super) fn negate(x: Bound) -> Eval<Bound> {
    let x = x.value()?;
    if !is_numeric(&x.data_type) {
        return Err(format!("minus of {} is not supported", x.data_type.name()));
    }
    let data_type = x.data_type.clone();
    Ok(Bound { node: Node::Negate(Box::new(x)), data_type })
}

/// One value for each condition, and one more for what is left, or null.
pub(super) fn case(conditions: Vec<Bound>, values: Vec<Bound>) -> Eval<Bound> {
    let (mut values, to) = unify(values)?;
    let otherwise = (values.len() > conditions.len()).then(|| values.pop()).flatten().map(Box::new);
    let branches = conditions.into_iter().zip(values).collect();
    Ok(Bound { node: Node::Case(branches, otherwise), data_type: to })
}

pub(super) fn concat(args: &[Bound]) -> Eval<Bound> {
    let bytes = !args.is_empty() && args.iter().all(|a| a.data_type == DataType::Binary);
    if bytes {
        return Ok(Bound::call(text::concat_bytes, args.to_vec(), DataType::Binary));
    }
    if args.is_empty() {
        return constant(&Literal::String(String::new()));
    }
    let args = args.iter().map(|a| accept(a.clone(), &DataType::String)).collect::<Eval<_>>()?;
    Ok(Bound::call(text::concat, args, DataType::String))
}
