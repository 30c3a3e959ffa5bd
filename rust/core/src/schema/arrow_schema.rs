use std::sync::Arc;

use arrow::datatypes::{DataType as Arrow, Field, Fields, Schema, TimeUnit};

use super::{DataType, StructField, StructType};

/// The Arrow schema of a table: logical names, microsecond timestamps, instants in UTC.
pub fn to_arrow_schema(schema: &StructType) -> Schema {
    Schema::new(fields(schema))
}

/// The Arrow type of a Delta type. A variant is a struct of `value` and `metadata`, both binary, in Spark's
/// order.
pub fn arrow_type(data_type: &DataType) -> Arrow {
    match data_type {
        DataType::String => Arrow::Utf8,
        DataType::Long => Arrow::Int64,
        DataType::Integer => Arrow::Int32,
        DataType::Short => Arrow::Int16,
        DataType::Byte => Arrow::Int8,
        DataType::Float => Arrow::Float32,
        DataType::Double => Arrow::Float64,
        DataType::Decimal(precision, scale) => Arrow::Decimal128(*precision, *scale),
        DataType::Boolean => Arrow::Boolean,
        DataType::Binary => Arrow::Binary,
        DataType::Date => Arrow::Date32,
        DataType::Timestamp => Arrow::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        DataType::TimestampNtz => Arrow::Timestamp(TimeUnit::Microsecond, None),
        DataType::Void => Arrow::Null,
        DataType::Variant => Arrow::Struct(Fields::from(vec![
            Field::new("value", Arrow::Binary, false),
            Field::new("metadata", Arrow::Binary, false),
        ])),
        DataType::UserDefined(_) => arrow_type(data_type.stored()),
        DataType::Struct(s) => Arrow::Struct(fields(s)),
        DataType::Array(a) => {
            Arrow::List(Arc::new(Field::new("element", arrow_type(&a.element_type), a.contains_null)))
        }
        DataType::Map(m) => {
            let entries = Fields::from(vec![
                Field::new("key", arrow_type(&m.key_type), false),
                Field::new("value", arrow_type(&m.value_type), m.value_contains_null),
            ]);
            Arrow::Map(Arc::new(Field::new("key_value", Arrow::Struct(entries), false)), false)
        }
    }
}

fn fields(schema: &StructType) -> Fields {
    schema.fields.iter().map(field).collect()
}

fn field(f: &StructField) -> Field {
    Field::new(&f.name, arrow_type(&f.data_type), f.nullable)
}
