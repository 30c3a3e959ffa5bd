//! Functions of numbers.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array};
use arrow::datatypes::{
    DataType as Arrow, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};

use super::bound::{Bound, Node, accept, code};
use super::cast_text::{decimal_digits, java_double, plain};
use super::coerce::is_integral;
use super::decimal::{self, rescale};
use super::kernel::{Eval, Function, each};
use super::text::function;
use crate::schema::DataType;

const F: DataType = DataType::Double;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(["sqrt"], [F], 0, F, |a| double(a, |x| Some(x.sqrt()))),
    function!(["exp"], [F], 0, F, |a| double(a, |x| Some(x.exp()))),
    // what has no logarithm is null
    function!(["ln", "log"], [F], 0, F, |a| double(a, |x| (x > 0.0 || x.is_nan()).then(|| x.ln()))),
    function!(["log10"], [F], 0, F, |a| double(a, |x| (x > 0.0 || x.is_nan()).then(|| x.log10()))),
    function!(["log2"], [F], 0, F, |a| double(a, |x| (x > 0.0 || x.is_nan()).then(|| x.log2()))),
    function!(["sign", "signum"], [F], 0, F, |a| double(a, |x| Some(if x == 0.0 || x.is_nan() {
        x
    } else {
        x.signum()
    }))),
    function!(["pow", "power"], [F, F], 0, F, |a| {
        let exponents = a[1].as_primitive::<Float64Type>();
        let bases = a[0].as_primitive::<Float64Type>();
        let powers = each(a, |row| {
            let (base, exponent) = (bases.value(row), exponents.value(row));
            // in Java a power of one to NaN or infinity is NaN
            let odd = base.abs() == 1.0 && exponent.is_infinite() || exponent.is_nan();
            Ok(Some(if odd { f64::NAN } else { base.powf(exponent) }))
        });
        Ok(Arc::new(Float64Array::from(powers?)))
    }),
    function!(["isnan"], [F], 0, DataType::Boolean, |a| {
        let values = a[0].as_primitive::<Float64Type>().iter().map(|v| Some(v.is_some_and(f64::is_nan)));
        Ok(Arc::new(values.collect::<BooleanArray>()))
    }),
];

fn double(args: &[ArrayRef], f: impl Fn(f64) -> Option<f64>) -> Eval<ArrayRef> {
    let values = args[0].as_primitive::<Float64Type>();
    Ok(Arc::new(values.iter().map(|v| v.and_then(&f)).collect::<Float64Array>()))
}

pub(super) fn abs(args: &[ArrayRef]) -> Eval<ArrayRef> {
    macro_rules! whole {
        ($kind:ty) => {{
            let absolute = args[0].as_primitive::<$kind>().try_unary::<_, $kind, String>(|v| {
                v.checked_abs().ok_or_else(|| format!("overflow: abs({v})"))
            });
            Arc::new(absolute?) as ArrayRef
        }};
    }
    Ok(match args[0].data_type() {
        Arrow::Int8 => whole!(Int8Type),
        Arrow::Int16 => whole!(Int16Type),
        Arrow::Int32 => whole!(Int32Type),
        Arrow::Int64 => whole!(Int64Type),
        Arrow::Float32 => Arc::new(args[0].as_primitive::<Float32Type>().unary::<_, Float32Type>(f32::abs)),
        Arrow::Float64 => Arc::new(args[0].as_primitive::<Float64Type>().unary::<_, Float64Type>(f64::abs)),
        _ => decimal::map(args[0].as_primitive(), i128::abs)?,
    })
}

