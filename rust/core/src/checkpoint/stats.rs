use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringViewArray, StructArray};
use arrow::datatypes::{Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow_json::ReaderBuilder;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

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
    let valid = arrow::buffer::NullBuffer::from_iter(rows.iter().map(Option::is_some));
    let (schema, columns, _) = batch.into_parts();
    Arc::new(StructArray::new(schema.fields().clone(), columns, Some(valid)))
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::{DataType, Field, Float64Type, Int64Type};

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
}
