//! Changes of what a table is: one commit each, retried when another writer is first.

use std::collections::BTreeMap;

use deltaic_core::Error;
use deltaic_core::alter::{ColumnChange, NewColumn, Position, SetOptions};
use deltaic_core::features::TableFeature;
use deltaic_core::maintain::{Alteration, alter_table, clustering_columns};
use deltaic_core::schema::{DataType, StructField};
use serde_json::Value;

use super::*;

pub(super) fn set(properties: &[(&str, &str)]) -> Alteration {
    let properties = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Alteration::SetProperties { properties, options: SetOptions::default() }
}

fn column(name: &str) -> Alteration {
    Alteration::AddColumns(vec![NewColumn::of(StructField::new(name, DataType::Long, true))])
}

fn constraint(expression: &str) -> Alteration {
    Alteration::AddConstraint { name: "Small".into(), expression: expression.into(), checked: None }
}

fn table() -> (FaultStore, Location) {
    let (store, location) = place();
    write(&location, &[("a", 1), ("b", 2)], &partitioned()).unwrap();
    (store, location)
}

fn names(location: &Location) -> Vec<String> {
    open(location).schema().fields.iter().map(|f| f.name.clone()).collect()
}

/// Operation, and parameters as the log has them.
fn said(location: &Location, version: u64) -> (String, BTreeMap<String, Value>) {
    let info = info(location, version);
    (info.operation.unwrap(), info.operation_parameters.unwrap_or_default())
}

