//! Optimize beside writers that take its files: it is retried on what they left.

use std::time::Duration;

use deltaic_core::Error;
use deltaic_core::dml::DmlOptions;
use deltaic_core::maintain::{OptimizeDone, OptimizeOptions, optimize};
use deltaic_core::operations::delete;
use deltaic_testkit::{Fault, Op, Rule};
use serde_json::json;

use super::optimize::{VECTORS, table};
use super::*;
use crate::rivals::overtaken;

fn run(location: &Location) -> Result<OptimizeDone> {
    optimize(location, &OptimizeOptions::default())
}

/// The rival joins the files of partition `b`.
fn joins_b(copy: &Location) {
    let options = OptimizeOptions { predicate: Some("p = 'b'".into()), ..Default::default() };
    optimize(copy, &options).unwrap();
}

#[test]
fn what_another_optimize_left_is_joined() {
    let (store, location) = table();
    let before = rows(&location);
    overtaken(&store, &location, 7, joins_b);
    let there = objects(&location).len();
    let done = run(&location).unwrap();
    assert_eq!((done.version, done.considered, done.removed.len(), done.added.len()), (Some(8), 6, 5, 1));
    assert_eq!(rows(&location), before);
    // of the lost attempt nothing is left
    assert_eq!(objects(&location).len(), there + 1);
}

#[test]
fn where_another_optimize_did_all_there_is_nothing_to_do() {
    let (store, location) = table();
    let before = rows(&location);
    overtaken(&store, &location, 7, |copy| drop(run(copy).unwrap()));
    let there = objects(&location);
    assert_eq!(run(&location).unwrap().version, None);
    assert_eq!((open(&location).version(), rows(&location), objects(&location)), (7, before, there));
}

#[test]
fn rows_that_were_rewritten_without_vectors_are_those_of_the_winner() {
    let (store, location) = place();
    for n in 0..4 {
        write(&location, &[("a", 2 * n), ("a", 2 * n + 1)], &partitioned()).unwrap();
    }
    overtaken(&store, &location, 4, |copy| {
        delete(copy, Some("id IN (0, 3)"), &DmlOptions::default()).unwrap();
    });
    let done = run(&location).unwrap();
    assert_eq!(done.version, Some(5));
    let left: Vec<i64> = rows(&location).into_iter().map(|r| r.1).collect();
    assert_eq!(left, [1, 2, 4, 5, 6, 7]);
    assert_eq!(adds(&location).len(), 1);
}

#[test]
fn a_budget_that_is_used_up_gives_the_conflict() {
    let (store, location) = table();
    let before = rows(&location);
    overtaken(&store, &location, 7, joins_b);
    let there = objects(&location);
    let options = OptimizeOptions { commit_budget: Duration::ZERO, ..Default::default() };
    let error = optimize(&location, &options).unwrap_err();
    assert_eq!(
        (error.kind(), error.conflict().unwrap().rule.as_str()),
        ("ConcurrentDeleteDelete", "file-rewritten")
    );
    assert_eq!((rows(&location), objects(&location)), (before, there));
}

#[test]
fn the_commit_counts_the_files_that_it_has() {
    // a whole partition goes meanwhile, and with it the new file
    let (store, location) = table();
    overtaken(&store, &location, 7, |copy| {
        delete(copy, Some("p = 'b'"), &DmlOptions::default()).unwrap();
    });
    let done = run(&location).unwrap();
    assert_eq!((done.version, done.removed.len(), done.added.len()), (Some(8), 5, 1));
    let files = adds(&location);
    let metrics = info(&location, 8).operation_metrics.unwrap();
    let of = |name: &str| metrics[name].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!((of("numAddedFiles"), of("numRemovedFiles")), (1, 5));
    assert_eq!((of("numAddedBytes"), files.len()), (files[0].size.unsigned_abs(), 1));
    assert_eq!((of("minFileSize"), of("maxFileSize")), (done.added[0], done.added[0]));
    assert_eq!(metrics["numRemovedBytes"], json!(done.removed.iter().sum::<u64>().to_string()));
}

#[test]
fn a_fault_at_any_step_of_the_second_attempt_loses_nothing() {
    for op in [Op::Get, Op::GetRange, Op::ListFrom, Op::Put, Op::PutIfAbsent] {
        for fault in [Fault::Refused, Fault::LostAnswer, Fault::Crash] {
            for nth in 1.. {
                let (store, location) = table();
                let before = rows(&location);
                overtaken(&store, &location, 7, joins_b);
                let there = objects(&location);
                store.forget();
                store.rule(Rule::new(fault.clone()).on(op).nth(nth));
                let result = run(&location);
                let struck = store.count(op, "") as u64 >= nth;
                store.heal();
                let context = format!("{op:?} {fault:?} {nth}: {result:?}");
                assert_eq!(rows(&location), before, "{context}");
                match result {
                    Ok(done) => {
                        assert_eq!(objects(&location).len(), there.len() + done.added.len(), "{context}")
                    }
                    // a process that is gone deletes nothing: what it wrote is for vacuum
                    Err(_) if fault == Fault::Crash => {}
                    Err(_) => assert_eq!(objects(&location), there, "{context}"),
                }
                if !struck {
                    break;
                }
            }
        }
    }
}

#[test]
fn files_of_a_second_attempt_in_doubt_stay() {
    let (store, location) = table();
    let before = rows(&location);
    overtaken(&store, &location, 7, joins_b);
    let there = objects(&location).len();
    let name = "00000000000000000008.json";
    store.rule(Rule::new(Fault::LostAnswer).on(Op::PutIfAbsent).named(name));
    store.rule(Rule::new(Fault::Refused).on(Op::Get).named(name).always());
    let error = run(&location).unwrap_err();
    assert!(matches!(error, Error::CommitStateUnknown { version: 8, .. }), "{error}");
    store.heal();
    // it had landed, and the files of the first attempt are gone
    assert_eq!((rows(&location), adds(&location).len()), (before, 2));
    assert_eq!(objects(&location).len(), there + 1);
}

#[test]
fn optimizes_at_the_same_time_all_succeed() {
    for properties in [&[][..], &VECTORS[..]] {
        let (_, location) = place();
        for n in 0..4 {
            write(&location, &[("a", 2 * n), ("b", 2 * n + 1)], &with_properties(properties)).unwrap();
        }
        let before = rows(&location);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| run(&location).unwrap());
            }
        });
        assert_eq!((rows(&location), adds(&location).len()), (before, 2), "{properties:?}");
        assert_eq!(objects(&location).len(), 8 + 2, "{properties:?}");
    }
}
