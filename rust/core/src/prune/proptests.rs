//! T30: whatever the table and the predicate, the kept files contain every row that matches.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int32Array, Int64Array, MapArray, RecordBatch, StringArray, StringViewArray, StructArray,
    TimestampMicrosecondArray,
};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType as Arrow, Field, Fields, Schema, TimestampMicrosecondType};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use bytes::Bytes;
use chrono::DateTime;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::tests::partition_map;
use super::{HeldFacts, Pruner};
use crate::predicate::eval::filter_mask;
use crate::predicate::{CompareOp, Literal, Predicate};
use crate::schema::{ColumnMappingMode, DataType, StructField, StructType, arrow_type};

/// A cell: a number from which a value of any type is made, or null.
type Cell = Option<i64>;

fn types() -> Vec<DataType> {
    vec![
        DataType::Integer,
        DataType::Long,
        DataType::Float,
        DataType::Double,
        DataType::Decimal(20, 2),
        DataType::Boolean,
        DataType::String,
        DataType::Date,
        DataType::Timestamp,
        DataType::TimestampNtz,
    ]
}

/// 2023-11-14 22:13:20 in microseconds.
const BASE: i64 = 1_700_000_000_000_000;

fn double(n: i64) -> f64 {
    match n {
        7 => f64::NAN,
        6 => -0.0,
        n => n as f64 / 10.0,
    }
}

fn word(n: i64) -> String {
    // long words share a prefix, so that cutting them loses the difference
    let tail = ["", "a", "b", "é", "\u{1f600}", "z", "\u{7f}", "\u{10ffff}"];
    let n = n.rem_euclid(16) as usize;
    if n < 8 {
        tail[n].to_owned() + "w"
    } else {
        "prefix of more than 32 characters:".to_owned() + tail[n - 8]
    }
}

fn micros(n: i64) -> i64 {
    BASE + n * 333
}

/// A column of one type.
fn array(data_type: &DataType, cells: &[Cell]) -> ArrayRef {
    let cells = || cells.iter().copied();
    match data_type {
        DataType::Integer => Arc::new(Int32Array::from_iter(cells().map(|c| c.map(|n| n as i32)))),
        DataType::Long => Arc::new(Int64Array::from_iter(cells())),
        DataType::Float => Arc::new(Float32Array::from_iter(cells().map(|c| c.map(|n| double(n) as f32)))),
        DataType::Double => Arc::new(Float64Array::from_iter(cells().map(|c| c.map(double)))),
        DataType::Decimal(p, s) => {
            let values = Decimal128Array::from_iter(cells().map(|c| c.map(|n| i128::from(n) * 25)));
            Arc::new(values.with_precision_and_scale(*p, *s).unwrap())
        }
        DataType::Boolean => Arc::new(BooleanArray::from_iter(cells().map(|c| c.map(|n| n > 0)))),
        DataType::String => Arc::new(StringArray::from_iter(cells().map(|c| c.map(word)))),
        DataType::Date => Arc::new(Date32Array::from_iter(cells().map(|c| c.map(|n| n as i32)))),
        DataType::Timestamp => Arc::new(
            TimestampMicrosecondArray::from_iter(cells().map(|c| c.map(micros))).with_timezone("UTC"),
        ),
        DataType::TimestampNtz => {
            Arc::new(TimestampMicrosecondArray::from_iter(cells().map(|c| c.map(micros))))
        }
        other => unreachable!("{other:?}"),
    }
}

/// The serialized partition value.
fn partition_text(data_type: &DataType, n: i64, variant: bool) -> String {
    let time = |format: &str| DateTime::from_timestamp_micros(micros(n)).unwrap().format(format).to_string();
    match data_type {
        DataType::Float => (double(n) as f32).to_string(),
        DataType::Double => double(n).to_string(),
        DataType::Decimal(..) => {
            let cents = n * 25;
            format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100)
        }
        DataType::Boolean => (n > 0).to_string(),
        DataType::String => word(n),
        DataType::Date => (chrono::NaiveDate::default() + chrono::Duration::days(n)).to_string(),
        DataType::Timestamp if variant => time("%Y-%m-%dT%H:%M:%S%.6fZ"),
        DataType::Timestamp | DataType::TimestampNtz => time("%Y-%m-%d %H:%M:%S%.f"),
        _ => n.to_string(),
    }
}

