//! Every cell of the conflict matrix, and the page that shows it.

use deltaic_core::actions::{Add, Metadata, Protocol};
use deltaic_core::conflict::{
    IdentityValues, IsolationLevel, MATRIX, Ours, Outcome, StoredVectors, TransactionRecord, Verdict, decide,
    findings, markdown,
};
use deltaic_core::error::ConflictRule;
use deltaic_core::store::Location;
use deltaic_core::txn::{Operation, Transaction, explain_conflicts};

use crate::txn::{
    append, begin, commits, compact, compare, delete_rows, domain, file, id_below, live, metadata, open,
    partition_is, protocol, rows, table,
};

#[test]
fn the_documentation_shows_the_matrix() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conflicts.md");
    if std::env::var_os("DELTAIC_WRITE_DOCS").is_some() {
        std::fs::write(page, markdown()).unwrap();
    }
    assert!(
        std::fs::read_to_string(page).unwrap() == markdown(),
        "docs/conflicts.md is not what the code says; run this test with DELTAIC_WRITE_DOCS=1"
    );
}

/// Two transactions that begin at one version of a table: the winner, and the one that comes after it.
struct Pair {
    location: Location,
    winner: Transaction,
    ours: Transaction,
}

const FEATURES: [&str; 7] = [
    "deletionVectors",
    "domainMetadata",
    "appendOnly",
    "inCommitTimestamp",
    "identityColumns",
    "changeDataFeed",
    "checkConstraints",
];

/// Files `a` (ids 0 to 9), `b` (10 to 19) in partition `x`, `c` (20 to 29) in `y`.
fn pair(features: &[&str], properties: &[(&str, &str)]) -> Pair {
    let (_, location) = table(features, properties);
    append(&location, &[file("a", "x", 0), file("b", "x", 1), file("c", "y", 2)]);
    Pair { winner: begin(&location), ours: begin(&location), location }
}

impl Pair {
    fn live(&self, name: &str) -> Add {
        live(&self.location, name)
    }

    fn metadata(&self, change: impl FnOnce(&mut Metadata)) -> Metadata {
        let mut metadata = open(&self.location).metadata().clone();
        change(&mut metadata);
        metadata
    }

    fn protocol(&self, change: impl FnOnce(&mut Protocol)) -> Protocol {
        let mut protocol = open(&self.location).protocol().clone();
        change(&mut protocol);
        protocol
    }
}

fn set(key: &'static str, value: &'static str) -> impl FnOnce(&mut Metadata) {
    move |m| {
        m.configuration.insert(key.into(), value.into());
    }
}

/// Makes `id` an identity column, from 1 on.
fn identity_column(metadata: &mut Metadata) {
    let identity =
        "\"delta.identity.start\":1,\"delta.identity.step\":1,\"delta.identity.allowExplicitInsert\":true";
    let at = metadata.schema_string.rfind("\"metadata\":{").unwrap() + "\"metadata\":{".len();
    metadata.schema_string.insert_str(at, identity);
}

/// Values of `id` up to this one.
fn made(last: i64) -> IdentityValues {
    IdentityValues { generated: vec!["id".into()], ..brought(last) }
}

/// The same, as the rows brought them.
fn brought(last: i64) -> IdentityValues {
    IdentityValues { written: [("id".into(), last)].into(), generated: Vec::new() }
}

