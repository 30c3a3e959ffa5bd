//! Which rows of the table can match: what the keys of the source and the condition say of them.

use std::collections::BTreeSet;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType as Arrow, Date32Type, Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType,
};

use super::keys::Key;
use super::source::MergeSource;
use crate::error::Result;
use crate::expr::{Expr, implied};
use crate::predicate::{CompareOp, Literal, Predicate};
use crate::write::decimal_text;

/// Values of a key that are compared one by one; of more their least and greatest.
const MOST_VALUES: usize = 200;

/// A predicate that is true for every row of the table that matches a row of the source. `text` names what it cannot
/// express.
///
/// # Errors
/// Errors of the temporary file of the source.
pub(super) fn predicate<'e>(
    keys: &[Key],
    of_table: impl Iterator<Item = &'e Expr>,
    text: &str,
    source: &MergeSource,
) -> Result<Predicate> {
    let mut parts = Vec::new();
    for part in of_table {
        let bare = part.renamed(&mut |parts| Ok(parts.get(1..).unwrap_or_default().to_vec()))?;
        parts.push(implied(&bare, text));
    }
    let place = |name: &String| source.columns().fields.iter().position(|f| f.name == *name);
    let of_columns = keys.iter().filter_map(|key| {
        let place = key.source_column.as_ref().and_then(place)?;
        Some((key, key.column.clone()?, place, Some(Known::default())))
    });
    let mut known: Vec<_> = of_columns.collect();
    for batch in source.scan() {
        let (_, batch) = batch?;
        for (_, _, place, known) in &mut known {
            *known = known.take().and_then(|known| known.with(batch.column(*place)));
        }
    }
    for (key, column, _, known) in known {
        parts.extend(known.and_then(|known| known.predicate(key, column)));
    }
    Ok(Predicate::And(parts))
}

/// A value of a key. Those of one column are of one kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Long(i64),
    Text(String),
    Date(i32),
    Timestamp(i64),
    TimestampNtz(i64),
    Decimal(i128, i8),
}

impl Value {
    fn literal(self) -> Literal {
        match self {
            Value::Long(value) => Literal::Long(value),
            Value::Text(text) => Literal::String(text),
            Value::Date(days) => Literal::Date(days),
            Value::Timestamp(micros) => Literal::Timestamp(micros),
            Value::TimestampNtz(micros) => Literal::TimestampNtz(micros),
            Value::Decimal(unscaled, scale) => Literal::Decimal(decimal_text(unscaled, scale)),
        }
    }
}

/// What is known of the values of a key.
#[derive(Debug)]
struct Known {
    /// All of them, while they are few.
    few: Option<BTreeSet<Value>>,
    ends: Option<(Value, Value)>,
    nulls: bool,
}

impl Default for Known {
    fn default() -> Self {
        Known { few: Some(BTreeSet::new()), ends: None, nulls: false }
    }
}

impl Known {
    /// True for every value; none where nothing is known.
    fn predicate(self, key: &Key, column: Vec<String>) -> Option<Predicate> {
        let found = match (self.few, self.ends) {
            (Some(few), _) if few.is_empty() => Predicate::Constant(Some(false)),
            (Some(few), _) => Predicate::In {
                column: column.clone(),
                values: few.into_iter().map(Value::literal).collect(),
            },
            (None, Some((least, greatest))) => {
                let compare = |op, value: Value| Predicate::Compare {
                    op,
                    column: column.clone(),
                    value: value.literal(),
                };
                Predicate::And(vec![compare(CompareOp::Ge, least), compare(CompareOp::Le, greatest)])
            }
            (None, None) => return None,
        };
        Some(match key.null_safe && self.nulls {
            true => Predicate::Or(vec![found, Predicate::IsNull { column }]),
            false => found,
        })
    }

    /// With the values of a batch; none where they are of a kind that statistics are not compared with.
    fn with(mut self, values: &ArrayRef) -> Option<Self> {
        self.nulls |= values.logical_null_count() > 0;
        macro_rules! each {
            ($of:ty, $value:expr) => {{
                values.as_primitive::<$of>().iter().flatten().for_each(|v| self.note($value(v)));
            }};
        }
        match values.data_type() {
            Arrow::Int8 => each!(Int8Type, |v| Value::Long(i64::from(v))),
            Arrow::Int16 => each!(Int16Type, |v| Value::Long(i64::from(v))),
            Arrow::Int32 => each!(Int32Type, |v| Value::Long(i64::from(v))),
            Arrow::Int64 => each!(Int64Type, Value::Long),
            Arrow::Date32 => each!(Date32Type, Value::Date),
            Arrow::Timestamp(TimeUnit::Microsecond, Some(_)) => {
                each!(TimestampMicrosecondType, Value::Timestamp);
            }
            Arrow::Timestamp(TimeUnit::Microsecond, None) => {
                each!(TimestampMicrosecondType, Value::TimestampNtz);
            }
            Arrow::Decimal128(_, scale) if *scale >= 0 => {
                each!(Decimal128Type, |v| Value::Decimal(v, *scale));
            }
            Arrow::Utf8 => {
                let texts = values.as_string::<i32>();
                texts.iter().flatten().for_each(|v| self.note_text(v));
            }
            _ => return None,
        }
        Some(self)
    }

    fn note_text(&mut self, text: &str) {
        let is_within = |(least, greatest): &(Value, Value)| match (least, greatest) {
            (Value::Text(least), Value::Text(greatest)) => {
                least.as_str() <= text && text <= greatest.as_str()
            }
            _ => false,
        };
        // most texts of a long column are between the ends: none of these is copied
        if self.few.is_some() || !self.ends.as_ref().is_some_and(is_within) {
            self.note(Value::Text(text.to_owned()));
        }
    }

    fn note(&mut self, value: Value) {
        match &mut self.ends {
            None => self.ends = Some((value.clone(), value.clone())),
            Some((least, _)) if value < *least => *least = value.clone(),
            Some((_, greatest)) if value > *greatest => *greatest = value.clone(),
            Some(_) => {}
        }
        if let Some(few) = &mut self.few {
            few.insert(value);
            if few.len() > MOST_VALUES {
                self.few = None;
            }
        }
    }
}
