//! Random histories: every way to a version gives the same state.

use std::collections::BTreeSet;

use deltaic_core::actions::{Action, ActionRef};
use deltaic_core::checkpoint::{
    checkpoint, checksum_of, cleanup_at, compact, read_checksum, validate_checksum, write_checksum,
};
use deltaic_core::log::commit_name;
use deltaic_core::replay::CommitActions;
use deltaic_core::snapshot::At;
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::verify::{FindingKind, VerifyOptions, verify};
use deltaic_testkit::{TableBuilder, actions};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{V1, V2, add, create, remove};
use crate::load::{expected, files, open, vector};

/// What one step of a history does.
#[derive(Debug, Clone)]
enum Step {
    /// A commit that adds this many files, removes some of the living, puts a vector on one, notes an application.
    Commit {
        adds: u8,
        removes: Vec<u8>,
        vector: Option<u8>,
        txn: Option<u8>,
        domain: Option<(u8, bool)>,
    },
    Checkpoint,
    Compact(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let commit = (
        0..4u8,
        prop::collection::vec(any::<u8>(), 0..3),
        prop::option::of(any::<u8>()),
        prop::option::of(0..3u8),
        prop::option::of((0..2u8, any::<bool>())),
    );
    prop_oneof![
        6 => commit.prop_map(|(adds, removes, vector, txn, domain)| Step::Commit { adds, removes, vector, txn, domain }),
        1 => Just(Step::Checkpoint),
        1 => (1..6u8).prop_map(Step::Compact),
    ]
}

/// Live files: number and cardinality of the vector.
#[derive(Default)]
struct Model {
    live: Vec<(i64, Option<i64>)>,
    next: i64,
}

fn with_vector(action: Value, cardinality: Option<i64>) -> Value {
    cardinality.map_or(action.clone(), |c| actions::with(action, "deletionVector", vector(c)))
}

impl Model {
    fn take(&mut self, pick: u8) -> Option<(i64, Option<i64>)> {
        (!self.live.is_empty()).then(|| self.live.remove(usize::from(pick) % self.live.len()))
    }

