//! Overwrites: what leaves, what stays, and which rows may come.

use std::sync::{Arc, Barrier};

use deltaic_core::conflict::Changes;
use deltaic_testkit::{Fault, Op, Rule};

use super::*;

fn overwrite() -> WriteOptions {
    WriteOptions { mode: WriteMode::Overwrite, ..Default::default() }
}

fn replace(condition: &str) -> WriteOptions {
    WriteOptions { replace_where: Some(condition.into()), ..overwrite() }
}

fn table() -> (FaultStore, Location) {
    let (store, location) = place();
    write(&location, &[("a", 1), ("a", 2), ("b", 3), ("c", 4)], &partitioned()).unwrap();
    (store, location)
}

#[test]
fn an_overwrite_replaces_everything_and_keeps_history() {
    let (_, location) = table();
    let result = write(&location, &[("d", 9)], &overwrite()).unwrap();
    assert_eq!((result.version, result.files, result.rows, result.removed), (1, 1, 1, 3));
    assert_eq!(rows(&location), owned(&[("d", 9)]));
    assert_eq!(rows_at(&location, At::Version(0)).len(), 4);
    let info = info(&location, 1);
    let parameters = info.operation_parameters.unwrap();
    assert_eq!(info.operation.as_deref(), Some("WRITE"));
    assert_eq!(
        (parameters["mode"].as_str(), parameters["partitionBy"].as_str()),
        (Some("Overwrite"), Some("[]"))
    );
    assert_eq!(info.operation_metrics.unwrap()["numRemovedFiles"], "3");
    assert_eq!(info.is_blind_append, Some(false));
    // removes have all facts of the adds
    let removes = Changes::of(&winners_from(&location, 1).unwrap()[0].actions).removes;
    assert!(removes.iter().all(|r| r.data_change
        && r.extended_file_metadata == Some(true)
        && r.size.is_some()
        && r.partition_values.is_some()
        && r.stats.is_some()));
}

#[test]
fn an_overwrite_creates_a_table_and_may_empty_one() {
    let (_, location) = place();
    let created = write(&location, &[("a", 1)], &overwrite()).unwrap();
    assert!(created.created);
    let emptied = write(&location, &[], &overwrite()).unwrap();
    assert_eq!((emptied.version, emptied.removed, emptied.skipped), (1, 1, false));
    assert!(rows(&location).is_empty());
    assert!(write(&location, &[], &overwrite()).unwrap().skipped);
}

#[test]
fn replace_where_on_a_partition_takes_its_files_only() {
    let (_, location) = table();
    let result = write(&location, &[("a", 7)], &replace("p = 'a'")).unwrap();
    assert_eq!((result.removed, result.files), (1, 1));
    assert_eq!(rows(&location), owned(&[("a", 7), ("b", 3), ("c", 4)]));
    let parameters = info(&location, 1).operation_parameters.unwrap();
    assert_eq!(parameters["predicate"], "p = 'a'");
}

#[test]
fn replace_where_on_data_keeps_the_other_rows_of_a_file() {
    let (_, location) = table();
    let result = write(&location, &[("z", 0)], &replace("id < 2")).unwrap();
    assert_eq!((result.removed, result.files, result.rows), (1, 1, 1));
    assert_eq!(rows(&location), owned(&[("a", 2), ("b", 3), ("c", 4), ("z", 0)]));
    let metrics = info(&location, 1).operation_metrics.unwrap();
    let counted =
        ["numCopiedRows", "numDeletedRows", "numOutputRows", "numFiles"].map(|m| metrics[m].clone());
    assert_eq!(counted, ["1", "1", "2", "2"]);
    // a file that is covered whole is not written again
    assert_eq!(write(&location, &[("b", 5)], &replace("id >= 3")).unwrap().removed, 2);
    let metrics = info(&location, 2).operation_metrics.unwrap();
    let counted =
        ["numCopiedRows", "numDeletedRows", "numOutputRows", "numFiles"].map(|m| metrics[m].clone());
    assert_eq!(counted, ["0", "2", "1", "1"]);
    assert_eq!(rows(&location), owned(&[("a", 2), ("b", 5), ("z", 0)]));
}

#[test]
fn replace_where_takes_what_an_expression_says() {
    let (_, location) = table();
    write(&location, &[("A", 7)], &replace("lower(p) = 'a' AND length(p) = 1")).unwrap();
    assert_eq!(rows(&location), owned(&[("A", 7), ("b", 3), ("c", 4)]));
    write(&location, &[("b", 5)], &replace("id % 2 = 1")).unwrap();
    assert_eq!(rows(&location), owned(&[("b", 5), ("c", 4)]));
    let error = write(&location, &[("b", 5), ("b", 6)], &replace("id % 2 = 1")).unwrap_err();
    assert!(error.to_string().ends_with("id = 6"), "{error}");
}

