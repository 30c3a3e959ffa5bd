//! The rules together, from SQL-like facts to kept files. Named after the findings that they answer.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Date32Array, Int64Array, MapArray, MapBuilder, StringArray, StringBuilder,
    StringViewArray, StructArray,
};
use arrow::datatypes::{DataType as Arrow, Field, Fields};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use serde_json::json;

use super::Pruner;
use crate::predicate::{CompareOp, Literal, Predicate};
use crate::schema::{ColumnMappingMode, DataType, StructField, StructType};

pub(super) fn path(name: &str) -> Vec<String> {
    name.split('.').map(str::to_owned).collect()
}

pub(super) fn compare(column: &str, op: CompareOp, value: Literal) -> Predicate {
    Predicate::Compare { op, column: path(column), value }
}

fn text(value: &str) -> Literal {
    Literal::String(value.into())
}

fn not(predicate: Predicate) -> Predicate {
    Predicate::Not(Box::new(predicate))
}

fn schema(columns: &[(&str, DataType)]) -> StructType {
    StructType { fields: columns.iter().map(|(n, t)| StructField::new(*n, t.clone(), true)).collect() }
}

pub(super) fn partition_map(name: &str, rows: &[Option<&str>]) -> MapArray {
    let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for row in rows {
        map.keys().append_value("other");
        map.values().append_value("1");
        map.keys().append_value(name);
        map.values().append_option(*row);
        map.append(true).unwrap();
    }
    map.finish()
}

fn shown(kept: &BooleanBuffer) -> String {
    kept.iter().map(|k| if k { '+' } else { '-' }).collect()
}

/// Which files with these statistics are kept, one character a file.
fn by_stats(data_type: DataType, predicate: &Predicate, stats: &[impl AsRef<str>]) -> String {
    let pruner = Pruner::bind(predicate, &schema(&[("x", data_type)]), &[], ColumnMappingMode::None).unwrap();
    let values = partition_map("p", &vec![None; stats.len()]);
    let stats = StringViewArray::from_iter_values(stats.iter().map(AsRef::as_ref));
    shown(&pruner.by_stats_json(&stats, &values, &BooleanBuffer::new_set(stats.len())))
}

/// Which files with these partition values are kept.
fn by_value(data_type: DataType, predicate: &Predicate, values: &[Option<&str>]) -> String {
    let schema = schema(&[("x", DataType::Long), ("p", data_type)]);
    let pruner = Pruner::bind(predicate, &schema, &["p".into()], ColumnMappingMode::None).unwrap();
    let map = partition_map("p", values);
    let kept = pruner.by_partition_values(&map);
    if pruner.uses_stats() {
        let all = BooleanBuffer::new_set(values.len());
        let stats = StringViewArray::new_null(values.len());
        assert_eq!(pruner.by_stats_json(&stats, &map, &all), kept);
    }
    shown(&kept)
}

fn stats(min: serde_json::Value, max: serde_json::Value) -> String {
    json!({"numRecords": 3, "minValues": {"x": min}, "maxValues": {"x": max}, "nullCount": {"x": 0}})
        .to_string()
}

