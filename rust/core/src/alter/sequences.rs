//! Property tests over sequences of changes.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::testing::{data_type, table};
use super::*;
use crate::schema::StructField;

#[derive(Debug, Clone)]
enum Op {
    Add(u8, bool),
    Drop(u8),
    Rename(u8, u8),
    Move(u8),
    Property(&'static str, &'static str),
}

fn op() -> impl Strategy<Value = Op> {
    let property = proptest::sample::select(vec![
        ("delta.enableDeletionVectors", "true"),
        ("delta.enableChangeDataFeed", "true"),
        ("delta.enableTypeWidening", "true"),
        ("delta.enableRowTracking", "true"),
        ("delta.enableRowTracking", "false"),
        ("delta.columnMapping.mode", "name"),
        ("delta.checkpointPolicy", "v2"),
        ("delta.minWriterVersion", "4"),
        ("delta.feature.timestampNtz", "supported"),
        ("delta.enableIcebergCompatV2", "true"),
    ]);
    prop_oneof![
        (0u8..6, any::<bool>()).prop_map(|(n, nested)| Op::Add(n, nested)),
        (0u8..6).prop_map(Op::Drop),
        (0u8..6, 0u8..6).prop_map(|(a, b)| Op::Rename(a, b)),
        (0u8..6).prop_map(Op::Move),
        property.prop_map(|(key, value)| Op::Property(key, value)),
    ]
}

fn name(n: u8) -> String {
    format!("c{n}")
}

fn apply(table: &Definition, op: &Op) -> crate::Result<Definition> {
    match op {
        Op::Add(n, nested) => {
            let kind = if *nested { "struct<x: int, l array<struct<y: long>>>" } else { "string" };
            add_columns(table, &[NewColumn::of(StructField::new(name(*n), data_type(kind), true))])
        }
        Op::Drop(n) => drop_columns(table, &[vec![name(*n)]]),
        Op::Rename(a, b) => rename_column(table, &[name(*a)], &name(*b)),
        Op::Move(n) => {
            let change = ColumnChange { position: Some(Position::First), ..ColumnChange::of(vec![name(*n)]) };
            change_columns(table, &[change])
        }
        Op::Property(key, value) => {
            let properties: BTreeMap<String, String> = [((*key).to_owned(), (*value).to_owned())].into();
            set_properties(table, &properties, SetOptions::default())
        }
    }
}

/// Ids of all columns, with those of elements, keys and values.
fn ids(table: &Definition) -> BTreeMap<i64, String> {
    let mut ids = BTreeMap::new();
    for (path, field) in table.schema.explode() {
        let nested = field.metadata.get("delta.columnMapping.nested.ids").and_then(|v| v.as_object());
        let nested = nested.into_iter().flatten().filter_map(|(_, id)| id.as_i64());
        for id in field.field_id().map(i64::from).into_iter().chain(nested) {
            assert!(ids.insert(id, path.join(".")).is_none(), "{id} twice");
        }
    }
    ids
}

proptest! {
    #[test]
    fn changes_keep_ids_unique_and_features_there(mapped in any::<bool>(), ops in proptest::collection::vec(op(), 1..25)) {
        let properties: &[(&str, &str)] = if mapped { &[("delta.columnMapping.mode", "name")] } else { &[] };
        let mut table = table("k long, c0 int", properties);
        let mut given = 0;
        for op in &ops {
            let Ok(new) = apply(&table, op) else { continue };
            check_keeps_features(&table.protocol, &new.protocol, &[]).unwrap();
            validate(Some((&table.protocol, &table.metadata)), (&new.protocol, &new.metadata)).unwrap();
            prop_assert_eq!(&Definition::of(&new.protocol, &new.metadata).unwrap(), &new);
            let (before, after) = (ids(&table), ids(&new));
            // a new id is above all that were ever assigned
            prop_assert!(after.keys().all(|id| before.contains_key(id) || *id > given), "{:?} {:?}", op, after);
            given = given.max(after.keys().next_back().copied().unwrap_or(0));
            table = new;
        }
    }
}
