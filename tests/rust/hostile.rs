//! Tables of which a stranger wrote the log and the files: an error of a kind, and neither a dead process nor its memory.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use deltaic_core::actions::{DeletionVectorDescriptor, DvStorage};
use deltaic_core::checkpoint::checkpoint;
use deltaic_core::deletion_vector::DeletionVector;
use deltaic_core::operations::write;
use deltaic_core::parquet::MAX_PAGE_BYTES;
use deltaic_core::scan::{ReadRequest, file_facts, read, surviving_files};
use deltaic_core::snapshot::At;
use deltaic_core::store::Location;
use deltaic_core::write::{WriteMode, WriteOptions};
use deltaic_core::{Error, Result, Snapshot};
use deltaic_testkit::{CheckpointSpec, TableBuilder, actions};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::{ParquetMetaDataBuilder, ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

fn location(table: &TableBuilder) -> Location {
    Location::open(&table.uri(), &Default::default()).unwrap()
}

fn open(table: &TableBuilder) -> Snapshot {
    Snapshot::open(location(table), At::Latest).unwrap()
}

fn ids(ids: impl IntoIterator<Item = i64>) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(ids));
    RecordBatch::try_from_iter([("id", ids)]).unwrap()
}

fn append(table: &TableBuilder) -> Result<u64> {
    let batch = ids([7]);
    let schema = batch.schema();
    let rows = RecordBatchIterator::new([Ok(batch)], schema);
    let options = WriteOptions { mode: WriteMode::Append, ..Default::default() };
    write(&location(table), rows, &options).map(|done| done.version)
}

fn rows(table: &TableBuilder) -> Result<usize> {
    read(&open(table), ReadRequest::default())?.map(|batch| batch.map(|b| b.num_rows())).sum()
}

fn kind<T>(result: Result<T>) -> &'static str {
    result.map(drop).map_err(|error| error.kind()).unwrap_err()
}

/// A table with one column `id`.
fn table(configuration: &[(&str, &str)]) -> TableBuilder {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long")]), &[], configuration);
    table
}

/// A table whose files may have deletion vectors.
fn table_with_vectors() -> TableBuilder {
    let mut table = TableBuilder::temp();
    let features = ["deletionVectors"];
    table.commit(&[
        actions::protocol_features(&features, &features),
        actions::metadata(
            &actions::schema(&[("id", "long")]),
            &[],
            &[("delta.enableDeletionVectors", "true")],
        ),
    ]);
    table
}

fn with_vector(add: Value, rows: impl IntoIterator<Item = u64>) -> Value {
    let vector: DeletionVectorDescriptor = rows.into_iter().collect::<DeletionVector>().to_inline();
    actions::with(add, "deletionVector", serde_json::to_value(vector).unwrap())
}

#[test]
fn a_rule_of_any_length_is_a_rule_or_an_error() {
    for chain in
        [" + 1", " OR id > 1", " AT TIME ZONE 'UTC'", " IS DISTINCT FROM 1", " = ANY(1)", " IN UNNEST(x)"]
    {
        for length in [40_000, 200_000] {
            let expression = format!("id{} )", chain.repeat(length));
            let table = table(&[("delta.constraints.long", &expression)]);
            assert_eq!(kind(append(&table)), "InvalidExpression", "{chain} {length}");
            assert_eq!(open(&table).version(), 0);
        }
    }
}

#[test]
fn a_vector_of_a_far_row_costs_no_memory() {
    let mut table = table_with_vectors();
    let add = table.data_file("a.parquet", &ids(0..10), &[]);
    table.commit(&[with_vector(add, [3, 1 << 40])]);
    assert_eq!(kind(rows(&table)), "DeletionVector");
    let snapshot = open(&table);
    assert!(file_facts(&snapshot, &surviving_files(&snapshot, None, false).unwrap()).unwrap().is_none());
}

#[test]
fn a_footer_with_rows_that_are_not_there_costs_no_memory() {
    let mut table = table_with_vectors();
    let add = table.data_file("a.parquet", &ids(0..10), &[]);
    for claimed in [1 << 40, i64::from(i32::MAX), i64::MAX] {
        let path = table.root().join("a.parquet");
        let body = std::fs::read(&path).unwrap();
        let metadata =
            ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::from(body.clone())).unwrap();
        let groups = metadata.row_groups().iter().cloned();
        let groups = groups.map(|g| g.into_builder().set_num_rows(claimed).build().unwrap()).collect();
        let lies = ParquetMetaDataBuilder::new_from_metadata(metadata).set_row_groups(groups).build();
        let length = u32::from_le_bytes(body[body.len() - 8..body.len() - 4].try_into().unwrap()) as usize;
        let mut new = body[..body.len() - 8 - length].to_vec();
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &lies).finish().unwrap();
        new.extend_from_slice(&footer);
        std::fs::write(&path, &new).unwrap();
        table.commit(&[with_vector(actions::with(add.clone(), "size", new.len()), [3])]);
        assert_eq!(kind(rows(&table)), "DataFile", "{claimed}");
    }
}

