//! A table as a stream: every split into batches gives each file once, and nothing is lost without a word.

use std::collections::BTreeMap;

use deltaic_core::Error;
use deltaic_core::store::StorageOptions;
use deltaic_core::stream::{Offset, ReadLimit, Source, SourceOptions};
use deltaic_testkit::{TableBuilder, actions};
use proptest::prelude::*;
use serde_json::Value;

fn schema() -> Value {
    actions::schema(&[("id", "long")])
}

fn table() -> TableBuilder {
    let mut table = TableBuilder::temp();
    table.create(&schema(), &[], &[]);
    table
}

fn adds(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| actions::add(name)).collect()
}

fn open_with(table: &TableBuilder, options: &[(&str, &str)]) -> deltaic_core::Result<Source> {
    let options: BTreeMap<String, String> =
        options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let options = SourceOptions::parse("t", &options, None)?;
    Source::open(&table.uri(), &StorageOptions::new(), options)
}

fn open(table: &TableBuilder) -> Source {
    open_with(table, &[]).unwrap()
}

fn files(source: &Source, start: Option<&Offset>, end: &Offset) -> deltaic_core::Result<Vec<String>> {
    let parts = source.batch(start, end)?;
    Ok(parts.into_iter().flat_map(|p| p.files).map(|f| f.path.as_str().to_owned()).collect())
}

/// The files of one more batch by the options' own limit, and where it ends.
fn next(source: &Source, start: &mut Option<Offset>) -> deltaic_core::Result<Vec<String>> {
    let Some(end) = source.latest(start.as_ref(), source.options().limit())? else { return Ok(vec![]) };
    let files = files(source, start.as_ref(), &end)?;
    *start = Some(end);
    Ok(files)
}

/// The batches until nothing is new.
fn drain(source: &Source, start: &mut Option<Offset>) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    loop {
        let before = start.clone();
        let batch = next(source, start).unwrap();
        if *start == before {
            return out;
        }
        out.push(batch);
    }
}

fn kind<T>(result: deltaic_core::Result<T>) -> &'static str {
    result.err().map_or("", |e| e.kind())
}