#[test]
fn t27_timestamps_around_a_millisecond() {
    let at = |micros| Literal::Timestamp(1_700_000_000_000_000 + micros);
    // the file holds .000000 to .123456; the first writer cuts to milliseconds, the second does not
    let cut = stats(json!("2023-11-14T22:13:20.000Z"), json!("2023-11-14T22:13:20.123Z"));
    let whole = stats(json!("2023-11-14T22:13:20.000000Z"), json!("2023-11-14T22:13:20.123456Z"));
    let zoned = stats(json!("2023-11-14T23:13:20.000+01:00"), json!("2023-11-14T14:43:20.123-07:30"));
    let files = [cut, whole, zoned];
    for (op, micros, expected) in [
        (CompareOp::Eq, 123_456, "+++"),
        (CompareOp::Ge, 123_456, "+++"),
        (CompareOp::Gt, 123_456, "+-+"),
        (CompareOp::Ge, 123_999, "+-+"),
        (CompareOp::Gt, 123_999, "---"),
        (CompareOp::Lt, 0, "+++"),
        (CompareOp::Le, -999, "+++"),
        (CompareOp::Lt, -999, "---"),
    ] {
        for data_type in [DataType::Timestamp, DataType::TimestampNtz] {
            // a wall-clock column with an offset has no bounds
            let expected = if data_type == DataType::Timestamp {
                expected.into()
            } else {
                format!("{}+", &expected[..2])
            };
            let kept = by_stats(data_type, &compare("x", op, at(micros)), &files);
            assert_eq!(kept, expected, "x {op} {micros}");
        }
    }
    // before 1970 cutting towards zero moves a minimum up, and an old offset had seconds that are not printed
    let old = stats(json!("1969-12-31T23:59:59.999Z"), json!("1969-12-31T23:59:59.999Z"));
    let lt = |micros| compare("x", CompareOp::Lt, Literal::Timestamp(micros));
    assert_eq!(by_stats(DataType::Timestamp, &lt(-1_001), &[&old]), "+");
    assert_eq!(by_stats(DataType::Timestamp, &lt(-61_000_000), &[&old]), "-");
    // without a zone the instant may be anywhere within a day
    let bare = stats(json!("2023-11-14 22:13:20"), json!("2023-11-14 22:13:20"));
    let gt = |hours: i64| compare("x", CompareOp::Gt, at(hours * 3_600_000_000));
    assert_eq!(by_stats(DataType::Timestamp, &gt(15), &[&bare]), "+");
    assert_eq!(by_stats(DataType::Timestamp, &gt(17), &[&bare]), "-");
}

#[test]
fn t28_partition_predicates_of_every_form() {
    use CompareOp::{Eq, Lt, Ne, NullSafeEq};
    let is_in = |values: Vec<Literal>| Predicate::In { column: path("p"), values };
    let is_null = Predicate::IsNull { column: path("p") };
    let files = [Some("1"), Some("2"), Some(""), None, Some("one")];
    for (predicate, expected) in [
        (compare("p", Eq, Literal::Long(1)), "+---+"),
        (compare("P", Ne, Literal::Long(1)), "-+--+"),
        (not(compare("p", Eq, Literal::Long(1))), "-+--+"),
        (compare("p", NullSafeEq, Literal::Null), "--+++"),
        (not(compare("p", NullSafeEq, Literal::Long(1))), "-++++"),
        (compare("p", Eq, Literal::Null), "-----"),
        (is_null.clone(), "--+++"),
        (not(is_null.clone()), "++--+"),
        (is_in(vec![Literal::Long(1), Literal::Null]), "+---+"),
        (not(is_in(vec![Literal::Long(1)])), "-+--+"),
        (not(is_in(vec![Literal::Long(1), Literal::Null])), "-----"),
        (compare("p", Lt, Literal::Double(1.5)), "+---+"),
        (
            Predicate::And(vec![compare("p", Eq, Literal::Long(1)), compare("x", Eq, Literal::Long(9))]),
            "+---+",
        ),
        (Predicate::Or(vec![compare("p", Eq, Literal::Long(1)), is_null]), "+-+++"),
        (
            Predicate::Or(vec![compare("p", Eq, Literal::Long(1)), compare("x", Eq, Literal::Long(9))]),
            "+++++",
        ),
        (Predicate::Or(vec![compare("p", Eq, Literal::Long(1)), Predicate::Unknown("f(p)".into())]), "+++++"),
        (Predicate::Constant(Some(false)), "-----"),
    ] {
        assert_eq!(by_value(DataType::Integer, &predicate, &files), expected, "{predicate}");
    }
    let dates = [Some("2024-01-01"), Some("2024-01-02"), None];
    assert_eq!(by_value(DataType::Date, &compare("p", Eq, text("2024-01-02")), &dates), "-+-");
    let times =
        [Some("2024-01-01 00:00:00"), Some("2024-01-01T00:00:00.000000Z"), Some("2024-01-02T00:00:00Z")];
    let day = compare("p", Eq, text("2024-01-01"));
    assert_eq!(by_value(DataType::Timestamp, &day, &times), "++-");
    assert_eq!(by_value(DataType::TimestampNtz, &day, &times), "++-");
    let words = [Some("ab"), Some("b"), Some(" "), Some("")];
    let prefix = Predicate::StartsWith { column: path("p"), prefix: "a".into() };
    assert_eq!(by_value(DataType::String, &prefix, &words), "+---");
    assert_eq!(by_value(DataType::String, &compare("p", Eq, text("")), &words), "----");
    let floats = [Some("NaN"), Some("-0.0"), Some("Infinity"), Some("0.1")];
    assert_eq!(by_value(DataType::Double, &compare("p", Eq, Literal::Long(0)), &floats), "-+--");
    assert_eq!(by_value(DataType::Float, &compare("p", Eq, Literal::Double(f64::NAN)), &floats), "+---");
    assert_eq!(by_value(DataType::Float, &compare("p", Eq, Literal::Double(0.1f32.into())), &floats), "---+");
}

