//! Optimize along curves: the same rows, in files that conditions leave out.

use std::collections::BTreeSet;

use arrow::array::{Float64Array, StructArray};
use arrow::datatypes::{DataType, Field};
use deltaic_core::actions::DomainMetadata;
use deltaic_core::alter::{Definition, cluster_by};
use deltaic_core::dml::DmlOptions;
use deltaic_core::maintain::{OptimizeDone, OptimizeOptions, optimize};
use deltaic_core::operations::delete;
use deltaic_testkit::{Fault, Op, Rule};
use serde_json::{Value, json};

use super::*;
use crate::rivals::overtaken;

/// A row: partition, a scattered number, another that does not go with it, and a text of the first.
type Row = (String, Option<i64>, f64, String);

/// Numbers that look like chance, the same each time.
fn scattered(n: i64) -> (Option<i64>, f64) {
    let a = (n * 7919) % 10_007;
    ((n % 50 > 0).then_some(a), ((n * 104_729) % 9_973) as f64)
}

fn batch(numbers: std::ops::Range<i64>, partition: &str) -> RecordBatch {
    let p: ArrayRef = Arc::new(StringArray::from_iter_values(numbers.clone().map(|_| partition)));
    let a: ArrayRef = Arc::new(Int64Array::from_iter(numbers.clone().map(|n| scattered(n).0)));
    let x: ArrayRef = Arc::new(Float64Array::from_iter_values(numbers.clone().map(|n| scattered(n).1)));
    let s: ArrayRef =
        Arc::new(StructArray::from(vec![(Arc::new(Field::new("x", DataType::Float64, true)), x)]));
    let text: ArrayRef =
        Arc::new(StringArray::from_iter_values(numbers.map(|n| format!("{:?}", scattered(n).0))));
    RecordBatch::try_from_iter_with_nullable([
        ("p", p, true),
        ("a", a, true),
        ("s", s, true),
        ("text", text, true),
    ])
    .unwrap()
}

fn append(location: &Location, batch: RecordBatch, options: &WriteOptions) -> Result<WriteResult> {
    let schema = batch.schema();
    deltaic_core::operations::write(location, RecordBatchIterator::new([Ok(batch)], schema), options)
}

/// `files` files of 500 rows each in every partition; without partitions where there is one only.
fn table(files: i64, partitions: &[&str], properties: &[(&str, &str)]) -> (FaultStore, Location) {
    let (store, location) = place();
    let mut options = with_properties(properties);
    if partitions.len() == 1 {
        options.partition_by.clear();
    }
    for n in 0..files {
        for partition in partitions {
            append(&location, batch(n * 500..(n + 1) * 500, partition), &options).unwrap();
        }
    }
    (store, location)
}

fn all_rows(location: &Location) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for batch in read(&open(location), ReadRequest::default()).unwrap() {
        let batch = batch.unwrap();
        let (p, a) = (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<Int64Type>());
        let x = batch.column(2).as_struct().column(0).as_primitive::<arrow::datatypes::Float64Type>();
        let text = batch.column(3).as_string::<i32>();
        rows.extend((0..batch.num_rows()).map(|i| {
            let a = arrow::array::Array::is_valid(a, i).then(|| a.value(i));
            (p.value(i).to_owned(), a, x.value(i), text.value(i).to_owned())
        }));
    }
    rows.sort_by(|l, r| l.partial_cmp(r).unwrap());
    rows
}

fn zorder(columns: &[&str], target_size: u64) -> OptimizeOptions {
    OptimizeOptions {
        zorder_by: columns.iter().map(|c| (*c).to_owned()).collect(),
        target_size: Some(target_size),
        ..Default::default()
    }
}

/// Bytes of all files, by `count`.
fn share(location: &Location, count: u64) -> u64 {
    adds(location).iter().map(|a| a.size.unsigned_abs()).sum::<u64>() / count
}

/// The share of the files that a read of a tenth of the values reads, for the columns `a` and `s.x`.
fn read_share(location: &Location) -> [f64; 2] {
    let all = adds(location).len() as f64;
    let between = |path: &[&str], from: Literal, to: Literal| {
        let column: Vec<String> = path.iter().map(|p| (*p).to_owned()).collect();
        let is = |op, value| Predicate::Compare { op, column: column.clone(), value };
        let condition = Predicate::And(vec![is(CompareOp::Ge, from), is(CompareOp::Lt, to)]);
        let request = FilesRequest { predicate: Some(condition), ..Default::default() };
        let read: usize = open(location).files(request).unwrap().map(|b| b.unwrap().adds().count()).sum();
        read as f64 / all
    };
    [
        between(&["a"], Literal::Long(3000), Literal::Long(4000)),
        between(&["s", "x"], Literal::Double(6000.0), Literal::Double(7000.0)),
    ]
}