/// How a writer fills the statistics of a column.
#[derive(Debug, Clone, Copy)]
struct Habits {
    min: bool,
    max: bool,
    null_count: bool,
    /// Cuts timestamps to milliseconds and strings to 32 characters.
    cuts: bool,
    /// Puts a character at the end of a maximum that was cut.
    breaks_ties: bool,
    /// Leaves NaN out of minimum and maximum.
    skips_nan: bool,
}

fn habits() -> impl Strategy<Value = Habits> {
    let often = || prop::bool::weighted(0.85);
    (often(), often(), often(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(min, max, null_count, cuts, breaks_ties, skips_nan)| Habits {
            min,
            max,
            null_count,
            cuts,
            breaks_ties,
            skips_nan,
        },
    )
}

/// Minimum or maximum of the cells that are not null, as JSON.
fn extreme(data_type: &DataType, cells: &[Cell], habits: Habits, max: bool) -> Option<Value> {
    let cells = cells.iter().flatten().copied();
    let pick = |values: Vec<i64>| if max { values.into_iter().max() } else { values.into_iter().min() };
    let time = |zone: &str| {
        let at = pick(cells.clone().collect()).map(micros)?;
        let at = DateTime::from_timestamp_micros(if habits.cuts { at.div_euclid(1000) * 1000 } else { at })?;
        Some(json!(
            at.format(if habits.cuts { "%Y-%m-%dT%H:%M:%S%.3f" } else { "%Y-%m-%dT%H:%M:%S%.6f" })
                .to_string()
                + zone
        ))
    };
    match data_type {
        DataType::Float | DataType::Double => {
            let values = cells.map(double).filter(|v| !(v.is_nan() && habits.skips_nan));
            let order = |a: &f64, b: &f64| crate::predicate::scalar::compare_doubles(*a, *b);
            let value = if max { values.max_by(order) } else { values.min_by(order) }?;
            let text = if matches!(data_type, DataType::Float) {
                (value as f32).to_string()
            } else {
                value.to_string()
            };
            Some(if value.is_nan() { json!("NaN") } else { serde_json::from_str(&text).unwrap() })
        }
        DataType::Decimal(..) => {
            serde_json::from_str(&partition_text(data_type, pick(cells.collect())?, false)).ok()
        }
        DataType::String => {
            let words = cells.map(word);
            let whole = if max { words.max() } else { words.min() }?;
            let mut text: String = whole.chars().take(if habits.cuts { 32 } else { usize::MAX }).collect();
            if max && habits.breaks_ties && text != whole {
                text.push('\u{10ffff}');
            }
            Some(json!(text))
        }
        DataType::Date => Some(json!(partition_text(data_type, pick(cells.collect())?, false))),
        DataType::Timestamp => time("Z"),
        DataType::TimestampNtz => time(""),
        DataType::Boolean => None,
        _ => Some(json!(pick(cells.collect())?)),
    }
}

/// A file: its partition value, its rows of the columns `x` and `s.y`, and how its statistics were written.
#[derive(Debug, Clone)]
struct File {
    partition: Cell,
    variant: bool,
    x: Vec<Cell>,
    y: Vec<Cell>,
    habits: Habits,
    has_stats: bool,
}

#[derive(Debug, Clone)]
struct Table {
    /// Of `p`, `x` and `s.y`.
    types: [DataType; 3],
    files: Vec<File>,
}

fn cell() -> impl Strategy<Value = Cell> {
    prop_oneof![1 => Just(None), 5 => (-3i64..16).prop_map(Some)]
}

fn file() -> impl Strategy<Value = File> {
    // ranges are narrow, so that files do get dropped
    let cells = |rows: usize| {
        (prop::collection::vec(cell(), rows), -3i64..14, 1i64..5).prop_map(|(cells, start, width)| {
            cells.into_iter().map(|c| c.map(|n| start + n.rem_euclid(width))).collect::<Vec<_>>()
        })
    };
    (1usize..5)
        .prop_flat_map(move |rows| {
            (cell(), any::<bool>(), cells(rows), cells(rows), habits(), prop::bool::weighted(0.9))
        })
        .prop_map(|(partition, variant, x, y, habits, has_stats)| File {
            partition,
            variant,
            x,
            y,
            habits,
            has_stats,
        })
}

fn table() -> impl Strategy<Value = Table> {
    let one = || select(types());
    (one(), one(), one(), prop::collection::vec(file(), 1..8))
        .prop_map(|(p, x, y, files)| Table { types: [p, x, y], files })
}

/// A literal that often fits the type, often lies near its values, and sometimes is of another kind.
fn literal(data_type: DataType) -> impl Strategy<Value = Literal> {
    (-4i64..17, 0..8u8).prop_map(move |(n, form)| match (form, &data_type) {
        (0, _) => Literal::Null,
        (1, DataType::Integer | DataType::Long | DataType::Double | DataType::Float) => {
            Literal::Double(n as f64 + 0.5)
        }
        (2, DataType::Integer | DataType::Long | DataType::Decimal(..)) => {
            Literal::Decimal(format!("{n}.125"))
        }
        (3, DataType::Decimal(..) | DataType::Float | DataType::Double) => Literal::Long(n),
        (1, DataType::Timestamp | DataType::TimestampNtz) => {
            Literal::String(partition_text(&data_type, n, true))
        }
        (7, DataType::Integer) => Literal::Long(i64::MAX),
        (_, DataType::Integer | DataType::Long) => Literal::Long(n),
        (_, DataType::Float) => Literal::Double(f64::from(double(n) as f32)),
        (_, DataType::Double) => Literal::Double(double(n)),
        (4, DataType::Decimal(..)) => Literal::Double(n as f64 / 4.0),
        (_, DataType::Decimal(..)) => Literal::Decimal(partition_text(&data_type, n, false)),
        (_, DataType::Boolean) => Literal::Boolean(n > 0),
        (5, DataType::Date) => Literal::String(partition_text(&data_type, n, false)),
        (6, DataType::Date) => Literal::TimestampNtz(n * 86_400_000_000 + 1),
        (_, DataType::Date) => Literal::Date(n as i32),
        (_, DataType::Timestamp) => Literal::Timestamp(micros(n) + i64::from(form) - 4),
        (_, DataType::TimestampNtz) => Literal::TimestampNtz(micros(n) + i64::from(form) - 4),
        _ => Literal::String(word(n)),
    })
}

fn test(types: &[DataType; 3]) -> impl Strategy<Value = Predicate> + use<> {
    let types = types.clone();
    (0..3usize).prop_flat_map(move |at| {
        use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne, NullSafeEq};
        let column: Vec<String> = [&["p"][..], &["X"], &["s", "y"]][at].iter().map(|c| (*c).to_owned()).collect();
        let data_type = types[at].clone();
        let value = || literal(data_type.clone());
        let with = |f: fn(Vec<String>) -> Predicate| Just(f(column.clone()));
        let (named, listed, prefixed) = (column.clone(), column.clone(), column.clone());
        let operator = select(vec![Eq, Ge, Gt, Le, Lt, Ne, NullSafeEq]);
        prop_oneof![
            6 => (operator, value()).prop_map(move |(op, value)| Predicate::Compare { op, column: named.clone(), value }),
            2 => prop::collection::vec(value(), 0..4)
                .prop_map(move |values| Predicate::In { column: listed.clone(), values }),
            1 => (-4i64..17, 0..12usize).prop_map(move |(n, take)| Predicate::StartsWith {
                column: prefixed.clone(),
                prefix: word(n).chars().take(take * 3).collect(),
            }),
            1 => with(|column| Predicate::IsNull { column }),
            1 => with(|column| Predicate::IsNotNull { column }),
            1 => select(vec![Some(true), Some(false), None]).prop_map(Predicate::Constant),
        ]
    })
}

