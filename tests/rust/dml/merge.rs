//! Rows of a source that meet those of the table.

use deltaic_core::Error;
use deltaic_core::alter::NewColumn;
use deltaic_core::maintain::{Alteration, alter_table};
use deltaic_core::schema::{DataType as Delta, StructField};

use super::*;
use crate::rivals::overtaken;

fn upsert() -> Vec<MergeClause> {
    vec![clause("matched update", None, None), clause("not matched insert", None, None)]
}

fn source(keys: impl IntoIterator<Item = i64>) -> Vec<Row> {
    keys.into_iter().map(|k| row(k, Some("new"), Some(9))).collect()
}

#[test]
fn an_upsert_updates_what_is_there_and_adds_the_rest() {
    for properties in [&[][..], &[VECTORS][..], &[CHANGES, VECTORS][..], &[ROW_IDS][..]] {
        for partitioned in [false, true] {
            let (_, location) = table(20, partitioned, properties);
            let done = merge(&location, &source([3, 4, 40]), "t.k = s.k", upsert()).unwrap();
            assert_eq!((done.version, done.source_rows), (Some(1), 3));
            assert_eq!((done.updated_rows, done.inserted_rows, done.deleted_rows), (2, 1, 0));
            let mut expected = rows(20);
            expected.retain(|r| ![3, 4].contains(&r.k));
            expected.extend(source([3, 4, 40]));
            expected.sort();
            assert_eq!(all(&location), expected, "{properties:?}");
            assert_eq!(orphans(&location), Vec::<String>::new());
            let metrics = metrics(&location, 1);
            assert_eq!(metrics["numTargetRowsUpdated"], 2);
            assert_eq!(metrics["numOutputRows"], 3 + metrics["numTargetRowsCopied"]);
            if properties.contains(&CHANGES) {
                let images = [
                    ("insert", 40),
                    ("update_postimage", 3),
                    ("update_postimage", 4),
                    ("update_preimage", 3),
                    ("update_preimage", 4),
                ];
                let images: Vec<_> = images.iter().map(|(kind, k)| ((*kind).to_owned(), *k)).collect();
                assert_eq!(change_rows(&location, 1), images);
            }
        }
    }
}

