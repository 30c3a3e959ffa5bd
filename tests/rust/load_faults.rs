//! Opening and replaying a log in a store that fails, or lists while others write.

use std::sync::Arc;

use deltaic_core::conflict::winners_from;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{LocalStore, Location};
use deltaic_core::{Error, Result};
use deltaic_testkit::{CheckpointSpec, Fault, FaultStore, Op, Rule, TableBuilder, actions};

use crate::load::{FORMS, expected, files, table};

fn placed(table: &TableBuilder) -> (FaultStore, Location) {
    let store = FaultStore::new(Arc::new(LocalStore::default()));
    let location = Location::with_store(table.location(), Arc::new(store.clone()));
    (store, location)
}

#[test]
fn a_commit_that_a_listing_overlooked_is_no_gap() {
    for checkpoint in [None, Some(4)] {
        let mut table = table();
        if let Some(version) = checkpoint {
            table.checkpoint(version, &CheckpointSpec::default());
        }
        let (store, location) = placed(&table);
        let held = Snapshot::open(location.clone(), At::Latest).unwrap();
        files(&held).unwrap();
        for n in 10..=12 {
            table.commit(&[actions::add_in(&format!("late{n}"), &[("p", None)])]);
        }
        for version in [10, 11] {
            let overlooked = Fault::Overlooked(vec![format!("{version:020}.json")]);
            store.rule(Rule::new(overlooked).on(Op::ListFrom).always());
            let opened = Snapshot::open(location.clone(), At::Latest).unwrap();
            for snapshot in [opened, held.update().unwrap()] {
                assert_eq!(files(&snapshot).unwrap(), expected(&table, 12), "{version}, {checkpoint:?}");
            }
            let winners = winners_from(&location, 10).unwrap();
            assert_eq!(winners.iter().map(|w| w.version).collect::<Vec<_>>(), [10, 11, 12]);
            store.heal();
        }
    }
}

#[test]
fn commits_that_a_slow_listing_overlooked_are_no_gap_however_many() {
    for checkpoint in [None, Some(4), Some(50), Some(59)] {
        let mut table = table();
        for n in 10..=60 {
            table.commit(&[actions::add_in(&format!("late{n}"), &[("p", None)])]);
        }
        if let Some(version) = checkpoint {
            table.checkpoint(version, &CheckpointSpec::default());
        }
        let (store, location) = placed(&table);
        // those that the others made while the log was listed: a few, and many
        for overlooked in [50..52, 13..56] {
            let listing_of = |work: &dyn Fn()| {
                let names = overlooked.clone().map(|version| format!("{version:020}.json")).collect();
                store.rule(Rule::new(Fault::Overlooked(names)).on(Op::ListFrom));
                work();
                store.heal();
                store.forget();
            };
            listing_of(&|| {
                let winners = winners_from(&location, 10).unwrap();
                let versions: Vec<u64> = winners.iter().map(|w| w.version).collect();
                assert_eq!(versions, Vec::from_iter(10..=60), "{overlooked:?}, {checkpoint:?}");
            });
            listing_of(&|| {
                let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
                assert_eq!(files(&snapshot).unwrap(), expected(&table, 60), "{overlooked:?}, {checkpoint:?}");
            });
            let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
            listing_of(&|| {
                let versions: Vec<u64> = snapshot.history(None).unwrap().iter().map(|c| c.version).collect();
                assert_eq!(versions, Vec::from_iter((0..=60).rev()), "{overlooked:?}, {checkpoint:?}");
            });
        }
    }
}

#[test]
fn a_store_that_fails_is_not_a_checkpoint_that_is_broken() {
    for form in FORMS {
        let table = table();
        table.checkpoint(3, &CheckpointSpec::default());
        table.checkpoint(9, &CheckpointSpec::of(form));
        let (store, location) = placed(&table);
        let load = || -> Result<_> {
            let snapshot = Snapshot::open(location.clone(), At::Latest)?;
            let found = files(&snapshot);
            // the same snapshot can be asked again
            found.inspect_err(|_| {
                store.heal();
                assert_eq!(files(&snapshot).unwrap(), expected(&table, 9), "{form:?}");
            })
        };
        for op in [Op::Get, Op::GetRange] {
            for name in [".checkpoint.", "_sidecars/"] {
                for nth in 1.. {
                    store.forget();
                    store.rule(Rule::new(Fault::Refused).on(op).named(name).nth(nth));
                    let loaded = load();
                    store.heal();
                    if !store.calls().iter().any(|call| call.fault.is_some()) {
                        assert_eq!(loaded.unwrap(), expected(&table, 9));
                        break;
                    }
                    let error = loaded.unwrap_err();
                    assert!(matches!(error, Error::Storage { .. }), "{form:?} {op:?} {name} {nth}: {error}");
                }
            }
        }
    }
}
