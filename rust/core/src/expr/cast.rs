//! Casts between primitive types, as Spark's with ANSI on: what does not fit is an error, or null for `TRY_CAST`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray, PrimitiveArray, new_null_array};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as Arrow, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};

use super::cast_text::{self, decimal_digits, plain};
use super::coerce::{is_integral, is_numeric};
use super::decimal;
use super::kernel::Eval;
use super::time_text::{MICROS_PER_DAY, parse_date, parse_timestamp};
use crate::schema::{DataType, StructField, arrow_type};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// Whether the cast is one of those here.
pub(super) fn is_known(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    let time = |t: &T| matches!(t, T::Date | T::Timestamp | T::TimestampNtz);
    match (from, to) {
        (from, to) if is_same(from, to) => true,
        (T::Void, _) => true,
        (T::String, _) => !matches!(to, T::Struct(_) | T::Array(_) | T::Map(_) | T::Variant),
        (from, T::String) => super::coerce::is_atomic(from),
        (from, T::Boolean) => is_numeric(from),
        (T::Boolean, to) => is_numeric(to),
        (from, to) if is_numeric(from) && is_numeric(to) => true,
        (from, to) if time(from) && time(to) => true,
        (T::Timestamp, T::Long) | (T::Timestamp, T::Integer) => true,
        (from, T::Timestamp) => is_integral(from),
        _ => false,
    }
}

/// Whether the values of two types are the same, regardless of nullability and metadata.
fn is_same(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    match (from, to) {
        (T::Struct(a), T::Struct(b)) => {
            let same = |(a, b): (&StructField, &StructField)| {
                a.name.eq_ignore_ascii_case(&b.name) && is_same(&a.data_type, &b.data_type)
            };
            a.fields.len() == b.fields.len() && a.fields.iter().zip(&b.fields).all(same)
        }
        (T::Array(a), T::Array(b)) => is_same(&a.element_type, &b.element_type),
        (T::Map(a), T::Map(b)) => is_same(&a.key_type, &b.key_type) && is_same(&a.value_type, &b.value_type),
        (from, to) => from == to,
    }
}

/// A non-null value of a row: cast, null, or an error.
struct Caster {
    tries: bool,
}

