//! Compactions that lose a race against row-level deletes of the files that they replace.

use super::*;

const ENABLED: [(&str, &str); 1] = [("delta.enableDeletionVectors", "true")];

/// Files `a` (ids 0 to 9) and `b` (10 to 19).
fn two_files(properties: &[(&str, &str)]) -> Location {
    let (_, location) = table(&FEATURES, properties);
    append(&location, &[file("a", "x", 0), file("b", "x", 1)]);
    location
}

fn delete(location: &Location, name: &str, deleted: &[u64]) {
    let mut txn = begin(location);
    delete_rows(&mut txn, &live(location, name), deleted);
    txn.commit().unwrap();
}

fn deleted(location: &Location, name: &str) -> Vec<u64> {
    match live(location, name).deletion_vector {
        Some(vector) => DeletionVector::load(&vector, location).unwrap().rows().iter().collect(),
        None => Vec::new(),
    }
}

fn compaction(location: &Location) -> Transaction {
    let mut txn = begin(location);
    compact(&mut txn, location);
    txn
}

#[test]
fn rows_that_others_delete_meanwhile_are_deleted_where_they_went() {
    let location = two_files(&ENABLED);
    delete(&location, "a", &[0, 4]);
    // what is left of `a` are eight rows, so row 1 of it becomes row 0, row 5 row 3, and row 0 of `b` row 8
    let ours = compaction(&location);
    delete(&location, "a", &[0, 1, 4, 5]);
    delete(&location, "b", &[0]);
    delete(&location, "a", &[0, 1, 2, 4, 5]);
    ours.commit().unwrap();
    assert_eq!(names(&location), ["ab"]);
    assert_eq!(deleted(&location, "ab"), [0, 1, 3, 8]);
    let stats: serde_json::Value = serde_json::from_str(&live(&location, "ab").stats.unwrap()).unwrap();
    assert_eq!((&stats["tightBounds"], &stats["numRecords"]), (&json!(false), &json!(18)));
    // and the commit removes what the winners left
    let last = deltaic_core::conflict::Changes::of(&commits(&location).pop().unwrap().actions);
    let cardinality = |n: usize| last.removes[n].deletion_vector.as_ref().unwrap().cardinality;
    assert_eq!((last.removes.len(), cardinality(0), cardinality(1)), (2, 5, 1));
    assert!(last.removes.iter().all(|r| !r.data_change) && !last.adds[0].data_change);
}

#[test]
fn a_file_that_others_delete_whole_takes_its_rows_with_it() {
    let location = two_files(&ENABLED);
    let ours = compaction(&location);
    let mut txn = begin(&location);
    txn.remove_file(&live(&location, "a"), true);
    txn.commit().unwrap();
    ours.commit().unwrap();
    assert_eq!(names(&location), ["ab"]);
    assert_eq!(deleted(&location, "ab"), (0..10).collect::<Vec<_>>());
    let last = deltaic_core::conflict::Changes::of(&commits(&location).pop().unwrap().actions);
    assert_eq!(last.removes.iter().map(|r| r.path.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_new_file_that_nothing_is_left_of_does_not_join() {
    let location = two_files(&ENABLED);
    let ours = compaction(&location);
    let mut txn = begin(&location);
    txn.remove_file(&live(&location, "a"), true);
    txn.commit().unwrap();
    delete(&location, "b", &(0..10).collect::<Vec<_>>());
    ours.commit().unwrap();
    assert_eq!(names(&location), [] as [&str; 0]);
}

#[test]
fn what_cannot_be_followed_is_a_conflict() {
    let lost = |location: &Location, ours: Transaction| {
        let error = ours.commit().unwrap_err();
        assert_eq!(error.conflict().unwrap().rule.as_str(), "file-rewritten");
        assert_eq!(error.kind(), "ConcurrentDeleteDelete");
        names(location)
    };
    // no deletion vectors enabled
    let location = two_files(&[]);
    let ours = compaction(&location);
    delete(&location, "a", &[1]);
    assert_eq!(lost(&location, ours), ["a", "b"]);
    // another compaction of the same files
    let location = two_files(&ENABLED);
    let ours = compaction(&location);
    let mut txn = begin(&location);
    txn.rewrite(&[live(&location, "a")], [file("other", "x", 0)], RowRelocations::default());
    txn.commit().unwrap();
    assert_eq!(lost(&location, ours), ["b", "other"]);
    // a rewrite that does not say where rows went
    let location = two_files(&ENABLED);
    let mut ours = begin(&location);
    ours.rewrite(&[live(&location, "a")], [file("other", "x", 0)], RowRelocations::default());
    delete(&location, "a", &[1]);
    assert_eq!(lost(&location, ours), ["a", "b"]);
    // rows that came back, as a restore does it
    let location = two_files(&ENABLED);
    delete(&location, "a", &[1]);
    let ours = compaction(&location);
    let mut txn = begin(&location);
    let add = live(&location, "a");
    txn.remove_file(&add, true);
    txn.add(Add { deletion_vector: None, ..add });
    txn.commit().unwrap();
    assert_eq!(lost(&location, ours), ["a", "b"]);
    // a delete that comes after a compaction: its rows are elsewhere, and the operation is to be repeated
    let location = two_files(&ENABLED);
    let mut ours = begin(&location);
    delete_rows(&mut ours, &live(&location, "a"), &[1]);
    compaction(&location).commit().unwrap();
    assert_eq!(lost(&location, ours), ["ab"]);
}

#[test]
fn statistics_that_were_restated_are_no_conflict() {
    let location = two_files(&ENABLED);
    delete(&location, "a", &[1]);
    let ours = compaction(&location);
    let mut txn = begin(&location);
    let add = live(&location, "a");
    txn.add(Add { data_change: false, ..add });
    txn.commit().unwrap();
    ours.commit().unwrap();
    assert_eq!(names(&location), ["ab"]);
    assert_eq!(deleted(&location, "ab"), [] as [u64; 0]);
}

#[test]
fn two_adds_of_one_file_agree_only_where_neither_changes_rows() {
    let inline = Some(rows(&[3]).to_inline());
    let cases = [
        (false, false, None, true),
        (false, true, None, false),
        (true, false, None, false),
        (true, true, None, false),
        (false, false, inline, false),
    ];
    for (theirs, own, deletion_vector, agree) in cases {
        let location = two_files(&ENABLED);
        let add = live(&location, "a");
        let (mut winner, mut ours) = (begin(&location), begin(&location));
        winner.add(Add { data_change: theirs, ..add.clone() });
        ours.add(Add { data_change: own, deletion_vector, ..add });
        winner.commit().unwrap();
        if agree {
            ours.commit().unwrap();
        } else {
            let error = ours.commit().unwrap_err();
            assert_eq!(error.conflict().unwrap().rule.as_str(), "file-added", "winner {theirs}, ours {own}");
        }
        assert_eq!(names(&location), ["a", "b"]);
    }
}