/// A pair for which the rule holds.
fn scene(rule: ConflictRule) -> Pair {
    let mut pair = pair(&FEATURES, &[]);
    match rule {
        ConflictRule::Overtaken => {
            pair.winner.app_transaction("app", 1);
            pair.ours.read_state();
            pair.ours.add(file("new", "x", 9));
        }
        ConflictRule::ProtocolChanged => {
            let drops = pair.protocol(|p| p.writer_features = Some(vec!["deletionVectors".into()]));
            FEATURES.iter().skip(1).for_each(|name| pair.winner.drops_feature(*name));
            pair.winner.set_protocol(Protocol { reader_features: drops.writer_features.clone(), ..drops });
            pair.ours.add(file("new", "x", 9));
        }
        ConflictRule::FeaturesAdded => {
            let adds =
                pair.protocol(|p| p.writer_features.as_mut().unwrap().push("vacuumProtocolCheck".into()));
            let mut reader = adds.reader_features.clone().unwrap();
            reader.push("vacuumProtocolCheck".into());
            pair.winner.set_protocol(Protocol { reader_features: Some(reader), ..adds });
            pair.ours.add(file("new", "x", 9));
        }
        ConflictRule::MetadataChanged => {
            pair.winner.set_metadata(pair.metadata(set("delta.enableChangeDataFeed", "true")));
            pair.ours.add(file("new", "x", 9));
        }
        ConflictRule::PropertiesSet => {
            pair.winner.set_metadata(pair.metadata(set("delta.logRetentionDuration", "interval 1 day")));
            pair.ours.add(file("new", "x", 9));
        }
        ConflictRule::IdentityAdvanced => {
            let mark = |mark: &str| {
                let meta = format!("\"metadata\":{{\"delta.identity.highWaterMark\":{mark}}}");
                move |m: &mut Metadata| {
                    let at = m.schema_string.rfind("\"metadata\":{").unwrap();
                    let end = at + m.schema_string[at..].find('}').unwrap() + 1;
                    m.schema_string.replace_range(at..end, &meta);
                }
            };
            let mut first = begin(&pair.location);
            first.set_metadata(pair.metadata(mark("5")));
            first.commit().unwrap();
            (pair.winner, pair.ours) = (begin(&pair.location), begin(&pair.location));
            pair.winner.set_metadata(pair.metadata(mark("7")));
            pair.ours.add(file("new", "x", 9));
        }
        ConflictRule::IdentityTaken => {
            let mut first = begin(&pair.location);
            first.set_metadata(pair.metadata(identity_column));
            first.commit().unwrap();
            (pair.winner, pair.ours) = (begin(&pair.location), begin(&pair.location));
            pair.winner.advance_identities(made(3)).unwrap();
            pair.ours.add(file("new", "x", 9));
            pair.ours.advance_identities(made(5)).unwrap();
        }
        ConflictRule::Transaction => {
            pair.winner.app_transaction("app", 1);
            pair.ours.app_transaction("app", 2);
        }
        ConflictRule::Domain => {
            pair.winner.domain(domain("d"));
            pair.ours.domain(domain("d"));
        }
        ConflictRule::AppendRead => {
            pair.winner.read_predicate(&partition_is("y")).unwrap();
            pair.winner.add(file("theirs", "x", 0));
            pair.ours.read_matching(&partition_is("x"), [&pair.live("a").path]).unwrap();
            pair.ours.remove_file(&live(&pair.location, "a"), true);
        }
        ConflictRule::BlindAppendRead | ConflictRule::BlindAppendMetadata | ConflictRule::AppendElsewhere => {
            let place = if rule == ConflictRule::AppendElsewhere { "y" } else { "x" };
            pair.winner.add(file("theirs", place, 0));
            pair.ours.read_matching(&partition_is("x"), [&pair.live("a").path]).unwrap();
            pair.ours.remove_file(&live(&pair.location, "a"), true);
            if rule == ConflictRule::BlindAppendMetadata {
                pair.ours.set_metadata(pair.metadata(set("delta.constraints.c", "id > 0")));
            }
        }
        ConflictRule::RewriteAdded => {
            pair.winner.add(Add { data_change: false, ..file("theirs", "x", 0) });
            pair.ours.read_whole_table();
            pair.ours.add(file("new", "x", 9));
        }
        ConflictRule::RemoveRead | ConflictRule::RewriteRead => {
            pair.winner.remove_file(&live(&pair.location, "a"), rule == ConflictRule::RemoveRead);
            pair.ours.read_files([&pair.live("a").path]).unwrap();
            pair.ours.add(file("new", "x", 9));
        }
        ConflictRule::FileRewritten => {
            pair.winner.remove_file(&live(&pair.location, "a"), false);
            pair.ours.remove_file(&live(&pair.location, "a"), true);
        }
        ConflictRule::FileRestated => {
            pair.winner.add(Add { data_change: false, base_row_id: Some(40), ..live(&pair.location, "a") });
            pair.ours.remove_file(&live(&pair.location, "a"), true);
        }
        ConflictRule::FileAdded => {
            pair.winner.add(file("new", "x", 9));
            pair.ours.add(file("new", "x", 9));
        }
        ConflictRule::OtherRows | ConflictRule::SameRows => {
            delete_rows(&mut pair.winner, &live(&pair.location, "a"), &[1, 2]);
            let ours: &[u64] = if rule == ConflictRule::SameRows { &[2, 3] } else { &[3, 4] };
            delete_rows(&mut pair.ours, &live(&pair.location, "a"), ours);
        }
        ConflictRule::RowsMoved => {
            pair = self::pair(&FEATURES, &[("delta.enableDeletionVectors", "true")]);
            delete_rows(&mut pair.winner, &live(&pair.location, "a"), &[1, 2]);
            compact(&mut pair.ours, &pair.location);
        }
        ConflictRule::RowIds => {
            pair = self::pair(&["domainMetadata", "rowTracking"], &[]);
            pair.winner.add(file("theirs", "x", 0));
            pair.ours.add(file("new", "x", 9));
        }
        ConflictRule::InCommitTimestamps => {
            pair = self::pair(&FEATURES, &[("delta.enableInCommitTimestamps", "true")]);
            pair.winner.add(file("theirs", "x", 0));
            pair.ours.add(file("new", "x", 9));
        }
        other => panic!("`{other}` has no scene"),
    }
    pair
}

