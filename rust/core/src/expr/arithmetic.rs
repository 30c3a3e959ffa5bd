//! `+ - * / % DIV` and minus. What overflows and what is divided by zero is an error.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::kernels::arity::try_binary;
use arrow::compute::kernels::numeric;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as Arrow, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type,
};
use arrow::error::ArrowError;

use super::decimal;
use super::kernel::{BY_ZERO, Eval};
use crate::expr::Binary;
use crate::schema::DataType;

pub(super) fn binary(op: Binary, left: &ArrayRef, right: &ArrayRef, to: &DataType) -> Eval<ArrayRef> {
    if matches!(left.data_type(), Arrow::Decimal128(..)) {
        return decimal::binary(op, left.as_primitive(), right.as_primitive(), to);
    }
    match (op, left.data_type()) {
        (Binary::Add, _) => numeric::add(left, right).map_err(failed),
        (Binary::Subtract, _) => numeric::sub(left, right).map_err(failed),
        (Binary::Multiply, _) => numeric::mul(left, right).map_err(failed),
        (Binary::Divide, Arrow::Float64) => float::<Float64Type>(left, right, |l, r| l / r),
        (Binary::IntegralDivide, Arrow::Int64) => divide::<Int64Type>(left, right, i64::checked_div),
        (Binary::Remainder, Arrow::Float32) => float::<Float32Type>(left, right, |l, r| l % r),
        (Binary::Remainder, Arrow::Float64) => float::<Float64Type>(left, right, |l, r| l % r),
        // the remainder of the smallest number and -1 is 0
        (Binary::Remainder, Arrow::Int8) => divide::<Int8Type>(left, right, |l, r| Some(l.wrapping_rem(r))),
        (Binary::Remainder, Arrow::Int16) => divide::<Int16Type>(left, right, |l, r| Some(l.wrapping_rem(r))),
        (Binary::Remainder, Arrow::Int32) => divide::<Int32Type>(left, right, |l, r| Some(l.wrapping_rem(r))),
        (Binary::Remainder, Arrow::Int64) => divide::<Int64Type>(left, right, |l, r| Some(l.wrapping_rem(r))),
        (op, other) => Err(format!("{op:?} of {other} is not supported")),
    }
}

fn failed(error: ArrowError) -> String {
    match error {
        ArrowError::ArithmeticOverflow(what) => format!("overflow: {what}"),
        other => other.to_string(),
    }
}

fn float<T: ArrowPrimitiveType>(
    left: &ArrayRef,
    right: &ArrayRef,
    f: impl Fn(T::Native, T::Native) -> T::Native,
) -> Eval<ArrayRef>
where
    T::Native: Default + PartialEq,
{
    // zero of either sign
    divide::<T>(left, right, |l, r| Some(f(l, r)))
}

fn divide<T: ArrowPrimitiveType>(
    left: &ArrayRef,
    right: &ArrayRef,
    f: impl Fn(T::Native, T::Native) -> Option<T::Native>,
) -> Eval<ArrayRef>
where
    T::Native: Default + PartialEq,
{
    let (left, right): (&PrimitiveArray<T>, &PrimitiveArray<T>) = (left.as_primitive(), right.as_primitive());
    let divided: PrimitiveArray<T> = try_binary(left, right, |l, r| {
        if r == T::Native::default() {
            return Err(ArrowError::DivideByZero);
        }
        f(l, r).ok_or_else(|| ArrowError::ArithmeticOverflow(format!("{l:?} divided by {r:?}")))
    })
    .map_err(|e| if matches!(e, ArrowError::DivideByZero) { BY_ZERO.to_owned() } else { failed(e) })?;
    Ok(Arc::new(divided))
}

pub(super) fn negate(x: &ArrayRef) -> Eval<ArrayRef> {
    if let Arrow::Decimal128(precision, scale) = x.data_type() {
        let x = x.as_primitive::<Decimal128Type>();
        let negated = x.unary::<_, Decimal128Type>(|v| -v);
        return negated
            .with_precision_and_scale(*precision, *scale)
            .map(|a| Arc::new(a) as ArrayRef)
            .map_err(failed);
    }
    numeric::neg(x.as_ref()).map_err(failed)
}
