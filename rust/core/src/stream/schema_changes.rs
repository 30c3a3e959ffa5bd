//! Which changes of a table a stream can live with: it reads every file in the schema that it was started with.

use std::collections::BTreeMap;

use crate::actions::Metadata;
use crate::error::{Error, Result, condition};
use crate::schema::{ColumnMappingMode, DataType, StructType, is_widening};

/// The schema that a stream reads in.
#[derive(Debug)]
pub(super) struct ReadSchema {
    table: String,
    version: u64,
    metadata: Metadata,
    schema: StructType,
    /// Whether a query that is started again takes a type that became wider.
    widens: bool,
}

impl ReadSchema {
    pub(super) fn new(
        table: String,
        version: u64,
        metadata: Metadata,
        schema: StructType,
        widens: bool,
    ) -> Self {
        ReadSchema { table, version, metadata, schema, widens }
    }

    /// Checks that files under the metadata of a version can be read.
    ///
    /// # Errors
    /// [`Error::SourceReplaced`] for another table; [`Error::SourceSchemaChanged`] for a column that was added, dropped,
    /// renamed or has another type, and for another partitioning.
    pub(super) fn check(&self, version: u64, there: &Metadata) -> Result<()> {
        if there.id != self.metadata.id {
            return Err(Error::SourceReplaced {
                path: self.table.clone(),
                expected: self.metadata.id.clone(),
                found: there.id.clone(),
            });
        }
        let schema = there.schema()?;
        let before = version < self.version;
        if let Some(change) = self.renamed(there, &schema, before) {
            return Err(self.non_additive(version, &change, &schema));
        }
        if there.partition_columns != self.metadata.partition_columns {
            let by = |columns: &[String]| match columns {
                [] => "not partitioned".to_owned(),
                columns => format!("partitioned by {}", columns.join(", ")),
            };
            let change = format!(
                "it is {} there, and {} at version {}",
                by(&there.partition_columns),
                by(&self.metadata.partition_columns),
                self.version
            );
            return Err(self.changed(version, &change, AGAIN));
        }
        let compare = |widens| Compare { widens: widens && self.widens, may_lack: false };
        let Err(change) = readable(&schema, &self.schema, compare(before), "") else { return Ok(()) };
        let (old, new) = if before { (&schema, &self.schema) } else { (&self.schema, &schema) };
        if !self.widens && readable(old, new, Compare { widens: true, may_lack: false }, "").is_ok() {
            // additive except for types that became wider
            if readable(old, new, Compare { widens: false, may_lack: false }, "").is_err() {
                return Err(self.non_additive(version, &change, &schema));
            }
        }
        // what comes later than the schema in use is read after a restart, which begins with the newer schema
        let retry = !before && readable(&self.schema, &schema, compare(true), "").is_ok();
        Err(self.changed(version, &change, if retry { RESTART } else { AGAIN }))
    }

    fn changed(&self, version: u64, change: &str, then: &str) -> Error {
        Error::SourceSchemaChanged { path: self.table.clone(), version, reason: format!("{change}. {then}") }
    }

    fn non_additive(&self, version: u64, change: &str, schema: &StructType) -> Error {
        let then = "Set schemaTrackingLocation: the query records the schemas that it reads with, and continues. Without it, \
                    start one with a new checkpoint from the table as it is";
        let parameters = [("readSchema", self.schema.to_json()), ("incompatibleSchema", schema.to_json())];
        self.changed(version, change, then)
            .named(&condition::STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG, parameters)
    }

    /// A column that was renamed or dropped in the newer of two schemas.
    fn renamed(&self, there: &Metadata, schema: &StructType, before: bool) -> Option<String> {
        let here = (&self.schema, self.metadata.column_mapping());
        let there = (schema, there.column_mapping());
        if here.1 == ColumnMappingMode::None && there.1 == ColumnMappingMode::None {
            return None;
        }
        let (old, new) = if before { (there, here) } else { (here, there) };
        let (old, new) = (names(old.0, old.1), names(new.0, new.1));
        old.iter().find_map(|(physical, name)| match new.get(physical) {
            None => Some(format!("column `{name}` was dropped")),
            Some(now) if now != name => Some(format!("column `{name}` was renamed to `{now}`")),
            Some(_) => None,
        })
    }
}

