//! The types in which the columns of a checkpoint are decoded.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};

/// The schema of a file as it is decoded: the long texts, `add.path` and `add.stats`, as views, because these are not
/// copied out of the page; the INT96 times of Spark in microseconds, because in nanoseconds many have no value.
pub(super) fn with_views(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|f| match f.data_type() {
        DataType::Struct(children) if f.name() == "add" => {
            let children: Fields = children.iter().map(decoded_as).collect();
            Arc::new(f.as_ref().clone().with_data_type(DataType::Struct(children)))
        }
        _ => f.clone(),
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone()))
}

/// The schema with the texts in the map `add.partitionValues` as dictionaries.
pub(super) fn with_codes(schema: &SchemaRef) -> SchemaRef {
    fn coded(field: &Field, path: &[&str]) -> Field {
        let of = |fields: &Fields, is: &dyn Fn(&Field) -> bool, rest: &[&str]| {
            fields
                .iter()
                .map(|f| if is(f) { Arc::new(coded(f, rest)) } else { f.clone() })
                .collect::<Fields>()
        };
        let data_type = match (field.data_type(), path) {
            (DataType::Struct(fields), [name, rest @ ..]) => {
                DataType::Struct(of(fields, &|f| f.name() == name, rest))
            }
            (DataType::Map(entries, sorted), []) => {
                let DataType::Struct(fields) = entries.data_type() else { return field.clone() };
                let fields = DataType::Struct(of(fields, &|_| true, &[]));
                DataType::Map(Arc::new(entries.as_ref().clone().with_data_type(fields)), *sorted)
            }
            (DataType::Utf8, []) => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            (other, _) => other.clone(),
        };
        field.clone().with_data_type(data_type)
    }
    let fields = schema.fields().iter().map(|f| match f.name().as_str() {
        "add" => Arc::new(coded(f, &["partitionValues"])),
        _ => f.clone(),
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone()))
}

fn decoded_as(field: &Arc<Field>) -> Arc<Field> {
    let data_type = match field.data_type() {
        DataType::Utf8 if field.name() == "path" || field.name() == "stats" => DataType::Utf8View,
        parsed => in_microseconds(parsed),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

fn in_microseconds(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
        }
        DataType::Struct(fields) => {
            let field = |f: &Arc<Field>| f.as_ref().clone().with_data_type(in_microseconds(f.data_type()));
            DataType::Struct(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}
