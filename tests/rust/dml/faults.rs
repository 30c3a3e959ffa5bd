//! Faults at every step: all of it or nothing, and no file that nobody names.

use deltaic_core::Error;
use deltaic_testkit::{Fault, Op, Rule};

use super::*;

/// What a test does to its table, and the keys that are there afterwards.
type Deed = (fn(&Location) -> Result<Option<u64>>, fn() -> Vec<i64>);

fn deeds() -> [Deed; 4] {
    [
        (
            |location| delete(location, Some("k % 2 = 0")).map(|d| d.version),
            || (0..3000).filter(|k| k % 2 != 0).collect(),
        ),
        (
            |location| update(location, &[("k", "k + 5000")], Some("k % 2 = 0")).map(|d| d.version),
            || {
                let mut keys: Vec<i64> = (0..3000).map(|k| if k % 2 == 0 { k + 5000 } else { k }).collect();
                keys.sort_unstable();
                keys
            },
        ),
        (
            |location| {
                let new = row(-1, None, Some(1));
                replace(location, "s.a = 1", &[new]).map(|w| Some(w.version))
            },
            || (-1..3000).filter(|k| k % 5 == 4 || k % 4 != 1).collect(),
        ),
        (
            |location| {
                let source: Vec<Row> = (2990..3010).map(|k| row(k, None, Some(1))).collect();
                let clauses = vec![
                    clause("matched delete", Some("s.k < 2995"), None),
                    clause("matched update", None, Some(&[("k", "t.k + 5000")])),
                    clause("not matched insert", None, None),
                ];
                merge(location, &source, "t.k = s.k", clauses).map(|d| d.version)
            },
            || (0..2990).chain(3000..3010).chain(7995..8000).collect(),
        ),
    ]
}

/// Two files of so many rows that their vectors become a file.
fn large(properties: &[(&str, &str)]) -> (FaultStore, Location) {
    let (store, location) = place();
    let batch = batch(&rows(3000));
    let schema = batch.schema();
    let options = WriteOptions {
        mode: WriteMode::Append,
        configuration: properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        max_rows_per_file: Some(1500),
        ..Default::default()
    };
    deltaic_core::operations::write(&location, RecordBatchIterator::new([Ok(batch)], schema), &options)
        .unwrap();
    (store, location)
}

#[test]
fn a_fault_at_any_step_loses_nothing_and_leaves_nothing() {
    for properties in [&[][..], &[VECTORS][..], &[CHANGES][..], &[CHANGES, VECTORS][..]] {
        for (deed, after) in deeds() {
            for op in [Op::Get, Op::GetRange, Op::ListFrom, Op::Put, Op::PutIfAbsent] {
                for fault in [Fault::Refused, Fault::LostAnswer] {
                    for nth in 1.. {
                        let (store, location) = large(properties);
                        store.forget();
                        store.rule(Rule::new(fault.clone()).on(op).nth(nth));
                        let result = deed(&location);
                        let struck = store.count(op, "") as u64 >= nth;
                        store.heal();
                        let context = format!("{properties:?} {op:?} {fault:?} {nth}: {result:?}");
                        match result {
                            Ok(version) => {
                                assert_eq!(version, Some(1), "{context}");
                                assert_eq!(keys(&location), after(), "{context}");
                            }
                            Err(_) => {
                                assert_eq!(open(&location).version(), 0, "{context}");
                                assert_eq!(keys(&location), (0..3000).collect::<Vec<_>>(), "{context}");
                            }
                        }
                        assert_eq!(orphans(&location), Vec::<String>::new(), "{context}");
                        if !struck {
                            break;
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn files_of_a_commit_in_doubt_stay() {
    for properties in [&[][..], &[VECTORS][..]] {
        for (deed, after) in deeds() {
            let (store, location) = large(properties);
            let name = "00000000000000000001.json";
            store.rule(Rule::new(Fault::LostAnswer).on(Op::PutIfAbsent).named(name));
            store.rule(Rule::new(Fault::Refused).on(Op::Get).named(name).always());
            let error = deed(&location).unwrap_err();
            assert!(matches!(error, Error::CommitStateUnknown { version: 1, .. }), "{error}");
            store.heal();
            // it had landed
            assert_eq!(keys(&location), after());
        }
    }
}

#[test]
fn a_missing_file_is_an_error_and_changes_nothing() {
    let (_, location) = large(&[VECTORS]);
    let file = files(&location)[0].path.resolve(location.root()).unwrap();
    location.store().delete(&file).unwrap();
    assert_eq!(delete(&location, Some("k % 2 = 0")).unwrap_err().kind(), "DataFile");
    assert_eq!(open(&location).version(), 0);
    // what needs no read needs no file
    assert_eq!(delete(&location, None).unwrap().deleted_rows, Some(3000));
}