const RESTART: &str = "Start the query again: it continues with the new schema";
const AGAIN: &str =
    "The query cannot continue across this change: start one with a new checkpoint from the current table";

/// Physical and logical paths of all fields.
fn names(schema: &StructType, mode: ColumnMappingMode) -> BTreeMap<String, String> {
    fn of_type(t: &DataType, mode: ColumnMappingMode, at: (&str, &str), out: &mut BTreeMap<String, String>) {
        match t {
            DataType::Struct(s) => of_struct(s, mode, at, out),
            DataType::Array(a) => of_type(&a.element_type, mode, at, out),
            DataType::Map(m) => {
                let key = (format!("{}.key", at.0), format!("{}.key", at.1));
                of_type(&m.key_type, mode, (&key.0, &key.1), out);
                of_type(&m.value_type, mode, at, out);
            }
            _ => {}
        }
    }
    fn of_struct(
        s: &StructType,
        mode: ColumnMappingMode,
        at: (&str, &str),
        out: &mut BTreeMap<String, String>,
    ) {
        for field in &s.fields {
            let physical = format!("{}.{}", at.0, field.physical_name(mode));
            let name = format!("{}.{}", at.1, field.name);
            of_type(&field.data_type, mode, (&physical, &name), out);
            out.insert(physical, name.trim_start_matches('.').to_owned());
        }
    }
    let mut out = BTreeMap::new();
    of_struct(schema, mode, ("", ""), &mut out);
    out
}

/// What may differ between data and the schema that it is read in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compare {
    /// Types may be wider.
    pub(super) widens: bool,
    /// Columns of the data may be missing.
    pub(super) may_lack: bool,
}

/// Whether data of a schema can be read in another: no column of the data is missing there, none has another type, unless
/// `compare` allows it, and none that may be null there may not be null here.
pub(super) fn readable(
    data: &StructType,
    read: &StructType,
    compare: Compare,
    at: &str,
) -> Result<(), String> {
    for field in &data.fields {
        let name = format!("{at}{}", field.name);
        let Some(wanted) = read.fields.iter().find(|f| f.name.eq_ignore_ascii_case(&field.name)) else {
            if compare.may_lack {
                continue;
            }
            return Err(format!("column `{name}` was added"));
        };
        if wanted.name != field.name {
            return Err(format!("column `{}` is `{}` now", wanted.name, field.name));
        }
        if field.nullable && !wanted.nullable {
            return Err(format!("column `{name}` may be null now"));
        }
        type_readable(&field.data_type, &wanted.data_type, compare, &name)?;
    }
    Ok(())
}

