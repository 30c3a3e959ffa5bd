//! The files of the version.

use deltaic_core::actions::ObjectPath;
use deltaic_core::deletion_vector::{DeletionVector, write_file};
use deltaic_core::verify::FindingKind as Kind;
use deltaic_testkit::{CheckpointForm, TableBuilder, actions};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{add, create, fill, found, info, mark, only, path, remove, whole};

fn filled_with(change: impl Fn(Value) -> Value) -> TableBuilder {
    let mut table = create();
    fill(&mut table);
    let add = change(add(&table, 6));
    table.commit(&[info(7), add, mark(69)]);
    table
}

#[test]
fn missing_and_torn_data_files_are_found() {
    let table = whole(CheckpointForm::Single);
    std::fs::remove_file(table.root().join(path(1))).unwrap();
    assert_eq!(found(&table), [], "a removed file may be gone");
    std::fs::remove_file(table.root().join(path(2))).unwrap();
    assert!(only(&table, Kind::MissingFile).path.ends_with(&path(2)));
    let table = whole(CheckpointForm::Single);
    std::fs::write(table.root().join(path(2)), b"PAR1").unwrap();
    assert_eq!(only(&table, Kind::FileSizeDiffers).found, "4 bytes");
}

/// A table with a vector in a file on file 2; gives the file.
fn with_vector(change: impl Fn(Value) -> Value) -> (TableBuilder, std::path::PathBuf) {
    let mut table = create();
    fill(&mut table);
    let rows: DeletionVector = [1, 3].into_iter().collect();
    let id = Uuid::from_u128(7);
    let (body, descriptors) = write_file(&[rows], "", id).unwrap();
    let file = table.root().join(format!("deletion_vector_{id}.bin"));
    std::fs::write(&file, body).unwrap();
    let descriptor = change(serde_json::to_value(&descriptors[0]).unwrap());
    let add = actions::with(add(&table, 2), "deletionVector", descriptor);
    table.commit(&[info(7), remove(2), add]);
    (table, file)
}

#[test]
fn missing_and_torn_deletion_vectors_are_found() {
    let (table, file) = with_vector(|d| d);
    assert_eq!(found(&table), []);
    std::fs::write(&file, b"\x01").unwrap();
    assert_eq!(only(&table, Kind::MissingDeletionVector).found, "1 bytes");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(only(&table, Kind::MissingDeletionVector).found, "no file");
    let (table, _) = with_vector(|mut d| {
        d["pathOrInlineDv"] = json!("short");
        d
    });
    only(&table, Kind::UnreadableAdd);
}

#[test]
fn values_that_are_none_are_found() {
    let table = filled_with(|a| actions::with(a, "partitionValues", json!({"p": "one"})));
    assert!(only(&table, Kind::PartitionValueInvalid).expected.contains("`p` (integer)"));
    let table = filled_with(|a| actions::with(a, "partitionValues", json!({})));
    assert_eq!(only(&table, Kind::PartitionValueInvalid).found, "none");
    let table = filled_with(|a| actions::with(a, "partitionValues", json!({"p": null})));
    assert_eq!(found(&table), []);
}

#[test]
fn identities_beyond_their_mark_are_found() {
    let stats = json!({"numRecords": 10, "minValues": {"id": 995}, "maxValues": {"id": 1001}});
    let table = filled_with(|a| actions::with_stats(a, &stats));
    assert_eq!(only(&table, Kind::IdentityBeyondMark).found, "1001");
}

#[test]
fn statistics_that_are_no_json_are_found() {
    // without the number of rows, the row ids cannot be compared either
    let table = filled_with(|a| actions::with(a, "stats", "{\"numRecords\":"));
    only(&table, Kind::UnreadableAdd);
}

#[test]
fn a_remote_table_of_many_files_is_listed_once() {
    use std::sync::Arc;

    use deltaic_core::store::{Location, ObjectAdapter, Store};
    use deltaic_core::verify::{VerifyOptions, verify};
    let store = deltaic_testkit::FaultStore::new(Arc::new(ObjectAdapter::memory()));
    let root = ObjectPath::new("memory://", "/t");
    let location = Location::with_store(root.clone(), Arc::new(store.clone()));
    let mut body = format!(
        "{}\n{}\n",
        actions::protocol(1, 2),
        actions::metadata(&actions::schema(&[("a", "long")]), &[], &[])
    );
    for n in 0..600 {
        let name = format!("f{n}.parquet");
        body += &format!("{}\n", actions::add(&name));
        if n != 77 {
            store.put(&root.join(&name), vec![0; 100].into()).unwrap();
        }
    }
    store.put(&root.join("_delta_log/00000000000000000000.json"), body.into()).unwrap();
    let report = verify(&location, &VerifyOptions::default()).unwrap();
    assert_eq!(report.files, 600);
    assert_eq!(report.findings.len(), 1, "{:#?}", report.findings);
    assert!(report.findings[0].kind == Kind::MissingFile && report.findings[0].path.ends_with("f77.parquet"));
}
