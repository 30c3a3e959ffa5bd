//! Other writers at the same time.

use super::*;
use crate::rivals::overtaken;

type Rival = fn(&Location);

#[test]
fn deletes_of_different_rows_of_a_file_are_joined() {
    let (store, location) = table(20, false, &[VECTORS]);
    overtaken(&store, &location, 1, |copy| {
        delete(copy, Some("k IN (1, 11)")).unwrap();
    });
    store.forget();
    let done = delete(&location, Some("k IN (2, 12)")).unwrap();
    assert_eq!((done.version, done.deleted_rows), (Some(2), Some(2)));
    assert_eq!(keys(&location).len(), 16);
    assert_eq!(orphans(&location), Vec::<String>::new());
}

#[test]
fn a_lost_race_is_retried_and_leaves_no_files() {
    let rivals: [(&str, Rival); 4] = [
        ("the same rows", |copy| {
            delete(copy, Some("k < 5")).unwrap();
        }),
        ("moved rows", |copy| {
            update(copy, &[("k", "k + 100")], Some("k = 3")).unwrap();
        }),
        ("new columns", |copy| {
            use deltaic_core::alter::NewColumn;
            use deltaic_core::maintain::{Alteration, alter_table};
            use deltaic_core::schema::{DataType, StructField};
            let column = NewColumn::of(StructField::new("n", DataType::Long, true));
            alter_table(copy, &Alteration::AddColumns(vec![column]), None).unwrap();
        }),
        ("no rows left", |copy| {
            delete(copy, None).unwrap();
        }),
    ];
    for properties in [&[][..], &[VECTORS][..], &[CHANGES][..]] {
        for (what, rival) in rivals {
            let (store, location) = table(20, false, properties);
            overtaken(&store, &location, 1, rival);
            let done = delete(&location, Some("k < 7")).unwrap();
            let left = keys(&location);
            assert!(left.iter().all(|k| *k >= 7), "{what}: {left:?}");
            let expected = match what {
                "moved rows" => 6,
                "the same rows" => 2,
                "new columns" => 7,
                _ => 0,
            };
            assert_eq!(done.deleted_rows, Some(expected), "{what} {properties:?}");
            assert_eq!(orphans(&location), Vec::<String>::new(), "{what} {properties:?}");
        }
    }
}

#[test]
fn an_append_is_no_obstacle_and_its_rows_stay() {
    for properties in [&[][..], &[VECTORS][..]] {
        let (store, location) = table(20, false, properties);
        overtaken(&store, &location, 1, |copy| append(copy, &[row(3, None, None)], false, &[]));
        let done = update(&location, &[("k", "k + 100")], Some("k = 3")).unwrap();
        assert_eq!((done.version, done.updated_rows), (Some(2), 1));
        assert_eq!(keys(&location).iter().filter(|k| **k == 3).count(), 1);
    }
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    for properties in [&[][..], &[VECTORS][..]] {
        let (_, location) = table(60, true, properties);
        std::thread::scope(|scope| {
            for writer in 0..3 {
                let location = &location;
                scope.spawn(move || {
                    for step in 0..3 {
                        let k = writer * 20 + step;
                        delete(location, Some(&format!("k = {k}"))).unwrap();
                        let condition = format!("k = {}", k + 10);
                        update(location, &[("k", "k + 1000")], Some(&condition)).unwrap();
                    }
                });
            }
        });
        let gone: BTreeSet<i64> = (0..3).flat_map(|w| (0..3).map(move |s| w * 20 + s)).collect();
        let mut expected: Vec<i64> = (0..60).filter(|k| !gone.contains(k)).collect();
        expected.iter_mut().filter(|k| gone.contains(&(**k - 10))).for_each(|k| *k += 1000);
        expected.sort_unstable();
        assert_eq!(keys(&location), expected, "{properties:?}");
        assert_eq!(orphans(&location), Vec::<String>::new());
    }
}

#[test]
fn a_budget_that_is_used_up_gives_the_conflict() {
    let (store, location) = table(20, false, &[]);
    overtaken(&store, &location, 1, |copy| {
        delete(copy, Some("k < 5")).unwrap();
    });
    let options = DmlOptions { commit_budget: std::time::Duration::ZERO, ..Default::default() };
    let error = deltaic_core::operations::delete(&location, Some("k < 7"), &options).unwrap_err();
    assert!(error.conflict().is_some(), "{error}");
    assert_eq!(keys(&location).len(), 15);
    assert_eq!(orphans(&location), Vec::<String>::new());
}
