//! The log.

use deltaic_core::Error;
use deltaic_core::checkpoint::{checkpoint, cleanup_at, compact};
use deltaic_core::log::commit_name;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::verify::{FindingKind as Kind, VerifyOptions, verify};
use deltaic_testkit::{CheckpointForm, CheckpointSpec, TableBuilder, actions};
use serde_json::{Value, json};

use super::{
    FORMS, PROPERTIES, add, checked, create, fill, found, info, mark, only, path, remove, schema, whole,
};

/// Makes a log file again from its text.
fn edit(table: &TableBuilder, name: &str, change: impl Fn(String) -> String) {
    let text = std::fs::read_to_string(table.root().join("_delta_log").join(name)).unwrap();
    let changed = change(text.clone());
    assert_ne!(changed, text, "{name} is not changed");
    table.log_file(name, changed.as_bytes());
}

fn names(table: &TableBuilder, part: &str) -> Vec<String> {
    let mut out = Vec::new();
    for folder in ["_delta_log", "_delta_log/_sidecars"] {
        for entry in std::fs::read_dir(table.root().join(folder)).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let name = format!("{folder}/{name}").replace("_delta_log/", "");
            if name.contains(part) {
                out.push(name);
            }
        }
    }
    out.sort();
    out
}

fn crc(version: u64) -> String {
    format!("{version:020}.crc")
}

const COMPACTED: &str = "00000000000000000004.00000000000000000006.compacted.json";

#[test]
fn a_whole_table_has_no_finding() {
    for form in FORMS {
        let table = whole(form);
        let report = checked(&table);
        assert!(report.ok(), "{form:?}: {:#?}", report.findings);
        assert_eq!((report.version, report.first_version, report.commits), (6, 0, 7));
        assert_eq!(
            (report.checkpoints, report.compacted_files, report.checksums, report.files),
            (1, 1, 2, 4)
        );
        // from the checkpoint on
        for version in 0..3 {
            table.remove_log_file(&commit_name(version));
        }
        let report = checked(&table);
        assert!(report.ok(), "{form:?}: {:#?}", report.findings);
        assert_eq!((report.first_version, report.commits, report.checksums), (3, 4, 2));
    }
}

/// As where one engine made the table, and another wrote checkpoints and checksums.
#[test]
fn features_are_listed_in_any_order() {
    for form in FORMS {
        let table = whole(form);
        edit(&table, &commit_name(0), |text| {
            let reversed = |line: &str| {
                let mut action: Value = serde_json::from_str(line).unwrap();
                for features in ["readerFeatures", "writerFeatures"] {
                    if let Some(Value::Array(features)) = action["protocol"].get_mut(features) {
                        features.reverse();
                    }
                }
                action.to_string() + "\n"
            };
            text.lines().map(reversed).collect()
        });
        let report = checked(&table);
        assert!(report.ok(), "{form:?}: {:#?}", report.findings);
        assert_eq!((report.checkpoints, report.checksums), (1, 2));
    }
}

#[test]
fn what_is_no_table_is_an_error() {
    let empty = TableBuilder::temp();
    let location = Location::open(&empty.uri(), &StorageOptions::new()).unwrap();
    let error = verify(&location, &VerifyOptions::default()).unwrap_err();
    assert!(matches!(error, Error::TableNotFound { .. }), "{error}");
    let table = whole(CheckpointForm::Single);
    let location = Location::open(&table.uri(), &StorageOptions::new()).unwrap();
    let error = verify(&location, &VerifyOptions { version: Some(9), ..Default::default() }).unwrap_err();
    assert!(matches!(error, Error::VersionNotFound { .. }), "{error}");
    let report = verify(&location, &VerifyOptions { version: Some(4), ..Default::default() }).unwrap();
    assert!(report.ok() && report.version == 4 && report.commits == 5, "{report:?}");
}

#[test]
fn who_wants_an_error_gets_the_first_finding() {
    let table = create_filled();
    checked(&table).check().unwrap();
    table.log_file(&commit_name(1), b"{");
    let report = checked(&table);
    let Err(Error::LogCorrupt { path, version, reason }) = report.check() else { panic!("{report:?}") };
    assert_eq!((path, version), (report.findings[0].path.clone(), Some(1)));
    assert!(reason.starts_with("UnreadableCommit: expected "), "{reason}");
}

