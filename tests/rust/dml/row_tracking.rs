//! Rows keep their ids wherever they go.

use deltaic_core::deletion_vector::DeletionVector;
use deltaic_core::maintain::{OptimizeOptions, optimize};
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::scan::{ROW_COMMIT_VERSION, ROW_ID, ReadRequest, read};
use deltaic_core::verify::{VerifyOptions, verify};

use super::*;
use crate::rivals::overtaken;

/// Row id and commit version of each key.
fn row_ids(location: &Location) -> BTreeMap<i64, (i64, i64)> {
    let configuration = open(location).metadata().configuration.clone();
    let id_column = &configuration["delta.rowTracking.materializedRowIdColumnName"];
    let version_column = &configuration["delta.rowTracking.materializedRowCommitVersionColumnName"];
    let mut out = BTreeMap::new();
    for file in files(location) {
        let gone = file.deletion_vector.as_ref().map(|d| DeletionVector::load(d, location).unwrap());
        let mut at = 0;
        for batch in raw(location, &file.path) {
            let column =
                |name: &str| batch.column_by_name(name).map(|c| c.as_primitive::<Int64Type>().clone());
            let (ids, versions) = (column(id_column), column(version_column));
            let keys = batch.column(0).as_primitive::<Int64Type>();
            let own =
                |c: &Option<Int64Array>, i: usize| c.as_ref().filter(|c| c.is_valid(i)).map(|c| c.value(i));
            for i in 0..batch.num_rows() {
                if gone.as_ref().is_none_or(|g| !g.rows().contains(at)) {
                    let id = own(&ids, i).unwrap_or(file.base_row_id.unwrap() + at as i64);
                    let version = own(&versions, i).unwrap_or(file.default_row_commit_version.unwrap());
                    assert_eq!(out.insert(keys.value(i), (id, version)), None);
                }
                at += 1;
            }
        }
    }
    assert_eq!(read_row_ids(location, None), out);
    let later = out.iter().filter(|(k, _)| **k >= 20).map(|(k, ids)| (*k, *ids)).collect();
    let from_20 =
        Predicate::Compare { op: CompareOp::Ge, column: vec!["k".into()], value: Literal::Long(20) };
    assert_eq!(read_row_ids(location, Some(from_20)), later);
    out
}

/// The same by a read that asks for them.
fn read_row_ids(location: &Location, predicate: Option<Predicate>) -> BTreeMap<i64, (i64, i64)> {
    let columns = Some(vec!["k".into()]);
    let filter = predicate.map(Into::into);
    let request = ReadRequest { columns, filter, row_ids: true, batch_size: 7 };
    let mut out = BTreeMap::new();
    for batch in read(&open(location), request).unwrap() {
        let batch = batch.unwrap();
        let names: Vec<_> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
        assert_eq!(names, ["k", ROW_ID, ROW_COMMIT_VERSION]);
        let [keys, ids, versions] = [0, 1, 2].map(|i| batch.column(i).as_primitive::<Int64Type>().clone());
        for row in 0..batch.num_rows() {
            let ids = (ids.value(row), versions.value(row));
            assert_eq!(out.insert(keys.value(row), ids), None);
        }
    }
    out
}

#[test]
fn rows_keep_their_ids_and_changed_rows_have_the_version_of_the_change() {
    for properties in [
        &[ROW_IDS][..],
        &[ROW_IDS, VECTORS][..],
        &[ROW_IDS, CHANGES][..],
        &[ROW_IDS, ("delta.columnMapping.mode", "name")][..],
        &[ROW_IDS, ("delta.columnMapping.mode", "id")][..],
    ] {
        let (_, location) = table(40, true, properties);
        let before = row_ids(&location);
        delete(&location, Some("k % 4 = 1")).unwrap();
        let mut expected = before.clone();
        expected.retain(|k, _| k % 4 != 1);
        assert_eq!(row_ids(&location), expected, "{properties:?}");
        let tags = info(&location, 1).other["tags"].clone();
        assert_eq!(tags["delta.rowTracking.preserved"], "true");
        for (version, condition) in [(2, "k % 5 = 2"), (3, "k % 10 = 2"), (4, "p = 'moved'")] {
            update(&location, &[("p", "'moved'")], Some(condition)).unwrap();
            for (k, (_, changed)) in &mut expected {
                let hit = match version {
                    2 => k % 5 == 2,
                    3 => k % 10 == 2,
                    _ => k % 5 == 2,
                };
                if hit {
                    *changed = version;
                }
            }
            assert_eq!(row_ids(&location), expected, "{properties:?} {version}");
        }
        assert_eq!(orphans(&location), Vec::<String>::new());
    }
}