#[test]
fn every_cell_of_the_matrix_holds() {
    for row in MATRIX {
        for level in IsolationLevel::ALL {
            let Pair { location, winner, mut ours } = scene(row.rule);
            let before = ours.snapshot().unwrap().clone();
            let won = winner.commit().unwrap().version;
            let theirs = commits(&location).pop().unwrap();
            let found = {
                let ours = Ours {
                    root: location.root(),
                    protocol: before.protocol(),
                    metadata: before.metadata(),
                    reads: ours.reads(),
                    changes: ours.changes(),
                };
                findings(&ours, &theirs, &StoredVectors::new(&location)).unwrap()
            };
            let cell = format!("{} at {level}", row.rule);
            assert!(found.iter().any(|f| f.rule == row.rule), "{cell}: {found:?}");
            ours.set_isolation(level);
            match (row.verdict(level), ours.commit()) {
                (Verdict::Conflict(kind), Err(error)) => {
                    assert_eq!(error.kind(), format!("{kind:?}"), "{cell}");
                    let lost = error.conflict().unwrap();
                    assert_eq!((lost.version, lost.rule), (won, row.rule), "{cell}");
                    assert_eq!(lost.winner.as_deref(), Some("TEST"), "{cell}");
                    assert_eq!(commits(&location).len() as u64, won + 1, "{cell}");
                    assert_eq!((lost.level, lost.advice), (Some(level.name()), row.then), "{cell}");
                    let record = TransactionRecord::from_json(lost.transaction.as_ref().unwrap()).unwrap();
                    let reported = explain_conflicts(&location, &record).unwrap();
                    assert_eq!(
                        (reported.outcome, reported.version),
                        (Outcome::Conflict, Some(won)),
                        "{cell}"
                    );
                    let rules = &reported.winners[0].rules;
                    let first = rules.iter().find(|r| r.outcome == Some(Outcome::Conflict)).unwrap();
                    assert_eq!((first.rule, &first.files), (row.rule, &lost.files), "{cell}");
                    assert_eq!(first.error.as_deref(), Some(error.kind()), "{cell}");
                    assert!(MATRIX.iter().all(|row| rules.iter().any(|r| r.rule == row.rule)), "{cell}");
                }
                (Verdict::Rebase | Verdict::Pass, Ok(committed)) => {
                    assert_eq!(committed.version, won + 1, "{cell}");
                }
                (verdict, outcome) => panic!("{cell}: {verdict:?}, but {outcome:?}"),
            }
        }
    }
}

#[test]
fn rows_that_were_read_are_followed_to_where_a_compaction_moved_them() {
    let claims: [fn(&mut Transaction, &Add); 2] = [
        |txn, add| txn.read_files([&add.path]).unwrap(),
        |txn, add| txn.read_matching(&id_below(5), [&add.path]).unwrap(),
    ];
    for claim in claims {
        for level in IsolationLevel::ALL {
            let mut pair = pair(&FEATURES, &[("delta.enableDeletionVectors", "true")]);
            claim(&mut pair.ours, &live(&pair.location, "a"));
            pair.ours.add(file("new", "y", 9));
            pair.ours.set_isolation(level);
            compact(&mut pair.winner, &pair.location);
            pair.winner.commit().unwrap();
            let mut deletes = begin(&pair.location);
            delete_rows(&mut deletes, &live(&pair.location, "ab"), &[3]);
            let deleted = deletes.commit().unwrap().version;
            match pair.ours.commit() {
                Ok(_) => assert_eq!(level, IsolationLevel::SnapshotIsolation),
                Err(error) => {
                    let lost = error.conflict().unwrap();
                    assert_eq!((lost.version, lost.rule.as_str()), (deleted, "remove-read"), "{level}");
                    let record = TransactionRecord::from_json(lost.transaction.as_ref().unwrap()).unwrap();
                    let reported = explain_conflicts(&pair.location, &record).unwrap();
                    assert_eq!(
                        (reported.outcome, reported.version),
                        (Outcome::Conflict, Some(deleted)),
                        "{level}"
                    );
                    assert_eq!(reported.winners[0].outcome, Outcome::Rebase, "{level}");
                    assert_ne!(level, IsolationLevel::SnapshotIsolation);
                }
            }
        }
    }
}

