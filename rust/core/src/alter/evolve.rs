//! Schema evolution by a write: merging the schema of the data into that of the table, or overwriting it.

use super::change::Change;
use super::column_mapping::{reuse, strip};
use super::finalize::finalize;
use super::generated::refuse_type_of_generated;
use super::paths::{refuse, same};
use super::references::{refuse_if_used, refuse_type_if_used};
use super::widen::Integers;
use super::{Definition, identity, widen};
use crate::alter::names::{check_names, check_partition_columns};
use crate::error::{Error, Result, condition};
use crate::schema::{ColumnMappingMode, DataType, KEY_PREFIX, StructField, StructType, as_nullable};

/// The table with the columns of the data too, as `mergeSchema` asks for it.
///
/// Columns that the table does not have, at any depth, come after those it has, and can be null. Names are compared without
/// regard to case. Columns keep name, place, nullability and metadata; the type becomes the wider one where type widening is
/// on, and among bytes, shorts and integers, which files hold alike, also where it is not. Otherwise it stays: whether the
/// data fits is for the write to say. A void column takes the type of the data, and a void column of the data that the table
/// does not have is added as such.
///
/// # Errors
/// [`Error::InvalidColumnChange`] where a struct, array or map meets another kind of type, and for a type that becomes wider
/// under a CHECK constraint or a generated column; [`Error::InvalidSchema`] for names; [`Error::InvalidFeatureChange`] for a
/// type whose feature the table does not have.
pub fn merge_schema(table: &Definition, data: &StructType) -> Result<Definition> {
    merged(table, data, Integers::Widen)
}

/// The table with the columns of a merge's source too, as [`merge_schema`], but that bytes, shorts and integers stay what
/// they are where type widening is off.
///
/// # Errors
/// As [`merge_schema`].
pub fn merge_source_schema(table: &Definition, source: &StructType) -> Result<Definition> {
    merged(table, source, Integers::Stay)
}

fn merged(table: &Definition, data: &StructType, integers: Integers) -> Result<Definition> {
    // the names of the data are checked for doubles here; characters are checked with the whole
    check_names(data, ColumnMappingMode::Name)?;
    let mut new = table.clone();
    new.schema = merge_struct((table, integers), &table.schema, data, &mut Vec::new())?;
    if new.schema == table.schema {
        return Ok(new);
    }
    finalize(Some(table), new, &Default::default(), Change::Alter)
}

fn merge_struct(
    table: (&Definition, Integers),
    old: &StructType,
    data: &StructType,
    path: &mut Vec<String>,
) -> Result<StructType> {
    let mut fields = Vec::with_capacity(old.fields.len());
    for field in &old.fields {
        let mut field = field.clone();
        if let Some(other) = data.fields.iter().find(|f| same(&f.name, &field.name)) {
            path.push(field.name.clone());
            let merged = merge_type(table, &field.data_type, &other.data_type, path)?;
            if merged != field.data_type {
                refuse_type_of_generated(&field, path, &field.data_type, &merged)?;
            }
            field.data_type = merged;
            path.pop();
        }
        fields.push(field);
    }
    let is_new = |f: &&StructField| !old.fields.iter().any(|o| same(&o.name, &f.name));
    fields.extend(data.fields.iter().filter(is_new).map(added));
    Ok(StructType { fields })
}

