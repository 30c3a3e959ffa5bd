//! Every expression of `tests/expressions/expressions.txt` gives what Spark gives with ANSI on and off, and an error where
//! the two differ. `tests/expressions/make.py` asked Spark.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int32Builder, Int64Array, ListArray, MapBuilder, RecordBatch,
    StringArray, StringBuilder, StructArray, TimestampMicrosecondArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as Arrow, Field, Int32Type};
use serde_json::Value;

use super::Evaluator;
use super::cast::cast_to;
use crate::schema::{ArrayType, DataType, MapType, StructField, StructType};

fn schema() -> StructType {
    use DataType as T;
    let field = |name: &str, t| StructField::new(name, t, true);
    let st = StructType { fields: vec![field("x", T::Integer), field("Y", T::String)] };
    let arr = ArrayType { element_type: T::Integer, contains_null: true };
    let mp = MapType { key_type: T::String, value_type: T::Integer, value_contains_null: true };
    StructType {
        fields: vec![
            field("row", T::Integer),
            field("y", T::Byte),
            field("sh", T::Short),
            field("i", T::Integer),
            field("l", T::Long),
            field("f", T::Float),
            field("d", T::Double),
            field("m2", T::Decimal(10, 2)),
            field("m6", T::Decimal(20, 6)),
            field("s", T::String),
            field("bs", T::String),
            field("dt", T::Date),
            field("ts", T::Timestamp),
            field("ntz", T::TimestampNtz),
            field("b", T::Boolean),
            field("bin", T::Binary),
            field("arr", T::Array(Box::new(arr))),
            field("st", T::Struct(Box::new(st))),
            field("mp", T::Map(Box::new(mp))),
            field("t", T::String),
            field("n", T::String),
        ],
    }
}

fn decimals(values: [Option<i128>; 6], precision: u8, scale: i8) -> ArrayRef {
    let array: Decimal128Array = values.into_iter().collect();
    Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
}

fn strings(values: [Option<&str>; 6]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn micros(values: [Option<&str>; 6]) -> TimestampMicrosecondArray {
    let of = |text: &str| super::time_text::parse_timestamp(text).unwrap().unwrap().wall;
    values.into_iter().map(|v| v.map(of)).collect()
}

/// The rows of `make.py`.
fn rows() -> RecordBatch {
    let days = |text: &str| super::time_text::parse_date(text).unwrap();
    let dates = [
        Some("2024-02-29"),
        Some("1969-12-31"),
        Some("0001-01-01"),
        None,
        Some("2000-12-31"),
        Some("2023-01-01"),
    ];
    let lists: [Option<Vec<Option<i32>>>; 6] = [
        Some(vec![Some(1), Some(2), Some(3)]),
        Some(vec![]),
        Some(vec![None, Some(5)]),
        None,
        Some(vec![Some(0)]),
        Some(vec![Some(-1), Some(-1)]),
    ];
    let structs = StructArray::new(
        vec![Field::new("x", Arrow::Int32, true), Field::new("Y", Arrow::Utf8, true)].into(),
        vec![
            Arc::new(Int32Array::from(vec![Some(7), None, Some(99), Some(99), Some(0), Some(-5)])),
            strings([Some("in"), Some(""), Some("hidden"), Some("hidden"), None, Some("z")]),
        ],
        Some(NullBuffer::from(vec![true, true, false, false, true, true])),
    );
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for entries in [
        Some(vec![("k", Some(1)), ("n", None)]),
        Some(vec![]),
        Some(vec![("", Some(0))]),
        None,
        Some(vec![("k", Some(5))]),
        Some(vec![("k", Some(-1))]),
    ] {
        for (key, value) in entries.iter().flatten() {
            maps.keys().append_value(key);
            maps.values().append_option(*value);
        }
        maps.append(entries.is_some()).unwrap();
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5, 6])),
        Arc::new(Int8Array::from(vec![Some(1), Some(-128), Some(127), None, Some(0), Some(-1)])),
        Arc::new(Int16Array::from(vec![Some(2), Some(-32768), Some(32767), None, Some(0), Some(-2)])),
        Arc::new(Int32Array::from(vec![Some(3), Some(i32::MIN), Some(i32::MAX), None, Some(0), Some(-3)])),
        Arc::new(Int64Array::from(vec![Some(4), Some(i64::MIN), Some(i64::MAX), None, Some(0), Some(-4)])),
        Arc::new(Float32Array::from(vec![
            Some(0.5),
            Some(-0.0),
            Some(f32::INFINITY),
            None,
            Some(0.0),
            Some(1e10),
        ])),
        Arc::new(Float64Array::from(vec![
            Some(1.5),
            Some(f64::NAN),
            Some(f64::NEG_INFINITY),
            None,
            Some(0.0),
            Some(1_234_567.891),
        ])),
        decimals([Some(1234), Some(-9_999_999_999), Some(0), None, Some(5), Some(250)], 10, 2),
        decimals([Some(100), Some(-1_000_005), Some(0), None, Some(123_456_654_321), Some(-500_000)], 20, 6),
        strings([Some("abc"), Some("Ünï cödé"), Some(""), None, Some("  a%b_c\\d  "), Some("a-b-c")]),
        strings([Some("true"), Some("F"), Some("x"), None, Some("yes"), Some("NO")]),
        Arc::new(dates.into_iter().map(|d| d.map(days)).collect::<Date32Array>()),
        Arc::new(
            micros([
                Some("2024-02-29 13:14:15.123456"),
                Some("1969-12-31 23:59:59.999999"),
                Some("9999-12-31 23:59:59"),
                None,
                Some("2000-01-01 00:00:00"),
                Some("2023-06-15 08:05:09.1"),
            ])
            .with_timezone("UTC"),
        ),
        Arc::new(micros([
            Some("2024-02-29 13:14:15"),
            Some("1582-10-15 00:00:00"),
            Some("2000-01-01 12:00:00.5"),
            None,
            Some("1970-01-01 00:00:00"),
            Some("2023-06-15 08:05:09.1"),
        ])),
        Arc::new(BooleanArray::from(vec![
            Some(true),
            Some(false),
            Some(true),
            None,
            Some(false),
            Some(true),
        ])),
        Arc::new(BinaryArray::from_opt_vec(vec![
            Some(b"abc"),
            Some(b""),
            Some(b"\x00\xff"),
            None,
            Some(b"A"),
            Some(b"z"),
        ])),
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)),
        Arc::new(structs),
        Arc::new(maps.finish()),
        strings([
            Some("2024-01-31"),
            Some(" 2023-2-8 "),
            Some("not a date"),
            None,
            Some("2024-01-31 10:11:12.5"),
            Some("2024-01-31T23:59:59+01:00"),
        ]),
        strings([Some("12"), Some("-7"), Some("3.5"), None, Some("0"), Some(" 42 ")]),
    ];
    let fields: Vec<_> = schema()
        .fields
        .iter()
        .zip(&columns)
        .map(|(f, c)| Field::new(&f.name, arrow::array::Array::data_type(c).clone(), true))
        .collect();
    RecordBatch::try_new(Arc::new(arrow::datatypes::Schema::new(fields)), columns).unwrap()
}