#[test]
fn a_compaction_of_other_files_moves_no_row_that_was_read() {
    let mut pair = pair(&FEATURES, &[("delta.enableDeletionVectors", "true")]);
    pair.ours.read_files([&live(&pair.location, "c").path]).unwrap();
    pair.ours.add(file("new", "y", 9));
    pair.ours.set_isolation(IsolationLevel::Serializable);
    compact(&mut pair.winner, &pair.location);
    pair.winner.commit().unwrap();
    let mut deletes = begin(&pair.location);
    delete_rows(&mut deletes, &live(&pair.location, "ab"), &[3]);
    deletes.commit().unwrap();
    pair.ours.commit().unwrap();
}

#[test]
fn marks_of_identity_columns_move_on_together() {
    // what the winner does, what this does, and the mark afterwards
    let before = |pair: &Pair| {
        let mut first = begin(&pair.location);
        first.set_metadata(pair.metadata(identity_column));
        first.commit().unwrap();
        (begin(&pair.location), begin(&pair.location))
    };
    let marks = |theirs: IdentityValues, ours: IdentityValues| {
        let mut pair = pair(&FEATURES, &[]);
        (pair.winner, pair.ours) = before(&pair);
        pair.winner.advance_identities(theirs).unwrap();
        pair.ours.add(file("new", "x", 9));
        pair.ours.advance_identities(ours).unwrap();
        pair.winner.commit().unwrap();
        pair.ours.commit()?;
        let schema = open(&pair.location).schema().clone();
        let field = schema.field("id").unwrap();
        Ok::<_, deltaic_core::Error>(field.metadata["delta.identity.highWaterMark"].as_i64().unwrap())
    };
    assert_eq!(marks(made(3), brought(50)).unwrap(), 50);
    assert_eq!(marks(made(30), brought(5)).unwrap(), 30);
    assert_eq!(marks(brought(7), brought(5)).unwrap(), 7);
    let error = marks(brought(7), made(5)).unwrap_err();
    assert!(error.to_string().contains("(column `id`)"), "{error}");
    // properties that nothing depends on
    let mut pair = pair(&FEATURES, &[]);
    (pair.winner, pair.ours) = before(&pair);
    pair.winner.set_metadata(pair.metadata(set("delta.logRetentionDuration", "interval 1 day")));
    pair.winner.commit().unwrap();
    pair.ours.add(file("new", "x", 9));
    pair.ours.advance_identities(made(5)).unwrap();
    pair.ours.commit().unwrap();
    let after = open(&pair.location);
    assert!(after.metadata().configuration.contains_key("delta.logRetentionDuration"));
    assert_eq!(
        after.schema().field("id").unwrap().metadata["delta.identity.highWaterMark"].as_i64(),
        Some(5)
    );
    let last = commits(&pair.location).pop().unwrap();
    let info = serde_json::to_value(last.info().unwrap()).unwrap();
    assert_eq!(
        (&info["tags"]["delta.identity.schemaUpdate"], &info["isBlindAppend"]),
        (&"true".into(), &true.into())
    );
}