fn predicate(types: &[DataType; 3]) -> impl Strategy<Value = Predicate> + use<> {
    test(types).prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Predicate::And),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Predicate::Or),
            inner.prop_map(|p| Predicate::Not(Box::new(p))),
        ]
    })
}

impl Table {
    fn schema(&self) -> StructType {
        let [p, x, y] = self.types.clone();
        let s = DataType::Struct(Box::new(StructType { fields: vec![StructField::new("y", y, true)] }));
        let fields = [("p", p), ("x", x), ("s", s)];
        StructType { fields: fields.into_iter().map(|(n, t)| StructField::new(n, t, true)).collect() }
    }

    fn rows(&self, file: &File) -> RecordBatch {
        let y = array(&self.types[2], &file.y);
        // a null of `s.y` is a null `s` half of the time
        let valid = NullBuffer::from_iter(file.y.iter().enumerate().map(|(i, c)| c.is_some() || i % 2 == 0));
        let fields = Fields::from(vec![Field::new("y", y.data_type().clone(), true)]);
        let p = array(&self.types[0], &vec![file.partition; file.x.len()]);
        RecordBatch::try_from_iter_with_nullable([
            ("p", p, true),
            ("x", array(&self.types[1], &file.x), true),
            ("s", Arc::new(StructArray::new(fields, vec![y], Some(valid))), true),
        ])
        .unwrap()
    }

