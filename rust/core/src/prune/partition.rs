//! Partition values: exact where they parse, anything where they do not.

use std::borrow::Cow;
use std::collections::HashMap;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, MapArray, StringArray, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType as Arrow, Int32Type};
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
    keys: Texts,
    values: Texts,
}

/// A column of texts, as it is or as numbers of distinct ones.
enum Texts {
    Plain(StringArray),
    Coded(Int32Array, StringArray),
}

impl Texts {
    /// `None` where the array is not of text.
    fn of(array: &ArrayRef) -> Option<Self> {
        let text = |array: &ArrayRef| Some(cast(array, &Arrow::Utf8).ok()?.as_string_opt::<i32>()?.clone());
        match array.as_dictionary_opt::<Int32Type>() {
            Some(coded) if coded.values().null_count() == 0 => {
                Some(Texts::Coded(coded.keys().clone(), text(coded.values())?))
            }
            _ => text(array).map(Texts::Plain),
        }
    }
}

/// The value of the map for a column: nothing is not what the protocol asks for, so nothing is known of it.
const MISSING: u32 = 0;
const NULL: u32 = 1;
/// Texts have the numbers from here on.
const TEXTS: u32 = 2;

impl<'a> MapReader<'a> {
    /// `None` where keys or values are not text.
    pub(crate) fn new(columns: &'a [BoundColumn], map: &'a MapArray) -> Option<Self> {
        Some(MapReader { columns, map, keys: Texts::of(map.keys())?, values: Texts::of(map.values())? })
    }

    /// The place of the entry of each row in `keep` that has this key, if it has one.
    fn entries(&self, name: &str, keep: &BooleanBuffer, mut each: impl FnMut(usize, Option<usize>)) {
        match &self.keys {
            Texts::Plain(keys) => self.find(|at| keys.value(at) == name, keep, &mut each),
            Texts::Coded(codes, texts) => {
                let named: Vec<bool> = texts.iter().map(|text| text == Some(name)).collect();
                let codes = codes.values();
                self.find(|at| usize::try_from(codes[at]).is_ok_and(|code| named[code]), keep, &mut each);
            }
        }
    }

    /// Looks where the entry was in the row before, then everywhere.
    fn find(
        &self,
        is_here: impl Fn(usize) -> bool,
        keep: &BooleanBuffer,
        each: &mut impl FnMut(usize, Option<usize>),
    ) {
        let offsets = self.map.value_offsets();
        let mut hint = 0;
        for row in keep.set_indices() {
            let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
            let here = start + hint;
            let found = if self.map.is_null(row) {
                None
            } else if here < end && is_here(here) {
                Some(here)
            } else {
                (start..end).find(|at| is_here(*at)).inspect(|at| hint = at - start)
            };
            each(row, found);
        }
    }

    /// The number of the value of a column in each row in `keep`, and the texts of the numbers from [`TEXTS`] on.
    fn numbered(&self, name: &str, keep: &BooleanBuffer) -> (Vec<u32>, Vec<&str>) {
        let mut numbers = vec![MISSING; self.map.len()];
        match &self.values {
            Texts::Coded(codes, texts) => {
                let values = codes.values();
                self.entries(name, keep, |row, found| {
                    let Some(at) = found else { return };
                    numbers[row] = if codes.is_null(at) { NULL } else { TEXTS + values[at].unsigned_abs() };
                });
                (numbers, texts.iter().flatten().collect())
            }
            Texts::Plain(values) => {
                let mut known: HashMap<&str, u32, RandomState> = HashMap::default();
                let (mut texts, mut last): (Vec<&str>, Option<u32>) = (Vec::new(), None);
                self.entries(name, keep, |row, found| {
                    let Some(at) = found else { return };
                    if values.is_null(at) {
                        numbers[row] = NULL;
                        return;
                    }
                    let text = values.value(at);
                    // files of one partition mostly follow each other
                    let same = last.filter(|number| texts[*number as usize] == text);
                    let number = same.unwrap_or_else(|| {
                        *known.entry(text).or_insert_with(|| {
                            texts.push(text);
                            texts.len() as u32 - 1
                        })
                    });
                    last = Some(number);
                    numbers[row] = TEXTS + number;
                });
                (numbers, texts)
            }
        }
    }

    /// The distinct combinations of values of the rows in `keep`.
    pub(crate) fn combinations(&self, keep: &BooleanBuffer) -> Combinations<'_> {
        let mut of_rows = vec![0; self.map.len()];
        let (mut values, mut texts) = (Vec::new(), Vec::with_capacity(self.columns.len()));
        for (width, column) in self.columns.iter().enumerate() {
            let (numbers, of_column) = self.numbered(&column.physical[0], keep);
            let mut longer: Vec<u32> = Vec::new();
            let mut lengthen = |combination: u32, number: u32| {
                let start = combination as usize * width;
                longer.extend_from_slice(&values[start..start + width]);
                longer.push(number);
                (longer.len() / (width + 1)) as u32 - 1
            };
            // while there is one combination, a value tells the next
            if values.len() == width {
                let mut known: Vec<Option<u32>> = vec![None; of_column.len() + TEXTS as usize];
                for row in keep.set_indices() {
                    let number = numbers[row];
                    let known = &mut known[number as usize];
                    of_rows[row] = *known.get_or_insert_with(|| lengthen(0, number));
                }
            } else {
                let mut known: HashMap<(u32, u32), u32, RandomState> = HashMap::default();
                for row in keep.set_indices() {
                    let pair = (of_rows[row], numbers[row]);
                    of_rows[row] = *known.entry(pair).or_insert_with(|| lengthen(pair.0, pair.1));
                }
            }
            values = longer;
            texts.push(of_column);
        }
        Combinations { columns: self.columns, of_rows, values, texts }
    }
}

