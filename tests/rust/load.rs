//! Opening and replaying a log: every form of it gives the same state, and what is corrupt is ignored and reported, or an error names it.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use deltaic_core::actions::Add;
use deltaic_core::conflict::winners_from;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::{At, Snapshot, Verify};
use deltaic_core::store::{LocalStore, Location, StorageOptions};
use deltaic_core::{Error, Result};
use deltaic_testkit::{CheckpointForm, CheckpointSpec, Fault, FaultStore, Op, Rule, TableBuilder, actions};
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) const FORMS: [CheckpointForm; 8] = [
    CheckpointForm::Single,
    CheckpointForm::MultiPart(3),
    CheckpointForm::V2Parquet(0),
    CheckpointForm::V2Parquet(3),
    CheckpointForm::V2Json(0),
    CheckpointForm::V2Json(2),
    CheckpointForm::V2Classic(0),
    CheckpointForm::V2Classic(2),
];

pub(crate) fn open(table: &TableBuilder, at: At) -> Result<Snapshot> {
    Snapshot::open(Location::open(&table.uri(), &StorageOptions::new())?, at)
}

/// An `add` as text. `dataChange` belongs to its commit: checkpoints set it to false.
pub(crate) fn text(mut add: Add) -> String {
    add.data_change = true;
    serde_json::to_string(&add).unwrap()
}

/// Every live file.
pub(crate) fn files(snapshot: &Snapshot) -> Result<BTreeSet<String>> {
    let request = FilesRequest { stats: true, extended: true, ..FilesRequest::default() };
    let mut out = BTreeSet::new();
    for batch in snapshot.files(request)? {
        for add in batch?.adds() {
            let add = text(add?);
            assert!(out.insert(add.clone()), "a file is listed twice: {add}");
        }
    }
    Ok(out)
}

/// The same from the oracle.
pub(crate) fn expected(table: &TableBuilder, version: u64) -> BTreeSet<String> {
    let adds = table.state(version).into_iter().filter_map(|a| a.get("add").cloned());
    adds.map(|a| text(serde_json::from_value(a).unwrap())).collect()
}

pub(crate) fn vector(n: i64) -> Value {
    json!({"storageType": "u", "pathOrInlineDv": "vBn[lx{q8@P<9BNH/isA", "offset": n, "sizeInBytes": 40, "cardinality": n})
}

/// Ten commits with adds, removes, a re-added path, a deletion vector, a transaction and a domain.
pub(crate) fn table() -> TableBuilder {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long"), ("p", "string")]), &["p"], &[]);
    for i in 0..8_i64 {
        let add = actions::add_in(&format!("p=x%20{i}/f%2525{i}.parquet"), &[("p", Some(&format!("x {i}")))]);
        let stats = json!({"numRecords": i, "minValues": {"id": i}, "maxValues": {"id": i + 9}, "nullCount": {"id": 0}});
        table.commit(&[actions::with_stats(add, &stats), actions::add_in(&format!("g{i}"), &[("p", None)])]);
    }
    table.commit(&[
        actions::remove("g1"),
        actions::remove("g2"),
        actions::with(actions::add_in("g2", &[("p", None)]), "deletionVector", vector(3)),
        actions::txn("app", 4),
        actions::domain("d", "{}", false),
    ]);
    table
}

#[test]
fn t21_every_form_of_a_checkpoint_gives_the_state_of_the_commits() {
    for version in [4, 9] {
        for form in FORMS {
            for (struct_stats, row_group) in [(false, 1024), (true, 3)] {
                let table = table();
                let spec = CheckpointSpec {
                    struct_partitions: struct_stats,
                    row_group,
                    struct_stats,
                    ..CheckpointSpec::of(form)
                };
                table.checkpoint(version, &spec);
                let snapshot = open(&table, At::Latest).unwrap();
                assert_eq!(files(&snapshot).unwrap(), expected(&table, 9), "{form:?} at {version}");
                let report = snapshot.report();
                assert_eq!(
                    (report.checkpoint_version, report.commits),
                    (Some(version), 9 - version),
                    "{form:?}"
                );
                assert_eq!(report.fallbacks, Vec::<String>::new(), "{form:?}");
                assert_eq!(snapshot.app_transaction("app").unwrap().map(|t| t.version), Some(4));
                assert_eq!(snapshot.domain_metadata().unwrap().len(), 1);
            }
        }
    }
}

