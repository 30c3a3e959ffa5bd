//! Every store keeps the same promises, and the fault store breaks exactly those that it is configured to break.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_core::Error;
use deltaic_core::actions::ObjectPath;
use deltaic_core::store::{LocalStore, ObjectAdapter, PutOutcome, Store};
use deltaic_testkit::{Fault, FaultStore, Op, Rule, store_conformance};

fn root() -> ObjectPath {
    ObjectPath::new("memory://", "/table")
}

fn memory() -> Arc<dyn Store> {
    Arc::new(ObjectAdapter::memory())
}

#[test]
fn the_local_store_conforms() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap().replace('\\', "/");
    store_conformance(&LocalStore::default(), &ObjectPath::new("file://", &root));
}

#[test]
fn the_memory_store_conforms() {
    store_conformance(&*memory(), &root());
}

#[test]
fn a_fault_store_without_faults_conforms() {
    store_conformance(&FaultStore::new(memory()), &root());
}

#[test]
fn a_lost_answer_is_an_error_and_the_object_is_there() {
    let store = FaultStore::new(memory());
    store.rule(Rule::new(Fault::LostAnswer).on(Op::PutIfAbsent).named("1.json"));
    let path = root().join("1.json");
    let answer = store.put_if_absent(&path, Bytes::from_static(b"ours"));
    assert!(matches!(answer, Err(Error::Storage { .. })), "{answer:?}");
    assert_eq!(store.get(&path).unwrap(), "ours");
    assert_eq!(
        store.put_if_absent(&path, Bytes::new()).unwrap(),
        PutOutcome::AlreadyExists,
        "it strikes once"
    );
}

#[test]
fn a_refused_put_leaves_nothing_and_an_overtaken_one_the_other_body() {
    let store = FaultStore::new(memory());
    store.rule(Rule::new(Fault::Refused).on(Op::PutIfAbsent));
    store.rule(Rule::new(Fault::Overtaken(Bytes::from_static(b"theirs"))).on(Op::PutIfAbsent).nth(2));
    let path = root().join("1.json");
    assert!(store.put_if_absent(&path, Bytes::from_static(b"ours")).is_err());
    assert!(matches!(store.get(&path), Err(Error::NotFound { .. })));
    assert_eq!(store.put_if_absent(&path, Bytes::from_static(b"ours")).unwrap(), PutOutcome::AlreadyExists);
    assert_eq!(store.get(&path).unwrap(), "theirs");
}

#[test]
fn a_retried_answer_hides_that_the_object_is_ours() {
    let store = FaultStore::new(memory());
    store.rule(Rule::new(Fault::RetriedAnswer));
    let path = root().join("1.json");
    assert_eq!(store.put_if_absent(&path, Bytes::from_static(b"ours")).unwrap(), PutOutcome::AlreadyExists);
    assert_eq!(store.get(&path).unwrap(), "ours");
}

#[test]
fn reads_listings_and_writes_can_be_torn() {
    let store = FaultStore::new(memory());
    store.rule(Rule::new(Fault::Torn(2)).on(Op::Get));
    store.rule(Rule::new(Fault::StaleList(1)).on(Op::ListFrom));
    store.rule(Rule::new(Fault::Torn(3)).on(Op::Put).nth(3));
    for name in ["1.json", "2.json"] {
        store.put(&root().join(name), Bytes::from_static(b"whole")).unwrap();
    }
    assert_eq!(store.get(&root().join("1.json")).unwrap(), "wh");
    assert_eq!(store.list_from(&root(), "").unwrap().len(), 1);
    assert!(store.put(&root().join("3.json"), Bytes::from_static(b"whole")).is_err());
    assert_eq!(store.get(&root().join("3.json")).unwrap(), "who");
    assert_eq!((store.count(Op::Get, "json"), store.bytes_read()), (2, 5));
}

#[test]
fn after_a_crash_nothing_works_until_a_new_start() {
    let store = FaultStore::new(memory());
    store.rule(Rule::new(Fault::Crash).nth(3));
    let path = root().join("1.json");
    store.put(&path, Bytes::from_static(b"a")).unwrap();
    store.put(&path, Bytes::from_static(b"b")).unwrap();
    assert!(store.put(&path, Bytes::from_static(b"c")).is_err());
    assert!(store.get(&path).is_err());
    store.heal();
    assert_eq!(store.get(&path).unwrap(), "b");
}

#[test]
fn what_is_late_fails_and_is_done_after_so_many_calls() {
    let store = FaultStore::new(memory());
    store.rule(Rule::new(Fault::Late(2)));
    let path = root().join("1.json");
    assert!(store.put_if_absent(&path, Bytes::from_static(b"late")).is_err());
    assert!(store.get(&path).is_err());
    assert_eq!(store.under_way(), 1);
    assert_eq!(store.get(&path).unwrap(), "late");
    store.heal();
    store.rule(Rule::new(Fault::Late(9)).on(Op::Delete));
    assert!(store.delete(&path).is_err());
    assert_eq!(store.get(&path).unwrap(), "late");
    store.deliver();
    assert!(store.get(&path).is_err());
}

#[test]
fn a_director_says_what_goes_wrong_with_one_clone() {
    let store = FaultStore::new(memory());
    let directed = store.directed(|op, _| (op == Op::Get).then_some(Fault::Refused));
    let path = root().join("1.json");
    directed.put(&path, Bytes::from_static(b"x")).unwrap();
    assert!(directed.get(&path).is_err());
    assert_eq!(store.get(&path).unwrap(), "x");
    assert_eq!(store.count(Op::Get, ""), 2);
}

#[test]
fn a_seed_is_one_story() {
    let story = |seed: u64| {
        let store = FaultStore::seeded(memory(), seed, 0.3, &[Fault::Refused, Fault::LostAnswer]);
        for round in 0..50 {
            let path = root().join(&format!("{}.json", round % 7));
            let _ = store.put_if_absent(&path, Bytes::from_static(b"x"));
        }
        store.calls()
    };
    assert_eq!(story(1), story(1));
    assert_ne!(story(1), story(2));
    let struck = story(1).iter().filter(|c| c.fault.is_some()).count();
    assert!((5..25).contains(&struck), "about three in ten: {struck}");
}
