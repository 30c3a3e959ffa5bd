//! Row tracking that is enabled or dropped, step by step, while others write.

use bytes::Bytes;
use deltaic_core::actions::FilePath;
use deltaic_core::dml::DmlOptions;
use deltaic_core::maintain::{
    CloneOptions, OptimizeOptions, RestoreOptions, alter_table, optimize, restore, shallow_clone,
};
use deltaic_core::operations::{delete, update};
use deltaic_core::properties::TableProperty;
use deltaic_testkit::{Fault, Op, Rule};
use serde_json::json;

use super::alter::set;
use super::backfill::{
    Rival, VECTORS, before_each_step, enable, operations, stopped_at, table, tracked, whole,
};
use super::drop_feature::{ROW_IDS, features, try_drop};
use super::*;
use crate::rivals::{overtaken, overtaken_by};

fn compact(location: &Location) -> Option<u64> {
    optimize(location, &OptimizeOptions::default()).unwrap().version
}

/// What a merge commits: a file is written again, and rows join.
fn merge(location: &Location) {
    let mut txn = Transaction::begin(&open(location), Operation::new("MERGE"));
    let old = adds(location).remove(0);
    let body = location.store().get(&old.path.resolve(location.root()).unwrap()).unwrap();
    txn.remove_file(&old, true);
    for name in ["again.parquet", "new.parquet"] {
        location.store().put(&location.root().join(name), body.clone()).unwrap();
        let path = FilePath::encode(name);
        txn.add(Add { path, base_row_id: None, default_row_commit_version: None, ..old.clone() });
    }
    txn.commit().unwrap();
}

