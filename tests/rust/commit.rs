//! A commit has three outcomes, and a lost answer is none of the wrong ones.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_core::Error;
use deltaic_core::actions::{Action, Add, CommitInfo, FilePath, ObjectPath};
use deltaic_core::commit::{CommitOutcome, write_commit};
use deltaic_core::conflict::winners_from;
use deltaic_core::log::commit_path;
use deltaic_core::store::{FileMeta, LocalStore, Location, ObjectAdapter, PutOutcome, Store};
use deltaic_testkit::{Fault, FaultStore, Op, Rule};

fn table() -> (FaultStore, Location) {
    let store = FaultStore::new(Arc::new(ObjectAdapter::memory()));
    let location = Location::with_store(ObjectPath::new("memory://", "/t"), Arc::new(store.clone()));
    (store, location)
}

fn info(id: &str) -> CommitInfo {
    CommitInfo { txn_id: Some(id.into()), operation: Some("WRITE".into()), ..Default::default() }
}

fn add(name: &str) -> Vec<Action> {
    vec![Add { path: FilePath::encode(name), data_change: true, ..Default::default() }.into()]
}

fn body(text: &str) -> Bytes {
    Bytes::from(format!("{text}\n"))
}

#[test]
fn t1_a_lost_answer_is_a_commit_and_not_a_conflict() {
    for fault in [Fault::LostAnswer, Fault::RetriedAnswer] {
        let (store, location) = table();
        store.rule(Rule::new(fault).on(Op::PutIfAbsent));
        let outcome = write_commit(&location, 0, &info("mine"), &add("a")).unwrap();
        assert_eq!(outcome, CommitOutcome::Committed(0));
        assert_eq!(winners_from(&location, 0).unwrap().len(), 1);
    }
}

#[test]
fn a_refused_put_is_repeated_at_the_same_version() {
    let (store, location) = table();
    store.rule(Rule::new(Fault::Refused).on(Op::PutIfAbsent).times(2));
    assert_eq!(write_commit(&location, 0, &info("mine"), &add("a")).unwrap(), CommitOutcome::Committed(0));
    assert_eq!(store.count(Op::PutIfAbsent, "00000000000000000000.json"), 3);
}

