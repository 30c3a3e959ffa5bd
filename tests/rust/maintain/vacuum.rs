//! Vacuum: what is deleted, what stays, and what is reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use deltaic_core::Cancel;
use deltaic_core::maintain::{VacuumDone, VacuumMode, VacuumOptions, vacuum};
use deltaic_testkit::{Fault, Op, Rule};

use super::*;

/// A table with files of two versions, one of them removed, and a file that no commit names.
fn table() -> (FaultStore, Location) {
    let (store, location) = place();
    write(&location, &[("a", 1), ("b", 2)], &partitioned()).unwrap();
    let overwrite = WriteOptions { mode: WriteMode::Overwrite, ..Default::default() };
    write(&location, &[("a", 3)], &overwrite).unwrap();
    for name in
        ["p=a/orphan.parquet", "_private/x", "p=a/.hidden", "nested/_delta_log/0.json", "nested/x.parquet"]
    {
        location.store().put(&location.root().join(name), "x".into()).unwrap();
    }
    (store, location)
}

/// Everything is older than this retention by the time of the call.
fn now(mode: VacuumMode) -> VacuumOptions {
    std::thread::sleep(Duration::from_millis(5));
    VacuumOptions {
        mode,
        retention: Some(Duration::ZERO),
        allow_short_retention: true,
        dry_run: false,
        inventory: None,
        user_metadata: None,
    }
}

fn below(location: &Location, done: &VacuumDone) -> Vec<String> {
    let root = format!("{}/", location.root());
    done.files.iter().map(|f| f.strip_prefix(&root).unwrap().to_owned()).collect()
}

#[test]
fn t37_nothing_goes_that_a_retained_version_or_a_young_writer_needs() {
    let (_, location) = table();
    let before = objects(&location);
    // within the retention: all files are young, and version 0 can be read
    let done = vacuum(&location, &VacuumOptions::default()).unwrap();
    assert_eq!((done.files.len(), objects(&location)), (0, before.clone()));
    assert_eq!(rows_at(&location, At::Version(0)), owned(&[("a", 1), ("b", 2)]));
    // beyond it: what is returned is gone, and everything else is there
    let done = vacuum(&location, &now(VacuumMode::Full)).unwrap();
    let gone = below(&location, &done);
    assert_eq!(gone.len(), 3);
    assert!(gone.iter().any(|f| f == "p=a/orphan.parquet"));
    let left: Vec<_> = before.into_iter().filter(|f| !gone.contains(f)).collect();
    assert_eq!(objects(&location), left);
    assert_eq!(rows(&location), owned(&[("a", 3)]));
}

#[test]
fn t37_a_file_that_was_removed_within_the_retention_stays_however_old_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::open(dir.path().to_str().unwrap(), &Default::default()).unwrap();
    write(&location, &[("a", 1)], &partitioned()).unwrap();
    let old = objects(&location);
    let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
    let file = std::fs::File::options().write(true).open(dir.path().join(&old[0])).unwrap();
    file.set_modified(hour_ago).unwrap();
    write(&location, &[("a", 2)], &WriteOptions { mode: WriteMode::Overwrite, ..Default::default() })
        .unwrap();
    let half_an_hour = VacuumOptions {
        retention: Some(Duration::from_secs(1800)),
        allow_short_retention: true,
        ..Default::default()
    };
    for mode in [VacuumMode::Full, VacuumMode::Lite] {
        let done = vacuum(&location, &VacuumOptions { mode, ..half_an_hour.clone() }).unwrap();
        assert!(done.files.is_empty(), "{done:?}");
    }
    // the tombstone is in a checkpoint only
    deltaic_core::checkpoint::checkpoint(&open(&location)).unwrap();
    for version in 0..2 {
        std::fs::remove_file(dir.path().join(format!("_delta_log/{version:020}.json"))).ok();
    }
    assert!(vacuum(&location, &half_an_hour).unwrap().files.is_empty());
    assert!(dir.path().join(&old[0]).exists());
}

