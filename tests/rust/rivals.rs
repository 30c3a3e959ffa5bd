//! Other writers that come first.

use std::ops::RangeInclusive;
use std::sync::Arc;

use deltaic_core::store::{Location, ObjectAdapter};
use deltaic_testkit::{Fault, FaultStore, Op, Rule};

/// Lets a writer's commit land right before the next one.
pub(crate) fn overtaken(
    store: &FaultStore,
    location: &Location,
    version: u64,
    rival: impl FnOnce(&Location),
) {
    overtaken_by(store, location, version..=version, rival);
}

/// Lets a writer's commits of these versions land right before the next one.
pub(crate) fn overtaken_by(
    store: &FaultStore,
    location: &Location,
    versions: RangeInclusive<u64>,
    rival: impl FnOnce(&Location),
) {
    // the rival commits to a copy, and its body then comes first
    let inner: Arc<ObjectAdapter> = Arc::new(ObjectAdapter::memory());
    let copy_store = FaultStore::new(inner);
    let copy = Location::with_store(location.root().clone(), Arc::new(copy_store));
    for file in location.store().list_all(location.root()).unwrap() {
        let path = location.root().join(&file.name);
        copy.store().put(&path, location.store().get(&path).unwrap()).unwrap();
    }
    rival(&copy);
    for file in copy.store().list_all(copy.root()).unwrap() {
        let path = location.root().join(&file.name);
        if !file.name.starts_with("_delta_log/") && location.store().head(&path).is_err() {
            location.store().put(&path, copy.store().get(&path).unwrap()).unwrap();
        }
    }
    for version in versions {
        let name = format!("{version:020}.json");
        let body = copy.store().get(&copy.root().join(&format!("_delta_log/{name}"))).unwrap();
        store.rule(Rule::new(Fault::Overtaken(body)).on(Op::PutIfAbsent).named(&name));
    }
}