fn merge_type(
    table: (&Definition, Integers),
    old: &DataType,
    data: &DataType,
    path: &mut Vec<String>,
) -> Result<DataType> {
    let mut below = |name: &str, old: &DataType, data: &DataType| {
        path.push(name.to_owned());
        let merged = merge_type(table, old, data, path);
        path.pop();
        merged
    };
    Ok(match (old, data) {
        (DataType::Array(a), DataType::Array(b)) => {
            let element_type = below("element", &a.element_type, &b.element_type)?;
            DataType::Array(Box::new(crate::schema::ArrayType { element_type, ..(**a).clone() }))
        }
        (DataType::Map(a), DataType::Map(b)) => {
            let key_type = below("key", &a.key_type, &b.key_type)?;
            let value_type = below("value", &a.value_type, &b.value_type)?;
            DataType::Map(Box::new(crate::schema::MapType { key_type, value_type, ..(**a).clone() }))
        }
        (DataType::Struct(a), DataType::Struct(b)) => {
            DataType::Struct(Box::new(merge_struct(table, a, b, path)?))
        }
        (old, DataType::Void) => old.clone(),
        (old, data) if old.takes(data) => old.clone(),
        (DataType::Void, data) => added(&StructField::new("", data.clone(), true)).data_type,
        (old, data) if old.is_nested() || data.is_nested() => {
            let reason = format!("the table has type {}, the data {}", old.name(), data.name());
            let column = path.first().map_or("", String::as_str);
            return Err(refuse(path, reason).named(
                &condition::FAILED_TO_MERGE_FIELDS,
                [("currentField", column), ("updateField", column)],
            ));
        }
        (old, data) => match widen::evolved(table.0, old, data, table.1) {
            Some(wider) => {
                refuse_type_if_used(table.0, path, old, &wider)?;
                wider
            }
            None => old.clone(),
        },
    })
}

/// A column of the data as a new one of the table: nullable, without the metadata of another table.
fn added(field: &StructField) -> StructField {
    let mut one = as_nullable(&StructType { fields: vec![field.clone()] });
    one.change_fields(&mut |_, field| {
        strip(field);
        field.metadata.retain(|key, _| !key.starts_with(KEY_PREFIX) && !key.ends_with("_DEFAULT"));
    });
    one.fields.remove(0)
}