#[test]
fn rows_keep_their_ids_when_files_are_joined() {
    for properties in [
        &[ROW_IDS][..],
        &[ROW_IDS, VECTORS][..],
        &[ROW_IDS, ("delta.columnMapping.mode", "name")][..],
        &[ROW_IDS, VECTORS, ("delta.columnMapping.mode", "id")][..],
    ] {
        let (_, location) = table(40, true, properties);
        let more: Vec<Row> = (40..60).map(|k| row(k, Some("x"), None)).collect();
        append(&location, &more, true, &[]);
        delete(&location, Some("k % 4 = 1")).unwrap();
        update(&location, &[("p", "'moved'")], Some("k % 5 = 2")).unwrap();
        joined(&location, &OptimizeOptions::default(), properties);
        // files that name the ids of their rows are joined with files that do not
        append(&location, &[row(60, Some("x"), None), row(61, Some("moved"), None)], true, &[]);
        update(&location, &[("s", "NULL")], Some("k % 10 = 2 OR k = 41")).unwrap();
        joined(&location, &OptimizeOptions::default(), properties);
        assert_eq!(orphans(&location), Vec::<String>::new());
    }
}

#[test]
fn rows_keep_their_ids_along_a_curve() {
    for properties in
        [&[ROW_IDS][..], &[ROW_IDS, VECTORS][..], &[ROW_IDS, ("delta.columnMapping.mode", "name")][..]]
    {
        let (_, location) = table(40, true, properties);
        append(&location, &[row(60, Some("x"), Some(7)), row(61, None, None)], true, &[]);
        delete(&location, Some("k % 4 = 1")).unwrap();
        update(&location, &[("p", "'moved'")], Some("k % 5 = 2")).unwrap();
        let zorder_by = vec!["s.a".to_owned(), "k".to_owned()];
        let options = OptimizeOptions { zorder_by, target_size: Some(1000), ..Default::default() };
        for _ in 0..2 {
            joined(&location, &options, properties);
        }
        assert_eq!(orphans(&location), Vec::<String>::new());
    }
}

/// Optimizes, and no row becomes another.
fn joined(location: &Location, options: &OptimizeOptions, context: &[(&str, &str)]) {
    let before = row_ids(location);
    assert!(before.values().map(|(_, version)| version).collect::<BTreeSet<_>>().len() > 2);
    let taken = files(location).iter().filter_map(|file| file.base_row_id).max();
    let done = optimize(location, options).unwrap();
    let version = done.version.unwrap();
    assert_eq!(row_ids(location), before, "{context:?}");
    assert_eq!(info(location, version).other["tags"]["delta.rowTracking.preserved"], "true");
    // the new files have ids of their own
    let added = changes(location, version).adds;
    assert!(added.iter().all(|add| add.base_row_id > taken), "{context:?}");
    assert!(added.iter().all(|add| add.default_row_commit_version == Some(version as i64)), "{context:?}");
    let report = verify(location, &VerifyOptions { deep: true, ..Default::default() }).unwrap();
    assert_eq!(report.findings, Vec::new(), "{context:?}");
}

#[test]
fn rows_that_others_delete_meanwhile_leave_the_ids_of_the_rest() {
    let (store, location) = table(40, true, &[ROW_IDS, VECTORS]);
    append(&location, &rows(60)[40..], true, &[]);
    let mut expected = row_ids(&location);
    overtaken(&store, &location, 2, |copy| {
        update(copy, &[("s", "NULL")], Some("k IN (3, 45)")).unwrap();
        expected = row_ids(copy);
    });
    assert_eq!(optimize(&location, &OptimizeOptions::default()).unwrap().version, Some(3));
    assert_eq!((expected[&3].1, expected[&45].1), (2, 2));
    assert_eq!(row_ids(&location), expected);
}

#[test]
fn an_overwrite_of_some_rows_leaves_the_ids_of_the_others() {
    for properties in [
        &[ROW_IDS][..],
        &[ROW_IDS, VECTORS][..],
        &[ROW_IDS, CHANGES][..],
        &[ROW_IDS, ("delta.columnMapping.mode", "name")][..],
    ] {
        let (_, location) = table(40, true, properties);
        let mut expected = row_ids(&location);
        let fresh = expected.values().map(|(id, _)| *id).max().unwrap() + 1;
        replace(&location, "s.a = 1", &[row(100, Some("x"), Some(1))]).unwrap();
        expected.retain(|k, _| k % 5 == 4 || k % 4 != 1);
        let mut found = row_ids(&location);
        let (id, version) = found.remove(&100).unwrap();
        assert!(id >= fresh && version == 1, "{properties:?}: {id} {version}");
        assert_eq!(found, expected, "{properties:?}");
        assert_eq!(info(&location, 1).other["tags"]["delta.rowTracking.preserved"], "true");
        assert_eq!(orphans(&location), Vec::<String>::new());
    }
}

#[test]
fn row_ids_are_refused_where_there_are_none() {
    let request = || ReadRequest { row_ids: true, ..ReadRequest::default() };
    let refused = |location: &Location| read(&open(location), request()).unwrap_err().to_string();
    let (_, location) = table(4, true, &[]);
    assert_eq!(
        refused(&location),
        "row_ids: the table has none in this version: set `delta.enableRowTracking` to true, and rows get them"
    );
}
