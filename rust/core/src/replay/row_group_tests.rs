//! A row group that is read in turns gives the files that its actions say, whatever the sizes of batches, turns, row groups
//! and pages, and however few of its rows match.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Fields, Schema};
use arrow_json::ReaderBuilder;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

use super::checkpoint::CheckpointReader;
use super::checkpoint_pages::FilePages;
use super::columns::STRING_MAP;
use super::keys::KeyLayer;
use super::row_group::{GroupReader, LEAST_ROWS, ReadPlan, Sizes};
use super::scan_source::ScanSource;
use super::tail::Tail;
use crate::actions::ObjectPath;
use crate::log::{Checkpoint, LogFile};
use crate::predicate::{CompareOp, Literal, Predicate};
use crate::prune::{BoundColumn, Pruner};
use crate::schema::{self, ColumnMappingMode, StructField, StructType};
use crate::store::{FileMeta, Location, ObjectAdapter};

/// One row: a file by its partition value, its size and its least `id`, or another action.
type Row = Option<(Option<u8>, u16, u8)>;

fn path(at: usize) -> String {
    // some are no identities of their own
    if at.is_multiple_of(5) { format!("a%20b/{at}.parquet") } else { format!("folder/{at}.parquet") }
}

fn struct_of(fields: Vec<(&str, DataType)>) -> DataType {
    DataType::Struct(fields.into_iter().map(|(name, kind)| Field::new(name, kind, true)).collect())
}

fn action(at: usize, row: &Row, texts: bool) -> Value {
    let Some((value, size, id)) = row else { return json!({"add": null}) };
    let (least, most, zero) = (json!({"id": id}), json!({"id": id + 3}), json!({"id": 0}));
    let stats = json!({"numRecords": 7, "minValues": least, "maxValues": most, "nullCount": zero});
    let text = texts.then(|| stats.to_string());
    let value = value.map(|v| v.to_string());
    json!({"add": {
        "path": path(at), "partitionValues": {"other": "x", "p": value}, "size": size, "modificationTime": at,
        "dataChange": false, "stats": text, "stats_parsed": stats,
    }})
}

/// The rows as the checkpoint of version 0 of a log in memory.
fn checkpoint(rows: &[Row], texts: bool, row_group: usize, page: usize) -> (Location, CheckpointReader) {
    let ids = || struct_of(vec![("id", DataType::Int64)]);
    let stats = vec![
        ("numRecords", DataType::Int64),
        ("minValues", ids()),
        ("maxValues", ids()),
        ("nullCount", ids()),
    ];
    let mut fields = vec![
        ("path", DataType::Utf8),
        ("partitionValues", STRING_MAP.clone()),
        ("size", DataType::Int64),
        ("modificationTime", DataType::Int64),
        ("dataChange", DataType::Boolean),
        ("stats", DataType::Utf8),
    ];
    if !texts {
        fields.push(("stats_parsed", struct_of(stats)));
    }
    let schema = Arc::new(Schema::new(vec![Field::new("add", struct_of(fields), true)]));
    let mut decoder =
        ReaderBuilder::new(schema.clone()).with_batch_size(rows.len().max(1)).build_decoder().unwrap();
    let actions: Vec<Value> = rows.iter().enumerate().map(|(at, row)| action(at, row, texts)).collect();
    decoder.serialize(&actions).unwrap();
    let batch = decoder.flush().unwrap().unwrap_or_else(|| RecordBatch::new_empty(schema.clone()));
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(row_group))
        .set_data_page_row_count_limit(page)
        .set_write_batch_size(page)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    let body = writer.into_inner().unwrap();
    let root = ObjectPath::new("memory://", "/t");
    let location = Location::with_store(root, Arc::new(ObjectAdapter::memory()));
    let (name, size) = ("00000000000000000000.checkpoint.parquet".to_owned(), body.len() as u64);
    location.store().put(&location.log_dir().join(&name), body.into()).unwrap();
    let file = LogFile::classify(FileMeta { name, size, modified: 1 }).unwrap();
    let reader = CheckpointReader::open(&location, &Checkpoint { version: 0, files: vec![file] }).unwrap();
    (location, reader)
}

fn is(column: &str, op: CompareOp, value: Literal) -> Predicate {
    Predicate::Compare { column: vec![column.to_owned()], op, value }
}

fn pruner(predicates: Vec<Predicate>) -> Pruner {
    let field = |name: &str, kind| StructField::new(name, kind, true);
    let fields = vec![field("id", schema::DataType::Long), field("p", schema::DataType::Integer)];
    let table = StructType { fields };
    Pruner::bind(&Predicate::And(predicates), &table, &["p".to_owned()], ColumnMappingMode::None).unwrap()
}