#[test]
fn every_version_is_what_the_commits_up_to_it_say() {
    let table = table();
    table.checkpoint(5, &CheckpointSpec::default());
    table.compact(6, 8);
    for version in 0..=9 {
        let snapshot = open(&table, At::Version(version)).unwrap();
        assert_eq!(files(&snapshot).unwrap(), expected(&table, version), "version {version}");
    }
    assert_eq!(open(&table, At::Latest).unwrap().report().checkpoint_version, Some(5));
}

/// Commits are read in batches of 65,536 actions.
#[test]
fn t22_no_file_of_a_commit_that_fills_its_batches_is_lost() {
    for count in [65_535, 65_536, 65_537, 131_073] {
        let mut table = TableBuilder::temp();
        table.create(&actions::schema(&[("id", "long")]), &[], &[]);
        let name = |n: usize| format!("f{n}");
        table.commit(&(0..count).map(|n| actions::add(&name(n))).collect::<Vec<_>>());
        table.commit(&[actions::remove(&name(0)), actions::remove(&name(count - 1))]);
        for (version, left) in [(1, 0..count), (2, 1..count - 1)] {
            let found = files(&open(&table, At::Version(version)).unwrap()).unwrap();
            assert_eq!(found.len(), left.len(), "version {version} of {count}");
        }
    }
}

#[test]
fn opening_reads_no_file_action() {
    let table = table();
    table.checkpoint(9, &CheckpointSpec::default());
    table.crc(9);
    let store = FaultStore::new(Arc::new(LocalStore::default()));
    let location = Location::with_store(table.location(), Arc::new(store.clone()));
    let snapshot = Snapshot::open(location, At::Latest).unwrap();
    assert_eq!(snapshot.report().opened_from, "checksum");
    assert_eq!(store.count(Op::ListFrom, ""), 1, "one listing");
    assert_eq!(store.count(Op::Get, ""), 2, "the hint and the checksum");
    assert_eq!(store.count(Op::GetRange, ""), 0, "nothing of the checkpoint");
}

#[test]
fn t14_a_corrupt_checkpoint_is_ignored_and_reported() {
    for form in FORMS {
        for cut in [0, 1, 2] {
            let mut table = table();
            table.checkpoint(3, &CheckpointSpec::default());
            table.checkpoint(8, &CheckpointSpec::of(form));
            table.commit(&[actions::add_in("late", &[("p", None)])]);
            let log = table.root().join("_delta_log");
            let sidecars = fs::read_dir(log.join("_sidecars")).into_iter().flatten();
            let mut broken =
                fs::read_dir(&log).unwrap().chain(sidecars).map(|e| e.unwrap().path()).filter(|p| {
                    p.file_name().unwrap().to_str().unwrap().starts_with("00000000000000000008.checkpoint")
                });
            let path = broken.next().unwrap();
            let body = fs::read(&path).unwrap();
            fs::write(
                &path,
                match cut {
                    0 => &[][..],
                    1 => &body[..body.len() / 2],
                    _ => &body[body.len() / 2..],
                },
            )
            .unwrap();
            let snapshot = open(&table, At::Latest).unwrap();
            assert_eq!(files(&snapshot).unwrap(), expected(&table, 10), "{form:?}, cut {cut}");
            let report = snapshot.report();
            assert_eq!(report.checkpoint_version, Some(3), "{form:?}, cut {cut}");
            assert!(!report.fallbacks.is_empty(), "{form:?}, cut {cut}");
        }
    }
}

