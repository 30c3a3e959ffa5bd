//! Application transactions.

use super::*;

fn commit_as(location: &Snapshot, version: i64) -> deltaic_core::Result<(u64, bool)> {
    let mut txn = Transaction::begin(location, Operation::new("STREAMING UPDATE"));
    txn.app_transaction("app", version);
    txn.add(file(&format!("v{version}"), "x", version));
    txn.commit().map(|c| (c.version, c.already_recorded))
}

#[test]
fn t7_an_application_transaction_lands_once() {
    let (store, location) = table(&[], &[]);
    let before = open(&location);
    assert_eq!(commit_as(&before, 3).unwrap(), (1, false));
    // the same version, and an older one, of a writer that has not seen it: found among the winners
    assert_eq!(commit_as(&before, 3).unwrap(), (1, true));
    assert_eq!(commit_as(&before, 2).unwrap(), (1, true));
    // a newer one that has not seen the other: two of one application are at work
    let error = commit_as(&before, 4).unwrap_err();
    assert_eq!(error.kind(), "ConcurrentTransaction");
    let lost = error.conflict().unwrap();
    assert_eq!((lost.version, lost.rule.as_str()), (1, "application-transaction"));
    assert!(lost.reason.contains("`app`"), "{lost}");
    // found in the snapshot, before anything is written
    let now = open(&location);
    store.forget();
    assert_eq!(commit_as(&now, 3).unwrap(), (1, true));
    assert_eq!(store.count(deltaic_testkit::Op::PutIfAbsent, ""), 0);
    assert_eq!(commit_as(&now, 4).unwrap(), (2, false));
    assert_eq!(names(&location), ["v3", "v4"]);
}

#[test]
fn what_another_run_of_the_same_work_did_is_done_even_behind_a_conflict() {
    let (_, location) = table(&["appendOnly"], &[]);
    let before = open(&location);
    let mut alter = begin(&location);
    alter.set_metadata(metadata(&[("delta.appendOnly", "true")]));
    alter.commit().unwrap();
    assert_eq!(commit_as(&open(&location), 1).unwrap(), (2, false));
    assert_eq!(commit_as(&before, 1).unwrap(), (2, true));
}

#[test]
fn a_transaction_may_depend_on_an_application_that_it_does_not_record() {
    let (_, location) = table(&[], &[]);
    let mut txn = begin(&location);
    txn.read_app("app");
    txn.add(file("a", "x", 0));
    commit_as(&open(&location), 1).unwrap();
    assert_eq!(txn.commit().unwrap_err().kind(), "ConcurrentTransaction");
}

#[test]
fn an_application_that_was_set_back_writes_again() {
    let (_, location) = table(&[], &[]);
    assert_eq!(deltaic_core::maintain::reset_application(&location, "app").unwrap(), None);
    assert_eq!(commit_as(&open(&location), 3).unwrap(), (1, false));
    assert_eq!(deltaic_core::maintain::reset_application(&location, "app").unwrap(), Some(2));
    assert_eq!(deltaic_core::maintain::reset_application(&location, "app").unwrap(), None);
    assert_eq!(commit_as(&open(&location), 0).unwrap(), (3, false));
    assert_eq!(commit_as(&open(&location), 0).unwrap(), (3, true));
}

#[test]
fn what_an_application_did_counts_until_it_expires() {
    let (_, location) = table(&[], &[("delta.setTransactionRetentionDuration", "interval 1 day")]);
    assert_eq!(commit_as(&open(&location), 3).unwrap(), (1, false));
    assert_eq!(commit_as(&open(&location), 3).unwrap(), (1, true));
    let (_, location) = table(&[], &[("delta.setTransactionRetentionDuration", "interval 0 days")]);
    assert_eq!(commit_as(&open(&location), 3).unwrap(), (1, false));
    let now = open(&location);
    assert_eq!((now.app_transaction("app").unwrap(), now.app_transactions().unwrap()), (None, vec![]));
    assert_eq!(commit_as(&now, 3).unwrap(), (2, false));
}
