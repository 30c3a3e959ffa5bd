//! Real files: of tables that deltaic wrote, with all that a log can hold, and of the test kit's.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use deltaic_core::checkpoint::{checkpoint, compact};
use deltaic_core::dml::DmlOptions;
use deltaic_core::operations::{delete, update, write};
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, ObjectAdapter, StorageOptions};
use deltaic_core::write::{WriteMode, WriteOptions};
use deltaic_testkit::{CheckpointForm, CheckpointSpec, Image, TableBuilder, actions};
use serde_json::json;

/// Every feature that leaves something in the log.
const PROPERTIES: [(&str, &str); 6] = [
    ("delta.enableDeletionVectors", "true"),
    ("delta.enableChangeDataFeed", "true"),
    ("delta.enableRowTracking", "true"),
    ("delta.enableInCommitTimestamps", "true"),
    ("delta.columnMapping.mode", "name"),
    ("delta.checkpointPolicy", "v2"),
];

/// The files of the log of these tables whose name this holds for.
pub(crate) fn of_logs(wanted: impl Fn(&str) -> bool) -> Vec<Vec<u8>> {
    let images = [written(&PROPERTIES), written(&[("delta.checkpoint.writeStatsAsStruct", "true")])];
    let built = [CheckpointForm::Single, CheckpointForm::V2Json(0), CheckpointForm::V2Parquet(0)].map(built);
    let all = images.iter().chain(&built).flat_map(|image| &image.objects);
    all.filter(|(name, _)| wanted(name)).map(|(_, (body, _))| body.to_vec()).collect()
}

pub(crate) fn is_commit(name: &str) -> bool {
    name.starts_with("_delta_log/0") && name.ends_with(".json") && !name.contains(".checkpoint.")
}

fn written(properties: &[(&str, &str)]) -> Image {
    let location = Location::with_store(Image::root(), Arc::new(ObjectAdapter::memory()));
    let options = |version| WriteOptions {
        mode: WriteMode::Append,
        partition_by: vec!["p".into()],
        configuration: properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        max_rows_per_file: Some(8),
        app_transaction: Some(("app".to_owned(), version)),
        ..WriteOptions::default()
    };
    for n in 0..3_i64 {
        let ids = n * 12..n * 12 + 12;
        let p = |id: i64| (id % 3 != 2).then(|| format!("p {}", id % 3));
        let columns: [(&str, ArrayRef, bool); 2] = [
            ("id", Arc::new(Int64Array::from_iter_values(ids.clone())), true),
            ("p", Arc::new(StringArray::from_iter(ids.map(p))), true),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let schema = batch.schema();
        write(&location, RecordBatchIterator::new([Ok(batch)], schema), &options(n)).unwrap();
    }
    delete(&location, Some("id IN (1, 2, 14)"), &DmlOptions::default()).unwrap();
    update(&location, &[("id".into(), "id + 100".into())], Some("id = 5"), &DmlOptions::default()).unwrap();
    checkpoint(&Snapshot::open(location.clone(), At::Latest).unwrap()).unwrap();
    compact(&location, 1, 3).unwrap();
    Image::of(&location)
}

/// The base of the tables that are fuzzed: two versions, of columns `id long` and `p string`.
pub(crate) fn base() -> TableBuilder {
    let mut table = TableBuilder::temp();
    let features = ["deletionVectors", "v2Checkpoint"];
    let schema = actions::schema(&[("id", "long"), ("p", "string")]);
    table
        .commit(&[actions::protocol_features(&features, &features), actions::metadata(&schema, &["p"], &[])]);
    let adds = (0..4).map(|n| {
        add(
            n,
            &json!({"numRecords": 3, "minValues": {"id": n * 10},
        "maxValues": {"id": n * 10 + 9}, "nullCount": {"id": 0}}),
        )
    });
    let named = [actions::txn("app", 1), actions::domain("d", "{}", false)];
    table.commit(&adds.chain(named).collect::<Vec<_>>());
    table
}

pub(crate) fn add(n: i64, stats: &serde_json::Value) -> serde_json::Value {
    let add = actions::add_in(&format!("p=x%20{n}/f{n}.parquet"), &[("p", Some(&format!("x {n}")))]);
    actions::with_stats(add, stats)
}

fn built(form: CheckpointForm) -> Image {
    let mut table = base();
    let vector = json!({"storageType": "u", "pathOrInlineDv": "vBn[lx{q8@P<9BNH/isA", "offset": 1,
        "sizeInBytes": 40, "cardinality": 2});
    table.commit(&[
        actions::remove("p=x%201/f1.parquet"),
        actions::with(add(2, &json!({"numRecords": 3})), "deletionVector", vector),
        actions::txn("app", 2),
        actions::domain("d", "", true),
    ]);
    let spec = CheckpointSpec {
        struct_stats: true,
        struct_partitions: true,
        row_group: 3,
        ..CheckpointSpec::of(form)
    };
    table.checkpoint(2, &spec);
    Image::of(&Location::open(&table.uri(), &StorageOptions::new()).unwrap())
}

pub(crate) fn image(table: &TableBuilder) -> Image {
    Image::of(&Location::open(&table.uri(), &StorageOptions::new()).unwrap())
}
