//! What each attempt takes from the table as it stands: timestamps, row ids, protocol and metadata.

use super::*;

/// Far ahead of any clock.
const AHEAD: i64 = 32_503_680_000_000;

fn in_commit_timestamp(location: &Location, version: usize) -> i64 {
    commits(location)[version].info().unwrap().in_commit_timestamp.unwrap()
}

#[test]
fn in_commit_timestamps_never_go_back() {
    let (_, location) = table(&FEATURES, &[("delta.enableInCommitTimestamps", "true")]);
    let before = open(&location);
    // a writer whose clock is far ahead
    let body = format!("{{\"commitInfo\":{{\"inCommitTimestamp\":{AHEAD},\"isBlindAppend\":true}}}}\n");
    let path = deltaic_core::log::commit_path(&location, 1);
    location.store().put_if_absent(&path, body.into()).unwrap();
    let mut late = Transaction::begin(&before, Operation::new("WRITE"));
    late.add(file("a", "x", 0));
    assert_eq!(late.commit().unwrap().in_commit_timestamp, Some(AHEAD + 1));
    append(&location, &[file("b", "x", 0)]);
    assert_eq!(in_commit_timestamp(&location, 3), AHEAD + 2);
    let body = location.store().get(&deltaic_core::log::commit_path(&location, 3)).unwrap();
    assert!(body.starts_with(br#"{"commitInfo":{"inCommitTimestamp":32503680000002,"#));
}

#[test]
fn the_commit_that_enables_timestamps_says_which_it_is() {
    let (_, location) = table(&FEATURES, &[]);
    let mut enable = begin(&location);
    enable.set_metadata(metadata(&[("delta.enableInCommitTimestamps", "true")]));
    // it loses a race first, and is another version then
    append(&location, &[file("a", "x", 0)]);
    let committed = enable.commit().unwrap();
    assert_eq!(committed.version, 2);
    let configuration = open(&location).metadata().configuration.clone();
    assert_eq!(configuration["delta.inCommitTimestampEnablementVersion"], "2");
    let timestamp = in_commit_timestamp(&location, 2);
    assert_eq!(configuration["delta.inCommitTimestampEnablementTimestamp"], timestamp.to_string());
    let before = location.store().head(&deltaic_core::log::commit_path(&location, 1)).unwrap();
    assert!(timestamp > before.modified);
    assert_eq!(open(&location).timestamp().unwrap(), timestamp);
}

#[test]
fn a_transaction_that_began_before_timestamps_were_enabled_has_one() {
    let (_, location) = table(&FEATURES, &[]);
    let mut txn = begin(&location);
    txn.add(file("a", "x", 0));
    let mut enable = begin(&location);
    enable.set_metadata(metadata(&[("delta.enableInCommitTimestamps", "true")]));
    enable.commit().unwrap();
    assert_eq!(txn.commit().unwrap().version, 2);
    assert!(in_commit_timestamp(&location, 2) > in_commit_timestamp(&location, 1));
}

const TRACKED: [&str; 3] = ["deletionVectors", "domainMetadata", "rowTracking"];

fn mark(location: &Location) -> String {
    let domains = open(location).domain_metadata().unwrap();
    domains.into_iter().find(|d| d.domain == "delta.rowTracking").unwrap().configuration
}

#[test]
fn row_ids_are_given_once_and_after_those_of_the_winners() {
    let (_, location) = table(&TRACKED, &[("delta.enableRowTracking", "true")]);
    let before = open(&location);
    append(&location, &[file("a", "x", 0), file("b", "x", 1)]);
    assert_eq!(mark(&location), r#"{"rowIdHighWaterMark":19}"#);
    let mut late = Transaction::begin(&before, Operation::new("WRITE"));
    late.add(file("c", "x", 2));
    assert_eq!(late.commit().unwrap().version, 2);
    let ids = |name: &str| {
        let add = live(&location, name);
        (add.base_row_id.unwrap(), add.default_row_commit_version.unwrap())
    };
    assert_eq!((ids("a"), ids("b"), ids("c")), ((0, 1), (10, 1), (20, 2)));
    assert_eq!(mark(&location), r#"{"rowIdHighWaterMark":29}"#);
    // a file that only gets a deletion vector keeps its ids
    let mut delete = begin(&location);
    delete_rows(&mut delete, &live(&location, "b"), &[3]);
    delete.commit().unwrap();
    assert_eq!((ids("b"), mark(&location).as_str()), ((10, 1), r#"{"rowIdHighWaterMark":29}"#));
    let tags = |version: usize| commits(&location)[version].info().unwrap().other["tags"].to_string();
    assert_eq!(tags(1), r#"{"delta.rowTracking.preserved":"true"}"#);
    let mut rewrite = begin(&location);
    rewrite.remove_file(&live(&location, "a"), true);
    rewrite.add(file("a2", "x", 0));
    rewrite.set_row_ids_preserved(false);
    rewrite.commit().unwrap();
    assert_eq!(tags(4), r#"{"delta.rowTracking.preserved":"false"}"#);
}

#[test]
fn row_tracking_that_is_suspended_gives_no_ids() {
    let (_, location) = table(&TRACKED, &[("delta.rowTrackingSuspended", "true")]);
    append(&location, &[bare(file("a", "x", 0))]);
    assert_eq!(live(&location, "a").base_row_id, None);
}

#[test]
fn a_file_of_unknown_length_gets_no_row_ids() {
    let (_, location) = table(&TRACKED, &[]);
    let mut txn = begin(&location);
    txn.add(bare(file("a", "x", 0)));
    assert_eq!(txn.commit().unwrap_err().kind(), "DataFile");
}

#[test]
fn what_the_winner_made_of_the_table_is_checked_again() {
    let (_, location) = table(&["appendOnly"], &[]);
    let mut txn = begin(&location);
    txn.domain(domain("d"));
    assert_eq!(txn.commit().unwrap_err().kind(), "InvalidAction");
    // features that ask nothing of an append, and properties that no file depends on
    let mut late = begin(&location);
    late.add(file("a", "x", 0));
    let mut upgrade = begin(&location);
    upgrade.set_protocol(protocol(&FEATURES));
    upgrade.set_metadata(metadata(&[("delta.checkpointInterval", "20")]));
    upgrade.commit().unwrap();
    assert_eq!(late.commit().unwrap().version, 2);
    assert_eq!(open(&location).metadata().configuration["delta.checkpointInterval"], "20");
}

#[test]
fn a_commit_behind_one_that_enables_row_tracking_does_not_say_that_rows_kept_their_ids() {
    let tags = |properties: &[(&str, &str)], winner: &[(&str, &str)], rewrites: bool| {
        let (_, location) = table(&TRACKED, properties);
        append(&location, &[file("a", "x", 0)]);
        let mut late = begin(&location);
        if rewrites {
            late.remove_file(&live(&location, "a"), true);
            late.set_row_ids_preserved(true);
        }
        late.add(file("a2", "x", 0));
        let mut change = begin(&location);
        change.set_metadata(metadata(winner));
        change.commit().unwrap();
        assert_eq!(late.commit().unwrap().version, 3);
        let info = commits(&location)[3].info().unwrap().clone();
        info.other.get("tags").map(ToString::to_string)
    };
    let enabled = ("delta.enableRowTracking", "true");
    let tag = |preserved: bool| Some(format!(r#"{{"delta.rowTracking.preserved":"{preserved}"}}"#));
    for rewrites in [false, true] {
        assert_eq!(tags(&[], &[enabled], rewrites), tag(false), "{rewrites}");
        // where it was enabled before, rows have their ids
        let other = [enabled, ("delta.checkpointInterval", "20")];
        assert_eq!(tags(&[enabled], &other, rewrites), tag(true), "{rewrites}");
        assert_eq!(tags(&[], &[("delta.checkpointInterval", "20")], rewrites), None, "{rewrites}");
    }
}

#[test]
fn files_of_a_commit_behind_one_that_adds_the_feature_of_row_tracking_get_row_ids() {
    let (_, location) = table(&["domainMetadata"], &[]);
    let mut late = begin(&location);
    late.add(file("a", "x", 0));
    let mut upgrade = begin(&location);
    upgrade.set_protocol(protocol(&TRACKED));
    upgrade.commit().unwrap();
    assert_eq!(late.commit().unwrap().version, 2);
    let add = live(&location, "a");
    assert_eq!((add.base_row_id, add.default_row_commit_version), (Some(0), Some(2)));
    assert_eq!(mark(&location), r#"{"rowIdHighWaterMark":9}"#);
}
