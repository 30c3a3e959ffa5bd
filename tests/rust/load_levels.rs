//! What each level of a reading refuses, and what none may refuse: another reader has the right rows of it.

use std::fs;

use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::{At, Snapshot, Verify};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::{Error, Result};
use deltaic_testkit::{TableBuilder, actions};
use serde_json::{Value, json};

/// A table of appends, each with a `commitInfo` and a checksum; `remove` is that of the last but one.
fn table() -> TableBuilder {
    let mut table = TableBuilder::temp();
    let info = |n: u64| json!({"commitInfo": {"operation": "WRITE", "txnId": format!("t{n}")}});
    let schema = actions::schema(&[("id", "long")]);
    table.commit(&[info(0), actions::protocol(1, 2), actions::metadata(&schema, &[], &[])]);
    for n in 1..6 {
        let add = actions::with(actions::add(&format!("f{n}")), "size", json!(100 + n));
        table.commit(&[info(n), add]);
    }
    let remove = actions::with(actions::remove("f2"), "size", json!(102));
    let add = actions::with(actions::add("f6"), "size", json!(90));
    table.commit(&[info(6), remove, add]);
    (0..7).for_each(|version| table.crc(version));
    for n in 0..7_u64 {
        change(&table, &crc(n), |crc| crc["txnId"] = format!("t{n}").into());
    }
    table
}

fn crc(version: u64) -> String {
    format!("{version:020}.crc")
}

fn json_of(version: u64) -> String {
    format!("{version:020}.json")
}

fn text(table: &TableBuilder, name: &str) -> String {
    fs::read_to_string(table.root().join("_delta_log").join(name)).unwrap()
}

fn change(table: &TableBuilder, name: &str, change: impl Fn(&mut Value)) {
    let mut value: Value = serde_json::from_str(&text(table, name)).unwrap();
    change(&mut value);
    table.log_file(name, value.to_string().as_bytes());
}

fn replace(table: &TableBuilder, name: &str, from: &str, to: &str) {
    let whole = text(table, name);
    assert!(whole.contains(from), "{whole}");
    table.log_file(name, whole.replace(from, to).as_bytes());
}

fn open(table: &TableBuilder, level: Verify) -> Result<Snapshot> {
    Snapshot::open_with(Location::open(&table.uri(), &StorageOptions::new())?, At::Latest, level)
}

fn count(snapshot: &Snapshot) -> Result<usize> {
    snapshot.files(FilesRequest::default())?.map(|batch| batch.map(|b| b.num_files())).sum()
}

/// The number of files at a level, and what was ignored.
fn read(table: &TableBuilder, level: Verify) -> Result<(usize, Vec<String>)> {
    let snapshot = open(table, level)?;
    Ok((count(&snapshot)?, snapshot.report().fallbacks))
}

