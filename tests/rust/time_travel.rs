//! Versions by time, and the history.

use deltaic_core::Error;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_testkit::{CheckpointSpec, TableBuilder, actions};
use serde_json::{Value, json};

fn open(table: &TableBuilder, at: At) -> deltaic_core::Result<Snapshot> {
    Snapshot::open(Location::open(&table.uri(), &StorageOptions::new())?, at)
}

fn version_at(table: &TableBuilder, millis: i64) -> u64 {
    open(table, At::Timestamp(millis)).unwrap().version()
}

/// Five commits, one second apart; gives the time of each.
fn table() -> (TableBuilder, Vec<i64>) {
    let mut table = TableBuilder::temp();
    let mut times = vec![table.clock().now()];
    table.create(&actions::schema(&[("id", "long")]), &[], &[]);
    for i in 0..4 {
        times.push(table.clock().now());
        table.commit(&[actions::commit_info(0, "WRITE"), actions::add(&format!("f{i}"))]);
    }
    let times =
        open(&table, At::Latest).unwrap().history(None).unwrap().iter().rev().map(|c| c.timestamp).collect();
    (table, times)
}

#[test]
fn the_newest_version_at_or_before_a_time_is_read() {
    let (table, times) = table();
    for (version, time) in times.iter().enumerate() {
        assert_eq!(version_at(&table, *time), version as u64);
        if version > 0 {
            assert_eq!(version_at(&table, time - 1), version as u64 - 1);
        }
    }
}

#[test]
fn a_time_outside_the_log_gives_the_range() {
    let (table, times) = table();
    for asked in [times[0] - 1, times[4] + 1] {
        let error = open(&table, At::Timestamp(asked)).unwrap_err();
        assert!(
            matches!(error, Error::TimestampOutOfRange { earliest_version: 0, latest_version: 4, .. }),
            "{error}"
        );
    }
}

#[test]
fn file_times_that_go_back_are_made_monotonic() {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long")]), &[], &[]);
    let first = open(&table, At::Latest).unwrap().timestamp().unwrap();
    table.clock().set(first - 50_000);
    table.commit(&[actions::add("a")]);
    table.commit(&[actions::add("b")]);
    let history = open(&table, At::Latest).unwrap().history(None).unwrap();
    let times: Vec<i64> = history.iter().map(|c| c.timestamp).collect();
    assert_eq!(times, [first + 2, first + 1, first]);
    assert!(history[0].file_timestamp < first, "the raw time is kept beside");
    assert_eq!(version_at(&table, first + 1), 1);
}

/// A commit with an in-commit timestamp.
fn at(millis: i64) -> Value {
    json!({"commitInfo": {"inCommitTimestamp": millis, "timestamp": 1, "operation": "WRITE"}})
}

#[test]
fn in_commit_timestamps_count_from_the_version_that_enabled_them() {
    let mut table = TableBuilder::temp();
    let schema = actions::schema(&[("id", "long")]);
    table.create(&schema, &[], &[]);
    table.commit(&[actions::add("a")]);
    let before = open(&table, At::Latest).unwrap().timestamp().unwrap();
    let on = before + 1_000_000;
    let properties = [
        ("delta.enableInCommitTimestamps", "true"),
        ("delta.inCommitTimestampEnablementVersion", "2"),
        ("delta.inCommitTimestampEnablementTimestamp", &on.to_string()),
    ];
    table.commit(&[at(on), actions::metadata(&schema, &[], &properties)]);
    table.commit(&[at(on + 10), actions::add("b")]);
    table.commit(&[at(on + 20), actions::add("c")]);
    assert_eq!(open(&table, At::Latest).unwrap().timestamp().unwrap(), on + 20);
    for (time, version) in [(before, 1), (on - 1, 1), (on, 2), (on + 9, 2), (on + 10, 3), (on + 20, 4)] {
        assert_eq!(version_at(&table, time), version, "{time}");
    }
}

#[test]
fn after_cleanup_times_before_the_first_checkpoint_are_out_of_range() {
    let (table, times) = table();
    table.checkpoint(3, &CheckpointSpec::default());
    for version in 0..=2 {
        table.remove_log_file(&format!("{version:020}.json"));
    }
    assert_eq!(version_at(&table, times[3]), 3);
    let error = open(&table, At::Timestamp(times[2])).unwrap_err();
    assert!(matches!(error, Error::TimestampOutOfRange { earliest_version: 3, .. }), "{error}");
}

#[test]
fn the_history_is_newest_first_and_limited() {
    let (table, _) = table();
    let history = open(&table, At::Version(3)).unwrap().history(Some(2)).unwrap();
    assert_eq!(history.iter().map(|c| c.version).collect::<Vec<_>>(), [3, 2]);
    assert_eq!(history[0].info.as_ref().and_then(|i| i.operation.as_deref()), Some("WRITE"));
}
