//! Tables for the tests of this module.

use super::change::Change;
use super::finalize::finalize;
use crate::actions::{Metadata, Protocol};
use crate::alter::Definition;
use crate::schema::{ArrayType, DataType, MapType, StructField, StructType};

pub(crate) fn protocol(reader: i32, writer: i32) -> Protocol {
    Protocol {
        min_reader_version: reader,
        min_writer_version: writer,
        reader_features: None,
        writer_features: None,
    }
}

pub(crate) fn path(text: &str) -> Vec<String> {
    text.split('.').map(str::to_owned).collect()
}

/// A schema from a small part of SQL: `a long, b string not null, s struct<x: long>, l array<int>, m map<string, long>`.
pub(crate) fn schema(text: &str) -> StructType {
    StructType { fields: split(text).into_iter().map(column).collect() }
}

fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut out) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => {
                out.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(text[start..].trim());
    out.into_iter().filter(|t| !t.is_empty()).collect()
}

fn column(text: &str) -> StructField {
    let (name, rest) = text.split_once([' ', ':']).unwrap();
    let rest = rest.trim();
    let nullable = !rest.ends_with("not null");
    StructField::new(name, data_type(rest.trim_end_matches("not null").trim()), nullable)
}

pub(crate) fn data_type(text: &str) -> DataType {
    let inner = |prefix: &str| text.strip_prefix(prefix).and_then(|r| r.strip_suffix('>'));
    if let Some(fields) = inner("struct<") {
        return DataType::Struct(Box::new(schema(fields)));
    }
    if let Some(element) = inner("array<") {
        return DataType::Array(Box::new(ArrayType {
            element_type: data_type(element),
            contains_null: true,
        }));
    }
    if let Some(pair) = inner("map<") {
        let pair = split(pair);
        return DataType::Map(Box::new(MapType {
            key_type: data_type(pair[0]),
            value_type: data_type(pair[1]),
            value_contains_null: true,
        }));
    }
    crate::schema::type_from_name(&text.into()).unwrap()
}

/// A new table of these columns and properties.
pub(crate) fn table(columns: &str, properties: &[(&str, &str)]) -> Definition {
    try_table(columns, properties).unwrap()
}

pub(crate) fn try_table(columns: &str, properties: &[(&str, &str)]) -> crate::Result<Definition> {
    let schema = schema(columns);
    let given = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let (configuration, asked) = crate::alter::properties::for_new_table(&given, Default::default())?;
    let metadata = Metadata { id: "t".into(), configuration, ..Default::default() };
    let new = Definition::new(metadata, schema);
    finalize(None, new, &asked, Change::Create)
}

/// The same table, partitioned.
pub(crate) fn partitioned(mut table: Definition, columns: &[&str]) -> Definition {
    table.metadata.partition_columns = columns.iter().map(|c| (*c).to_owned()).collect();
    table
}