#[test]
fn t14_corrupt_hints_checksums_and_compacted_files_are_ignored() {
    for (name, body) in [
        ("_last_checkpoint", "{\"version\":"),
        ("_last_checkpoint", ""),
        ("_last_checkpoint", "{\"version\":7}"),
        ("_last_checkpoint", "{\"version\":700}"),
        ("00000000000000000009.crc", "{\"tableSizeBytes\":"),
        ("00000000000000000006.00000000000000000008.compacted.json", ""),
        ("00000000000000000006.00000000000000000008.compacted.json", "{\"add\":{\"path\""),
    ] {
        let table = table();
        table.checkpoint(5, &CheckpointSpec { hint: false, ..CheckpointSpec::default() });
        table.log_file(name, body.as_bytes());
        let snapshot = open(&table, At::Latest).unwrap_or_else(|e| panic!("{name} {body:?}: {e}"));
        assert_eq!(files(&snapshot).unwrap(), expected(&table, 9), "{name} {body:?}");
        assert!(!snapshot.report().fallbacks.is_empty(), "{name} {body:?}");
    }
}

#[test]
fn t14_a_checkpoint_in_the_place_of_another_or_twice_is_ignored() {
    for (form, doubled) in [
        (CheckpointForm::V2Json(0), true),
        (CheckpointForm::V2Json(0), false),
        (CheckpointForm::V2Parquet(2), false),
        (CheckpointForm::MultiPart(2), false),
    ] {
        let table = table();
        let spec = CheckpointSpec { hint: false, ..CheckpointSpec::of(form) };
        table.checkpoint(3, &spec);
        table.checkpoint(8, &spec);
        let log = table.root().join("_delta_log");
        let mut names: Vec<_> = fs::read_dir(&log).unwrap().map(|e| e.unwrap().path()).collect();
        names.retain(|p| p.is_file() && p.to_str().unwrap().contains("checkpoint."));
        names.sort();
        let (from, to) = match form {
            CheckpointForm::MultiPart(_) => (&names[2], &names[3]),
            _ => (&names[0], &names[1]),
        };
        let body = match doubled {
            true => fs::read(to).unwrap().repeat(2),
            false => fs::read(from).unwrap(),
        };
        fs::write(to, body).unwrap();
        let snapshot = open(&table, At::Latest).unwrap();
        assert_eq!(files(&snapshot).unwrap(), expected(&table, 9), "{form:?}");
        assert_eq!(snapshot.report().checkpoint_version, Some(3), "{form:?}");
    }
}

#[test]
fn t14_a_checksum_that_makes_no_table_is_ignored() {
    for (from, to) in [
        ("\\\"type\\\":\\\"long\\\"", "\\\"type\\\":\\\"lonf\\\""),
        ("\"minReaderVersion\":1", "\"minReaderVersion\":9"),
    ] {
        let table = table();
        table.crc(9);
        let path = table.root().join("_delta_log/00000000000000000009.crc");
        let body = fs::read_to_string(&path).unwrap();
        assert!(body.contains(from), "{body}");
        fs::write(&path, body.replacen(from, to, 1)).unwrap();
        let snapshot = open(&table, At::Latest).unwrap();
        assert_eq!(files(&snapshot).unwrap(), expected(&table, 9));
        assert!(snapshot.report().fallbacks[0].contains("09.crc"), "{:?}", snapshot.report().fallbacks);
    }
}

#[test]
fn a_newest_commit_that_is_lost_but_known_is_a_gap() {
    for compacted in [false, true] {
        let table = table();
        let before = open(&table, At::Version(8)).unwrap();
        match compacted {
            true => table.compact(7, 9),
            false => table.crc(9),
        }
        table.remove_log_file("00000000000000000009.json");
        let error = open(&table, At::Latest).unwrap_err();
        assert!(matches!(error, Error::LogGap { version: 9, .. }), "{error}");
        // the listing of an update does not come by the compacted file, whose name begins with 7
        let updated = before.update().map(|s| s.version());
        assert!(compacted || matches!(updated, Err(Error::LogGap { version: 9, .. })), "{updated:?}");
        assert_eq!(files(&open(&table, At::Version(8)).unwrap()).unwrap(), expected(&table, 8));
    }
}

