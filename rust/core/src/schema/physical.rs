//! The schema as data files have it.

use serde_json::{Map, Value};

use super::{ArrayType, ColumnMappingMode, DataType, MapType, StructField, StructType};

/// Field metadata key by which Spark's Parquet writer and reader know the id of a column.
pub const SPARK_FIELD_ID: &str = "parquet.field.id";

/// The schema with the names of data files at every depth and, under column mapping, their ids as [`SPARK_FIELD_ID`].
/// Other metadata is left out, and everything is nullable: data files may lack what the table promises.
pub fn stored_schema(schema: &StructType, mode: ColumnMappingMode) -> StructType {
    StructType { fields: schema.fields.iter().map(|f| stored_field(f, mode)).collect() }
}

fn stored_field(field: &StructField, mode: ColumnMappingMode) -> StructField {
    let mut metadata = Map::new();
    if let (Some(id), true) = (field.field_id(), mode != ColumnMappingMode::None) {
        metadata.insert(SPARK_FIELD_ID.into(), Value::from(id));
    }
    StructField {
        name: field.physical_name(mode).to_owned(),
        data_type: stored_type(&field.data_type, mode),
        nullable: true,
        metadata,
    }
}

fn stored_type(data_type: &DataType, mode: ColumnMappingMode) -> DataType {
    match data_type {
        DataType::Struct(s) => DataType::Struct(Box::new(stored_schema(s, mode))),
        DataType::Array(a) => DataType::Array(Box::new(ArrayType {
            element_type: stored_type(&a.element_type, mode),
            contains_null: true,
        })),
        DataType::Map(m) => DataType::Map(Box::new(MapType {
            key_type: stored_type(&m.key_type, mode),
            value_type: stored_type(&m.value_type, mode),
            value_contains_null: true,
        })),
        primitive => primitive.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_of_data_files_at_every_depth() {
        let text = r#"{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":{"type":"struct","fields":[
            {"name":"x","type":"long","nullable":false,"metadata":{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"col-2"}}]},
            "containsNull":false},"nullable":false,"metadata":{"comment":"c","delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-1"}}]}"#;
        let schema = StructType::from_json(text).unwrap();
        let stored = stored_schema(&schema, ColumnMappingMode::Name).to_json();
        let expected = r#"{"type":"struct","fields":[{"name":"col-1","type":{"type":"array","elementType":{"type":"struct","fields":[
            {"name":"col-2","type":"long","nullable":true,"metadata":{"parquet.field.id":2}}]},
            "containsNull":true},"nullable":true,"metadata":{"parquet.field.id":1}}]}"#;
        assert_eq!(stored, StructType::from_json(expected).unwrap().to_json());
        let plain = stored_schema(&schema, ColumnMappingMode::None);
        assert_eq!(plain.fields[0].name, "a");
        assert!(plain.fields[0].metadata.is_empty());
    }
}