/// The text of each row of the batch.
fn texts(evaluator: &Evaluator, batch: &RecordBatch) -> Result<Vec<Option<String>>, String> {
    let values = evaluator.evaluate(batch).map_err(|e| e.to_string())?;
    let texts = cast_to(&values, evaluator.data_type(), &DataType::String, false)?;
    Ok(texts.as_string::<i32>().iter().map(|t| t.map(str::to_owned)).collect())
}

fn spark_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Integer => "int".into(),
        DataType::Long => "bigint".into(),
        DataType::Short => "smallint".into(),
        DataType::Byte => "tinyint".into(),
        other => other.name(),
    }
}

/// What Spark answers by either setting and this refuses, as a whole or for a row.
const REFUSED: [&str; 15] = [
    "dt IN ('2024-2-29')",
    "n > f",
    "ts > ntz",
    "bin = 'abc'",
    "trim(LEADING FROM s)",
    "r'\\d'",
    "CAST(bin AS STRING)",
    "-i::string",
    "date_add(dt, i)",
    "dt + i",
    "date_from_unix_date(i)",
    "timestamp_micros(l)",
    "dt - DATE '2024-01-01'",
    "ts - ts",
    "round(i, -1)",
];

/// What is wrong with the answers to a case; the flag tells whether anything was refused that Spark answers.
fn judge(case: &Value, batch: &RecordBatch) -> (Vec<String>, bool) {
    let sql = case["sql"].as_str().unwrap();
    let (ansi, legacy) = (&case["ansi"], &case["legacy"]);
    let evaluator = match Evaluator::new(sql, &schema()) {
        Ok(evaluator) => evaluator,
        Err(_) => return (Vec::new(), ansi["type"] == legacy["type"] && !ansi["type"].is_null()),
    };
    let mut wrong = Vec::new();
    let mut refused = false;
    let own = spark_name(evaluator.data_type());
    if ansi["type"] != own.as_str() || legacy["type"] != own.as_str() {
        wrong.push(format!("{sql}: the type is {own}, not {} or {}", ansi["type"], legacy["type"]));
        return (wrong, false);
    }
    let mut whole = Some(Vec::new());
    for row in 0..batch.num_rows() {
        let (a, l) = (&ansi["rows"][row], &legacy["rows"][row]);
        match texts(&evaluator, &batch.slice(row, 1)) {
            Ok(found) => {
                let value = found[0].clone().map_or(Value::Null, Value::String);
                if *a != value || *l != value {
                    wrong.push(format!("{sql}: row {} is {value}, not {a} or {l}", row + 1));
                }
                if let Some(whole) = &mut whole {
                    whole.push(found[0].clone());
                }
            }
            Err(error) => {
                if a == l && !a.is_object() {
                    assert!(!error.is_empty());
                    refused = true;
                }
                whole = None;
            }
        }
    }
    if let Some(whole) = whole {
        assert_eq!(texts(&evaluator, batch), Ok(whole), "{sql}");
    }
    (wrong, refused)
}