#[test]
fn t14_a_broken_commit_is_an_error_that_names_it() {
    let whole =
        r#"{"add":{"path":"x","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}"#;
    for body in ["", "  \n", &whole[..40], &whole[..whole.len() - 1], r#"{"add":{"path":1}}"#] {
        let table = table();
        table.log_file("00000000000000000009.json", body.as_bytes());
        let error = open(&table, At::Latest).and_then(|s| files(&s)).unwrap_err();
        assert!(
            matches!(&error, Error::LogCorrupt { version: Some(9), path, .. } if path.ends_with("09.json")),
            "{body:?}: {error}"
        );
    }
}

#[test]
fn a_gap_in_the_commits_is_an_error_that_names_the_first_missing_one() {
    let table = table();
    table.remove_log_file("00000000000000000006.json");
    let error = open(&table, At::Latest).unwrap_err();
    assert!(matches!(error, Error::LogGap { version: 6, .. }), "{error}");
}

#[test]
fn t20_a_table_whose_first_file_is_a_checkpoint_is_a_table() {
    let table = table();
    table.checkpoint(9, &CheckpointSpec { hint: false, ..CheckpointSpec::default() });
    for version in 0..=9 {
        table.remove_log_file(&format!("{version:020}.json"));
    }
    assert_eq!(files(&open(&table, At::Latest).unwrap()).unwrap(), expected(&table, 9));
    let error = open(&table, At::Version(4)).unwrap_err();
    assert!(matches!(error, Error::VersionNotFound { earliest: 9, latest: 9, .. }), "{error}");
}

#[test]
fn t25_stray_files_and_folders_in_the_log_are_ignored() {
    let table = table();
    for name in [
        "_copy_into_log/0.zip",
        "_staged_commits/00000000000000000010.80a083e8-7026-4e79-81be-64bd76c43a11.json",
        "notes.txt",
        "00000000000000000003.json.bak",
    ] {
        table.log_file(name, b"{");
    }
    fs::create_dir(table.root().join("_delta_log/00000000000000000077.json")).unwrap();
    assert_eq!(open(&table, At::Latest).unwrap().version(), 9);
}

#[test]
fn t16_a_hint_that_is_newer_than_the_version_asked_for_is_not_used() {
    let table = table();
    table.checkpoint(8, &CheckpointSpec::default());
    let snapshot = open(&table, At::Version(3)).unwrap();
    assert_eq!((snapshot.version(), snapshot.report().checkpoint_version), (3, None));
}

#[test]
fn a_folder_without_a_log_is_no_table() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::open(dir.path().to_str().unwrap(), &StorageOptions::new()).unwrap();
    assert!(matches!(Snapshot::open(location, At::Latest), Err(Error::TableNotFound { .. })));
}

#[test]
fn the_forms_of_one_absolute_path_are_one_file() {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long")]), &[], &[]);
    table.commit(&[actions::add("/data/a%20b.parquet"), actions::add("file:///data/c%25.parquet")]);
    table.commit(&[actions::remove("file:/data/a%20b.parquet"), actions::remove("/data/c%25.parquet")]);
    assert_eq!(files(&open(&table, At::Latest).unwrap()).unwrap().len(), 0);
}

