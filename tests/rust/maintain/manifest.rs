//! Symlink manifests: what they list, what goes stale, and what a commit does about them.

use deltaic_core::after_commit::generate_manifest;
use deltaic_core::store::StorageOptions;
use deltaic_core::txn::{Operation, Transaction};
use deltaic_core::write::WriteResult;
use deltaic_testkit::{Fault, Op, Rule};

use super::*;

const ENABLED: (&str, &str) = ("delta.compatibility.symlinkFormatManifest.enabled", "true");

/// Manifests by name, and the lines of each.
fn manifests(location: &Location) -> Vec<(String, Vec<String>)> {
    let names = objects(location).into_iter().filter(|n| n.starts_with("_symlink_format_manifest/"));
    names
        .map(|name| {
            let body = location.store().get(&location.root().join(&name)).unwrap();
            let text = String::from_utf8(body.to_vec()).unwrap();
            (name, text.lines().map(str::to_owned).collect())
        })
        .collect()
}

fn overwrite(location: &Location, rows: &[(&str, i64)]) -> WriteResult {
    write(location, rows, &WriteOptions { mode: WriteMode::Overwrite, ..Default::default() }).unwrap()
}

#[test]
fn each_partition_lists_its_files_and_stale_ones_go() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a b");
    let location = Location::open(root.to_str().unwrap(), &StorageOptions::default()).unwrap();
    write(&location, &[("x y/z", 1), ("b", 2)], &partitioned()).unwrap();
    let data = objects(&location);
    let done = generate_manifest(&location).unwrap();
    assert_eq!((done.version, done.written, done.deleted), (0, 2, 0));
    let found = manifests(&location);
    let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["_symlink_format_manifest/p=b/manifest", "_symlink_format_manifest/p=x y%2Fz/manifest"]
    );
    // as Hadoop writes a path: one slash, nothing encoded
    let line = format!("file:{}/{}", root.display(), data[1]);
    assert_eq!(found[1].1, [line]);
    overwrite(&location, &[("b", 3)]);
    assert_eq!(manifests(&location), found, "only on request");
    let done = generate_manifest(&location).unwrap();
    assert_eq!((done.version, done.written, done.deleted), (1, 1, 1));
    assert_eq!(manifests(&location).len(), 1);
}

#[test]
fn a_table_without_partitions_has_one_manifest_even_without_files() {
    let (_, location) = place();
    write(&location, &[("a", 1)], &WriteOptions::default()).unwrap();
    generate_manifest(&location).unwrap();
    let found = manifests(&location);
    assert_eq!((found.len(), found[0].1.len()), (1, 1));
    assert!(found[0].1[0].starts_with("memory:///t/"), "{found:?}");
    overwrite(&location, &[]);
    generate_manifest(&location).unwrap();
    assert_eq!(manifests(&location), [("_symlink_format_manifest/manifest".to_owned(), vec![])]);
}

#[test]
fn commits_keep_the_manifests_of_the_partitions_that_they_touch() {
    let (store, location) = place();
    write(&location, &[("a", 1), ("b", 2)], &with_properties(&[ENABLED])).unwrap();
    assert_eq!(manifests(&location).len(), 2);
    store.forget();
    write(&location, &[("a", 3)], &partitioned()).unwrap();
    assert_eq!(store.count(Op::Put, "_symlink_format_manifest"), 1);
    let lines = |p: &str| {
        let name = format!("_symlink_format_manifest/p={p}/manifest");
        manifests(&location).into_iter().find(|(n, _)| *n == name).map(|(_, lines)| lines.len())
    };
    assert_eq!((lines("a"), lines("b")), (Some(2), Some(1)));
    overwrite(&location, &[("c", 4)]);
    assert_eq!((lines("a"), lines("b"), lines("c")), (None, None, Some(1)));
}

#[test]
fn a_manifest_that_cannot_be_written_is_a_warning_and_no_failed_commit() {
    for op in [Op::Put, Op::ListAll] {
        let (store, location) = place();
        write(&location, &[("a", 1)], &with_properties(&[ENABLED])).unwrap();
        write(&location, &[("a", 2)], &partitioned()).unwrap();
        store.rule(Rule::new(Fault::Refused).on(op).named("_symlink_format_manifest").always());
        let snapshot = open(&location);
        let mut txn = Transaction::begin(&snapshot, Operation::new("DELETE"));
        txn.remove_file(&adds(&location)[0], true);
        let done = txn.commit().unwrap();
        assert!(done.warnings.iter().any(|w| w.contains("the symlink manifest of version 2")), "{done:?}");
        store.heal();
        assert_eq!(rows(&location).len(), 1);
        assert_eq!(manifests(&location)[0].1.len(), 2, "of the version before");
        generate_manifest(&location).unwrap();
        assert_eq!(manifests(&location)[0].1.len(), 1);
    }
}

#[test]
fn tables_that_its_readers_would_misread_have_none() {
    let (_, location) = place();
    write(&location, &[("a", 1)], &with_properties(&[("delta.columnMapping.mode", "name")])).unwrap();
    let error = generate_manifest(&location).unwrap_err();
    assert_eq!(error.kind(), "Unsupported");
    assert!(error.to_string().contains("column mapping"), "{error}");
    let (_, location) = place();
    write(&location, &[("a", 1), ("a", 2)], &with_properties(&[("delta.enableDeletionVectors", "true")]))
        .unwrap();
    delete_first_row(&location);
    let error = generate_manifest(&location).unwrap_err();
    assert_eq!(error.kind(), "Unsupported");
    assert!(error.to_string().contains("deletion vectors"), "{error}");
    assert_eq!(manifests(&location), []);
}
