//! Operations that are asked to stop, at every request that they make: all of it is there or nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use deltaic_core::maintain::{Alteration, OptimizeOptions, alter_table, optimize};
use deltaic_core::{Cancel, Error};
use deltaic_testkit::Op;

use super::*;

type Run = fn(&Location) -> Result<Option<u64>>;

fn a_delete(location: &Location) -> Result<Option<u64>> {
    Ok(deltaic_core::operations::delete(location, Some("k % 4 = 1"), &DmlOptions::default())?.version)
}

fn an_update(location: &Location) -> Result<Option<u64>> {
    let set = [("k".to_owned(), "k + 100".to_owned())];
    Ok(deltaic_core::operations::update(location, &set, Some("k % 4 = 1"), &DmlOptions::default())?.version)
}

fn an_optimize(location: &Location) -> Result<Option<u64>> {
    Ok(optimize(location, &OptimizeOptions::default())?.version)
}

fn a_constraint(location: &Location) -> Result<Option<u64>> {
    let expression = "k >= 0".to_owned();
    alter_table(location, &Alteration::AddConstraint { name: "c".into(), expression, checked: None }, None)
        .map(Some)
}

fn objects(location: &Location) -> Vec<String> {
    let mut names: Vec<_> =
        location.store().list_all(location.root()).unwrap().into_iter().map(|f| f.name).collect();
    names.sort();
    names
}

#[test]
fn what_is_asked_to_stop_leaves_the_table_as_it_was_or_is_done() {
    let operations: [(&str, Run); 4] = [
        ("delete", a_delete),
        ("update", an_update),
        ("optimize", an_optimize),
        ("add constraint", a_constraint),
    ];
    for (name, run) in operations {
        for properties in [&[][..], &[VECTORS], &[CHANGES]] {
            let mut stopped = 0;
            for nth in 1.. {
                let (store, location) = table(35, false, properties);
                let before = objects(&location);
                let (cancel, calls) = (Cancel::default(), AtomicU64::new(0));
                let struck = Arc::new(Mutex::new(None));
                let (flag, seen) = (cancel.clone(), struck.clone());
                let watched = store.directed(move |op, path| {
                    if calls.fetch_add(1, Ordering::Relaxed) + 1 == nth {
                        flag.cancel();
                        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some((op, path.to_string()));
                    }
                    None
                });
                let place = Location::with_store(location.root().clone(), Arc::new(watched));
                let done = run(&place.stopped_by(&cancel));
                let Some((op, path)) = struck.lock().unwrap_or_else(PoisonError::into_inner).take() else {
                    assert_eq!(done.unwrap(), Some(1));
                    break;
                };
                let context = format!("{name}, {properties:?}, {op:?} of `{path}`");
                let in_log = path.contains("/_delta_log");
                match done {
                    Ok(version) => {
                        assert_eq!(version, Some(1), "{context}");
                        assert!(in_log, "{context}: it went on");
                    }
                    Err(error) => {
                        assert!(matches!(error, Error::Interrupted), "{context}: {error}");
                        assert_eq!(objects(&location), before, "{context}");
                        let commit = in_log && matches!(op, Op::Put | Op::PutIfAbsent);
                        assert!(!commit, "{context}: the commit had begun");
                        stopped += 1;
                    }
                }
            }
            // the files of the table are read at least
            assert!(stopped > 4, "{name}, {properties:?}: {stopped}");
        }
    }
}
