//! Comparisons: NaN equals itself and is the greatest number, and zero has one sign.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, Datum};
use arrow::compute::kernels::cmp;
use arrow::datatypes::{DataType as Arrow, Float32Type, Float64Type};

use super::kernel::Eval;
use crate::expr::Binary;

pub(super) fn compare(op: Binary, left: &dyn Datum, right: &dyn Datum) -> Eval<BooleanArray> {
    let (left, right) = (Side::of(left), Side::of(right));
    let (l, r) = (left.datum(), right.datum());
    let compared = match op {
        Binary::Eq => cmp::eq(l, r),
        Binary::Ne => cmp::neq(l, r),
        Binary::Lt => cmp::lt(l, r),
        Binary::Le => cmp::lt_eq(l, r),
        Binary::Gt => cmp::gt(l, r),
        Binary::Ge => cmp::gt_eq(l, r),
        Binary::NullSafeEq => cmp::not_distinct(l, r),
        _ => return Err(format!("{op:?} is not a comparison")),
    };
    compared.map_err(|e| e.to_string())
}

enum Side<'a> {
    Given(&'a dyn Datum),
    Array(ArrayRef),
    Scalar(arrow::array::Scalar<ArrayRef>),
}

impl<'a> Side<'a> {
    fn of(datum: &'a dyn Datum) -> Self {
        let (array, is_scalar) = datum.get();
        let even: ArrayRef = match array.data_type() {
            Arrow::Float32 => Arc::new(
                array
                    .as_primitive::<Float32Type>()
                    .unary::<_, Float32Type>(|v| if v.is_nan() { f32::NAN } else { v + 0.0 }),
            ),
            Arrow::Float64 => Arc::new(
                array
                    .as_primitive::<Float64Type>()
                    .unary::<_, Float64Type>(|v| if v.is_nan() { f64::NAN } else { v + 0.0 }),
            ),
            _ => return Side::Given(datum),
        };
        if is_scalar { Side::Scalar(arrow::array::Scalar::new(even)) } else { Side::Array(even) }
    }

    fn datum(&self) -> &dyn Datum {
        match self {
            Side::Given(datum) => *datum,
            Side::Array(array) => array,
            Side::Scalar(scalar) => scalar,
        }
    }
}