#[test]
fn each_change_is_a_commit_with_the_operation_of_delta_spark() {
    let (_, location) = table();
    let mapped = set(&[("delta.columnMapping.mode", "name"), ("delta.enableTypeWidening", "true")]);
    let new = NewColumn {
        position: Some(Position::First),
        ..NewColumn::of(StructField::new("n.x", DataType::Integer, true))
    };
    let widened = ColumnChange { data_type: Some(DataType::Long), ..ColumnChange::of(vec!["n.x".into()]) };
    let moved = ColumnChange {
        comment: Some(Some("why".into())),
        position: Some(Position::After("id".into())),
        ..ColumnChange::of(vec!["n.x".into()])
    };
    let several = vec![
        ColumnChange { comment: Some(Some("key".into())), ..ColumnChange::of(vec!["id".into()]) },
        ColumnChange { position: Some(Position::First), ..ColumnChange::of(vec!["p".into()]) },
    ];
    let changes = [
        (
            mapped,
            "SET TBLPROPERTIES",
            vec![("properties", r#"{"delta.columnMapping.mode":"name","delta.enableTypeWidening":"true"}"#)],
        ),
        (
            Alteration::AddColumns(vec![new]),
            "ADD COLUMNS",
            vec![(
                "columns",
                r#"[{"column":{"name":"`n.x`","type":"integer","nullable":true,"metadata":{}},"position":"FIRST"}]"#,
            )],
        ),
        (Alteration::ChangeColumns(vec![widened]), "CHANGE COLUMN", vec![]),
        (Alteration::ChangeColumns(vec![moved]), "CHANGE COLUMN", vec![("position", "AFTER id")]),
        (
            Alteration::ChangeColumns(several),
            "CHANGE COLUMNS",
            vec![(
                "columns",
                r#"[{"name":"id","type":"long","nullable":true,"metadata":{"comment":"key",
                     "delta.columnMapping.id":2,"delta.columnMapping.physicalName":"id"}},
                    {"name":"p","type":"string","nullable":true,"metadata":{"delta.columnMapping.id":1,
                     "delta.columnMapping.physicalName":"p"},"position":"FIRST"}]"#,
            )],
        ),
        (
            Alteration::RenameColumn { path: vec!["n.x".into()], name: "n".into() },
            "RENAME COLUMN",
            vec![("oldColumnPath", "`n.x`"), ("newColumnPath", "n")],
        ),
        (Alteration::DropColumns(vec![vec!["n".into()]]), "DROP COLUMNS", vec![("columns", r#"["n"]"#)]),
        (constraint("id < 3"), "ADD CONSTRAINT", vec![("name", "Small"), ("expr", "id < 3")]),
        (
            Alteration::DropConstraint { name: "small".into(), if_exists: false },
            "DROP CONSTRAINT",
            vec![("name", "small"), ("expr", "id < 3"), ("existed", "true")],
        ),
        (
            Alteration::UnsetProperties { keys: vec!["delta.enableTypeWidening".into()], if_exists: true },
            "UNSET TBLPROPERTIES",
            vec![("properties", r#"["delta.enableTypeWidening"]"#)],
        ),
    ];
    for (at, (change, operation, parameters)) in changes.into_iter().enumerate() {
        let version = alter_table(&location, &change, None).unwrap();
        assert_eq!(version, at as u64 + 1);
        let (name, found) = said(&location, version);
        assert_eq!(name, operation);
        for (key, value) in parameters {
            let text = found[key].as_str().unwrap();
            let parsed = |t: &str| serde_json::from_str::<Value>(t).unwrap_or_else(|_| t.into());
            assert_eq!(parsed(text), parsed(value), "{operation}");
        }
        assert_eq!(rows_at_ids(&location), [1, 2], "after {operation}");
    }
    assert_eq!(said(&location, 10).1["ifExists"], true);
    let changed: Value = serde_json::from_str(said(&location, 3).1["column"].as_str().unwrap()).unwrap();
    assert_eq!((&changed["name"], &changed["type"]), (&"`n.x`".into(), &"long".into()));
    assert_eq!(names(&location), ["p", "id"]);
}

fn rows_at_ids(location: &Location) -> Vec<i64> {
    let request = ReadRequest { columns: Some(vec!["id".into()]), ..Default::default() };
    let batches: Vec<_> = read(&open(location), request).unwrap().map(|b| b.unwrap()).collect();
    let mut ids: Vec<i64> =
        batches.iter().flat_map(|b| b.column(0).as_primitive::<Int64Type>().values().to_vec()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn nothing_to_change_is_no_commit() {
    let (_, location) = table();
    assert_eq!(alter_table(&location, &set(&[("a.b", "c")]), None).unwrap(), 1);
    assert_eq!(alter_table(&location, &set(&[("a.b", "c")]), None).unwrap(), 1);
    let gone = Alteration::DropConstraint { name: "no".into(), if_exists: true };
    assert_eq!(alter_table(&location, &gone, None).unwrap(), 1);
    assert_eq!(open(&location).version(), 1);
}

#[test]
fn changes_of_several_writers_at_once_are_all_there() {
    let (_, location) = table();
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let location = &location;
            scope.spawn(move || alter_table(location, &column(&format!("c{writer}")), None).unwrap());
        }
        scope.spawn(|| {
            for id in 0..4 {
                write(&location, &[("z", id)], &partitioned()).ok();
            }
        });
    });
    let mut found = names(&location);
    found.sort();
    assert_eq!(found, ["c0", "c1", "c2", "c3", "c4", "c5", "id", "p"]);
    let same = alter_table(&location, &column("C0"), None).unwrap_err();
    assert_eq!(same.kind(), "InvalidColumnChange");
}

#[test]
fn a_constraint_is_added_only_when_every_row_passes() {
    let (_, location) = table();
    let refused = |expression: &str| {
        let error = alter_table(&location, &constraint(expression), None).unwrap_err();
        assert_eq!(open(&location).version(), 0, "{expression}");
        error
    };
    let broken = refused("id < 2");
    assert!(matches!(broken.plain(), Error::InvariantViolation { row, .. } if row == "id = 2"), "{broken}");
    assert_eq!(refused("id < NULL").kind(), "InvariantViolation");
    assert_eq!(refused("1 = 2").kind(), "InvariantViolation");
    for cannot in ["no_such_function(id)", "other > 1", "id + 1", "id <"] {
        assert_eq!(refused(cannot).kind(), "InvalidExpression", "{cannot}");
    }
    assert_eq!(alter_table(&location, &constraint("id < 3 AND p IN ('a', 'b')"), None).unwrap(), 1);
    assert!(open(&location).protocol().supports(TableFeature::CheckConstraints));
    let snapshot = open(&location);
    let properties = &snapshot.metadata().configuration;
    assert_eq!(properties["delta.constraints.small"], "id < 3 AND p IN ('a', 'b')");
}

#[test]
fn other_clustering_columns_are_a_commit_that_says_both() {
    let (_, location) = place();
    write(&location, &[("a", 1)], &WriteOptions { mode: WriteMode::Append, ..Default::default() }).unwrap();
    alter_table(&location, &set(&[("delta.columnMapping.mode", "name")]), None).unwrap();
    let by = |columns: &[&str]| {
        Alteration::ClusterBy(columns.iter().map(|column| vec![(*column).to_owned()]).collect())
    };
    assert_eq!(alter_table(&location, &by(&[]), None).unwrap(), 1);
    for (version, (old, new)) in (2..).zip([("", "id"), ("id", "p,id"), ("p,id", "")]) {
        let columns: Vec<&str> = new.split(',').filter(|column| !column.is_empty()).collect();
        assert_eq!(alter_table(&location, &by(&columns), None).unwrap(), version);
        let (name, parameters) = said(&location, version);
        assert_eq!(name, "CLUSTER BY");
        assert_eq!(parameters["oldClusteringColumns"], old);
        assert_eq!(parameters["newClusteringColumns"], new);
        let columns: Vec<Vec<String>> = columns.iter().map(|column| vec![(*column).to_owned()]).collect();
        assert_eq!(clustering_columns(&open(&location)).unwrap(), columns);
    }
    assert_eq!(alter_table(&location, &by(&["nope"]), None).unwrap_err().kind(), "InvalidColumnChange");
    let (_, partitioned) = table();
    assert_eq!(alter_table(&partitioned, &by(&["id"]), None).unwrap_err().kind(), "InvalidFeatureChange");
}
