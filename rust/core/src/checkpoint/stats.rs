use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, StringViewArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::compute::{concat, interleave};
use arrow::datatypes::{Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow_json::ReaderBuilder;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::stats_columns::{ColumnReader, Columns};

/// Texts that are made columns at once: a cache holds them.
const ROWS_AT_ONCE: usize = 512;

/// Turns statistics in JSON into the columns of `stats_parsed`.
#[derive(Debug)]
pub(super) struct StatsParser {
    schema: SchemaRef,
}

impl StatsParser {
    pub(super) fn new(fields: &Fields) -> Self {
        StatsParser { schema: Arc::new(Schema::new(fields.clone())) }
    }

    /// One row a text; null where there is no text, or where nothing of it fits the columns. A value that does not fit
    /// removes the bounds of its file, never those of another: the remaining statistics are weaker and not wrong.
    pub(super) fn parse(&self, texts: &StringViewArray) -> Result<ArrayRef, ArrowError> {
        let rows: Vec<Option<&str>> = texts.iter().collect();
        let mut reader = ColumnReader::new(self.schema.fields());
        let parts: Vec<ArrayRef> = rows
            .chunks(ROWS_AT_ONCE)
            .map(|rows| self.parse_some(rows, &mut reader))
            .collect::<Result<_, _>>()?;
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        match parts.as_slice() {
            [] => self.parse_each(&rows),
            parts => concat(parts),
        }
    }

    fn parse_some(
        &self,
        rows: &[Option<&str>],
        reader: &mut ColumnReader<'_>,
    ) -> Result<ArrayRef, ArrowError> {
        let Some(Columns { columns, others }) = reader.read(rows)? else { return self.parse_each(rows) };
        let valid = NullBuffer::from_iter(rows.iter().map(Option::is_some));
        let shaped = StructArray::try_new(self.schema.fields().clone(), columns, Some(valid))?;
        if others.is_empty() {
            return Ok(Arc::new(shaped));
        }
        let rest: Vec<Option<&str>> = others.iter().map(|row| rows[*row]).collect();
        let rest = self.parse_each(&rest)?;
        let mut places: Vec<(usize, usize)> = (0..rows.len()).map(|row| (0, row)).collect();
        for (at, row) in others.into_iter().enumerate() {
            places[row] = (1, at);
        }
        interleave(&[&shaped, rest.as_ref()], &places)
    }

    /// The same for texts of any shape, by a parser.
    fn parse_each(&self, texts: &[Option<&str>]) -> Result<ArrayRef, ArrowError> {
        let rows: Vec<Option<&str>> = texts.iter().map(|t| t.filter(|t| is_object(t))).collect();
        let batch = match self.decode(&rows) {
            Ok(batch) => batch,
            Err(_) => {
                let repaired: Vec<Option<String>> = rows.iter().map(|r| self.repair(*r)).collect();
                let rows: Vec<Option<&str>> = repaired.iter().map(Option::as_deref).collect();
                return self.decode(&rows).map(|batch| structure(batch, &rows));
            }
        };
        Ok(structure(batch, &rows))
    }

    fn decode(&self, rows: &[Option<&str>]) -> Result<RecordBatch, ArrowError> {
        let mut body =
            Vec::with_capacity(rows.iter().flatten().map(|t| t.len() + 1).sum::<usize>() + rows.len() * 3);
        for row in rows {
            body.extend_from_slice(row.unwrap_or("{}").as_bytes());
            body.push(b'\n');
        }
        let mut decoder =
            ReaderBuilder::new(self.schema.clone()).with_batch_size(rows.len().max(1)).build_decoder()?;
        let read = decoder.decode(&body)?;
        let batch = decoder.flush()?.unwrap_or_else(|| RecordBatch::new_empty(self.schema.clone()));
        if !body[read..].iter().all(u8::is_ascii_whitespace) || batch.num_rows() != rows.len() {
            return Err(ArrowError::JsonError("not one object a row".into()));
        }
        Ok(batch)
    }

    /// The most of a text that can be decoded: all of it, the counts, nothing.
    fn repair(&self, row: Option<&str>) -> Option<String> {
        let text = row?;
        if self.decode(&[Some(text)]).is_ok() {
            return Some(text.to_owned());
        }
        let Ok(Value::Object(whole)) = serde_json::from_str::<Value>(text) else { return None };
        for kept in [&["numRecords", "nullCount", "tightBounds"][..], &["numRecords"]] {
            let part: Map<String, Value> = whole
                .iter()
                .filter(|(k, _)| kept.contains(&k.as_str()))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            let part = Value::Object(part).to_string();
            if self.decode(&[Some(&part)]).is_ok() {
                return Some(part);
            }
        }
        None
    }
}

/// Whether a text can be a row: an object. The decoder takes some texts that are no JSON, and would make numbers of them.
fn is_object(text: &str) -> bool {
    let text = text.trim();
    text.len() > 2 && text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn structure(batch: RecordBatch, rows: &[Option<&str>]) -> ArrayRef {
    let valid = NullBuffer::from_iter(rows.iter().map(Option::is_some));
    let (schema, columns, _) = batch.into_parts();
    Arc::new(StructArray::new(schema.fields().clone(), columns, Some(valid)))
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, TimeUnit};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn parser() -> StatsParser {
        let inner = |kind| DataType::Struct(Fields::from(vec![Field::new("x", kind, true)]));
        StatsParser::new(&Fields::from(vec![
            Field::new("numRecords", DataType::Int64, true),
            Field::new("minValues", inner(DataType::Float64), true),
            Field::new("nullCount", inner(DataType::Int64), true),
        ]))
    }

    #[test]
    fn one_broken_text_does_not_spoil_the_others() {
        let texts = StringViewArray::from(vec![
            Some(r#"{"numRecords":1,"minValues":{"x":1.5,"unknown":[{}]},"nullCount":{"x":0}}"#),
            None,
            Some(r#"{"numRecords":2,"minValues":{"x":{"y":1}},"nullCount":{"x":7}}"#),
            Some(r#"{"numRecords":3"#),
            Some(r#"{"numRecords":"many"}"#),
            Some(r#"{"numRecords":4,"minValues":{"x":"NaN"}}"#),
            Some("{}\n{}"),
            Some(r#"{"minValues":{"x":5}"numRecords":3}"#),
        ]);
        let parsed = parser().parse(&texts).unwrap();
        let rows = parsed.as_struct();
        let records = rows.column(0).as_primitive::<Int64Type>();
        let mins = rows.column(1).as_struct().column(0).as_primitive::<Float64Type>();
        let nulls = rows.column(2).as_struct().column(0).as_primitive::<Int64Type>();
        let valid: Vec<bool> = (0..8).map(|r| rows.is_valid(r)).collect();
        assert_eq!(valid, [true, false, true, false, false, true, false, false]);
        assert_eq!((records.value(0), mins.value(0), nulls.value(0)), (1, 1.5, 0));
        assert_eq!((records.value(2), mins.is_valid(2), nulls.value(2)), (2, false, 7));
        assert!(records.value(5) == 4 && mins.value(5).is_nan());
    }

    #[test]
    fn a_text_of_more_or_less_than_one_object_is_not_decoded() {
        let parser = parser();
        let one = r#"{"numRecords":1}"#;
        assert_eq!(parser.decode(&[Some(one), None]).unwrap().num_rows(), 2);
        // the rows of the files after it would be those of other files
        for other in ["{}\n{}", "", "{"] {
            assert!(parser.decode(&[Some(other)]).is_err(), "{other:?}");
            assert!(parser.decode(&[Some(one), Some(other)]).is_err(), "{other:?}");
            assert!(parser.decode(&[Some(other), Some(one)]).is_err(), "{other:?}");
        }
    }

    /// Texts of values that fit a column, or nearly.
    fn value() -> impl Strategy<Value = String> {
        let fixed = [
            "null",
            "true",
            "false",
            "0",
            "-0",
            "1.0",
            "1e3",
            "1e400",
            "-7",
            "300",
            "9223372036854775808",
            "0.1",
            "12.34",
            "12.345",
            "3.4028236e38",
            "16777217",
            r#""""#,
            r#""NaN""#,
            r#""12""#,
            r#""a\u0062""#,
            r#""2024-02-29""#,
            r#""2024-02-30""#,
            r#""2024-01-01T00:00:00.123456Z""#,
            r#""2024-01-01T00:00:00.5+02:00""#,
            r#""2024-01-01 00:00:00""#,
            r#""0000-00-00""#,
            "{}",
            r#"{"x":1}"#,
        ];
        prop_oneof![
            5 => select(fixed.map(str::to_owned).to_vec()),
            1 => any::<i64>().prop_map(|n| n.to_string()),
            1 => any::<f64>().prop_map(|n| Value::from(n).to_string()),
            1 => any::<f32>().prop_map(|n| Value::from(n).to_string()),
            1 => "[ -~é]{0,12}".prop_map(|t| Value::from(t).to_string()),
        ]
    }

    proptest! {
        #[test]
        fn columns_are_what_a_parser_makes_of_each_text(
            habits in vec((any::<u8>(), vec(value(), 1..4)), 1..3),
            rows in vec((0_usize..3, any::<bool>(), vec(value(), 11), 0_usize..40), 1..20),
        ) {
            let kinds = [
                ("b", DataType::Int8), ("i", DataType::Int32), ("l", DataType::Int64),
                ("f", DataType::Float32), ("d", DataType::Float64), ("m", DataType::Decimal128(6, 2)),
                ("s", DataType::Utf8), ("day", DataType::Date32), ("o", DataType::Boolean),
                ("t", DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into()))),
                ("n", DataType::Timestamp(TimeUnit::Microsecond, None)),
            ];
            let leaves: Fields = kinds.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true)).collect();
            let inner = DataType::Struct(leaves.clone());
            let outer = DataType::Struct(Fields::from(vec![Field::new("in", inner.clone(), true)]));
            let parser = StatsParser::new(&Fields::from(vec![
                Field::new("numRecords", DataType::Int64, true),
                Field::new("minValues", inner, true),
                Field::new("maxValues", outer, true),
            ]));
            // most values of a row are fit for their columns, so that it is not always the parser that reads it
            let fit = ["1", "-20", "5", "1.5", "2.5e-7", "12.3", "\"text\"", "\"2024-02-29\"", "true",
                "\"2024-01-01T00:00:00.123Z\"", "\"2024-01-01 00:00:00.000001\""];
            let texts: Vec<Option<String>> = rows.iter().map(|(habit, present, values, odd)| {
                let (left_out, others) = habits.get(*habit)?;
                let of = |at: usize| if at == *odd { values[at].as_str() } else { fit[at] };
                let fields: Vec<String> = (0..kinds.len())
                    .filter(|at| left_out & (1 << (at % 8)) == 0)
                    .map(|at| format!("\"{}\":{}", kinds[at].0, of(at)))
                    .collect();
                let fields = fields.join(",");
                let more = if *present { "" } else { others[0].as_str() };
                let more = if more.is_empty() { String::new() } else { format!(",\"other\":{more}") };
                Some(format!("{{\"numRecords\":{odd},\"minValues\":{{{fields}}},\"maxValues\":{{\"in\":{{{fields}}}}}{more}}}"))
            }).collect();
            let rows: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
            let parsed = parser.parse(&StringViewArray::from(rows.clone()));
            let expected = parser.parse_each(&rows);
            prop_assert_eq!(parsed.unwrap().to_data(), expected.unwrap().to_data());
        }
    }
}
