//! From Parquet files to a table: all of them or none.

use arrow::array::{Int32Array, UInt32Array};
use deltaic_core::alter::columns_from_json;
use deltaic_core::maintain::{
    CloneOptions, CloneTarget, ConvertDone, ConvertOptions, Partitioning, VacuumOptions, convert, vacuum,
};
use deltaic_core::schema::StructType;
use deltaic_testkit::{Fault, Op, Rule};
use parquet::arrow::ArrowWriter;

use super::*;

fn parquet(location: &Location, name: &str, columns: &[(&str, ArrayRef)]) {
    let columns = columns.iter().map(|(n, a)| (*n, a.clone(), true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let body = writer.into_inner().unwrap();
    location.store().put(&location.root().join(name), body.into()).unwrap();
}

fn ids(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn by(columns: &[(&str, &str)]) -> ConvertOptions {
    let fields: Vec<String> = columns
        .iter()
        .map(|(n, t)| format!(r#"{{"name":"{n}","type":"{t}","nullable":true,"metadata":{{}}}}"#))
        .collect();
    let json = format!(r#"{{"type":"struct","fields":[{}]}}"#, fields.join(","));
    let columns = StructType { fields: columns_from_json(&json).unwrap() };
    ConvertOptions { partitioning: Partitioning::Columns(columns), ..Default::default() }
}

fn inferred() -> ConvertOptions {
    ConvertOptions { partitioning: Partitioning::Inferred, ..Default::default() }
}

/// A folder partitioned by `p`, with what is no data.
fn folder() -> (FaultStore, Location) {
    let (store, location) = place();
    parquet(&location, "p=a b%2Fc/x.parquet", &[("id", ids(&[1, 2]))]);
    parquet(&location, "p=__HIVE_DEFAULT_PARTITION__/y 1.parquet", &[("id", ids(&[3]))]);
    for name in ["_SUCCESS", "p=a b%2Fc/.x.parquet.crc", "_temporary/0/z.parquet"] {
        location.store().put(&location.root().join(name), "x".into()).unwrap();
    }
    (store, location)
}

fn no_table(location: &Location) -> bool {
    matches!(Snapshot::open(location.clone(), At::Latest), Err(deltaic_core::Error::TableNotFound { .. }))
}

#[test]
fn a_partitioned_folder_becomes_a_table_with_statistics() {
    for options in [by(&[("p", "string")]), inferred()] {
        let (store, location) = folder();
        store.forget();
        let before = objects(&location);
        let done = convert(&location, &options).unwrap();
        let bytes = adds(&location).iter().map(|a| a.size.unsigned_abs()).sum();
        let mut expected = ConvertDone::default();
        (expected.files, expected.bytes, expected.rows) = (2, bytes, 3);
        assert_eq!(done, expected);
        assert_eq!((store.count(Op::PutIfAbsent, ".json"), store.count(Op::Delete, "")), (1, 0));
        assert_eq!(objects(&location), before);
        let snapshot = open(&location);
        assert_eq!(snapshot.partition_columns(), ["p"]);
        let columns: Vec<_> = snapshot.schema().fields.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(columns, ["id", "p"]);
        let add = &adds(&location)[1];
        assert_eq!(add.partition_values["p"].as_deref(), Some("a b/c"));
        let stats = r#"{"numRecords":2,"minValues":{"id":1},"maxValues":{"id":2},"nullCount":{"id":0}}"#;
        assert_eq!(add.stats.as_deref(), Some(stats));
        let info = info(&location, 0);
        assert_eq!(info.operation.as_deref(), Some("CONVERT"));
        let parameters = info.operation_parameters.unwrap();
        assert_eq!((&parameters["numFiles"], &parameters["collectStats"]), (&2.into(), &true.into()));
        assert_eq!(parameters["sourceFormat"], "parquet");
        assert_eq!(parameters["partitionedBy"], r#"["p"]"#);
        assert_eq!(info.operation_metrics.unwrap()["numConvertedFiles"], "2");
        // again: nothing is done
        let again = convert(&location, &options).unwrap();
        assert_eq!((again.existed, again.version, open(&location).version()), (true, 0, 0));
        // a vacuum deletes nothing of it
        assert_eq!(vacuum(&location, &VacuumOptions::default()).unwrap().files, Vec::<String>::new());
    }
}

#[test]
fn files_with_different_columns_get_one_schema() {
    let (_, location) = place();
    parquet(&location, "1.parquet", &[("p", Arc::new(StringArray::from(vec!["a"]))), ("id", ids(&[1]))]);
    parquet(&location, "2.parquet", &[("id", ids(&[2])), ("more", Arc::new(Int32Array::from(vec![7])))]);
    let done = convert(&location, &ConvertOptions::default()).unwrap();
    assert_eq!((done.files, done.rows), (2, 2));
    let shown: Vec<_> = open(&location)
        .schema()
        .fields
        .iter()
        .map(|f| format!("{} {}", f.name, f.data_type.name()))
        .collect();
    assert_eq!(shown, ["p string", "id long", "more integer"]);
    let read: usize =
        read(&open(&location), ReadRequest::default()).unwrap().map(|b| b.unwrap().num_rows()).sum();
    assert_eq!(read, 2);
}

#[test]
fn bounds_of_unsigned_numbers_are_unsigned() {
    let (_, location) = place();
    parquet(&location, "1.parquet", &[("u", Arc::new(UInt32Array::from(vec![1, u32::MAX])))]);
    convert(&location, &ConvertOptions::default()).unwrap();
    let stats = adds(&location)[0].stats.clone().unwrap();
    assert!(stats.contains(r#""minValues":{"u":1},"maxValues":{"u":4294967295}"#), "{stats}");
    let above = compare("u", CompareOp::Gt, Literal::Long(5));
    let request = ReadRequest { filter: Some(above.into()), ..Default::default() };
    let rows: usize = read(&open(&location), request).unwrap().map(|b| b.unwrap().num_rows()).sum();
    assert_eq!(rows, 1);
}

#[test]
fn a_column_in_files_and_folders_is_that_of_the_folders() {
    let (_, location) = place();
    parquet(&location, "p=7/1.parquet", &[("p", Arc::new(StringArray::from(vec!["x"]))), ("id", ids(&[1]))]);
    convert(&location, &inferred()).unwrap();
    assert_eq!(first_number(&location), 7);
}

fn first_number(location: &Location) -> i32 {
    let batch = read(&open(location), ReadRequest::default()).unwrap().next().unwrap().unwrap();
    batch.column(0).as_primitive::<arrow::datatypes::Int32Type>().value(0)
}

#[test]
fn what_cannot_be_a_table_is_refused_and_none_is_made() {
    let text = |location: &Location, name: &str| {
        location.store().put(&location.root().join(name), "no parquet".into()).unwrap();
    };
    type Prepare<'a> = &'a dyn Fn(&Location);
    let cases: [(&str, &str, ConvertOptions, Prepare<'_>); 9] = [
        ("InvalidArgument", "no files", inferred(), &|l| text(l, "_SUCCESS")),
        ("DataFile", "b.csv", inferred(), &|l| {
            parquet(l, "a.parquet", &[("id", ids(&[1]))]);
            text(l, "b.csv");
        }),
        ("InvalidArgument", "expected is none", ConvertOptions::default(), &|l| {
            parquet(l, "p=1/a.parquet", &[("id", ids(&[1]))]);
        }),
        ("InvalidArgument", "name p", by(&[("q", "string")]), &|l| {
            parquet(l, "p=1/a.parquet", &[("id", ids(&[1]))]);
        }),
        ("InvalidSchema", "is not of type integer", by(&[("p", "integer")]), &|l| {
            parquet(l, "p=x/a.parquet", &[("id", ids(&[1]))]);
        }),
        ("SchemaMismatch", "`id` is integer here and long", inferred(), &|l| {
            parquet(l, "a.parquet", &[("id", ids(&[1]))]);
            parquet(l, "b.parquet", &[("id", Arc::new(Int32Array::from(vec![1])))]);
        }),
        ("InvalidSchema", "a b", inferred(), &|l| parquet(l, "a.parquet", &[("a b", ids(&[1]))])),
        ("InvalidArgument", "is a Delta table", inferred(), &|l| {
            parquet(l, "a.parquet", &[("id", ids(&[1]))]);
            text(l, "sub/_delta_log/00000000000000000000.json");
        }),
        ("Unsupported", "streaming", inferred(), &|l| text(l, "_spark_metadata/0")),
    ];
    for (kind, words, options, prepare) in cases {
        let (_, location) = place();
        prepare(&location);
        let error = convert(&location, &options).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(words), "{words}: {error}");
        assert!(no_table(&location));
    }
    let mapped = [("delta.columnMapping.mode".to_owned(), "name".to_owned())].into();
    let (_, location) = folder();
    let error = convert(&location, &ConvertOptions { configuration: mapped, ..inferred() }).unwrap_err();
    assert!(error.to_string().contains("column mapping"), "{error}");
    assert!(no_table(&location));
}

#[test]
fn a_fault_at_any_step_leaves_no_table_or_the_whole() {
    let calls = {
        let (store, location) = folder();
        store.forget();
        convert(&location, &inferred()).unwrap();
        store.calls().len() as u64
    };
    assert!(calls > 5);
    for fault in [Fault::Refused, Fault::LostAnswer, Fault::Crash] {
        for nth in 1..=calls {
            let (store, location) = folder();
            let before = objects(&location);
            store.rule(Rule::new(fault.clone()).nth(nth));
            let done = convert(&location, &inferred());
            store.heal();
            assert_eq!(objects(&location), before, "no data file is touched");
            if let Err(error) = &done
                && error.kind() != "CommitStateUnknown"
            {
                assert!(no_table(&location), "{fault:?} at {nth}: {error}");
                convert(&location, &inferred()).unwrap();
            }
            if done.is_ok() || !no_table(&location) {
                assert_eq!(adds(&location).len(), 2, "{fault:?} at {nth}");
            }
        }
    }
}

#[test]
fn another_table_that_is_made_first_wins() {
    let (store, location) = folder();
    let (_, other) = place();
    write(&other, &[("x", 9)], &partitioned()).unwrap();
    let commit = other.store().get(&other.log_dir().join("00000000000000000000.json")).unwrap();
    store.rule(Rule::new(Fault::Overtaken(commit)).on(Op::PutIfAbsent).named("00000000000000000000.json"));
    let error = convert(&location, &inferred()).unwrap_err();
    assert_eq!(error.kind(), "TableAlreadyExists");
    assert_eq!(adds(&location).len(), 1);
}

fn cloned(folder: &Location, target: &Location, options: CloneOptions) -> Result<ConvertDone> {
    let target = CloneTarget { location: target.clone(), options };
    convert(folder, &ConvertOptions { clone_to: Some(target), ..inferred() })
}

#[test]
fn a_clone_of_files_refers_to_them_and_never_deletes_one() {
    let (store, location) = folder();
    let (before, target) = (objects(&location), beside(&store, "/clone"));
    let properties = [("mine".to_owned(), "1".to_owned())].into();
    let done = cloned(&location, &target, CloneOptions { properties, ..Default::default() }).unwrap();
    assert_eq!((done.version, done.existed, done.files, done.rows), (0, false, 2, 3));
    assert!(no_table(&location), "the folder stays what it is");
    let snapshot = open(&target);
    assert_eq!(snapshot.partition_columns(), ["p"]);
    assert_eq!(objects(&target), Vec::<String>::new());
    assert_eq!(snapshot.metadata().configuration["mine"], "1");
    let stats = r#"{"numRecords":2,"minValues":{"id":1},"maxValues":{"id":2},"nullCount":{"id":0}}"#;
    assert!(adds(&target).iter().all(|add| add.path.to_string().starts_with("memory:///t/")));
    assert!(adds(&target).iter().any(|add| add.stats.as_deref() == Some(stats)));
    let info = info(&target, 0);
    let parameters = info.operation_parameters.unwrap();
    assert_eq!(info.operation.as_deref(), Some("CLONE"));
    assert_eq!(
        (&parameters["source"], &parameters["sourceVersion"]),
        (&"parquet.`memory:///t`".into(), &(-1).into())
    );
    write(&target, &[("d", 4)], &WriteOptions { mode: WriteMode::Overwrite, ..Default::default() }).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(5));
    let retention = Some(std::time::Duration::ZERO);
    let now = VacuumOptions { retention, allow_short_retention: true, ..Default::default() };
    assert_eq!(vacuum(&target, &now).unwrap().files, Vec::<String>::new());
    assert_eq!(objects(&location), before);
}

#[test]
fn a_clone_of_files_takes_the_place_of_a_table_without_files_alone() {
    let (store, location) = folder();
    let target = beside(&store, "/clone");
    let replace = CloneOptions { replace: true, ..Default::default() };
    write(&target, &[("z", 9)], &partitioned()).unwrap();
    assert_eq!(cloned(&location, &target, CloneOptions::default()).unwrap_err().kind(), "TableAlreadyExists");
    assert_eq!(cloned(&location, &target, replace.clone()).unwrap_err().kind(), "InvalidArgument");
    write(&target, &[], &WriteOptions { mode: WriteMode::Overwrite, ..Default::default() }).unwrap();
    assert_eq!(cloned(&location, &target, replace.clone()).unwrap().version, 2);
    // of a table: its log says which files it has
    assert_eq!(cloned(&target, &beside(&store, "/other"), replace).unwrap_err().kind(), "InvalidArgument");
}

#[test]
fn a_fault_at_any_step_leaves_no_clone_of_files_or_the_whole() {
    let calls = {
        let (store, location) = folder();
        store.forget();
        cloned(&location, &beside(&store, "/clone"), CloneOptions::default()).unwrap();
        store.calls().len() as u64
    };
    assert!(calls > 5);
    for fault in [Fault::Refused, Fault::LostAnswer, Fault::Crash] {
        for nth in 1..=calls {
            let (store, location) = folder();
            let (before, target) = (objects(&location), beside(&store, "/clone"));
            store.rule(Rule::new(fault.clone()).nth(nth));
            let done = cloned(&location, &target, CloneOptions::default());
            store.heal();
            assert_eq!(objects(&location), before, "no data file is touched");
            if done.is_ok() || !no_table(&target) {
                assert_eq!(adds(&target).len(), 2, "{fault:?} at {nth}");
            }
        }
    }
}
