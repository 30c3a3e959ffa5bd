//! Deletes of different rows of one file.

use super::*;

fn deleted(location: &Location, name: &str) -> Vec<u64> {
    let vector = live(location, name).deletion_vector.unwrap();
    DeletionVector::load(&vector, location).unwrap().rows().iter().collect()
}

#[test]
fn deletes_of_different_rows_are_joined() {
    let (_, location) = table(&FEATURES, &[]);
    append(&location, &[file("a", "x", 0)]);
    let mut first = begin(&location);
    delete_rows(&mut first, &live(&location, "a"), &[0]);
    first.commit().unwrap();
    let add = live(&location, "a");
    let txns = [[0, 1, 2], [0, 3, 4], [0, 5, 6]].map(|deleted| {
        let mut txn = begin(&location);
        delete_rows(&mut txn, &add, &deleted);
        txn
    });
    for txn in txns {
        txn.commit().unwrap();
    }
    assert_eq!(deleted(&location, "a"), [0, 1, 2, 3, 4, 5, 6]);
    // each commit removes the logical file that the one before it left
    let commits = commits(&location);
    for pair in commits[2..].windows(2) {
        let (before, after) = (changes(&pair[0]), changes(&pair[1]));
        assert_eq!(before.adds[0].deletion_vector, after.removes[0].deletion_vector);
    }
    assert_eq!(names(&location), ["a"]);
}

fn changes(commit: &Winner) -> deltaic_core::conflict::Changes {
    deltaic_core::conflict::Changes::of(&commit.actions)
}

#[test]
fn an_update_of_other_rows_keeps_both_results() {
    let (_, location) = table(&FEATURES, &[]);
    append(&location, &[file("a", "x", 0)]);
    let add = live(&location, "a");
    let update = |predicate: Predicate, row: u64, new: Add| {
        let mut txn = begin(&location);
        txn.read_matching(&predicate, [&add.path]).unwrap();
        txn.replace_vector(&add, rows(&[row]).to_inline());
        txn.add(new);
        txn
    };
    let one = update(compare("id", CompareOp::Eq, Literal::Long(1)), 1, file("one", "x", 10));
    let two = update(compare("id", CompareOp::Eq, Literal::Long(2)), 2, file("two", "x", 20));
    one.commit().unwrap();
    two.commit().unwrap();
    assert_eq!(names(&location), ["a", "one", "two"]);
    assert_eq!(deleted(&location, "a"), [1, 2]);
}

#[test]
fn rows_that_were_read_beyond_those_that_were_deleted_are_a_conflict() {
    let (_, location) = table(&FEATURES, &[]);
    append(&location, &[file("a", "x", 0)]);
    let add = live(&location, "a");
    type Read<'a> = &'a dyn Fn(&mut Transaction);
    let reads: [Read<'_>; 3] =
        [&|txn| txn.read_whole_table(), &|txn| txn.read_files([&add.path]).unwrap(), &|txn| {
            txn.read_predicate(&id_below(5)).unwrap()
        }];
    let txns = reads.map(|read| {
        let mut txn = begin(&location);
        read(&mut txn);
        txn.replace_vector(&add, rows(&[1]).to_inline());
        txn
    });
    let mut winner = begin(&location);
    delete_rows(&mut winner, &add, &[2]);
    winner.commit().unwrap();
    for txn in txns {
        assert_eq!(txn.commit().unwrap_err().kind(), "ConcurrentDeleteRead");
    }
    assert_eq!(deleted(&location, "a"), [2]);
}

#[test]
fn rows_that_come_back_are_an_append() {
    let (_, location) = table(&FEATURES, &[("delta.isolationLevel", "Serializable")]);
    append(&location, &[file("a", "x", 0)]);
    let mut delete = begin(&location);
    delete_rows(&mut delete, &live(&location, "a"), &[1, 2]);
    delete.commit().unwrap();
    let mut reader = begin(&location);
    reader.read_matching(&id_below(3), []).unwrap();
    reader.add(file("b", "x", 5));
    // a restore to the version before the delete
    let mut restore = begin(&location);
    let add = live(&location, "a");
    restore.remove_file(&add, true);
    restore.add(Add { deletion_vector: Some(rows(&[1]).to_inline()), ..add });
    restore.commit().unwrap();
    assert_eq!(reader.commit().unwrap_err().kind(), "ConcurrentAppend");
}
