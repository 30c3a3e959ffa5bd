//! Conversion of the values of a data file into the table's types: decided once a file, applied to each batch.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Decimal128Array, Int64Array, ListArray, MapArray, PrimitiveArray,
    StructArray, TimestampMicrosecondArray, new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType as Arrow, Date32Type, Decimal128Type, FieldRef, Fields, TimeUnit, TimestampMicrosecondType,
};
use arrow::error::ArrowError;

use super::variant::unshredded;
use crate::parquet::{rebase_dates, rebase_instants};

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// How an array of a file becomes an array of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Convert {
    /// It already is one.
    Keep,
    /// All null, whatever the file has.
    Null(Arrow),
    /// A checked cast of arrow-rs: a value that does not fit is an error.
    Cast(Arrow),
    /// Same integers under another type: the time zone, or a larger precision of the same scale.
    Relabel(Arrow),
    /// A timestamp of another unit; nanoseconds are cut towards the past. Never moved between time zones.
    Rescale(TimeUnit, Arrow),
    /// Midnight of the day.
    DateToTimestamp,
    /// Dates of the hybrid calendar, then the conversion.
    HybridDates(Box<Convert>),
    /// The conversion, whose result are instants of the hybrid calendar and this time zone.
    HybridInstants(Box<Convert>, String),
    /// Fields of a struct, each from the child of this index; missing ones are null.
    Struct(Fields, Vec<Option<(usize, Convert)>>),
    /// Elements.
    List(FieldRef, Box<Convert>),
    /// Keys and values; the field is that of the entries.
    Map(FieldRef, Box<Convert>, Box<Convert>),
    /// A variant, parts of which stand in columns of their own; the fields are those of the binary form.
    Unshred(Fields),
}

/// The conversion of a primitive, or `None` when the table cannot hold such values.
pub(crate) fn primitive(from: &Arrow, to: &Arrow) -> Option<Convert> {
    use Arrow::*;
    use TimeUnit::Microsecond;
    if from == to {
        return Some(Convert::Keep);
    }
    let cast = || Some(Convert::Cast(to.clone()));
    match (from, to) {
        (Null, _) | (_, Null) => Some(Convert::Null(to.clone())),
        // widening, and the narrow types that a writer left without annotation; both are checked
        (Int8 | Int16 | Int32 | Int64, Int8 | Int16 | Int32 | Int64) => cast(),
        (UInt8 | UInt16 | UInt32 | UInt64, Int8 | Int16 | Int32 | Int64) => cast(),
        (Int8 | Int16 | Int32 | UInt8 | UInt16 | Float16 | Float32, Float64) => cast(),
        (Float16, Float32) => cast(),
        (Int8 | Int16 | Int32 | Int64, Decimal128(_, _)) => cast(),
        (Decimal128(_, s1), Decimal128(_, s2)) if s1 == s2 => Some(Convert::Relabel(to.clone())),
        (Decimal128(_, s1) | Decimal256(_, s1), Decimal128(_, s2)) if s1 <= s2 => cast(),
        (Date32, Timestamp(Microsecond, None)) => Some(Convert::DateToTimestamp),
        // an instant is not a wall clock: whose clock would it be?
        (Timestamp(_, Some(_)), Timestamp(_, None)) => None,
        (Timestamp(Microsecond, _), Timestamp(Microsecond, _)) => Some(Convert::Relabel(to.clone())),
        (Timestamp(unit, _), Timestamp(Microsecond, _)) => Some(Convert::Rescale(*unit, to.clone())),
        (Utf8 | LargeUtf8 | Utf8View, Utf8 | Binary) => cast(),
        (Binary | LargeBinary | BinaryView | FixedSizeBinary(_), Binary) => cast(),
        // without an annotation, text is bytes; what is not UTF-8 is an error
        (Binary | LargeBinary | BinaryView, Utf8) => cast(),
        (Dictionary(_, value), _) => primitive(value, to).and_then(|inner| match inner {
            Convert::Keep | Convert::Cast(_) => cast(),
            _ => None,
        }),
        _ => None,
    }
}

