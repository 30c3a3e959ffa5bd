//! What a Spark DataFrame must look like for Spark's own Parquet writer to write data files of a table.

use serde::Serialize;
use serde_json::Value;

use super::plan::WritePlan;
use crate::alter::iceberg_compat;
use crate::schema::{ColumnMappingMode, DataType, Limits, StructField, StructType, TextLimit, stored_schema};

/// The columns of a DataFrame as the data files of a table need them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrameColumns {
    /// One for each column of the table, in its order.
    pub columns: Vec<FrameColumn>,
    /// Whether a projection of Spark gives exactly these; otherwise the rows must be conformed by
    /// `write_files`, which also rearranges and checks nested fields.
    pub direct: bool,
}

/// A column of a table and what a DataFrame has for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrameColumn {
    /// Name in the DataFrame; none when it lacks the column, which is null then.
    pub source: Option<String>,
    /// Name in the table.
    pub name: String,
    /// Name in data files.
    pub physical: String,
    /// Id in data files (column mapping).
    pub field_id: Option<i32>,
    /// Type in data files as JSON, where the DataFrame's must be cast to it: a wider one, or nested fields with other
    /// names or ids, by position.
    pub target_type: Option<Value>,
    /// Type in the table as JSON, where that has fields or elements and the DataFrame's has others, or it lacks the
    /// column: rules are about values of this type.
    pub table_type: Option<Value>,
    /// Whether it is a partition column.
    pub partition: bool,
    /// Whether data files hold it.
    pub stored: bool,
    /// Whether the table forbids nulls.
    pub not_null: bool,
    /// Whether it has only nulls of no type: data files do not have it.
    pub void: bool,
    /// Length of a `char` or `varchar` column.
    pub text_limit: Option<TextLimit>,
}

impl FrameColumns {
    /// The columns for data that [`plan_write`](super::plan_write) let through.
    pub fn of(plan: &WritePlan, data: &StructType) -> Self {
        let stored = stored_schema(&plan.schema, plan.column_mapping);
        // Spark's writer knows no ids of elements
        let mut direct = !iceberg_compat::is_on(&plan.metadata) && plan.check_storable().is_ok();
        let fields = plan.schema.fields.iter().zip(&stored.fields).zip(&plan.text_limits);
        let columns = fields.map(|((field, stored), limits)| {
            let partition = plan.partition_columns.contains(&field.name);
            let given = data.field(&field.name);
            direct &= given.is_none_or(|g| g.data_type == DataType::Void || projects(&g.data_type, &field.data_type))
                // nulls and lengths within are checked where the rows are conformed
                && !forbids_nulls_within(&field.data_type)
                && matches!(limits, None | Some(Limits::Text(_)))
                && !(partition && field.data_type == DataType::Binary)
                // fields are left out where the rows are conformed
                && match field.data_type {
                    // where it must not be null, no row is right
                    DataType::Void => field.nullable,
                    _ => !field.data_type.any(&|t| *t == DataType::Void),
                };
            FrameColumn {
                source: given.map(|g| g.name.clone()),
                name: field.name.clone(),
                physical: stored.name.clone(),
                field_id: field.field_id().filter(|_| plan.column_mapping != ColumnMappingMode::None),
                target_type: target(given, field, stored, plan.column_mapping),
                table_type: table_type(given, field),
                partition,
                stored: !partition || plan.files_hold_partition_columns(),
                not_null: !field.nullable,
                void: field.data_type == DataType::Void,
                text_limit: match limits {
                    Some(Limits::Text(limit)) => Some(*limit),
                    _ => None,
                },
            }
        });
        FrameColumns { columns: columns.collect(), direct }
    }
}

fn target(
    given: Option<&StructField>,
    field: &StructField,
    stored: &StructField,
    mode: ColumnMappingMode,
) -> Option<Value> {
    let same = given.is_some_and(|g| {
        if nested(&g.data_type) && nested(&field.data_type) {
            mode == ColumnMappingMode::None
        } else {
            g.data_type == field.data_type
        }
    });
    (!same).then(|| stored.data_type.for_spark().to_json())
}

