//! Compaction that writers start by themselves, after the commit.

use deltaic_core::dml::DmlOptions;
use deltaic_core::operations::delete;
use deltaic_testkit::{Fault, Op, Rule};
use serde_json::json;

use super::*;

const ASKED: [(&str, &str); 1] = [("delta.autoOptimize.autoCompact", "true")];

/// 49 files in partition `a`, and two in `b`.
fn table() -> (FaultStore, Location) {
    let (store, location) = place();
    for n in 0..49 {
        let written = write(&location, &[("a", n)], &with_properties(&ASKED)).unwrap();
        assert_eq!((written.version, written.warnings), (n as u64, Vec::new()));
    }
    for n in 100..102 {
        write(&location, &[("b", n)], &partitioned()).unwrap();
    }
    (store, location)
}

#[test]
fn fifty_small_files_of_a_partition_become_one() {
    let (_, location) = table();
    // not in the partition that has few
    assert_eq!((open(&location).version(), adds(&location).len()), (50, 51));
    let before = rows(&location);
    let written = write(&location, &[("a", 49)], &partitioned()).unwrap();
    // the result is that of the write
    assert_eq!((written.version, written.files, written.warnings), (51, 1, Vec::new()));
    assert_eq!((open(&location).version(), adds(&location).len()), (52, 3));
    assert_eq!(rows(&location).len(), before.len() + 1);
    let info = info(&location, 52);
    let parameters = info.operation_parameters.unwrap();
    assert_eq!(info.operation.as_deref(), Some("OPTIMIZE"));
    assert_eq!(
        (&parameters["auto"], &parameters["predicate"]),
        (&json!(true), &json!(["p = 'a'"]).to_string().into())
    );
}

#[test]
fn a_compaction_that_fails_is_a_warning_of_a_write_that_stands() {
    for rule in [
        // the new file of the compaction, and one that it reads
        Rule::new(Fault::Refused).on(Op::Put).named("part-").nth(2),
        Rule::new(Fault::Refused).on(Op::GetRange).named("part-").nth(7),
    ] {
        let (store, location) = table();
        store.rule(rule);
        let (written, warned) =
            deltaic_core::txn::with_warnings(|| write(&location, &[("a", 49)], &partitioned()));
        store.heal();
        let written = written.unwrap();
        assert_eq!(written.version, 51);
        assert!(written.warnings[0].starts_with("version 51 is committed; the compaction after it failed"));
        assert_eq!(warned, written.warnings);
        assert_eq!((open(&location).version(), adds(&location).len(), rows(&location).len()), (51, 52, 52));
        assert_eq!(objects(&location).len(), 52);
        // the next one makes up for it
        write(&location, &[("a", 50)], &partitioned()).unwrap();
        assert_eq!((open(&location).version(), adds(&location).len(), rows(&location).len()), (53, 3, 53));
    }
}

#[test]
fn a_delete_compacts_what_it_touches() {
    let (_, location) = place();
    let data: Vec<(String, i64)> = (0..60).map(|n| ("a".to_owned(), n)).collect();
    let data: Vec<(&str, i64)> = data.iter().map(|(p, n)| (p.as_str(), *n)).collect();
    let one_row = WriteOptions {
        max_rows_per_file: Some(2),
        ..with_properties(&[("delta.autoOptimize.autoCompact", "false")])
    };
    write(&location, &data, &one_row).unwrap();
    assert_eq!(adds(&location).len(), 30);
    let more = WriteOptions { max_rows_per_file: Some(2), ..partitioned() };
    write(&location, &data, &more).unwrap();
    assert_eq!((open(&location).version(), adds(&location).len()), (1, 60));
    let on = ASKED.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let set =
        deltaic_core::maintain::Alteration::SetProperties { properties: on, options: Default::default() };
    deltaic_core::maintain::alter_table(&location, &set, None).unwrap();
    let done = delete(&location, Some("id = 7"), &DmlOptions::default()).unwrap();
    assert_eq!((done.version, open(&location).version()), (Some(3), 4));
    assert_eq!((adds(&location).len(), rows(&location).len()), (1, 118));
}

/// Rows of 200 partitions in turns.
fn scattered() -> Vec<(String, i64)> {
    (0..10_000).map(|n| (format!("{:03}", (n * 7919) % 200), n)).collect()
}

#[test]
fn an_optimized_write_makes_one_file_a_partition() {
    // the others wait for each other when there are too many to be open, which may be late
    for (asked, files) in [("true", 200..=200), ("false", 200..=264)] {
        let (_, location) = place();
        let data = scattered();
        let batches: Vec<RecordBatch> = data
            .chunks(100)
            .map(|chunk| super::data(&chunk.iter().map(|(p, n)| (p.as_str(), *n)).collect::<Vec<_>>()))
            .collect();
        let schema = batches[0].schema();
        let options = with_properties(&[("delta.autoOptimize.optimizeWrite", asked)]);
        let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
        let written = deltaic_core::operations::write(&location, reader, &options).unwrap();
        assert!(files.contains(&written.files), "{} files", written.files);
        let mut expected = data;
        expected.sort();
        assert_eq!((rows(&location), written.rows), (expected, 10_000));
    }
}
