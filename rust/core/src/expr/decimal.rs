//! Arithmetic of decimals: exact, then rounded half up to the scale of the result. What has too many digits is an error.

use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Int64Array};
use arrow::datatypes::{ArrowNativeTypeOp, Decimal128Type};
use arrow_buffer::i256;

use super::kernel::{BY_ZERO, Eval};
use crate::expr::Binary;
use crate::schema::DataType;

pub(super) fn binary(
    op: Binary,
    left: &Decimal128Array,
    right: &Decimal128Array,
    to: &DataType,
) -> Eval<ArrayRef> {
    let (s1, s2) = (i32::from(left.scale()), i32::from(right.scale()));
    let compute = |l: i128, r: i128, scale: i32| -> Eval<i256> {
        let (l, r) = (i256::from_i128(l), i256::from_i128(r));
        if matches!(op, Binary::Divide | Binary::IntegralDivide | Binary::Remainder) && r == i256::ZERO {
            return Err(BY_ZERO.to_owned());
        }
        let top = s1.max(s2);
        let exact = match op {
            Binary::Add => up(l, top - s1)?.checked_add(up(r, top - s2)?).map(|v| (v, top)),
            Binary::Subtract => up(l, top - s1)?.checked_sub(up(r, top - s2)?).map(|v| (v, top)),
            Binary::Multiply => l.checked_mul(r).map(|v| (v, s1 + s2)),
            Binary::Remainder => up(l, top - s1)?.checked_rem(up(r, top - s2)?).map(|v| (v, top)),
            Binary::IntegralDivide => up(l, top - s1)?.checked_div(up(r, top - s2)?).map(|v| (v, 0)),
            Binary::Divide => {
                // l / 10^s1 / (r / 10^s2), as a whole number of 10^-scale
                let shift = scale - s1 + s2;
                let (l, r) = if shift >= 0 { (up(l, shift)?, r) } else { (l, up(r, -shift)?) };
                return half_up(l, r);
            }
            _ => None,
        };
        let (value, own) = exact.ok_or_else(overflow)?;
        if own <= scale { up(value, scale - own) } else { half_up(value, power(own - scale)?) }
    };
    let rows = left.iter().zip(right.iter()).map(|pair| match pair {
        (Some(l), Some(r)) => Some((l, r)),
        _ => None,
    });
    if let DataType::Long = to {
        let values = rows.map(|pair| {
            let value = pair.map(|(l, r)| compute(l, r, 0)).transpose()?;
            value.map(|v| v.to_i128().and_then(|v| i64::try_from(v).ok()).ok_or_else(overflow)).transpose()
        });
        return Ok(Arc::new(values.collect::<Eval<Int64Array>>()?));
    }
    let DataType::Decimal(precision, scale) = to else {
        return Err(format!("{op:?} of decimals gives no {}", to.name()));
    };
    let values = rows.map(|pair| {
        let value = pair.map(|(l, r)| compute(l, r, i32::from(*scale))).transpose()?;
        value.map(|v| v.to_i128().ok_or_else(overflow).and_then(|v| checked(v, *precision))).transpose()
    });
    of_values(values.collect::<Eval<Vec<_>>>()?, *precision, *scale)
}

pub(super) fn of_values(values: Vec<Option<i128>>, precision: u8, scale: i8) -> Eval<ArrayRef> {
    let array: Decimal128Array = values.into_iter().collect();
    let array = array.with_precision_and_scale(precision, scale).map_err(|e| e.to_string())?;
    Ok(Arc::new(array))
}

/// The value, if it has no more digits than this.
pub(super) fn checked(value: i128, precision: u8) -> Eval<i128> {
    match 10_i128.checked_pow(u32::from(precision)) {
        Some(limit) if value.unsigned_abs() >= limit.unsigned_abs() => {
            Err(format!("overflow: a decimal has more than {precision} digits"))
        }
        _ => Ok(value),
    }
}

/// The value at another scale, rounded half up.
pub(super) fn rescale(value: i128, from: i8, to: i8) -> Eval<i128> {
    let by = i32::from(to) - i32::from(from);
    let value = i256::from_i128(value);
    let moved = if by >= 0 { up(value, by)? } else { half_up(value, power(-by)?)? };
    moved.to_i128().ok_or_else(overflow)
}

fn overflow() -> String {
    "overflow of a decimal".to_owned()
}

fn power(exponent: i32) -> Eval<i256> {
    i256::from_i128(10).pow_checked(exponent.unsigned_abs()).map_err(|_| overflow())
}

fn up(value: i256, by: i32) -> Eval<i256> {
    value.checked_mul(power(by)?).ok_or_else(overflow)
}

fn half_up(value: i256, by: i256) -> Eval<i256> {
    let whole = value.checked_div(by).ok_or_else(overflow)?;
    let rest = value.checked_rem(by).ok_or_else(overflow)?;
    let double = rest.wrapping_abs().checked_mul(i256::from_i128(2)).ok_or_else(overflow)?;
    if double < by.wrapping_abs() {
        return Ok(whole);
    }
    let away = if (value < i256::ZERO) == (by < i256::ZERO) { i256::ONE } else { i256::MINUS_ONE };
    whole.checked_add(away).ok_or_else(overflow)
}

/// A computation on each value that keeps the type.
pub(super) fn map(array: &Decimal128Array, f: impl Fn(i128) -> i128) -> Eval<ArrayRef> {
    let mapped = array.unary::<_, Decimal128Type>(f);
    let mapped =
        mapped.with_precision_and_scale(array.precision(), array.scale()).map_err(|e| e.to_string())?;
    Ok(Arc::new(mapped))
}