fn table_type(given: Option<&StructField>, field: &StructField) -> Option<Value> {
    let other = nested(&field.data_type) && !given.is_some_and(|g| projects(&g.data_type, &field.data_type));
    other.then(|| field.data_type.for_spark().to_json())
}

/// Whether a cast by position takes one type to the other: nested fields have the same names in the same order.
fn projects(given: &DataType, table: &DataType) -> bool {
    match (given, table) {
        (DataType::Struct(g), DataType::Struct(t)) => {
            g.fields.len() == t.fields.len()
                && g.fields
                    .iter()
                    .zip(&t.fields)
                    .all(|(g, t)| g.name == t.name && within(&g.data_type, &t.data_type))
        }
        (DataType::Array(g), DataType::Array(t)) => within(&g.element_type, &t.element_type),
        (DataType::Map(g), DataType::Map(t)) => {
            within(&g.key_type, &t.key_type) && within(&g.value_type, &t.value_type)
        }
        (given, table) => !nested(given) && !nested(table) && (given == table || *table != DataType::Variant),
    }
}

/// As [`projects`] below the top level, where types must be equal: without column mapping there is no cast.
fn within(given: &DataType, table: &DataType) -> bool {
    if nested(given) || nested(table) { projects(given, table) } else { given == table }
}

fn nested(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Struct(_) | DataType::Array(_) | DataType::Map(_))
}

