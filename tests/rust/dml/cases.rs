//! What leaves, what stays and what the log says, for each way to delete and update.

use super::*;

/// Properties of tables of every kind.
const KINDS: &[&[(&str, &str)]] = &[
    &[],
    &[VECTORS],
    &[CHANGES],
    &[VECTORS, CHANGES],
    &[("delta.columnMapping.mode", "name"), CHANGES],
    &[("delta.columnMapping.mode", "id"), ROW_IDS],
    &[ROW_IDS, VECTORS, ("delta.columnMapping.mode", "id")],
    &[ROW_IDS, CHANGES],
];

fn expect(location: &Location, rows: impl IntoIterator<Item = Row>, context: &str) {
    let mut rows: Vec<Row> = rows.into_iter().collect();
    rows.sort();
    assert_eq!(all(location), rows, "{context}");
    assert_eq!(orphans(location), Vec::<String>::new(), "{context}");
}

#[test]
fn every_kind_of_table_loses_and_changes_the_matching_rows() {
    for properties in KINDS {
        for partitioned in [false, true] {
            let context = format!("{properties:?} partitioned {partitioned}");
            let (_, location) = table(100, partitioned, properties);
            let done = delete(&location, Some("k % 10 = 3 OR s.a = 2")).unwrap();
            let gone = |r: &Row| r.k % 10 == 3 || r.s.as_ref().is_some_and(|s| s.0 == Some(2));
            let mut rows = rows(100);
            assert_eq!(done.deleted_rows, Some(rows.iter().filter(|r| gone(r)).count() as u64), "{context}");
            rows.retain(|r| !gone(r));
            expect(&location, rows.clone(), &context);

            let set = [("s.b", "concat(s.b, '!')"), ("p", "'new'")];
            let done = update(&location, &set, Some("p = 'x' AND k > 20")).unwrap();
            let mut updated = 0;
            for row in rows.iter_mut().filter(|r| r.p.as_deref() == Some("x") && r.k > 20) {
                row.s = match row.s.take() {
                    Some((a, b)) => Some((a, b.map(|b| b + "!"))),
                    None => Some((None, None)),
                };
                row.p = Some("new".into());
                updated += 1;
            }
            assert_eq!(done.updated_rows, updated, "{context}");
            expect(&location, rows.clone(), &context);

            // again, now that there are vectors and files that were rewritten
            delete(&location, Some("k >= 50 AND p IS NOT NULL")).unwrap();
            rows.retain(|r| !(r.k >= 50 && r.p.is_some()));
            expect(&location, rows.clone(), &context);
            update(&location, &[("k", "k + 1000")], None).unwrap();
            rows.iter_mut().for_each(|r| r.k += 1000);
            expect(&location, rows.clone(), &context);
            let done = delete(&location, None).unwrap();
            assert_eq!(done.deleted_rows, Some(rows.len() as u64), "{context}");
            expect(&location, [], &context);
            assert_eq!(delete(&location, None).unwrap().version, None);
        }
    }
}