/// The columns whose statistics can be held.
fn held_columns() -> Vec<BoundColumn> {
    pruner(vec![is("id", CompareOp::Eq, Literal::Long(1))]).stats_leaves().to_vec()
}

/// What is known of a listed file.
type Listed = (String, Option<String>, i64, i64, Option<Value>);

fn listed(batch: &RecordBatch, stats: bool) -> Vec<Listed> {
    let (paths, values) = (batch.column(0).as_string_view(), batch.column(1).as_map());
    let long =
        |column: usize, row| batch.column(column).as_primitive::<arrow::datatypes::Int64Type>().value(row);
    let one = |row: usize| {
        let entries = values.value(row);
        let (keys, texts) = (entries.column(0).as_string::<i32>(), entries.column(1).as_string::<i32>());
        let at = (0..entries.len()).find(|at| keys.value(*at) == "p").unwrap();
        let value = texts.is_valid(at).then(|| texts.value(at).to_owned());
        let stats = stats.then(|| serde_json::from_str(batch.column(5).as_string_view().value(row)).unwrap());
        (paths.value(row).to_owned(), value, long(2, row), long(3, row), stats)
    };
    (0..batch.num_rows()).map(one).collect()
}

proptest! {
    #[test]
    fn turns_give_the_files_of_the_actions(
        rows in vec(option::weighted(0.95, (option::of(0..4_u8), any::<u16>(), 0..100_u8)), 1..120),
        (texts, stats) in any::<(bool, bool)>(),
        (row_group, page) in (1..130_usize, 1..20_usize),
        (batch, turn) in (1..20_usize, 1..60_usize),
        (value, ids) in (option::of(0..5_u8), option::of(0..100_u8)),
        removed in vec(0..120_usize, 0..9),
        (asked_again, paged) in any::<(bool, bool)>(),
    ) {
        let (location, checkpoint) = checkpoint(&rows, texts, row_group, page);
        let removed: BTreeSet<usize> = removed.into_iter().collect();
        let mut keys = KeyLayer::default();
        for at in &removed {
            keys.insert(path(*at).replace("%20", " ").into(), false);
        }
        let mut predicates = Vec::new();
        if let Some(value) = value {
            predicates.push(is("p", CompareOp::Eq, Literal::Long(value.into())));
        }
        if let Some(id) = ids {
            predicates.push(is("id", CompareOp::Ge, Literal::Long(id.into())));
            predicates.push(is("id", CompareOp::Lt, Literal::Long(i64::from(id) + 10)));
        }
        let pruner = (!predicates.is_empty()).then(|| pruner(predicates));
        let plan = ReadPlan {
            asked_again: asked_again && pruner.as_ref().is_some_and(Pruner::can_be_held),
            pruner,
            stats,
            extended: false,
            sizes: Sizes { batch, turn, paged: if paged { 0 } else { usize::MAX } },
            pages: vec![FilePages::of((0..checkpoint.parquet[0].metadata().num_row_groups()).collect())],
        };
        let tail = Arc::new(Tail { keys: keys.finish(), ..Tail::default() });
        let source = ScanSource { location, tail, checkpoint: None, counters: Arc::default() };
        let list = || -> Result<Vec<Listed>, TestCaseError> {
            let mut found = Vec::new();
            for group in 0..checkpoint.parquet[0].metadata().num_row_groups() {
                let mut reader = GroupReader::new(&checkpoint, 0, group);
                while !reader.is_done() {
                    let promised = reader.next_rows(&plan);
                    let files = reader.turn(&plan, &checkpoint, &source, Some(&Fields::empty())).unwrap();
                    let number: usize = files.iter().map(|f| f.num_files()).sum();
                    prop_assert!(number < promised.max(turn) + batch.max(LEAST_ROWS), "{} of {}", number, promised);
                    found.extend(files.iter().flat_map(|f| listed(f.record_batch(), stats)));
                }
            }
            Ok(found)
        };
        let found = list()?;
        // the second listing has what the first one held
        prop_assert_eq!(&found, &list()?);
        prop_assert_eq!(checkpoint.held.of((0, 0), &held_columns()).is_some(), plan.asked_again);
        let matches = |(p, _, id): &(Option<u8>, u16, u8)| {
            value.is_none_or(|value| *p == Some(value))
                && ids.is_none_or(|first| id + 3 >= first && *id < first + 10)
        };
        let expected: Vec<Listed> = rows.iter().enumerate().filter_map(|(at, row)| {
            let (value, size, _) = row.as_ref().filter(|row| matches(row) && !removed.contains(&at))?;
            let text = action(at, row, true)["add"]["stats"].take();
            let text = stats.then(|| serde_json::from_str(text.as_str().unwrap()).unwrap());
            Some((path(at), value.map(|v| v.to_string()), i64::from(*size), at as i64, text))
        }).collect();
        prop_assert_eq!(found, expected);
    }
}