/// The table with the schema and partition columns of the data in place of its own, as `overwriteSchema` asks for it. All
/// files are removed in the same commit. Columns of the same path and type keep their ids and physical names.
///
/// # Errors
/// [`Error::InvalidSchema`], [`Error::InvalidArgument`] for names and partition columns; [`Error::InvalidColumnChange`]
/// when a CHECK constraint refers to a dropped column, and for values of an identity column that is `GENERATED ALWAYS`;
/// [`Error::InvalidFeatureChange`] for types and partition columns
/// that the table's features do not allow.
pub fn overwrite_schema(
    table: &Definition,
    data: &StructType,
    partition_by: &[String],
) -> Result<Definition> {
    identity::refuse_values(&table.schema, data)?;
    let mut new = table.clone();
    new.metadata.partition_columns = check_partition_columns(data, partition_by)?;
    if !new.metadata.partition_columns.is_empty() && !table.clustering.is_empty() {
        return Err(Error::InvalidArgument {
            argument: "partition_by".into(),
            reason: "the table is clustered, and a table is either partitioned or clustered".into(),
        });
    }
    new.schema = data.clone();
    new.schema.change_fields(&mut |_, field| field.metadata.retain(|key, _| !key.starts_with(KEY_PREFIX)));
    match table.column_mapping() {
        ColumnMappingMode::None => new.schema.change_fields(&mut |_, field| strip(field)),
        _ => reuse(&table.schema, &mut new.schema),
    }
    for (path, _) in table.schema.explode() {
        let path: Vec<String> = path.into_iter().map(str::to_owned).collect();
        if super::paths::resolve(&new.schema, &path).is_err() {
            let constraints = Definition { schema: StructType::default(), ..table.clone() };
            refuse_if_used(&constraints, &path, "left out")?;
        }
    }
    finalize(Some(table), new, &Default::default(), Change::Replace)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::alter::testing::{data_type, partitioned, schema, table};
    use crate::properties::TableProperty;

    fn paths(schema: &StructType) -> Vec<String> {
        schema
            .explode()
            .iter()
            .map(|(path, f)| format!("{} {}", path.join("."), f.data_type.name()))
            .collect()
    }

    #[test]
    fn new_columns_come_last_at_every_depth() {
        let t = table(
            "A long not null, s struct<x: long>, l array<struct<y: int>>",
            &[("delta.columnMapping.mode", "name")],
        );
        let data = schema(
            "n string not null, a long, S struct<z: date not null, X: long>, l array<struct<w: int>>, v void",
        );
        let new = merge_schema(&t, &data).unwrap();
        assert_eq!(
            paths(&new.schema),
            [
                "A long",
                "s struct",
                "s.x long",
                "s.z date",
                "l array",
                "l.element.y integer",
                "l.element.w integer",
                "n string",
                "v void"
            ]
        );
        assert!(!new.schema.fields[0].nullable && new.schema.fields[3].nullable);
        assert_eq!(new.property(TableProperty::ColumnMappingMaxColumnId), Some("9"));
        assert_eq!(merge_schema(&new, &data).unwrap(), new);
    }

    #[test]
    fn types_widen_where_widening_is_on() {
        let data = schema("a long, b double, c decimal(12,2), d double, e short, f decimal(12,2)");
        let columns = "a int, b float, c decimal(10,1), d int, e int, f int";
        let off = table(columns, &[]);
        assert_eq!(merge_schema(&off, &data).unwrap(), off);
        let on = merge_schema(&table(columns, &[("delta.enableTypeWidening", "true")]), &data).unwrap();
        // nothing narrows
        let types = ["a long", "b double", "c decimal(12,2)", "d double", "e integer", "f decimal(12,2)"];
        assert_eq!(paths(&on.schema), types);
        assert!(on.schema.fields[0].metadata.contains_key("delta.typeChanges"));
    }

    #[test]
    fn small_integers_widen_without_the_feature() {
        let t = table("a byte, b short, c byte, d array<byte>", &[]);
        let new = merge_schema(&t, &schema("a int, b int, c long, d array<short>")).unwrap();
        assert_eq!(paths(&new.schema), ["a integer", "b integer", "c byte", "d array"]);
        assert_eq!(new.schema.fields[3].data_type, data_type("array<short>"));
        assert!(!new.schema.fields[0].metadata.contains_key("delta.typeChanges"));
        assert_eq!(new.protocol, t.protocol);
    }

    #[test]
    fn a_type_stays_that_an_expression_was_computed_with() {
        let mut t = table(
            "a int, b int, s struct<x: int, y: int>, l array<int>, g int",
            &[("delta.enableTypeWidening", "true")],
        );
        for (name, text) in [("c", "a > 0"), ("d", "s.x > 0"), ("e", "size(l) > 0")] {
            t.metadata.configuration.insert(format!("delta.constraints.{name}"), text.into());
        }
        t.schema.fields[4].metadata.insert("delta.generationExpression".into(), "hash(b)".into());
        let condition = |data: &str| merge_schema(&t, &schema(data)).unwrap_err().condition().map(|c| c.name);
        for data in ["a long", "s struct<x: long>", "l array<long>"] {
            assert_eq!(condition(data), Some("DELTA_CONSTRAINT_DATA_TYPE_MISMATCH"), "{data}");
        }
        assert_eq!(condition("b long"), Some("DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH"));
        assert_eq!(condition("g long"), Some("DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH"));
        let new = merge_schema(&t, &schema("a int, s struct<y: long, z: int>")).unwrap();
        let types = paths(&new.schema);
        assert_eq!(types[2..6], ["s struct", "s.x integer", "s.y long", "s.z integer"]);
    }

    #[test]
    fn what_cannot_merge_is_refused() {
        let t = table("a struct<x: long>, b long", &[]);
        for (data, said) in [
            ("a long", "`a`: the table has type struct, the data long"),
            ("a struct<x: array<int>>", "`a.x`: the table has type long"),
            ("c long, C long", "exists twice"),
            ("`c d` long", "needs column mapping"),
            ("c timestamp_ntz", "delta.feature.timestampNtz"),
        ] {
            let mut data = schema(&data.replace("`c d`", "c_d"));
            if said.contains("mapping") {
                data.fields[0].name = "c d".into();
            }
            let error = merge_schema(&t, &data).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn overwriting_takes_the_schema_of_the_data() {
        let t = table("a long, b string, s struct<x: long>", &[("delta.columnMapping.mode", "id")]);
        let new = overwrite_schema(&t, &schema("b string, A int, s struct<x: long>, p date"), &["P".into()])
            .unwrap();
        assert_eq!(new.metadata.partition_columns, ["p"]);
        let id = |t: &Definition, name: &str| t.schema.field(name).unwrap().field_id().unwrap();
        assert_eq!((id(&new, "b"), id(&new, "s")), (id(&t, "b"), id(&t, "s")));
        assert!(id(&new, "A") > 4 && id(&new, "p") > 4);
        let plain = table("a long", &[]);
        assert_eq!(paths(&overwrite_schema(&plain, &schema("a string"), &[]).unwrap().schema), ["a string"]);
    }

    #[test]
    fn overwriting_has_limits() {
        let mut t = table("a long, b long", &[]);
        t.metadata.configuration.insert("delta.constraints.c".into(), "b > 0".into());
        let error = overwrite_schema(&t, &schema("a long"), &[]).unwrap_err().to_string();
        assert!(error.contains("constraint `c`"), "{error}");
        assert!(overwrite_schema(&t, &schema("b long, c void"), &[]).is_ok());
        t.clustering = vec![vec!["a".into()]];
        assert!(overwrite_schema(&t, &schema("a long, b long"), &["a".into()]).is_err());
        let iceberg =
            partitioned(table("a long, b long", &[("delta.enableIcebergCompatV2", "true")]), &["a"]);
        let error = overwrite_schema(&iceberg, &schema("a long, b long"), &["b".into()]).unwrap_err();
        assert_eq!(error.kind(), "InvalidFeatureChange");
    }

    fn any_type() -> impl Strategy<Value = DataType> {
        let leaf = proptest::sample::select(vec!["int", "long", "string", "date", "double", "decimal(10,2)"])
            .prop_map(data_type);
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                any_struct(inner.clone().boxed()).prop_map(|s| DataType::Struct(Box::new(s))),
                inner.prop_map(|element_type| DataType::Array(Box::new(crate::schema::ArrayType {
                    element_type,
                    contains_null: true
                }))),
            ]
        })
    }

    fn any_struct(inner: BoxedStrategy<DataType>) -> impl Strategy<Value = StructType> {
        let names = proptest::sample::subsequence(vec!["a", "b", "C", "d"], 1..4);
        (names, proptest::collection::vec((inner, any::<bool>()), 4)).prop_map(|(names, types)| StructType {
            fields: names.into_iter().zip(types).map(|(n, (t, null))| StructField::new(n, t, null)).collect(),
        })
    }

    proptest! {
        #[test]
        fn merging_is_idempotent_and_keeps_columns(
            old in any_struct(any_type().boxed()),
            data in any_struct(any_type().boxed()),
            mapped in any::<bool>(),
            widening in any::<bool>(),
        ) {
            let mut properties = Vec::new();
            if mapped {
                properties.push(("delta.columnMapping.mode", "name"));
            }
            if widening {
                properties.push(("delta.enableTypeWidening", "true"));
            }
            let mut t = table("q long", &properties);
            t.schema = old;
            let new = finalize(None, t, &Default::default(), Change::Create).unwrap();
            let Ok(merged) = merge_schema(&new, &data) else { return Ok(()) };
            for ((path, field), (kept_path, kept)) in new.schema.explode().iter().zip(
                merged.schema.explode().iter().filter(|(path, _)| {
                    new.schema.explode().iter().any(|(p, _)| p == path)
                }),
            ) {
                prop_assert_eq!(path, kept_path);
                prop_assert_eq!(field.nullable, kept.nullable);
                prop_assert_eq!(field.field_id(), kept.field_id());
                prop_assert!(field.metadata.iter().all(|(key, value)| kept.metadata.get(key) == Some(value)));
            }
            prop_assert_eq!(merge_schema(&merged, &data).unwrap(), merged);
        }
    }
}