#[test]
fn rows_that_do_not_match_are_refused_and_leave_nothing() {
    let (_, location) = table();
    let before = objects(&location);
    let error = write(&location, &[("a", 7), ("b", 8)], &replace("p = 'a'")).unwrap_err();
    assert_eq!(error.kind(), "ReplaceWhereMismatch");
    assert!(error.to_string().ends_with("p = b"), "{error}");
    assert_eq!(objects(&location), before);
    assert_eq!(open(&location).version(), 0);
}

#[test]
fn under_column_mapping_conditions_have_the_names_of_the_table() {
    let (_, location) = place();
    write(
        &location,
        &[("a", 1), ("a", 2), ("b", 3)],
        &with_properties(&[("delta.columnMapping.mode", "name")]),
    )
    .unwrap();
    assert_eq!(
        write(&location, &[("a", 7)], &replace("p = 'b'")).unwrap_err().kind(),
        "ReplaceWhereMismatch"
    );
    write(&location, &[("a", 1)], &replace("ID <= 1")).unwrap();
    write(&location, &[("b", 9)], &replace("p = 'b'")).unwrap();
    assert_eq!(rows(&location), owned(&[("a", 1), ("a", 2), ("b", 9)]));
}

#[test]
fn dynamic_overwrite_replaces_the_partitions_of_the_data() {
    let (_, location) = table();
    let dynamic = WriteOptions { dynamic_partitions: true, ..overwrite() };
    let result = write(&location, &[("a", 7), ("new", 8)], &dynamic).unwrap();
    assert_eq!(result.removed, 1);
    assert_eq!(rows(&location), owned(&[("a", 7), ("b", 3), ("c", 4), ("new", 8)]));
    let parameters = info(&location, 1).operation_parameters.unwrap();
    assert_eq!(parameters["isDynamicPartitionOverwrite"], true);
    assert!(write(&location, &[], &dynamic).unwrap().skipped);
}

#[test]
fn options_that_contradict_each_other_are_refused_before_anything_is_read() {
    let (store, location) = table();
    store.forget();
    let dynamic = WriteOptions { dynamic_partitions: true, ..replace("p = 'a'") };
    let append = WriteOptions { mode: WriteMode::Append, ..replace("p = 'a'") };
    for options in [dynamic, append] {
        assert_eq!(write(&location, &[("a", 1)], &options).unwrap_err().kind(), "InvalidArgument");
    }
    let unknown = replace("nope = 1");
    assert_eq!(write(&location, &[("a", 1)], &unknown).unwrap_err().kind(), "InvalidExpression");
    assert_eq!(store.count(Op::Put, ""), 0);
}

#[test]
fn an_append_only_table_is_not_overwritten() {
    let (_, location) = place();
    write(&location, &[("a", 1)], &with_properties(&[("delta.appendOnly", "true")])).unwrap();
    let before = objects(&location);
    assert_eq!(write(&location, &[("b", 1)], &overwrite()).unwrap_err().kind(), "AppendOnly");
    assert_eq!(objects(&location), before);
}

#[test]
fn t6_of_two_overwrites_of_the_same_rows_one_lands() {
    for options in [replace("p = 'a'"), overwrite()] {
        let (_, location) = table();
        // both plan before either commits: the second put of version 1 finds the first
        let barrier = Arc::new(Barrier::new(2));
        let run = |id: i64| {
            let (location, options, barrier) = (location.clone(), options.clone(), barrier.clone());
            std::thread::spawn(move || {
                let batch = data(&[("a", id)]);
                let schema = batch.schema();
                let waits = std::iter::once_with(move || {
                    barrier.wait();
                    Ok(batch)
                });
                deltaic_core::operations::write(&location, RecordBatchIterator::new(waits, schema), &options)
            })
        };
        let outcomes: Vec<_> = [run(10), run(11)].map(|t| t.join().unwrap()).into();
        let won = outcomes.iter().filter(|o| o.is_ok()).count();
        assert_eq!(won, 1);
        let error = outcomes.into_iter().find_map(std::result::Result::err).unwrap();
        assert!(error.conflict().is_some(), "{error}");
        let of_a = rows(&location).into_iter().filter(|r| r.0 == "a").count();
        assert_eq!(of_a, 1);
    }
}

#[test]
fn a_failed_overwrite_leaves_the_table_as_it_was() {
    let (store, location) = table();
    let before = (objects(&location), rows(&location));
    for rule in [
        Rule::new(Fault::Refused).on(Op::Put).nth(1),
        Rule::new(Fault::Refused).on(Op::Put).nth(2),
        Rule::new(Fault::Refused).on(Op::GetRange).nth(1),
    ] {
        store.rule(rule);
        assert!(write(&location, &[("z", 0)], &replace("id < 2")).is_err());
        store.heal();
        assert_eq!((objects(&location), rows(&location)), before);
    }
}
