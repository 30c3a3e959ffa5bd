//! Committed, lost or unknown.

use deltaic_core::Error;
use deltaic_testkit::{Fault, Op, Rule};

use super::*;

#[test]
fn t1_a_lost_answer_commits_once() {
    for fault in [Fault::LostAnswer, Fault::RetriedAnswer] {
        let (store, location) = table(&[], &[]);
        store.rule(Rule::new(fault).on(Op::PutIfAbsent));
        assert_eq!(append(&location, &[file("a", "x", 0)]), 1);
        assert_eq!((names(&location), commits(&location).len()), (vec!["a".to_owned()], 2));
    }
}

/// A delete that a delete of other rows of the file came before. Both delete so many that the joined vector is a file.
fn delete_that_lost(location: &Location) -> Transaction {
    append(location, &[file("a", "x", 0)]);
    let spread = |from: u64| (0..2000).map(|i| from + 97 * i).collect::<Vec<_>>();
    let mut txn = begin(location);
    delete_rows(&mut txn, &live(location, "a"), &spread(1));
    let mut winner = begin(location);
    delete_rows(&mut winner, &live(location, "a"), &spread(0));
    winner.commit().unwrap();
    txn
}

#[test]
fn t2_no_answer_is_unknown_and_removes_nothing() {
    let (store, location) = table(&FEATURES, &[]);
    let txn = delete_that_lost(&location);
    store.rule(Rule::new(Fault::LostAnswer).on(Op::PutIfAbsent).named("00000000000000000003.json"));
    store.rule(Rule::new(Fault::Refused).on(Op::Get).named("00000000000000000003.json").always());
    let error = txn.commit().unwrap_err();
    assert!(matches!(error, Error::CommitStateUnknown { version: 3, .. }), "{error}");
    store.heal();
    // it had landed, and the vector that it names is there
    let vector = live(&location, "a").deletion_vector.unwrap();
    assert_eq!(vector.offset, Some(1));
    assert_eq!(DeletionVector::load(&vector, &location).unwrap().cardinality(), 4000);
}

#[test]
fn a_joined_vector_of_a_commit_that_failed_is_removed() {
    let (store, location) = table(&FEATURES, &[]);
    let txn = delete_that_lost(&location);
    let mut alter = begin(&location);
    alter.set_metadata(metadata(&[("delta.appendOnly", "true")]));
    alter.commit().unwrap();
    let before = location.store().list_all(location.root()).unwrap().len();
    assert_eq!(txn.commit().unwrap_err().kind(), "MetadataChanged");
    assert_eq!(location.store().list_all(location.root()).unwrap().len(), before);
    assert!(store.count(Op::Delete, "deletion_vector_") > 0);
}

#[test]
fn t3_a_commit_that_landed_is_reported_though_everything_after_it_fails() {
    let (store, location) = table(&[], &[]);
    let txn = {
        let mut txn = begin(&location);
        txn.add(file("a", "x", 0));
        txn
    };
    // whatever is asked of the store after the put is refused
    for op in [Op::Get, Op::GetRange, Op::Head, Op::ListFrom, Op::ListAll, Op::Put, Op::Delete] {
        store.rule(Rule::new(Fault::Refused).on(op).always());
    }
    store.rule(Rule::new(Fault::Refused).on(Op::PutIfAbsent).named(".crc").always());
    let committed = txn.commit().unwrap();
    assert_eq!(committed.version, 1);
    assert!(!committed.warnings.is_empty());
    store.heal();
    assert_eq!(names(&location), ["a"]);
}

#[test]
fn t4_a_refused_put_is_repeated_and_a_taken_version_is_lost() {
    let (store, location) = table(&[], &[]);
    let mut txn = begin(&location);
    txn.add(file("a", "x", 0));
    store.rule(Rule::new(Fault::Refused).on(Op::PutIfAbsent).times(2));
    let committed = txn.commit().unwrap();
    assert_eq!((committed.version, committed.attempts), (1, 1));
    let mut late = Transaction::begin(
        &Snapshot::open(location.clone(), At::Version(0)).unwrap(),
        Operation::new("WRITE"),
    );
    late.add(file("b", "x", 0));
    store.rule(Rule::new(Fault::Refused).on(Op::PutIfAbsent).times(2));
    let committed = late.commit().unwrap();
    assert_eq!((committed.version, committed.attempts), (2, 2));
}

#[test]
fn what_a_rule_forbids_is_refused_before_anything_is_written() {
    let (store, location) = table(&FEATURES, &[("delta.appendOnly", "true")]);
    append(&location, &[file("a", "x", 0)]);
    let add = live(&location, "a");
    store.forget();
    let mut txn = begin(&location);
    txn.remove_file(&add, true);
    let error = txn.commit().unwrap_err();
    let Error::AppendOnly { file: refused, .. } = error.plain() else { panic!("append-only") };
    assert_eq!(refused.as_deref(), Some("a"));
    let mut txn = begin(&location);
    txn.add_foreign([file("b", "x", 0), file("a", "x", 0)]);
    let Err(Error::InvalidAction { action, .. }) = txn.commit() else { panic!("there already") };
    assert_eq!(action, "a");
    assert_eq!(store.count(Op::PutIfAbsent, ""), 0);
}

#[test]
fn a_budget_that_is_used_up_is_reported() {
    let (_, location) = table(&[], &[]);
    let before = open(&location);
    append(&location, &[file("a", "x", 0)]);
    let mut txn = Transaction::begin(&before, Operation::new("WRITE"));
    txn.add(file("b", "x", 0));
    txn.set_budget(std::time::Duration::ZERO);
    let error = txn.commit().unwrap_err();
    assert_eq!((error.kind(), error.conflict().unwrap().version), ("ConcurrentWrite", 1));
    assert_eq!(names(&location), ["a"]);
}