#[test]
fn what_only_looks_like_a_change_is_no_conflict() {
    // another domain, another application
    let mut one = pair(&FEATURES, &[]);
    one.winner.domain(domain("d"));
    one.winner.app_transaction("theirs", 1);
    one.ours.domain(domain("e"));
    one.ours.read_app("ours");
    one.ours.app_transaction("ours", 1);
    one.winner.commit().unwrap();
    one.ours.commit().unwrap();
    // the same schema with its keys in another order, and a description
    let mut two = pair(&FEATURES, &[]);
    let spelled = two.metadata(|m| {
        let schema: serde_json::Value = serde_json::from_str(&m.schema_string).unwrap();
        m.schema_string = format!("{{\"fields\":{},\"type\":\"struct\" }}", schema["fields"]);
        m.description = Some("a table".into());
    });
    two.winner.set_metadata(spelled);
    two.ours.read_whole_table();
    two.ours.remove_file(&live(&two.location, "a"), true);
    two.winner.commit().unwrap();
    two.ours.commit().unwrap();
    // a blind append has read nothing, at every level
    for level in IsolationLevel::ALL {
        let mut three = pair(&FEATURES, &[]);
        three.winner.read_whole_table();
        three.winner.remove_file(&live(&three.location, "a"), true);
        three.winner.add(file("theirs", "x", 0));
        three.ours.add(file("new", "x", 9));
        three.ours.set_isolation(level);
        three.winner.commit().unwrap();
        three.ours.commit().unwrap();
    }
}

/// Adds a column `more`.
fn with_a_column(metadata: &mut Metadata) {
    let field = r#",{"name":"more","type":"long","nullable":true,"metadata":{}}]"#;
    let end = metadata.schema_string.rfind(']').unwrap();
    metadata.schema_string.replace_range(end..=end, field);
}

#[test]
fn a_blind_append_that_changes_the_table_is_no_append_for_others() {
    let said = |location: &Location| commits(location).pop().unwrap().info().unwrap().is_blind_append;
    for level in IsolationLevel::ALL {
        // a column comes with the rows: nobody follows, whatever was read
        let reads: [fn(&mut Transaction); 2] = [|txn| txn.read_whole_table(), |_| {}];
        for read in reads {
            let mut pair = pair(&FEATURES, &[]);
            pair.winner.set_metadata(pair.metadata(with_a_column));
            pair.winner.add(file("theirs", "x", 0));
            pair.winner.commit().unwrap();
            assert_eq!(said(&pair.location), Some(true));
            read(&mut pair.ours);
            pair.ours.add(file("new", "x", 9));
            pair.ours.set_isolation(level);
            let error = pair.ours.commit().unwrap_err();
            assert_eq!(error.conflict().unwrap().rule, ConflictRule::MetadataChanged, "{level}");
        }
        // and it follows nothing that changed the table, but the blind appends of others
        let mut pair = pair(&FEATURES, &[]);
        pair.ours.set_metadata(pair.metadata(with_a_column));
        pair.winner.add(file("theirs", "x", 0));
        pair.winner.commit().unwrap();
        pair.ours.add(file("new", "x", 9));
        pair.ours.set_isolation(level);
        pair.ours.commit().unwrap();
        assert_eq!(said(&pair.location), Some(true));
    }
    // a serializable reader sees the rows of one that changed what no file depends on; a weaker one lets it come later
    for (level, lost) in [
        (IsolationLevel::Serializable, Some(ConflictRule::BlindAppendRead)),
        (IsolationLevel::WriteSerializable, None),
    ] {
        let mut pair = pair(&FEATURES, &[]);
        pair.winner.set_metadata(pair.metadata(set("delta.logRetentionDuration", "interval 1 day")));
        pair.winner.add(file("theirs", "x", 0));
        pair.winner.commit().unwrap();
        assert_eq!(said(&pair.location), Some(true));
        pair.ours.read_whole_table();
        pair.ours.add(file("new", "x", 9));
        pair.ours.set_isolation(level);
        let error = pair.ours.commit().err();
        assert_eq!(error.as_ref().map(|e| e.conflict().unwrap().rule), lost, "{level}");
    }
}

#[test]
fn a_commit_that_takes_nothing_away_and_has_read_nothing_is_blind() {
    let blind = |change: &dyn Fn(&mut Pair)| {
        let mut pair = pair(&FEATURES, &[]);
        change(&mut pair);
        pair.ours.commit().unwrap();
        commits(&pair.location).pop().unwrap().info().unwrap().is_blind_append.unwrap()
    };
    let properties = |pair: &Pair| pair.metadata(set("delta.logRetentionDuration", "interval 1 day"));
    assert!(blind(&|pair| pair.ours.set_metadata(properties(pair))));
    assert!(blind(&|pair| pair.ours.app_transaction("app", 1)));
    assert!(!blind(&|pair| {
        pair.ours.set_metadata(properties(pair));
        pair.ours.read_whole_table();
    }));
    assert!(!blind(&|pair| {
        pair.ours.add(file("new", "x", 9));
        pair.ours.read_state();
    }));
    assert!(!blind(&|pair| {
        let gone = pair.live("a");
        pair.ours.remove_file(&gone, false);
    }));
}