    fn stats(&self, file: &File) -> Value {
        let habits = file.habits;
        let both = |max: bool| {
            let (x, y) = (
                extreme(&self.types[1], &file.x, habits, max),
                extreme(&self.types[2], &file.y, habits, max),
            );
            let mut values = BTreeMap::new();
            if let Some(x) = x {
                values.insert("x", x);
            }
            if let Some(y) = y {
                values.insert("s", json!({ "y": y }));
            }
            json!(values)
        };
        let nulls = |cells: &[Cell]| cells.iter().filter(|c| c.is_none()).count();
        let mut stats = json!({ "numRecords": file.x.len() });
        if habits.min {
            stats["minValues"] = both(false);
        }
        if habits.max {
            stats["maxValues"] = both(true);
        }
        if habits.null_count {
            stats["nullCount"] = json!({"x": nulls(&file.x), "s": {"y": nulls(&file.y)}});
        }
        stats
    }

    fn partition_values(&self) -> MapArray {
        let text = |f: &File| f.partition.map(|n| partition_text(&self.types[0], n, f.variant));
        let texts: Vec<Option<String>> = self.files.iter().map(text).collect();
        partition_map("p", &texts.iter().map(Option::as_deref).collect::<Vec<_>>())
    }

    fn stats_json(&self) -> StringViewArray {
        self.files.iter().map(|f| f.has_stats.then(|| self.stats(f).to_string())).collect()
    }

    /// `stats_parsed` as a checkpoint holds it: what the JSON says, in the types of the columns.
    fn stats_parsed(&self) -> StructArray {
        let stats: Vec<Option<Value>> =
            self.files.iter().map(|f| f.has_stats.then(|| self.stats(f))).collect();
        let leaf = |data_type: &DataType, at: &str| -> ArrayRef {
            let texts = stats.iter().map(|s| match s.as_ref().and_then(|s| s.pointer(at)) {
                Some(Value::String(text)) => Some(text.clone()),
                other => other.map(Value::to_string),
            });
            let texts: ArrayRef = Arc::new(StringArray::from_iter(texts));
            match data_type {
                DataType::Timestamp => {
                    let instants = cast(&texts, &arrow_type(&DataType::TimestampNtz)).unwrap();
                    Arc::new(instants.as_primitive::<TimestampMicrosecondType>().clone().with_timezone("UTC"))
                }
                _ => cast(&texts, &arrow_type(data_type)).unwrap(),
            }
        };
        let structure = |fields: Vec<(&str, ArrayRef)>| -> ArrayRef {
            let pair =
                |(name, array): (&str, ArrayRef)| (Field::new(name, array.data_type().clone(), true), array);
            let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = fields.into_iter().map(pair).unzip();
            Arc::new(StructArray::new(fields.into(), arrays, None))
        };
        let section = |name: &str, types: [&DataType; 2]| {
            let s = structure(vec![("y", leaf(types[1], &format!("/{name}/s/y")))]);
            structure(vec![("x", leaf(types[0], &format!("/{name}/x"))), ("s", s)])
        };
        let values = [&self.types[1], &self.types[2]];
        let parsed = structure(vec![
            ("numRecords", leaf(&DataType::Long, "/numRecords")),
            ("minValues", section("minValues", values)),
            ("maxValues", section("maxValues", values)),
            ("nullCount", section("nullCount", [&DataType::Long, &DataType::Long])),
        ]);
        parsed.as_struct().clone()
    }

    fn partition_values_parsed(&self) -> StructArray {
        let cells: Vec<Cell> = self.files.iter().map(|f| f.partition).collect();
        let p = array(&self.types[0], &cells);
        StructArray::new(Fields::from(vec![Field::new("p", p.data_type().clone(), true)]), vec![p], None)
    }

