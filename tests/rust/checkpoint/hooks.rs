//! What follows a commit, and cannot fail it.

use std::sync::Arc;

use deltaic_core::actions::{Action, ActionRef, CommitInfo};
use deltaic_core::after_commit::{AfterCommit, NewCommit, after_commit};
use deltaic_core::replay::CommitActions;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{LocalStore, Location};
use deltaic_testkit::{Fault, FaultStore, Op, Rule, TableBuilder, actions};
use serde_json::Value;

use super::{V1, V2, add, create, names};
use crate::load::{expected, files, open};

fn commit(table: &mut TableBuilder, location: &Location, values: &[Value]) -> AfterCommit {
    let version = table.commit(values);
    let body: String = values.iter().map(|v| format!("{v}\n")).collect();
    let actions: Vec<Action> = CommitActions::parse(body.as_bytes(), "commit", None).unwrap().actions;
    let snapshot = Snapshot::open(location.clone(), At::Version(version)).unwrap();
    after_commit(&NewCommit {
        location,
        version,
        info: &CommitInfo::default(),
        actions: &actions.iter().map(ActionRef::from).collect::<Vec<_>>(),
        protocol: snapshot.protocol(),
        metadata: snapshot.metadata(),
        snapshot: None,
    })
}

fn location(table: &TableBuilder) -> (FaultStore, Location) {
    let store = FaultStore::new(Arc::new(LocalStore::default()));
    (store.clone(), Location::with_store(table.location(), Arc::new(store)))
}

#[test]
fn every_commit_gets_a_checksum_and_each_tenth_a_checkpoint() {
    for properties in [V1, V2] {
        let long = [properties, &[("delta.logRetentionDuration", "interval 10000 days")]].concat();
        let mut table = create(&long);
        let (_, location) = location(&table);
        // version 0 was committed by somebody who writes no checksums
        for n in 1..=25 {
            let done = commit(&mut table, &location, &[add(n)]);
            assert_eq!(done.warnings, Vec::<String>::new());
            assert_eq!(done.checkpoint.is_some(), n % 10 == 0);
            assert_eq!(done.cleanup.is_some(), n % 10 == 0);
            // the first one came with the first checkpoint
            assert_eq!(done.checksum, n > 10, "version {n}");
        }
        let crcs = names(&table, "").into_iter().filter(|n| n.ends_with(".crc")).count();
        assert_eq!(crcs, 16);
        let latest = open(&table, At::Latest).unwrap();
        assert_eq!(
            (latest.report().checkpoint_version, latest.report().opened_from.as_str()),
            (Some(20), "checksum")
        );
        assert_eq!(files(&latest).unwrap(), expected(&table, 25));
    }
}

#[test]
fn t3_nothing_that_follows_a_commit_fails_it() {
    for op in [Op::Put, Op::PutIfAbsent, Op::Get, Op::ListFrom, Op::Delete] {
        let mut table =
            create(&[("delta.checkpointInterval", "2"), ("delta.logRetentionDuration", "interval 0 days")]);
        let (store, location) = location(&table);
        commit(&mut table, &location, &[add(1)]);
        for n in 2..=8 {
            let version = table.commit(&[add(n)]);
            let added = Action::Add(serde_json::from_value(add(n)["add"].clone()).unwrap());
            let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
            store.rule(Rule::new(Fault::Refused).on(op).always());
            let done = after_commit(&NewCommit {
                location: &location,
                version,
                info: &CommitInfo::default(),
                actions: &[ActionRef::from(&added)],
                protocol: snapshot.protocol(),
                metadata: snapshot.metadata(),
                snapshot: None,
            });
            store.heal();
            if matches!(op, Op::Put | Op::ListFrom) && n % 2 == 0 {
                assert_eq!(done.warnings.len(), 1, "{op:?}: {:?}", done.warnings);
            }
            assert_eq!(
                files(&open(&table, At::Latest).unwrap()).unwrap(),
                expected(&table, version),
                "{op:?}"
            );
        }
    }
}

#[test]
fn a_property_that_cannot_be_read_is_a_warning() {
    let mut table = create(V1);
    let (_, location) = location(&table);
    let schema = actions::schema(&[("id", "long"), ("p", "string")]);
    let done = commit(
        &mut table,
        &location,
        &[actions::metadata(&schema, &["p"], &[("delta.checkpointInterval", "often")])],
    );
    assert_eq!(done.warnings.len(), 1);
    assert!(done.warnings[0].contains("delta.checkpointInterval"), "{:?}", done.warnings);
}
