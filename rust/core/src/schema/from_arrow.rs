//! From the Arrow schema of the data to a Delta schema.

use arrow::datatypes::{DataType as Arrow, Field, Schema, TimeUnit};

use crate::error::{Error, Result};
use crate::schema::{ArrayType, DataType, MapType, StructField, StructType};

/// The Delta schema of Arrow data. Encodings (dictionary, run-end, large, view, fixed size) disappear; timestamps of any
/// unit become microseconds, without a time zone `timestamp_ntz`; unsigned integers become the next wider signed type,
/// as Spark reads them (`uint64` is `decimal(20,0)`).
///
/// # Errors
/// [`Error::InvalidSchema`] that names the column and type of what Delta has no type for.
pub fn from_arrow(schema: &Schema) -> Result<StructType> {
    let fields = schema.fields().iter().map(|f| from_field(f, f.name())).collect::<Result<Vec<_>>>()?;
    Ok(StructType { fields })
}

/// The same schema with every column, element and value nullable: what a Spark write creates.
pub fn as_nullable(schema: &StructType) -> StructType {
    fn relax(data_type: &DataType) -> DataType {
        match data_type {
            DataType::Struct(s) => DataType::Struct(Box::new(as_nullable(s))),
            DataType::Array(a) => DataType::Array(Box::new(ArrayType {
                element_type: relax(&a.element_type),
                contains_null: true,
            })),
            DataType::Map(m) => DataType::Map(Box::new(MapType {
                key_type: relax(&m.key_type),
                value_type: relax(&m.value_type),
                value_contains_null: true,
            })),
            primitive => primitive.clone(),
        }
    }
    let fields = schema
        .fields
        .iter()
        .map(|f| StructField { data_type: relax(&f.data_type), nullable: true, ..f.clone() })
        .collect();
    StructType { fields }
}

fn from_field(field: &Field, path: &str) -> Result<StructField> {
    let data_type = if is_variant(field) { DataType::Variant } else { from_type(field.data_type(), path)? };
    Ok(StructField::new(field.name(), data_type, field.is_nullable()))
}

/// The canonical extension type of Parquet variants.
fn is_variant(field: &Field) -> bool {
    field.metadata().get("ARROW:extension:name").is_some_and(|n| n == "arrow.parquet.variant")
}

fn from_type(data_type: &Arrow, path: &str) -> Result<DataType> {
    Ok(match data_type {
        Arrow::Null => DataType::Void,
        Arrow::Boolean => DataType::Boolean,
        Arrow::Int8 => DataType::Byte,
        Arrow::Int16 | Arrow::UInt8 => DataType::Short,
        Arrow::Int32 | Arrow::UInt16 => DataType::Integer,
        Arrow::Int64 | Arrow::UInt32 => DataType::Long,
        Arrow::UInt64 => DataType::Decimal(20, 0),
        Arrow::Float16 | Arrow::Float32 => DataType::Float,
        Arrow::Float64 => DataType::Double,
        Arrow::Utf8 | Arrow::LargeUtf8 | Arrow::Utf8View => DataType::String,
        Arrow::Binary | Arrow::LargeBinary | Arrow::BinaryView | Arrow::FixedSizeBinary(_) => {
            DataType::Binary
        }
        Arrow::Date32 | Arrow::Date64 => DataType::Date,
        Arrow::Timestamp(
            TimeUnit::Second | TimeUnit::Millisecond | TimeUnit::Microsecond | TimeUnit::Nanosecond,
            zone,
        ) => {
            if zone.is_some() {
                DataType::Timestamp
            } else {
                DataType::TimestampNtz
            }
        }
        Arrow::Decimal32(p, s)
        | Arrow::Decimal64(p, s)
        | Arrow::Decimal128(p, s)
        | Arrow::Decimal256(p, s)
            if *p <= 38 && *s >= 0 && *s as u8 <= *p =>
        {
            DataType::Decimal(*p, *s)
        }
        Arrow::Dictionary(_, value) => from_type(value, path)?,
        Arrow::RunEndEncoded(_, value) => from_type(value.data_type(), path)?,
        Arrow::Struct(fields) => {
            let fields = fields
                .iter()
                .map(|f| from_field(f, &format!("{path}.{}", f.name())))
                .collect::<Result<Vec<_>>>()?;
            DataType::Struct(Box::new(StructType { fields }))
        }
        Arrow::List(element)
        | Arrow::LargeList(element)
        | Arrow::ListView(element)
        | Arrow::LargeListView(element)
        | Arrow::FixedSizeList(element, _) => DataType::Array(Box::new(ArrayType {
            element_type: from_field(element, &format!("{path}.element"))?.data_type,
            contains_null: element.is_nullable(),
        })),
        Arrow::Map(entries, _) => match entries.data_type() {
            Arrow::Struct(pair) if pair.len() == 2 => DataType::Map(Box::new(MapType {
                key_type: from_field(&pair[0], &format!("{path}.key"))?.data_type,
                value_type: from_field(&pair[1], &format!("{path}.value"))?.data_type,
                value_contains_null: pair[1].is_nullable(),
            })),
            _ => return Err(refused(data_type, path)),
        },
        _ => return Err(refused(data_type, path)),
    })
}

fn refused(data_type: &Arrow, path: &str) -> Error {
    Error::InvalidSchema {
        reason: format!("column `{path}`: Delta has no type for the Arrow type {data_type}; cast it first"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn encodings_disappear_and_unsigned_widens() {
        let dictionary = Arrow::Dictionary(Box::new(Arrow::Int32), Box::new(Arrow::LargeUtf8));
        let list = Arrow::LargeList(Arc::new(Field::new("item", Arrow::UInt16, true)));
        let cases = [
            (dictionary, DataType::String),
            (Arrow::UInt8, DataType::Short),
            (Arrow::UInt64, DataType::Decimal(20, 0)),
            (Arrow::Timestamp(TimeUnit::Nanosecond, None), DataType::TimestampNtz),
            (Arrow::Timestamp(TimeUnit::Second, Some("+02:00".into())), DataType::Timestamp),
            (Arrow::Decimal256(38, 4), DataType::Decimal(38, 4)),
            (
                list,
                DataType::Array(Box::new(ArrayType { element_type: DataType::Integer, contains_null: true })),
            ),
        ];
        for (arrow, delta) in cases {
            let schema = Schema::new(vec![Field::new("c", arrow, false)]);
            let field = &from_arrow(&schema).unwrap().fields[0];
            assert_eq!((&field.data_type, field.nullable), (&delta, false));
        }
    }

    #[test]
    fn a_type_without_a_counterpart_is_named_with_its_column() {
        let inner = Field::new("d", Arrow::Duration(TimeUnit::Second), true);
        let schema = Schema::new(vec![Field::new("s", Arrow::Struct(vec![inner].into()), true)]);
        let error = from_arrow(&schema).unwrap_err().to_string();
        assert!(error.contains("`s.d`") && error.contains("Duration"), "{error}");
        let wide = Schema::new(vec![Field::new("x", Arrow::Decimal256(60, 4), true)]);
        assert!(from_arrow(&wide).unwrap_err().to_string().contains("`x`"));
    }
}
