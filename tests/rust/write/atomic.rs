//! A write is there, whole and once, or not at all.

use std::sync::Arc;

use arrow::error::ArrowError;
use deltaic_core::Error;
use deltaic_core::write::{WriteMode, WriteOptions};
use deltaic_testkit::{Fault, Op, Rule};

use super::*;

#[test]
fn data_that_ends_in_an_error_leaves_no_trace() {
    let (_, location) = place();
    let broken = || Err(ArrowError::ComputeError("the source broke".into()));
    let error =
        deltaic_core::operations::write(&location, reader(vec![Ok(people(&[1])), broken()]), &append())
            .unwrap_err();
    assert!(error.to_string().contains("the source broke"), "{error}");
    assert!(objects(&location).is_empty());
    write(&location, &people(&[1]), &append()).unwrap();
    let before = objects(&location);
    let small = WriteOptions { target_file_size: 1, ..append() };
    deltaic_core::operations::write(&location, reader(vec![Ok(people(&[2])), broken()]), &small).unwrap_err();
    assert_eq!(objects(&location), before);
}

#[test]
fn a_file_that_cannot_be_put_leaves_no_trace() {
    for fault in [Fault::Refused, Fault::LostAnswer, Fault::Torn(10)] {
        let (store, location) = place();
        store.rule(Rule::new(fault).on(Op::Put).nth(2));
        let error = write(&location, &people(&[1, 2, 3]), &partitioned(&["name"])).unwrap_err();
        assert_eq!(error.kind(), "Storage");
        assert!(objects(&location).is_empty(), "{:?}", objects(&location));
    }
}

#[test]
fn a_lost_answer_neither_loses_nor_doubles_rows() {
    for fault in [Fault::LostAnswer, Fault::RetriedAnswer] {
        let (store, location) = place();
        for version in 0..3 {
            store.rule(Rule::new(fault.clone()).on(Op::PutIfAbsent).named(&format!("{version:020}.json")));
            let result = write(&location, &people(&[version]), &append()).unwrap();
            assert_eq!((result.version, result.created), (version as u64, version == 0));
        }
        assert_eq!(ids(&location), [0, 1, 2]);
    }
}

#[test]
fn files_stay_when_nobody_knows_whether_they_are_committed() {
    let (store, location) = place();
    write(&location, &people(&[1]), &append()).unwrap();
    store.rule(Rule::new(Fault::LostAnswer).on(Op::PutIfAbsent));
    store.rule(Rule::new(Fault::Refused).on(Op::Get).named("00000000000000000001.json").always());
    let error = write(&location, &people(&[2]), &append()).unwrap_err();
    assert!(matches!(error, Error::CommitStateUnknown { version: 1, .. }), "{error}");
    store.heal();
    // it was committed, and its rows are there
    assert_eq!(ids(&location), [1, 2]);
}

#[test]
fn a_conflict_removes_the_files_and_names_the_winner() {
    let (store, location) = place();
    write(&location, &people(&[1]), &append()).unwrap();
    let mut metadata = commit(&location, 0).into_iter().find(|(k, _)| k == "metaData").unwrap().1;
    metadata["configuration"]["delta.appendOnly"] = "true".into();
    let body = format!(
        "{}\n{}\n",
        r#"{"commitInfo":{"operation":"SET TBLPROPERTIES"}}"#,
        serde_json::json!({"metaData": metadata})
    );
    store.rule(Rule::new(Fault::Overtaken(body.into())).on(Op::PutIfAbsent));
    let files = adds(&location).len();
    let error = write(&location, &people(&[2]), &append()).unwrap_err();
    let Error::MetadataChanged(lost) = error else { panic!("{error}") };
    assert_eq!((lost.version, lost.winner.as_deref()), (1, Some("SET TBLPROPERTIES")));
    assert_eq!(objects(&location).iter().filter(|n| n.ends_with(".parquet")).count(), files);
}

#[test]
fn many_creators_make_one_table() {
    for mode in [WriteMode::Append, WriteMode::ErrorIfExists, WriteMode::Ignore] {
        let (_, location) = place();
        let options = WriteOptions { mode, ..Default::default() };
        let barrier = std::sync::Barrier::new(8);
        let results: Vec<_> = std::thread::scope(|scope| {
            let (location, options, barrier) = (&location, &options, &barrier);
            let writers: Vec<_> = (0..8)
                .map(|n| {
                    scope.spawn(move || {
                        barrier.wait();
                        write(location, &people(&[n]), options)
                    })
                })
                .collect();
            writers.into_iter().map(|w| w.join().unwrap()).collect()
        });
        assert_eq!(results.iter().filter(|r| r.as_ref().is_ok_and(|r| r.created)).count(), 1, "{mode:?}");
        let rows = ids(&location).len();
        match mode {
            WriteMode::Append => {
                assert!(results.iter().all(|r| r.is_ok()), "{results:?}");
                assert_eq!(rows, 8);
            }
            WriteMode::ErrorIfExists => {
                let refused =
                    results.iter().filter(|r| matches!(r, Err(Error::TableAlreadyExists { .. }))).count();
                assert_eq!((refused, rows), (7, 1));
            }
            _ => {
                let skipped = results.iter().filter(|r| r.as_ref().is_ok_and(|r| r.skipped)).count();
                assert_eq!((skipped, rows), (7, 1));
            }
        }
        // the losers' files are gone
        let files = objects(&location).iter().filter(|n| n.ends_with(".parquet")).count();
        assert_eq!(files, adds(&location).len());
    }
}

#[test]
fn a_creator_that_lost_to_another_schema_gets_the_reason() {
    let (_, location) = place();
    let (_, other) = place();
    let data = batch([("id", Arc::new(arrow::array::Int32Array::from(vec![1])) as ArrayRef)]);
    write(&other, &data, &append()).unwrap();
    let theirs = other.store().get(&deltaic_core::log::commit_path(&other, 0)).unwrap();
    let faulty = deltaic_testkit::FaultStore::new(location.store().clone());
    faulty.rule(Rule::new(Fault::Overtaken(theirs)).on(Op::PutIfAbsent));
    let location = Location::with_store(location.root().clone(), Arc::new(faulty));
    let error = write(&location, &people(&[1]), &append()).unwrap_err();
    assert!(matches!(error.plain(), Error::MetadataChanged(_) | Error::SchemaMismatch { .. }), "{error}");
    assert!(!objects(&location).iter().any(|n| n.ends_with(".parquet")));
}

#[test]
fn all_appends_of_many_writers_land() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::open(dir.path().to_str().unwrap(), &Default::default()).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let location = &location;
            scope.spawn(move || {
                for n in 0..20 {
                    write(location, &people(&[writer * 20 + n]), &append()).unwrap();
                }
            });
        }
    });
    assert_eq!(open(&location).version(), 159);
    assert_eq!(ids(&location), (0..160).collect::<Vec<i64>>());
}