#[test]
fn t28_partition_values_parsed() {
    let parsed = |array: ArrayRef, valid: Vec<bool>| {
        let fields = Fields::from(vec![Field::new("p", array.data_type().clone(), true)]);
        StructArray::new(fields, vec![array], Some(NullBuffer::from(valid)))
    };
    let kept = |data_type, predicate: &Predicate, array: &StructArray| {
        let pruner =
            Pruner::bind(predicate, &schema(&[("p", data_type)]), &["p".into()], ColumnMappingMode::None)
                .unwrap();
        shown(&pruner.by_partition_struct(array))
    };
    let dates = parsed(
        Arc::new(Date32Array::from(vec![Some(0), Some(1), None, Some(0)])),
        vec![true, true, true, false],
    );
    let predicate = compare("p", CompareOp::Eq, text("1970-01-02"));
    assert_eq!(kept(DataType::Date, &predicate, &dates), "-+++");
    let words = parsed(Arc::new(StringArray::from(vec!["a", "b", ""])), vec![true; 3]);
    assert_eq!(kept(DataType::String, &compare("p", CompareOp::Gt, text("a")), &words), "-+-");
    assert_eq!(kept(DataType::String, &Predicate::IsNull { column: path("p") }, &words), "--+");
    // an array of the wrong type is unknown
    assert_eq!(kept(DataType::Date, &predicate, &words), "+++");
}

#[test]
fn t29_statistics_that_are_absent_torn_or_inexact() {
    use CompareOp::{Eq, Le, Lt, Ne, NullSafeEq};
    let long = |op, value| compare("x", op, Literal::Long(value));
    let is_null = Predicate::IsNull { column: path("x") };
    let files = [
        r#"{"numRecords":3,"minValues":{"x":1},"maxValues":{"x":3},"nullCount":{"x":0}}"#,
        r#"{"numRecords":3,"minValues":{"x":1},"maxValues":{"x":3}}"#,
        r#"{"numRecords":3,"nullCount":{"x":3}}"#,
        r#"{"numRecords":3,"minValues":{"x":1},"maxValues":{"x":3},"nullCount":{"x":1},"tightBounds":false}"#,
        r#"{"numRecords":3,"minValues":{"x":1},"maxValues":{"x":3},"nullCount":{"x":0}"#,
        r#"{"numRecords":3,"minValues":{"x":null},"maxValues":{},"nullCount":null}"#,
        r#"{"numRecords":3,"minValues":{"x":"1"},"maxValues":{"x":[3]},"nullCount":{"x":{}}}"#,
        r#"{"numRecords":3,"minValues":{"x":3},"maxValues":{"x":1},"nullCount":{"x":0}}"#,
        "",
        "[]",
        r#"{"nullCount":{"x":3}}"#,
    ];
    let both = Predicate::And(vec![is_null.clone(), long(Eq, 2)]);
    for (predicate, expected) in [
        (long(Eq, 5), "----+++++++"),
        (long(Ne, 5), "++-++++++++"),
        (long(Lt, 1), "----+++++++"),
        (long(Le, 1), "++-++++++++"),
        (is_null.clone(), "-++++++-+++"),
        (compare("x", NullSafeEq, Literal::Null), "-++++++-+++"),
        (not(is_null), "++-++++++++"),
        (Predicate::IsNotNull { column: path("x") }, "++-++++++++"),
        (not(compare("x", NullSafeEq, Literal::Long(5))), "+++++++++++"),
        (both, "-----------"),
    ] {
        assert_eq!(by_stats(DataType::Long, &predicate, &files), expected, "{predicate}");
    }
    // null statistics are unknown, whatever the slot holds
    let pruner =
        Pruner::bind(&long(Eq, 5), &schema(&[("x", DataType::Long)]), &[], ColumnMappingMode::None).unwrap();
    let kept = pruner.by_stats_json(
        &StringViewArray::from(vec![None, Some(files[0]), Some(files[0])]),
        &partition_map("p", &[None; 3]),
        &BooleanBuffer::from(vec![true, true, false]),
    );
    assert_eq!(shown(&kept), "+--");
}