fn parameters(location: &Location) -> Value {
    json!(info(location, open(location).version()).operation_parameters.unwrap())
}

#[test]
fn conditions_on_each_column_read_few_files() {
    let (_, location) = table(16, &["only"], &[]);
    let before = all_rows(&location);
    assert_eq!(read_share(&location), [1.0, 1.0]);
    let done = optimize(&location, &zorder(&["a", "S.x"], share(&location, 16))).unwrap();
    assert_eq!((done.version, done.considered, done.removed.len(), done.added.len()), (Some(16), 16, 16, 16));
    assert_eq!(all_rows(&location), before);
    // four by four squares: a tenth is in one or two columns of them
    for share in read_share(&location) {
        assert!(share <= 0.5625, "{share} of the files are read");
    }
    let counts: Vec<i64> = adds(&location).iter().map(|a| stats(a)["numRecords"].as_i64().unwrap()).collect();
    assert_eq!(counts, [500; 16]);
    assert_eq!(
        parameters(&location),
        json!({"predicate": "[]", "zOrderBy": "[\"a\",\"S.x\"]", "clusterBy": "[]", "auto": false})
    );
    let zorder_stats = done.zorder.unwrap();
    assert_eq!(
        (zorder_stats.other_files.files, zorder_stats.merged.files, zorder_stats.new_cubes),
        (16, 16, 1)
    );
    // one column is sorted: its ranges do not overlap
    optimize(&location, &zorder(&["a"], share(&location, 16))).unwrap();
    assert!(read_share(&location)[0] <= 0.1875);
    assert_eq!(all_rows(&location), before);
}

fn stats(add: &Add) -> Value {
    serde_json::from_str(add.stats.as_deref().unwrap()).unwrap()
}

#[test]
fn partitions_are_laid_out_each_for_itself() {
    let (_, location) = table(3, &["a", "b"], &[]);
    let before = all_rows(&location);
    let only_b = OptimizeOptions { predicate: Some("p = 'b'".into()), ..zorder(&["a"], 1 << 30) };
    let done = optimize(&location, &only_b).unwrap();
    assert_eq!((done.considered, done.partitions, done.removed.len(), done.added.len()), (3, 1, 3, 1));
    assert_eq!(parameters(&location)["predicate"], json!("[\"p = 'b'\"]"));
    let done = optimize(&location, &zorder(&["a"], 1 << 30)).unwrap();
    // a file alone is sorted, too
    assert_eq!((done.considered, done.partitions, done.removed.len(), done.added.len()), (4, 2, 4, 2));
    assert_eq!(all_rows(&location), before);
    for add in adds(&location) {
        assert!(!add.data_change && add.clustering_provider.is_none() && add.tags.is_none());
    }
}

#[test]
fn columns_are_checked_as_delta_spark_does() {
    let (_, location) = table(1, &["a", "b"], &[("delta.dataSkippingNumIndexedCols", "2")]);
    let refused = |columns: &[&str], said: &str| {
        let error = optimize(&location, &zorder(columns, 1 << 30)).unwrap_err();
        assert_eq!(error.kind(), "InvalidArgument");
        assert!(error.to_string().contains(said), "{error}");
    };
    refused(&["P"], "P is a partition column. Z-Ordering can only be performed on data columns");
    refused(&["nope"], "Z-Ordering column nope does not exist in data schema.");
    refused(
        &["a", "text"],
        "Z-Ordering on [text] will be ineffective, because we currently do not collect stats",
    );
    refused(&["s"], "its type is struct");
    refused(&["a, s.x, nope"], "column nope does not exist");
    refused(&[""], "no column is given");
    refused(&["`a"], "`a");
    assert_eq!(open(&location).version(), 1);
    let unchecked = OptimizeOptions { check_statistics: false, ..zorder(&["text"], 1 << 30) };
    assert_eq!(optimize(&location, &unchecked).unwrap().version, Some(2));
    let full = OptimizeOptions { full: true, ..Default::default() };
    assert!(optimize(&location, &full).unwrap_err().to_string().contains("OPTIMIZE FULL is only supported"));
}