impl Convert {
    /// Converts an array.
    ///
    /// # Errors
    /// When a value does not fit, or a null is where the table has none.
    pub(crate) fn apply(&self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Convert::Keep => array.clone(),
            Convert::Null(to) => new_null_array(to, array.len()),
            Convert::Cast(to) => {
                cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() })?
            }
            Convert::Relabel(to) => relabel(array, to)?,
            Convert::Rescale(unit, to) => relabel(&rescale(array, *unit)?, to)?,
            Convert::DateToTimestamp => {
                let days: &Date32Array = array.as_primitive::<Date32Type>();
                let micros: TimestampMicrosecondArray = days.try_unary(|day| {
                    i64::from(day).checked_mul(MICROS_PER_DAY).ok_or_else(|| {
                        ArrowError::ComputeError(format!("day {day} is out of the range of a timestamp"))
                    })
                })?;
                Arc::new(micros)
            }
            Convert::HybridDates(then) => then.apply(&rebase_dates(array)?)?,
            Convert::HybridInstants(first, zone) => rebase_instants(&first.apply(array)?, zone)?,
            Convert::Struct(fields, children) => {
                let source = array.as_struct();
                let columns = children
                    .iter()
                    .zip(fields)
                    .map(|(child, field)| match child {
                        Some((index, convert)) => convert.apply(source.column(*index)),
                        None => Ok(new_null_array(field.data_type(), source.len())),
                    })
                    .collect::<Result<Vec<_>, _>>()?;
                let nulls = source.nulls().cloned();
                Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, source.len())?)
            }
            Convert::List(field, element) => {
                let source = array.as_list::<i32>();
                let values = element.apply(source.values())?;
                Arc::new(ListArray::try_new(
                    field.clone(),
                    source.offsets().clone(),
                    values,
                    source.nulls().cloned(),
                )?)
            }
            Convert::Map(field, key, value) => {
                let source = array.as_map();
                let Arrow::Struct(fields) = field.data_type() else {
                    return Err(ArrowError::SchemaError("the entries of a map are a struct".into()));
                };
                let columns = vec![key.apply(source.keys())?, value.apply(source.values())?];
                let length = source.keys().len();
                let entries = StructArray::try_new_with_length(fields.clone(), columns, None, length)?;
                let (offsets, nulls) = (source.offsets().clone(), source.nulls().cloned());
                Arc::new(MapArray::try_new(field.clone(), offsets, entries, nulls, false)?)
            }
            Convert::Unshred(fields) => unshredded(array, fields)?,
        })
    }
}

/// A timestamp in microseconds, without a time zone.
fn rescale(array: &ArrayRef, unit: TimeUnit) -> Result<ArrayRef, ArrowError> {
    let times = array.to_data().into_builder().data_type(Arrow::Int64).build()?;
    let times = Int64Array::from(times);
    let scaled = |factor: i64| {
        times.try_unary::<_, TimestampMicrosecondType, _>(|v| {
            v.checked_mul(factor)
                .ok_or_else(|| ArrowError::ComputeError(format!("timestamp {v} is out of range")))
        })
    };
    Ok(Arc::new(match unit {
        TimeUnit::Second => scaled(1_000_000)?,
        TimeUnit::Millisecond => scaled(1000)?,
        TimeUnit::Microsecond => scaled(1)?,
        TimeUnit::Nanosecond => times.unary::<_, TimestampMicrosecondType>(|v| v.div_euclid(1000)),
    }))
}

