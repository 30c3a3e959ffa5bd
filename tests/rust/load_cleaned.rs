//! Versions that are open while another writer cleans up the log: what is left of it gives them, or an error says which
//! versions there are.

use std::collections::BTreeSet;
use std::fs;

use deltaic_core::Error;
use deltaic_core::checkpoint::checkpoint;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_testkit::{CheckpointForm, CheckpointSpec, TableBuilder, actions};
use serde_json::json;

use crate::load::{FORMS, expected, files, open};

/// Files of a commit: a checkpoint of them is too large to be read together with its footer, also half of it.
const MANY: u64 = 18_000;
const FEW: u64 = 12;

/// A table with files, a transaction and a domain at version 1, and a commit of one file up to version 4.
fn table(files: u64) -> TableBuilder {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long"), ("p", "string")]), &["p"], &[]);
    let mut noise = 1_u64;
    let mut first: Vec<_> = (0..files)
        .map(|n| {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let add =
                actions::add_in(&format!("f{noise:016x}{:016x}", noise.rotate_left(31) ^ n), &[("p", None)]);
            actions::with_stats(
                add,
                &json!({"numRecords": 1, "minValues": {"id": n}, "maxValues": {"id": n}}),
            )
        })
        .collect();
    first.extend([actions::txn("app", 4), actions::domain("d", "{}", false)]);
    table.commit(&first);
    for n in 2..=4 {
        table.commit(&[actions::add_in(&format!("g{n}"), &[("p", None)])]);
    }
    table
}

/// Deletes what the log has of the versions before this one, as a cleanup does; sidecars that were there `before`, too.
fn clean(table: &TableBuilder, version: u64, before: &BTreeSet<String>) {
    let log = table.root().join("_delta_log");
    for entry in fs::read_dir(&log).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.get(..20).and_then(|v| v.parse::<u64>().ok()).is_some_and(|v| v < version) {
            fs::remove_file(log.join(name)).unwrap();
        }
    }
    for name in before {
        fs::remove_file(log.join("_sidecars").join(name)).unwrap();
    }
}