    fn commit(&mut self, step: &Step) -> Vec<Value> {
        let Step::Commit { adds, removes, vector, txn, domain } = step else { return Vec::new() };
        let mut out = vec![actions::commit_info(1, "WRITE")];
        for pick in removes {
            if let Some((n, cardinality)) = self.take(*pick) {
                out.push(with_vector(remove(n), cardinality));
            }
        }
        if let Some((n, old)) = vector.and_then(|pick| self.take(pick)) {
            let new = Some(old.unwrap_or(0) + 1);
            out.push(with_vector(remove(n), old));
            out.push(with_vector(add(n), new));
            self.live.push((n, new));
        }
        for _ in 0..*adds {
            out.push(add(self.next));
            self.live.push((self.next, None));
            self.next += 1;
        }
        out.extend(txn.map(|app| actions::txn(&format!("app{app}"), self.next)));
        out.extend(
            domain.map(|(d, removed)| actions::domain(&format!("d{d}"), &self.next.to_string(), removed)),
        );
        out
    }
}

/// The checksum as a writer makes it after a commit.
fn checksum(table: &TableBuilder, location: &Location, version: u64) {
    let path = table.root().join("_delta_log").join(commit_name(version));
    let all = CommitActions::parse(&std::fs::read(path).unwrap(), "commit", None).unwrap().actions;
    let refs: Vec<ActionRef<'_>> = all.iter().map(ActionRef::from).collect();
    let infos =
        all.iter().find_map(|a| if let Action::CommitInfo(i) = a { Some(i.as_ref().clone()) } else { None });
    assert!(write_checksum(location, version, None, &infos.unwrap_or_default(), &refs).unwrap());
}

fn others(table: &TableBuilder, version: u64) -> (BTreeSet<String>, BTreeSet<String>) {
    let state = table.state(version);
    let all = |kind: &str, field: &str| {
        state
            .iter()
            .filter_map(|a| {
                Some(format!(
                    "{} {}",
                    a.get(kind)?[field],
                    a[kind].get("version").or(a[kind].get("configuration"))?
                ))
            })
            .collect()
    };
    (all("txn", "appId"), all("domainMetadata", "domain"))
}

fn check(table: &TableBuilder, at: At, version: u64) -> Result<(), TestCaseError> {
    let snapshot = open(table, at).unwrap();
    prop_assert_eq!(snapshot.version(), version);
    prop_assert_eq!(files(&snapshot).unwrap(), expected(table, version));
    let txns = snapshot
        .app_transactions()
        .unwrap()
        .iter()
        .map(|t| format!("{} {}", json!(t.app_id), t.version))
        .collect();
    let domains = snapshot.domain_metadata().unwrap();
    let domains = domains.iter().map(|d| format!("{} {}", json!(d.domain), json!(d.configuration))).collect();
    prop_assert_eq!((txns, domains), others(table, version));
    prop_assert_eq!(snapshot.report().fallbacks, Vec::<String>::new());
    Ok(())
}

/// The table has no finding but for what these histories do without: data files, vectors, and the feature for vectors
/// in V1.
fn is_whole(location: &Location) -> Result<(), TestCaseError> {
    let mut report = verify(location, &VerifyOptions::default()).unwrap();
    let without = [FindingKind::MissingFile, FindingKind::MissingDeletionVector, FindingKind::MissingFeature];
    report.findings.retain(|f| !without.contains(&f.kind));
    prop_assert_eq!(report.findings, vec![]);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// From zero, from our V1 and V2 checkpoints, through our compacted files, with and without checksums: one state.
    #[test]
    fn t21_every_way_to_a_version_gives_its_state(v2: bool, steps in prop::collection::vec(step(), 1..30)) {
        let mut table = create(if v2 { V2 } else { V1 });
        let location = Location::open(&table.uri(), &StorageOptions::new()).unwrap();
        let mut model = Model::default();
        let mut version = 0;
        checksum(&table, &location, 0);
        for step in &steps {
            match step {
                Step::Commit { .. } => {
                    version = table.commit(&model.commit(step));
                    checksum(&table, &location, version);
                }
                Step::Checkpoint => {
                    let done = checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
                    prop_assert!(done.existed || done.num_files == model.live.len() as u64);
                }
                Step::Compact(length) => {
                    let from = version.saturating_sub(u64::from(*length));
                    if from < version {
                        compact(&location, from, version).unwrap();
                    }
                }
            }
            check(&table, At::Latest, version)?;
        }
        for version in 0..=version {
            check(&table, At::Version(version), version)?;
            let snapshot = open(&table, At::Version(version)).unwrap();
            let incremental = read_checksum(&location, version).unwrap().unwrap();
            prop_assert_eq!(&incremental, &checksum_of(&snapshot).unwrap());
            prop_assert_eq!(validate_checksum(&snapshot, &incremental).unwrap(), vec![]);
        }
        is_whole(&location)?;
        cleanup_at(&open(&table, At::Latest).unwrap(), i64::MAX, false).unwrap();
        is_whole(&location)?;
    }
}

#[test]
fn a_wrong_checksum_is_reported_field_by_field() {
    let mut table = create(V1);
    table.commit(&[add(1), actions::txn("a", 1)]);
    let snapshot = open(&table, At::Latest).unwrap();
    let mut lie = checksum_of(&snapshot).unwrap();
    lie.num_files = 7;
    lie.set_transactions = Some(Vec::new());
    let reported = validate_checksum(&snapshot, &lie).unwrap();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(
        reported[0].to_string().starts_with("numFiles: the checksum states 7, the log gives 1"),
        "{reported:?}"
    );
    assert_eq!(reported[1].field, "setTransactions");
}

#[test]
fn a_compacted_file_needs_all_its_commits() {
    let mut table = create(V1);
    for n in 0..3 {
        table.commit(&[add(n)]);
    }
    let location = Location::open(&table.uri(), &StorageOptions::new()).unwrap();
    assert!(compact(&location, 2, 2).is_err());
    assert!(matches!(compact(&location, 2, 4), Err(deltaic_core::Error::LogGap { version: 4, .. })));
    let done = compact(&location, 1, 3).unwrap();
    assert_eq!((done.kept, done.existed), (3, false));
    assert!(compact(&location, 1, 3).unwrap().existed);
}
