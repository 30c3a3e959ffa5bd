//! Explained pruning: the verdict of every file is that of the scan, whatever the log is made of.

use std::collections::BTreeSet;

use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::scan::explain::{By, Shown, Why, explain};
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_testkit::{CheckpointForm, CheckpointSpec, TableBuilder, actions};
use proptest::prelude::*;
use serde_json::{Value, json};

const DAYS: [Option<&str>; 4] = [Some("2026-01-01"), Some("2026-01-02"), Some(""), None];

/// What the log says of one file.
#[derive(Debug, Clone)]
struct File {
    p: Option<i64>,
    day: usize,
    /// Least and greatest `x`, and number of nulls, each of which may be absent.
    x: (Option<i64>, Option<i64>, Option<i64>),
    stats: bool,
}

fn file() -> impl Strategy<Value = File> {
    let often = |values: std::ops::Range<i64>| prop::option::weighted(0.8, values);
    // never a least above the greatest: a row group of a checkpoint cannot tell that one of its files contradicts itself
    let x = (often(0..5), often(4..10), often(0..4));
    (often(0..4), 0..DAYS.len(), x, prop::bool::weighted(0.85)).prop_map(|(p, day, x, stats)| File {
        p,
        day,
        x,
        stats,
    })
}

fn test() -> impl Strategy<Value = Predicate> {
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne, NullSafeEq};
    let op = || prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge, NullSafeEq]);
    let column = |name: &str| vec![name.to_owned()];
    let number = |name: &'static str| {
        (op(), 0..10i64).prop_map(move |(op, value)| Predicate::Compare {
            op,
            column: column(name),
            value: Literal::Long(value),
        })
    };
    let day = op().prop_map(move |op| Predicate::Compare {
        op,
        column: column("day"),
        value: Literal::String("2026-01-01".into()),
    });
    let null = prop::sample::select(vec!["p", "x", "day"])
        .prop_map(move |name| Predicate::IsNull { column: column(name) });
    let list = prop::collection::vec(0..10i64, 1..3).prop_map(move |values| Predicate::In {
        column: column("x"),
        values: values.into_iter().map(Literal::Long).collect(),
    });
    prop_oneof![
        3 => number("p"), 4 => number("x"), 1 => day, 2 => null, 1 => list,
        1 => Just(Predicate::Unknown("f(x)".into())),
        1 => prop::option::of(any::<bool>()).prop_map(Predicate::Constant)
    ]
}

fn predicate() -> impl Strategy<Value = Predicate> {
    test().prop_recursive(3, 8, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            several().prop_map(Predicate::And),
            several().prop_map(Predicate::Or),
            inner.clone().prop_map(|p| Predicate::Not(Box::new(p))),
        ]
    })
}

fn add(number: usize, file: &File) -> Value {
    let p = file.p.map(|p| p.to_string());
    let action =
        actions::add_in(&format!("f{number}.parquet"), &[("p", p.as_deref()), ("day", DAYS[file.day])]);
    let mut stats = json!({"numRecords": 3});
    let sections = [("minValues", file.x.0), ("maxValues", file.x.1), ("nullCount", file.x.2)];
    for (section, value) in sections {
        stats[section] = value.map_or(json!({}), |v| json!({ "x": v }));
    }
    if file.stats { actions::with_stats(action, &stats) } else { action }
}

fn table(files: &[File], in_checkpoint: usize, spec: &CheckpointSpec) -> (TableBuilder, Snapshot) {
    let mut table = TableBuilder::temp();
    let schema = actions::schema(&[("p", "long"), ("day", "date"), ("x", "long")]);
    table.create(&schema, &["p", "day"], &[]);
    let adds: Vec<Value> = files.iter().enumerate().map(|(i, f)| add(i, f)).collect();
    let (old, new) = adds.split_at(in_checkpoint.min(adds.len()));
    let version = table.commit(&[old, &[actions::txn("app", 0)]].concat());
    table.checkpoint(version, spec);
    table.commit(&[new, &[actions::txn("app", 1)]].concat());
    let location = Location::open(&table.uri(), &StorageOptions::new()).unwrap();
    let snapshot = Snapshot::open(location, At::Latest).unwrap();
    (table, snapshot)
}