/// The distinct combinations of values of a batch of files.
pub(crate) struct Combinations<'m> {
    columns: &'m [BoundColumn],
    /// The number of the combination of each row that is looked at; the others have number 0, which may not exist.
    pub(crate) of_rows: Vec<u32>,
    /// The numbers of the values of each combination, one for each column.
    values: Vec<u32>,
    /// The texts of each column, by their numbers from [`TEXTS`] on.
    texts: Vec<Vec<&'m str>>,
}

impl<'m> Combinations<'m> {
    /// For each combination the facts of its values. They are made one after the other: a batch may have as many as files.
    pub(crate) fn each(&self, mut each: impl FnMut(&mut Vec<Facts<'m>>)) {
        let width = self.columns.len();
        // without a column there is one combination, of no value
        let count = self.values.len().checked_div(width).unwrap_or(1);
        let mut facts = Vec::with_capacity(width);
        for values in (0..count).map(|number| &self.values[number * width..(number + 1) * width]) {
            facts.clear();
            let columns = values.iter().zip(&self.texts).zip(self.columns);
            facts.extend(columns.map(|((number, texts), column)| match *number {
                MISSING => Facts::default(),
                NULL => Facts::all_null(),
                text => self::facts(texts[(text - TEXTS) as usize], &column.data_type),
            }));
            each(&mut facts);
        }
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

    /// The value of a column in a file, where it is there as a whole number.
    #[inline]
    pub(crate) fn whole(&self, column: usize, row: usize) -> Option<i64> {
        let Some(Canonical::Integer(values)) = &self.arrays[column] else { return None };
        (self.parsed.is_valid(row) && values.is_valid(row)).then(|| values.value(row))
    }

    /// A null is unknown: the value may be null, or its writer may have failed to parse it.
    pub(crate) fn facts(&self, row: usize) -> impl Iterator<Item = Facts<'_>> {
        let valid = self.parsed.is_valid(row);
        self.arrays.iter().zip(self.columns).map(move |(array, column)| {
            let value = array.as_ref().filter(|_| valid).and_then(|a| a.value(row));
            value.map_or_else(Facts::default, |v| of_parsed(v.clone(), v, &column.data_type))
        })
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
    use std::sync::Arc;

    use arrow::array::{MapBuilder, StringBuilder};
    use arrow::datatypes::{Field, Fields};
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// The same map with dictionaries for texts.
    fn coded(map: &MapArray) -> MapArray {
        let dictionary = Arrow::Dictionary(Box::new(Arrow::Int32), Box::new(Arrow::Utf8));
        let (keys, values) =
            (cast(map.keys(), &dictionary).unwrap(), cast(map.values(), &dictionary).unwrap());
        let field = |name: &str, null| Field::new(name, dictionary.clone(), null);
        let fields = Fields::from(vec![field("key", false), field("value", true)]);
        let entries = StructArray::new(fields.clone(), vec![keys, values], None);
        let entry = Arc::new(Field::new("key_value", Arrow::Struct(fields), false));
        MapArray::new(entry, map.offsets().clone(), entries, map.nulls().cloned(), false)
    }

    proptest! {
        #[test]
        fn each_row_has_the_facts_of_its_own_entries(
            rows in vec((any::<bool>(), vec((select(vec!["a", "b", "c"]), option::of("[0-9]{0,2}")), 0..4)), 0..40),
            kept in vec(any::<bool>(), 40),
        ) {
            let column = |name: &str| BoundColumn {
                logical: vec![name.to_owned()],
                physical: vec![name.to_owned()],
                data_type: DataType::Integer,
                partition: true,
                was_float: false,
            };
            let columns = [column("a"), column("c")];
            let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
            let mut rows = rows;
            for (valid, entries) in &mut rows {
                // a map has a key once
                let mut seen = Vec::new();
                entries.retain(|(key, _)| !seen.contains(key) && { seen.push(*key); true });
                for (key, value) in &*entries {
                    map.keys().append_value(key);
                    map.values().append_option(value.as_ref());
                }
                map.append(*valid).unwrap();
            }
            let map = map.finish();
            let keep = BooleanBuffer::collect_bool(rows.len(), |row| kept[row]);
            for map in [coded(&map), map] {
                let reader = MapReader::new(&columns, &map).unwrap();
                let combinations = reader.combinations(&keep);
                let mut found = Vec::new();
                combinations.each(|facts| found.push(format!("{facts:?}")));
                for row in keep.set_indices() {
                    let (valid, entries) = &rows[row];
                    let expected = columns.each_ref().map(|column| {
                        match entries.iter().find(|(key, _)| *key == column.physical[0]).filter(|_| *valid) {
                            None => Facts::default(),
                            Some((_, None)) => Facts::all_null(),
                            Some((_, Some(text))) => facts(text, &column.data_type),
                        }
                    });
                    prop_assert_eq!(&found[combinations.of_rows[row] as usize], &format!("{expected:?}"));
                }
            }
        }
    }

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