#[test]
fn a_missing_commit_is_found_also_where_a_checkpoint_hides_it() {
    let table = whole(CheckpointForm::Single);
    table.remove_log_file(&commit_name(2));
    let finding = only(&table, Kind::MissingCommit);
    assert_eq!(finding.version, Some(2));
    assert!(finding.path.ends_with("00000000000000000002.json"));
    // nothing after it can be read without the checkpoint
    let table = create_filled();
    table.remove_log_file(&commit_name(2));
    assert_eq!(only(&table, Kind::MissingCommit).version, Some(2));
}

fn create_filled() -> TableBuilder {
    let mut table = create();
    fill(&mut table);
    table
}

#[test]
fn a_lost_head_is_found_by_what_was_written_of_it() {
    let table = create_filled();
    table.crc(6);
    table.remove_log_file(&commit_name(6));
    let finding = only(&table, Kind::MissingCommit);
    assert_eq!(finding.version, Some(6));
    assert!(finding.expected.contains("know version 6"), "{finding}");
    let table = create_filled();
    table.compact(4, 6);
    table.remove_log_file(&commit_name(6));
    assert_eq!(only(&table, Kind::MissingCommit).version, Some(6));
}

#[test]
fn a_torn_commit_is_found_and_what_follows_is_compared_from_the_next_checkpoint_on() {
    let table = whole(CheckpointForm::Single);
    for version in [1, 3] {
        let table = whole(CheckpointForm::Single);
        edit(&table, &commit_name(version), |text| text[..text.len() / 2].to_owned());
        let finding = only(&table, Kind::UnreadableCommit);
        assert_eq!(finding.version, Some(version));
        let report = checked(&table);
        // those of version 3 and of version 6
        assert_eq!((report.checkpoints, report.checksums), (1, 2), "{version}");
    }
    edit(&table, &commit_name(5), |_| String::new());
    let finding = only(&table, Kind::UnreadableCommit);
    assert!(finding.found.contains("0 bytes"), "{finding}");
    // one from before the oldest checkpoint
    let table = whole(CheckpointForm::Single);
    table.remove_log_file(&commit_name(0));
    edit(&table, &commit_name(1), |_| "{".to_owned());
    assert_eq!(only(&table, Kind::UnreadableCommit).version, Some(1));
}

#[test]
fn actions_that_contradict_one_another_are_found() {
    let mut table = create_filled();
    let twice = add(&table, 7);
    table.commit(&[info(7), twice.clone(), twice, mark(100), actions::txn("a", 1), actions::txn("a", 2)]);
    let finding = only(&table, Kind::ContradictoryCommit);
    assert_eq!((finding.version, finding.expected.as_str()), (Some(7), "one `add p=1/f7.parquet`"));
    assert_eq!(found(&table)[1].expected, "one `txn a`");
}

#[test]
fn a_first_version_without_protocol_is_found() {
    let mut table = TableBuilder::temp();
    table.commit(&[actions::metadata(&actions::schema(&[("a", "long")]), &[], &[])]);
    assert!(only(&table, Kind::MissingAction).expected.contains("protocol"));
}

#[test]
fn a_schema_that_nobody_can_read_makes_the_table_unreadable() {
    let mut table = TableBuilder::temp();
    table.commit(&[actions::protocol(1, 2), actions::metadata(&json!({"type": "strange"}), &[], &[])]);
    only(&table, Kind::UnreadableTable);
}

#[test]
fn a_damaged_checkpoint_is_found_in_each_of_its_files() {
    for form in FORMS {
        let broken = names(&whole(form), ".checkpoint.").len();
        for at in 0..broken {
            let table = whole(form);
            let name = &names(&table, ".checkpoint.")[at];
            let file = table.root().join("_delta_log").join(name);
            let mut bytes = std::fs::read(&file).unwrap();
            bytes.truncate(bytes.len() / 2);
            std::fs::write(&file, bytes).unwrap();
            assert_eq!(only(&table, Kind::UnreadableCheckpoint).version, Some(3), "{form:?} {name}");
        }
    }
    let table = whole(CheckpointForm::V2Json(2));
    table.remove_log_file(&names(&table, "_sidecars/")[0]);
    only(&table, Kind::UnreadableCheckpoint);
}

