//! What a report counts is what a listing did: files that partition values ruled out, that statistics ruled out, and the rest.

use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::At;
use deltaic_testkit::{CheckpointForm, CheckpointSpec, TableBuilder, actions};
use serde_json::{Value, json};

use crate::load::open;

fn add(n: i64, p: &str) -> Value {
    let bounds = json!({"id": n});
    let stats = json!({"numRecords": 1, "minValues": bounds, "maxValues": bounds, "nullCount": {"id": 0}});
    actions::with_stats(actions::add_in(&format!("f{n}"), &[("p", Some(p))]), &stats)
}

/// Twelve files, four of them in partition `x`; one was removed, and one has no statistics.
fn table() -> TableBuilder {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long"), ("p", "string")]), &["p"], &[]);
    let adds: Vec<Value> = (0..11).map(|n| add(n, if n < 4 { "x" } else { "y" })).collect();
    table.commit(&adds);
    table.commit(&[add(99, "x"), actions::add_in("bare", &[("p", Some("y"))])]);
    table.commit(&[actions::remove("f99")]);
    table
}

fn is(column: &str, op: CompareOp, value: Literal) -> Predicate {
    Predicate::Compare { op, column: vec![column.into()], value }
}

/// Files that partition values ruled out, that statistics ruled out, that were listed.
fn counts(table: &TableBuilder, predicate: Option<Predicate>) -> (u64, u64, u64) {
    let snapshot = open(table, At::Latest).unwrap();
    let request = FilesRequest { predicate, ..FilesRequest::default() };
    let listed: u64 = snapshot.files(request).unwrap().map(|b| b.unwrap().num_files() as u64).sum();
    let report = snapshot.report();
    assert_eq!(report.files_kept, listed);
    (report.files_pruned_by_partition, report.files_pruned_by_stats, listed)
}

fn in_partition(p: &str) -> Predicate {
    is("p", CompareOp::Eq, Literal::String(p.into()))
}

fn below(id: i64) -> Predicate {
    is("id", CompareOp::Lt, Literal::Long(id))
}

fn and(a: Predicate, b: Predicate) -> Predicate {
    Predicate::And(vec![a, b])
}

/// The counts of predicates that match some files.
fn check(table: &TableBuilder, form: &str) {
    assert_eq!(counts(table, None), (0, 0, 12), "{form}");
    assert_eq!(counts(table, Some(in_partition("x"))), (8, 0, 4), "{form}");
    assert_eq!(counts(table, Some(below(2))), (0, 9, 3), "{form}");
    assert_eq!(counts(table, Some(and(in_partition("x"), below(2)))), (8, 2, 2), "{form}");
    assert_eq!(counts(table, Some(and(in_partition("y"), below(6)))), (4, 5, 3), "{form}");
    let either = Predicate::Or(vec![in_partition("x"), below(2)]);
    assert_eq!(counts(table, Some(either)), (0, 7, 5), "{form}");
}

/// The counts of predicates that match none: nothing is left for the statistics where no partition is.
fn check_none(table: &TableBuilder, form: &str) {
    assert_eq!(counts(table, Some(in_partition("z"))), (12, 0, 0), "{form}");
    assert_eq!(counts(table, Some(and(in_partition("z"), below(2)))), (12, 0, 0), "{form}");
    assert_eq!(counts(table, Some(and(in_partition("x"), below(0)))), (8, 4, 0), "{form}");
}

#[test]
fn files_of_commits_are_counted_by_what_ruled_them_out() {
    check(&table(), "commits");
    check_none(&table(), "commits");
}

#[test]
fn files_of_checkpoints_are_counted_by_what_ruled_them_out() {
    for form in [CheckpointForm::Single, CheckpointForm::V2Json(0), CheckpointForm::V2Parquet(2)] {
        let table = table();
        table.checkpoint(3, &CheckpointSpec::of(form));
        check(&table, &format!("{form:?}"));
        check_none(&table, &format!("{form:?}"));
        assert_eq!(open(&table, At::Latest).unwrap().report().checkpoint_version, Some(3));
    }
}

#[test]
fn files_with_parsed_statistics_and_partition_values_are_counted_by_what_ruled_them_out() {
    let table = table();
    let parsed = CheckpointSpec {
        json_stats: false,
        struct_stats: true,
        struct_partitions: true,
        ..CheckpointSpec::default()
    };
    table.checkpoint(3, &parsed);
    check(&table, "parsed");
}

#[test]
fn rows_of_a_checkpoint_are_counted_where_their_row_group_is_read() {
    let table = table();
    let spec = CheckpointSpec { struct_partitions: true, row_group: 4, ..CheckpointSpec::default() };
    table.checkpoint(3, &spec);
    let rows = |predicate| {
        let snapshot = open(&table, At::Latest).unwrap();
        let request = FilesRequest { predicate, ..FilesRequest::default() };
        snapshot.files(request).unwrap().for_each(|b| drop(b.unwrap()));
        let report = snapshot.report();
        (report.checkpoint_rows, report.row_groups_skipped)
    };
    // protocol, metadata, twelve files and a tombstone, in four row groups; files of `x` are in two of them
    assert_eq!(rows(None), (15, 0));
    assert_eq!(rows(Some(in_partition("x"))), (8, 2));
}

#[test]
fn parsed_partition_values_without_one_of_the_columns_rule_out_nothing_by_themselves() {
    let mut table = TableBuilder::temp();
    let schema = actions::schema(&[("id", "long"), ("p", "string"), ("q", "string")]);
    table.create(&schema, &["p"], &[]);
    let adds = [("a", "1", "1"), ("b", "1", "2"), ("c", "2", "1"), ("d", "2", "2")];
    let adds = adds.map(|(path, p, q)| actions::add_in(path, &[("p", Some(p)), ("q", Some(q))]));
    table.commit(&adds);
    table.checkpoint(1, &CheckpointSpec { struct_partitions: true, ..CheckpointSpec::default() });
    // the checkpoint has parsed values of `p` alone
    table.commit(&[actions::metadata(&schema, &["p", "q"], &[])]);
    let q = |value: &str| is("q", CompareOp::Eq, Literal::String(value.into()));
    let p = |value: &str| is("p", CompareOp::Eq, Literal::String(value.into()));
    assert_eq!(counts(&table, Some(p("1"))), (2, 0, 2));
    assert_eq!(counts(&table, Some(q("1"))), (2, 0, 2));
    assert_eq!(counts(&table, Some(and(p("1"), q("2")))), (3, 0, 1));
    assert_eq!(counts(&table, Some(Predicate::Or(vec![p("1"), q("2")]))), (1, 0, 3));
}