fn sidecars(table: &TableBuilder) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(table.root().join("_delta_log/_sidecars")) else { return BTreeSet::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn all_of(snapshot: &Snapshot) -> (BTreeSet<String>, usize, Option<i64>) {
    let domains = snapshot.domain_metadata().unwrap().len();
    (files(snapshot).unwrap(), domains, snapshot.app_transaction("app").unwrap().map(|t| t.version))
}

#[test]
fn a_version_that_was_opened_only_is_read_from_the_checkpoint_that_took_the_place_of_its_commits() {
    for form in FORMS {
        let table = table(FEW);
        let expected = expected(&table, 4);
        let [first, second] = [(); 2].map(|()| open(&table, At::Latest).unwrap());
        table.checkpoint(4, &CheckpointSpec::of(form));
        clean(&table, 4, &BTreeSet::new());
        assert_eq!(all_of(&first), (expected.clone(), 1, Some(4)), "{form:?}");
        let newest = second.update().unwrap();
        assert_eq!(all_of(&newest), (expected, 1, Some(4)), "{form:?}");
    }
}

#[test]
fn a_version_whose_checkpoint_is_gone_is_read_from_a_newer_one() {
    for form in [CheckpointForm::Single, CheckpointForm::V2Classic(2), CheckpointForm::V2Json(2)] {
        let mut table = table(MANY);
        table.checkpoint(1, &CheckpointSpec::of(form));
        let held = open(&table, At::Latest).unwrap();
        assert_eq!(files(&held).unwrap(), expected(&table, 4));
        let old = sidecars(&table);
        table.checkpoint(3, &CheckpointSpec::of(form));
        let now = expected(&table, 4);
        table.commit(&[actions::add_in("late", &[("p", None)])]);
        let next = expected(&table, 5);
        let advanced = held.update().unwrap();
        clean(&table, 3, &old);
        for snapshot in [&advanced, &held] {
            let expected = if snapshot.version() == 4 { &now } else { &next };
            let id =
                Predicate::Compare { column: vec!["id".into()], op: CompareOp::Eq, value: Literal::Long(7) };
            let request = FilesRequest { predicate: Some(id), ..FilesRequest::default() };
            let found: usize = snapshot.files(request).unwrap().map(|batch| batch.unwrap().num_files()).sum();
            // those without statistics may have the row
            assert_eq!(found, 1 + expected.len() - MANY as usize, "{form:?}");
            assert_eq!(all_of(snapshot), (expected.clone(), 1, Some(4)), "{form:?}");
            let fallbacks = snapshot.report().fallbacks;
            // other forms are in smaller files, which are read as a whole when they are opened
            let is_large = form == CheckpointForm::Single;
            assert!(!is_large || fallbacks.iter().any(|f| f.contains("does not exist")), "{fallbacks:?}");
        }
        let after = advanced.update().unwrap();
        assert_eq!(files(&after).unwrap(), next, "{form:?}");
    }
}

#[test]
fn domains_transactions_and_a_checkpoint_are_made_of_what_is_left() {
    for question in [
        |snapshot: &Snapshot| snapshot.domain_metadata().unwrap().len(),
        |snapshot: &Snapshot| usize::from(snapshot.app_transaction("app").unwrap().is_some()),
        |snapshot: &Snapshot| snapshot.app_transactions().unwrap().len(),
        |snapshot: &Snapshot| usize::from(checkpoint(snapshot).unwrap().version == 4),
    ] {
        let table = table(MANY);
        let spec = CheckpointSpec { row_group: 2048, ..CheckpointSpec::default() };
        table.checkpoint(1, &spec);
        let held = open(&table, At::Latest).unwrap();
        files(&held).unwrap();
        table.checkpoint(3, &spec);
        clean(&table, 3, &BTreeSet::new());
        assert_eq!(question(&held), 1);
        assert_eq!(files(&open(&table, At::Latest).unwrap()).unwrap(), expected(&table, 4));
    }
}

#[test]
fn a_version_that_nothing_gives_any_more_is_not_found() {
    let table = table(MANY);
    table.checkpoint(1, &CheckpointSpec::default());
    let opened = open(&table, At::Version(2)).unwrap();
    let read = open(&table, At::Version(2)).unwrap();
    files(&read).unwrap();
    table.checkpoint(4, &CheckpointSpec::default());
    clean(&table, 4, &BTreeSet::new());
    for snapshot in [opened, read] {
        let error = files(&snapshot).unwrap_err();
        assert!(
            matches!(error, Error::VersionNotFound { version: 2, earliest: 4, latest: 4, .. }),
            "{error}"
        );
    }
}

#[test]
fn commits_that_are_lost_are_a_gap_also_for_who_has_opened_the_table() {
    let table = table(FEW);
    let opened = open(&table, At::Latest).unwrap();
    table.remove_log_file("00000000000000000002.json");
    let error = files(&opened).unwrap_err();
    assert!(matches!(error, Error::LogGap { version: 2, .. }), "{error}");
}

#[test]
fn a_sidecar_that_is_lost_is_named() {
    let table = table(MANY);
    table.checkpoint(1, &CheckpointSpec::of(CheckpointForm::V2Parquet(2)));
    let [held, again] = [(); 2].map(|()| open(&table, At::Latest).unwrap());
    let lost = sidecars(&table).into_iter().next().unwrap();
    fs::remove_file(table.root().join("_delta_log/_sidecars").join(&lost)).unwrap();
    // the commits say the same
    assert_eq!(files(&held).unwrap(), expected(&table, 4));
    clean(&table, 1, &BTreeSet::new());
    let error = files(&again).unwrap_err();
    assert!(matches!(&error, Error::LogCorrupt { path, .. } if path.ends_with(&lost)), "{error}");
}

/// A process that follows a table holds what was done since a checkpoint, and not all that was done since it began.
#[test]
fn a_version_that_was_followed_for_long_goes_on_from_a_newer_checkpoint() {
    let mut table = table(FEW);
    let mut held = open(&table, At::Latest).unwrap();
    let mut made = Vec::new();
    for n in 5..=1_012_u64 {
        table.commit(&[
            actions::add_in(&format!("h{n}"), &[("p", None)]),
            actions::remove(&format!("h{}", n - 3)),
        ]);
        if n % 100 == 0 {
            held = held.update().unwrap();
            assert_eq!(files(&held).unwrap().len() as u64, FEW + 3 + 3, "{n}");
        }
        if n == 600 || n == 1_010 {
            table.checkpoint(n, &CheckpointSpec::default());
            held = held.update().unwrap();
            files(&held).unwrap();
            made.push(held.report().checkpoint_version);
        }
    }
    // few commits are no reason, and a checkpoint is there
    assert_eq!(made, [None, Some(1_010)]);
    held = held.update().unwrap();
    assert_eq!((held.version(), files(&held).unwrap()), (1_012, expected(&table, 1_012)));
    assert_eq!((held.report().checkpoint_version, held.report().commits), (Some(1_010), 2));
}

#[test]
fn what_is_no_checkpoint_is_tried_once_at_most() {
    let mut table = table(FEW);
    let mut held = open(&table, At::Latest).unwrap();
    let more = |table: &mut TableBuilder, held: &mut Snapshot, count: u64| {
        for n in 0..count {
            table.commit(&[actions::add_in(&format!("m{n}"), &[("p", None)])]);
        }
        *held = held.update().unwrap();
        files(held).unwrap();
        held.report().opened_from
    };
    assert_eq!(more(&mut table, &mut held, 1_000), "previous snapshot");
    // one of two parts
    table.log_file(&format!("{:020}.checkpoint.0000000001.0000000002.parquet", 1_004), b"none");
    assert_eq!(more(&mut table, &mut held, 1), "previous snapshot");
    table.log_file(&format!("{:020}.checkpoint.parquet", 1_005), b"none");
    assert_eq!(more(&mut table, &mut held, 0), "commits");
    assert_eq!(more(&mut table, &mut held, 0), "commits");
    assert_eq!(more(&mut table, &mut held, 1), "previous snapshot");
    assert_eq!(files(&held).unwrap(), expected(&table, 1_006));
}
