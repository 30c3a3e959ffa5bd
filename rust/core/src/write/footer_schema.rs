//! The Delta schema of a Parquet file that someone else wrote.

use std::collections::HashMap;

use arrow::datatypes::{DataType as Arrow, TimeUnit as ArrowUnit};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::{LogicalType, TimeUnit, Type as Physical};
use parquet::file::metadata::ParquetMetaData;

use crate::error::{Error, Result};
use crate::scan::retype;
use crate::schema::{StructType, as_nullable, from_arrow};

/// Where Spark notes the schema that it wrote.
const SPARK_SCHEMA: &str = "org.apache.spark.sql.parquet.row.metadata";

/// The columns of a file as Spark would read them, all nullable: by Spark's own note, else by the types of the file, of
/// which `INT96` is a timestamp. Comments stay; field ids and the annotations of another table go.
///
/// # Errors
/// [`Error::DataFile`] for a type that no table can hold: a time, nanoseconds, unsigned or half-precision numbers out of
/// Spark's reach.
pub(crate) fn footer_schema(footer: &ParquetMetaData, path: &str) -> Result<StructType> {
    let schema = match noted(footer) {
        Some(schema) => schema,
        None => from_types(footer, path)?,
    };
    let mut schema = as_nullable(&schema);
    schema.change_fields(&mut |_, field| field.metadata.retain(|key, _| key == "comment"));
    Ok(schema)
}

/// What Spark noted. Its notes of versions before 1.3, and of types that are no table's, do not parse; then the types of
/// the file speak.
fn noted(footer: &ParquetMetaData) -> Option<StructType> {
    let notes = footer.file_metadata().key_value_metadata()?;
    let note = notes.iter().find(|kv| kv.key == SPARK_SCHEMA)?.value.as_deref()?;
    StructType::from_json(note).ok()
}

fn from_types(footer: &ParquetMetaData, path: &str) -> Result<StructType> {
    let invalid = |reason: String| Error::DataFile { path: path.to_owned(), reason };
    let parquet = footer.file_metadata().schema_descr();
    let mut instants = HashMap::new();
    for (leaf, column) in parquet.columns().iter().enumerate() {
        let refused = match column.logical_type_ref() {
            _ if column.physical_type() == Physical::INT96 => {
                instants.insert(leaf, Arrow::Timestamp(ArrowUnit::Microsecond, Some("UTC".into())));
                None
            }
            Some(LogicalType::Timestamp(time)) if time.unit == TimeUnit::NANOS => Some("nanoseconds"),
            Some(LogicalType::Float16) => Some("half-precision numbers"),
            _ => None,
        };
        if let Some(what) = refused {
            return Err(invalid(format!(
                "column `{}` holds {what}, which no engine reads from a Delta table; write the file again",
                column.path().string()
            )));
        }
    }
    let arrow = parquet_to_arrow_schema(parquet, None).map_err(|e| invalid(e.to_string()))?;
    let fields = retype(arrow.fields(), &mut 0, &instants);
    from_arrow(&arrow::datatypes::Schema::new(fields)).map_err(|e| invalid(e.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::file::metadata::{FileMetaData, KeyValue};
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::*;

    fn footer(message: &str, note: Option<&str>) -> ParquetMetaData {
        let schema = SchemaDescriptor::new(Arc::new(parse_message_type(message).unwrap()));
        let notes = note.map(|n| vec![KeyValue::new(SPARK_SCHEMA.to_owned(), n.to_owned())]);
        ParquetMetaData::new(FileMetaData::new(2, 0, None, notes, Arc::new(schema), None), vec![])
    }

    fn types(message: &str) -> Result<String> {
        let schema = footer_schema(&footer(message, None), "f")?;
        assert!(schema.fields.iter().all(|f| f.nullable));
        Ok(schema
            .fields
            .iter()
            .map(|f| format!("{} {}", f.name, f.data_type.to_json().to_string().replace('"', "")))
            .collect::<Vec<_>>()
            .join(", "))
    }

    #[test]
    fn types_are_those_that_spark_reads() {
        let message = "message m { required int32 a = 7; optional int96 t; optional int64 u (TIMESTAMP(MICROS,false));
            optional int32 c (INTEGER(32,false)); optional binary s (UTF8); optional binary b; optional int32 d (DATE);
            optional group l (LIST) { repeated group list { required int96 element; } } }";
        assert_eq!(
            types(message).unwrap(),
            "a integer, t timestamp, u timestamp_ntz, c long, s string, b binary, d date, \
             l {containsNull:true,elementType:timestamp,type:array}"
        );
    }

    #[test]
    fn what_no_table_holds_is_refused_by_name() {
        for (message, word) in [
            ("message m { optional int64 t (TIMESTAMP(NANOS,true)); }", "nanoseconds"),
            ("message m { optional group g { optional int64 t (TIME(MICROS,true)); } }", "Time64"),
        ] {
            let error = types(message).unwrap_err();
            assert_eq!(error.kind(), "DataFile");
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn the_note_of_spark_comes_first_and_only_comments_stay() {
        let note = r#"{"type":"struct","fields":[{"name":"a","type":"byte","nullable":false,
            "metadata":{"comment":"c","delta.columnMapping.id":1,"parquet.field.id":3}}]}"#;
        let message = "message m { required int32 a; }";
        let schema = footer_schema(&footer(message, Some(note)), "f").unwrap();
        let field = &schema.fields[0];
        assert_eq!(
            (field.data_type.name().as_str(), field.nullable, field.metadata.len()),
            ("byte", true, 1)
        );
        let unread = footer_schema(&footer(message, Some("Row(a)")), "f").unwrap();
        assert_eq!(unread.fields[0].data_type.name(), "integer");
    }
}