#[test]
fn t29_floats() {
    use CompareOp::{Eq, Ge, Gt, Le, Lt};
    let double = |op, value: f64| compare("x", op, Literal::Double(value));
    let files = [
        stats(json!(1.0), json!(3.0)),
        stats(json!("NaN"), json!("NaN")),
        stats(json!(-0.0), json!(-0.0)),
        stats(json!("-Infinity"), json!("Infinity")),
    ];
    for (predicate, expected) in [
        (double(Eq, 5.0), "-+-+"),
        (double(Lt, 1.0), "-+++"),
        (double(Lt, 0.0), "-+-+"),
        (double(Eq, 0.0), "-+++"),
        // a NaN that the maximum leaves out is above everything
        (double(Gt, 5.0), "++++"),
        (double(Eq, f64::NAN), "++++"),
        (Predicate::And(vec![double(Ge, 5.0), double(Le, 9.0)]), "-+-+"),
        (not(double(Lt, 5.0)), "++++"),
    ] {
        assert_eq!(by_stats(DataType::Double, &predicate, &files), expected, "{predicate}");
    }
    // the nearest float to 0.1 is above it
    let tenth = stats(json!(0.1), json!(0.1));
    let float = f64::from(0.1f32);
    assert_eq!(by_stats(DataType::Float, &double(Eq, float), &[&tenth]), "+");
    assert_eq!(by_stats(DataType::Float, &double(Eq, 0.1), &[&tenth]), "-");
    let mut widened = schema(&[("x", DataType::Double)]);
    let changes = json!([{"fromType": "float", "toType": "double"}]);
    widened.fields[0].metadata.insert("delta.typeChanges".into(), changes);
    let pruner = Pruner::bind(&double(Eq, float), &widened, &[], ColumnMappingMode::None).unwrap();
    let array = StringViewArray::from_iter_values([&tenth]);
    let all = BooleanBuffer::new_set(1);
    assert_eq!(shown(&pruner.by_stats_json(&array, &partition_map("p", &[None]), &all)), "+");
}

#[test]
fn t29_strings_that_were_cut() {
    use CompareOp::{Eq, Ge, Gt};
    let a32 = "a".repeat(32);
    let e16 = "é".repeat(16);
    let files = [
        stats(json!("a"), json!(a32)),
        stats(json!("a"), json!(a32.clone() + "\u{7f}")),
        stats(json!("a"), json!(a32.clone() + "\u{fffd}")),
        stats(json!("a"), json!(e16)),
        stats(json!("a"), json!("a\"b")),
    ];
    let string = |op, value: &str| by_stats(DataType::String, &compare("x", op, text(value)), &files);
    assert_eq!(string(Eq, &format!("{a32}zz")), "++++-");
    assert_eq!(string(Gt, &format!("{a32}\u{10ffff}\u{10ffff}")), "++++-");
    assert_eq!(string(Eq, &format!("{e16}\u{1f600}")), "---+-");
    assert_eq!(string(Ge, "b"), "---+-");
    assert_eq!(string(Gt, "a\"b"), "++++-");
    assert_eq!(string(Ge, "a\"b"), "+++++");
    let prefix = Predicate::StartsWith { column: path("x"), prefix: a32 + "x" };
    assert_eq!(by_stats(DataType::String, &prefix, &files), "++++-");
}