#[test]
fn a_version_that_another_took_is_a_conflict_that_names_the_other() {
    let (_, location) = table();
    write_commit(&location, 0, &info("theirs"), &add("a")).unwrap();
    let CommitOutcome::Conflict { version: 0, winner: Some(winner) } =
        write_commit(&location, 0, &info("mine"), &add("b")).unwrap()
    else {
        panic!("a conflict")
    };
    assert_eq!(winner.txn_id.as_deref(), Some("theirs"));
    // a writer that leaves no provenance wins as well
    location
        .store()
        .put_if_absent(&commit_path(&location, 1), body(r#"{"txn":{"appId":"x","version":1}}"#))
        .unwrap();
    let outcome = write_commit(&location, 1, &info("mine"), &add("b")).unwrap();
    assert_eq!(outcome, CommitOutcome::Conflict { version: 1, winner: None });
}

#[test]
fn t4_an_answer_that_the_version_is_there_is_a_conflict_only_if_it_is() {
    let name = "00000000000000000000.json";
    let contended = || Rule::new(Fault::Contended).on(Op::PutIfAbsent).named(name);
    // the version is absent: the put is repeated
    let (store, location) = table();
    store.rule(contended().times(2));
    assert_eq!(write_commit(&location, 0, &info("mine"), &add("a")).unwrap(), CommitOutcome::Committed(0));
    assert_eq!(store.count(Op::PutIfAbsent, name), 3);
    // the version is present: it is another's, and nothing is repeated
    let (store, location) = table();
    let theirs = body(r#"{"commitInfo":{"txnId":"theirs"}}"#);
    store.rule(Rule::new(Fault::Overtaken(theirs)).on(Op::PutIfAbsent).named(name));
    let outcome = write_commit(&location, 0, &info("mine"), &add("a")).unwrap();
    let CommitOutcome::Conflict { version: 0, winner: Some(winner) } = outcome else { panic!("{outcome:?}") };
    assert_eq!(winner.txn_id.as_deref(), Some("theirs"));
    assert_eq!(store.count(Op::PutIfAbsent, name), 1);
    // a store that never makes up its mind: nobody can tell
    let (store, location) = table();
    store.rule(contended().always());
    let outcome = write_commit(&location, 0, &info("mine"), &add("a")).unwrap();
    assert!(matches!(outcome, CommitOutcome::Unknown { version: 0, .. }), "{outcome:?}");
}

#[test]
fn no_answer_at_all_is_unknown() {
    let (store, location) = table();
    store.rule(Rule::new(Fault::LostAnswer).on(Op::PutIfAbsent));
    store.rule(Rule::new(Fault::Refused).on(Op::Get).always());
    let outcome = write_commit(&location, 0, &info("mine"), &add("a")).unwrap();
    assert!(matches!(outcome, CommitOutcome::Unknown { version: 0, .. }), "{outcome:?}");
    store.heal();
    assert_eq!(winners_from(&location, 0).unwrap()[0].info().unwrap().txn_id.as_deref(), Some("mine"));
}

#[test]
fn a_torn_read_back_is_read_again() {
    let (store, location) = table();
    store.rule(Rule::new(Fault::LostAnswer).on(Op::PutIfAbsent));
    store.rule(Rule::new(Fault::Torn(20)).on(Op::Get).times(2));
    assert_eq!(write_commit(&location, 0, &info("mine"), &add("a")).unwrap(), CommitOutcome::Committed(0));
}

#[test]
fn a_local_put_that_always_fails_is_an_error_and_nothing_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let store = FaultStore::new(Arc::new(LocalStore::default()));
    store.rule(Rule::new(Fault::Refused).on(Op::PutIfAbsent).always());
    let root = ObjectPath::new("file://", dir.path().to_str().unwrap());
    let location = Location::with_store(root, Arc::new(store));
    let error = write_commit(&location, 0, &info("mine"), &add("a")).unwrap_err();
    assert!(matches!(error, Error::Storage { .. }), "{error}");
    assert!(winners_from(&location, 0).unwrap().is_empty());
}

/// A store that takes every put, whatever its condition.
#[derive(Debug)]
struct Careless(ObjectAdapter);

impl Store for Careless {
    fn list_from(&self, dir: &ObjectPath, from: &str) -> deltaic_core::Result<Vec<FileMeta>> {
        self.0.list_from(dir, from)
    }
    fn list_all(&self, dir: &ObjectPath) -> deltaic_core::Result<Vec<FileMeta>> {
        self.0.list_all(dir)
    }
    fn head(&self, path: &ObjectPath) -> deltaic_core::Result<FileMeta> {
        self.0.head(path)
    }
    fn get(&self, path: &ObjectPath) -> deltaic_core::Result<Bytes> {
        self.0.get(path)
    }
    fn get_range(&self, path: &ObjectPath, range: std::ops::Range<u64>) -> deltaic_core::Result<Bytes> {
        self.0.get_range(path, range)
    }
    fn put_if_absent(&self, path: &ObjectPath, body: Bytes) -> deltaic_core::Result<PutOutcome> {
        self.0.put(path, body).map(|()| PutOutcome::Created)
    }
    fn put(&self, path: &ObjectPath, body: Bytes) -> deltaic_core::Result<()> {
        self.0.put(path, body)
    }
    fn delete(&self, path: &ObjectPath) -> deltaic_core::Result<()> {
        self.0.delete(path)
    }
}

#[test]
fn t12_a_store_that_ignores_the_condition_is_refused_before_the_first_commit() {
    let root = ObjectPath::new("s3://careless", "/t");
    let careless = Location::with_store(root, Arc::new(Careless(ObjectAdapter::memory())));
    let error = write_commit(&careless, 0, &info("mine"), &add("a")).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("If-None-Match"), "{error}");
    assert!(careless.store().list_all(careless.root()).unwrap().is_empty());
}

#[test]
fn a_store_that_is_not_shown_to_keep_the_condition_is_not_written_to() {
    for (name, fault) in [("careless-refused", Fault::Refused), ("careless-lost", Fault::LostAnswer)] {
        let store = FaultStore::new(Arc::new(Careless(ObjectAdapter::memory())));
        let root = ObjectPath::new(&format!("s3://{name}"), "/t");
        let location = Location::with_store(root, Arc::new(store.clone()));
        // no clear answer at first: it is asked again
        store.rule(Rule::new(fault.clone()).on(Op::PutIfAbsent).named("_probe_").times(4));
        let error = write_commit(&location, 0, &info("mine"), &add("a")).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        // and never: the error is the answer
        store.rule(Rule::new(fault).on(Op::PutIfAbsent).named("_probe_").always());
        let error = write_commit(&location, 0, &info("mine"), &add("a")).unwrap_err();
        assert!(matches!(error, Error::Storage { .. }), "{error}");
        store.heal();
        assert!(location.store().list_all(location.root()).unwrap().is_empty());
    }
}

#[test]
fn a_store_that_keeps_the_condition_is_tried_once() {
    let store = FaultStore::new(Arc::new(ObjectAdapter::memory()));
    let location = Location::with_store(ObjectPath::new("s3://careful", "/t"), Arc::new(store.clone()));
    for version in 0..3 {
        write_commit(&location, version, &info(&version.to_string()), &add("a")).unwrap();
    }
    assert_eq!((store.count(Op::PutIfAbsent, "_probe_"), store.count(Op::PutIfAbsent, "")), (2, 5));
    assert_eq!(location.store().list_all(location.root()).unwrap().len(), 3);
}