#[test]
fn the_first_clause_whose_condition_is_true_applies() {
    let (_, location) = table(10, false, &[VECTORS]);
    let clauses = vec![
        clause("matched delete", Some("t.k = 1"), None),
        clause(
            "matched update",
            Some("s.k < 4"),
            Some(&[("p", "concat(t.p, '-', s.p)"), ("t.s.a", "s.s.a")]),
        ),
        clause("not matched insert", Some("k = 21"), Some(&[("k", "s.k * 10")])),
        clause("not matched insert", None, Some(&[("k", "k"), ("p", "'rest'")])),
        clause("not matched by source update", Some("k = 9"), Some(&[("k", "-k")])),
        clause("not matched by source delete", Some("p = 'x'"), None),
    ];
    let done = merge(&location, &source([1, 2, 5, 20, 21]), "t.k = s.k", clauses).unwrap();
    assert_eq!((done.updated_rows, done.deleted_rows, done.inserted_rows), (2, 3, 2));
    // 0 and 3 have `x`; 6 has no `p`, and 9 is the first clause's
    assert_eq!(keys(&location), [-9, 2, 4, 5, 6, 7, 8, 20, 210]);
    let found = all(&location);
    let of = |k: i64| found.iter().find(|r| r.k == k).unwrap().clone();
    assert_eq!(of(2).p.as_deref(), Some("z-new"));
    assert_eq!(of(2).s, Some((Some(9), Some("b2".into()))));
    assert_eq!((of(20).p.as_deref(), of(210).p), (Some("rest"), None));
    let operation = info(&location, 1);
    let parameters = operation.operation_parameters.unwrap();
    assert_eq!(parameters["predicate"], r#"["t.k = s.k"]"#);
    let matched =
        r#"[{"actionType":"delete","predicate":"t.k = 1"},{"actionType":"update","predicate":"s.k < 4"}]"#;
    assert_eq!(parameters["matchedPredicates"], matched);
}

#[test]
fn several_rows_for_one_are_an_error_that_shows_the_key() {
    for properties in [&[][..], &[VECTORS][..]] {
        let (_, location) = table(20, false, properties);
        let twice = [source([5]), source([5, 6])].concat();
        let error = merge(&location, &twice, "t.k = s.k", upsert()).unwrap_err();
        assert_eq!(error.kind(), "MultipleMatches");
        assert!(error.to_string().contains("k = 5"), "{error}");
        assert!(error.condition().unwrap().name.contains("MULTIPLE_SOURCE_ROW"));
        assert_eq!(open(&location).version(), 0);
        assert_eq!(orphans(&location), Vec::<String>::new());
        // a delete of all that match has the same effect each time
        let delete = vec![clause("matched delete", None, None)];
        let done = merge(&location, &twice, "t.k = s.k", delete).unwrap();
        assert_eq!(done.deleted_rows, 2);
        // and a row that only keeps others from being added may match as often as it does
        let insert = vec![clause("not matched insert", None, None)];
        let both = [twice, source([50])].concat();
        let done = merge(&location, &both[2..], "t.k = s.k", insert).unwrap();
        assert_eq!(done.inserted_rows, 2);
    }
}

#[test]
fn null_equals_null_only_where_the_condition_says_so() {
    let nothing = Row { k: 100, p: None, s: None };
    for (condition, deleted) in [("t.p = s.p", 0), ("t.p <=> s.p", 2), ("s.p <=> t.p AND t.k < 7", 1)] {
        let (_, location) = table(14, false, &[]);
        let delete = vec![clause("matched delete", None, None)];
        let done = merge(&location, std::slice::from_ref(&nothing), condition, delete).unwrap();
        assert_eq!(done.deleted_rows, deleted, "{condition}");
    }
}

#[test]
fn rows_meet_by_any_condition() {
    let (_, location) = table(30, false, &[VECTORS]);
    let set = [("p", "s.p")];
    let update = || vec![clause("matched update", None, Some(&set))];
    for (condition, updated) in [
        ("t.k > s.k AND t.k < s.k + 3", 2),
        ("t.k = s.k + 1 OR t.k = s.k + 2", 2),
        ("t.k % 10 = s.k", 3),
        ("abs(t.k) = s.k AND s.s.a = 9 AND t.k BETWEEN 0 AND 20", 1),
        ("t.k = s.k AND false", 0),
        ("cast(t.k AS string) = cast(s.k AS string)", 1),
    ] {
        let done = merge(&location, &source([4]), condition, update()).unwrap();
        assert_eq!(done.updated_rows, updated, "{condition}");
        assert_eq!(done.version.is_some(), updated > 0, "{condition}");
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let (store, location) = table(10, false, &[]);
    store.forget();
    let values: &[(&str, &str)] = &[("nobody", "1")];
    let twice: &[(&str, &str)] = &[("k", "1"), ("t.k", "2")];
    let field: &[(&str, &str)] = &[("s.a", "1")];
    let cases: [(&str, Vec<MergeClause>, &str); 12] = [
        ("t.k = s.k", vec![], "InvalidArgument"),
        ("k = s.k", upsert(), "InvalidExpression"),
        ("t.k = s.nobody", upsert(), "InvalidExpression"),
        ("t.k + s.k", upsert(), "InvalidExpression"),
        ("t.k = s.k", vec![clause("matched insert", None, None)], "InvalidArgument"),
        ("t.k = s.k", vec![clause("not matched by source update", None, None)], "InvalidArgument"),
        ("t.k = s.k", vec![clause("matched update", None, Some(values))], "InvalidArgument"),
        ("t.k = s.k", vec![clause("matched update", None, Some(twice))], "InvalidArgument"),
        ("t.k = s.k", vec![clause("not matched insert", None, Some(field))], "InvalidArgument"),
        ("t.k = s.k", vec![clause("not matched insert", Some("t.k = 1"), None)], "InvalidExpression"),
        (
            "t.k = s.k",
            vec![clause("not matched by source delete", Some("s.k = 1"), None)],
            "InvalidExpression",
        ),
        (
            "t.k = s.k",
            vec![clause("matched delete", None, None), clause("matched update", None, None)],
            "InvalidArgument",
        ),
    ];
    for (condition, clauses, kind) in cases {
        let error = merge(&location, &source([1]), condition, clauses.clone()).unwrap_err();
        assert_eq!(error.kind(), kind, "{condition} {clauses:?}: {error}");
    }
    assert_eq!(open(&location).version(), 0);
    assert_eq!(orphans(&location), Vec::<String>::new());
}

#[test]
fn a_table_that_loses_no_rows_takes_new_ones() {
    let (_, location) = table(10, false, &[("delta.appendOnly", "true")]);
    let error = merge(&location, &source([1]), "t.k = s.k", upsert()).unwrap_err();
    assert_eq!(error.kind(), "AppendOnly");
    let insert = vec![clause("not matched insert", None, None)];
    assert_eq!(merge(&location, &source([1, 11]), "t.k = s.k", insert).unwrap().inserted_rows, 1);
}

#[test]
fn new_rows_keep_the_rules_of_the_table() {
    let (_, location) = table(10, false, &[VECTORS]);
    let small =
        Alteration::AddConstraint { name: "small".into(), expression: "k < 100".into(), checked: None };
    alter_table(&location, &small, None).unwrap();
    for (keys, set) in [([200, 201], "k"), ([1, 2], "k + 1000")] {
        let set = [("k", set)];
        let clauses = vec![
            clause("matched update", None, Some(&[("k", "t.k + 1000")])),
            clause("not matched insert", None, Some(&set)),
        ];
        let error = merge(&location, &source(keys), "t.k = s.k", clauses).unwrap_err();
        assert_eq!(error.kind(), "InvariantViolation", "{error}");
    }
    assert_eq!(open(&location).version(), 1);
    assert_eq!(orphans(&location), Vec::<String>::new());
}

#[test]
fn columns_that_only_the_source_has_are_added_where_the_schema_evolves() {
    let (_, location) = table(10, false, &[]);
    let fields = [("k", vec![3, 30]), ("extra", vec![7, 8])];
    let more = || {
        let columns = fields
            .iter()
            .map(|(name, values)| (*name, Arc::new(Int64Array::from(values.clone())) as ArrayRef, true));
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    };
    let error = merge_batch(&location, more(), "t.k = s.k", upsert(), false).unwrap_err();
    assert_eq!(error.kind(), "InvalidArgument", "{error}");
    let done = merge_batch(&location, more(), "t.k = s.k", upsert(), true).unwrap();
    assert_eq!((done.updated_rows, done.inserted_rows), (1, 1));
    let snapshot = open(&location);
    let names: Vec<_> = snapshot.schema().fields.iter().map(|f| f.name.clone()).collect();
    assert_eq!(names, ["k", "p", "s", "extra"]);
    let mut extra = Vec::new();
    for batch in read(&snapshot, ReadRequest::default()).unwrap() {
        let batch = batch.unwrap();
        let (k, e) =
            (batch.column(0).as_primitive::<Int64Type>(), batch.column(3).as_primitive::<Int64Type>());
        extra.extend((0..batch.num_rows()).filter(|i| e.is_valid(*i)).map(|i| (k.value(i), e.value(i))));
    }
    extra.sort_unstable();
    assert_eq!(extra, [(3, 7), (30, 8)]);
    // rows that were updated keep what the source does not have
    assert_eq!(all(&location).iter().find(|r| r.k == 3).unwrap().p.as_deref(), Some("x"));
}

#[test]
fn a_column_that_joins_meanwhile_does_not_lose_the_merge() {
    let (store, location) = table(10, false, &[VECTORS]);
    overtaken(&store, &location, 1, |copy| {
        let column = NewColumn::of(StructField::new("n", Delta::Long, true));
        alter_table(copy, &Alteration::AddColumns(vec![column]), None).unwrap();
    });
    let clauses = vec![clause("matched delete", None, None)];
    let done = merge(&location, &source([1, 2]), "t.k = s.k", clauses).unwrap();
    assert_eq!((done.version, done.deleted_rows), (Some(2), 2));
    assert_eq!(orphans(&location), Vec::<String>::new());
}

#[test]
fn rows_that_others_add_meanwhile_are_matched_where_the_table_is_serializable() {
    const SERIALIZABLE: (&str, &str) = ("delta.isolationLevel", "Serializable");
    for properties in [&[SERIALIZABLE][..], &[SERIALIZABLE, VECTORS][..]] {
        let (store, location) = table(10, false, properties);
        overtaken(&store, &location, 1, |copy| append(copy, &[row(50, Some("theirs"), None)], false, &[]));
        let done = merge(&location, &source([3, 50]), "t.k = s.k", upsert()).unwrap();
        assert_eq!((done.version, done.updated_rows, done.inserted_rows), (Some(2), 2, 0));
        assert_eq!(all(&location).iter().filter(|r| r.k == 50).count(), 1);
        assert_eq!(orphans(&location), Vec::<String>::new());
    }
    // elsewhere a blind append comes after the merge, whichever landed first
    let (store, location) = table(10, false, &[]);
    overtaken(&store, &location, 1, |copy| append(copy, &[row(50, Some("theirs"), None)], false, &[]));
    let done = merge(&location, &source([3, 50]), "t.k = s.k", upsert()).unwrap();
    assert_eq!((done.version, done.updated_rows, done.inserted_rows), (Some(2), 1, 1));
}

#[test]
fn rows_that_others_move_meanwhile_are_matched() {
    for properties in [&[][..], &[VECTORS][..]] {
        let (store, location) = table(10, false, properties);
        overtaken(&store, &location, 1, |copy| {
            update(copy, &[("k", "50")], Some("k = 9")).unwrap();
        });
        let done = merge(&location, &source([3, 50]), "t.k = s.k", upsert()).unwrap();
        assert_eq!((done.version, done.updated_rows, done.inserted_rows), (Some(2), 2, 0));
        assert_eq!(orphans(&location), Vec::<String>::new());
    }
}

#[test]
fn rows_that_cannot_match_may_change_meanwhile() {
    let (store, location) = table(40, false, &[]);
    overtaken(&store, &location, 1, |copy| {
        delete(copy, Some("k >= 30")).unwrap();
        append(copy, &source([60]), false, &[]);
    });
    store.forget();
    let done = merge(&location, &source([3, 21]), "t.k = s.k", upsert()).unwrap();
    assert_eq!((done.version, done.updated_rows), (Some(2), 2));
    assert_eq!(keys(&location), (0..30).collect::<Vec<_>>());
}

/// What a random clause does, in SQL and in plain code.
#[derive(Debug, Clone, Copy)]
enum Deed {
    MatchedDelete,
    MatchedUpdate,
    MatchedStar,
    InsertStar,
    InsertSome,
    UnmatchedUpdate,
    UnmatchedDelete,
}

impl Deed {
    fn clause(self) -> MergeClause {
        match self {
            Deed::MatchedDelete => clause("matched delete", Some("s.p = 'x'"), None),
            Deed::MatchedUpdate => {
                clause("matched update", Some("t.k > 10"), Some(&[("p", "s.p"), ("s.a", "t.k")]))
            }
            Deed::MatchedStar => clause("matched update", Some("s.s IS NOT NULL"), None),
            Deed::InsertStar => clause("not matched insert", Some("s.k % 2 = 0"), None),
            Deed::InsertSome => clause("not matched insert", Some("p IS NULL"), Some(&[("k", "k + 100")])),
            Deed::UnmatchedUpdate => {
                clause("not matched by source update", Some("p = 'y'"), Some(&[("p", "'moved'")]))
            }
            Deed::UnmatchedDelete => clause("not matched by source delete", Some("k % 3 = 0"), None),
        }
    }

    /// The row that comes of one of the table and one of the source; none is deleted. Nothing where the clause does not
    /// apply.
    fn of(self, t: Option<&Row>, s: Option<&Row>) -> Option<Option<Row>> {
        match (self, t, s) {
            (Deed::MatchedDelete, Some(_), Some(s)) => (s.p.as_deref() == Some("x")).then_some(None),
            (Deed::MatchedUpdate, Some(t), Some(s)) if t.k > 10 => {
                let b = t.s.clone().and_then(|s| s.1);
                Some(Some(Row { k: t.k, p: s.p.clone(), s: Some((Some(t.k), b)) }))
            }
            (Deed::MatchedStar, Some(_), Some(s)) => s.s.is_some().then(|| Some(s.clone())),
            (Deed::InsertStar, None, Some(s)) => (s.k % 2 == 0).then(|| Some(s.clone())),
            (Deed::InsertSome, None, Some(s)) => {
                s.p.is_none().then(|| Some(Row { k: s.k + 100, p: None, s: None }))
            }
            (Deed::UnmatchedUpdate, Some(t), None) => {
                (t.p.as_deref() == Some("y")).then(|| Some(Row { p: Some("moved".into()), ..t.clone() }))
            }
            (Deed::UnmatchedDelete, Some(t), None) => (t.k % 3 == 0).then_some(None),
            _ => None,
        }
    }
}

fn any_row() -> impl Strategy<Value = Row> {
    let p = prop::option::of(prop::sample::select(vec!["x", "y", "z"]));
    (0..40i64, p, prop::option::of(0..4i64)).prop_map(|(k, p, a)| row(k, p, a))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_those_of_plain_code(
        first in prop::collection::vec(any_row(), 1..60),
        mut source in prop::collection::vec(any_row(), 0..25),
        deeds in prop::collection::vec(prop::sample::select(vec![
            Deed::MatchedDelete, Deed::MatchedUpdate, Deed::MatchedStar, Deed::InsertStar, Deed::InsertSome,
            Deed::UnmatchedUpdate, Deed::UnmatchedDelete,
        ]), 1..6),
        condition in prop::sample::select(vec!["t.k = s.k", "s.k = t.k AND t.p = 'x'", "t.k = s.k AND s.p <=> t.p"]),
        partitioned in any::<bool>(),
        vectors in any::<bool>(),
        feed in any::<bool>(),
        tracked in any::<bool>(),
        named in any::<bool>(),
    ) {
        source.sort();
        source.dedup_by_key(|r| r.k);
        let mut properties = Vec::new();
        properties.extend(vectors.then_some(VECTORS));
        properties.extend(feed.then_some(CHANGES));
        properties.extend(tracked.then_some(ROW_IDS));
        properties.extend(named.then_some(("delta.columnMapping.mode", "name")));
        let (_, location) = place();
        append(&location, &first, partitioned, &properties);
        let meet = |t: &Row, s: &Row| t.k == s.k && match condition {
            "t.k = s.k" => true,
            "s.k = t.k AND t.p = 'x'" => t.p.as_deref() == Some("x"),
            _ => t.p == s.p,
        };
        let mut expected = Vec::new();
        let (mut updated, mut deleted, mut inserted) = (0, 0, 0);
        for t in &first {
            let s = source.iter().find(|s| meet(t, s));
            match deeds.iter().find_map(|deed| deed.of(Some(t), s)) {
                None => expected.push(t.clone()),
                Some(None) => deleted += 1,
                Some(Some(new)) => {
                    updated += 1;
                    expected.push(new);
                }
            }
        }
        for s in &source {
            if !first.iter().any(|t| meet(t, s)) && let Some(Some(new)) = deeds.iter().find_map(|d| d.of(None, Some(s))) {
                inserted += 1;
                expected.push(new);
            }
        }
        expected.sort();
        let done = merge(&location, &source, condition, deeds.iter().map(|d| d.clause()).collect()).unwrap();
        prop_assert_eq!((done.updated_rows, done.deleted_rows, done.inserted_rows), (updated, deleted, inserted));
        prop_assert_eq!(done.version.is_some(), updated + deleted + inserted > 0);
        prop_assert_eq!(&all(&location), &expected);
        prop_assert_eq!(orphans(&location), Vec::<String>::new());
        if let (Some(version), true) = (done.version, feed && updated + deleted > 0) {
            let images = change_rows(&location, version);
            let of = |kind: &str| images.iter().filter(|(k, _)| k == kind).count() as u64;
            prop_assert_eq!(of("update_preimage"), updated);
            prop_assert_eq!(of("update_postimage"), updated);
            prop_assert_eq!((of("delete"), of("insert")), (deleted, inserted));
        }
    }
}

#[test]
fn a_merge_that_lost_again_and_again_says_so() {
    let (store, location) = table(10, false, &[]);
    overtaken(&store, &location, 1, |copy| {
        delete(copy, Some("k = 3")).unwrap();
    });
    let batch = batch(&source([3]));
    let schema = batch.schema();
    let held = MergeSource::read("t", RecordBatchIterator::new([Ok(batch)], schema)).unwrap();
    let request = MergeRequest {
        condition: "t.k = s.k".into(),
        target_alias: "t".into(),
        source_alias: "s".into(),
        clauses: vec![clause("matched delete", None, None)],
        with_schema_evolution: false,
    };
    let options = DmlOptions { commit_budget: std::time::Duration::ZERO, ..Default::default() };
    let error = deltaic_core::operations::merge(&location, &held, &request, &options).unwrap_err();
    assert!(matches!(error, Error::ConcurrentDeleteDelete(_) | Error::ConcurrentDeleteRead(_)), "{error}");
    assert_eq!(orphans(&location), Vec::<String>::new());
}