/// `ceil` and `floor`: a long of a double, a decimal without a fraction of a decimal.
pub(super) fn ceil_floor(x: Bound, up: bool) -> Eval<Bound> {
    match x.data_type {
        DataType::Decimal(precision, scale) => {
            let to = (precision as i8 - scale + 1).clamp(1, 38) as u8;
            let kernel = move |a: &[ArrayRef]| {
                let unit = 10_i128.pow(u32::from(scale.unsigned_abs()));
                let values = a[0]
                    .as_primitive::<Decimal128Type>()
                    .iter()
                    .map(|v| v.map(|v| v.div_euclid(unit) + i128::from(up && v.rem_euclid(unit) != 0)));
                decimal::of_values(values.collect(), to, 0)
            };
            Ok(Bound { node: Node::Call(code(kernel), vec![x]), data_type: DataType::Decimal(to, 0) })
        }
        ref own if is_integral(own) => Ok(x.cast(&DataType::Long)),
        _ => {
            let x = accept(x, &DataType::Double)?;
            let kernel = move |a: &[ArrayRef]| {
                let values = a[0].as_primitive::<Float64Type>().iter().map(|v| {
                    v.map(|v| {
                        let rounded = if up { v.ceil() } else { v.floor() };
                        let fits =
                            (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded);
                        // NaN becomes 0, as in Java
                        if fits || v.is_nan() {
                            Ok(rounded as i64)
                        } else {
                            Err(format!("overflow: {v} as a long"))
                        }
                    })
                    .transpose()
                });
                let rounded: ArrayRef = Arc::new(values.collect::<Eval<Int64Array>>()?);
                Ok(rounded)
            };
            Ok(Bound { node: Node::Call(code(kernel), vec![x]), data_type: DataType::Long })
        }
    }
}

/// `round(x, digits)`, half up. The digits are a constant.
pub(super) fn round(x: Bound, digits: Option<&Bound>) -> Eval<Bound> {
    let digits = match digits {
        None => 0,
        Some(digits) => {
            let digits = accept(digits.clone(), &DataType::Integer)?;
            let array = digits.literal().filter(|a| a.is_valid(0)).ok_or("the digits are not a constant")?;
            array.as_primitive::<Int32Type>().value(0)
        }
    };
    match x.data_type.clone() {
        DataType::Decimal(precision, scale) if (0..=38).contains(&digits) => {
            let to_scale = scale.min(digits as i8);
            let to_precision = (precision as i8 - scale + 1 + to_scale).min(38) as u8;
            let kernel = move |a: &[ArrayRef]| {
                let values = a[0].as_primitive::<Decimal128Type>().iter().map(|v| {
                    v.map(|v| rescale(v, scale, to_scale).and_then(|v| decimal::checked(v, to_precision)))
                        .transpose()
                });
                decimal::of_values(values.collect::<Eval<_>>()?, to_precision, to_scale)
            };
            let data_type = DataType::Decimal(to_precision, to_scale);
            Ok(Bound { node: Node::Call(code(kernel), vec![x]), data_type })
        }
        own if is_integral(&own) && digits >= 0 => Ok(x),
        DataType::Double if (0..=30).contains(&digits) => {
            let kernel = move |a: &[ArrayRef]| {
                let values = a[0].as_primitive::<Float64Type>();
                let rounded = values.iter().map(|v| v.map(|v| round_double(v, digits as i8)).transpose());
                let rounded: ArrayRef = Arc::new(rounded.collect::<Eval<Float64Array>>()?);
                Ok(rounded)
            };
            Ok(Bound { node: Node::Call(code(kernel), vec![x]), data_type: DataType::Double })
        }
        other => Err(format!("of {} to {digits} digits is not supported", other.name())),
    }
}

/// By the shortest digits that give the number, as Spark does it.
fn round_double(value: f64, digits: i8) -> Eval<f64> {
    if !value.is_finite() || value.abs() >= 1e18 {
        return Ok(value);
    }
    let text = java_double(value);
    let (unscaled, scale) = decimal_digits(&text).ok_or_else(|| format!("round({text}) is not supported"))?;
    if scale <= digits {
        return Ok(value);
    }
    let rounded = rescale(unscaled, scale, digits)?;
    plain(rounded, digits).parse().map_err(|_| format!("round({text}) is not supported"))
}
