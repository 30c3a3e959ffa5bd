//! Partition values: exact where they parse, anything where they do not.

use std::borrow::Cow;
use std::collections::HashMap;

use arrow::array::{Array, AsArray, MapArray, StringArray, StructArray};
use arrow::compute::cast;
use arrow::datatypes::DataType as Arrow;
use arrow_buffer::BooleanBuffer;
use foldhash::fast::RandomState;

use super::range::Facts;
use super::side::Side;
use super::timestamps::in_any_zone;
use crate::predicate::BoundColumn;
use crate::predicate::canonical::{Canonical, canonical};
use crate::predicate::scalar::Scalar;
use crate::predicate::text::{Rescaled, parse_date, parse_decimal, parse_timestamp};
use crate::schema::DataType;

/// The facts of a column from a serialized partition value (PROTOCOL.md, "Partition Value Serialization"): the empty
/// string is null in every type, a text that does not parse is unknown, a timestamp without a zone is an instant in
/// the zone of whoever wrote it.
fn facts<'a>(text: &'a str, data_type: &DataType) -> Facts<'a> {
    if text.is_empty() {
        return Facts::all_null();
    }
    if *data_type == DataType::Timestamp {
        return match parse_timestamp(text) {
            Some(t) if t.offset.is_some() => Facts::point(Scalar::Integer(t.micros)),
            Some(t) => {
                let at = |side| Scalar::Integer(in_any_zone(t.micros, side));
                Facts::between(at(Side::Lower), at(Side::Upper))
            }
            None => Facts::default(),
        };
    }
    value(text, data_type).map_or_else(Facts::default, Facts::point)
}

fn value<'a>(text: &'a str, data_type: &DataType) -> Option<Scalar<'a>> {
    let number = text.trim();
    Some(match data_type {
        DataType::Byte => Scalar::Integer(number.parse::<i8>().ok()?.into()),
        DataType::Short => Scalar::Integer(number.parse::<i16>().ok()?.into()),
        DataType::Integer => Scalar::Integer(number.parse::<i32>().ok()?.into()),
        DataType::Long => Scalar::Integer(number.parse().ok()?),
        DataType::Float => Scalar::Double(number.parse::<f32>().ok()?.into()),
        DataType::Double => Scalar::Double(number.parse().ok()?),
        DataType::Decimal(_, scale) => match parse_decimal(number)?.rescale(*scale)? {
            Rescaled::Exact(v) => Scalar::Decimal(v),
            Rescaled::Above(_) => return None,
        },
        DataType::Boolean => Scalar::Boolean(match number {
            t if t.eq_ignore_ascii_case("true") => true,
            t if t.eq_ignore_ascii_case("false") => false,
            _ => return None,
        }),
        DataType::String => Scalar::Bytes(Cow::Borrowed(text.as_bytes())),
        // beyond ASCII some writers mean the bytes of UTF-8 and some one byte a character
        DataType::Binary if text.is_ascii() => Scalar::Bytes(Cow::Borrowed(text.as_bytes())),
        DataType::Date => Scalar::Integer(parse_date(text)?.into()),
        // a zone has no place here; `Z` is what some writers print all the same
        DataType::TimestampNtz => {
            Scalar::Integer(parse_timestamp(text).filter(|t| t.offset.unwrap_or(0) == 0)?.micros)
        }
        _ => return None,
    })
}

/// The partition columns of a batch of files, read from the raw map.
pub(crate) struct MapReader<'a> {
    columns: &'a [BoundColumn],
    map: &'a MapArray,
    keys: StringArray,
    values: StringArray,
}

/// The value of the map for a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry<'a> {
    /// Nothing: not what the protocol asks for, so nothing is known.
    Missing,
    Null,
    Text(&'a str),
}

impl<'a> MapReader<'a> {
    /// `None` where keys or values are not text.
    pub(crate) fn new(columns: &'a [BoundColumn], map: &'a MapArray) -> Option<Self> {
        let text = |array| Some(cast(array, &Arrow::Utf8).ok()?.as_string_opt::<i32>()?.clone());
        Some(MapReader { columns, map, keys: text(map.keys())?, values: text(map.values())? })
    }

    /// Looks where the column was in the row before, then everywhere.
    fn entry(&self, row: usize, column: &BoundColumn, hint: &mut usize) -> Entry<'_> {
        if self.map.is_null(row) {
            return Entry::Missing;
        }
        let offsets = self.map.value_offsets();
        let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
        let name = column.physical[0].as_str();
        let is_here = |at: usize| at < end && self.keys.value(at) == name;
        let at = start + *hint;
        let Some(at) = is_here(at).then_some(at).or_else(|| (start..end).find(|at| is_here(*at))) else {
            return Entry::Missing;
        };
        *hint = at - start;
        if self.values.is_null(at) { Entry::Null } else { Entry::Text(self.values.value(at)) }
    }

    /// The distinct combinations of values: the number of its combination for each row, and the facts of each.
    /// Only the rows in `keep` are looked at; the others get number 0, which may not exist.
    pub(crate) fn combinations(&self, keep: &BooleanBuffer) -> (Vec<usize>, Vec<Vec<Facts<'_>>>) {
        let mut hints = vec![0; self.columns.len()];
        let (mut key, mut last) = (Vec::new(), (Vec::new(), None));
        let mut known: HashMap<Vec<u8>, usize, RandomState> = HashMap::default();
        let mut numbers = vec![0; self.map.len()];
        let mut facts = Vec::new();
        for row in keep.set_indices() {
            key.clear();
            for (column, hint) in self.columns.iter().zip(&mut hints) {
                match self.entry(row, column, hint) {
                    Entry::Missing => key.push(0),
                    Entry::Null => key.push(1),
                    Entry::Text(text) => {
                        key.push(2);
                        key.extend_from_slice(&(text.len() as u64).to_le_bytes());
                        key.extend_from_slice(text.as_bytes());
                    }
                }
            }
            // files of one partition mostly follow each other
            numbers[row] = match last {
                (ref last_key, Some(number)) if *last_key == key => number,
                _ => {
                    let number = known.get(&key).copied().unwrap_or_else(|| {
                        facts.push(self.facts(row, &mut hints));
                        known.insert(key.clone(), facts.len() - 1);
                        facts.len() - 1
                    });
                    last.0.clone_from(&key);
                    last.1 = Some(number);
                    number
                }
            };
        }
        (numbers, facts)
    }

    fn facts(&self, row: usize, hints: &mut [usize]) -> Vec<Facts<'_>> {
        let entry = |(column, hint): (&BoundColumn, &mut usize)| match self.entry(row, column, hint) {
            Entry::Missing => Facts::default(),
            Entry::Null => Facts::all_null(),
            Entry::Text(text) => facts(text, &column.data_type),
        };
        self.columns.iter().zip(hints).map(entry).collect()
    }
}

