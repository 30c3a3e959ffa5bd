//! Optimize: fewer files, the same rows, whatever others do meanwhile.

use deltaic_core::actions::PartitionValues;
use deltaic_core::alter::SetOptions;
use deltaic_core::maintain::{Alteration, OptimizeDone, OptimizeOptions, alter_table, optimize};
use deltaic_testkit::{Fault, Op, Rule};
use serde_json::json;

use super::*;

pub(super) const VECTORS: [(&str, &str); 1] = [("delta.enableDeletionVectors", "true")];

/// Partitions `a` with ids 0 to 9 in five files, and `b` with 100 and 101 in two.
pub(super) fn table() -> (FaultStore, Location) {
    let (store, location) = place();
    for n in 0..5 {
        write(&location, &[("a", 2 * n), ("a", 2 * n + 1)], &with_properties(&VECTORS)).unwrap();
    }
    for n in 100..102 {
        write(&location, &[("b", n)], &partitioned()).unwrap();
    }
    (store, location)
}

fn run(location: &Location) -> OptimizeDone {
    optimize(location, &OptimizeOptions::default()).unwrap()
}

/// A commit of another writer that deletes the first row of these files.
fn deletes(files: &[Add]) -> bytes::Bytes {
    let mut body = format!("{}\n", json!({"commitInfo": {"operation": "DELETE", "txnId": "other"}}));
    for add in files {
        let vector = [0u64].into_iter().collect::<DeletionVector>().to_inline();
        let remove = json!({"path": add.path, "dataChange": true, "deletionTimestamp": 1, "extendedFileMetadata": true,
            "partitionValues": add.partition_values, "size": add.size});
        let add = Add { deletion_vector: Some(vector), ..add.clone() };
        body += &format!("{}\n{}\n", json!({"remove": remove}), json!({"add": add}));
    }
    body.into()
}

#[test]
fn small_files_of_a_partition_become_one_and_rows_stay() {
    let (_, location) = table();
    let before = rows(&location);
    let done = run(&location);
    assert_eq!((done.version, done.considered, done.partitions), (Some(7), 7, 2));
    assert_eq!((done.added.len(), done.removed.len(), done.vectors), (2, 7, 0));
    assert_eq!(rows(&location), before);
    let files = adds(&location);
    assert_eq!(files.len(), 2);
    for add in &files {
        assert!(!add.data_change);
        let stats: serde_json::Value = serde_json::from_str(add.stats.as_deref().unwrap()).unwrap();
        let (count, least) = match add.partition_values["p"].as_deref() {
            Some("a") => (10, 0),
            _ => (2, 100),
        };
        assert_eq!((&stats["numRecords"], &stats["minValues"]["id"]), (&json!(count), &json!(least)));
    }
    let info = info(&location, 7);
    let parameters = info.operation_parameters.unwrap();
    assert_eq!(info.operation.as_deref(), Some("OPTIMIZE"));
    assert_eq!((&parameters["predicate"], &parameters["zOrderBy"]), (&json!("[]"), &json!("[]")));
    let metrics = info.operation_metrics.unwrap();
    assert_eq!((&metrics["numAddedFiles"], &metrics["numRemovedFiles"]), (&json!("2"), &json!("7")));
    let sizes: u64 = files.iter().map(|a| a.size.unsigned_abs()).sum();
    assert_eq!(metrics["numAddedBytes"], json!(sizes.to_string()));
    assert_eq!(metrics["maxFileSize"], json!(done.added[1].to_string()));
    // again there is nothing to do
    let again = run(&location);
    assert_eq!((again.version, again.considered, again.added.len()), (None, 2, 0));
    assert_eq!(open(&location).version(), 7);
}

#[test]
fn a_condition_chooses_partitions() {
    let (_, location) = table();
    let options = |text: &str| OptimizeOptions { predicate: Some(text.into()), ..Default::default() };
    let done = optimize(&location, &options("P = 'b'")).unwrap();
    assert_eq!((done.considered, done.removed.len(), adds(&location).len()), (2, 2, 6));
    let parameters = info(&location, 7).operation_parameters.unwrap();
    assert_eq!(parameters["predicate"], json!("[\"P = 'b'\"]"));
    let error = optimize(&location, &options("p = 'b' OR id < 3")).unwrap_err();
    assert!(error.to_string().contains("Predicate references non-partition column"), "{error}");
    let unknown = optimize(&location, &options("nope = 'b'")).unwrap_err();
    assert_eq!(unknown.kind(), "InvalidExpression");
    // what a file is pruned by cannot say this
    let done = optimize(&location, &options("upper(concat(p, p)) = 'AA'")).unwrap();
    assert_eq!((done.considered, done.removed.len(), adds(&location).len()), (5, 5, 2));
}

