//! Operations whose rows an engine looks at and writes: here this test is the engine.

use arrow::array::BinaryArray;
use deltaic_core::engine::{DistributedDml, TakenRows};
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::schema::{StructField, StructType};
use deltaic_core::txn::Operation;

use super::*;

fn begin(location: &Location) -> DistributedDml {
    let operation = Operation::new("DELETE").with("predicate", "[]");
    DistributedDml::begin(location, StorageOptions::new(), operation, DmlOptions::default()).unwrap()
}

/// What Spark's aggregates give for rows at these positions of files: one bitmap a file.
fn bitmaps(found: &[(String, Vec<i64>)]) -> RecordBatch {
    let bitmap = |rows: &[i64]| {
        let mut bytes = vec![0_u8; 4096];
        rows.iter().for_each(|row| bytes[(row / 8) as usize] |= 1 << (row % 8));
        bytes
    };
    let files: ArrayRef = Arc::new(StringArray::from_iter_values(found.iter().map(|f| &f.0)));
    let buckets: ArrayRef = Arc::new(Int64Array::from(vec![1; found.len()]));
    let bytes: ArrayRef = Arc::new(BinaryArray::from_iter_values(found.iter().map(|f| bitmap(&f.1))));
    let counts: ArrayRef = Arc::new(Int64Array::from_iter_values(found.iter().map(|f| f.1.len() as i64)));
    RecordBatch::try_from_iter([("f", files), ("b", buckets), ("m", bytes), ("c", counts)]).unwrap()
}

fn take(dml: &mut DistributedDml, found: &[(String, Vec<i64>)]) -> Result<TakenRows> {
    let batch = bitmaps(found);
    let schema = batch.schema();
    dml.take_rows(RecordBatchIterator::new([Ok(batch)], schema))
}

/// The URI of a file as an engine may spell it, and the position in it, of every key.
fn positions(location: &Location) -> BTreeMap<i64, (String, i64)> {
    let mut out = BTreeMap::new();
    for file in files(location) {
        let path = file.path.resolve(location.root()).unwrap();
        for (at, row) in stored(location, &file).iter().enumerate() {
            out.insert(row.k, (path.to_uri(), at as i64));
        }
    }
    out
}

