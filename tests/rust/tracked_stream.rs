//! A stream that keeps the schemas that it reads with: it ends at a change, and goes on behind it when it is started again.

use std::collections::BTreeMap;
use std::path::Path;

use deltaic_core::store::StorageOptions;
use deltaic_core::stream::{Offset, ReadLimit, Source, SourceOptions};
use deltaic_testkit::{TableBuilder, actions};
use serde_json::Value;

const EVOLVED: &str = "DELTA_STREAMING_METADATA_EVOLUTION";

fn wide() -> Value {
    actions::metadata(&actions::schema(&[("id", "long"), ("x", "long")]), &[], &[])
}

/// A table with the file `a`, and a folder for the schemas of its stream.
fn table() -> (TableBuilder, tempfile::TempDir) {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long")]), &[], &[]);
    table.commit(&[actions::add("a")]);
    (table, tempfile::tempdir().unwrap())
}

/// A source, as it is while its query is made, and as it runs.
fn started(table: &TableBuilder, log: &Path, settings: &[(&str, &str)]) -> deltaic_core::Result<Source> {
    let options = [("schemaLocation", log.to_str().unwrap())];
    let text = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    let open = |metadata_path: Option<&str>| {
        let options = SourceOptions::parse("t", &text(&options), None)?;
        let path = metadata_path.map(str::to_owned);
        Source::open(&table.uri(), &StorageOptions::new(), options.in_session("t", &text(settings), path)?)
    };
    open(None)?;
    open(Some("file:/c/sources/0"))
}

/// The files until nothing is new or the source ends, and how it ends.
fn run(source: &Source, at: &mut Option<Offset>) -> (Vec<String>, &'static str) {
    let mut files = Vec::new();
    let mut step = || -> deltaic_core::Result<bool> {
        let before = at.clone();
        let Some(end) = source.latest(at.as_ref(), ReadLimit::All)? else { return Ok(false) };
        if let Some(done) = &before
            && *done != end
        {
            source.commit(done)?;
        }
        let parts = source.batch(at.as_ref(), &end)?;
        files.extend(parts.into_iter().flat_map(|p| p.files).map(|f| f.path.as_str().to_owned()));
        *at = Some(end);
        Ok(*at != before)
    };
    loop {
        match step() {
            Ok(true) => {}
            Ok(false) => return (files, ""),
            Err(error) => return (files, error.condition().map_or(error.kind(), |c| c.name)),
        }
    }
}

fn columns(source: &Source) -> usize {
    source.snapshot().schema().fields.len()
}

#[test]
fn a_stream_ends_at_a_change_and_goes_on_behind_it() {
    let (mut table, log) = table();
    let mut at = None;
    let source = started(&table, log.path(), &[]).unwrap();
    assert_eq!(run(&source, &mut at), (vec!["a".to_owned()], ""));
    table.commit(&[wide(), actions::add("b")]);
    table.commit(&[actions::add("c")]);
    assert_eq!(run(&source, &mut at), (vec![], EVOLVED));
    assert_eq!(at.as_ref().unwrap().index, -20);
    // what it reads with changes when it is started again, and not before
    assert_eq!(columns(&source), 1);
    let again = started(&table, log.path(), &[]).unwrap();
    assert_eq!(columns(&again), 2);
    assert_eq!(run(&again, &mut at), (vec!["b".to_owned(), "c".to_owned()], ""));
}

#[test]
fn nothing_passes_a_change_until_the_log_has_it() {
    let (mut table, log) = table();
    let mut at = None;
    let source = started(&table, log.path(), &[]).unwrap();
    run(&source, &mut at);
    table.commit(&[wide(), actions::add("b")]);
    let latest = |at: &Offset| source.latest(Some(at), ReadLimit::All).unwrap().unwrap();
    let change = latest(at.as_ref().unwrap());
    let behind = latest(&change);
    assert_eq!((change.index, behind.index), (-20, -19));
    assert_eq!(latest(&behind), behind);
    // either of the two is as good
    assert!(source.commit(&behind).is_err());
    let again = started(&table, log.path(), &[]).unwrap();
    assert_eq!(run(&again, &mut Some(behind)), (vec!["b".to_owned()], ""));
}

#[test]
fn changes_without_rows_between_them_are_one_unless_a_setting_says_otherwise() {
    let merge = "streaming.schemaTracking.mergeConsecutiveSchemaChanges.enabled";
    for (settings, ends) in [(&[][..], 1), (&[(merge, "false")][..], 2)] {
        let (mut table, log) = table();
        let mut at = None;
        run(&started(&table, log.path(), settings).unwrap(), &mut at);
        table.commit(&[wide()]);
        let named = actions::schema(&[("id", "long"), ("x", "long"), ("y", "long")]);
        table.commit(&[actions::metadata(&named, &[], &[])]);
        table.commit(&[actions::add("b")]);
        let mut ended = 0;
        loop {
            let (files, how) = run(&started(&table, log.path(), settings).unwrap(), &mut at);
            if how.is_empty() {
                assert_eq!(files, ["b"]);
                break;
            }
            assert_eq!(how, EVOLVED);
            ended += 1;
        }
        assert_eq!(ended, ends, "{settings:?}");
    }
}

#[test]
fn properties_of_others_and_what_writers_keep_are_no_change() {
    let (mut table, log) = table();
    let mut at = None;
    let source = started(&table, log.path(), &[]).unwrap();
    run(&source, &mut at);
    let mut schema = actions::schema(&[("id", "long")]);
    schema["fields"][0]["metadata"] = serde_json::json!({"delta.identity.highWaterMark": 7});
    table.commit(&[actions::metadata(&schema, &[], &[("mine", "yes")]), actions::add("b")]);
    assert_eq!(run(&source, &mut at), (vec!["b".to_owned()], ""));
    table.commit(&[actions::metadata(&schema, &[], &[("delta.appendOnly", "true")]), actions::add("c")]);
    assert_eq!(run(&source, &mut at), (vec![], EVOLVED));
}

#[test]
fn a_commit_that_is_gone_may_have_been_a_change() {
    let (table, log) = table();
    let options = [("schemaTrackingLocation", log.path().to_str().unwrap()), ("failOnDataLoss", "false")];
    let options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let options = SourceOptions::parse("t", &options, None).unwrap();
    let source = Source::open(&table.uri(), &StorageOptions::new(), options).unwrap();
    assert_eq!(run(&source, &mut None).1, "InvalidArgument");
}