#[test]
fn update_reads_new_commits_only() {
    let mut table = table();
    let store = FaultStore::new(Arc::new(LocalStore::default()));
    let location = Location::with_store(table.location(), Arc::new(store.clone()));
    let old = Snapshot::open(location, At::Latest).unwrap();
    files(&old).unwrap();
    assert_eq!(old.update().unwrap().version(), 9);
    table.commit(&[actions::remove("g3"), actions::add_in("new", &[("p", None)])]);
    store.forget();
    let new = old.update().unwrap();
    assert_eq!(files(&new).unwrap(), expected(&table, 10));
    let read: Vec<String> = store.calls().into_iter().filter(|c| c.op == Op::Get).map(|c| c.path).collect();
    assert!(read.iter().all(|p| p.ends_with("00000000000000000010.json")), "{read:?}");
    assert_eq!(files(&old).unwrap(), expected(&table, 9), "the old snapshot did not change");
}

#[test]
fn the_newest_version_is_advanced_where_the_table_is_known() {
    let mut table = table();
    let uri = table.uri();
    let newest = || Snapshot::newest(&uri, &StorageOptions::new(), Verify::default()).unwrap();
    let first = newest();
    files(&first).unwrap();
    assert_eq!(first.version(), 9);
    assert_eq!(newest().version(), 9);
    table.commit(&[actions::add_in("late", &[("p", None)])]);
    let second = Snapshot::newest(&table.uri(), &StorageOptions::new(), Verify::default()).unwrap();
    assert_eq!(second.report().opened_from, "previous snapshot");
    assert_eq!(files(&second).unwrap(), expected(&table, 10));
    // commits that somebody took back, and another one in their place
    let name = format!("{:020}.json", 10);
    table.remove_log_file(&name);
    assert_eq!((newest().version(), newest().version()), (9, 9));
    table.commit_at(10, &[actions::add_in("again", &[("p", None)])]);
    assert_eq!(files(&newest()).unwrap(), expected(&table, 10));
    // a checksum tells of a commit that is lost
    table.log_file(&format!("{:020}.crc", 11), b"{}");
    let lost = Snapshot::newest(&table.uri(), &StorageOptions::new(), Verify::default());
    assert!(matches!(lost, Err(Error::LogGap { version: 11, .. })));
    fs::remove_dir_all(table.root()).unwrap();
    let gone = Snapshot::newest(&table.uri(), &StorageOptions::new(), Verify::default());
    assert!(matches!(gone, Err(Error::TableNotFound { .. })));
}

#[test]
fn a_listing_that_is_not_up_to_date_gives_no_older_version() {
    let table = table();
    let store = FaultStore::new(Arc::new(LocalStore::default()));
    let location = Location::with_store(table.location(), Arc::new(store.clone()));
    let newest = Snapshot::open(location, At::Latest).unwrap();
    let overlooked = Fault::Overlooked(vec![format!("{:020}.json", newest.version())]);
    store.rule(Rule::new(overlooked).on(Op::ListFrom).always());
    let gap = newest.follow().unwrap_err();
    assert!(matches!(gap, Error::LogGap { version: 9, .. }), "{gap}");
    store.heal();
    assert_eq!(newest.follow().unwrap().version(), 9);
}

#[test]
fn a_table_that_was_put_in_the_place_of_another_is_loaded_again() {
    let mut first = TableBuilder::temp();
    let schema = actions::schema(&[("id", "long")]);
    first.create(&schema, &[], &[]);
    first.commit(&[actions::add("old")]);
    let held = open(&first, At::Latest).unwrap();
    assert_eq!(files(&held).unwrap().len(), 1);
    fs::remove_dir_all(first.root()).unwrap();
    let mut second = TableBuilder::at(first.root());
    second.clock().set(first.clock().now() + 60_000);
    second.create(&schema, &[], &[]);
    second.commit(&[actions::add("new1"), actions::add("new2")]);
    second.commit(&[actions::add("new3")]);
    assert_eq!(files(&held.update().unwrap()).unwrap(), expected(&second, 2));
}