#[test]
fn a_rule_that_is_missing_from_the_matrix_is_a_conflict() {
    let Pair { location, winner, ours } = scene(ConflictRule::RewriteAdded);
    winner.commit().unwrap();
    let before = ours.snapshot().unwrap().clone();
    let ours = Ours {
        root: location.root(),
        protocol: before.protocol(),
        metadata: before.metadata(),
        reads: ours.reads(),
        changes: ours.changes(),
    };
    let theirs = commits(&location).pop().unwrap();
    let found = findings(&ours, &theirs, &StoredVectors::new(&location)).unwrap();
    assert!(decide(&MATRIX, &found, IsolationLevel::Serializable).is_none());
    assert!(decide(&[], &found, IsolationLevel::Serializable).is_some());
}

#[test]
fn a_conflict_says_who_what_and_by_which_rule() {
    let Pair { location, winner, mut ours } = scene(ConflictRule::AppendRead);
    winner.commit().unwrap();
    ours.set_isolation(IsolationLevel::WriteSerializable);
    let error = ours.commit().unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "version 2 of `{}` was committed by another writer (TEST): it added rows that a read predicate may match, \
             and had read the table itself, and this transaction read by that predicate; open the table again and \
             repeat the operation; read predicate `p = 'x'`; file `theirs`",
            location.root()
        )
    );
}

#[test]
fn a_file_that_says_nothing_of_itself_may_match() {
    for (theirs, kind) in [
        (file("theirs", "x", 5), None),
        (Add { stats: None, ..file("theirs", "x", 5) }, Some("ConcurrentAppend")),
        (file("theirs", "x", 0), Some("ConcurrentAppend")),
    ] {
        let Pair { mut winner, mut ours, .. } = pair(&FEATURES, &[]);
        winner.add(theirs);
        ours.read_matching(&id_below(10), []).unwrap();
        ours.add(file("new", "x", 9));
        ours.set_isolation(IsolationLevel::Serializable);
        winner.commit().unwrap();
        assert_eq!(ours.commit().err().map(|e| e.kind()), kind);
    }
    // a tombstone without partition values
    let Pair { location, mut winner, mut ours } = pair(&FEATURES, &[]);
    let mut bare = open(&location);
    bare = bare.update().unwrap();
    let mut remove = deltaic_core::conflict::Changes::default();
    let mut txn = Transaction::begin(&bare, Operation::new("TEST"));
    txn.remove_file(&live(&location, "c"), true);
    remove.removes = txn.changes().removes.clone();
    remove.removes[0].partition_values = None;
    remove.removes[0].stats = None;
    winner.remove(remove.removes[0].clone());
    ours.read_predicate(&partition_is("x")).unwrap();
    ours.add(file("new", "x", 9));
    winner.commit().unwrap();
    assert_eq!(ours.commit().unwrap_err().kind(), "ConcurrentDeleteRead");
}

#[test]
fn a_predicate_on_an_unknown_column_is_refused_when_it_is_read() {
    let Pair { mut ours, .. } = pair(&FEATURES, &[]);
    let unknown =
        compare("nope", deltaic_core::predicate::CompareOp::Eq, deltaic_core::predicate::Literal::Long(1));
    assert_eq!(ours.read_predicate(&unknown).unwrap_err().kind(), "InvalidPredicate");
}

#[test]
fn the_level_comes_from_the_table() {
    for (value, kind) in [("serializable", Some("ConcurrentAppend")), ("WriteSerializable", None)] {
        let Pair { mut winner, mut ours, location } = pair(&FEATURES, &[("delta.isolationLevel", value)]);
        winner.add(file("theirs", "x", 0));
        ours.read_matching(&partition_is("x"), [&live(&location, "a").path]).unwrap();
        ours.replace_vector(&live(&location, "a"), rows(&[1]).to_inline());
        winner.commit().unwrap();
        assert_eq!(ours.commit().err().map(|e| e.kind()), kind);
    }
    let (_, location) = table(&[], &[]);
    let mut txn = begin(&location);
    txn.set_metadata(metadata(&[("delta.isolationLevel", "Sloppy")]));
    txn.commit().unwrap();
    let mut txn = begin(&location);
    txn.set_protocol(protocol(&[]));
    txn.add(file("a", "x", 0));
    assert_eq!(txn.commit().unwrap_err().kind(), "InvalidArgument");
}
