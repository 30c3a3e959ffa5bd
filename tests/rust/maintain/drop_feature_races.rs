//! Drops that are cut off, and others that write meanwhile.

use bytes::Bytes;
use deltaic_core::actions::FilePath;
use deltaic_core::maintain::DropDone;
use deltaic_core::txn::with_warnings;
use deltaic_core::verify::{VerifyOptions, verify};
use deltaic_testkit::{Fault, Op, Rule};
use serde_json::{Value, json};

use super::drop_feature::{ROW_IDS, VECTORS, dropped, features, is_whole, property, table, try_drop};
use super::*;

#[test]
fn a_drop_that_is_cut_off_anywhere_goes_on_from_there() {
    let cases = [
        ("deletionVectors", Op::PutIfAbsent),
        ("deletionVectors", Op::Put),
        ("columnMapping", Op::PutIfAbsent),
        ("rowTracking", Op::PutIfAbsent),
    ];
    for (name, op) in cases {
        for cut in 0.. {
            let (store, location) = table(&[VECTORS, ROW_IDS, ("delta.columnMapping.mode", "name")]);
            delete_first_row(&location);
            let before = rows(&location);
            store.forget();
            store.rule(Rule::new(Fault::Crash).on(op).nth(cut + 1));
            let first = try_drop(&location, name, false);
            let struck = store.count(op, "") as u64 > cut;
            store.heal();
            assert_eq!(rows(&location), before, "{name} {op:?} {cut}");
            assert!(verify(&location, &VerifyOptions::default()).unwrap().ok(), "{name} {op:?} {cut}");
            if features(&location).contains(&name.to_owned()) {
                assert!(first.is_err(), "{name} {op:?} {cut}");
                dropped(&location, name);
            }
            if !struck {
                assert!(first.is_ok() && cut > 1, "{name} {op:?} {cut}");
                break;
            }
        }
    }
}

#[test]
fn a_truncation_that_is_cut_off_anywhere_goes_on_from_there() {
    // nothing of the history is kept, but for what is as young as the drop
    let at_once = ("delta.dropFeatureTruncateHistory.retentionDuration", "interval 1 millisecond");
    for op in [Op::PutIfAbsent, Op::Put, Op::Delete] {
        for cut in 0.. {
            let (store, location) = table(&[VECTORS, at_once]);
            delete_first_row(&location);
            let before = rows(&location);
            store.forget();
            store.rule(Rule::new(Fault::Crash).on(op).nth(cut + 1));
            let first = until_old_enough(&location);
            let struck = store.count(op, "") as u64 > cut;
            store.heal();
            assert_eq!(rows(&location), before, "{op:?} {cut}");
            if features(&location).contains(&"deletionVectors".to_owned()) {
                assert!(first.is_err(), "{op:?} {cut}");
                until_old_enough(&location).unwrap();
            }
            assert_eq!(rows(&location), before, "{op:?} {cut}");
            assert_eq!(features(&location), ["appendOnly", "invariants"], "{op:?} {cut}");
            is_whole(&location);
            if !struck {
                assert!(cut > 1, "{op:?} {cut}");
                break;
            }
        }
    }
}

/// Drops deletion vectors again and again with the history, which gets old meanwhile.
fn until_old_enough(location: &Location) -> Result<DropDone> {
    loop {
        match try_drop(location, "deletionVectors", true) {
            Err(error) if error.kind() == "FeatureInHistory" => {}
            other => return other,
        }
    }
}

#[test]
fn a_checkpoint_that_fails_after_the_last_commit_is_a_warning() {
    let (store, location) = table(&[VECTORS]);
    delete_first_row(&location);
    let last = open(&location).version() + 6;
    store.rule(Rule::new(Fault::Refused).on(Op::Put).named(&format!("{last:020}.checkpoint")).always());
    let (done, warned) = with_warnings(|| try_drop(&location, "deletionVectors", false).unwrap());
    assert_eq!(done.version, last);
    assert!(
        done.warnings.iter().any(|w| w.starts_with(&format!("checkpoint of version {last}"))),
        "{done:?}"
    );
    assert!(done.warnings.iter().all(|w| warned.contains(w)), "{warned:?}");
    store.heal();
    is_whole(&location);
}

/// A commit of another writer, as the version that the last commit of a drop of deletion vectors would be.
fn overtaken(store: &FaultStore, location: &Location, action: Value) -> u64 {
    let last = open(location).version() + 6;
    overtake(store, last, action);
    last
}

/// A commit of another writer, who is first at this version.
fn overtake(store: &FaultStore, version: u64, action: Value) {
    let info = json!({"commitInfo": {"operation": "WRITE", "txnId": "other"}});
    let theirs = Bytes::from(format!("{info}\n{action}\n"));
    store.rule(Rule::new(Fault::Overtaken(theirs)).on(Op::PutIfAbsent).named(&format!("{version:020}.json")));
}

#[test]
fn what_others_do_between_the_steps_is_taken_away_too() {
    // vectors are enabled again before the purge
    let (store, location) = table(&[VECTORS]);
    delete_first_row(&location);
    let metadata = open(&location).metadata().clone();
    overtake(&store, open(&location).version() + 2, json!({"metaData": metadata}));
    let done = dropped(&location, "deletionVectors");
    assert_eq!((done.steps, done.rewritten), (3, 1));

    // a file with mapped names joins while the others are written again
    let (store, location) = table(&[("delta.columnMapping.mode", "name")]);
    let file = adds(&location).remove(0);
    let copy = location.root().join("copy.parquet");
    let body = location.store().get(&file.path.resolve(location.root()).unwrap()).unwrap();
    location.store().put(&copy, body).unwrap();
    let add = Add { path: FilePath::encode("copy.parquet"), ..file };
    let version = open(&location).version() + 1;
    overtake(&store, version, json!({"add": add}));
    let count = rows(&location).len();
    let done = try_drop(&location, "columnMapping", false).unwrap();
    assert_eq!((done.steps, done.rewritten), (1, 4));
    assert!(rows(&location).len() > count);
    assert_eq!(rows(&location), rows_at(&location, At::Version(version)));
    is_whole(&location);
}

#[test]
fn the_protected_version_is_that_of_the_commit_also_after_a_lost_race() {
    let (store, location) = table(&[VECTORS]);
    delete_first_row(&location);
    let theirs = overtaken(&store, &location, json!({"txn": {"appId": "other", "version": 1}}));
    let done = dropped(&location, "deletionVectors");
    assert_eq!((done.version, done.protected_before), (theirs + 1, Some(theirs + 1)));
    let before = property(&location, "delta.requireCheckpointProtectionBeforeVersion");
    assert_eq!(before, Some((theirs + 1).to_string()));
    assert!(open(&location).app_transaction("other").unwrap().is_some());
}

#[test]
fn a_feature_that_others_use_again_meanwhile_stays() {
    let (store, location) = table(&[VECTORS]);
    delete_first_row(&location);
    let metadata = open(&location).metadata().clone();
    let theirs = overtaken(&store, &location, json!({"metaData": metadata}));
    let error = try_drop(&location, "deletionVectors", false).unwrap_err();
    assert_eq!(error.kind(), "InvalidFeatureChange");
    assert!(error.to_string().contains("uses it again"), "{error}");
    assert_eq!(open(&location).version(), theirs);
    dropped(&location, "deletionVectors");
}
