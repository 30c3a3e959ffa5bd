//! Writing checkpoints and keeping the log short: nothing that a version says is lost, whenever the writer dies.

mod cleanup;
mod columns;
mod crash;
mod equal;
mod histories;
mod hooks;
mod order;
mod sidecars;

use deltaic_testkit::{TableBuilder, actions};
use serde_json::{Value, json};

use crate::load::vector;

/// The properties of both kinds of checkpoint.
const V1: &[(&str, &str)] = &[];
const V2: &[(&str, &str)] = &[("delta.checkpointPolicy", "v2")];

/// A table `id long, p string, t timestamp` in partitions by `p`, at version 0.
fn create(properties: &[(&str, &str)]) -> TableBuilder {
    let mut table = TableBuilder::temp();
    let schema = actions::schema(&[("id", "long"), ("p", "string"), ("t", "timestamp")]);
    let protocol = match properties.iter().any(|(_, v)| *v == "v2") {
        true => actions::protocol_features(
            &["v2Checkpoint", "deletionVectors"],
            &["v2Checkpoint", "deletionVectors"],
        ),
        false => actions::protocol(1, 2),
    };
    table.commit(&[protocol, actions::metadata(&schema, &["p"], properties)]);
    table
}

fn path(n: i64) -> String {
    format!("p=x%20{n}/f{n}.parquet")
}

/// File number `n`, in one of three partitions.
fn add(n: i64) -> Value {
    let value = [Some("x y"), Some("é"), None][(n % 3).unsigned_abs() as usize];
    let add = actions::with(actions::add_in(&path(n), &[("p", value)]), "size", 100 + n);
    let bounds = json!({"id": n, "t": "2026-01-01T00:00:00.001Z"});
    actions::with_stats(
        add,
        &json!({"numRecords": n, "minValues": bounds, "maxValues": bounds, "nullCount": {"id": 0, "t": 0}}),
    )
}

/// Its `remove`, now and with all that a writer knows.
fn remove(n: i64) -> Value {
    let remove = actions::with(actions::remove(&path(n)), "deletionTimestamp", now());
    actions::with(actions::with(remove, "extendedFileMetadata", true), "size", 100 + n)
}

fn now() -> i64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64
}

/// Six commits of two files and one that removes, puts a deletion vector on a file, and sets domains: version 7.
fn fill(table: &mut TableBuilder) {
    for n in 0..6 {
        table.commit(&[add(2 * n), add(2 * n + 1), actions::txn("app", n)]);
    }
    table.commit(&[
        remove(1),
        actions::remove(&path(2)),
        remove(3),
        actions::with(add(3), "deletionVector", vector(3)),
        actions::domain("kept", "{}", false),
        actions::domain("gone", "{}", true),
    ]);
}

/// The names of the files in a folder of the log.
fn names(table: &TableBuilder, below: &str) -> Vec<String> {
    let entries = std::fs::read_dir(table.root().join("_delta_log").join(below)).into_iter().flatten();
    let files = entries.map(|e| e.unwrap()).filter(|e| e.path().is_file());
    let mut names: Vec<String> = files.map(|e| e.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
