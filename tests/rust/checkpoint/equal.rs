//! A version is the same from its commits and from our checkpoint of it.

use std::fs;

use deltaic::Snapshot;
use deltaic::checkpoint::checkpoint;
use deltaic::snapshot::At;
use deltaic_testkit::{TableBuilder, actions};
use serde_json::{Value, json};

use crate::load::{expected, files, open, vector};

/// The properties of both kinds of checkpoint.
const V1: &[(&str, &str)] = &[];
const V2: &[(&str, &str)] = &[("delta.checkpointPolicy", "v2")];

fn features(v2: bool) -> Value {
    if v2 {
        actions::protocol_features(&["v2Checkpoint", "deletionVectors"], &["v2Checkpoint", "deletionVectors"])
    } else {
        actions::protocol(1, 2)
    }
}

fn create(properties: &[(&str, &str)]) -> TableBuilder {
    let mut table = TableBuilder::temp();
    let schema = actions::schema(&[("id", "long"), ("p", "string"), ("t", "timestamp")]);
    let v2 = properties.iter().any(|(_, v)| *v == "v2");
    table.commit(&[features(v2), actions::metadata(&schema, &["p"], properties)]);
    table
}

fn add(n: i64) -> Value {
    let add = actions::add_in(&format!("p=x%20{n}/f{n}.parquet"), &[("p", (n % 3 > 0).then_some("x y"))]);
    let bounds = json!({"id": n, "t": "2026-01-01T00:00:00.001Z"});
    actions::with_stats(add, &json!({"numRecords": n, "minValues": bounds, "maxValues": bounds, "nullCount": {"id": 0}}))
}

fn fill(table: &mut TableBuilder) {
    for n in 0..6 {
        table.commit(&[add(2 * n), add(2 * n + 1), actions::txn("app", n)]);
    }
    let now = chrono::Utc::now().timestamp_millis();
    table.commit(&[
        actions::with(actions::remove("p=x%201/f1.parquet"), "deletionTimestamp", now),
        actions::remove("p=x%202/f2.parquet"),
        actions::remove("p=x%203/f3.parquet"),
        actions::with(add(3), "deletionVector", vector(3)),
        actions::domain("kept", "{}", false),
        actions::domain("gone", "{}", true),
    ]);
}

fn same(table: &TableBuilder, from: u64) -> Snapshot {
    let snapshot = open(table, At::Latest).unwrap();
    assert_eq!(snapshot.report().checkpoint_version, Some(from));
    assert_eq!(files(&snapshot).unwrap(), expected(table, snapshot.version()));
    assert_eq!(snapshot.report().fallbacks, Vec::<String>::new());
    snapshot
}

#[test]
fn t21_the_state_from_our_checkpoint_is_that_of_the_commits() {
    for properties in [V1, V2] {
        for (json, parsed) in [("true", "true"), ("true", "false"), ("false", "true")] {
            let mut all = properties.to_vec();
            all.push(("delta.checkpoint.writeStatsAsJson", json));
            all.push(("delta.checkpoint.writeStatsAsStruct", parsed));
            let mut table = create(&all);
            fill(&mut table);
            let before = open(&table, At::Latest).unwrap();
            let done = checkpoint(&before).unwrap();
            assert_eq!((done.version, done.existed, done.num_files), (7, false, 10));
            for name in fs::read_dir(table.root().join("_delta_log")).unwrap() {
                let name = name.unwrap().file_name().into_string().unwrap();
                if name.ends_with("0.json") {
                    // the commits are not needed any more
                    table.remove_log_file(&name);
                }
            }
            let after = open(&table, At::Latest).unwrap();
            assert_eq!(after.report().opened_from, "checkpoint");
            assert_eq!((after.protocol(), after.metadata()), (before.protocol(), before.metadata()));
            if json == "true" {
                same(&table, 7);
            }
            assert_eq!(files(&after).unwrap().len(), 10);
            assert_eq!(after.app_transaction("app").unwrap().unwrap().version, 5);
            let domains: Vec<String> =
                after.domain_metadata().unwrap().into_iter().map(|d| d.domain).collect();
            assert_eq!(domains, ["kept"]);
            assert!(checkpoint(&after).unwrap().existed);
        }
    }
}
