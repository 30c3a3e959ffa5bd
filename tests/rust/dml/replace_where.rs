//! Overwrites of the rows of a condition: a delete and an append in one commit.

use super::*;

/// Forty rows in files of ten, of which the first fifteen are replaced by two.
fn replaced(properties: &[(&str, &str)]) -> Location {
    let (_, location) = table(40, false, properties);
    replace(&location, "k < 15", &[row(3, Some("x"), None), row(4, None, Some(9))]).unwrap();
    assert_eq!(keys(&location), [3, 4].into_iter().chain(15..40).collect::<Vec<_>>(), "{properties:?}");
    assert_eq!(orphans(&location), Vec::<String>::new(), "{properties:?}");
    location
}

/// Deleted, copied and written rows, removed files, written files, files of changes.
fn balance(location: &Location) -> [u64; 6] {
    let metrics = metrics(location, 1);
    ["numDeletedRows", "numCopiedRows", "numOutputRows", "numRemovedFiles", "numFiles", "numAddedChangeFiles"]
        .map(|name| metrics[name])
}

#[test]
fn rows_that_stay_are_written_again_without_vectors() {
    for properties in [&[][..], &[ROW_IDS][..], &[("delta.columnMapping.mode", "name")][..]] {
        let location = replaced(properties);
        assert_eq!(balance(&location), [15, 5, 7, 2, 2, 0], "{properties:?}");
        let done = changes(&location, 1);
        assert_eq!((done.adds.len(), done.removes.len(), done.cdc.len()), (2, 2, 0));
        let bytes: i64 = done.adds.iter().map(|a| a.size).sum();
        assert_eq!(metrics(&location, 1)["numOutputBytes"], bytes.unsigned_abs());
    }
}

#[test]
fn rows_are_marked_in_vectors_where_the_table_has_them() {
    for properties in [&[VECTORS][..], &[VECTORS, CHANGES][..], &[VECTORS, CHANGES, ROW_IDS][..]] {
        let location = replaced(properties);
        // the file whose rows are marked counts as a copy; readers tell the changes from the vectors and the new file
        assert_eq!(balance(&location), [15, 5, 7, 1, 2, 0], "{properties:?}");
        let bytes: i64 = changes(&location, 1).adds.iter().map(|a| a.size).sum();
        assert_eq!(metrics(&location, 1)["numOutputBytes"], bytes.unsigned_abs());
        assert_eq!(change_rows(&location, 1), []);
        let marked: Vec<_> =
            changes(&location, 1).adds.into_iter().filter_map(|a| a.deletion_vector).collect();
        assert_eq!(marked.iter().map(|v| v.cardinality).collect::<Vec<_>>(), [5]);
        // again, over the vector
        replace(&location, "k < 17", &[]).unwrap();
        assert_eq!(keys(&location), (17..40).collect::<Vec<_>>());
    }
}

#[test]
fn all_changes_are_fed_where_rows_are_copied() {
    for properties in [&[CHANGES][..], &[CHANGES, ROW_IDS][..]] {
        let location = replaced(properties);
        let [deleted, copied, written, removed, files, change_files] = balance(&location);
        assert_eq!([deleted, copied, written, removed, files], [15, 5, 7, 2, 2], "{properties:?}");
        assert_eq!(change_files, changes(&location, 1).cdc.len() as u64);
        let mut expected: Vec<_> = (0..15).map(|k| ("delete".to_owned(), k)).collect();
        expected.extend([3, 4].map(|k| ("insert".to_owned(), k)));
        assert_eq!(change_rows(&location, 1), expected, "{properties:?}");
    }
}

#[test]
fn whole_partitions_leave_unread_and_tell_no_changes() {
    let (store, location) = table(40, true, &[CHANGES, ROW_IDS]);
    let gone = all(&location).iter().filter(|r| r.p.as_deref() == Some("x")).count();
    store.forget();
    replace(&location, "P = 'x'", &[row(100, Some("x"), None)]).unwrap();
    assert_eq!(store.count(deltaic_testkit::Op::GetRange, ".parquet"), 0);
    assert_eq!(keys(&location).len(), 40 - gone + 1);
    assert_eq!(change_rows(&location, 1), []);
    let metrics = metrics(&location, 1);
    assert_eq!((metrics["numDeletedRows"], metrics["numCopiedRows"]), (gone as u64, 0));
}

#[test]
fn a_write_that_says_that_no_rows_change_feeds_none() {
    for properties in [&[CHANGES][..], &[CHANGES, VECTORS][..]] {
        let (_, location) = table(40, true, properties);
        let options =
            WriteOptions { replace_where: Some("p = 'x'".into()), data_change: false, ..Default::default() };
        let same: Vec<_> = all(&location).into_iter().filter(|r| r.p.as_deref() == Some("x")).collect();
        replace_by(&location, &same, options).unwrap();
        assert_eq!(keys(&location), (0..40).collect::<Vec<_>>());
        let done = changes(&location, 1);
        assert_eq!(done.cdc.len(), 0);
        assert!(done.adds.iter().all(|a| !a.data_change) && done.removes.iter().all(|r| !r.data_change));
    }
}

#[test]
fn a_write_that_says_that_no_rows_change_replaces_whole_partitions_only() {
    let (_, location) = table(40, true, &[CHANGES]);
    let options =
        WriteOptions { replace_where: Some("k < 15".into()), data_change: false, ..Default::default() };
    let error = replace_by(&location, &rows(15), options).unwrap_err();
    assert_eq!(error.condition().unwrap().name, "DELTA_REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET");
    assert_eq!(open(&location).version(), 0);
}

#[test]
fn rows_that_others_delete_in_the_same_file_stay_deleted() {
    let (_, location) = table(10, false, &[VECTORS]);
    let batch = batch(&[row(0, None, None)]);
    let schema = batch.schema();
    let other = location.clone();
    let late = std::iter::once_with(move || {
        // the plan is made, and somebody is faster
        delete(&other, Some("k = 9")).unwrap();
        Ok(batch)
    });
    let options = WriteOptions {
        mode: WriteMode::Overwrite,
        replace_where: Some("k < 5".into()),
        ..Default::default()
    };
    deltaic_core::operations::write(&location, RecordBatchIterator::new(late, schema), &options).unwrap();
    assert_eq!(keys(&location), [0, 5, 6, 7, 8]);
}