impl Caster {
    fn keep<T>(&self, value: Eval<T>) -> Eval<Option<T>> {
        match value {
            Ok(value) => Ok(Some(value)),
            Err(_) if self.tries => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn primitive<T: ArrowPrimitiveType>(
        &self,
        array: &ArrayRef,
        f: impl Fn(usize) -> Eval<T::Native>,
    ) -> Eval<PrimitiveArray<T>> {
        (0..array.len()).map(|row| if array.is_null(row) { Ok(None) } else { self.keep(f(row)) }).collect()
    }
}

/// The values as another type.
pub(super) fn cast_to(array: &ArrayRef, from: &DataType, to: &DataType, tries: bool) -> Eval<ArrayRef> {
    use DataType as T;
    if is_same(from, to) {
        return Ok(array.clone());
    }
    if *from == T::Void {
        return Ok(new_null_array(&arrow_type(to), array.len()));
    }
    let caster = Caster { tries };
    let no_zone = |a: PrimitiveArray<TimestampMicrosecondType>| -> ArrayRef { Arc::new(a) };
    let utc = |a: PrimitiveArray<TimestampMicrosecondType>| -> ArrayRef { Arc::new(a.with_timezone("UTC")) };
    let micros = || array.as_primitive::<TimestampMicrosecondType>();
    let text = |row: usize| array.as_string::<i32>().value(row);
    Ok(match (from, to) {
        (_, T::String) => cast_text::to_text(array, from)?,
        (T::String, T::Binary) => {
            let texts = array.as_string::<i32>();
            Arc::new(texts.iter().map(|t| t.map(str::as_bytes)).collect::<BinaryArray>())
        }
        (T::String, T::Boolean) => {
            let truth = |row: usize| cast_text::truth(text(row));
            let values = (0..array.len()).map(|row| match array.is_null(row) {
                true => Ok(None),
                false => caster.keep(truth(row)),
            });
            Arc::new(values.collect::<Eval<BooleanArray>>()?)
        }
        (T::String, T::Date) => Arc::new(caster.primitive::<Date32Type>(array, |row| {
            parse_date(text(row)).ok_or_else(|| malformed(text(row), to))
        })?),
        (T::String, T::Timestamp) => utc(caster.primitive(array, |row| {
            parse_timestamp(text(row))?
                .map(super::time_text::Written::instant)
                .ok_or_else(|| malformed(text(row), to))
        })?),
        (T::String, T::TimestampNtz) => no_zone(caster.primitive(array, |row| {
            parse_timestamp(text(row))?.map(|t| t.wall).ok_or_else(|| malformed(text(row), to))
        })?),
        (T::Date, T::Timestamp | T::TimestampNtz) => {
            let days = array.as_primitive::<Date32Type>();
            // 32-bit days do not all fit 64-bit microseconds
            let cast = caster.primitive(array, |row| {
                let day = i64::from(days.value(row));
                day.checked_mul(MICROS_PER_DAY).ok_or_else(|| format!("overflow: day {day} as {}", to.name()))
            })?;
            if *to == T::Timestamp { utc(cast) } else { no_zone(cast) }
        }
        (T::Timestamp | T::TimestampNtz, T::Date) => {
            Arc::new(micros().unary::<_, Date32Type>(|v| v.div_euclid(MICROS_PER_DAY) as i32))
        }
        (T::Timestamp, T::TimestampNtz) => no_zone(micros().clone().with_timezone_opt(None::<Arc<str>>)),
        (T::TimestampNtz, T::Timestamp) => utc(micros().clone()),
        (T::Timestamp, T::Long) => {
            Arc::new(micros().unary::<_, Int64Type>(|v| v.div_euclid(MICROS_PER_SECOND)))
        }
        (T::Timestamp, T::Integer) => Arc::new(caster.primitive::<Int32Type>(array, |row| {
            let seconds = micros().value(row).div_euclid(MICROS_PER_SECOND);
            i32::try_from(seconds).map_err(|_| out_of_range(seconds, to))
        })?),
        (from, T::Timestamp) if is_integral(from) => {
            let longs = cast_to(array, from, &T::Long, false)?;
            let longs = longs.as_primitive::<Int64Type>();
            utc(caster.primitive(array, |row| {
                let seconds = longs.value(row);
                // Spark saturates; an error says more
                seconds.checked_mul(MICROS_PER_SECOND).ok_or_else(|| out_of_range(seconds, to))
            })?)
        }
        (T::Boolean, to) if is_numeric(to) => {
            let truths = array.as_boolean();
            let bytes: PrimitiveArray<Int8Type> = truths.iter().map(|t| t.map(i8::from)).collect();
            return cast_to(&(Arc::new(bytes) as ArrayRef), &T::Byte, to, tries);
        }
        (from, T::Boolean) if is_numeric(from) => not_zero(array)?,
        (from, to) if (is_numeric(from) || *from == T::String) && is_numeric(to) => {
            number(&caster, array, from, to)?
        }
        _ => return Err(format!("a cast of {} to {} is not supported", from.name(), to.name())),
    })
}

fn malformed(text: &str, to: &DataType) -> String {
    format!("'{text}' cannot be cast to {}", to.name())
}

fn out_of_range(value: impl std::fmt::Display, to: &DataType) -> String {
    format!("overflow: {value} does not fit {}", to.name())
}

fn not_zero(array: &ArrayRef) -> Eval<ArrayRef> {
    macro_rules! truths {
        ($kind:ty, $zero:expr) => {
            array.as_primitive::<$kind>().iter().map(|v| v.map(|v| v != $zero)).collect::<BooleanArray>()
        };
    }
    Ok(Arc::new(match array.data_type() {
        Arrow::Int8 => truths!(Int8Type, 0),
        Arrow::Int16 => truths!(Int16Type, 0),
        Arrow::Int32 => truths!(Int32Type, 0),
        Arrow::Int64 => truths!(Int64Type, 0),
        Arrow::Float32 => truths!(Float32Type, 0.0),
        Arrow::Float64 => truths!(Float64Type, 0.0),
        Arrow::Decimal128(..) => truths!(Decimal128Type, 0),
        other => return Err(format!("a cast of {other} to boolean is not supported")),
    }))
}

/// A number before it is cast.
enum Number {
    Whole(i64),
    Floating(f64),
    /// Unscaled value and scale.
    Decimal(i128, i8),
}

fn numbers<'a>(
    array: &'a ArrayRef,
    from: &'a DataType,
    to: &'a DataType,
) -> Box<dyn Fn(usize) -> Eval<Number> + 'a> {
    macro_rules! read {
        ($kind:ty, $number:expr) => {{
            let values = array.as_primitive::<$kind>();
            Box::new(move |row| Ok($number(values.value(row))))
        }};
    }
    match from {
        DataType::Byte => read!(Int8Type, |v| Number::Whole(i64::from(v))),
        DataType::Short => read!(Int16Type, |v| Number::Whole(i64::from(v))),
        DataType::Integer => read!(Int32Type, |v| Number::Whole(i64::from(v))),
        DataType::Long => read!(Int64Type, Number::Whole),
        DataType::Float => read!(Float32Type, |v| Number::Floating(f64::from(v))),
        DataType::Double => read!(Float64Type, Number::Floating),
        DataType::Decimal(_, scale) => {
            let scale = *scale;
            read!(Decimal128Type, |v| Number::Decimal(v, scale))
        }
        _ => {
            let texts = array.as_string::<i32>();
            Box::new(move |row| {
                let text = texts.value(row);
                let parsed = match to {
                    DataType::Decimal(..) => decimal_digits(text).map(|(v, s)| Number::Decimal(v, s)),
                    DataType::Float => cast_text::float(text).map(|v| Number::Floating(f64::from(v))),
                    DataType::Double => cast_text::double(text).map(Number::Floating),
                    _ => cast_text::whole(text).map(Number::Whole),
                };
                parsed.ok_or_else(|| malformed(text, to))
            })
        }
    }
}