fn forbids_nulls_within(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(s) => s.fields.iter().any(|f| !f.nullable || forbids_nulls_within(&f.data_type)),
        DataType::Array(a) => !a.contains_null || forbids_nulls_within(&a.element_type),
        DataType::Map(m) => {
            !m.value_contains_null || forbids_nulls_within(&m.key_type) || forbids_nulls_within(&m.value_type)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::StructType;
    use crate::store::{Location, StorageOptions};
    use crate::write::{Target, WriteMode, WriteOptions, plan_write};

    fn fields(fields: &Value) -> StructType {
        StructType::from_json(&json!({"type": "struct", "fields": fields}).to_string()).unwrap()
    }

    fn field(name: &str, data_type: &Value) -> Value {
        json!({"name": name, "type": data_type, "nullable": true, "metadata": {}})
    }

    fn one(data_type: &Value) -> StructType {
        fields(&json!([field("a", data_type)]))
    }

    /// What data must become for a new table of this schema.
    fn frame(table: &StructType, data: &StructType, mode: &str, partition_by: &[&str]) -> FrameColumns {
        let dir = tempfile::tempdir().unwrap();
        let location = Location::open(dir.path().to_str().unwrap(), &StorageOptions::new()).unwrap();
        let options = WriteOptions {
            mode: WriteMode::Append,
            partition_by: partition_by.iter().map(|c| (*c).to_owned()).collect(),
            configuration: [("delta.columnMapping.mode".to_owned(), mode.to_owned())].into(),
            ..WriteOptions::default()
        };
        let plan = plan_write(&location, table, &options).unwrap();
        assert_eq!(plan.target, Target::New);
        FrameColumns::of(&plan, data)
    }

    fn direct(table: &Value, data: &Value) -> bool {
        frame(&one(table), &one(data), "none", &[]).direct
    }

    #[test]
    fn columns_come_in_the_tables_order_with_casts_where_types_differ() {
        let mut table = fields(&json!([
            field("id", &json!("long")),
            field("n", &json!("string")),
            field("p", &json!("date"))
        ]));
        table.fields[0].nullable = false;
        let data = fields(&json!([field("P", &json!("date")), field("id", &json!("integer"))]));
        let frame = frame(&table, &data, "none", &["p"]);
        assert!(frame.direct);
        let shown: Vec<Value> = frame.columns.iter().map(|c| serde_json::to_value(c).unwrap()).collect();
        let column = |source: Value, name: &str, target: Value, partition: bool, not_null: bool| {
            json!({"source": source, "name": name, "physical": name, "field_id": null, "target_type": target,
                "table_type": null, "partition": partition, "stored": true, "not_null": not_null, "void": false, "text_limit": null})
        };
        assert_eq!(
            shown,
            [
                column(json!("id"), "id", json!("long"), false, true),
                column(Value::Null, "n", json!("string"), false, false),
                column(json!("P"), "p", Value::Null, true, false),
            ]
        );
    }

    #[test]
    fn mapped_columns_have_physical_names_and_ids_at_every_depth() {
        let nested = json!({"type": "struct", "fields": [field("x", &json!("long"))]});
        let table = fields(&json!([field("a", &json!("long")), field("s", &nested)]));
        let frame = frame(&table, &table, "name", &[]);
        assert!(frame.direct);
        let [a, s] = frame.columns.as_slice() else { panic!("two columns") };
        assert!(a.physical.starts_with("col-") && a.field_id == Some(1) && a.target_type.is_none(), "{a:?}");
        let inner = &s.target_type.as_ref().unwrap()["fields"][0];
        assert!(inner["name"].as_str().unwrap().starts_with("col-"), "{inner}");
    }

    #[test]
    fn a_nested_column_that_is_absent_or_void_or_has_other_fields_gets_the_type_of_the_table() {
        let of = |fields: Value| json!({"type": "struct", "fields": fields});
        let (x, y) = (field("x", &json!("long")), field("y", &json!("string")));
        let table = fields(&json!([field("id", &json!("long")), field("s", &of(json!([x, y])))]));
        let id = field("id", &json!("long"));
        let with = |given: &Value| fields(&json!([id, field("s", given)]));
        for mode in ["none", "name"] {
            for (data, cast) in [
                (fields(&json!([id])), true),
                (with(&json!("void")), true),
                (with(&of(json!([y]))), mode == "name"),
                (with(&of(json!([y, x]))), mode == "name"),
            ] {
                let frame = frame(&table, &data, mode, &[]);
                let [id, s] = frame.columns.as_slice() else { panic!("two columns") };
                assert_eq!(id.table_type, None);
                assert_eq!(s.table_type.as_ref().unwrap()["fields"][1]["name"], "y", "{data:?}");
                // a void column in a file is none that a reader of the table understands
                assert_eq!(s.target_type.is_some(), cast, "{mode} {data:?}");
            }
            let same = frame(&table, &with(&of(json!([x, y]))), mode, &[]);
            assert_eq!(same.columns[1].table_type, None);
        }
    }

    #[test]
    fn only_what_a_cast_by_position_gives_is_direct() {
        let of = |fields: Value| json!({"type": "struct", "fields": fields});
        let (x, y) = (field("x", &json!("long")), field("y", &json!("long")));
        let list = |element: &Value, nulls: bool| json!({"type": "array", "elementType": element, "containsNull": nulls});
        let map = |value: &Value| json!({"type": "map", "keyType": "string", "valueType": value, "valueContainsNull": true});
        assert!(direct(&json!("long"), &json!("integer")));
        assert!(direct(&of(json!([x, y])), &of(json!([x, y]))));
        // fields in another order, missing, or of another type are conformed by name
        assert!(!direct(&of(json!([x, y])), &of(json!([y, x]))));
        assert!(!direct(&of(json!([x, y])), &of(json!([x]))));
        assert!(!direct(&of(json!([x])), &of(json!([field("x", &json!("integer"))]))));
        assert!(direct(&list(&of(json!([x])), true), &list(&of(json!([x])), true)));
        assert!(!direct(&list(&json!("long"), true), &list(&json!("integer"), true)));
        assert!(direct(&map(&json!("long")), &map(&json!("long"))));
        assert!(!direct(&map(&of(json!([x, y]))), &map(&of(json!([y, x])))));
        // nulls within are checked where rows are conformed
        assert!(!direct(&list(&json!("long"), false), &list(&json!("long"), false)));
        // a column of nulls takes any type
        assert!(direct(&of(json!([x])), &json!("void")));
        // a void column is left out by a projection, a void field where rows are conformed
        let with = |v: &Value| fields(&json!([x, field("v", v)]));
        let void = with(&json!("void"));
        let projected = frame(&void, &void, "none", &[]);
        assert!(projected.direct && projected.columns[1].void && !projected.columns[0].void);
        let within = with(&of(json!([y, field("n", &json!("void"))])));
        assert!(!frame(&within, &within, "none", &[]).direct);
    }
}