#[test]
fn a_dry_run_says_what_a_run_then_does() {
    let (store, location) = table();
    for mode in [VacuumMode::Lite, VacuumMode::Full] {
        let run = now(mode);
        let before = (objects(&location), open(&location).version());
        let dry = vacuum(&location, &VacuumOptions { dry_run: true, ..run.clone() }).unwrap();
        assert_eq!((objects(&location), open(&location).version()), before);
        store.forget();
        let done = vacuum(&location, &run).unwrap();
        assert_eq!((dry.files, dry.bytes), (done.files.clone(), done.bytes));
        // lite goes by the log and lists no data
        assert_eq!(store.count(Op::ListAll, "") == 0, mode == VacuumMode::Lite);
        assert_eq!(done.files.len(), if mode == VacuumMode::Lite { 2 } else { 1 });
    }
}

#[test]
fn only_what_the_store_confirmed_is_returned() {
    let (store, location) = table();
    store.rule(Rule::new(Fault::Refused).on(Op::Delete).named("orphan"));
    let done = vacuum(&location, &now(VacuumMode::Full)).unwrap();
    store.heal();
    assert_eq!((done.files.len(), done.failed.len()), (2, 1));
    assert!(done.failed[0].0.ends_with("orphan.parquet"));
    assert!(objects(&location).contains(&"p=a/orphan.parquet".to_owned()));
    let end = info(&location, done.version.unwrap());
    assert_eq!(end.operation.as_deref(), Some("VACUUM END"));
    assert_eq!(end.operation_parameters.unwrap()["status"], "FAILED");
    assert_eq!(end.operation_metrics.unwrap()["numDeletedFiles"], "2");
    let start = info(&location, done.version.unwrap() - 1);
    assert_eq!(start.operation.as_deref(), Some("VACUUM START"));
    assert_eq!(start.operation_metrics.unwrap()["numFilesToDelete"], "3");
    assert_eq!(start.operation_parameters.unwrap()["defaultRetentionMillis"], 604_800_000);
}

#[test]
fn a_retention_below_that_of_the_table_needs_leave() {
    let (_, location) = table();
    let short = VacuumOptions { retention: Some(Duration::from_secs(3600)), ..Default::default() };
    let error = vacuum(&location, &short).unwrap_err();
    assert!(error.to_string().starts_with("retention: 1 h is less than the 168 h"), "{error}");
    assert_eq!(open(&location).version(), 1);
    let (_, own) = place();
    write(
        &own,
        &[("a", 1)],
        &with_properties(&[("delta.deletedFileRetentionDuration", "interval 30 minutes")]),
    )
    .unwrap();
    vacuum(&own, &short).unwrap();
}

#[test]
fn a_vacuum_that_cannot_read_the_log_or_commit_deletes_nothing() {
    let (store, location) = table();
    let before = objects(&location);
    for rule in [
        Rule::new(Fault::Refused).on(Op::Get).named("00000000000000000001.json").nth(2).always(),
        Rule::new(Fault::Refused).on(Op::PutIfAbsent).always(),
        Rule::new(Fault::Refused).on(Op::ListAll),
    ] {
        store.rule(rule);
        let failed = vacuum(&location, &now(VacuumMode::Full));
        store.heal();
        assert!(failed.is_err(), "{failed:?}");
        assert_eq!(objects(&location), before);
    }
}

#[test]
fn a_vacuum_that_is_stopped_at_any_request_has_deleted_only_what_it_may() {
    let mut stopped = 0;
    for nth in 1.. {
        let (store, location) = table();
        let cancel = Cancel::default();
        let (flag, calls) = (cancel.clone(), AtomicU64::new(0));
        let watched = store.directed(move |_, _| {
            if calls.fetch_add(1, Ordering::Relaxed) + 1 == nth {
                flag.cancel();
            }
            None
        });
        let place = Location::with_store(location.root().clone(), Arc::new(watched));
        let done = vacuum(&place.stopped_by(&cancel), &now(VacuumMode::Full));
        assert_eq!(rows(&location), owned(&[("a", 3)]), "{nth}");
        match done {
            Err(error) => {
                assert_eq!(error.kind(), "Interrupted", "{nth}: {error}");
                stopped += 1;
            }
            Ok(done) if done.files.len() == 3 => break,
            Ok(done) => panic!("{nth}: {done:?}"),
        }
    }
    assert!(stopped > 4, "{stopped}");
}