#[test]
fn expressions_give_what_spark_gives() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/expressions/expected.json");
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let batch = rows();
    let mut wrong = Vec::new();
    let mut refused = Vec::new();
    for case in &cases {
        let (faults, is_refused) = judge(case, &batch);
        wrong.extend(faults);
        if is_refused {
            refused.push(case["sql"].as_str().unwrap());
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(refused, REFUSED);
}

#[test]
fn an_expression_may_be_long_and_not_too_deep() {
    let value = |text: &str| texts(&Evaluator::new(text, &schema()).unwrap(), &rows()).unwrap()[0].clone();
    for (op, last, result) in [(" OR ", "TRUE", "true"), (" AND ", "FALSE", "false")] {
        let first = if op == " OR " { "FALSE" } else { "TRUE" };
        let text = format!("{}{last}", [first, op].concat().repeat(20_000));
        assert_eq!(value(&text).as_deref(), Some(result), "{op}");
    }
    for (before, after) in
        [("", " + 1"), ("", " IS NULL"), ("", " OR b AND b"), ("(", ")"), ("-", ""), ("NOT ", "")]
    {
        let text = format!("{}1{}", before.repeat(5000), after.repeat(5000));
        let error = Evaluator::new(&text, &schema()).err();
        assert!(after.contains("OR") || error.is_some(), "{before}1{after}");
    }
    let long = format!("(b{}) = 1 IS NULL = 2", " OR b".repeat(20_000));
    let error = Evaluator::new(&long, &schema()).map(drop).unwrap_err().to_string();
    assert!(
        error.ends_with("a part of it as an operand needs parentheses"),
        "{}",
        &error[error.len() - 200..]
    );
    let nested = (0..40).fold("1".to_owned(), |inner, _| format!("({inner} BETWEEN 0 AND 2)"));
    assert!(Evaluator::new(&nested, &schema()).is_err());
}

/// Also of a constraint, which is what a log says.
#[test]
fn a_number_does_not_decide_how_much_memory_is_taken() {
    let (text, by) = ("repeat('a', 100000)", "repeat('b', 100000)");
    for expression in [
        "repeat('ab', 2000000000)".to_owned(),
        format!("replace({text}, 'a', {by})"),
        format!("regexp_replace({text}, 'a', {by})"),
    ] {
        let error = Evaluator::new(&format!("length({expression}) > 0"), &schema())
            .and_then(|evaluator| evaluator.evaluate(&rows()))
            .unwrap_err();
        assert!(error.to_string().contains("more than 2 GiB"), "{expression}: {error}");
    }
}

#[test]
fn no_chain_is_too_long_for_the_stack() {
    let chains = [
        " + 1",
        " OR b",
        " || s",
        " DIV 1",
        " AT TIME ZONE 'UTC'",
        " IS DISTINCT FROM 1",
        " IS NULL",
        " = ANY(1)",
        " SIMILAR TO 'x'",
        " LIKE 'x'",
        " IN UNNEST(x)",
        " IN (1)",
        " BETWEEN 1 AND 2",
        "::int",
        "[0]",
        ".a",
        " COLLATE x",
    ];
    for (chain, length, end) in chains.into_iter().flat_map(|chain| {
        [500, 40_000, 120_000].into_iter().flat_map(move |n| ["", " )"].map(|end| (chain, n, end)))
    }) {
        let text = format!("b{}{end}", chain.repeat(length));
        let error = Evaluator::new(&text, &schema()).map(drop).map_err(|e| e.kind());
        let chains_of_or = chain == " OR b" && end.is_empty() && length < 100_000;
        assert_eq!(
            error,
            if chains_of_or { Ok(()) } else { Err("InvalidExpression") },
            "{chain} {length} {end}"
        );
    }
    let list = format!("i IN ({})", vec!["1"; 200_000].join(", "));
    assert!(Evaluator::new(&list, &schema()).is_ok());
}

#[test]
fn text_with_a_collation_is_not_compared_by_its_bytes() {
    let mut schema = schema();
    let collated = serde_json::json!({"s": "spark.UTF8_LCASE"});
    schema
        .fields
        .iter_mut()
        .find(|f| f.name == "s")
        .unwrap()
        .metadata
        .insert("__COLLATIONS".into(), collated);
    for text in ["s = 'A'", "S LIKE 'a%'", "upper(s) = 'A'", "i > 1 AND s IN ('a')", "length(s) = 1"] {
        let error = Evaluator::new(text, &schema).map(drop).unwrap_err().to_string();
        assert!(error.ends_with("has a collation: ask Spark"), "{error}");
    }
    for text in ["s IS NULL", "NOT (s IS NOT NULL)", "n = 'a'"] {
        assert!(Evaluator::new(text, &schema).is_ok(), "{text}");
    }
}