/// A table whose checkpoint of version 6 was made of other commits.
fn with_checkpoint_of(
    form: CheckpointForm,
    changes: impl Fn(&TableBuilder, &mut Vec<Value>),
) -> TableBuilder {
    let mut table = create_filled();
    let mut last = vec![info(6), remove(1), actions::domain("d", "{}", false)];
    changes(&table, &mut last);
    let right = std::fs::read(table.root().join("_delta_log").join(commit_name(6))).unwrap();
    table.commit_at(6, &last);
    table.checkpoint(6, &CheckpointSpec::of(form));
    table.log_file(&commit_name(6), &right);
    table
}

type LastCommit<'a> = &'a dyn Fn(&TableBuilder, &mut Vec<Value>);

#[test]
fn a_checkpoint_that_says_something_else_is_found() {
    for form in FORMS {
        let same = with_checkpoint_of(form, |_, _| {});
        assert_eq!(found(&same), [], "{form:?}");
        let cases: [(&str, LastCommit<'_>); 10] = [
            ("no commit adds it", &|t, l| l.push(add(t, 9))),
            ("1 are missing: `p=1/f3.parquet`", &|_, l| l.push(remove(3))),
            ("p=1/f1.parquet", &|_, l| {
                l.remove(1);
            }),
            ("modificationTime: 1", &|t, l| l.push(actions::with(add(t, 2), "modificationTime", 1))),
            ("stats", &|t, l| {
                let stats = json!({"numRecords": 10, "minValues": {"id": 25}});
                l.push(actions::with_stats(add(t, 2), &stats));
            }),
            ("version: 3", &|_, l| l.push(actions::txn("app", 3))),
            ("lastUpdated: 7", &|_, l| l.push(actions::with(actions::txn("app", 4), "lastUpdated", 7))),
            ("no transaction identifier of `other`", &|_, l| l.push(actions::txn("other", 3))),
            ("`d` with configuration", &|_, l| l.push(actions::domain("d", "{\"x\":1}", false))),
            ("`metaData` with configuration", &|_, l| {
                l.push(actions::metadata(&schema(), &["p"], &PROPERTIES[..1]));
            }),
        ];
        for (words, change) in cases {
            let table = with_checkpoint_of(form, change);
            only(&table, Kind::CheckpointDiffers);
            let all: Vec<String> = found(&table).iter().map(ToString::to_string).collect();
            assert!(all.iter().any(|f| f.contains(words)), "{form:?} {words}: {all:#?}");
        }
    }
}

#[test]
fn a_checkpoint_without_its_tombstones_is_found() {
    for form in [CheckpointForm::Single, CheckpointForm::V2Parquet(2)] {
        let table = create_filled();
        table.checkpoint(6, &CheckpointSpec { tombstones: false, ..CheckpointSpec::of(form) });
        let finding = only(&table, Kind::CheckpointDiffers);
        assert!(finding.found.contains("p=1/f1.parquet"), "{finding}");
    }
}

#[test]
fn a_checkpoint_of_any_form_with_a_tombstone_is_whole() {
    // without sidecars, a checkpoint in JSON has its tombstones in its lines
    for form in FORMS.into_iter().chain([CheckpointForm::V2Json(0)]) {
        let table = create_filled();
        table.checkpoint(6, &CheckpointSpec::of(form));
        assert_eq!(found(&table), [], "{form:?}");
    }
}

#[test]
fn a_damaged_or_wrong_compacted_file_is_found() {
    let table = whole(CheckpointForm::Single);
    edit(&table, COMPACTED, |text| text[..text.len() - 20].to_owned());
    only(&table, Kind::UnreadableCompactedFile);
    type Change = fn(String) -> String;
    let cases: [(&str, Change); 4] = [
        ("p=1/f3.parquet", |t| t.replace("\"modificationTime\":", "\"modificationTime\":1")),
        ("1 of them are missing", |t| {
            t.lines().filter(|l| !l.contains("\"remove\"")).map(|l| format!("{l}\n")).collect()
        }),
        ("txn", |t| t.replace("\"version\":4", "\"version\":5")),
        ("domainMetadata", |t| t.replace("\"domain\":\"d\"", "\"domain\":\"e\"")),
    ];
    for (words, change) in cases {
        let table = whole(CheckpointForm::Single);
        edit(&table, COMPACTED, change);
        only(&table, Kind::CompactedFileDiffers);
        assert!(found(&table).iter().any(|f| f.to_string().contains(words)), "{words}: {:#?}", found(&table));
    }
}

#[test]
fn a_damaged_or_wrong_checksum_is_found() {
    let table = whole(CheckpointForm::Single);
    edit(&table, &crc(6), |text| text[..text.len() - 2].to_owned());
    only(&table, Kind::UnreadableChecksum);
    type Change = fn(String) -> String;
    let cases: [(&str, Change); 6] = [
        ("numFiles: 4", |t| t.replace("\"numFiles\":4", "\"numFiles\":5")),
        ("tableSizeBytes", |t| t.replace("\"tableSizeBytes\":", "\"tableSizeBytes\":1")),
        ("setTransactions", |t| t.replace("\"version\":4", "\"version\":5")),
        ("domainMetadata", |t| t.replace("\"domain\":\"d\"", "\"domain\":\"e\"")),
        ("protocol", |t| t.replacen("\"v2Checkpoint\",", "", 1)),
        ("metadata", |t| t.replace("5fba94ed", "6fba94ed")),
    ];
    for (words, change) in cases {
        let table = whole(CheckpointForm::Single);
        edit(&table, &crc(6), change);
        let finding = only(&table, Kind::ChecksumDiffers);
        assert!(finding.to_string().contains(words), "{finding}");
    }
}

#[test]
fn the_lists_of_a_checksum_are_compared_too() {
    let with = |name: &str, value: &Value| {
        let table = whole(CheckpointForm::Single);
        edit(&table, &crc(6), |text| {
            let mut crc: Value = serde_json::from_str(&text).unwrap();
            crc[name] = value.clone();
            crc.to_string()
        });
        table
    };
    let table = whole(CheckpointForm::Single);
    let live: Vec<Value> = table.state(6).iter().filter_map(|a| a.get("add").cloned()).collect();
    assert_eq!(found(&with("allFiles", &json!(live))), []);
    let finding = only(&with("allFiles", &json!(live[1..])), Kind::ChecksumDiffers);
    assert!(finding.expected.contains("allFiles: 4"), "{finding}");
    let mut other = live.clone();
    other[0]["size"] = json!(1);
    let finding = only(&with("allFiles", &json!(other)), Kind::ChecksumDiffers);
    assert!(finding.found.contains("size: 1"), "{finding}");
    let bytes: i64 = live.iter().filter_map(|f| f["size"].as_i64()).sum();
    let histogram = |files: i64| json!({"sortedBinBoundaries": [0, 100], "fileCounts": [0, files], "totalBytes": [0, bytes]});
    assert_eq!(found(&with("fileSizeHistogram", &histogram(4))), []);
    only(&with("fileSizeHistogram", &histogram(3)), Kind::ChecksumDiffers);
}

#[test]
fn a_damaged_or_wrong_hint_is_found() {
    let table = whole(CheckpointForm::Single);
    edit(&table, "_last_checkpoint", |_| "{".to_owned());
    only(&table, Kind::UnreadableHint);
    for (form, hint) in [
        (CheckpointForm::Single, json!({"version": 5})),
        (CheckpointForm::Single, json!({"version": 9})),
        (CheckpointForm::Single, json!({"version": 3, "numOfAddFiles": 7})),
        (CheckpointForm::Single, json!({"version": 3, "checksum": "0"})),
        (CheckpointForm::MultiPart(2), json!({"version": 3, "parts": 3})),
        (CheckpointForm::V2Parquet(2), json!({"version": 3, "v2Checkpoint": {"path": "other"}})),
    ] {
        let table = whole(form);
        table.log_file("_last_checkpoint", hint.to_string().as_bytes());
        only(&table, Kind::HintDiffers);
    }
}

#[test]
fn a_transaction_that_is_committed_twice_is_found() {
    let mut table = create_filled();
    for version in [7, 8] {
        table.commit(&[actions::with(info(version), "txnId", "one"), mark(49)]);
    }
    let finding = only(&table, Kind::ContradictoryCommit);
    assert!(finding.version == Some(8) && finding.found.contains("version 7"), "{finding}");
}

#[test]
fn statistics_that_a_checkpoint_of_ours_has_otherwise_are_found() {
    let table = create_filled();
    let location = Location::open(&table.uri(), &StorageOptions::new()).unwrap();
    checkpoint(&Snapshot::open(location, At::Latest).unwrap()).unwrap();
    assert_eq!(found(&table), []);
    edit(&table, "00000000000000000003.json", |text| text.replace("\\\"id\\\":29", "\\\"id\\\":28"));
    assert!(only(&table, Kind::CheckpointDiffers).to_string().contains("28"));
}

#[test]
fn in_commit_timestamps_must_be_there_and_grow() {
    let mut table = create_filled();
    table.commit(&[info(6), mark(49)]);
    let finding = only(&table, Kind::TimestampNotMonotonic);
    assert_eq!(finding.version, Some(7));
    let mut table = create_filled();
    table.commit(&[actions::commit_info(1, "WRITE"), mark(49)]);
    only(&table, Kind::MissingTimestamp);
    let mut table = create_filled();
    table.commit(&[mark(49), info(7)]);
    assert!(only(&table, Kind::MissingTimestamp).expected.contains("first action"));
}

#[test]
fn row_ids_must_be_there_once_and_below_the_mark() {
    let without = |field: &str| {
        let mut table = create_filled();
        let mut add = add(&table, 6);
        add["add"].as_object_mut().unwrap().remove(field);
        table.commit(&[info(7), add, mark(100)]);
        table
    };
    for field in ["baseRowId", "defaultRowCommitVersion"] {
        assert_eq!(only(&without(field), Kind::MissingRowIds).path, format!("`{}`", path(6)));
    }
    let mut table = create_filled();
    let same = actions::with(add(&table, 6), "baseRowId", 45);
    table.commit(&[info(7), same, mark(100)]);
    assert!(only(&table, Kind::OverlappingRowIds).expected.contains(&path(4)));
    let mut table = create_filled();
    table.commit(&[info(7), add(&table, 6)]);
    assert_eq!(only(&table, Kind::RowIdsAboveMark).found, "60 to 69");
}

#[test]
fn features_that_are_used_must_be_there() {
    let of = |protocol: Value, schema: &Value, properties: &[(&str, &str)], more: &[Value]| {
        let mut table = TableBuilder::temp();
        let mut all = vec![protocol, actions::metadata(schema, &[], properties)];
        all.extend_from_slice(more);
        table.commit(&all);
        only(&table, Kind::MissingFeature).expected
    };
    let plain = actions::schema(&[("a", "long")]);
    let old = || actions::protocol(1, 2);
    let words = of(old(), &plain, &[("delta.enableDeletionVectors", "true")], &[]);
    assert!(words.contains("`deletionVectors`"), "{words}");
    let words = of(old(), &actions::schema(&[("a", "timestamp_ntz")]), &[], &[]);
    assert!(words.contains("`timestampNtz`") && words.contains("column `a`"), "{words}");
    let words = of(old(), &plain, &[], &[actions::domain("delta.clustering", "{}", false)]);
    assert!(words.contains("`clustering`"), "{words}");
    let mut table = TableBuilder::temp();
    table.commit(&[old(), actions::metadata(&plain, &[], &[])]);
    table.checkpoint(0, &CheckpointSpec::of(CheckpointForm::V2Json(0)));
    assert!(only(&table, Kind::MissingFeature).expected.contains("v2Checkpoint"));
}

#[test]
fn what_our_own_maintenance_leaves_is_whole() {
    let mut table = create_filled();
    let location = Location::open(&table.uri(), &StorageOptions::new()).unwrap();
    compact(&location, 1, 4).unwrap();
    checkpoint(&Snapshot::open(location.clone(), At::Latest).unwrap()).unwrap();
    table.commit(&[info(7), add(&table, 6), mark(69)]);
    let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
    checkpoint(&snapshot).unwrap();
    assert_eq!(found(&table), []);
    cleanup_at(&snapshot, i64::MAX, false).unwrap();
    let report = checked(&table);
    assert!(report.ok() && report.first_version > 0, "{report:#?}");
}