#[test]
fn deleted_rows_are_left_out() {
    let (_, location) = table(4, &["only"], &[("delta.enableDeletionVectors", "true")]);
    delete(&location, Some("a < 2000"), &DmlOptions::default()).unwrap();
    let before = all_rows(&location);
    let done = optimize(&location, &zorder(&["a", "s.x"], share(&location, 4))).unwrap();
    assert_eq!((done.added.len(), done.vectors), (4, 4));
    assert!(done.deleted_rows > 300);
    assert!(adds(&location).iter().all(|a| a.deletion_vector.is_none()));
    assert_eq!(all_rows(&location), before);
    // of what nothing is left there is no file
    let mut txn = Transaction::begin(&open(&location), Operation::new("DELETE"));
    for add in adds(&location) {
        let rows = stats(&add)["numRecords"].as_u64().unwrap();
        txn.replace_vector(&add, (0..rows).collect::<DeletionVector>().to_inline());
    }
    txn.commit().unwrap();
    let done = optimize(&location, &zorder(&["a"], 1)).unwrap();
    assert_eq!((done.added.len(), done.removed.len(), adds(&location).len()), (0, 4, 0));
}

#[test]
fn mapped_names_change_nothing() {
    let (_, location) = table(3, &["only"], &[("delta.columnMapping.mode", "name")]);
    let before = all_rows(&location);
    let done = optimize(&location, &zorder(&["s.x", "a"], share(&location, 6))).unwrap();
    assert_eq!((done.added.len(), all_rows(&location)), (6, before));
}

#[test]
fn an_append_that_lands_meanwhile_is_kept() {
    let (store, location) = table(3, &["only"], &[]);
    let options = WriteOptions { partition_by: Vec::new(), ..partitioned() };
    overtaken(&store, &location, 3, |copy| drop(append(copy, batch(9000..9100, "only"), &options).unwrap()));
    let there = objects(&location).len();
    let done = optimize(&location, &zorder(&["a"], 1 << 30)).unwrap();
    // not retried: one new file beside that of the append
    assert_eq!((done.version, done.removed.len()), (Some(4), 3));
    assert_eq!((adds(&location).len(), objects(&location).len()), (2, there + 1));
    assert_eq!(all_rows(&location).len(), 1600);
}

#[test]
fn after_a_delete_that_lands_meanwhile_it_is_retried() {
    let (store, location) = table(3, &["only"], &[("delta.enableDeletionVectors", "true")]);
    overtaken(&store, &location, 3, |copy| {
        delete(copy, Some("a < 5000"), &DmlOptions::default()).unwrap();
    });
    let done: OptimizeDone = optimize(&location, &zorder(&["a"], 1 << 30)).unwrap();
    assert_eq!((done.version, done.removed.len(), done.vectors), (Some(4), 3, 3));
    assert!(all_rows(&location).iter().all(|row| row.1.is_none_or(|a| a >= 5000)));
    assert_eq!(adds(&location).len(), 1);
}

#[test]
fn a_store_that_fails_leaves_the_table_as_it_was() {
    let rules = [
        Rule::new(Fault::Refused).on(Op::Put).nth(2),
        Rule::new(Fault::Torn(10)).on(Op::Put),
        Rule::new(Fault::LostAnswer).on(Op::Put).nth(1),
        Rule::new(Fault::Refused).on(Op::GetRange).nth(1),
        Rule::new(Fault::Refused).on(Op::GetRange).nth(5),
        Rule::new(Fault::Refused).on(Op::PutIfAbsent).always(),
    ];
    for rule in rules {
        let (store, location) = table(3, &["only"], &[]);
        let (before, there) = (all_rows(&location), objects(&location));
        store.rule(rule);
        let result = optimize(&location, &zorder(&["a", "s.x"], share(&location, 3)));
        store.heal();
        assert_eq!(all_rows(&location), before);
        match result {
            Err(error) if error.kind() != "CommitStateUnknown" => assert_eq!(objects(&location), there),
            _ => {}
        }
    }
}

fn clustered(files: i64) -> (FaultStore, Location) {
    let (store, location) = table(files, &["only"], &[]);
    let columns = vec![vec!["a".to_owned()], vec!["s".to_owned(), "x".to_owned()]];
    cluster(&location, &columns);
    (store, location)
}

/// Makes it a clustered table.
fn cluster(location: &Location, columns: &[Vec<String>]) {
    let snapshot = open(location);
    let table = Definition::of(snapshot.protocol(), snapshot.metadata()).unwrap();
    let (table, domain) = cluster_by(&table, columns).unwrap();
    let mut txn = Transaction::begin(&snapshot, Operation::new("CLUSTER BY"));
    txn.set_protocol(table.protocol);
    txn.domain(domain);
    txn.commit().unwrap();
}

