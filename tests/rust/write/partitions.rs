//! Partition values of every kind find their way into folders, log and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::Int64Type;
use proptest::prelude::*;

use super::*;

/// The rows of each partition, by the value in the log.
fn by_value(location: &Location) -> BTreeMap<Option<String>, Vec<i64>> {
    let mut rows: BTreeMap<_, Vec<i64>> = BTreeMap::new();
    for add in adds(location) {
        let data = read_file(location, &add);
        assert!(data.column_by_name("p").is_some(), "partition columns are in the files, too");
        let ids = data.column_by_name("id").unwrap().as_primitive::<Int64Type>().values().to_vec();
        rows.entry(add.partition_values["p"].clone()).or_default().extend(ids);
    }
    rows.values_mut().for_each(|ids| ids.sort_unstable());
    rows
}

fn round_trip(location: &Location, values: &[Option<String>]) {
    let data = batch([
        ("id", Arc::new(Int64Array::from_iter_values(0..values.len() as i64)) as ArrayRef),
        ("p", Arc::new(StringArray::from(values.to_vec()))),
    ]);
    write(location, &data, &partitioned(&["p"])).unwrap();
    let mut expected: BTreeMap<Option<String>, Vec<i64>> = BTreeMap::new();
    for (id, value) in values.iter().enumerate() {
        expected.entry(value.clone().filter(|v| !v.is_empty())).or_default().push(id as i64);
    }
    assert_eq!(by_value(location), expected);
}

#[test]
fn every_printable_character_is_a_partition_value() {
    let mut values: Vec<Option<String>> = (0x20u8..0x7f).map(|c| Some(char::from(c).to_string())).collect();
    values.extend((0x20u8..0x7f).map(|c| Some(format!("a{}b", char::from(c)))));
    for special in [
        "", "a b", "100%", "%2F", "%", "a/b", "..", ".", "x\ny", "\t", "ü", "日本", "😀", "__HIVE", "a=b",
        " ",
    ] {
        values.push(Some(special.to_owned()));
    }
    values.push(None);
    // in memory, and where file names have rules of their own
    round_trip(&place().1, &values);
    let dir = tempfile::tempdir().unwrap();
    round_trip(&Location::open(dir.path().to_str().unwrap(), &Default::default()).unwrap(), &values);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_a_partition_value(values in prop::collection::vec(prop::option::of("\\PC{0,8}|[ -~\\n\\r\\t%/]{0,8}"), 1..6)) {
        round_trip(&place().1, &values);
    }
}

#[test]
fn each_type_has_its_text_and_its_folder() {
    let day = 86_400_000_000i64;
    let cases: Vec<(ArrayRef, &str, &str)> = vec![
        (Arc::new(Date32Array::from(vec![19_723])), "2024-01-01", "p=2024-01-01"),
        (
            Arc::new(TimestampMicrosecondArray::from(vec![19_723 * day + 1_500_000]).with_timezone("UTC")),
            "2024-01-01T00:00:01.500000Z",
            "p=2024-01-01%2000%253A00%253A01.5",
        ),
        (
            Arc::new(TimestampMicrosecondArray::from(vec![19_723 * day])),
            "2024-01-01 00:00:00",
            "p=2024-01-01%2000%253A00%253A00",
        ),
        (Arc::new(BooleanArray::from(vec![true])), "true", "p=true"),
        (Arc::new(Float64Array::from(vec![1e10])), "1.0E10", "p=1.0E10"),
        (
            Arc::new(Decimal128Array::from(vec![150]).with_precision_and_scale(5, 2).unwrap()),
            "1.50",
            "p=1.50",
        ),
    ];
    for (values, text, folder) in cases {
        let (_, location) = place();
        let data = batch([("id", Arc::new(Int64Array::from(vec![1])) as ArrayRef), ("p", values)]);
        write(&location, &data, &partitioned(&["p"])).unwrap();
        let add = &adds(&location)[0];
        assert_eq!(add.partition_values["p"].as_deref(), Some(text));
        assert_eq!(add.path.as_str().split_once('/').unwrap().0, folder);
        assert_eq!(ids(&location), [1]);
    }
}

#[test]
fn more_partitions_than_open_files_lose_no_row() {
    let (_, location) = place();
    let ids = Int64Array::from_iter_values(0..2_000);
    let values = Int64Array::from_iter_values((0..2_000).map(|i| i % 150));
    let data = batch([("id", Arc::new(ids) as ArrayRef), ("p", Arc::new(values))]);
    let result = write(&location, &data, &partitioned(&["p"])).unwrap();
    assert_eq!((result.rows, result.files), (2_000, 150));
    let rows = by_value(&location);
    assert!(rows.iter().all(|(p, ids)| ids.iter().all(|id| (id % 150).to_string() == *p.as_ref().unwrap())));
    assert_eq!(rows.values().map(Vec::len).sum::<usize>(), 2_000);
}

#[test]
fn partitions_that_come_in_turns_have_few_files() {
    type Partition = fn(i64) -> i64;
    let rows_of = |ids: std::ops::Range<i64>, p: Partition| {
        let values = Int64Array::from_iter_values(ids.clone().map(p));
        let ids = Int64Array::from_iter_values(ids);
        Ok(batch([("id", Arc::new(ids) as ArrayRef), ("p", Arc::new(values))]))
    };
    // all in each batch; few in each batch, and all again and again; one after the other
    let turns: [(i64, Partition, u64); 3] =
        [(300, |i| i % 150, 150), (10, |i| i % 150, 150 + 150), (10, |i| i / 20, 150)];
    for (length, p, most) in turns {
        let (_, location) = place();
        let batches = (0..3_000 / length).map(|n| rows_of(n * length..(n + 1) * length, p)).collect();
        let result =
            deltaic_core::operations::write(&location, reader(batches), &partitioned(&["p"])).unwrap();
        assert_eq!(result.rows, 3_000);
        assert!(result.files <= most, "{} files of batches of {length}", result.files);
        let rows = by_value(&location);
        assert_eq!(rows.len(), 150);
        assert!(
            rows.iter().all(|(key, ids)| ids.len() == 20
                && ids.iter().all(|id| p(*id).to_string() == *key.as_ref().unwrap()))
        );
    }
}

#[test]
fn rows_of_many_small_batches_keep_their_order_in_a_partition() {
    let (_, location) = place();
    let small = |start: i64| {
        let ids = Int64Array::from_iter_values(start..start + 500);
        let values = Int64Array::from_iter_values((start..start + 500).map(|i| i % 3));
        Ok(batch([("id", Arc::new(ids) as ArrayRef), ("p", Arc::new(values))]))
    };
    // more rows than wait for a file, so that some are encoded on the way and some at the end
    let batches = (0..120).map(|n| small(n * 500)).collect();
    let result = deltaic_core::operations::write(&location, reader(batches), &partitioned(&["p"])).unwrap();
    assert_eq!((result.rows, result.files), (60_000, 3));
    for add in adds(&location) {
        let p: i64 = add.partition_values["p"].as_deref().unwrap().parse().unwrap();
        let rows = read_file(&location, &add);
        let expected: Vec<i64> = (0..60_000).filter(|i| i % 3 == p).collect();
        assert_eq!(rows.column(0).as_primitive::<Int64Type>().values().to_vec(), expected);
        let stats: serde_json::Value = serde_json::from_str(add.stats.as_deref().unwrap()).unwrap();
        let range = serde_json::json!([20_000, p, 59_997 + p]);
        assert_eq!(
            serde_json::json!([stats["numRecords"], stats["minValues"]["id"], stats["maxValues"]["id"]]),
            range
        );
    }
}
