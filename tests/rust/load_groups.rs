//! Row groups and pages of a checkpoint that hold no file of a predicate are not read.

use std::collections::BTreeSet;

use deltaic_core::checkpoint::checkpoint;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::At;
use deltaic_testkit::{CheckpointSpec, TableBuilder, actions};
use serde_json::json;

use crate::load::open;

/// More digits than a double holds.
const LARGE: i64 = 1_000_000_000_000_000_000;

/// Nine files whose columns have one value each, in row groups of three rows: four hold files.
fn table(spec: CheckpointSpec) -> TableBuilder {
    let mut table = TableBuilder::temp();
    let columns = [
        ("id", "long"),
        ("name", "string"),
        ("small", "decimal(10,2)"),
        ("large", "decimal(38,0)"),
        ("day", "date"),
        ("p", "string"),
    ];
    table.create(&actions::schema(&columns), &["p"], &[]);
    let adds: Vec<_> = (0..9)
        .map(|n| {
            let bounds = json!({
                "id": n, "name": format!("v{n}"), "small": n, "large": LARGE * (n + 1),
                "day": format!("2026-01-0{}", n + 1),
            });
            let zero = json!({"id": 0, "name": 0, "small": 0, "large": 0, "day": 0});
            let stats = json!({"numRecords": 1, "minValues": bounds, "maxValues": bounds, "nullCount": zero});
            let value = format!("p{n}");
            actions::with_stats(actions::add_in(&format!("f{n}"), &[("p", Some(&value))]), &stats)
        })
        .collect();
    table.commit(&adds);
    table.checkpoint(1, &CheckpointSpec { row_group: 3, json_stats: false, ..spec });
    table
}

fn found(table: &TableBuilder, predicate: Predicate) -> (BTreeSet<String>, u64) {
    let snapshot = open(table, At::Latest).unwrap();
    let request = FilesRequest { predicate: Some(predicate), ..FilesRequest::default() };
    let batches = snapshot.files(request).unwrap().map(Result::unwrap);
    let paths =
        batches.flat_map(|b| b.adds().map(|a| a.unwrap().path.as_str().to_owned()).collect::<Vec<_>>());
    (paths.collect(), snapshot.report().row_groups_skipped)
}

#[test]
fn a_value_of_one_file_is_looked_for_in_one_row_group() {
    let is = |column: &str, value: Literal| Predicate::Compare {
        op: CompareOp::Eq,
        column: vec![column.into()],
        value,
    };
    let predicates = [
        is("id", Literal::Long(5)),
        is("name", Literal::String("v5".into())),
        is("small", Literal::Decimal("5.00".into())),
        is("large", Literal::Decimal((6 * LARGE).to_string())),
        is("day", Literal::String("2026-01-06".into())),
    ];
    let with_structs =
        CheckpointSpec { struct_stats: true, struct_partitions: true, ..CheckpointSpec::default() };
    let partition = is("p", Literal::String("p5".into()));
    for predicate in predicates.iter().chain([&partition]) {
        let one = (BTreeSet::from(["f5".to_owned()]), 3);
        assert_eq!(found(&table(with_structs.clone()), predicate.clone()), one, "{predicate}");
    }
    // without the typed columns of a checkpoint nothing is known of its row groups
    for predicate in predicates.iter().chain([&partition]) {
        let (paths, skipped) = found(&table(CheckpointSpec::default()), predicate.clone());
        assert!(paths.contains("f5") && skipped == 0, "{predicate}");
    }
}

/// A name that takes its place in a compressed file.
fn random_name(n: u64) -> String {
    let hash = |n: u64| {
        n.wrapping_add(1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(31)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    format!("{:016x}{:016x}{:016x}{:016x}", hash(n), hash(hash(n)), hash(!n), hash(hash(!n)))
}

/// Files in the order of `id`, twenty with each `p`, in a checkpoint of two row groups.
fn many(features: &[&str], properties: &[(&str, &str)]) -> (TableBuilder, u64) {
    let mut table = TableBuilder::temp();
    let schema = actions::schema(&[("id", "long"), ("p", "integer")]);
    table.commit(&[
        actions::protocol_features(features, features),
        actions::metadata(&schema, &["p"], properties),
    ]);
    let adds: Vec<_> = (0..20_000)
        .map(|n| {
            let stats = json!({
                "numRecords": 1, "minValues": {"id": n}, "maxValues": {"id": n}, "nullCount": {"id": 0},
            });
            let p = (n / 20).to_string();
            actions::with_stats(actions::add_in(&random_name(n), &[("p", Some(&p))]), &stats)
        })
        .collect();
    table.commit(&adds);
    let done = checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
    (table, done.size)
}

#[test]
fn pages_without_a_file_of_a_predicate_are_not_fetched() {
    let is = |column: &str, value: i64| Predicate::Compare {
        op: CompareOp::Eq,
        column: vec![column.into()],
        value: Literal::Long(value),
    };
    let v2 = [("delta.checkpointPolicy", "v2")];
    for (table, size) in [many(&["timestampNtz"], &[]), many(&["v2Checkpoint"], &v2)] {
        let files = |predicate: Predicate| {
            let snapshot = open(&table, At::Latest).unwrap();
            let request = FilesRequest { predicate: Some(predicate), ..FilesRequest::default() };
            let batches = snapshot.files(request).unwrap().map(Result::unwrap);
            let paths = batches
                .flat_map(|b| b.adds().map(|a| a.unwrap().path.as_str().to_owned()).collect::<Vec<_>>());
            let paths: BTreeSet<String> = paths.collect();
            let report = snapshot.report();
            let pruned = report.files_pruned_by_stats + report.files_pruned_by_partition;
            assert!(pruned > 0 && paths.len() as u64 == report.files_kept);
            (paths, report.bytes)
        };
        let (found, bytes) = files(is("id", 12_345));
        assert_eq!(found, BTreeSet::from([random_name(12_345)]));
        // the footer, the page index, and a page of each column
        assert!(bytes * 3 < size, "{bytes} of {size}");
        let (found, bytes) = files(is("p", 617));
        assert_eq!(found, (12_340..12_360).map(random_name).collect());
        assert!(bytes * 3 < size, "{bytes} of {size}");
        let both = Predicate::Or(vec![is("id", 7), is("p", 999)]);
        assert_eq!(files(both).0, (19_980..20_000).chain([7]).map(random_name).collect());
    }
}
