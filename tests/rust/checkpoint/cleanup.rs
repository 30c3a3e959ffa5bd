//! Cleanup: what has expired goes, and nothing else.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use deltaic_core::checkpoint::{checkpoint, cleanup_at, deletable};
use deltaic_core::conflict::winners_from;
use deltaic_core::log::{Listing, LogFile, LogSegment};
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{FileMeta, LocalStore, Location};
use deltaic_core::txn::{Operation, Transaction};
use deltaic_testkit::{CheckpointForm, CheckpointSpec, Fault, FaultStore, Op, Rule, TableBuilder, actions};
use proptest::prelude::*;

use super::{V1, V2, add, create, names};
use crate::load::{expected, files, open};

const DAY: i64 = 86_400_000;

fn file(name: String, modified: i64) -> LogFile {
    LogFile::classify(FileMeta { name, size: 1, modified }).unwrap()
}

/// A listing of commits with these pauses between them (negative where a clock went back), with checkpoints of any kind,
/// whole and partial, checksums and compacted files.
fn listing() -> impl Strategy<Value = Listing> {
    let commit = (prop_oneof![4 => -2..4i64, 1 => Just(50)], 0..8u8, any::<bool>(), 0..6u64);
    prop::collection::vec(commit, 1..40).prop_map(|commits| {
        let (mut files, mut now) = (Vec::new(), 100);
        for (version, (pause, checkpoint, crc, compacted)) in commits.into_iter().enumerate() {
            now += pause;
            let v = format!("{version:020}");
            files.push(file(format!("{v}.json"), now));
            let id = "80a083e8-7026-4e79-81be-64bd76c43a11";
            match checkpoint {
                0 => files.push(file(format!("{v}.checkpoint.parquet"), now + 1)),
                1 => files.push(file(format!("{v}.checkpoint.{id}.parquet"), now + 1)),
                2 => files.push(file(format!("{v}.checkpoint.0000000001.0000000002.parquet"), now)),
                3 => {
                    for part in 1..=2 {
                        files.push(file(format!("{v}.checkpoint.{part:010}.0000000002.parquet"), now));
                    }
                }
                _ => {}
            }
            if crc {
                files.push(file(format!("{v}.crc"), now));
            }
            if compacted > 1 && version as u64 >= compacted {
                let from = version as u64 - compacted + 1;
                files.push(file(format!("{from:020}.{v}.compacted.json"), now));
            }
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Listing { files, from: 0 }
    })
}

/// When each commit counts as committed.
fn times(listing: &Listing) -> Vec<(u64, i64)> {
    let mut last = i64::MIN;
    let commits = listing.commits();
    commits
        .map(|c| {
            last = c.modified.max(last.saturating_add(1));
            (c.version, last)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn t19_every_version_from_the_cutoff_on_still_loads(listing in listing(), cutoff in 90..400i64, protected in 0..40u64) {
        let gone = deletable(&listing, cutoff, protected);
        let deleted: BTreeSet<&str> = gone.files.iter().map(|f| f.name.as_str()).collect();
        let left: Vec<LogFile> = listing.files.iter().filter(|f| !deleted.contains(f.name.as_str())).cloned().collect();
        let left = Listing { files: left, from: 0 };
        let before = times(&listing);
        let oldest = before.iter().rev().find(|(_, at)| *at <= cutoff).map_or(0, |(v, _)| *v);
        let select = |version| LogSegment::select("t", &left, Some(version), &BTreeSet::new());
        for (version, at) in &before {
            if *version >= oldest {
                let segment = select(*version).unwrap().unwrap();
                // commit and checksum stay, for their in-commit timestamp and their counts
                prop_assert!(segment.last_commit.is_some());
                let crc = format!("{version:020}.crc");
                let had = listing.files.iter().any(|f| f.name == crc);
                prop_assert_eq!(left.files.iter().any(|f| f.name == crc), had);
                // and the time of the version is the one that it had
                prop_assert!(times(&left).contains(&(*version, *at)));
            }
        }
        if let Some(base) = &gone.base {
            prop_assert!(base.version <= oldest && base.version >= protected);
            prop_assert_eq!(left.commits().next().map(|c| c.version), Some(base.version));
        } else {
            prop_assert!(gone.files.is_empty());
        }
        // what is left is left by a second cleanup too
        prop_assert!(deletable(&left, cutoff, protected).files.is_empty());
        // and a cleanup that dies on its way leaves the same versions loading
        for done in 0..gone.files.len() {
            let files = listing.files.iter().filter(|f| !gone.files[..done].contains(f)).cloned().collect();
            let half = Listing { files, from: 0 };
            let segment = LogSegment::select("t", &half, Some(oldest), &BTreeSet::new());
            prop_assert_eq!(segment.unwrap().unwrap().version, oldest);
        }
    }
}

fn set_time(table: &TableBuilder, name: &str, millis: i64) {
    let path = table.root().join("_delta_log").join(name);
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(millis as u64);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Fifty days of one commit a day, with a checkpoint each tenth; the clock is at the end of them.
fn fifty_days(properties: &[(&str, &str)]) -> (TableBuilder, i64) {
    let mut table = create(properties);
    let start = 20_000 * DAY;
    for day in 1..=50 {
        table.commit(&[add(day)]);
        if day % 10 == 0 {
            checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
        }
    }
    for below in ["", "_sidecars"] {
        for name in names(&table, below) {
            let version = name.get(..20).and_then(|v| v.parse::<i64>().ok());
            let name = if below.is_empty() { name } else { format!("{below}/{name}") };
            set_time(&table, &name, start + version.unwrap_or(0) * DAY);
        }
    }
    (table, start + 50 * DAY)
}

#[test]
fn logs_older_than_their_retention_go_up_to_a_checkpoint() {
    for properties in [V1, V2] {
        let (table, now) = fifty_days(properties);
        let snapshot = open(&table, At::Latest).unwrap();
        let sidecars = names(&table, "_sidecars").len();
        let all = || (names(&table, ""), names(&table, "_sidecars"));
        let before = all();
        let dry = cleanup_at(&snapshot, now, true).unwrap();
        assert_eq!((all(), dry.failed), (before, Vec::new()));
        let done = cleanup_at(&snapshot, now, false).unwrap();
        assert_eq!(done.failed, Vec::new());
        assert_eq!(dry.deleted.iter().collect::<BTreeSet<_>>(), done.deleted.iter().collect::<BTreeSet<_>>());
        // thirty days before day 50 is day 20, and a checkpoint is there
        assert!(names(&table, "").contains(&"00000000000000000020.json".to_owned()));
        assert!(!names(&table, "").contains(&"00000000000000000019.json".to_owned()));
        for version in 20..=50 {
            assert_eq!(
                files(&open(&table, At::Version(version)).unwrap()).unwrap(),
                expected(&table, version)
            );
        }
        assert!(open(&table, At::Version(19)).is_err());
        if !properties.is_empty() {
            let left = names(&table, "_sidecars").len();
            assert!(left < sidecars && left > 0, "{left} of {sidecars} sidecars are left");
            // old readers find a checkpoint that tells them the protocol
            assert!(names(&table, "").contains(&"00000000000000000020.checkpoint.parquet".to_owned()));
        }
        assert_eq!(cleanup_at(&snapshot, now, false).unwrap().deleted, Vec::<String>::new());
    }
}

#[test]
fn sidecars_stay_for_a_day_because_a_checkpoint_in_the_making_links_them_last() {
    for (age, goes) in [(DAY / 2, false), (DAY, false), (DAY + 1, true)] {
        let (table, now) = fifty_days(&[V2[0], ("delta.logRetentionDuration", "interval 0 days")]);
        for name in names(&table, "_sidecars") {
            set_time(&table, &format!("_sidecars/{name}"), now - age);
        }
        let before = names(&table, "_sidecars").len();
        let done = cleanup_at(&open(&table, At::Latest).unwrap(), now, false).unwrap();
        assert!(done.deleted.iter().any(|n| n.ends_with("49.json")));
        assert_eq!(names(&table, "_sidecars").len() < before, goes, "{age}");
        assert_eq!(files(&open(&table, At::Latest).unwrap()).unwrap(), expected(&table, 50));
    }
}

#[test]
fn hidden_files_of_killed_writers_go_after_a_day() {
    let (table, now) = fifty_days(V1);
    let hidden = |name: &str| format!(".{name}.0190a8e1b9f07c3c8f0b1d2e3f405162.tmp");
    let old = [hidden("00000000000000000051.json"), hidden("_last_checkpoint")];
    let young = hidden("00000000000000000052.json");
    // names that no writer of the log gives
    let others = [".00000000000000000051.json.crc".to_owned(), hidden("notes")];
    for (name, age) in old.iter().chain(&others).map(|name| (name, DAY + 1)).chain([(&young, DAY)]) {
        table.log_file(name, b"{}");
        set_time(&table, name, now - age);
    }
    let snapshot = open(&table, At::Latest).unwrap();
    let dry = cleanup_at(&snapshot, now, true).unwrap().deleted;
    let done = cleanup_at(&snapshot, now, false).unwrap();
    let left = names(&table, "");
    for name in &old {
        assert!(done.deleted.contains(name) && dry.contains(name) && !left.contains(name), "{name}");
    }
    for name in others.iter().chain([&young]) {
        let failed = done.failed.iter().any(|(failed, _)| failed == name);
        assert!(left.contains(name) && !done.deleted.contains(name) && !failed, "{name}");
    }
}

#[test]
fn a_checkpoint_with_a_classic_name_is_left_where_there_is_none_any_more() {
    let classic = "00000000000000000020.checkpoint.parquet".to_owned();
    for (version, is_made) in [(10, true), (30, false)] {
        let (table, now) = fifty_days(V2);
        table.checkpoint(version, &CheckpointSpec::of(CheckpointForm::Single));
        cleanup_at(&open(&table, At::Latest).unwrap(), now, false).unwrap();
        let left = names(&table, "");
        assert!(left.contains(&"00000000000000000020.json".to_owned()));
        assert!(!left.contains(&"00000000000000000019.json".to_owned()));
        assert_eq!(left.contains(&classic), is_made, "{version}");
    }
}

#[test]
fn nothing_is_deleted_on_the_word_of_a_broken_checkpoint() {
    let (table, now) = fifty_days(V1);
    table.log_file("00000000000000000020.checkpoint.parquet", b"PAR1 torn");
    set_time(&table, "00000000000000000020.checkpoint.parquet", now - 30 * DAY);
    let done = cleanup_at(&open(&table, At::Latest).unwrap(), now, false).unwrap();
    assert_eq!(done.deleted, Vec::<String>::new());
}

#[test]
fn nothing_is_deleted_on_the_word_of_a_checkpoint_that_lacks_a_sidecar() {
    for form in [CheckpointForm::V2Json(2), CheckpointForm::V2Parquet(2), CheckpointForm::V2Classic(2)] {
        for torn in [false, true] {
            let mut table = create(V2);
            for n in 1..=12 {
                table.commit(&[add(n)]);
            }
            table.checkpoint(10, &CheckpointSpec::of(form));
            let sidecar = format!("_sidecars/{}", names(&table, "_sidecars")[1]);
            match torn {
                true => drop(table.log_file(&sidecar, b"PAR1 torn")),
                false => table.remove_log_file(&sidecar),
            }
            let now = table.clock().now() + 100 * DAY;
            let snapshot = open(&table, At::Latest).unwrap();
            for dry_run in [true, false] {
                let done = cleanup_at(&snapshot, now, dry_run).unwrap();
                assert_eq!(done.deleted, Vec::<String>::new(), "{form:?}, torn: {torn}");
            }
            assert_eq!(files(&open(&table, At::Latest).unwrap()).unwrap(), expected(&table, 12));
        }
    }
}

#[test]
fn a_file_that_cannot_be_deleted_is_reported_and_the_rest_is_deleted() {
    let (table, now) = fifty_days(V1);
    let store = FaultStore::new(Arc::new(LocalStore::default()));
    let location = Location::with_store(table.location(), Arc::new(store.clone()));
    store.rule(Rule::new(Fault::Refused).on(Op::Delete).named("00000000000000000007.json"));
    let done = cleanup_at(&Snapshot::open(location, At::Latest).unwrap(), now, false).unwrap();
    assert_eq!(done.failed.len(), 1);
    assert!(done.failed[0].0.starts_with("00000000000000000007"));
    assert_eq!(files(&open(&table, At::Version(20)).unwrap()).unwrap(), expected(&table, 20));
}

#[test]
fn checkpoints_of_others_are_as_good_to_build_on() {
    for form in [CheckpointForm::MultiPart(2), CheckpointForm::V2Json(2), CheckpointForm::V2Parquet(2)] {
        let mut table = create(V2);
        for n in 1..=12 {
            table.commit(&[add(n)]);
        }
        table.checkpoint(10, &CheckpointSpec::of(form));
        let now = table.clock().now() + 100 * DAY;
        cleanup_at(&open(&table, At::Latest).unwrap(), now, false).unwrap();
        assert!(!names(&table, "").contains(&"00000000000000000009.json".to_owned()));
        for version in 10..=12 {
            assert_eq!(
                files(&open(&table, At::Version(version)).unwrap()).unwrap(),
                expected(&table, version),
                "{form:?}"
            );
        }
    }
}

#[test]
fn the_first_timestamp_in_a_commit_follows_the_time_of_the_commit_before() {
    let mut table = TableBuilder::temp();
    let schema = actions::schema(&[("id", "long")]);
    let protocol = actions::protocol_features(&[], &["inCommitTimestamp"]);
    table.commit(&[protocol, actions::metadata(&schema, &[], &[])]);
    let ahead = super::now() + DAY;
    set_time(&table, "00000000000000000000.json", ahead);
    let before = open(&table, At::Latest).unwrap();
    let mut txn = Transaction::begin(&before, Operation::new("SET TBLPROPERTIES"));
    let mut metadata = before.metadata().clone();
    metadata.configuration.insert("delta.enableInCommitTimestamps".into(), "true".into());
    txn.set_metadata(metadata);
    txn.commit().unwrap();
    let made = winners_from(before.location(), 1).unwrap();
    let at = made[0].info().unwrap().in_commit_timestamp;
    assert!(at.is_some_and(|at| at > ahead), "{at:?}");
}