#[test]
fn a_new_stream_begins_with_the_table_by_time_and_path() {
    let mut table = table();
    let older = actions::with(actions::add("z"), "modificationTime", 5);
    table.commit(&[actions::add("c"), actions::add("gone"), older]);
    table.commit(&[actions::add("a"), actions::remove("gone")]);
    let source = open_with(&table, &[("maxFilesPerTrigger", "2")]).unwrap();
    let mut at = None;
    assert_eq!(next(&source, &mut at).unwrap(), ["z", "a"]);
    let json = at.as_ref().unwrap().to_json();
    assert!(json.contains(r#""reservoirVersion":2,"index":1,"isStartingVersion":true"#), "{json}");
    assert_eq!(next(&source, &mut at).unwrap(), ["c"]);
    let json = at.as_ref().unwrap().to_json();
    assert!(json.contains(r#""reservoirVersion":3,"index":-1,"isStartingVersion":false"#), "{json}");
    assert!(next(&source, &mut at).unwrap().is_empty());
    table.commit(&adds(&["d"]));
    assert_eq!(next(&source, &mut at).unwrap(), ["d"]);
}

#[test]
fn limits_count_files_and_bytes() {
    let mut table = table();
    table.commit(&adds(&["a", "b", "c"]));
    table.commit(&adds(&["d", "e"]));
    let batches = |options: &[(&str, &str)]| {
        let sizes = drain(&open_with(&table, options).unwrap(), &mut None);
        sizes.iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!(batches(&[]), [5]);
    assert_eq!(batches(&[("maxFilesPerTrigger", "2")]), [2, 2, 1]);
    // files have 100 bytes: the one that reaches the limit is taken
    assert_eq!(batches(&[("maxBytesPerTrigger", "150b")]), [2, 2, 1]);
    assert_eq!(batches(&[("maxBytesPerTrigger", "1b"), ("startingVersion", "2")]), [1, 1]);
    assert_eq!(batches(&[("maxBytesPerTrigger", "250b"), ("maxFilesPerTrigger", "1")]), [1; 5]);
}

#[test]
fn all_that_is_available_now_is_fixed_at_the_first_question() {
    let mut table = table();
    table.commit(&adds(&["a", "b"]));
    let source = open_with(&table, &[("maxFilesPerTrigger", "1")]).unwrap();
    source.stop_at_what_is_there();
    let mut at = None;
    assert_eq!(next(&source, &mut at).unwrap(), ["a"]);
    table.commit(&adds(&["later"]));
    assert_eq!(drain(&source, &mut at).concat(), ["b"]);
    let source = open(&table);
    assert_eq!(drain(&source, &mut at).concat(), ["later"]);
}

#[test]
fn a_stream_begins_where_its_options_say() {
    let mut table = table();
    table.commit(&adds(&["a"]));
    table.commit(&adds(&["b"]));
    let from = |version: &str| open_with(&table, &[("startingVersion", version)]).unwrap();
    assert_eq!(drain(&from("0"), &mut None).concat(), ["a", "b"]);
    assert_eq!(drain(&from("2"), &mut None).concat(), ["b"]);
    let error = from("3").latest(None, ReadLimit::All).unwrap_err();
    assert!(matches!(error, Error::VersionNotFound { version: 3, earliest: 0, latest: 2, .. }), "{error}");
}

#[test]
fn a_stream_may_begin_with_a_version_that_is_to_come() {
    let given = BTreeMap::from([("startingVersion".to_owned(), "3".to_owned())]);
    let mut options = SourceOptions::parse("t", &given, None).unwrap();
    options.allow_out_of_range = true;
    for available_now in [false, true] {
        let mut table = table();
        let source = |table: &TableBuilder| {
            let source = Source::open(&table.uri(), &StorageOptions::new(), options.clone()).unwrap();
            if available_now {
                source.stop_at_what_is_there();
            }
            source
        };
        let followed = source(&table);
        for name in ["a", "b"] {
            assert!(drain(&followed, &mut None).is_empty());
            assert!(drain(&source(&table), &mut None).is_empty());
            table.commit(&adds(&[name]));
        }
        table.commit(&adds(&["c"]));
        assert_eq!(drain(&source(&table), &mut None).concat(), ["c"]);
        if !available_now {
            assert_eq!(drain(&followed, &mut None).concat(), ["c"]);
        }
    }
}

#[test]
fn a_stream_from_the_latest_version_keeps_its_start_in_the_checkpoint() {
    let mut table = table();
    table.commit(&adds(&["old"]));
    let latest = [("startingVersion", "latest")];
    let source = open_with(&table, &latest).unwrap();
    let mut at = None;
    assert!(next(&source, &mut at).unwrap().is_empty());
    let begun = at.clone().unwrap();
    table.commit(&adds(&["new"]));
    // the process ends before the first batch is committed: the next one finds where it began
    let again = open_with(&table, &latest).unwrap();
    let read = Offset::from_json(&begun.to_json()).unwrap();
    assert!(files(&again, None, &read).unwrap().is_empty());
    assert_eq!(drain(&again, &mut Some(read)).concat(), ["new"]);
    // of a checkpoint that delta-spark began, nobody knows
    let unknown = Offset { mark: false, ..begun };
    assert_eq!(kind(again.batch(None, &unknown)), "InvalidOffset");
}

#[test]
fn a_stream_begins_at_a_time() {
    let mut table = table();
    table.commit(&adds(&["a"]));
    let between = table.clock().now() + 1;
    table.commit(&adds(&["b"]));
    let from = |millis: i64| {
        let options = BTreeMap::from([("startingTimestamp".to_owned(), "x".to_owned())]);
        let options = SourceOptions::parse("t", &options, Some(millis)).unwrap();
        Source::open(&table.uri(), &StorageOptions::new(), options).unwrap()
    };
    assert_eq!(drain(&from(between), &mut None).concat(), ["b"]);
    assert_eq!(drain(&from(0), &mut None).concat(), ["a", "b"]);
    assert_eq!(kind(from(table.clock().now() + 1).latest(None, ReadLimit::All)), "TimestampOutOfRange");
}

#[test]
fn removed_and_changed_rows_stop_a_stream_unless_it_may_pass_over_them() {
    let mut table = table();
    table.commit(&adds(&["a", "b"]));
    table.commit(&[actions::remove("a")]);
    table.commit(&[actions::commit_info(0, "UPDATE"), actions::remove("b"), actions::add("b2")]);
    table.commit(&adds(&["c"]));
    let from_1 = |option: &str| {
        open_with(&table, &[("startingVersion", "1"), (option, "true")])
            .unwrap()
            .latest(None, ReadLimit::All)
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    let error = from_1("unused").unwrap_err();
    assert!(error.contains("version 2") && error.contains("removes") && error.contains("ignoreDeletes"));
    let error = from_1("ignoreDeletes").unwrap_err();
    assert!(error.contains("version 3") && error.contains("UPDATE") && error.contains("skipChangeCommits"));
    let all = |option: &str| {
        let source = open_with(&table, &[("startingVersion", "1"), (option, "true")]).unwrap();
        drain(&source, &mut None).concat()
    };
    assert_eq!(all("ignoreChanges"), ["a", "b", "b2", "c"]);
    assert_eq!(all("ignoreFileDeletion"), ["a", "b", "b2", "c"]);
    assert_eq!(all("skipChangeCommits"), ["a", "b", "c"]);
}

#[test]
fn rearranged_files_are_skipped() {
    let mut table = table();
    table.commit(&adds(&["a", "b"]));
    let same = |action: Value| actions::with(action, "dataChange", false);
    table.commit(&[same(actions::remove("a")), same(actions::remove("b")), same(actions::add("ab"))]);
    let source = open_with(&table, &[("startingVersion", "0")]).unwrap();
    assert_eq!(drain(&source, &mut None).concat(), ["a", "b"]);
    assert_eq!(drain(&open(&table), &mut None).concat(), ["ab"]);
}

#[test]
fn excluded_files_keep_their_index() {
    let mut table = table();
    table.commit(&adds(&["x=1/a", "x=2/b", "x=1/c"]));
    let options = [("excludeRegex", "x=1"), ("maxFilesPerTrigger", "1")];
    let batches = drain(&open_with(&table, &options).unwrap(), &mut None);
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 1]);
}

#[test]
fn a_new_column_stops_a_stream_and_a_new_source_goes_on() {
    let mut table = table();
    table.commit(&adds(&["a"]));
    let source = open(&table);
    let mut at = None;
    assert_eq!(drain(&source, &mut at).concat(), ["a"]);
    let wide = actions::schema(&[("id", "long"), ("x", "long")]);
    table.commit(&[actions::metadata(&wide, &[], &[]), actions::add("b")]);
    let error = source.latest(at.as_ref(), ReadLimit::All).unwrap_err();
    assert!(matches!(error, Error::SourceSchemaChanged { version: 2, .. }), "{error}");
    assert_eq!(drain(&open(&table), &mut at).concat(), ["b"]);
}

#[test]
fn a_commit_that_is_gone_is_an_error() {
    let mut table = table();
    for name in ["a", "b", "c"] {
        table.commit(&adds(&[name]));
    }
    let start = Offset::from_json(
        r#"{"sourceVersion":1,"reservoirId":"5fba94ed-9794-4965-ba6e-6ee3c0d22af9","reservoirVersion":2,"index":-1,"isStartingVersion":false}"#,
    )
    .unwrap();
    let source = open(&table);
    let end = source.latest(Some(&start), ReadLimit::All).unwrap().unwrap();
    table.checkpoint(3, &deltaic_testkit::CheckpointSpec::default());
    table.remove_log_file("00000000000000000002.json");
    let error = source.latest(Some(&start), ReadLimit::All).unwrap_err();
    assert!(matches!(error, Error::SourceDataLost { version: 2, .. }), "{error}");
    assert_eq!(kind(open(&table).batch(Some(&start), &end)), "SourceDataLost");
    let lenient = open_with(&table, &[("failOnDataLoss", "false")]).unwrap();
    assert_eq!(drain(&lenient, &mut Some(start.clone())).concat(), ["c"]);
    // a batch that was planned is never a smaller one
    table.remove_log_file("00000000000000000003.json");
    let error =
        open_with(&table, &[("failOnDataLoss", "false")]).unwrap().batch(Some(&start), &end).unwrap_err();
    assert_eq!(error.condition().map(|c| c.name), Some("DELTA_STREAMING_TRAILING_COMMIT_MISSING"));
}

#[test]
fn a_log_that_went_back_is_an_error() {
    let mut table = table();
    table.commit(&adds(&["a"]));
    table.commit(&adds(&["b"]));
    let source = open(&table);
    let mut at = None;
    drain(&source, &mut at);
    table.remove_log_file("00000000000000000002.json");
    assert_eq!(kind(source.latest(at.as_ref(), ReadLimit::All)), "SourceDataLost");
    // the commit after the newest one may come yet, one behind that is gone
    let other = self::table();
    let next = |version| Offset { version, ..at.clone().unwrap() };
    assert_eq!(kind(open(&other).latest(Some(&next(1)), ReadLimit::All)), "");
    assert_eq!(kind(open(&other).latest(Some(&next(2)), ReadLimit::All)), "SourceDataLost");
}

#[test]
fn another_table_in_the_place_is_an_error() {
    let mut table = table();
    table.commit(&adds(&["a"]));
    let source = open(&table);
    let mut at = None;
    drain(&source, &mut at);
    let mut other = actions::metadata(&schema(), &[], &[]);
    other["metaData"]["id"] = "another".into();
    table.commit_at(0, &[actions::protocol(1, 2), other]);
    table.commit_at(1, &adds(&["x", "y"]));
    assert_eq!(kind(source.latest(at.as_ref(), ReadLimit::All)), "SourceReplaced");
    assert_eq!(kind(open(&table).latest(at.as_ref(), ReadLimit::All)), "SourceReplaced");
    assert_eq!(kind(open(&table).batch(None, at.as_ref().unwrap())), "SourceReplaced");
}

#[test]
fn the_first_batch_of_a_checkpoint_is_found_again_from_its_end_alone() {
    let mut table = table();
    table.commit(&adds(&["a", "b"]));
    let source = open_with(&table, &[("maxFilesPerTrigger", "1")]).unwrap();
    let part = source.latest(None, source.options().limit()).unwrap().unwrap();
    let whole = source.latest(None, ReadLimit::All).unwrap().unwrap();
    table.commit(&adds(&["c"]));
    let again = open(&table);
    assert_eq!(files(&again, None, &part).unwrap(), ["a"]);
    assert_eq!(files(&again, None, &whole).unwrap(), ["a", "b"]);
    assert_eq!(kind(again.batch(Some(&whole), &part)), "InvalidOffset");
}

#[test]
fn one_file_with_two_deletion_vectors_is_in_two_parts() {
    let mut table = table();
    let vector = |rows: &str| serde_json::json!({"storageType": "i", "pathOrInlineDv": rows, "sizeInBytes": 40, "cardinality": 1});
    let with = |rows: &str| actions::with(actions::add("a"), "deletionVector", vector(rows));
    table.commit(&adds(&["a"]));
    table.commit(&[actions::remove("a"), with("x"), actions::add("b")]);
    table.commit(&[actions::with(actions::remove("a"), "deletionVector", vector("x")), with("y")]);
    let source = open_with(&table, &[("startingVersion", "0"), ("ignoreChanges", "true")]).unwrap();
    let end = source.latest(None, ReadLimit::All).unwrap().unwrap();
    let parts = source.batch(None, &end).unwrap();
    assert_eq!(parts.iter().map(|p| p.files.len()).collect::<Vec<_>>(), [3, 1]);
}

/// One step of a table or of a stream.
#[derive(Debug, Clone)]
enum Step {
    /// Commits files, as many as given; none only rearranges.
    Commit(usize),
    /// A batch of at most so many files.
    Batch(u64),
    /// The same batch is asked for again by a new process.
    Replay,
    /// A new process goes on from the offset as text.
    Restart,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn any_split_into_batches_gives_each_file_once(
        before in 0usize..6,
        from_table: bool,
        steps in prop::collection::vec(
            prop_oneof![
                (0usize..4).prop_map(Step::Commit),
                (1u64..4).prop_map(Step::Batch),
                Just(Step::Replay),
                Just(Step::Restart),
            ],
            1..24,
        ),
    ) {
        let mut table = table();
        let mut wanted = Vec::new();
        let mut commit = |table: &mut TableBuilder, count: usize| {
            let names: Vec<String> = (0..count).map(|i| format!("f{}-{i}", wanted.len())).collect();
            table.commit(&adds(&names.iter().map(String::as_str).collect::<Vec<_>>()).into_iter()
                .chain([actions::commit_info(0, "WRITE")]).collect::<Vec<_>>());
            wanted.extend(names);
        };
        for _ in 0..before {
            commit(&mut table, 2);
        }
        let options: &[(&str, &str)] = if from_table { &[] } else { &[("startingVersion", "0")] };
        let mut source = open_with(&table, options).unwrap();
        let (mut start, mut at, mut got): (Option<Offset>, Option<Offset>, Vec<String>) = (None, None, Vec::new());
        let mut last = Vec::new();
        for step in steps {
            match step {
                Step::Commit(count) => commit(&mut table, count),
                Step::Batch(most) => {
                    let limit = ReadLimit::Most { files: Some(most), bytes: None };
                    let end = source.latest(at.as_ref(), limit).unwrap();
                    if let Some(end) = end.filter(|end| Some(end) != at.as_ref()) {
                        prop_assert_eq!(&Offset::from_json(&end.to_json()).unwrap(), &end);
                        last = files(&source, at.as_ref(), &end).unwrap();
                        prop_assert!(last.len() as u64 <= most);
                        got.extend(last.clone());
                        (start, at) = (at, Some(end));
                    }
                }
                Step::Replay => {
                    if let Some(end) = &at {
                        let mut again = files(&open_with(&table, options).unwrap(), start.as_ref(), end).unwrap();
                        let mut first = last.clone();
                        again.sort();
                        first.sort();
                        prop_assert_eq!(again, first);
                    }
                }
                Step::Restart => {
                    // a stream without an offset has not begun
                    if at.is_some() {
                        source = open_with(&table, options).unwrap();
                    }
                }
            }
        }
        got.extend(drain(&source, &mut at).concat());
        got.sort();
        wanted.sort();
        prop_assert_eq!(got, wanted);
    }
}