fn scanned(snapshot: &Snapshot, predicate: Option<&Predicate>) -> Vec<String> {
    let request = FilesRequest { predicate: predicate.cloned(), ..FilesRequest::default() };
    let batches = snapshot.files(request).unwrap().map(Result::unwrap);
    batches.flat_map(|b| b.adds().map(|a| a.unwrap().path.as_str().to_owned()).collect::<Vec<_>>()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_kept_files_are_those_of_the_scan(
        files in prop::collection::vec(file(), 1..12),
        in_checkpoint in 0..12usize,
        predicate in predicate(),
        form in prop::sample::select(vec![CheckpointForm::Single, CheckpointForm::MultiPart(2), CheckpointForm::V2Json(2)]),
        (json_stats, struct_stats, struct_partitions) in any::<(bool, bool, bool)>(),
    ) {
        let spec = CheckpointSpec {
            form, json_stats, struct_stats, struct_partitions, row_group: 3, ..CheckpointSpec::default()
        };
        let (_table, snapshot) = table(&files, in_checkpoint, &spec);
        let reported = explain(&snapshot, &predicate, Shown::default()).unwrap();
        let of = |kept: bool| reported.files.iter().filter(move |f| f.kept == kept);
        let kept: Vec<String> = of(true).map(|f| f.path.clone()).collect();
        prop_assert_eq!(&kept, &scanned(&snapshot, Some(&predicate)));
        // a checkpoint says no more than the commits do
        let (_plain, plain) = self::table(&files, 0, &CheckpointSpec::default());
        let in_commits = scanned(&plain, Some(&predicate));
        prop_assert!(in_commits.iter().all(|path| kept.contains(path)), "{:?} of {:?}", kept, in_commits);
        let all: BTreeSet<&str> = reported.files.iter().map(|f| f.path.as_str()).collect();
        prop_assert_eq!(all.len(), files.len());
        prop_assert_eq!((reported.kept.files + reported.dropped.files) as usize, files.len());
        prop_assert_eq!(reported.dropped.files as usize, of(false).count());
        prop_assert!(of(true).all(|f| f.causes.is_empty() && f.why.is_some()));
        prop_assert!(of(false).all(|f| !f.causes.is_empty() && f.why.is_none()));
        // what is shown in text is what the checkpoint has in types, so that a part is always found
        prop_assert!(of(false).all(|f| f.causes.iter().all(|c| c.by != By::Checkpoint)));
    }
}

#[test]
fn files_of_a_checkpoint_without_statistics_are_kept() {
    let file = |low, high| File { p: Some(1), day: 0, x: (Some(low), Some(high), Some(0)), stats: true };
    let spec = CheckpointSpec { json_stats: false, ..CheckpointSpec::default() };
    let (_table, snapshot) = table(&[file(0, 4), file(5, 9)], 2, &spec);
    let positive =
        Predicate::Compare { op: CompareOp::Gt, column: vec!["x".into()], value: Literal::Long(3) };
    assert_eq!(scanned(&snapshot, Some(&positive)).len(), 2);
    let reported = explain(&snapshot, &positive, Shown::default()).unwrap();
    assert!(reported.files.iter().all(|f| f.why == Some(Why::NoStatistics)));
}

#[test]
fn a_file_is_reported_with_the_part_and_the_values_that_rule_it_out() {
    let file = |p, low, high, stats| File { p: Some(p), day: 0, x: (Some(low), Some(high), Some(1)), stats };
    let files = [file(1, 0, 4, true), file(2, 0, 4, true), file(1, 5, 9, true), file(1, 0, 0, false)];
    let (_table, snapshot) = table(&files, 2, &CheckpointSpec::default());
    let at = |column: &str, op, value| Predicate::Compare {
        op,
        column: vec![column.into()],
        value: Literal::Long(value),
    };
    let predicate = Predicate::And(vec![at("x", CompareOp::Gt, 4), at("p", CompareOp::Eq, 1)]);
    let reported = explain(&snapshot, &predicate, Shown::default()).unwrap();
    let json: Value = serde_json::to_value(&reported).unwrap();
    let of = |path: &str| json["files"].as_array().unwrap().iter().find(|f| f["path"] == path).unwrap();
    let statistics = json!([{"part": "x > 4", "by": "statistics", "columns": ["x"]}]);
    assert_eq!(of("f0.parquet")["causes"], statistics);
    assert_eq!(
        of("f0.parquet")["columns"],
        json!([{"column": "p", "partition_value": "1"}, {"column": "x", "min": 0, "max": 4, "null_count": 1}])
    );
    assert_eq!(of("f0.parquet")["num_records"], 3);
    let values = json!([{"part": "p = 1", "by": "partition values", "columns": ["p"]}]);
    assert_eq!(of("f1.parquet")["causes"], values);
    assert_eq!(
        (&of("f2.parquet")["why"], &of("f3.parquet")["why"]),
        (&json!("may match"), &json!("no statistics"))
    );
    assert_eq!(
        json["parts"][0],
        json!({"part": "p = 1", "by": "partition values", "files": 1, "bytes": 100})
    );

    let one = explain(&snapshot, &predicate, Shown { limit: Some(1), kept: Some(true) }).unwrap();
    assert_eq!((one.files.len(), one.files[0].kept), (1, true));
    assert_eq!((one.kept.files, one.dropped.files, one.dropped.bytes), (2, 2, 200));
}