fn stored(location: &Location, file: &Add) -> Vec<Row> {
    let path = file.path.resolve(location.root()).unwrap();
    let bytes = location.store().get(&path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap();
    reader.flat_map(|batch| from_batch(&batch.unwrap())).collect()
}

fn found(location: &Location, keys: impl IntoIterator<Item = i64>) -> Vec<(String, Vec<i64>)> {
    let places = positions(location);
    let mut files: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for key in keys {
        let (file, at) = &places[&key];
        files.entry(file.clone()).or_default().push(*at);
    }
    files.into_iter().collect()
}

fn below(limit: i64) -> Predicate {
    Predicate::Compare { op: CompareOp::Lt, column: vec!["k".into()], value: Literal::Long(limit) }
}

#[test]
fn bitmaps_become_vectors_and_removals() {
    let (_, location) = table(40, false, &[VECTORS]);
    let mut dml = begin(&location);
    assert!(dml.uses_vectors());
    // all of the first file, some of the second
    let rows = take(&mut dml, &found(&location, 0..13)).unwrap();
    assert_eq!(rows, TakenRows { rows: 13, matches: 13 });
    let counts = dml.counts();
    assert_eq!((counts.touched_files, counts.emptied_files, counts.first_vectors), (2, 1, 1));
    assert_eq!((counts.matched_rows, counts.touched_rows), (Some(13), Some(20)));
    assert_eq!(dml.commit(true, vec![("numDeletedRows".into(), 13)]).unwrap(), 1);
    assert_eq!(keys(&location), (13..40).collect::<Vec<_>>());

    let mut dml = begin(&location);
    take(&mut dml, &found(&location, [15, 19])).unwrap();
    let counts = dml.counts();
    assert_eq!((counts.next_vectors, counts.matched_rows, counts.touched_rows), (1, Some(2), Some(7)));
    dml.commit(true, Vec::new()).unwrap();
    assert_eq!(keys(&location), (13..40).filter(|k| ![15, 19].contains(k)).collect::<Vec<_>>());
    assert_eq!(orphans(&location), Vec::<String>::new());
}

#[test]
fn rewritten_rows_take_the_place_of_files() {
    let (_, location) = table(20, false, &[]);
    let mut dml = begin(&location);
    take(&mut dml, &found(&location, [3, 4])).unwrap();
    let left = batch(&rows(10).into_iter().filter(|r| ![3, 4].contains(&r.k)).collect::<Vec<_>>());
    let schema = left.schema();
    let plan = dml.data_plan(false).unwrap();
    let adds = plan.write_files(RecordBatchIterator::new([Ok(left)], schema), Some("own")).unwrap();
    dml.own_folder("own".into());
    dml.add_files(adds);
    assert_eq!((dml.counts().added_files, dml.counts().added_rows), (1, 8));
    dml.commit(false, Vec::new()).unwrap();
    assert_eq!(keys(&location), (0..20).filter(|k| ![3, 4].contains(k)).collect::<Vec<_>>());
    let log = changes(&location, 1);
    assert_eq!((log.removes.len(), log.adds.len()), (1, 1));
}

#[test]
fn what_is_not_committed_leaves_nothing() {
    let (_, location) = table(20, false, &[]);
    let write = |dml: &mut DistributedDml, folder: &str| {
        let rows = batch(&rows(5));
        let schema = rows.schema();
        let plan = dml.data_plan(false).unwrap();
        dml.own_folder(folder.into());
        dml.add_files(plan.write_files(RecordBatchIterator::new([Ok(rows)], schema), Some(folder)).unwrap());
    };
    let mut dropped = begin(&location);
    write(&mut dropped, "a");
    assert_eq!(orphans(&location).len(), 1);
    drop(dropped);
    assert_eq!(orphans(&location), Vec::<String>::new());

    // another takes the file away
    let mut lost = begin(&location);
    take(&mut lost, &found(&location, [3])).unwrap();
    write(&mut lost, "b");
    delete(&location, Some("k = 5")).unwrap();
    let error = lost.commit(false, Vec::new()).unwrap_err();
    assert!(matches!(error, deltaic_core::Error::ConcurrentDeleteDelete(_)), "{error}");
    assert_eq!(orphans(&location), Vec::<String>::new());
}

#[test]
fn other_rows_of_a_file_may_be_deleted_at_the_same_time() {
    let (_, location) = table(20, false, &[VECTORS]);
    let mut dml = begin(&location);
    dml.set_predicate(Some(below(3)));
    take(&mut dml, &found(&location, 0..3)).unwrap();
    delete(&location, Some("k = 5")).unwrap();
    dml.commit(true, Vec::new()).unwrap();
    assert_eq!(keys(&location), (3..20).filter(|k| *k != 5).collect::<Vec<_>>());
}

#[test]
fn whole_partitions_are_taken_by_their_number() {
    let (_, location) = table(30, true, &[]);
    let mut dml = begin(&location);
    let partitions = dml.partitions("number").unwrap();
    let names = partitions.column(0).as_string::<i32>();
    let wanted = (0..partitions.num_rows()).filter(|i| names.is_valid(*i) && names.value(*i) == "x");
    let wanted: Vec<usize> = wanted.collect();
    assert_eq!((partitions.num_rows(), wanted.len()), (4, 1));
    dml.take_partitions(&wanted).unwrap();
    dml.commit(false, Vec::new()).unwrap();
    assert!(all(&location).iter().all(|r| r.p.as_deref() != Some("x")));
    assert_eq!(all(&location).len(), rows(30).iter().filter(|r| r.p.as_deref() != Some("x")).count());
}

#[test]
fn a_row_that_was_found_twice_is_reported() {
    let (_, location) = table(20, false, &[VECTORS]);
    let mut dml = begin(&location);
    let once = found(&location, [1, 2]);
    let twice = [once.clone(), once].concat();
    assert_eq!(take(&mut dml, &twice).unwrap(), TakenRows { rows: 2, matches: 4 });
}

#[test]
fn a_file_that_the_version_does_not_have_is_refused() {
    let (_, location) = table(20, false, &[VECTORS]);
    let mut dml = begin(&location);
    let error = take(&mut dml, &[("memory:///t/other.parquet".into(), vec![1])]).unwrap_err();
    assert_eq!(error.to_string(), "rows: version 0 has no file `/t/other.parquet` that may have such rows");
    // nor one that its own predicate rules out
    let mut dml = begin(&location);
    dml.set_predicate(Some(below(3)));
    assert_eq!(take(&mut dml, &found(&location, [15])).unwrap_err().kind(), "InvalidArgument");
}

#[test]
fn new_rows_with_a_new_column_are_in_the_change_data_feed() {
    let (_, location) = table(20, false, &[VECTORS, CHANGES]);
    let mut dml = begin(&location);
    let more = StructField::new("more", deltaic_core::schema::DataType::Long, true);
    dml.evolve(&StructType { fields: vec![more] }).unwrap();
    let names: Vec<_> = dml.new_schema().fields.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["k", "p", "s", "more"]);
    take(&mut dml, &found(&location, [3])).unwrap();

    let k: ArrayRef = Arc::new(Int64Array::from(vec![20, 21]));
    let rows = RecordBatch::try_from_iter([("more", k.clone()), ("K", k)]).unwrap();
    let schema = rows.schema();
    let plan = dml.insert_plan(&deltaic_core::schema::from_arrow(&schema).unwrap()).unwrap();
    dml.own_folder("own".into());
    let adds = plan.write_files(RecordBatchIterator::new([Ok(rows)], schema), Some("own")).unwrap();
    dml.add_inserts(adds, true).unwrap();
    assert_eq!((dml.counts().added_rows, dml.counts().change_files), (2, 1));
    dml.commit(true, Vec::new()).unwrap();

    assert_eq!(keys(&location), (0..22).filter(|k| *k != 3).collect::<Vec<_>>());
    assert_eq!(open(&location).schema().fields.len(), 4);
    assert_eq!(changes(&location, 1).cdc.len(), 1);
    assert_eq!(orphans(&location), Vec::<String>::new());

    let mut dml = begin(&location);
    let other =
        StructType { fields: vec![StructField::new("nothing", deltaic_core::schema::DataType::Long, true)] };
    assert_eq!(dml.insert_plan(&other).unwrap_err().kind(), "SchemaMismatch");
}

#[test]
fn an_application_transaction_is_done_once() {
    let (_, location) = table(20, false, &[]);
    let begin = |version: i64| {
        let options = DmlOptions { app_transaction: Some(("app".into(), version)), ..Default::default() };
        DistributedDml::begin(&location, StorageOptions::new(), Operation::new("MERGE"), options).unwrap()
    };
    let (mut first, mut late) = (begin(1), begin(1));
    assert!(!first.recorded().unwrap());
    for dml in [&mut first, &mut late] {
        let all: Vec<_> = found(&location, 0..20);
        take(dml, &all).unwrap();
    }
    assert_eq!(first.commit(false, Vec::new()).unwrap(), 1);
    assert_eq!(keys(&location), Vec::<i64>::new());
    // another did the same meanwhile
    assert_eq!(late.commit(false, Vec::new()).unwrap(), 0);
    assert!(begin(1).recorded().unwrap());
    // what changes nothing is recorded all the same
    let next = begin(2);
    assert!(!next.recorded().unwrap());
    assert_eq!(next.commit(false, Vec::new()).unwrap(), 2);
    assert!(begin(2).recorded().unwrap());
}
