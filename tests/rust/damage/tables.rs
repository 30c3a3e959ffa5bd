//! The tables whose logs are damaged.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use deltaic_core::alter::SetOptions;
use deltaic_core::checkpoint::{cleanup_at, compact};
use deltaic_core::deletion_vector::DeletionVector;
use deltaic_core::dml::DmlOptions;
use deltaic_core::maintain::{Alteration, alter_table};
use deltaic_core::operations::{delete, update, write};
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, ObjectAdapter, StorageOptions};
use deltaic_core::write::{WriteMode, WriteOptions};
use deltaic_testkit::{CheckpointForm, CheckpointSpec, Image, TableBuilder, actions};
use serde_json::json;

use crate::verify::whole;

pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) image: Image,
}

const EVERY_THIRD: (&str, &str) = ("delta.checkpointInterval", "3");
const VECTORS: (&str, &str) = ("delta.enableDeletionVectors", "true");

pub(super) fn tables() -> Vec<Table> {
    let image = |properties: &[(&str, &str)]| Image::of(&history(properties, false));
    let checksums = |name: &str| name.ends_with(".crc");
    let plain = image(&[]).without(checksums);
    let cleaned = Image::of(&cleaned());
    let bare = cleaned.clone().without(|name| checksums(name) || name == "_last_checkpoint");
    let tables = [
        ("without checksums", plain),
        ("partitioned", Image::of(&history(&[], true))),
        ("checkpoint", image(&[EVERY_THIRD])),
        ("multi-part checkpoint", built(&whole(CheckpointForm::MultiPart(3)))),
        ("V2 checkpoints", image(&[("delta.checkpointPolicy", "v2"), ("delta.checkpointInterval", "2")])),
        ("V2 checkpoint of JSON", built(&whole(CheckpointForm::V2Json(2)))),
        ("V2 checkpoint of Parquet", built(&whole(CheckpointForm::V2Parquet(2)))),
        ("compacted", Image::of(&compacted())),
        ("compacted, without checksums", Image::of(&compacted()).without(checksums)),
        ("begins at a checkpoint", cleaned),
        ("begins at a checkpoint, without checksums", bare),
        ("deletion vectors", image(&[VECTORS])),
        ("inline deletion vectors", built(&inline())),
        ("column mapping", Image::of(&mapped())),
        (
            "row ids",
            image(&[("delta.enableRowTracking", "true"), ("delta.enableInCommitTimestamps", "true")]),
        ),
        ("change data feed", image(&[("delta.enableChangeDataFeed", "true"), VECTORS])),
        ("many commits", Image::of(&many())),
    ];
    tables.into_iter().map(|(name, image)| Table { name, image }).collect()
}

fn rows(ids: std::ops::Range<i64>) -> RecordBatch {
    let p = |id: i64| (id % 3 != 2).then(|| format!("p {}", id % 3));
    let columns: [(&str, ArrayRef, bool); 3] = [
        ("id", Arc::new(Int64Array::from_iter_values(ids.clone())), true),
        ("p", Arc::new(StringArray::from_iter(ids.clone().map(p))), true),
        ("name", Arc::new(StringArray::from_iter_values(ids.map(|id| format!("n{id}")))), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn append(location: &Location, ids: std::ops::Range<i64>, options: &WriteOptions) {
    let batch = rows(ids);
    let schema = batch.schema();
    write(location, RecordBatchIterator::new([Ok(batch)], schema), options).unwrap();
}

fn options(properties: &[(&str, &str)], partitioned: bool) -> WriteOptions {
    WriteOptions {
        mode: WriteMode::Append,
        partition_by: if partitioned { vec!["p".into()] } else { Vec::new() },
        configuration: properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        max_rows_per_file: Some(6),
        ..WriteOptions::default()
    }
}

fn memory() -> Location {
    Location::with_store(Image::root(), Arc::new(ObjectAdapter::memory()))
}

/// Versions 0 to 6: rows of an application, a delete, a property, an update, more rows and another delete.
fn history(properties: &[(&str, &str)], partitioned: bool) -> Location {
    let location = memory();
    append(&location, 0..12, &options(properties, partitioned));
    let of_app = |version| WriteOptions {
        app_transaction: Some(("app".to_owned(), version)),
        ..options(&[], partitioned)
    };
    append(&location, 12..20, &of_app(1));
    delete(&location, Some("id < 3"), &DmlOptions::default()).unwrap();
    let noted = [("note".to_owned(), "x".to_owned())].into();
    let noted = Alteration::SetProperties { properties: noted, options: SetOptions::default() };
    alter_table(&location, &noted, None).unwrap();
    let set = [("name".to_owned(), "'other'".to_owned())];
    update(&location, &set, Some("id IN (4, 5, 13, 14, 15)"), &DmlOptions::default()).unwrap();
    append(&location, 20..31, &of_app(2));
    delete(&location, Some("id IN (7, 21)"), &DmlOptions::default()).unwrap();
    location
}

fn compacted() -> Location {
    let location = history(&[], false);
    compact(&location, 1, 4).unwrap();
    location
}

fn cleaned() -> Location {
    let location = history(&[EVERY_THIRD, ("delta.enableExpiredLogCleanup", "false")], true);
    let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
    append(&location, 31..34, &options(&[], true));
    let done = cleanup_at(&snapshot, i64::MAX, false).unwrap();
    assert!(done.failed.is_empty(), "{done:?}");
    let left = Image::of(&location).log();
    assert!(!left.contains(&"_delta_log/00000000000000000000.json".to_owned()), "{left:?}");
    location
}

fn mapped() -> Location {
    let location = history(&[("delta.columnMapping.mode", "name"), EVERY_THIRD], true);
    let renamed = Alteration::RenameColumn { path: vec!["name".into()], name: "called".into() };
    alter_table(&location, &renamed, None).unwrap();
    location
}

fn many() -> Location {
    let location = memory();
    for i in 0..24 {
        append(&location, i * 2..i * 2 + 2, &options(&[], false));
    }
    location
}

fn inline() -> TableBuilder {
    let mut table = TableBuilder::temp();
    let protocol = actions::protocol_features(&["deletionVectors"], &["deletionVectors"]);
    let schema = actions::schema(&[("id", "long"), ("p", "string"), ("name", "string")]);
    table.commit(&[protocol, actions::metadata(&schema, &[], &[VECTORS])]);
    let add = |table: &TableBuilder, n: i64| {
        table.data_file(&format!("f{n}.parquet"), &rows(n * 10..n * 10 + 10), &[])
    };
    for n in 0..4 {
        let add = add(&table, n);
        table.commit(&[add]);
    }
    for n in 0..3 {
        let vector: DeletionVector = (0..2 + n).collect();
        let vector = serde_json::to_value(vector.to_inline()).unwrap();
        let old = add(&table, n as i64);
        let remove = actions::remove(old["add"]["path"].as_str().unwrap());
        table.commit(&[remove, actions::with(old, "deletionVector", vector)]);
    }
    table.checkpoint(5, &CheckpointSpec::of(CheckpointForm::Single));
    table.log_file("_last_checkpoint", json!({"version": 5, "size": 6}).to_string().as_bytes());
    table
}

fn built(table: &TableBuilder) -> Image {
    Image::of(&Location::open(&table.uri(), &StorageOptions::new()).unwrap())
}
