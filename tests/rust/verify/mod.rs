//! Verification: a whole table has no finding, and each kind of damage is found by its name.

mod deep;
mod files;
mod log;

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::verify::{Finding, FindingKind, VerifyOptions, VerifyReport, verify};
use deltaic_testkit::{CheckpointForm, CheckpointSpec, TableBuilder, actions};
use serde_json::{Value, json};

const FEATURES: &[&str] = &["v2Checkpoint", "deletionVectors"];
const WRITER_FEATURES: &[&str] = &[
    "v2Checkpoint",
    "deletionVectors",
    "domainMetadata",
    "rowTracking",
    "inCommitTimestamp",
    "identityColumns",
];
const PROPERTIES: &[(&str, &str)] =
    &[("delta.enableInCommitTimestamps", "true"), ("delta.enableRowTracking", "true")];

/// Rows of each file.
const ROWS: i64 = 10;

fn schema() -> Value {
    let mut schema = actions::schema(&[("id", "long"), ("p", "integer")]);
    schema["fields"][0]["metadata"] = json!({
        "delta.identity.start": 0, "delta.identity.step": 1, "delta.identity.highWaterMark": 1000,
        "delta.identity.allowExplicitInsert": false,
    });
    schema
}

/// A `commitInfo` with the in-commit timestamp of a version.
fn info(version: u64) -> Value {
    actions::with(actions::commit_info(1, "WRITE"), "inCommitTimestamp", 1_767_225_600_000 + version)
}

fn mark(highest: i64) -> Value {
    actions::domain("delta.rowTracking", &json!({"rowIdHighWaterMark": highest}).to_string(), false)
}

fn path(n: i64) -> String {
    format!("p={}/f{n}.parquet", n % 2)
}

/// File number `n`, of ids from `10 n` on. It is written.
fn add(table: &TableBuilder, n: i64) -> Value {
    let ids: Vec<i64> = (n * ROWS..(n + 1) * ROWS).collect();
    let (least, most) = (ids[0], ids[ids.len() - 1]);
    let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(ids)) as _)]).unwrap();
    let value = (n % 2).to_string();
    let add = table.data_file(&path(n), &batch, &[("p", Some(&value))]);
    let stats = json!({
        "numRecords": ROWS, "minValues": {"id": least}, "maxValues": {"id": most}, "nullCount": {"id": 0},
    });
    let add = actions::with_stats(add, &stats);
    actions::with(actions::with(add, "baseRowId", n * ROWS), "defaultRowCommitVersion", n + 1)
}

fn remove(n: i64) -> Value {
    actions::with(actions::remove(&path(n)), "deletionTimestamp", now())
}

fn now() -> i64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64
}

/// A table at version 0.
fn create() -> TableBuilder {
    let mut table = TableBuilder::temp();
    let protocol = actions::protocol_features(FEATURES, WRITER_FEATURES);
    table.commit(&[info(0), protocol, actions::metadata(&schema(), &["p"], PROPERTIES)]);
    table
}

/// Versions 1 to 6: five files, an application, a domain; then one file is removed.
fn fill(table: &mut TableBuilder) {
    for n in 0..5 {
        let version = (n + 1) as u64;
        table.commit(&[info(version), add(table, n), mark((n + 1) * ROWS - 1), actions::txn("app", n)]);
    }
    table.commit(&[info(6), remove(1), actions::domain("d", "{}", false)]);
}

/// [`fill`]ed, with a checkpoint of version 3, a compacted file of 4 to 6, and checksums of 3 and 6.
pub(crate) fn whole(form: CheckpointForm) -> TableBuilder {
    let mut table = create();
    fill(&mut table);
    table.checkpoint(3, &CheckpointSpec::of(form));
    table.compact(4, 6);
    table.crc(3);
    table.crc(6);
    table
}

/// Whole tables of these tests are so in depth, too.
fn checked(table: &TableBuilder) -> VerifyReport {
    let location = Location::open(&table.uri(), &StorageOptions::new()).unwrap();
    let report = verify(&location, &VerifyOptions::default()).unwrap();
    if report.ok() {
        let deep = verify(&location, &VerifyOptions { deep: true, ..Default::default() }).unwrap();
        assert_eq!(deep.findings, []);
    }
    report
}

fn found(table: &TableBuilder) -> Vec<Finding> {
    checked(table).findings
}

/// The one kind that is found, with its first finding.
fn only(table: &TableBuilder, kind: FindingKind) -> Finding {
    let all = found(table);
    assert!(!all.is_empty(), "{kind:?} is not found");
    for finding in &all {
        assert_eq!(finding.kind, kind, "{finding}");
        assert!(finding.to_string().contains(finding.advice()));
    }
    all.into_iter().next().unwrap()
}

const FORMS: [CheckpointForm; 6] = [
    CheckpointForm::Single,
    CheckpointForm::MultiPart(2),
    CheckpointForm::V2Parquet(2),
    CheckpointForm::V2Parquet(0),
    CheckpointForm::V2Json(2),
    CheckpointForm::V2Classic(2),
];
