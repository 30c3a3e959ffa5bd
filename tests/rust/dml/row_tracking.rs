//! Rows keep their ids wherever they go.

use super::*;
use deltaic::scan::DeletionVector;

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
