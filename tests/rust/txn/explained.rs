//! What a transaction would meet, asked without committing it.

use deltaic_core::Error;
use deltaic_core::conflict::{Changes, IsolationLevel, Outcome, TransactionRecord};
use deltaic_core::txn::{ConflictExplanation, explain_conflicts};

use super::*;

/// An append of `ours` that began at a version.
fn append_at(read_version: u64) -> TransactionRecord {
    let changes = Changes { adds: vec![file("ours", "x", 7)], ..Changes::default() };
    TransactionRecord { read_version, changes, ..TransactionRecord::default() }
}

fn reported(location: &Location, record: &TransactionRecord) -> ConflictExplanation {
    explain_conflicts(location, record).unwrap()
}

fn versions(reported: &ConflictExplanation) -> Vec<u64> {
    reported.winners.iter().map(|w| w.version).collect()
}

/// Whether a rule applies to a winner of this version.
fn applies(reported: &ConflictExplanation, version: u64, rule: &str) -> bool {
    let winner = reported.winners.iter().find(|w| w.version == version).unwrap();
    winner.rules.iter().any(|r| r.rule.as_str() == rule && r.applies)
}

fn set(location: &Location, properties: &[(&str, &str)]) {
    let mut txn = begin(location);
    txn.set_metadata(metadata(properties));
    txn.commit().unwrap();
}

#[test]
fn the_winners_are_those_after_its_version_up_to_the_last() {
    let (_, location) = table(&FEATURES, &[]);
    for n in 1..=3 {
        append(&location, &[file(&format!("f{n}"), "y", n)]);
    }
    let all = |read_version| versions(&reported(&location, &append_at(read_version)));
    assert_eq!((all(0), all(2), all(3)), (vec![1, 2, 3], vec![3], vec![]));
    let up_to = |read_version, last| TransactionRecord { last_winner: Some(last), ..append_at(read_version) };
    assert_eq!(versions(&reported(&location, &up_to(0, 2))), [1, 2]);
    assert_eq!(versions(&reported(&location, &up_to(1, 2))), [2]);
    assert_eq!(versions(&reported(&location, &up_to(2, 2))), [] as [u64; 0]);
    assert_eq!(versions(&reported(&location, &up_to(0, 3))), [1, 2, 3]);
    // a commit that is not there cannot have won
    match explain_conflicts(&location, &up_to(1, 4)) {
        Err(Error::NotFound { path }) => assert!(path.ends_with("00000000000000000004.json"), "{path}"),
        other => panic!("{other:?}"),
    }
    assert!(explain_conflicts(&location, &append_at(4)).is_err());
}

#[test]
fn what_becomes_of_it_is_the_worst_of_its_winners() {
    let (_, location) = table(&FEATURES, &[]);
    append(&location, &[file("a", "x", 0)]);
    let nothing = reported(&location, &append_at(1));
    assert_eq!((nothing.outcome, nothing.version, nothing.read_version), (Outcome::Pass, None, 1));
    append(&location, &[file("b", "x", 1)]);
    let passes = reported(&location, &append_at(1));
    assert_eq!((passes.outcome, passes.version), (Outcome::Pass, None));
    assert_eq!(passes.isolation_level, IsolationLevel::WriteSerializable);
    // other rows of one file: both vectors become one
    let before = live(&location, "a");
    let replaced = |deleted: &[u64]| {
        let mut txn = begin(&location);
        delete_rows(&mut txn, &before, deleted);
        txn
    };
    let ours = replaced(&[1, 2]).changes().clone();
    replaced(&[3]).commit().unwrap();
    let record = TransactionRecord { changes: ours, ..append_at(2) };
    let rebased = reported(&location, &record);
    assert_eq!((rebased.outcome, rebased.version), (Outcome::Rebase, None));
    assert!(applies(&rebased, 3, "other-rows"));
    // the rows that it has after that are no longer free
    let mut txn = begin(&location);
    delete_rows(&mut txn, &live(&location, "a"), &[2, 3]);
    txn.commit().unwrap();
    let lost = reported(&location, &record);
    assert_eq!((lost.outcome, lost.version), (Outcome::Conflict, Some(4)));
    assert_eq!(lost.winners[0].outcome, Outcome::Rebase);
}

#[test]
fn work_that_another_commit_did_is_reported_before_a_conflict() {
    let (_, location) = table(&FEATURES, &[]);
    let mut ours = begin(&location);
    ours.app_transaction("app", 4);
    ours.domain(domain("d"));
    let mut txn = begin(&location);
    txn.domain(domain("d"));
    txn.commit().unwrap();
    let mut txn = begin(&location);
    txn.app_transaction("app", 4);
    txn.commit().unwrap();
    let record = TransactionRecord { changes: ours.changes().clone(), ..append_at(0) };
    let recorded = reported(&location, &record);
    assert_eq!((recorded.outcome, recorded.version), (Outcome::Recorded, Some(2)));
    let outcomes: Vec<Outcome> = recorded.winners.iter().map(|w| w.outcome).collect();
    assert_eq!(outcomes, [Outcome::Conflict, Outcome::Recorded]);
}