#[test]
fn t29_other_types() {
    use CompareOp::{Eq, Gt};
    let decimal = |value: &str| compare("x", Eq, Literal::Decimal(value.into()));
    let file = |min: &str, max: &str| {
        format!(
            r#"{{"numRecords":3,"minValues":{{"x":{min}}},"maxValues":{{"x":{max}}},"nullCount":{{"x":0}}}}"#
        )
    };
    let twelve = file("12.50", "12.50");
    let rounded = file("1.2345678901234567e19", "1.2345678901234567e19");
    let whole = file("12345678901234567890.12", "12345678901234567890.12");
    let by = |value: &str| by_stats(DataType::Decimal(38, 2), &decimal(value), &[&twelve, &rounded, &whole]);
    assert_eq!(by("12.5"), "+--");
    assert_eq!(by("12.51"), "---");
    assert_eq!(by("12345678901234567890.12"), "-++");
    assert_eq!(by("12345678901234567890.13"), "-+-");
    let days = stats(json!("2024-01-01"), json!("2024-01-31"));
    assert_eq!(by_stats(DataType::Date, &compare("x", Gt, text("2024-01-31")), &[&days]), "-");
    assert_eq!(by_stats(DataType::Date, &compare("x", Gt, text("2024-01-30")), &[&days]), "+");
    // no bounds, but null counts
    let truth = stats(json!(true), json!(true));
    assert_eq!(by_stats(DataType::Boolean, &compare("x", Eq, Literal::Boolean(false)), &[&truth]), "+");
    assert_eq!(by_stats(DataType::Boolean, &Predicate::IsNull { column: path("x") }, &[&truth]), "-");
    assert_eq!(by_stats(DataType::Variant, &Predicate::IsNull { column: path("x") }, &[&truth]), "-");
    assert_eq!(by_stats(DataType::Variant, &Predicate::IsNotNull { column: path("x") }, &[&truth]), "+");
    let bytes = stats(json!("b"), json!("b"));
    assert_eq!(by_stats(DataType::Binary, &compare("x", Eq, Literal::Binary(vec![1])), &[&bytes]), "+");
    let array = DataType::Array(Box::new(crate::schema::ArrayType {
        element_type: DataType::Long,
        contains_null: true,
    }));
    assert_eq!(by_stats(array.clone(), &Predicate::IsNull { column: path("x") }, &[&truth]), "+");
    assert_eq!(by_stats(array, &compare("x.element", Eq, Literal::Long(1)), &[&truth]), "+");
}

#[test]
fn fields_of_the_same_name_in_two_structs_have_their_own_bounds() {
    let structure = |fields: Vec<(&str, DataType)>| {
        let fields = fields.into_iter().map(|(name, kind)| StructField::new(name, kind, true)).collect();
        DataType::Struct(Box::new(StructType { fields }))
    };
    let inner = || structure(vec![("a", DataType::Long)]);
    let kind = || structure(vec![("s", inner()), ("t", inner())]);
    let bounds = json!({"x": {"s": {"a": 1}, "t": {"a": 2}}});
    let nulls = json!({"x": {"s": {"a": 0}, "t": {"a": 0}}});
    let file =
        json!({"numRecords": 3, "minValues": bounds, "maxValues": bounds, "nullCount": nulls}).to_string();
    let is = |column: &str, value| compare(column, CompareOp::Eq, Literal::Long(value));
    let kept = |s: i64, t: i64| {
        by_stats(kind(), &Predicate::And(vec![is("x.s.a", s), is("x.t.a", t)]), std::slice::from_ref(&file))
    };
    assert_eq!(
        (kept(1, 2), kept(2, 1), kept(1, 1), kept(2, 2)),
        ("+".into(), "-".into(), "-".into(), "-".into())
    );
}

/// A struct `S` (physical `c1`) with a field `X` (physical `c2`).
fn mapped_schema() -> StructType {
    let physical = |mut field: StructField, name: &str| {
        field.metadata.insert(crate::schema::PHYSICAL_NAME.into(), json!(name));
        field
    };
    let x = physical(StructField::new("X", DataType::Long, true), "c2");
    let s = DataType::Struct(Box::new(StructType { fields: vec![x] }));
    StructType { fields: vec![physical(StructField::new("S", s, true), "c1")] }
}