#[test]
fn t26_a_commit_that_vanishes_from_the_end_of_the_log_is_an_error() {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long")]), &[], &[]);
    for n in 0..4 {
        table.commit(&[actions::add(&format!("f{n}"))]);
    }
    let latest = open(&table, At::Latest).unwrap();
    let at = |version: u64| format!("{version:020}.json");
    let body = fs::read(table.root().join("_delta_log").join(at(4))).unwrap();
    table.remove_log_file(&at(4));
    // what was reported as there is missing: neither an older version in its place, nor silence
    let gap = latest.update().unwrap_err();
    assert!(matches!(&gap, Error::LogGap { version: 4, missing, .. } if *missing == at(4)), "{gap}");
    assert!(matches!(open(&table, At::Version(4)), Err(Error::VersionNotFound { version: 4, .. })));
    // and where others went on behind the hole, a writer does not fill it
    table.log_file(&at(5), &body);
    assert!(matches!(latest.update(), Err(Error::LogGap { version: 4, .. })));
    assert!(matches!(winners_from(latest.location(), 4), Err(Error::LogGap { version: 4, .. })));
    assert!(matches!(winners_from(latest.location(), 3), Err(Error::LogGap { version: 4, .. })));
    assert_eq!(winners_from(latest.location(), 5).unwrap().len(), 1);
}

/// A step in the life of a table.
#[derive(Debug, Clone)]
enum Step {
    Commit(Vec<(bool, u8, Option<u8>)>),
    Checkpoint(usize),
    Compact(u8),
    Checksum,
    NewMetadata,
    /// Advance the snapshot in hand here; otherwise it falls behind.
    Update,
    /// List the files of the snapshot in hand, so that the next advance has columns to share.
    List,
}