#[test]
fn an_engine_chooses_partitions() {
    let (_, location) = table();
    let options = |partitions: Vec<PartitionValues>| OptimizeOptions {
        predicate: Some("only_the_engine(p)".into()),
        partitions: Some(partitions),
        ..Default::default()
    };
    let partition = |value: &str| PartitionValues::from([("p".to_owned(), Some(value.to_owned()))]);
    assert_eq!(optimize(&location, &options(Vec::new())).unwrap().version, None);
    let done = optimize(&location, &options(vec![partition("b"), partition("nowhere")])).unwrap();
    assert_eq!((done.considered, done.removed.len(), adds(&location).len()), (2, 2, 6));
    let parameters = info(&location, 7).operation_parameters.unwrap();
    assert_eq!(parameters["predicate"], json!("[\"only_the_engine(p)\"]"));
}

#[test]
fn the_size_of_the_new_files_is_bounded() {
    let (_, location) = table();
    let size = adds(&location)[0].size.unsigned_abs();
    let options = OptimizeOptions { target_size: Some(2 * size + size / 2), ..Default::default() };
    let done = optimize(&location, &options).unwrap();
    // five files of `a` by twos; the fifth stays as it is
    assert_eq!((done.added.len(), done.removed.len()), (3, 6));
    // where the caller does not say, the table does
    let (_, location) = table();
    let property = [("delta.targetFileSize".to_owned(), format!("{}b", 2 * size + size / 2))].into();
    let set = Alteration::SetProperties { properties: property, options: SetOptions::default() };
    alter_table(&location, &set, None).unwrap();
    assert_eq!(run(&location).added.len(), 3);
}

#[test]
fn rows_that_vectors_hide_are_left_out() {
    let (_, location) = table();
    delete_first_row(&location);
    let before = rows(&location);
    let done = run(&location);
    assert_eq!((done.vectors, done.deleted_rows), (1, 1));
    assert_eq!(rows(&location), before);
    assert!(adds(&location).iter().all(|a| a.deletion_vector.is_none()));
    // a large file is written again for its deleted rows alone
    delete_first_row(&location);
    let before = rows(&location);
    let options = OptimizeOptions { min_size: Some(0), ..Default::default() };
    assert_eq!(optimize(&location, &options).unwrap().removed.len(), 1);
    assert_eq!(rows(&location), before);
    let none = OptimizeOptions { max_deleted_ratio: 1.0, ..options };
    delete_first_row(&location);
    assert_eq!(optimize(&location, &none).unwrap().version, None);
}

#[test]
fn files_that_nothing_is_left_of_go_without_a_new_one() {
    let (_, location) = place();
    for n in 0..2 {
        write(&location, &[("a", n)], &with_properties(&VECTORS)).unwrap();
    }
    let mut txn = Transaction::begin(&open(&location), Operation::new("DELETE"));
    for add in adds(&location) {
        txn.replace_vector(&add, [0u64].into_iter().collect::<DeletionVector>().to_inline());
    }
    txn.commit().unwrap();
    let done = run(&location);
    assert_eq!((done.removed.len(), done.added.len(), done.deleted_rows), (2, 0, 2));
    assert!(adds(&location).is_empty());
}

#[test]
fn deletes_that_land_meanwhile_are_kept() {
    let (store, location) = table();
    let of_a: Vec<Add> =
        adds(&location).into_iter().filter(|a| a.partition_values["p"].as_deref() == Some("a")).collect();
    let first_rows = [0, 2, 4, 6, 8];
    store.rule(
        Rule::new(Fault::Overtaken(deletes(&of_a))).on(Op::PutIfAbsent).named("00000000000000000007.json"),
    );
    let done = run(&location);
    assert_eq!(done.version, Some(8));
    // the vectors that the winner made left with their files
    assert_eq!((done.vectors, done.deleted_rows), (5, 0));
    assert_eq!(info(&location, 8).operation_metrics.unwrap()["numDeletionVectorsRemoved"], json!("5"));
    let left: Vec<i64> = rows(&location).into_iter().map(|r| r.1).collect();
    let expected: Vec<i64> = (0..10).filter(|id| !first_rows.contains(id)).chain([100, 101]).collect();
    assert_eq!(left, expected);
    assert_eq!(adds(&location).len(), 2);
    // and the next run leaves the rows out for good
    assert_eq!(run(&location).deleted_rows, 5);
    let left: Vec<i64> = rows(&location).into_iter().map(|r| r.1).collect();
    assert_eq!(left, expected);
}

