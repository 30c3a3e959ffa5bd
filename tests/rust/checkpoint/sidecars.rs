//! Sidecars are taken over as long as nothing in them changed.

use std::collections::BTreeSet;

use deltaic_core::checkpoint::{CheckpointDone, checkpoint};
use deltaic_core::snapshot::At;
use deltaic_testkit::{TableBuilder, actions};
use serde_json::json;

use super::{V2, add, create, names, remove};
use crate::load::{expected, files, open};

fn write(table: &TableBuilder) -> CheckpointDone {
    let done = checkpoint(&open(table, At::Latest).unwrap()).unwrap();
    let after = open(table, At::Latest).unwrap();
    assert_eq!(after.report().checkpoint_version, Some(after.version()));
    assert_eq!(files(&after).unwrap(), expected(table, after.version()));
    assert_eq!(done.num_files as usize, expected(table, after.version()).len());
    done
}

#[test]
fn an_append_links_the_old_sidecars_again() {
    let mut table = create(V2);
    table.commit(&(0..100).map(add).collect::<Vec<_>>());
    assert_eq!(write(&table).sidecars_written, 1);
    let first: BTreeSet<String> = names(&table, "_sidecars").into_iter().collect();
    for n in 100..110 {
        table.commit(&[add(n)]);
    }
    let done = write(&table);
    assert_eq!((done.sidecars_reused, done.sidecars_written), (1, 1));
    let second: BTreeSet<String> = names(&table, "_sidecars").into_iter().collect();
    assert!(first.is_subset(&second) && second.len() == 2);
    // small sidecars are merged, so that they stay few
    for n in 110..130 {
        table.commit(&[add(n)]);
        let done = write(&table);
        assert!(done.sidecars_reused + done.sidecars_written <= 6, "{done:?}");
    }
}

#[test]
fn a_sidecar_of_which_a_file_changed_is_written_again() {
    let mut table = create(V2);
    table.commit(&(0..100).map(add).collect::<Vec<_>>());
    write(&table);
    table.commit(&[remove(5)]);
    let done = write(&table);
    // one for the files, one for the tombstone
    assert_eq!((done.sidecars_reused, done.sidecars_written, done.num_files), (0, 2, 99));
    // the same path again: the tombstone goes
    table.commit(&[add(5)]);
    let done = write(&table);
    assert_eq!((done.sidecars_reused, done.num_files), (1, 100));
    // a file that is only described again
    table.commit(&[actions::with(add(7), "tags", json!({"a": "b"}))]);
    assert_eq!(write(&table).num_files, 100);
}

#[test]
fn other_columns_are_other_sidecars() {
    let mut table = create(V2);
    table.commit(&(0..10).map(add).collect::<Vec<_>>());
    write(&table);
    let schema = actions::schema(&[("id", "long"), ("p", "string"), ("t", "timestamp"), ("new", "double")]);
    table.commit(&[actions::metadata(&schema, &["p"], V2)]);
    assert_eq!(write(&table).sidecars_reused, 0);
}

#[test]
fn as_many_columns_of_another_name_or_type_are_other_sidecars() {
    let other_name = [("id", "long"), ("p", "string"), ("u", "timestamp")];
    // both without a logical type, and both of eight bytes
    let other_kind = [("id", "double"), ("p", "string"), ("t", "timestamp")];
    let other_meaning = [("id", "long"), ("p", "string"), ("t", "long")];
    for columns in [other_name, other_kind, other_meaning] {
        let mut table = create(V2);
        table.commit(&(0..10).map(add).collect::<Vec<_>>());
        write(&table);
        table.commit(&[actions::metadata(&actions::schema(&columns), &["p"], V2)]);
        let done = write(&table);
        assert_eq!((done.sidecars_reused, done.sidecars_written), (0, 1), "{columns:?}");
    }
}

#[test]
fn a_checkpoint_is_not_made_of_sidecars_that_a_cleanup_took() {
    let mut table = create(V2);
    table.commit(&(0..10).map(add).collect::<Vec<_>>());
    write(&table);
    table.commit(&[add(11)]);
    let snapshot = open(&table, At::Latest).unwrap();
    // what follows is planned by an open snapshot
    files(&snapshot).unwrap();
    for name in names(&table, "_sidecars") {
        table.remove_log_file(&format!("_sidecars/{name}"));
    }
    assert!(checkpoint(&snapshot).is_err());
    assert_eq!(files(&open(&table, At::Latest).unwrap()).unwrap(), expected(&table, 2));
    assert!(!names(&table, "").iter().any(|n| n.starts_with("00000000000000000002.checkpoint")));
}