/// The partition columns of a batch of files, read from `partitionValues_parsed`.
pub(crate) struct StructReader<'a> {
    columns: &'a [BoundColumn],
    parsed: &'a StructArray,
    arrays: Vec<Option<Canonical>>,
}

impl<'a> StructReader<'a> {
    pub(crate) fn new(columns: &'a [BoundColumn], parsed: &'a StructArray) -> Self {
        let array = |c: &BoundColumn| canonical(parsed.column_by_name(&c.physical[0])?, &c.data_type);
        StructReader { columns, parsed, arrays: columns.iter().map(array).collect() }
    }

    /// A null is unknown: the value may be null, or its writer may have failed to parse it.
    pub(crate) fn facts(&self, row: usize) -> Vec<Facts<'_>> {
        let mut facts = Vec::with_capacity(self.columns.len());
        for (array, column) in self.arrays.iter().zip(self.columns) {
            let value = array.as_ref().filter(|_| self.parsed.is_valid(row)).and_then(|a| a.value(row));
            facts.push(value.map_or_else(Facts::default, |v| of_parsed(v.clone(), v, &column.data_type)));
        }
        facts
    }
}

/// What parsed values between two say. A timestamp may have been parsed in the zone of the checkpoint's writer; an empty
/// text is a null that was kept as text.
pub(crate) fn of_parsed<'a>(lower: Scalar<'a>, upper: Scalar<'a>, data_type: &DataType) -> Facts<'a> {
    match (lower, upper) {
        (Scalar::Integer(lower), Scalar::Integer(upper)) if *data_type == DataType::Timestamp => {
            Facts::between(
                Scalar::Integer(in_any_zone(lower, Side::Lower)),
                Scalar::Integer(in_any_zone(upper, Side::Upper)),
            )
        }
        (Scalar::Bytes(lower), upper) if lower.is_empty() => {
            Facts { null: true, ..Facts::between(Scalar::Bytes(lower), upper) }
        }
        (lower, upper) => Facts::between(lower, upper),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, data_type: DataType) -> String {
        let facts = facts(text, &data_type);
        match (facts.null, facts.value, facts.lower, facts.upper) {
            (true, false, ..) => "null".into(),
            (false, true, Some(lower), Some(upper)) if lower.compare(&upper).is_some_and(|o| o.is_eq()) => {
                format!("{lower:?}")
            }
            (false, true, Some(lower), Some(upper)) => format!("{lower:?} to {upper:?}"),
            _ => "anything".into(),
        }
    }

    #[test]
    fn every_type_of_the_protocol() {
        use DataType::{Binary, Boolean, Byte, Date, Decimal, Double, Float, Integer, Long, Short};
        for (text, data_type, expected) in [
            ("", DataType::String, "null"),
            ("", Integer, "null"),
            (" ", DataType::String, "Bytes([32])"),
            ("-5", Long, "Integer(-5)"),
            ("300", Byte, "anything"),
            ("300", Short, "Integer(300)"),
            ("5.0", Integer, "anything"),
            ("0.1", Float, "Double(0.10000000149011612)"),
            ("1.0E10", Double, "Double(10000000000.0)"),
            ("NaN", Double, "Double(NaN)"),
            ("-Infinity", Float, "Double(-inf)"),
            ("12.5", Decimal(5, 2), "Decimal(1250)"),
            ("12.555", Decimal(5, 2), "anything"),
            ("1E-7", Decimal(18, 10), "Decimal(1000)"),
            ("true", Boolean, "Boolean(true)"),
            ("FALSE", Boolean, "Boolean(false)"),
            ("1", Boolean, "anything"),
            ("\u{1}\u{2}", Binary, "Bytes([1, 2])"),
            ("é", Binary, "anything"),
            ("1970-01-02", Date, "Integer(1)"),
            ("tomorrow", Date, "anything"),
            ("1970-01-01T00:00:00.000001Z", DataType::Timestamp, "Integer(1)"),
            ("1970-01-01T01:00:00+01:00", DataType::Timestamp, "Integer(0)"),
            ("1970-01-01 00:00:00", DataType::Timestamp, "Integer(-57600000000) to Integer(57600000000)"),
            ("1970-01-01 00:00:00.5", DataType::TimestampNtz, "Integer(500000)"),
            ("1970-01-01T00:00:00Z", DataType::TimestampNtz, "Integer(0)"),
            ("1970-01-01T00:00:00+01:00", DataType::TimestampNtz, "anything"),
        ] {
            assert_eq!(show(text, data_type.clone()), expected, "{text} as {}", data_type.name());
        }
    }
}
