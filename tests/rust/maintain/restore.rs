//! Restore and fsck: the way back, and a log that says what is there.

use deltaic_core::checkpoint::checksum_path;
use deltaic_core::log::commit_path;
use deltaic_core::maintain::{RestoreOptions, fsck, restore};
use deltaic_testkit::{Fault, Op, Rule};

use super::*;

fn table() -> (FaultStore, Location) {
    let (store, location) = place();
    write(&location, &[("a", 1), ("b", 2)], &partitioned()).unwrap();
    let overwrite = WriteOptions { mode: WriteMode::Overwrite, ..Default::default() };
    write(&location, &[("c", 3)], &overwrite).unwrap();
    write(&location, &[("d", 4)], &partitioned()).unwrap();
    (store, location)
}

#[test]
fn a_restore_gives_the_rows_back_in_a_new_version() {
    let (_, location) = table();
    let done = restore(&location, At::Version(0), &RestoreOptions::default()).unwrap();
    assert_eq!((done.version, done.restored_version), (3, 0));
    assert_eq!((done.restored, done.removed, done.files), (2, 2, 2));
    assert_eq!(rows(&location), owned(&[("a", 1), ("b", 2)]));
    assert_eq!(rows_at(&location, At::Version(2)), owned(&[("c", 3), ("d", 4)]));
    let info = info(&location, 3);
    assert_eq!(info.operation.as_deref(), Some("RESTORE"));
    let parameters = info.operation_parameters.unwrap();
    assert_eq!((&parameters["version"], &parameters["timestamp"]), (&0.into(), &serde_json::Value::Null));
    assert_eq!(info.operation_metrics.unwrap()["numRestoredFiles"], "2");
    // and forth again
    restore(&location, At::Version(2), &RestoreOptions::default()).unwrap();
    assert_eq!(rows(&location), owned(&[("c", 3), ("d", 4)]));
}

#[test]
fn a_restore_of_the_newest_version_commits_nothing() {
    let (_, location) = table();
    for at in [At::Version(2), At::Latest] {
        let done = restore(&location, at, &RestoreOptions::default()).unwrap();
        assert_eq!((done.version, done.restored_version), (2, 2));
        assert_eq!((done.restored, done.removed, done.files), (0, 0, 2));
        assert!(done.bytes > 0);
        assert_eq!(open(&location).version(), 2);
    }
}

#[test]
fn a_restore_never_follows_a_change_that_it_did_not_see() {
    for version in [0, 1] {
        let (store, location) = table();
        write(&location, &[("e", 5)], &partitioned()).unwrap();
        let next = commit_path(&location, 3);
        let append = location.store().get(&next).unwrap();
        for name in [next.clone(), checksum_path(&location, 3)] {
            location.store().delete(&name).unwrap();
        }
        store.rule(Rule::new(Fault::Overtaken(append)).on(Op::PutIfAbsent).named(next.name()));
        let error = restore(&location, At::Version(version), &RestoreOptions::default()).unwrap_err();
        assert_eq!(error.kind(), "ConcurrentWrite", "{error}");
        assert_eq!(error.condition().map(|c| c.name), Some("DELTA_CONCURRENT_WRITE"));
        assert_eq!(open(&location).version(), 3);
    }
}

#[test]
fn what_was_vacuumed_is_not_restored_unless_asked_for() {
    let (_, location) = table();
    let gone = objects(&location).into_iter().find(|f| f.starts_with("p=a/")).unwrap();
    location.store().delete(&location.root().join(&gone)).unwrap();
    let error = restore(&location, At::Version(0), &RestoreOptions::default()).unwrap_err();
    assert_eq!(error.kind(), "DataFile");
    assert!(error.to_string().contains(&gone), "{error}");
    assert_eq!(open(&location).version(), 2);
    restore(&location, At::Version(0), &RestoreOptions { ignore_missing_files: true, ..Default::default() })
        .unwrap();

    let dry = fsck(&location, true).unwrap();
    assert_eq!((dry.missing.len(), dry.version, open(&location).version()), (1, None, 3));
    let done = fsck(&location, false).unwrap();
    assert_eq!((done.missing, done.version), (dry.missing, Some(4)));
    assert_eq!(rows(&location), owned(&[("b", 2)]));
    assert_eq!(info(&location, 4).operation.as_deref(), Some("FSCK"));
    assert_eq!(fsck(&location, false).unwrap().version, None);
}

#[test]
fn properties_come_back_and_the_protocol_stays() {
    let (_, location) = place();
    write(&location, &[("a", 1)], &partitioned()).unwrap();
    let mut txn =
        deltaic_core::txn::Transaction::begin(&open(&location), deltaic_core::txn::Operation::new("TEST"));
    let mut metadata = open(&location).metadata().clone();
    metadata.configuration.insert("delta.enableDeletionVectors".into(), "true".into());
    txn.set_metadata(metadata);
    txn.set_protocol(deltaic_core::actions::Protocol {
        min_reader_version: 3,
        min_writer_version: 7,
        reader_features: Some(vec!["deletionVectors".into()]),
        writer_features: Some(["appendOnly", "deletionVectors", "invariants"].map(String::from).to_vec()),
    });
    txn.commit().unwrap();
    let protocol = open(&location).protocol().clone();
    restore(&location, At::Version(0), &RestoreOptions::default()).unwrap();
    assert_eq!(open(&location).protocol(), &protocol);
    assert!(open(&location).metadata().configuration.is_empty());
}
