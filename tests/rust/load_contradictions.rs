//! What a log says twice: a listing, a protocol and a metadata that contradict a checksum or the hint are no answer.

use std::fs;

use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::At;
use deltaic_core::{Error, Result};
use deltaic_testkit::{CheckpointSpec, TableBuilder, actions};
use serde_json::{Value, json};

use crate::load::{FORMS, expected, files, open, table};

/// Changes the JSON of a file of the log.
fn change(table: &TableBuilder, name: &str, change: impl Fn(&mut Value)) {
    let text = fs::read(table.root().join("_delta_log").join(name)).unwrap();
    let mut value: Value = serde_json::from_slice(&text).unwrap();
    change(&mut value);
    table.log_file(name, value.to_string().as_bytes());
}

/// What is damaged, and how.
type Change<'a> = (&'a str, &'a dyn Fn(&mut Value));

const CRC: &str = "00000000000000000009.crc";

fn refused(found: Result<impl std::fmt::Debug>, what: &str) {
    match found {
        Err(Error::LogCorrupt { version: Some(9), path, reason }) => {
            assert!(path.ends_with(CRC) && reason.contains(what), "{path}: {reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_checksum_with_other_totals_than_the_commits_is_ignored() {
    for field in ["numFiles", "tableSizeBytes", "numDeletionVectorsOpt", "numDeletedRecordsOpt"] {
        for form in [FORMS[0], FORMS[3]] {
            let table = table();
            table.checkpoint(7, &CheckpointSpec::of(form));
            table.crc(9);
            let sums = |crc: &mut Value| {
                (crc["numDeletionVectorsOpt"], crc["numDeletedRecordsOpt"]) = (json!(1), json!(3));
            };
            change(&table, CRC, sums);
            let right = open(&table, At::Latest).unwrap();
            assert_eq!((files(&right).unwrap(), right.report().fallbacks), (expected(&table, 9), vec![]));
            change(&table, CRC, |crc| crc[field] = (crc[field].as_i64().unwrap() + 1).into());
            let snapshot = open(&table, At::Latest).unwrap();
            assert_eq!(files(&snapshot).unwrap(), expected(&table, 9));
            let fallbacks = snapshot.report().fallbacks;
            assert!(
                fallbacks[0].contains("09.crc") && fallbacks[0].contains("has 15 files"),
                "{fallbacks:?}"
            );
        }
    }
}

#[test]
fn a_checkpoint_that_gives_other_files_than_the_commits_is_an_error_where_the_checksum_tells() {
    let table = table();
    table.checkpoint(5, &CheckpointSpec::default());
    table.checkpoint(7, &CheckpointSpec::default());
    table.crc(9);
    let [of, place] = ["00000000000000000005.checkpoint.parquet", "00000000000000000007.checkpoint.parquet"]
        .map(|name| table.root().join("_delta_log").join(name));
    fs::copy(of, &place).unwrap();
    let snapshot = open(&table, At::Latest).unwrap();
    let error = files(&snapshot).unwrap_err();
    match &error {
        Error::LogCorrupt { path, reason, .. } => {
            assert!(
                path.ends_with("07.checkpoint.parquet") && reason.contains("without it 15 files"),
                "{error}"
            );
        }
        _ => panic!("{error}"),
    }
    // a listing of some files cannot tell
    let column = vec!["id".to_owned()];
    let some = Predicate::Compare { op: CompareOp::Gt, column, value: Literal::Long(100) };
    let request = FilesRequest { predicate: Some(some), ..FilesRequest::default() };
    assert!(snapshot.files(request).unwrap().all(|batch| batch.is_ok()));
    // what the error says to do
    fs::remove_file(place).unwrap();
    assert_eq!(files(&open(&table, At::Latest).unwrap()).unwrap(), expected(&table, 9));
}

#[test]
fn a_checksum_that_contradicts_itself_says_nothing() {
    let table = table();
    table.crc(9);
    change(&table, CRC, |crc| {
        let (files, bytes) = (crc["numFiles"].clone(), crc["tableSizeBytes"].clone());
        crc["fileSizeHistogram"] =
            json!({"sortedBinBoundaries": [0], "fileCounts": [files], "totalBytes": [bytes]});
    });
    assert_eq!(files(&open(&table, At::Latest).unwrap()).unwrap(), expected(&table, 9));
    change(&table, CRC, |crc| crc["numFiles"] = 1.into());
    assert_eq!(files(&open(&table, At::Latest).unwrap()).unwrap(), expected(&table, 9));
}

#[test]
fn a_table_that_the_checksum_tells_otherwise_than_the_log_is_an_error() {
    let schema = |crc: &mut Value| {
        let text = crc["metadata"]["schemaString"].as_str().unwrap().replace("long", "string");
        crc["metadata"]["schemaString"] = text.into();
    };
    let changes: [Change<'_>; 4] = [
        ("metaData", &schema),
        ("metaData", &|crc| crc["metadata"]["configuration"]["delta.appendOnly"] = "true".into()),
        ("metaData", &|crc| crc["metadata"]["id"] = "another".into()),
        ("protocol", &|crc| crc["protocol"]["minWriterVersion"] = 3.into()),
    ];
    for (what, damage) in changes {
        for form in [None, Some(FORMS[0]), Some(FORMS[5])] {
            let mut table = table();
            if let Some(form) = form {
                table.checkpoint(6, &CheckpointSpec::of(form));
            }
            table.crc(9);
            change(&table, CRC, damage);
            // opening reads the checksum alone; files are asked of the log
            let snapshot = open(&table, At::Latest).unwrap();
            refused(files(&snapshot), what);
            refused(snapshot.app_transactions(), what);
            table.commit(&[actions::add_in("later", &[("p", None)])]);
            let updated = snapshot.update().unwrap();
            let error = files(&updated).unwrap_err();
            assert!(matches!(&error, Error::LogCorrupt { path, .. } if path.ends_with(CRC)), "{error}");
        }
    }
}

#[test]
fn what_the_checksum_or_the_log_leaves_out_is_no_difference() {
    let table = table();
    table.crc(9);
    change(&table, CRC, |crc| {
        for field in ["name", "description", "createdTime"] {
            crc["metadata"].as_object_mut().unwrap().remove(field);
        }
        let text: Value = serde_json::from_str(crc["metadata"]["schemaString"].as_str().unwrap()).unwrap();
        crc["metadata"]["schemaString"] = serde_json::to_string_pretty(&text).unwrap().into();
    });
    assert_eq!(files(&open(&table, At::Latest).unwrap()).unwrap(), expected(&table, 9));
}

#[test]
fn a_checkpoint_with_other_files_than_the_hint_says_is_ignored() {
    for form in FORMS {
        for checksum in [false, true] {
            let table = table();
            table.checkpoint(4, &CheckpointSpec::default());
            table.checkpoint(7, &CheckpointSpec { hint: true, ..CheckpointSpec::of(form) });
            if checksum {
                table.crc(9);
            }
            change(&table, "_last_checkpoint", |hint| hint["numOfAddFiles"] = 14.into());
            let right = open(&table, At::Latest).unwrap();
            assert_eq!((files(&right).unwrap(), right.report().fallbacks), (expected(&table, 9), vec![]));
            change(&table, "_last_checkpoint", |hint| hint["numOfAddFiles"] = 13.into());
            let snapshot = open(&table, At::Latest).unwrap();
            assert_eq!(files(&snapshot).unwrap(), expected(&table, 9), "{form:?}");
            let report = snapshot.report();
            assert!(report.fallbacks[0].contains("_last_checkpoint"), "{:?}", report.fallbacks);
            assert_eq!(report.checkpoint_version, Some(4));
        }
    }
}