/// The same integers under another type, without a copy.
fn relabel(array: &ArrayRef, to: &Arrow) -> Result<ArrayRef, ArrowError> {
    match to {
        Arrow::Timestamp(TimeUnit::Microsecond, zone) => {
            let times: &PrimitiveArray<TimestampMicrosecondType> = array.as_primitive();
            Ok(Arc::new(times.clone().with_timezone_opt(zone.clone())))
        }
        Arrow::Decimal128(precision, scale) => {
            let decimals: &Decimal128Array = array.as_primitive::<Decimal128Type>();
            let narrower = matches!(array.data_type(), Arrow::Decimal128(p, _) if p > precision);
            let relabelled = decimals.clone().with_precision_and_scale(*precision, *scale)?;
            if narrower {
                relabelled.validate_decimal_precision(*precision)?;
            }
            Ok(Arc::new(relabelled))
        }
        other => {
            Err(ArrowError::CastError(format!("{} is not {other} under another name", array.data_type())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::testing::text;
    use arrow::array::{
        BinaryArray, Decimal256Array, DictionaryArray, Float32Array, Int8Array, Int32Array, StringArray,
        TimestampMillisecondArray, TimestampNanosecondArray, UInt32Array,
    };
    use arrow::datatypes::{Int32Type, i256};

    const MICROS: Arrow = Arrow::Timestamp(TimeUnit::Microsecond, None);

    fn utc() -> Arrow {
        Arrow::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
    }

    fn read(array: impl Array + 'static, to: Arrow) -> String {
        let array: ArrayRef = Arc::new(array);
        let Some(convert) = primitive(array.data_type(), &to) else { return "refused".into() };
        match convert.apply(&array) {
            Ok(got) => {
                assert_eq!(got.data_type(), &to);
                (0..got.len()).map(|i| text(&got, i)).collect::<Vec<_>>().join(" ")
            }
            Err(error) => format!("error: {error}"),
        }
    }

    fn decimal(values: Vec<i128>, precision: u8, scale: i8) -> Decimal128Array {
        Decimal128Array::from(values).with_precision_and_scale(precision, scale).unwrap()
    }

    #[test]
    fn every_widening_of_the_protocol_keeps_the_values() {
        assert_eq!(read(Int8Array::from(vec![-128, 127]), Arrow::Int64), "-128 127");
        assert_eq!(read(Int32Array::from(vec![i32::MIN]), Arrow::Float64), "-2147483648.0");
        assert_eq!(read(Float32Array::from(vec![f32::NAN, 0.5]), Arrow::Float64), "NaN 0.5");
        assert_eq!(read(Date32Array::from(vec![-1, 0]), MICROS), "1969-12-31T00:00:00 1970-01-01T00:00:00");
        assert_eq!(read(decimal(vec![125], 4, 2), Arrow::Decimal128(10, 4)), "1.2500");
        assert_eq!(read(decimal(vec![125], 4, 2), Arrow::Decimal128(38, 2)), "1.25");
        assert_eq!(read(Int32Array::from(vec![7]), Arrow::Decimal128(12, 2)), "7.00");
        assert_eq!(read(Int64Array::from(vec![i64::MAX]), Arrow::Decimal128(20, 0)), "9223372036854775807");
    }

    #[test]
    fn a_value_that_does_not_fit_is_an_error_and_never_null() {
        assert!(read(Int32Array::from(vec![128]), Arrow::Int8).starts_with("error"));
        assert!(read(UInt32Array::from(vec![u32::MAX]), Arrow::Int32).starts_with("error"));
        assert!(read(decimal(vec![12345], 5, 2), Arrow::Decimal128(4, 2)).starts_with("error"));
        assert!(read(Date32Array::from(vec![i32::MAX]), MICROS).starts_with("error"));
        assert!(read(TimestampMillisecondArray::from(vec![i64::MAX]), MICROS).starts_with("error"));
        assert!(read(BinaryArray::from_vec(vec![&[0xff]]), Arrow::Utf8).starts_with("error"));
        let large =
            Decimal256Array::from(vec![i256::from_i128(i128::MAX)]).with_precision_and_scale(50, 0).unwrap();
        assert!(read(large, Arrow::Decimal128(38, 0)).starts_with("error"));
    }

    #[test]
    fn timestamps_become_microseconds_of_the_tables_kind() {
        assert_eq!(read(TimestampMillisecondArray::from(vec![-1]), MICROS), "1969-12-31T23:59:59.999");
        let nanos = || TimestampNanosecondArray::from(vec![-1, 1999]);
        assert_eq!(read(nanos(), MICROS), "1969-12-31T23:59:59.999999 1970-01-01T00:00:00.000001");
        assert_eq!(
            read(nanos().with_timezone("UTC"), utc()),
            "1969-12-31T23:59:59.999999Z 1970-01-01T00:00:00.000001Z"
        );
        let micros = || TimestampMicrosecondArray::from(vec![5]);
        assert_eq!(read(micros(), utc()), "1970-01-01T00:00:00.000005Z");
        assert_eq!(read(micros().with_timezone("UTC"), MICROS), "refused");
    }

    #[test]
    fn text_bytes_and_dictionaries_are_normalised() {
        let dictionary: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
        assert_eq!(read(dictionary, Arrow::Utf8), "a b a");
        assert_eq!(read(StringArray::from(vec!["é"]), Arrow::Binary), "c3a9");
        assert_eq!(read(BinaryArray::from_vec(vec!["é".as_bytes()]), Arrow::Utf8), "é");
        let same: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        assert_eq!(primitive(same.data_type(), &Arrow::Utf8), Some(Convert::Keep));
    }

    #[test]
    fn what_could_lose_something_is_refused() {
        assert_eq!(read(Int64Array::from(vec![1]), Arrow::Float64), "refused");
        assert_eq!(read(Int64Array::from(vec![1]), utc()), "refused");
        assert_eq!(read(Float32Array::from(vec![1.0]), Arrow::Int32), "refused");
        assert_eq!(read(decimal(vec![1], 4, 2), Arrow::Decimal128(4, 1)), "refused");
        assert_eq!(read(StringArray::from(vec!["1"]), Arrow::Int32), "refused");
        assert_eq!(read(TimestampMicrosecondArray::from(vec![1]), Arrow::Date32), "refused");
    }
}