#[test]
fn others_may_change_merge_and_compact_before_each_step() {
    let updates = |copy: &Location| {
        update(copy, &[("id".into(), "id + 100".into())], Some("id IN (2, 5)"), &DmlOptions::default())
            .unwrap();
    };
    let compacts = |copy: &Location| assert!(compact(copy).is_some());
    let rivals: [(&str, Rival<'_>); 3] = [("update", &updates), ("merge", &merge), ("optimize", &compacts)];
    before_each_step(&rivals);
}

#[test]
fn others_may_restore_before_each_step() {
    let restores = |copy: &Location| drop(restore(copy, At::Version(0), &RestoreOptions::default()).unwrap());
    before_each_step(&[("restore", &restores)]);
}

#[test]
fn a_restore_follows_no_commit_of_an_enablement() {
    // version 0 has the files and properties of the table but for one file; version 1 is the table, and the newest one
    // before the first step
    for (version, steps) in [(0, 2..=4), (1, 3..=4)] {
        for step in steps {
            let context = format!("version {version} under step {step}");
            let (store, location) = table(&[]);
            if step > 2 {
                stopped_at(&store, &location, step);
            }
            overtaken(&store, &location, step, |copy| {
                enable(copy).unwrap();
            });
            let error = restore(&location, At::Version(version), &RestoreOptions::default()).unwrap_err();
            store.heal();
            assert_eq!(
                (error.kind(), error.conflict().unwrap().rule.as_str()),
                ("ConcurrentWrite", "overtaken"),
                "{context}"
            );
            assert_eq!(error.condition().unwrap().name, "DELTA_CONCURRENT_WRITE", "{context}");
            assert_eq!(open(&location).version(), step, "{context}");
            // it is done in one's own time
            restore(&location, At::Version(version), &RestoreOptions::default()).unwrap();
            assert_eq!(rows(&location), rows_at(&location, At::Version(version)), "{context}");
            assert!(!open(&location).metadata().is_true(TableProperty::EnableRowTracking), "{context}");
            whole(&location, &context);
        }
    }
}

/// The feature, unless it is there; ids of some files, ids of the others, and the property.
fn enable_in_two_batches(location: &Location) {
    if !features(location).contains(&"rowTracking".to_owned()) {
        alter_table(location, &set(&[("delta.feature.rowTracking", "supported")]), None).unwrap();
    }
    let mut txn = Transaction::begin(&open(location), Operation::new("ROW TRACKING BACKFILL"));
    let some: Vec<Add> = adds(location).into_iter().take(2).collect();
    txn.read_files(some.iter().map(|file| &file.path)).unwrap();
    some.into_iter().for_each(|file| txn.add(Add { data_change: false, ..file }));
    txn.commit().unwrap();
    enable(location).unwrap();
}

#[test]
fn a_compaction_lands_whatever_of_an_enablement_comes_first() {
    for properties in [&[][..], &[VECTORS]] {
        for (begin, end) in [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 4)] {
            let context = format!("from step {begin} to step {end}, {properties:?}");
            let (store, location) = table(properties);
            let before = rows(&location);
            if begin > 0 {
                alter_table(&location, &set(&[("delta.feature.rowTracking", "supported")]), None).unwrap();
            }
            overtaken_by(&store, &location, 2 + begin..=1 + end, enable_in_two_batches);
            assert_eq!(compact(&location), Some(2 + end), "{context}");
            store.heal();
            assert_eq!(rows(&location), before, "{context}");
            enable(&location).unwrap();
            tracked(&location, &context);
        }
    }
}

#[test]
fn two_enable_at_once_and_the_feature_is_added_once() {
    for begun in [2, 3, 4] {
        for end in begun..=4 {
            let context = format!("versions {begun} to {end}");
            let (store, location) = table(&[]);
            let before = rows(&location);
            if begun > 2 {
                stopped_at(&store, &location, begun);
            }
            overtaken_by(&store, &location, begun..=end, |copy| {
                enable(copy).unwrap();
            });
            enable(&location).unwrap();
            assert_eq!(
                operations(&location).iter().filter(|o| *o == "UPGRADE PROTOCOL").count(),
                1,
                "{context}"
            );
            assert_eq!(rows(&location), before, "{context}");
            tracked(&location, &context);
        }
    }
}

#[test]
fn a_clone_and_an_enablement_never_mix() {
    let replace = CloneOptions { replace: true, ..Default::default() };
    let cloned = |store: &FaultStore, location: &Location| {
        let source = beside(store, "/source");
        write(&source, &[("a", 1), ("b", 2)], &partitioned()).unwrap();
        shallow_clone(&source, At::Latest, location, &replace)
    };
    let empty = || {
        let (store, location) = place();
        write(&location, &[], &partitioned()).unwrap();
        (store, location)
    };
    // the clone is overtaken
    let (store, location) = empty();
    overtaken(&store, &location, 1, |copy| {
        enable(copy).unwrap();
    });
    let error = cloned(&store, &location).unwrap_err();
    assert!(error.conflict().is_some(), "{error}");
    assert!(
        rows(&location).is_empty() && open(&location).metadata().is_true(TableProperty::EnableRowTracking)
    );
    whole(&location, "after an enablement");

    // the clone overtakes
    let (store, location) = empty();
    let (other, copy) = empty();
    cloned(&other, &copy).unwrap();
    let body = copy.store().get(&copy.log_dir().join("00000000000000000001.json")).unwrap();
    write(&beside(&store, "/source"), &[("a", 1), ("b", 2)], &partitioned()).unwrap();
    store.rule(
        Rule::new(Fault::Overtaken(body)).on(Op::PutIfAbsent).named("t/_delta_log/00000000000000000001.json"),
    );
    let result = enable(&location);
    assert_eq!(
        open(&location).metadata().is_true(TableProperty::EnableRowTracking),
        result.is_ok(),
        "{result:?}"
    );
    enable(&location).unwrap();
    assert!(adds(&location).iter().all(|add| add.base_row_id.is_some()));
}

/// A file with row ids, of a writer who does not heed that row tracking is suspended.
fn with_ids(store: &FaultStore, location: &Location, version: u64) {
    let file = adds(location).remove(0);
    let body = location.store().get(&file.path.resolve(location.root()).unwrap()).unwrap();
    location.store().put(&location.root().join("other.parquet"), body).unwrap();
    let add = Add {
        path: FilePath::encode("other.parquet"),
        base_row_id: Some(1000),
        default_row_commit_version: Some(version as i64),
        deletion_vector: None,
        ..file
    };
    let mark = json!({"domainMetadata": {
        "domain": "delta.rowTracking", "configuration": "{\"rowIdHighWaterMark\":1100}", "removed": false,
    }});
    let info = json!({"commitInfo": {"operation": "WRITE", "txnId": "other"}});
    let theirs = Bytes::from(format!("{info}\n{mark}\n{}\n", json!({"add": add})));
    store.rule(Rule::new(Fault::Overtaken(theirs)).on(Op::PutIfAbsent).named(&format!("{version:020}.json")));
}

#[test]
fn ids_that_others_give_while_row_tracking_is_dropped_go_too() {
    for properties in [&[ROW_IDS][..], &[ROW_IDS, VECTORS]] {
        for step in 1..=3 {
            let context = format!("step {step}, {properties:?}");
            let (store, location) = table(properties);
            let count = rows(&location).len();
            with_ids(&store, &location, open(&location).version() + step);
            let first = try_drop(&location, "rowTracking", false);
            if step == 3 {
                // the highest id moved under the commit that takes it away: the next drop finishes
                assert_eq!(first.unwrap_err().kind(), "ConcurrentTransaction");
                try_drop(&location, "rowTracking", false).unwrap();
            }
            assert!(!features(&location).contains(&"rowTracking".to_owned()), "{context}");
            assert!(rows(&location).len() > count, "{context}");
            let none = |add: &Add| add.base_row_id.is_none() && add.default_row_commit_version.is_none();
            assert!(adds(&location).iter().all(none), "{context}");
            whole(&location, &context);
        }
    }
}

#[test]
fn changes_between_the_steps_of_a_drop_have_no_ids_in_the_end() {
    let appends = |copy: &Location| drop(write(copy, &[("b", 7), ("b", 8)], &partitioned()).unwrap());
    let deletes = |copy: &Location| drop(delete(copy, Some("id = 2"), &DmlOptions::default()).unwrap());
    let updates = |copy: &Location| {
        update(copy, &[("id".into(), "id + 100".into())], Some("id = 2"), &DmlOptions::default()).unwrap();
    };
    let rivals: [(&str, Rival<'_>); 3] = [("append", &appends), ("delete", &deletes), ("update", &updates)];
    for properties in [&[ROW_IDS][..], &[ROW_IDS, VECTORS]] {
        for (name, rival) in rivals {
            for step in 1..=3 {
                let context = format!("{name} before step {step}, {properties:?}");
                let (store, location) = table(properties);
                let version = open(&location).version() + step;
                // the steps before are those of a drop that was cut off
                store.rule(Rule::new(Fault::Crash).on(Op::PutIfAbsent).named(&format!("{version:020}.json")));
                try_drop(&location, "rowTracking", false).unwrap_err();
                store.heal();
                let mut expected = Vec::new();
                overtaken(&store, &location, version, |copy| {
                    rival(copy);
                    expected = rows(copy);
                });
                try_drop(&location, "rowTracking", false).unwrap();
                assert_eq!(rows(&location), expected, "{context}");
                assert!(adds(&location).iter().all(|add| add.base_row_id.is_none()), "{context}");
                whole(&location, &context);
            }
        }
    }
}

#[test]
fn row_tracking_cannot_be_enabled_while_it_is_dropped() {
    let (store, location) = table(&[ROW_IDS]);
    let last = open(&location).version() + 3;
    store.rule(Rule::new(Fault::Crash).on(Op::PutIfAbsent).named(&format!("{last:020}.json")));
    try_drop(&location, "rowTracking", false).unwrap_err();
    store.heal();
    assert_eq!(enable(&location).unwrap_err().kind(), "InvalidArgument");
    try_drop(&location, "rowTracking", false).unwrap();
    whole(&location, "dropped");
}