fn number(caster: &Caster, array: &ArrayRef, from: &DataType, to: &DataType) -> Eval<ArrayRef> {
    let read = numbers(array, from, to);
    let whole = |row: usize| -> Eval<i64> {
        match read(row)? {
            Number::Whole(v) => Ok(v),
            Number::Floating(v) => {
                let cut = v.trunc();
                // 2^63 itself is no long
                let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&cut);
                if fits { Ok(cut as i64) } else { Err(out_of_range(v, to)) }
            }
            Number::Decimal(v, scale) => {
                let cut = v / 10_i128.pow(u32::from(scale.unsigned_abs()));
                i64::try_from(cut).map_err(|_| out_of_range(cut, to))
            }
        }
    };
    macro_rules! narrow {
        ($kind:ty, $native:ty) => {
            Arc::new(caster.primitive::<$kind>(array, |row| {
                let value = whole(row)?;
                <$native>::try_from(value).map_err(|_| out_of_range(value, to))
            })?) as ArrayRef
        };
    }
    let floating = |row: usize| -> Eval<f64> {
        Ok(match read(row)? {
            Number::Whole(v) => v as f64,
            Number::Floating(v) => v,
            Number::Decimal(v, scale) => plain(v, scale).parse().map_err(|_| out_of_range(v, to))?,
        })
    };
    Ok(match to {
        DataType::Byte => narrow!(Int8Type, i8),
        DataType::Short => narrow!(Int16Type, i16),
        DataType::Integer => narrow!(Int32Type, i32),
        DataType::Long => narrow!(Int64Type, i64),
        DataType::Double if *from == DataType::Float => {
            Arc::new(array.as_primitive::<Float32Type>().unary::<_, Float64Type>(f64::from))
        }
        DataType::Double => Arc::new(caster.primitive::<Float64Type>(array, floating)?),
        DataType::Float => Arc::new(caster.primitive::<Float32Type>(array, |row| {
            Ok(match read(row)? {
                Number::Whole(v) => v as f32,
                Number::Floating(v) => v as f32,
                Number::Decimal(v, scale) => plain(v, scale).parse().map_err(|_| out_of_range(v, to))?,
            })
        })?),
        DataType::Decimal(precision, scale) => {
            let value = |row: usize| -> Eval<i128> {
                let (value, own) = match read(row)? {
                    Number::Whole(v) => (i128::from(v), 0),
                    Number::Decimal(v, scale) => (v, scale),
                    Number::Floating(v) => {
                        // by the shortest digits that give the number, as Java has them
                        let text = if *from == DataType::Float {
                            cast_text::java_float(v as f32)
                        } else {
                            cast_text::java_double(v)
                        };
                        decimal_digits(&text).ok_or_else(|| out_of_range(v, to))?
                    }
                };
                decimal::checked(decimal::rescale(value, own, *scale)?, *precision)
            };
            let values: PrimitiveArray<Decimal128Type> = (0..array.len())
                .map(|row| match array.is_null(row) {
                    true => Ok(None),
                    // what is not a number, or infinite, is null by either setting
                    false => match read(row) {
                        Ok(Number::Floating(v)) if !v.is_finite() => Ok(None),
                        _ => caster.keep(value(row)),
                    },
                })
                .collect::<Eval<_>>()?;
            let values = values.with_precision_and_scale(*precision, *scale).map_err(|e| e.to_string())?;
            Arc::new(values)
        }
        other => return Err(format!("a cast to {} is not supported", other.name())),
    })
}
