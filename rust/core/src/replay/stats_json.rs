//! `stats_parsed` of a checkpoint as the JSON text of `stats` (PROTOCOL.md, "Per-file Statistics"): some checkpoints
//! hold only the one.

use arrow::array::{Array, ArrayRef, AsArray, StructArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimeUnit, TimestampMicrosecondType,
};
use arrow::temporal_conversions::{date32_to_datetime, timestamp_us_to_datetime};
use serde_json::{Map, Number, Value};

/// The JSON text of a row; `None` where there are no statistics.
pub(crate) fn stats_json(stats: &StructArray, row: usize) -> Option<String> {
    if stats.is_null(row) {
        return None;
    }
    let object = object(stats, row);
    (!object.is_empty()).then(|| Value::Object(object).to_string())
}

fn object(parent: &StructArray, row: usize) -> Map<String, Value> {
    let fields = parent.fields().iter().zip(parent.columns());
    fields.filter_map(|(field, array)| Some((field.name().clone(), value(array, row)?))).collect()
}

/// The value of a row; `None` for null and for types that statistics do not have.
fn value(array: &ArrayRef, row: usize) -> Option<Value> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Struct(_) => Value::Object(object(array.as_struct(), row))
            .as_object()
            .filter(|o| !o.is_empty())
            .cloned()
            .map(Value::Object)?,
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Int8 => array.as_primitive::<Int8Type>().value(row).into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float32 => float(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(..) => {
            let text = array.as_primitive::<Decimal128Type>().value_as_string(row);
            serde_json::from_str(&text).ok()?
        }
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::Utf8View => array.as_string_view().value(row).into(),
        DataType::Date32 => date32_to_datetime(array.as_primitive::<Date32Type>().value(row))?
            .format("%Y-%m-%d")
            .to_string()
            .into(),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let at = timestamp_us_to_datetime(array.as_primitive::<TimestampMicrosecondType>().value(row))?;
            let suffix = if zone.is_some() { "Z" } else { "" };
            format!("{}{suffix}", at.format("%Y-%m-%dT%H:%M:%S%.6f")).into()
        }
        _ => return None,
    })
}

/// JSON has no NaN and no infinity; Spark writes them as text.
fn float(v: f64) -> Value {
    Number::from_f64(v).map_or_else(
        || {
            Value::from(if v.is_nan() {
                "NaN"
            } else if v > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            })
        },
        Value::Number,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_has_no_number_for_is_text() {
        let texts = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.5].map(|v| float(v).to_string());
        assert_eq!(texts, ["\"NaN\"", "\"Infinity\"", "\"-Infinity\"", "1.5"]);
    }

    #[test]
    fn each_type_of_a_statistic_is_as_a_writer_prints_it() {
        use std::sync::Arc;

        use arrow::array::{
            BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int16Array,
            Int32Array, Int64Array, StringArray, StringViewArray, TimestampMicrosecondArray,
        };
        let decimal = Decimal128Array::from(vec![1250]).with_precision_and_scale(10, 2).unwrap();
        let local = TimestampMicrosecondArray::from(vec![1_500_000]);
        let arrays: [(ArrayRef, &str); 13] = [
            (Arc::new(BooleanArray::from(vec![true])), "true"),
            (Arc::new(Int8Array::from(vec![-8])), "-8"),
            (Arc::new(Int16Array::from(vec![16])), "16"),
            (Arc::new(Int32Array::from(vec![32])), "32"),
            (Arc::new(Int64Array::from(vec![64])), "64"),
            (Arc::new(Float32Array::from(vec![0.5])), "0.5"),
            (Arc::new(Float64Array::from(vec![0.25])), "0.25"),
            (Arc::new(decimal), "12.50"),
            (Arc::new(StringArray::from(vec!["a"])), "\"a\""),
            (Arc::new(StringViewArray::from(vec!["b"])), "\"b\""),
            (Arc::new(Date32Array::from(vec![1])), "\"1970-01-02\""),
            (Arc::new(local.clone()), "\"1970-01-01T00:00:01.500000\""),
            (Arc::new(local.with_timezone("UTC")), "\"1970-01-01T00:00:01.500000Z\""),
        ];
        for (array, text) in arrays {
            let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(value(&array, 0), Some(number(text)), "{text}");
            assert_eq!(value(&arrow::array::new_null_array(array.data_type(), 1), 0), None);
        }
    }
}