#[test]
fn each_winner_is_checked_against_the_table_that_the_ones_before_left() {
    let (_, location) = table(&FEATURES, &[]);
    // there and back again: against the version that it began at, the second one changes nothing
    set(&location, &[("delta.logRetentionDuration", "interval 1 day")]);
    set(&location, &[]);
    let there_and_back = reported(&location, &append_at(0));
    assert!(applies(&there_and_back, 1, "properties-set") && applies(&there_and_back, 2, "properties-set"));

    let (_, location) = table(&FEATURES, &[]);
    let mut txn = begin(&location);
    let before = open(&location).protocol().clone();
    let mut with = before.clone();
    with.writer_features.as_mut().unwrap().push("vacuumProtocolCheck".into());
    with.reader_features.as_mut().unwrap().push("vacuumProtocolCheck".into());
    txn.set_protocol(with);
    txn.commit().unwrap();
    let mut txn = begin(&location);
    txn.drops_feature("vacuumProtocolCheck");
    txn.set_protocol(before);
    txn.commit().unwrap();
    let there_and_back = reported(&location, &append_at(0));
    assert!(applies(&there_and_back, 1, "features-added"));
    assert!(applies(&there_and_back, 2, "protocol-changed"));
    assert_eq!((there_and_back.outcome, there_and_back.version), (Outcome::Conflict, Some(2)));
}

#[test]
fn vectors_that_only_the_record_holds_are_followed_too() {
    let (_, location) = table(&FEATURES, &[("delta.enableDeletionVectors", "true")]);
    append(&location, &[file("a", "x", 0), file("b", "x", 1)]);
    let mut ours = begin(&location);
    delete_rows(&mut ours, &live(&location, "a"), &[1]);
    let record = TransactionRecord { changes: ours.changes().clone(), ..append_at(1) };
    for deleted in [&[2][..], &[2, 3]] {
        let mut txn = begin(&location);
        delete_rows(&mut txn, &live(&location, "a"), deleted);
        txn.commit().unwrap();
    }
    // what became of it behind the first is what the second meets
    let reported = reported(&location, &record);
    let outcomes: Vec<Outcome> = reported.winners.iter().map(|w| w.outcome).collect();
    assert_eq!((outcomes, reported.outcome), (vec![Outcome::Rebase; 2], Outcome::Rebase));
    assert!(
        reported.winners.iter().all(|w| w.rules.iter().all(|r| r.rule.as_str() != "same-rows" || !r.applies))
    );
}

#[test]
fn timestamps_that_a_winner_turns_on_are_no_rule_of_a_table_without_them() {
    let (_, location) = table(&FEATURES, &[]);
    set(&location, &[("delta.enableInCommitTimestamps", "true")]);
    append(&location, &[file("a", "x", 0)]);
    let reported = reported(&location, &append_at(0));
    assert!(!applies(&reported, 1, "in-commit-timestamps") && applies(&reported, 2, "in-commit-timestamps"));
}

#[test]
fn a_lost_race_names_the_application_or_the_domain() {
    let (_, location) = table(&FEATURES, &[]);
    type Claim = fn(&mut Transaction);
    let claims: [(Claim, &str); 2] = [
        (|txn| txn.domain(domain("d")), "domain `d`"),
        (|txn| txn.app_transaction("app", 1), "application `app`"),
    ];
    for (claim, name) in claims {
        let (mut winner, mut ours) = (begin(&location), begin(&location));
        claim(&mut winner);
        claim(&mut ours);
        ours.add(file(name, "x", 0));
        winner.add(file("theirs", "y", 0));
        winner.commit().unwrap();
        if let Err(error) = ours.commit() {
            assert!(error.to_string().contains(name), "{error}");
            assert_eq!(error.conflict().unwrap().predicate, None);
        } else {
            assert!(name.starts_with("application"), "{name}");
        }
    }
}

#[test]
fn a_file_that_was_stated_again_keeps_what_it_was_given() {
    let (_, location) = table(&FEATURES, &[]);
    append(&location, &[file("a", "x", 0), file("b", "x", 1)]);
    let (mut winner, mut ours) = (begin(&location), begin(&location));
    let restated = Add {
        data_change: false,
        base_row_id: Some(40),
        default_row_commit_version: Some(1),
        ..live(&location, "a")
    };
    winner.add(restated);
    delete_rows(&mut ours, &live(&location, "a"), &[1]);
    ours.add(file("new", "x", 9));
    winner.commit().unwrap();
    ours.commit().unwrap();
    let ids = |name: &str| live(&location, name).base_row_id;
    assert_eq!((ids("a"), ids("b"), ids("new")), (Some(40), None, None));
}

#[test]
fn a_rule_is_reported_once_for_each_domain() {
    let (_, location) = table(&FEATURES, &[]);
    let (mut winner, mut ours) = (begin(&location), begin(&location));
    for name in ["d", "e"] {
        winner.domain(domain(name));
        ours.domain(domain(name));
    }
    let record = TransactionRecord { changes: ours.changes().clone(), ..append_at(0) };
    winner.commit().unwrap();
    let reported = reported(&location, &record);
    let rules = reported.winners[0].rules.iter().filter(|r| r.rule.as_str() == "metadata-domain");
    let subjects: Vec<_> = rules.map(|r| r.subject.as_deref()).collect();
    assert_eq!(subjects, [Some("d"), Some("e")]);
}