fn step() -> impl Strategy<Value = Step> {
    let action = (any::<bool>(), 0..12_u8, proptest::option::weighted(0.3, 0..3_u8));
    prop_oneof![
        6 => proptest::collection::vec(action, 1..5).prop_map(Step::Commit),
        1 => (0..FORMS.len()).prop_map(Step::Checkpoint),
        1 => (1..5_u8).prop_map(Step::Compact),
        1 => Just(Step::Checksum),
        1 => Just(Step::NewMetadata),
        3 => Just(Step::Update),
        2 => Just(Step::List),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// T21: a snapshot that advanced, one loaded cold and the oracle agree, whatever happened to the log in between.
    #[test]
    fn t21_advance_equals_cold_load(steps in proptest::collection::vec(step(), 1..25)) {
        let mut table = TableBuilder::temp();
        let schema = actions::schema(&[("id", "long"), ("p", "string")]);
        let mut version = table.create(&schema, &["p"], &[]);
        let mut held = open(&table, At::Latest).unwrap();
        for step in steps {
            match step {
                Step::Commit(wanted) => {
                    let mut seen = BTreeSet::new();
                    let unique = wanted.into_iter().filter(|(add, n, _)| seen.insert((*add, *n)));
                    let all: Vec<Value> = unique
                        .map(|(add, n, v)| {
                            let path = format!("f{n}");
                            let action = if add { actions::add_in(&path, &[("p", None)]) } else { actions::remove(&path) };
                            match v {
                                Some(v) => actions::with(action, "deletionVector", vector(v.into())),
                                None => action,
                            }
                        })
                        .collect();
                    version = table.commit(&all);
                }
                Step::Checkpoint(form) => table.checkpoint(version, &CheckpointSpec { row_group: 2, ..CheckpointSpec::of(FORMS[form]) }),
                Step::Compact(n) => {
                    if let Some(from) = version.checked_sub(n.into()) {
                        table.compact(from, version);
                    }
                }
                Step::Checksum => table.crc(version),
                Step::NewMetadata => {
                    let n = format!("{version}");
                    version = table.commit(&[actions::metadata(&schema, &["p"], &[("n", n.as_str())])]);
                }
                Step::Update => held = held.update().unwrap(),
                Step::List => prop_assert_eq!(files(&held).unwrap(), expected(&table, held.version())),
            }
        }
        let advanced = held.update().unwrap();
        let cold = open(&table, At::Latest).unwrap();
        prop_assert_eq!(advanced.version(), version);
        prop_assert_eq!(cold.version(), version);
        prop_assert_eq!(advanced.metadata(), cold.metadata());
        prop_assert_eq!(files(&cold).unwrap(), expected(&table, version));
        prop_assert_eq!(files(&advanced).unwrap(), expected(&table, version));
    }
}

/// A checkpoint of two files as Spark writes it that has INT96 timestamps: `add` with `stats_parsed` alone.
fn int96_checkpoint(days: [u32; 2]) -> Vec<u8> {
    use parquet::data_type::{ByteArray, ByteArrayType, Int64Type, Int96, Int96Type};
    use parquet::file::writer::SerializedFileWriter;

    let schema = "message m { optional group add {
        optional binary path (UTF8);
        optional int64 size; optional int64 modificationTime; optional boolean dataChange;
        optional group stats_parsed {
            optional int64 numRecords;
            optional group minValues { optional int96 t; }
            optional group maxValues { optional int96 t; }
            optional group nullCount { optional int64 t; } } } }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    // noon and a millisecond of the Julian days
    let nanos = (12 * 3600 * 1000 + 1) * 1_000_000_u64;
    let times = days.map(|day| Int96::from(vec![nanos as u32, (nanos >> 32) as u32, day]));
    let mut index = 0;
    while let Some(mut column) = group.next_column().unwrap() {
        match index {
            0 => {
                let names = [ByteArray::from("early"), ByteArray::from("late")];
                column.typed::<ByteArrayType>().write_batch(&names, Some(&[2, 2]), None).unwrap();
            }
            3 => {
                let changes = [false, false];
                let typed = column.typed::<parquet::data_type::BoolType>();
                typed.write_batch(&changes, Some(&[2, 2]), None).unwrap();
            }
            5 | 6 => {
                column.typed::<Int96Type>().write_batch(&times, Some(&[4, 4]), None).unwrap();
            }
            _ => {
                let level = [2, 2, 2, 2, 3, 4, 4, 4][index];
                let value = if index == 7 { 0 } else { 10 };
                column.typed::<Int64Type>().write_batch(&[value; 2], Some(&[level; 2]), None).unwrap();
            }
        }
        column.close().unwrap();
        index += 1;
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn int96_statistics_of_a_checkpoint_hold_for_every_year() {
    let mut table = TableBuilder::temp();
    table.commit(&[actions::commit_info(0, "WRITE")]);
    // protocol and metadata come after the checkpoint, which holds files only
    table.create(&actions::schema(&[("t", "timestamp")]), &[], &[]);
    // 0001-01-01 and 9999-12-31: nanoseconds in 64 bits reach from 1677 to 2262
    table.log_file("00000000000000000000.checkpoint.parquet", &int96_checkpoint([1_721_426, 5_373_484]));
    let snapshot = open(&table, At::Latest).unwrap();
    let names = |op, year: &str| -> Vec<String> {
        let value = Literal::String(format!("{year}-06-01 00:00:00"));
        let predicate = Predicate::Compare { op, column: vec!["t".into()], value };
        let request = FilesRequest { predicate: Some(predicate), ..FilesRequest::default() };
        let batches = snapshot.files(request).unwrap();
        batches
            .flat_map(|b| b.unwrap().adds().map(|a| a.unwrap().path.to_string()).collect::<Vec<_>>())
            .collect()
    };
    assert_eq!(names(CompareOp::Gt, "0000"), ["early", "late"]);
    assert_eq!(names(CompareOp::Gt, "2024"), ["late"]);
    assert_eq!(names(CompareOp::Lt, "2024"), ["early"]);
    assert!(names(CompareOp::Lt, "0000").is_empty());
    let mut stats: Vec<String> = files(&snapshot).unwrap().into_iter().collect();
    stats.sort();
    for (text, time) in stats.iter().zip(["0001-01-01T12:00:00.001", "9999-12-31T12:00:00.001"]) {
        assert_eq!(text.matches(time).count(), 2, "{text}");
    }
}