    /// A checkpoint with row groups of two rows, its last row without an `add`.
    fn checkpoint(&self) -> Bytes {
        let (p, stats) = (self.partition_values_parsed(), self.stats_parsed());
        let path = StringArray::from_iter_values((0..self.files.len()).map(|i| format!("f{i}")));
        let fields = Fields::from(vec![
            Field::new("path", Arrow::Utf8, true),
            Field::new("partitionValues_parsed", p.data_type().clone(), true),
            Field::new("stats_parsed", stats.data_type().clone(), true),
        ]);
        let adds = StructArray::new(fields, vec![Arc::new(path), Arc::new(p), Arc::new(stats)], None);
        let none = StructArray::new_null(adds.fields().clone(), 1);
        let adds = concat(&[&adds, &none]).unwrap();
        let schema = Arc::new(Schema::new(vec![Field::new("add", adds.data_type().clone(), true)]));
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(2)).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties)).unwrap();
        writer.write(&RecordBatch::try_new(schema, vec![adds]).unwrap()).unwrap();
        writer.into_inner().unwrap().into()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn t30_kept_files_contain_every_matching_row(
        (table, predicate) in table().prop_flat_map(|t| {
            let predicate = predicate(&t.types);
            (Just(t), predicate)
        })
    ) {
        // a predicate that the rows cannot be filtered by keeps every file; nothing is to be checked against
        let matches: Result<Vec<bool>, _> = table.files.iter().map(|f| {
            filter_mask(&predicate, &table.rows(f)).map(|mask| mask.true_count() > 0)
        }).collect();
        let Ok(matches) = matches else { return Ok(()) };
        let schema = table.schema();
        let pruner = Pruner::bind(&predicate, &schema, &["p".to_owned()], ColumnMappingMode::None).unwrap();
        let values = table.partition_values();
        let by_values = pruner.by_partition_values(&values);
        let by_json = pruner.by_stats_json(&table.stats_json(), &values, &by_values);
        let by_struct = pruner.by_stats_struct(&table.stats_parsed(), &values, &by_values);
        // what a look at whole numbers drops, all facts together drop, too
        let plain = Pruner::bind(&predicate, &schema, &["p".to_owned()], ColumnMappingMode::None).unwrap().by_facts();
        prop_assert_eq!(&by_json, &plain.by_stats_json(&table.stats_json(), &values, &by_values));
        prop_assert_eq!(&by_struct, &plain.by_stats_struct(&table.stats_parsed(), &values, &by_values));
        let parsed = table.partition_values_parsed();
        let by_parsed = pruner.by_partition_struct(&parsed);
        prop_assert_eq!(&by_parsed, &plain.by_partition_struct(&parsed));
        // and what is held for the next predicate says the same
        if pruner.can_be_held() {
            let none = || pruner.stats_leaves().iter().map(|_| HeldFacts::default()).collect::<Vec<_>>();
            let (mut of_json, mut of_struct) = (none(), none());
            pruner.hold_json(&table.stats_json(), &by_values, &mut of_json);
            pruner.hold_struct(&table.stats_parsed(), &by_values, &mut of_struct);
            for (held, expected) in [(&of_json, &by_json), (&of_struct, &by_struct)] {
                prop_assert_eq!(&held[0].files(), &by_values);
                prop_assert_eq!(&pruner.by_held(&held.iter().collect::<Vec<_>>(), &by_values), expected);
            }
        }
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&table.checkpoint()).unwrap();
        let groups = pruner.row_groups(&metadata);
        let by_group = BooleanBuffer::collect_bool(table.files.len(), |i| groups[i / 2]);
        for (i, matches) in matches.iter().enumerate().filter(|(_, m)| **m) {
            prop_assert!(matches);
            prop_assert!(by_values.value(i), "partition values drop file {i} by {predicate}");
            prop_assert!(by_json.value(i), "statistics drop file {i} by {predicate}: {:?}", table.stats(&table.files[i]));
            prop_assert!(by_struct.value(i), "parsed statistics drop file {i} by {predicate}");
            prop_assert!(by_parsed.value(i), "parsed partition values drop file {i} by {predicate}");
            prop_assert!(by_group.value(i), "row group {} is dropped by {predicate}", i / 2);
        }
    }
}
