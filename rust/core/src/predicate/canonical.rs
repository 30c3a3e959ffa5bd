//! Arrow arrays of many types brought to one array type a kind of value, so that rules and kernels are written once.

use std::borrow::Cow;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Decimal128Array, Float64Array, Int64Array,
    PrimitiveArray,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as Arrow, Date32Type, Decimal128Type, Float64Type, Int64Type, TimeUnit,
    TimestampMicrosecondType,
};

use super::scalar::Scalar;
use crate::schema::DataType;

/// An array in the domain of [`Scalar`].
#[derive(Debug)]
pub(crate) enum Canonical {
    Boolean(BooleanArray),
    /// Whole numbers, days, microseconds.
    Integer(Int64Array),
    Double(Float64Array),
    Decimal(Decimal128Array),
    Bytes(BinaryViewArray),
}

/// Converts an array to the domain of a column type. `None` if the array's type cannot represent such values exactly.
pub(crate) fn canonical(array: &ArrayRef, data_type: &DataType) -> Option<Canonical> {
    let array = match array.data_type() {
        Arrow::Dictionary(_, values) => convert(array, values)?,
        Arrow::RunEndEncoded(_, values) => convert(array, values.data_type())?,
        _ => array.clone(),
    };
    let from = array.data_type();
    Some(match data_type {
        DataType::Boolean => Canonical::Boolean(array.as_boolean_opt()?.clone()),
        DataType::Byte | DataType::Short | DataType::Integer | DataType::Long if from.is_signed_integer() => {
            Canonical::Integer(converted::<Int64Type>(&array, &Arrow::Int64)?)
        }
        DataType::Date if *from == Arrow::Date32 => {
            Canonical::Integer(array.as_primitive_opt::<Date32Type>()?.unary(i64::from))
        }
        DataType::Timestamp | DataType::TimestampNtz if exact_as_micros(from, data_type) => {
            // with its zone kept: without one the cast could mean the wall clock
            let zone = if let Arrow::Timestamp(_, zone) = from { zone.clone() } else { None };
            let micros = Arrow::Timestamp(TimeUnit::Microsecond, zone);
            let micros = converted::<TimestampMicrosecondType>(&array, &micros)?;
            Canonical::Integer(micros.reinterpret_cast())
        }
        DataType::Float | DataType::Double if exact_as_double(from) => {
            Canonical::Double(converted::<Float64Type>(&array, &Arrow::Float64)?)
        }
        DataType::Decimal(_, scale) if exact_at_scale(from, *scale) => {
            Canonical::Decimal(converted::<Decimal128Type>(&array, &Arrow::Decimal128(38, *scale))?)
        }
        DataType::String if from.is_string() => bytes(&array)?,
        DataType::Binary if from.is_string() || from.is_binary() => bytes(&array)?,
        _ => return None,
    })
}

fn bytes(array: &ArrayRef) -> Option<Canonical> {
    // text first becomes views of text: that shares the buffers
    let views = if array.data_type().is_string() { convert(array, &Arrow::Utf8View)? } else { array.clone() };
    Some(Canonical::Bytes(convert(&views, &Arrow::BinaryView)?.as_binary_view_opt()?.clone()))
}

/// Nanoseconds are refused: Parquet's INT96 overflows in them.
fn exact_as_micros(from: &Arrow, to: &DataType) -> bool {
    match from {
        Arrow::Timestamp(unit, _) => *unit != TimeUnit::Nanosecond,
        Arrow::Date32 => *to == DataType::TimestampNtz,
        _ => false,
    }
}

fn exact_as_double(from: &Arrow) -> bool {
    matches!(from, Arrow::Float32 | Arrow::Float64 | Arrow::Int8 | Arrow::Int16 | Arrow::Int32)
}

fn exact_at_scale(from: &Arrow, scale: i8) -> bool {
    match from {
        Arrow::Decimal32(_, s) | Arrow::Decimal64(_, s) | Arrow::Decimal128(_, s) => *s <= scale,
        other => other.is_signed_integer(),
    }
}

fn convert(array: &ArrayRef, to: &Arrow) -> Option<ArrayRef> {
    if array.data_type() == to {
        return Some(array.clone());
    }
    cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() }).ok()
}

fn converted<T: ArrowPrimitiveType>(array: &ArrayRef, to: &Arrow) -> Option<PrimitiveArray<T>> {
    Some(convert(array, to)?.as_primitive_opt::<T>()?.clone())
}

impl Canonical {
    /// The value in a row, `None` where it is null.
    pub(crate) fn value(&self, row: usize) -> Option<Scalar<'_>> {
        if self.as_array().is_null(row) {
            return None;
        }
        Some(match self {
            Canonical::Boolean(a) => Scalar::Boolean(a.value(row)),
            Canonical::Integer(a) => Scalar::Integer(a.value(row)),
            Canonical::Double(a) => Scalar::Double(a.value(row)),
            Canonical::Decimal(a) => Scalar::Decimal(a.value(row)),
            Canonical::Bytes(a) => Scalar::Bytes(Cow::Borrowed(a.value(row))),
        })
    }

    /// The array itself.
    pub(crate) fn as_array(&self) -> &dyn Array {
        match self {
            Canonical::Boolean(a) => a,
            Canonical::Integer(a) => a,
            Canonical::Double(a) => a,
            Canonical::Decimal(a) => a,
            Canonical::Bytes(a) => a,
        }
    }
}
