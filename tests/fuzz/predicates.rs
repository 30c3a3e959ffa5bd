//! The text of a predicate, in SQL and as JSON. SQL is an error or an expression that gives a value for each row, or an
//! error; JSON is written as it was read, and the SQL that it reads like means the same.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use deltaic_core::expr::{Evaluator, parse};
use deltaic_core::predicate::Predicate;
use deltaic_core::predicate::eval::filter_mask;
use deltaic_core::schema::{DataType, StructField, StructType};
use fastrand::Rng;

use super::engine::Target;
use super::mutate;
use super::mutate_json;

pub(crate) struct Predicates {
    schema: StructType,
    batch: RecordBatch,
}

pub(crate) const SQL: &str = include_str!("../expressions/expressions.txt");
const JSON: [&str; 6] = [
    r#"{"compare":{"op":"=","column":["id"],"value":{"type":"long","value":5}}}"#,
    r#"{"and":[{"compare":{"op":"<=>","column":["p"],"value":{"type":"string","value":"x'y"}}},{"isnull":{"column":["id"]}}]}"#,
    r#"{"or":[{"not":{"isnotnull":{"column":["p"]}}},{"in":{"column":["id"],"values":[{"type":"null"},{"type":"long","value":1}]}}]}"#,
    r#"{"startswith":{"column":["p"],"prefix":"x"}}"#,
    r#"{"compare":{"op":">","column":["id"],"value":{"type":"decimal","value":"1.5"}}}"#,
    r#"{"and":[{"constant":true},{"compare":{"op":"<","column":["id"],"value":{"type":"double","value":2.5}}}]}"#,
];
const KEYS: [&str; 14] = [
    "and",
    "or",
    "not",
    "compare",
    "in",
    "isnull",
    "startswith",
    "constant",
    "unknown",
    "op",
    "column",
    "value",
    "type",
    "values",
];
const WORDS: [&str; 26] = [
    " AND ",
    " OR ",
    " NOT ",
    "(",
    ")",
    " = ",
    " <=> ",
    " IN (",
    " IS NULL",
    " LIKE ",
    " BETWEEN ",
    " CASE WHEN ",
    " END",
    "CAST(",
    " AS decimal(38,0))",
    "id",
    "p",
    "'",
    "`",
    "-",
    " || ",
    "9223372036854775808",
    "1e400",
    "DATE '0000-01-01'",
    "INTERVAL ",
    "\\",
];

impl Target for Predicates {
    const NAME: &'static str = "predicates";

    fn new() -> Self {
        let columns: [(&str, ArrayRef, bool); 3] = [
            ("id", Arc::new(Int64Array::from(vec![Some(5), None, Some(-1), Some(i64::MAX), Some(1)])), true),
            (
                "p",
                Arc::new(StringArray::from(vec![Some("x 0"), Some("x'y"), None, Some(""), Some("é%_\\")])),
                true,
            ),
            ("b", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), None, Some(true)])), true),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let fields = [("id", DataType::Long), ("p", DataType::String), ("b", DataType::Boolean)];
        let fields = fields.into_iter().map(|(name, kind)| StructField::new(name, kind, true)).collect();
        Predicates { schema: StructType { fields }, batch }
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let sql = SQL.lines().filter(|line| !line.is_empty());
        sql.chain(JSON).map(|text| text.as_bytes().to_vec()).collect()
    }

    fn mutate(&self, rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
        let (json, sql): (Vec<_>, Vec<_>) = seeds.iter().cloned().partition(|seed| seed[0] == b'{');
        if rng.u8(..3) == 0 {
            return mutate_json::lines(rng, &json, &KEYS);
        }
        mutate_sql(rng, &sql)
    }

    fn check(&self, input: &[u8]) -> bool {
        let text = String::from_utf8_lossy(input);
        if let Ok(predicate) = Predicate::from_json(&text) {
            return self.check_json(&predicate);
        }
        let Ok(expr) = parse(&text) else { return false };
        let mut names = 0;
        expr.columns(&mut |parts| names += parts.len());
        let Ok(evaluator) = Evaluator::of(&text, &expr, &self.schema) else { return false };
        let Ok(values) = evaluator.evaluate(&self.batch) else { return false };
        assert_eq!(values.len(), self.batch.num_rows());
        let again = Evaluator::new(&text, &self.schema).unwrap().evaluate(&self.batch).unwrap();
        // these are others each time
        let text = text.to_ascii_lowercase();
        if !["uuid", "now", "current_"].iter().any(|name| text.contains(name)) {
            assert_eq!(&again, &values);
        }
        true
    }
}

/// A text of SQL made of others.
pub(crate) fn mutate_sql(rng: &mut Rng, sql: &[Vec<u8>]) -> Vec<u8> {
    let mut out = mutate::pick(rng, sql).clone();
    for _ in 0..rng.u32(1..=4) {
        let at = rng.usize(..=out.len());
        match rng.u8(..12) {
            0..=4 => {
                out.splice(at..at, mutate::pick(rng, &WORDS).bytes());
            }
            5 => {
                // chains and nests, some deeper than any parser goes
                let times = *mutate::pick(rng, &[3, 40, 300, 5000]);
                let (before, after) = *mutate::pick(
                    rng,
                    &[
                        ("(", ")"),
                        ("NOT ", ""),
                        ("-", ""),
                        ("", " AND id = 1"),
                        ("", " OR b"),
                        ("", " + 1"),
                        ("abs(", ")"),
                        ("", ".a"),
                        ("", "[0]"),
                        ("CASE WHEN b THEN ", " END"),
                    ],
                );
                out = [before.repeat(times).as_bytes(), &out, after.repeat(times).as_bytes()].concat();
            }
            6 => {
                let other = mutate::pick(rng, sql).clone();
                let between = mutate::pick(rng, &WORDS);
                out = [&out, between.as_bytes(), &other].concat();
            }
            _ => mutate::change(rng, &mut out, sql),
        }
    }
    out
}

impl Predicates {
    fn check_json(&self, predicate: &Predicate) -> bool {
        let written = serde_json::to_string(predicate).unwrap();
        let again = Predicate::from_json(&written).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), written);
        let Ok(mask) = filter_mask(predicate, &self.batch) else { return false };
        assert_eq!(mask.len(), self.batch.num_rows());
        // what has no SQL here, or is refused as text, has no value to compare
        let sql = predicate.to_string();
        if let Ok(evaluator) = Evaluator::condition(&sql, &self.schema)
            && let Ok(truth) = evaluator.truth(&self.batch)
        {
            assert_eq!(truth.iter().collect::<Vec<_>>(), mask.iter().collect::<Vec<_>>(), "{sql}");
        }
        true
    }
}