/// Refused from [`Verify::Checked`] on, by this commit; read at [`Verify::Fast`].
fn refused(table: &TableBuilder, version: u64, what: &str, files: usize) {
    assert_eq!(read(table, Verify::Fast).unwrap(), (files, vec![]));
    match read(table, Verify::Checked) {
        Err(Error::LogCorrupt { path, version: Some(found), reason }) => {
            assert!(path.ends_with(&json_of(version)) && found == version, "{path} ({found}): {reason}");
            assert!(reason.contains(what) && reason.contains("fast"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(read(table, Verify::Full), Err(Error::LogCorrupt { .. })));
}

/// Read at [`Verify::Checked`], although the checksum says something else; refused by [`Verify::Full`] alone.
fn ignored(table: &TableBuilder, files: usize) {
    let (found, fallbacks) = read(table, Verify::Checked).unwrap();
    assert_eq!(found, files);
    assert!(fallbacks.len() == 1 && fallbacks[0].contains(".crc"), "{fallbacks:?}");
    assert!(matches!(read(table, Verify::Full), Err(Error::LogCorrupt { .. })));
}

#[test]
fn a_whole_table_is_read_at_every_level() {
    let table = table();
    for level in [Verify::Fast, Verify::Checked] {
        assert_eq!(read(&table, level).unwrap(), (5, vec![]), "{level}");
    }
    // the files are names only
    let error = read(&table, Verify::Full).unwrap_err();
    assert!(error.to_string().contains("MissingFile"), "{error}");
}

#[test]
fn a_commit_that_lost_a_line_is_refused_where_the_checksum_before_it_is_right() {
    for version in [3, 5, 6] {
        let table = table();
        let whole = text(&table, &json_of(version));
        let lines: Vec<&str> = whole.lines().collect();
        table.log_file(&json_of(version), lines[..lines.len() - 1].join("\n").as_bytes());
        refused(&table, version, &format!("the checksum of version {} matches", version - 1), 4);
    }
}

#[test]
fn a_remove_that_removes_nothing_is_refused_although_the_numbers_can_be_explained() {
    let table = table();
    replace(&table, &json_of(6), "\"f2\"", "\"e2\"");
    refused(&table, 6, "the checksum of version 5 matches", 6);
}

#[test]
fn a_commit_in_the_place_of_another_is_refused() {
    let mut table = table();
    // of the same size, so that the sums are those of a file that was counted twice
    let info = json!({"commitInfo": {"operation": "WRITE", "txnId": "t5"}});
    table.commit_at(5, &[info, actions::with(actions::add("f5"), "size", json!(104))]);
    (5..7).for_each(|version| table.crc(version));
    (5..7).for_each(|n| change(&table, &crc(n), |crc| crc["txnId"] = format!("t{n}").into()));
    table.log_file(&json_of(5), text(&table, &json_of(4)).as_bytes());
    refused(&table, 5, "the checksum of version 4 matches", 4);
}

#[test]
fn a_writer_that_counts_in_its_own_way_is_believed_as_little_as_one_that_began_wrongly() {
    let table = table();
    for version in 0..7 {
        change(&table, &crc(version), |crc| {
            crc["tableSizeBytes"] = (crc["tableSizeBytes"].as_i64().unwrap() + 7).into();
            crc.as_object_mut().unwrap().remove("fileSizeHistogram");
        });
    }
    ignored(&table, 5);
}

#[test]
fn a_lone_checksum_that_contradicts_the_log_is_ignored() {
    let table = table();
    for version in 0..6 {
        fs::remove_file(table.root().join("_delta_log").join(crc(version))).unwrap();
    }
    change(&table, &crc(6), |crc| {
        crc["numFiles"] = 10.into();
        crc.as_object_mut().unwrap().remove("fileSizeHistogram");
    });
    ignored(&table, 5);
    // unless it is of another transaction
    change(&table, &crc(6), |crc| crc["txnId"] = "another".into());
    refused(&table, 6, "of another transaction", 5);
}

#[test]
fn a_checksum_that_counted_a_file_twice_is_ignored() {
    let mut table = table();
    // a writer that did not hear of its append makes it again: the rows are there once, and the sums have it twice
    let add = actions::with(actions::add("f7"), "size", json!(70));
    let info = json!({"commitInfo": {"operation": "WRITE", "txnId": "t7"}});
    table.commit(&[info.clone(), add.clone()]);
    table.crc(7);
    table.commit(&[info, add]);
    table.crc(8);
    for n in [7, 8] {
        change(&table, &crc(n), |crc| {
            crc["txnId"] = "t7".into();
            crc.as_object_mut().unwrap().remove("fileSizeHistogram");
        });
    }
    assert_eq!(read(&table, Verify::Checked).unwrap(), (6, vec![]));
    change(&table, &crc(8), |crc| {
        crc["numFiles"] = (crc["numFiles"].as_i64().unwrap() + 1).into();
        crc["tableSizeBytes"] = (crc["tableSizeBytes"].as_i64().unwrap() + 70).into();
    });
    ignored(&table, 6);
}

#[test]
fn a_transaction_that_stands_there_twice_is_refused_where_no_writer_makes_it_twice() {
    let without = |table: &TableBuilder| {
        (0..7).for_each(|n| fs::remove_file(table.root().join("_delta_log").join(crc(n))).unwrap());
    };
    let mut removed = table();
    without(&removed);
    let again = text(&removed, &json_of(6));
    removed.log_file(&json_of(7), again.as_bytes());
    refused(&removed, 7, "version 6", 5);
    // where a snapshot advances, too
    let mut appended = table();
    without(&appended);
    let snapshot = open(&appended, Verify::Checked).unwrap();
    assert_eq!(count(&snapshot).unwrap(), 5);
    appended.log_file(&json_of(7), again.as_bytes());
    let error = count(&snapshot.update().unwrap()).unwrap_err();
    assert!(matches!(error, Error::LogCorrupt { version: Some(7), .. }), "{error}");
    appended.log_file(&json_of(7), text(&appended, &json_of(5)).as_bytes());
    assert_eq!(read(&appended, Verify::Checked).unwrap(), (5, vec![]));
    // where something else has the name, it says nothing
    let other = again.replace("\"txnId\":\"t6\"", "\"more\":{\"txnId\":\"t6\"}");
    assert_ne!(other, again);
    appended.log_file(&json_of(6), other.as_bytes());
    appended.log_file(&json_of(7), other.as_bytes());
    assert_eq!(read(&appended, Verify::Checked).unwrap(), (5, vec![]));
    // and no two commits without an identifier are the same
    for table in [&mut removed, &mut appended] {
        table.log_file(&json_of(6), again.replace("\"t6\"", "null").as_bytes());
        table.log_file(&json_of(7), again.replace("\"t6\"", "null").as_bytes());
        assert_eq!(read(table, Verify::Checked).unwrap(), (5, vec![]));
    }
}

#[test]
fn a_file_that_does_not_say_its_partition_is_refused() {
    for (columns, refused) in [(&["p"][..], true), (&[], false)] {
        let mut table = TableBuilder::temp();
        let schema = actions::schema(&[("id", "long"), ("p", "string")]);
        table.commit(&[actions::protocol(1, 2), actions::metadata(&schema, columns, &[])]);
        let mut add = actions::add("f");
        add["add"].as_object_mut().unwrap().remove("partitionValues");
        table.commit(&[add]);
        assert_eq!(read(&table, Verify::Fast).unwrap().0, 1);
        assert_eq!(read(&table, Verify::Checked).is_err(), refused);
        table.commit(&[actions::remove("f")]);
        assert_eq!(read(&table, Verify::Checked).unwrap().0, 0);
    }
}

#[test]
fn a_level_costs_what_it_says() {
    let table = table();
    let gets = |snapshot: &Snapshot| snapshot.report().gets;
    let opened: Vec<(u64, u64)> = [Verify::Fast, Verify::Checked]
        .into_iter()
        .map(|level| {
            let snapshot = open(&table, level).unwrap();
            let opened = gets(&snapshot);
            count(&snapshot).unwrap();
            (opened, gets(&snapshot))
        })
        .collect();
    assert_eq!(opened[0], opened[1]);
    let known: Vec<Snapshot> =
        [Verify::Fast, Verify::Checked].into_iter().map(|level| open(&table, level).unwrap()).collect();
    known.iter().for_each(|snapshot| assert_eq!(count(snapshot).unwrap(), 5));
    let mut table = table;
    table.commit(&[actions::with(actions::add("f7"), "size", json!(70))]);
    table.crc(7);
    let of = |snapshot: &Snapshot| {
        let newer = snapshot.update().unwrap();
        let updated = gets(&newer);
        let low =
            Predicate::Compare { op: CompareOp::Gt, column: vec!["id".into()], value: Literal::Long(1) };
        let some = FilesRequest { predicate: Some(low), ..FilesRequest::default() };
        newer.files(some).unwrap().for_each(|batch| drop(batch.unwrap()));
        assert_eq!(newer.level(), snapshot.level());
        (updated, gets(&newer))
    };
    let (fast, checked) = (of(&known[0]), of(&known[1]));
    // the checksum comes with the commits
    assert_eq!((checked.0, checked.1), (fast.0, fast.1 + 1));
    // and is what the commits are held against
    change(&table, &crc(7), |crc| crc["numFiles"] = 5.into());
    change(&table, &crc(7), |crc| drop(crc.as_object_mut().unwrap().remove("fileSizeHistogram")));
    assert_eq!(count(&known[0].update().unwrap()).unwrap(), 6);
    let error = count(&known[1].update().unwrap()).unwrap_err();
    assert!(matches!(error, Error::LogCorrupt { version: Some(7), .. }), "{error}");
}

#[test]
fn a_hint_whose_checksum_is_wrong_says_nothing_of_the_files() {
    let table = table();
    table.checkpoint(5, &deltaic_testkit::CheckpointSpec::default());
    let said = json!({"version": 5, "size": 7, "numOfAddFiles": 3, "checksum": "0"});
    table.log_file("_last_checkpoint", said.to_string().as_bytes());
    let snapshot = open(&table, Verify::Checked).unwrap();
    assert_eq!((count(&snapshot).unwrap(), snapshot.report().checkpoint_version), (5, Some(5)));
    assert_eq!(snapshot.report().fallbacks, Vec::<String>::new());
}

#[test]
fn levels_have_names() {
    for level in [Verify::Fast, Verify::Checked, Verify::Full] {
        assert_eq!(level.to_string().parse::<Verify>().unwrap(), level);
    }
    let error = "some".parse::<Verify>().unwrap_err();
    assert_eq!(error.to_string(), "verify: `some` is none of `fast`, `checked` and `full`");
}