fn of_target(target_size: u64) -> OptimizeOptions {
    OptimizeOptions { target_size: Some(target_size), ..Default::default() }
}

#[test]
fn a_clustered_table_is_clustered_by_its_columns() {
    let (_, location) = clustered(16);
    let (before, size) = (all_rows(&location), share(&location, 16));
    let done = optimize(&location, &of_target(size)).unwrap();
    assert_eq!((done.removed.len(), done.added.len()), (16, 16));
    assert_eq!(all_rows(&location), before);
    for share in read_share(&location) {
        assert!(share <= 0.5625, "{share} of the files are read");
    }
    assert_eq!(
        parameters(&location),
        json!({"predicate": "[]", "zOrderBy": "[]", "clusterBy": "[\"a\",\"s.x\"]", "auto": false, "isFull": false})
    );
    let cubes: BTreeSet<_> = adds(&location)
        .into_iter()
        .map(|add| {
            assert_eq!(add.clustering_provider.as_deref(), Some("liquid"));
            let tags = add.tags.unwrap();
            assert_eq!(tags["ZCUBE_ZORDER_BY"].as_deref(), Some(r#"["a","s.x"]"#));
            tags["ZCUBE_ID"].clone()
        })
        .collect();
    assert_eq!(cubes.len(), 1);
    let stats = done.clustering.unwrap();
    assert_eq!((stats.cubes, stats.other_files.files, stats.new_cubes), (0, 16, 1));
    // what is clustered is left alone
    assert_eq!(optimize(&location, &of_target(size)).unwrap().version, None);
    // a cube that is full is not touched by what comes later, one that is not takes it in
    let options = WriteOptions { partition_by: Vec::new(), ..partitioned() };
    append(&location, batch(9000..9100, "only"), &options).unwrap();
    let full = optimize(&location, &of_target(size / 10)).unwrap();
    assert_eq!((full.considered, full.removed.len()), (17, 1));
    append(&location, batch(9100..9200, "only"), &options).unwrap();
    let more = optimize(&location, &of_target(size)).unwrap();
    assert_eq!((more.removed.len(), more.clustering.unwrap().cubes), (more.considered as usize, 2));
    assert_eq!(all_rows(&location).len(), before.len() + 200);
}

#[test]
fn other_clustering_columns_leave_old_files_unless_all_is_asked_for() {
    let (_, location) = clustered(2);
    let before = all_rows(&location);
    optimize(&location, &OptimizeOptions::default()).unwrap();
    cluster(&location, &[vec!["text".to_owned()]]);
    assert_eq!(optimize(&location, &OptimizeOptions::default()).unwrap().version, None);
    let full = OptimizeOptions { full: true, ..Default::default() };
    let done = optimize(&location, &full).unwrap();
    assert_eq!((done.removed.len(), all_rows(&location)), (1, before));
    assert_eq!(parameters(&location)["isFull"], json!(true));
    // no columns: files are joined as in any table
    cluster(&location, &[]);
    let options = WriteOptions { partition_by: Vec::new(), ..partitioned() };
    append(&location, batch(9000..9100, "only"), &options).unwrap();
    let joined = optimize(&location, &OptimizeOptions::default()).unwrap();
    assert_eq!((joined.removed.len(), joined.clustering), (2, None));
    assert!(parameters(&location).get("isFull").is_none());
}

#[test]
fn a_clustered_table_takes_no_other_order() {
    let (_, location) = clustered(1);
    let error = optimize(&location, &zorder(&["a"], 1 << 30)).unwrap_err();
    assert!(error.to_string().contains("Please remove ZORDER BY (a)."), "{error}");
    let part = OptimizeOptions { predicate: Some("p = 'b'".into()), ..Default::default() };
    let error = optimize(&location, &part).unwrap_err();
    assert!(error.to_string().contains("doesn't support partition predicates"), "{error}");
    // a domain of columns that are not there
    let mut txn = Transaction::begin(&open(&location), Operation::new("CLUSTER BY"));
    txn.domain(DomainMetadata {
        domain: "delta.clustering".into(),
        configuration: json!({"clusteringColumns": [["gone"]], "domainName": "delta.clustering"}).to_string(),
        removed: false,
    });
    txn.commit().unwrap();
    let error = optimize(&location, &OptimizeOptions::default()).unwrap_err();
    assert_eq!(error.kind(), "InvalidSchema");
}