#[test]
fn the_whole_table_and_whole_partitions_go_unread() {
    let (store, location) = table(60, true, &[]);
    store.forget();
    let done = delete(&location, Some("p = 'x' OR p IS NULL")).unwrap();
    assert_eq!(done.deleted_rows, Some(25));
    let rest = delete(&location, None).unwrap();
    assert_eq!(rest.deleted_rows, Some(35));
    let reads = store.calls().iter().filter(|c| c.path.to_string().ends_with(".parquet")).count();
    assert_eq!(reads, 0);
    let metrics = metrics(&location, 1);
    assert_eq!((metrics["numDeletedRows"], metrics["numRemovedFiles"]), (25, done.removed_files));
    assert_eq!((metrics["numAddedFiles"], metrics["numCopiedRows"]), (0, 0));
    let info = info(&location, 1);
    assert_eq!(info.operation.as_deref(), Some("DELETE"));
    assert_eq!(info.operation_parameters.unwrap()["predicate"], r#"["p = 'x' OR p IS NULL"]"#);
    assert_eq!(self::info(&location, 2).operation_parameters.unwrap()["predicate"], "[]");
    assert!(changes(&location, 1).removes.iter().all(|r| r.data_change));
}

#[test]
fn rows_of_unknown_number_are_not_counted() {
    let mut builder = deltaic_testkit::TableBuilder::temp();
    let schema = serde_json::json!({"type": "struct", "fields": [
        {"name": "k", "type": "long", "nullable": true, "metadata": {}}]});
    builder.create(&schema, &[], &[]);
    let k: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let rows = RecordBatch::try_from_iter([("k", k)]).unwrap();
    let add = builder.data_file("f.parquet", &rows, &[]);
    let add = deltaic_testkit::actions::with(add, "stats", serde_json::Value::Null);
    builder.commit(&[add]);
    let location = Location::open(&builder.uri(), &Default::default()).unwrap();
    let done = delete(&location, None).unwrap();
    assert_eq!((done.deleted_rows, done.removed_files), (None, 1));
    assert!(!metrics(&location, 2).contains_key("numDeletedRows"));
}

#[test]
fn vectors_grow_and_files_without_rows_leave() {
    let (_, location) = table(20, false, &[VECTORS]);
    let done = delete(&location, Some("k IN (1, 2, 15)")).unwrap();
    assert_eq!((done.vectors_added, done.vectors_removed, done.removed_files), (2, 0, 0));
    let stats: Vec<String> = files(&location).into_iter().filter_map(|f| f.stats).collect();
    assert!(stats.iter().all(|s| s.contains(r#""tightBounds":false"#) && s.contains(r#""numRecords":10"#)));
    // one vector grows, the other leaves with its file
    let done = delete(&location, Some("k >= 10 OR k = 3")).unwrap();
    assert_eq!((done.vectors_added, done.vectors_removed, done.removed_files), (1, 2, 1));
    let metrics = metrics(&location, 2);
    assert_eq!(
        (metrics["numDeletionVectorsUpdated"], metrics["numDeletionVectorsAdded"], metrics["numDeletedRows"]),
        (1, 1, 10)
    );
    let left = files(&location);
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].deletion_vector.as_ref().unwrap().cardinality, 3);
    assert_eq!(keys(&location), [0, 4, 5, 6, 7, 8, 9]);
    // update: old rows are marked, only new rows are written
    let done = update(&location, &[("k", "-k")], Some("k = 4")).unwrap();
    assert_eq!((done.updated_rows, done.copied_rows, done.added_files, done.touched_files), (1, 0, 1, 1));
    assert_eq!(keys(&location), [-4, 0, 5, 6, 7, 8, 9]);
    assert_eq!(changes(&location, 3).adds.len(), 2);
}

#[test]
fn large_vectors_share_a_file() {
    let (_, location) = place();
    let options = |rows| WriteOptions {
        mode: WriteMode::Append,
        configuration: [(VECTORS.0.to_owned(), VECTORS.1.to_owned())].into(),
        max_rows_per_file: Some(rows),
        ..Default::default()
    };
    let batch = batch(&rows(30_000));
    let schema = batch.schema();
    deltaic_core::operations::write(
        &location,
        RecordBatchIterator::new([Ok(batch)], schema),
        &options(10_000),
    )
    .unwrap();
    delete(&location, Some("k % 3 = 0")).unwrap();
    let vectors: Vec<_> = files(&location).into_iter().filter_map(|f| f.deletion_vector).collect();
    assert_eq!(vectors.len(), 3);
    assert!(
        vectors.iter().all(|v| v.path_or_inline_dv == vectors[0].path_or_inline_dv && v.offset.is_some())
    );
    assert_eq!(keys(&location).len(), 20_000);
}

#[test]
fn changes_are_written_where_readers_cannot_tell_them() {
    let (_, location) = table(20, true, &[CHANGES]);
    let done = delete(&location, Some("k < 2")).unwrap();
    assert_eq!(change_rows(&location, 1), [("delete".to_owned(), 0), ("delete".to_owned(), 1)]);
    assert_eq!(done.change_files, 2);
    assert!(changes(&location, 1).cdc.iter().all(|c| c.path.as_str().contains("p=")));
    update(&location, &[("k", "k * 100"), ("p", "'moved'")], Some("k = 2")).unwrap();
    assert_eq!(
        change_rows(&location, 2),
        [("update_postimage".to_owned(), 200), ("update_preimage".to_owned(), 2)]
    );
    // whole files tell their own change
    assert_eq!(delete(&location, Some("p = 'y'")).unwrap().change_files, 0);
    let (_, location) = table(20, false, &[CHANGES, VECTORS]);
    assert_eq!(delete(&location, Some("k < 2")).unwrap().change_files, 0);
    assert_eq!(update(&location, &[("k", "0")], Some("k = 2")).unwrap().change_files, 1);
}

#[test]
fn nothing_is_committed_where_no_row_matches() {
    for properties in [&[][..], &[VECTORS][..]] {
        let (store, location) = table(20, true, properties);
        store.forget();
        for condition in ["k > 100", "p = 'none'", "NULL", "k = NULL", "false", "k + 1 = 0"] {
            assert_eq!(delete(&location, Some(condition)).unwrap().version, None, "{condition}");
            assert_eq!(update(&location, &[("k", "1")], Some(condition)).unwrap().version, None);
        }
        let puts =
            store.count(deltaic_testkit::Op::Put, "") + store.count(deltaic_testkit::Op::PutIfAbsent, "");
        assert_eq!(puts, 0);
    }
}

#[test]
fn an_application_transaction_is_done_once() {
    let (_, location) = table(20, false, &[]);
    let options = DmlOptions {
        app_transaction: Some(("app".into(), 1)),
        user_metadata: Some("why".into()),
        engine: Some("Engine/1".into()),
        ..Default::default()
    };
    let done = deltaic_core::operations::delete(&location, Some("k < 5"), &options).unwrap();
    assert_eq!((done.version, done.deleted_rows), (Some(1), Some(5)));
    let info = info(&location, 1);
    assert_eq!(info.user_metadata.as_deref(), Some("why"));
    assert!(info.engine_info.unwrap().starts_with("Engine/1 deltaic/"));
    let again = deltaic_core::operations::delete(&location, Some("k < 9"), &options).unwrap();
    assert_eq!((again.version, again.deleted_rows), (None, Some(0)));
    let set = [("k".to_owned(), "0".to_owned())];
    assert_eq!(deltaic_core::operations::update(&location, &set, None, &options).unwrap().version, None);
    assert_eq!(keys(&location).len(), 15);
    // what matches nothing is recorded all the same
    let next = DmlOptions { app_transaction: Some(("app".into(), 2)), ..options };
    assert_eq!(deltaic_core::operations::delete(&location, Some("k < 0"), &next).unwrap().version, Some(2));
    assert_eq!(open(&location).app_transaction("app").unwrap().unwrap().version, 2);
}

#[test]
fn expressions_see_the_row_as_it_was() {
    let (_, location) = table(3, false, &[]);
    update(&location, &[("k", "s.a + 10"), ("s.a", "k + 20"), ("`s`.`b`", "p")], None).unwrap();
    let expected =
        |k: i64, p: &str| Row { k: k + 10, p: Some(p.into()), s: Some((Some(k + 20), Some(p.into()))) };
    assert_eq!(all(&location), [expected(0, "x"), expected(1, "y"), expected(2, "z")]);
    // a value of another type is cast as an assignment casts it
    update(&location, &[("k", "'7'"), ("p", "k"), ("s", "NULL")], Some("k = 10")).unwrap();
    assert_eq!(all(&location)[0], Row { k: 7, p: Some("10".into()), s: None });
    assert_eq!(update(&location, &[("k", "'seven'")], None).unwrap_err().kind(), "InvalidExpression");
}