#[test]
fn there_is_no_version_behind_the_last_one() {
    let last = i64::MAX as u64;
    let mut table = table(&[]);
    table.commit_at(last, &[]);
    table.checkpoint(last, &CheckpointSpec::default());
    table.remove_log_file(&format!("{:020}.json", 0));
    assert_eq!(open(&table).version(), last);
    let error = append(&table).unwrap_err();
    assert!(error.to_string().contains("a version above 9223372036854775807 is not supported"), "{error}");
    let log = std::fs::read_dir(table.root().join("_delta_log")).unwrap();
    let newer = format!("{:020}.json", last + 1);
    assert!(!log.map(|e| e.unwrap().file_name()).any(|name| name.to_string_lossy() == newer));
}

#[test]
fn there_is_no_row_id_behind_the_last_one() {
    for highest in [i64::MAX, i64::MAX - 1] {
        let mut table = TableBuilder::temp();
        let mark = json!({"rowIdHighWaterMark": highest}).to_string();
        table.commit(&[
            actions::protocol_features(&[], &["rowTracking", "domainMetadata"]),
            actions::metadata(&actions::schema(&[("id", "long")]), &[], &[]),
            actions::domain("delta.rowTracking", &mark, false),
        ]);
        let error = append(&table).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{highest}: {error}");
    }
}

#[test]
fn sizes_that_no_store_has_add_up_to_an_answer() {
    let mut table = table(&[]);
    let adds: Vec<Value> =
        (0..3).map(|n| actions::with(actions::add(&format!("{n}.parquet")), "size", i64::MAX)).collect();
    table.commit(&adds);
    let snapshot = open(&table);
    assert_eq!(surviving_files(&snapshot, None, false).unwrap().len(), 3);
    checkpoint(&snapshot).unwrap();
    assert_eq!(surviving_files(&open(&table), None, false).unwrap().len(), 3);
    let kinds = [
        append(&table).map(drop),
        deltaic_core::maintain::optimize(&location(&table), &Default::default()).map(drop),
    ];
    for outcome in kinds {
        assert!(outcome.as_ref().err().is_none_or(|e| e.kind() != "Internal"), "{outcome:?}");
    }
}

#[test]
fn a_page_is_no_larger_than_the_option_allows() {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("text", "string")]), &[], &[]);
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(["0".repeat(8 << 20)]));
    let batch = RecordBatch::try_from_iter([("text", text)]).unwrap();
    let codec = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut body = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut body, batch.schema(), Some(codec)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    assert!(body.len() < 1 << 20, "{}", body.len());
    std::fs::write(table.root().join("a.parquet"), &body).unwrap();
    table.commit(&[actions::with(actions::add("a.parquet"), "size", body.len())]);
    assert_eq!(rows(&table).unwrap(), 1);
    for (most, allowed) in [("1048576", false), ("16777216", true)] {
        let options = [(MAX_PAGE_BYTES.to_owned(), most.to_owned())].into_iter().collect();
        let snapshot = Snapshot::open(Location::open(&table.uri(), &options).unwrap(), At::Latest).unwrap();
        let read: Result<usize> = read(&snapshot, ReadRequest::default())
            .and_then(|batches| batches.map(|batch| batch.map(|b| b.num_rows())).sum());
        match read {
            Ok(rows) => assert!(allowed && rows == 1),
            Err(error) => assert!(!allowed && error.to_string().contains(MAX_PAGE_BYTES), "{error}"),
        }
    }
}

#[test]
fn an_error_tells_nothing_of_what_is_in_a_file_or_how_large_it_is() {
    let mut table = table_with_vectors();
    let secret = tempfile::NamedTempFile::new().unwrap();
    let place = secret.path().to_str().unwrap();
    let add = table.data_file("a.parquet", &ids(0..10), &[]);
    // 4660 and 22136 are what the first bytes say as numbers
    for (length, size) in [(10_007, 36), (10_007, 4660), (10_007, 20_000), (3, 36)] {
        let body: Vec<u8> = [0, 0, 0x12, 0x34, 0x56, 0x78].into_iter().cycle().take(length).collect();
        std::fs::write(secret.path(), &body).unwrap();
        let descriptor = DeletionVectorDescriptor {
            storage_type: DvStorage::AbsolutePath,
            path_or_inline_dv: place.to_owned(),
            offset: Some(0),
            size_in_bytes: size,
            cardinality: 1,
        };
        let vector = serde_json::to_value(descriptor).unwrap();
        table.commit(&[actions::with(add.clone(), "deletionVector", vector)]);
        let vector = rows(&table).unwrap_err().to_string().replace(&size.to_string(), "");
        let mut files = table_with_vectors();
        files.commit(&[actions::with(actions::add(place), "size", 4711)]);
        let data = rows(&files).unwrap_err().to_string();
        let sums = crc32fast::hash(body.get(4..4 + size as usize).unwrap_or_default());
        for reported in [
            length.to_string(),
            "4660".into(),
            "305419896".into(),
            "12345678".into(),
            "56780000".into(),
            format!("{sums:08x}"),
        ] {
            assert!(
                length == 3 || !(vector.contains(&reported) || data.contains(&reported)),
                "{vector}\n{data}"
            );
        }
        assert!(!vector.contains("3 bytes") && !data.contains("3 bytes"), "{vector}\n{data}");
    }
}
