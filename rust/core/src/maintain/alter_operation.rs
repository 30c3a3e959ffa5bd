//! The history entry of a change of a table, as delta-spark writes it.

use serde_json::{Map, Value, json};

use super::alteration::Alteration;
use super::detail::logical;
use crate::actions::OperationName;
use crate::alter::clustering::shown;
use crate::alter::{ColumnChange, Definition, Position, constraints};
use crate::error::{Error, Result};
use crate::schema::{DataType, StructField, StructType};
use crate::txn::Operation;

/// The operation of a change, by the change and its result.
///
/// # Errors
/// [`Error::InvalidColumnChange`] for a missing column.
pub(super) fn operation(alteration: &Alteration, old: &Definition, new: &Definition) -> Result<Operation> {
    Ok(match alteration {
        Alteration::SetProperties { properties, .. } => {
            Operation::new(OperationName::SetProperties).with_encoded("properties", json!(properties))
        }
        Alteration::UnsetProperties { keys, if_exists } => Operation::new(OperationName::UnsetProperties)
            .with_encoded("properties", keys.clone())
            .with_json("ifExists", *if_exists),
        Alteration::AddColumns(columns) => {
            let added = columns.iter().map(|column| {
                let mut entry = json!({"column": field_map(&column.parent, &column.field)});
                if let Some(position) = &column.position {
                    entry["position"] = place(position).into();
                }
                entry
            });
            Operation::new(OperationName::AddColumns).with_encoded("columns", added.collect::<Vec<Value>>())
        }
        Alteration::DropColumns(paths) => {
            let names: Vec<String> = paths.iter().map(|path| dotted(path)).collect();
            Operation::new(OperationName::DropColumns).with_encoded("columns", names)
        }
        Alteration::RenameColumn { path, name } => {
            let parent = path.split_last().map_or(&[][..], |(_, parent)| parent);
            Operation::new(OperationName::RenameColumn)
                .with("oldColumnPath", dotted(path))
                .with("newColumnPath", dotted(&[parent, std::slice::from_ref(name)].concat()))
        }
        Alteration::ChangeColumns(changes) => match changes.as_slice() {
            [change] => {
                let operation = Operation::new(OperationName::ChangeColumn)
                    .with_encoded("column", changed_column(change, &new.schema)?);
                match &change.position {
                    Some(position) => operation.with("position", place(position)),
                    None => operation,
                }
            }
            several => {
                let columns = several.iter().map(|change| {
                    let mut entry = changed_column(change, &new.schema)?;
                    if let Some(position) = &change.position {
                        entry["position"] = place(position).into();
                    }
                    Ok(entry)
                });
                Operation::new(OperationName::ChangeColumns)
                    .with_encoded("columns", columns.collect::<Result<Vec<Value>>>()?)
            }
        },
        Alteration::SyncIdentity { column, .. } => Operation::new(OperationName::ChangeColumn)
            .with_encoded("column", changed_column(&ColumnChange::of(column.clone()), &old.schema)?),
        Alteration::ReplaceColumns(columns) => {
            let columns = columns.iter().map(|field| field_map(&[], field));
            Operation::new(OperationName::ReplaceColumns)
                .with_encoded("columns", columns.collect::<Vec<Value>>())
        }
        Alteration::AddConstraint { name, expression, .. } => {
            Operation::new(OperationName::AddConstraint).with("name", name).with("expr", expression)
        }
        Alteration::ClusterBy(columns) => {
            let shown = |paths: &[Vec<String>]| paths.iter().map(|p| shown(p)).collect::<Vec<_>>().join(",");
            let before = old.clustering.iter().filter_map(|p| logical(&old.schema, p, old.column_mapping()));
            Operation::new(OperationName::ClusterBy)
                .with("oldClusteringColumns", shown(&before.collect::<Vec<_>>()))
                .with("newClusteringColumns", shown(columns))
        }
        Alteration::DropConstraint { name, .. } => {
            let operation = Operation::new(OperationName::DropConstraint).with("name", name);
            let all = constraints(&old.metadata);
            match all.into_iter().find(|(n, _)| n.eq_ignore_ascii_case(name.trim())) {
                Some((_, expression)) => operation.with("expr", expression).with("existed", "true"),
                None => operation.with("existed", "false"),
            }
        }
    })
}

/// A changed column as the new schema has it.
fn changed_column(change: &ColumnChange, schema: &StructType) -> Result<Value> {
    let field = field_at(schema, &change.path).ok_or_else(|| Error::InvalidColumnChange {
        column: change.path.join("."),
        reason: "no such column".into(),
    })?;
    let parent = change.path.split_last().map_or(&[][..], |(_, parent)| parent);
    Ok(field_map(parent, &field))
}

fn place(position: &Position) -> String {
    match position {
        Position::First => "FIRST".to_owned(),
        Position::After(other) => format!("AFTER {other}"),
    }
}

/// A path as Spark names an attribute.
fn dotted(path: &[String]) -> String {
    let part = |name: &String| match name.contains('.') {
        true => format!("`{name}`"),
        false => name.clone(),
    };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}

fn field_map(parent: &[String], field: &StructField) -> Value {
    json!({
        "name": dotted(&[parent, std::slice::from_ref(&field.name)].concat()),
        "type": field.data_type.name(),
        "nullable": field.nullable,
        "metadata": field.metadata,
    })
}

/// The field at a path; elements, keys and values are fields without metadata.
fn field_at(schema: &StructType, path: &[String]) -> Option<StructField> {
    let (first, rest) = path.split_first()?;
    let mut field = schema.field(first)?.clone();
    for name in rest {
        let within = |data_type: &DataType, nullable: bool| StructField {
            name: name.clone(),
            data_type: data_type.clone(),
            nullable,
            metadata: Map::new(),
        };
        field = match &field.data_type {
            DataType::Struct(fields) => fields.field(name)?.clone(),
            DataType::Array(array) => within(&array.element_type, array.contains_null),
            DataType::Map(map) if name.eq_ignore_ascii_case("key") => within(&map.key_type, false),
            DataType::Map(map) => within(&map.value_type, map.value_contains_null),
            _ => return None,
        };
    }
    Some(field)
}
