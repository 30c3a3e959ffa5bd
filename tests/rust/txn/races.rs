//! Many writers.

use deltaic_core::Error;
use deltaic_testkit::{Fault, Op};

use super::*;

#[test]
fn a_transaction_jumps_over_all_winners_at_once() {
    let (store, location) = table(&[], &[]);
    let before = open(&location);
    for n in 0..5 {
        append(&location, &[file(&format!("f{n}"), "x", n)]);
    }
    let mut txn = Transaction::begin(&before, Operation::new("WRITE"));
    txn.add(file("late", "x", 9));
    store.forget();
    let committed = txn.commit().unwrap();
    assert_eq!((committed.version, committed.attempts), (6, 2));
    assert_eq!((store.count(Op::PutIfAbsent, ".json"), store.count(Op::ListFrom, "")), (2, 1));
    // each winner once, and the lost version once more to see whose it is
    assert_eq!(store.count(Op::Get, ".json"), 6);
}

#[test]
fn t5_of_two_rewrites_of_one_file_one_lands() {
    let (_, location) = table(&FEATURES, &[]);
    append(&location, &[file("a", "x", 0)]);
    let add = live(&location, "a");
    let rewrite = |name: &str| {
        let mut txn = begin(&location);
        txn.read_matching(&partition_is("x"), [&add.path]).unwrap();
        txn.remove_file(&add, true);
        txn.add(file(name, "x", 0));
        txn
    };
    let delete = |deleted: &[u64]| {
        let mut txn = begin(&location);
        delete_rows(&mut txn, &add, deleted);
        txn
    };
    let (first, second) = (rewrite("b"), rewrite("c"));
    let (by_vector, same_rows) = (delete(&[1, 2]), delete(&[2, 3]));
    first.commit().unwrap();
    assert_eq!(second.commit().unwrap_err().kind(), "ConcurrentDeleteDelete");
    assert_eq!(by_vector.commit().unwrap_err().kind(), "ConcurrentDeleteDelete");
    assert_eq!(same_rows.commit().unwrap_err().kind(), "ConcurrentDeleteDelete");
    assert_eq!(names(&location), ["b"]);
    let add = live(&location, "b");
    let (mut one, mut two) = (begin(&location), begin(&location));
    delete_rows(&mut one, &add, &[1, 2]);
    delete_rows(&mut two, &add, &[2, 3]);
    one.commit().unwrap();
    let error = two.commit().unwrap_err();
    assert_eq!(
        (error.kind(), error.conflict().unwrap().rule.as_str()),
        ("ConcurrentDeleteDelete", "same-rows")
    );
    assert_eq!(names(&location), ["b"]);
}

#[test]
fn t6_of_two_overwrites_by_predicate_one_lands() {
    let (_, location) = table(&[], &[]);
    append(&location, &[file("a", "x", 0), file("b", "y", 0)]);
    let overwrite = |p: &str, old: &[&str], new: &str| {
        let mut txn = begin(&location);
        txn.read_predicate(&partition_is(p)).unwrap();
        old.iter().for_each(|name| txn.remove_file(&live(&location, name), true));
        txn.add(file(new, p, 5));
        txn
    };
    let first = overwrite("x", &["a"], "a1");
    let second = overwrite("x", &["a"], "a2");
    let elsewhere = overwrite("y", &["b"], "b1");
    first.commit().unwrap();
    second.commit().unwrap_err().conflict().unwrap();
    elsewhere.commit().unwrap();
    assert_eq!(names(&location), ["a1", "b1"]);
    // nothing to remove: what the other adds is what would have been removed
    let (one, two) = (overwrite("z", &[], "z1"), overwrite("z", &[], "z2"));
    one.commit().unwrap();
    let error = two.commit().unwrap_err();
    assert_eq!(
        (error.kind(), error.conflict().unwrap().files.as_slice()),
        ("ConcurrentAppend", &["z1".to_owned()][..])
    );
    assert_eq!(names(&location), ["a1", "b1", "z1"]);
}

#[test]
fn t8_what_is_disjoint_passes() {
    let (_, location) = table(&[], &[("delta.isolationLevel", "Serializable")]);
    append(&location, &[file("a", "x", 0), file("b", "x", 0), file("c", "y", 5)]);
    // an append, a compaction, and deletes by partition and by statistics, all begun at one version
    let mut appends = begin(&location);
    appends.add(file("new", "z", 9));
    let mut optimize = begin(&location);
    for name in ["a", "b"] {
        optimize.remove_file(&live(&location, name), false);
    }
    optimize.add(Add { data_change: false, ..file("ab", "x", 0) });
    let mut by_partition = begin(&location);
    by_partition.read_matching(&partition_is("y"), [&FilePath::encode("c")]).unwrap();
    by_partition.remove_file(&live(&location, "c"), true);
    let mut by_stats = begin(&location);
    by_stats.read_matching(&id_below(0), []).unwrap();
    by_stats.add(file("low", "w", -5));
    for txn in [appends, optimize, by_partition, by_stats] {
        txn.commit().unwrap();
    }
    assert_eq!(names(&location), ["ab", "low", "new"]);
    let info = |version: usize| commits(&location)[version].info().unwrap().isolation_level.clone();
    assert_eq!((info(2).as_deref(), info(3).as_deref()), (Some("Serializable"), Some("SnapshotIsolation")));
}

#[test]
fn t9_all_appends_of_many_writers_land_once() {
    let (store, location) = table(&[], &[]);
    let faults = [Fault::LostAnswer, Fault::RetriedAnswer, Fault::Torn(30)];
    let noisy = FaultStore::seeded(Arc::new(store), 7, 0.05, &faults);
    let noisy = Location::with_store(location.root().clone(), Arc::new(noisy));
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let noisy = &noisy;
            scope.spawn(move || {
                for n in 0..20 {
                    // a fault may hit what is read: then nothing was committed, and it is repeated
                    loop {
                        let attempt = Snapshot::open(noisy.clone(), At::Latest).and_then(|snapshot| {
                            let mut txn = Transaction::begin(&snapshot, Operation::new("WRITE"));
                            txn.add(file(&format!("{writer}-{n}"), "x", n));
                            txn.commit()
                        });
                        match attempt {
                            Ok(_) => break,
                            Err(Error::Storage { .. } | Error::LogCorrupt { .. }) => {}
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                }
            });
        }
    });
    let mut expected: Vec<_> = (0..8).flat_map(|w| (0..20).map(move |n| format!("{w}-{n}"))).collect();
    expected.sort();
    assert_eq!(names(&location), expected);
    assert_eq!(commits(&location).len(), 161);
}