fn type_readable(data: &DataType, read: &DataType, compare: Compare, at: &str) -> Result<(), String> {
    match (data, read) {
        (DataType::Struct(data), DataType::Struct(read)) => readable(data, read, compare, &format!("{at}.")),
        (DataType::Array(data), DataType::Array(read)) => {
            if data.contains_null && !read.contains_null {
                return Err(format!("elements of `{at}` may be null now"));
            }
            type_readable(&data.element_type, &read.element_type, compare, &format!("{at}.element"))
        }
        (DataType::Map(data), DataType::Map(read)) => {
            if data.value_contains_null && !read.value_contains_null {
                return Err(format!("values of `{at}` may be null now"));
            }
            type_readable(&data.key_type, &read.key_type, compare, &format!("{at}.key"))?;
            type_readable(&data.value_type, &read.value_type, compare, &format!("{at}.value"))
        }
        (data, read) if data == read || (compare.widens && is_widening(data, read)) => Ok(()),
        _ => Err(format!("column `{at}` has another type")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(columns: &[(&str, &str, &str)], by: &[&str], mapped: bool) -> Metadata {
        let fields: Vec<_> = columns
            .iter()
            .map(|(name, kind, physical)| {
                json!({"name": name, "type": kind, "nullable": true, "metadata": {"delta.columnMapping.physicalName": physical}})
            })
            .collect();
        let configuration = if mapped { json!({"delta.columnMapping.mode": "name"}) } else { json!({}) };
        serde_json::from_value(json!({
            "id": "t", "schemaString": json!({"type": "struct", "fields": fields}).to_string(),
            "partitionColumns": by, "configuration": configuration,
        }))
        .unwrap()
    }

    /// The check of a version against a schema of version 5.
    fn check(read: &Metadata, version: u64, there: &Metadata) -> Result<(), String> {
        let schema = StructType::from_json(&read.schema_string).unwrap();
        let read = ReadSchema::new("t".into(), 5, read.clone(), schema, true);
        read.check(version, there).map_err(|e| e.to_string())
    }

    #[test]
    fn a_new_column_stops_the_query_until_it_is_started_again() {
        let narrow = metadata(&[("a", "long", "a")], &[], false);
        let wide = metadata(&[("a", "long", "a"), ("b", "long", "b")], &[], false);
        let error = check(&narrow, 6, &wide).unwrap_err();
        assert!(error.contains("column `b` was added. Start the query again"), "{error}");
        assert_eq!(check(&wide, 4, &narrow), Ok(()));
        assert_eq!(check(&wide, 6, &wide), Ok(()));
    }

    #[test]
    fn a_wider_type_stops_the_query_until_it_is_started_again() {
        let (int, long) =
            (metadata(&[("a", "integer", "a")], &[], false), metadata(&[("a", "long", "a")], &[], false));
        assert!(check(&int, 6, &long).unwrap_err().contains("Start the query again"));
        assert_eq!(check(&long, 4, &int), Ok(()));
        let text = metadata(&[("a", "string", "a")], &[], false);
        assert!(check(&int, 6, &text).unwrap_err().contains("new checkpoint"));
    }

    #[test]
    fn a_wider_type_may_need_a_log_of_schemas() {
        let (int, long) =
            (metadata(&[("a", "integer", "a")], &[], false), metadata(&[("a", "long", "a")], &[], false));
        let schema = StructType::from_json(&int.schema_string).unwrap();
        let read = ReadSchema::new("t".into(), 5, int, schema, false);
        let error = read.check(6, &long).unwrap_err();
        let condition = error.condition().unwrap().name;
        assert_eq!(condition, "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG");
        let text = metadata(&[("a", "string", "a")], &[], false);
        let condition = read.check(6, &text).unwrap_err().condition().unwrap().name;
        assert_eq!(condition, "DELTA_SCHEMA_CHANGED_WITH_VERSION");
    }

    #[test]
    fn a_column_that_is_renamed_or_dropped_ends_the_query() {
        let old = metadata(&[("a", "long", "p"), ("b", "long", "q")], &[], true);
        let renamed = metadata(&[("c", "long", "p"), ("b", "long", "q")], &[], true);
        let dropped = metadata(&[("b", "long", "q")], &[], true);
        for (version, read, there) in [(6, &old, &renamed), (4, &renamed, &old)] {
            let error = check(read, version, there).unwrap_err();
            assert!(error.contains("`a` was renamed to `c`") && error.contains("new checkpoint"), "{error}");
        }
        assert!(check(&old, 6, &dropped).unwrap_err().contains("`a` was dropped"));
        assert!(check(&dropped, 4, &old).unwrap_err().contains("`a` was dropped"));
    }

    #[test]
    fn another_table_or_partitioning_ends_the_query() {
        let plain = metadata(&[("a", "long", "a")], &[], false);
        let partitioned = metadata(&[("a", "long", "a")], &["a"], false);
        assert!(check(&plain, 6, &partitioned).unwrap_err().contains("partitioned by a"));
        let other = Metadata { id: "u".into(), ..plain.clone() };
        assert!(check(&plain, 6, &other).unwrap_err().contains("another table"));
    }
}