#[test]
fn nested_columns_are_found_by_their_physical_names() {
    let predicate = compare("s.x", CompareOp::Gt, Literal::Long(5));
    let pruner = Pruner::bind(&predicate, &mapped_schema(), &[], ColumnMappingMode::Name).unwrap();
    assert_eq!(pruner.stats_leaves()[0].physical, ["c1", "c2"]);
    assert_eq!(pruner.stats_leaves()[0].logical, ["S", "X"]);
    let mapped = r#"{"numRecords":1,"minValues":{"c0":[{"c1":9}],"c1":{"c2":1}},"maxValues":{"c1":{"c3":{"c2":9},"c2":5}}}"#;
    let unmapped = r#"{"numRecords":1,"minValues":{"S":{"X":1}},"maxValues":{"S":{"X":5}}}"#;
    let json = StringViewArray::from_iter_values([mapped, unmapped]);
    let (values, all) = (partition_map("p", &[None; 2]), BooleanBuffer::new_set(2));
    assert_eq!(shown(&pruner.by_stats_json(&json, &values, &all)), "-+");

    let leaf = |values: Vec<Option<i64>>, valid: Vec<bool>| -> ArrayRef {
        let inner = Fields::from(vec![Field::new("c2", Arrow::Int64, true)]);
        let inner = StructArray::new(inner, vec![Arc::new(Int64Array::from(values))], Some(valid.into()));
        let outer = Fields::from(vec![Field::new("c1", inner.data_type().clone(), true)]);
        Arc::new(StructArray::new(outer, vec![Arc::new(inner)], None))
    };
    let max = leaf(vec![Some(5), Some(6), None, Some(5)], vec![true, true, true, false]);
    let nulls = leaf(vec![Some(0); 4], vec![true; 4]);
    let parsed = StructArray::from(vec![
        (
            Arc::new(Field::new("numRecords", Arrow::Int64, true)),
            Arc::new(Int64Array::from(vec![3; 4])) as ArrayRef,
        ),
        (Arc::new(Field::new("maxValues", max.data_type().clone(), true)), max),
        (Arc::new(Field::new("nullCount", nulls.data_type().clone(), true)), nulls),
    ]);
    let (values, all) = (partition_map("p", &[None; 4]), BooleanBuffer::new_set(4));
    assert_eq!(shown(&pruner.by_stats_struct(&parsed, &values, &all)), "-+++");
}

#[test]
fn an_unknown_column_is_an_error_that_lists_the_columns() {
    let bind = |name: &str| {
        let predicate = compare(name, CompareOp::Eq, Literal::Long(1));
        Pruner::bind(&predicate, &mapped_schema(), &[], ColumnMappingMode::Name).unwrap_err().to_string()
    };
    assert_eq!(bind("c1"), "predicate `c1 = 1`: there is no column `c1`; the columns are: S");
    assert_eq!(bind("s.y"), "predicate `s.y = 1`: there is no column `s.y`; the columns are: S.X");
}

#[test]
fn a_pruner_knows_what_it_needs() {
    let schema = schema(&[("p", DataType::Long), ("x", DataType::Long), ("b", DataType::Boolean)]);
    let flags = |predicate: Predicate| {
        let pruner = Pruner::bind(&predicate, &schema, &["p".into()], ColumnMappingMode::None).unwrap();
        let names =
            |columns: &[super::BoundColumn]| columns.iter().map(|c| c.logical.join(".")).collect::<Vec<_>>();
        let (partitions, leaves) = (names(pruner.partition_columns()), names(pruner.stats_leaves()));
        (pruner.uses_partitions(), pruner.uses_stats(), partitions.join(","), leaves.join(","))
    };
    let eq = |name: &str| compare(name, CompareOp::Eq, Literal::Long(1));
    assert_eq!(flags(eq("p")), (true, false, "p".into(), "".into()));
    assert_eq!(flags(eq("x")), (false, true, "".into(), "x".into()));
    assert_eq!(flags(Predicate::And(vec![eq("x"), eq("p")])), (true, true, "p".into(), "x".into()));
    assert_eq!(flags(Predicate::Or(vec![eq("x"), eq("p")])), (false, true, "p".into(), "x".into()));
    assert_eq!(flags(Predicate::Unknown("f(x)".into())), (false, false, "".into(), "".into()));
}