#[test]
fn appends_and_deletes_run_beside_it() {
    let (_, location) = table();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..6 {
                write(&location, &[("a", 1000 + n)], &partitioned()).unwrap();
            }
        });
        scope.spawn(|| {
            for id in [1, 4, 7] {
                // again where an optimize moved the row
                while let Err(error) = delete_id(&location, id) {
                    assert_eq!(error.kind(), "ConcurrentDeleteDelete", "{error}");
                }
            }
        });
        for _ in 0..4 {
            run(&location);
        }
    });
    run(&location);
    let left: Vec<i64> = rows(&location).into_iter().map(|r| r.1).collect();
    let expected: Vec<i64> = [0, 2, 3, 5, 6, 8, 9].into_iter().chain(1000..1006).chain([100, 101]).collect();
    assert_eq!(left, expected);
}

/// Deletes the row of an id by a deletion vector.
fn delete_id(location: &Location, id: i64) -> Result<()> {
    let snapshot = open(location);
    let is_id = compare("id", CompareOp::Eq, Literal::Long(id));
    let mut txn = Transaction::begin(&snapshot, Operation::new("DELETE"));
    for add in adds(location) {
        // all rows of the file, to count positions
        let bare = Add { deletion_vector: None, ..add.clone() };
        let scan = deltaic_core::scan::RowScan::new(
            location.clone(),
            snapshot.schema(),
            snapshot.partition_columns(),
            snapshot.column_mapping(),
            ReadRequest { columns: Some(vec!["id".into()]), ..Default::default() },
        )?;
        let ids: Vec<i64> = deltaic_core::scan::read_file(&Arc::new(scan), &bare)?
            .flat_map(|b| b.unwrap().column(0).as_primitive::<Int64Type>().values().to_vec())
            .collect();
        let Some(at) = ids.iter().position(|i| *i == id) else { continue };
        let mut gone: Vec<u64> = match &add.deletion_vector {
            Some(vector) => DeletionVector::load(vector, location)?.rows().iter().collect(),
            None => Vec::new(),
        };
        if gone.contains(&(at as u64)) {
            continue;
        }
        gone.push(at as u64);
        txn.read_matching(&is_id, [&add.path])?;
        txn.replace_vector(&add, gone.into_iter().collect::<DeletionVector>().to_inline());
    }
    txn.commit().map(drop)
}

#[test]
fn a_store_that_fails_leaves_the_table_as_it_was() {
    for rule in [
        Rule::new(Fault::Refused).on(Op::Put).nth(2),
        Rule::new(Fault::Torn(10)).on(Op::Put),
        Rule::new(Fault::LostAnswer).on(Op::Put).nth(1),
        Rule::new(Fault::Refused).on(Op::GetRange).nth(3),
        Rule::new(Fault::Refused).on(Op::PutIfAbsent).always(),
    ] {
        let (store, location) = table();
        let (before, there) = (rows(&location), objects(&location));
        store.rule(rule);
        let result = optimize(&location, &OptimizeOptions::default());
        store.heal();
        assert_eq!(rows(&location), before);
        match result {
            Err(error) if error.kind() != "CommitStateUnknown" => assert_eq!(objects(&location), there),
            _ => {}
        }
    }
    // the answer of the commit is lost, and it is there
    let (store, location) = table();
    let before = rows(&location);
    store.rule(Rule::new(Fault::LostAnswer).on(Op::PutIfAbsent));
    assert_eq!(run(&location).version, Some(7));
    assert_eq!((rows(&location), adds(&location).len()), (before, 2));
}

#[test]
fn a_table_that_maps_columns_keeps_its_rows() {
    let (_, location) = place();
    let mapped = with_properties(&[("delta.columnMapping.mode", "name")]);
    for n in 0..3 {
        write(&location, &[("a", n)], &mapped).unwrap();
    }
    let before = rows(&location);
    assert_eq!(run(&location).added.len(), 1);
    assert_eq!(rows(&location), before);
}

#[test]
fn a_purge_takes_dropped_columns_out_of_the_files() {
    let (_, location) = place();
    let mapped = with_properties(&[("delta.columnMapping.mode", "name")]);
    let mapped = WriteOptions { partition_by: Vec::new(), ..mapped };
    for n in 0..3 {
        write(&location, &[("a", n)], &mapped).unwrap();
    }
    let purge = OptimizeOptions { purge: true, ..Default::default() };
    assert_eq!(optimize(&location, &purge).unwrap().version, None);
    let rename = Alteration::RenameColumn { path: vec!["p".into()], name: "q".into() };
    alter_table(&location, &rename, None).unwrap();
    assert_eq!(optimize(&location, &purge).unwrap().version, None, "a file has its physical name");
    alter_table(&location, &Alteration::DropColumns(vec![vec!["id".into()]]), None).unwrap();
    let done = optimize(&location, &purge).unwrap();
    assert_eq!((done.version, done.removed.len(), done.added.len()), (Some(5), 3, 1));
    assert_eq!(info(&location, 5).operation.as_deref(), Some("REORG"));
    assert_eq!(optimize(&location, &purge).unwrap().version, None, "nothing is left of it");
}
