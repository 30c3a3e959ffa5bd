//! Statistics as JSON text. Only the leaves that a predicate needs are looked at; the rest is skipped, not built.

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::bounds::{facts, from_json, has_bounds};
use super::json_shape::{Shape, Shapes};
use super::range::Facts;
use super::side::Side;
use crate::predicate::BoundColumn;
use crate::schema::DataType;

/// The physical names of the columns that are wanted, as a tree.
#[derive(Debug, Default)]
struct Names {
    names: Vec<(String, Wanted)>,
}

#[derive(Debug)]
enum Wanted {
    Leaf(usize),
    Struct(Names),
}

impl Names {
    fn add(&mut self, path: &[String], column: usize) {
        let Some((name, rest)) = path.split_first() else { return };
        if rest.is_empty() {
            self.names.push((name.clone(), Wanted::Leaf(column)));
            return;
        }
        if let Some((_, Wanted::Struct(inner))) = self.names.iter_mut().find(|(n, _)| n == name) {
            return inner.add(rest, column);
        }
        let mut inner = Names::default();
        inner.add(rest, column);
        self.names.push((name.clone(), Wanted::Struct(inner)));
    }

    fn find(&self, name: &str) -> Option<&Wanted> {
        self.names.iter().find(|(n, _)| n == name).map(|(_, wanted)| wanted)
    }
}

/// Reads the statistics of chosen columns.
#[derive(Debug)]
pub(crate) struct JsonReader {
    bounds: Names,
    nulls: Names,
    columns: usize,
}

/// The raw values of one file, kept to be filled again.
#[derive(Debug)]
pub(crate) struct Leaves<'a> {
    num_records: Option<i64>,
    lower: Vec<Option<&'a str>>,
    upper: Vec<Option<&'a str>>,
    nulls: Vec<Option<&'a str>>,
}

impl JsonReader {
    /// Prepares for these columns.
    pub(crate) fn new(columns: &[BoundColumn]) -> Self {
        let (mut bounds, mut nulls) = (Names::default(), Names::default());
        for (i, column) in columns.iter().enumerate() {
            nulls.add(&column.physical, i);
            if has_bounds(&column.data_type) {
                bounds.add(&column.physical, i);
            }
        }
        JsonReader { bounds, nulls, columns: columns.len() }
    }

    pub(crate) fn leaves<'a>(&self) -> Leaves<'a> {
        let none = || vec![None; self.columns];
        Leaves { num_records: None, lower: none(), upper: none(), nulls: none() }
    }

    /// Where the values of a shape belong; none where a value is another kind than statistics have in its place, so that
    /// each text is to be looked at.
    fn slots(&self, shape: &Shape) -> Option<Vec<Slot>> {
        shape.paths().iter().map(|path| self.slot(path)).collect()
    }

    fn slot(&self, path: &[String]) -> Option<Slot> {
        let (section, path) = path.split_first()?;
        let (mut names, slot): (_, fn(usize) -> Slot) = match section.as_str() {
            "numRecords" => return path.is_empty().then_some(Slot::NumRecords),
            "minValues" => (&self.bounds, Slot::Lower),
            "maxValues" => (&self.bounds, Slot::Upper),
            "nullCount" => (&self.nulls, Slot::Nulls),
            _ => return Some(Slot::Nowhere),
        };
        if names.names.is_empty() {
            return Some(Slot::Nowhere);
        }
        for (level, name) in path.iter().enumerate() {
            names = match names.find(name) {
                None => return Some(Slot::Nowhere),
                Some(Wanted::Leaf(column)) => return (level + 1 == path.len()).then(|| slot(*column)),
                Some(Wanted::Struct(inner)) => inner,
            };
        }
        None
    }

    /// Reads the statistics of one file. Whether it worked; text that is not the JSON of an object has no statistics.
    pub(crate) fn read<'a>(&self, text: &'a str, leaves: &mut Leaves<'a>) -> bool {
        leaves.clear();
        let mut json = serde_json::Deserializer::from_str(text);
        Stats { reader: self, leaves }.deserialize(&mut json).is_ok() && json.end().is_ok()
    }
}

/// Reads the statistics of many files: those whose text has the shape of one before are not parsed.
#[derive(Debug)]
pub(crate) struct ShapedReader<'r> {
    reader: &'r JsonReader,
    /// Where the values of each shape belong.
    shapes: Shapes<Vec<Slot>>,
}

/// Where a value belongs.
#[derive(Debug, Clone, Copy)]
enum Slot {
    Nowhere,
    NumRecords,
    Lower(usize),
    Upper(usize),
    Nulls(usize),
}

impl<'r> ShapedReader<'r> {
    pub(crate) fn new(reader: &'r JsonReader) -> Self {
        ShapedReader { reader, shapes: Shapes::new() }
    }

    /// As [`JsonReader::read`].
    pub(crate) fn read<'a>(&mut self, text: &'a str, leaves: &mut Leaves<'a>) -> bool {
        leaves.clear();
        let fill = |slots: &Vec<Slot>, number: usize, raw: &'a str| {
            if number == 0 {
                leaves.clear();
            }
            match slots[number] {
                Slot::Nowhere => {}
                Slot::NumRecords => leaves.num_records = raw.parse().ok(),
                Slot::Lower(column) => leaves.lower[column] = Some(raw),
                Slot::Upper(column) => leaves.upper[column] = Some(raw),
                Slot::Nulls(column) => leaves.nulls[column] = Some(raw),
            }
        };
        self.shapes.walk(text, |shape| self.reader.slots(shape), fill).is_some()
            || self.reader.read(text, leaves)
    }
}

impl<'a> Leaves<'a> {
    fn clear(&mut self) {
        self.num_records = None;
        for list in [&mut self.lower, &mut self.upper, &mut self.nulls] {
            list.fill(None);
        }
    }

    /// Least and most of a column of whole numbers, where both are there as such.
    #[inline]
    pub(crate) fn whole(&self, index: usize, data_type: &DataType) -> Option<(i64, i64)> {
        // days are written as text
        let numbers = !matches!(data_type, DataType::Date);
        let (lower, upper) = (self.lower[index].filter(|_| numbers)?, self.upper[index]?);
        Some((lower.parse().ok()?, upper.parse().ok()?))
    }

    /// What the statistics say of a column.
    pub(crate) fn facts(&self, index: usize, column: &BoundColumn) -> Facts<'a> {
        let null_count = self.nulls[index].and_then(|raw| raw.parse().ok());
        let lower = self.lower[index].and_then(|raw| from_json(raw, column, Side::Lower));
        let upper = self.upper[index].and_then(|raw| from_json(raw, column, Side::Upper));
        facts(column, null_count, self.num_records, lower, upper)
    }
}

/// The whole object.
struct Stats<'r, 'l, 'a> {
    reader: &'r JsonReader,
    leaves: &'l mut Leaves<'a>,
}

#[derive(Clone, Copy)]
enum Section {
    NumRecords,
    MinValues,
    MaxValues,
    NullCount,
}

impl<'de> DeserializeSeed<'de> for Stats<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Stats<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("statistics")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let section = Key(|name: &str| match name {
            "numRecords" => Some(Section::NumRecords),
            "minValues" => Some(Section::MinValues),
            "maxValues" => Some(Section::MaxValues),
            "nullCount" => Some(Section::NullCount),
            _ => None,
        });
        let Stats { reader, leaves } = self;
        while let Some(section) = map.next_key_seed(&section)? {
            let (names, slots) = match section {
                None => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                Some(Section::NumRecords) => {
                    leaves.num_records = map.next_value::<&RawValue>()?.get().parse().ok();
                    continue;
                }
                Some(Section::MinValues) => (&reader.bounds, &mut leaves.lower),
                Some(Section::MaxValues) => (&reader.bounds, &mut leaves.upper),
                Some(Section::NullCount) => (&reader.nulls, &mut leaves.nulls),
            };
            if names.names.is_empty() {
                map.next_value::<IgnoredAny>()?;
            } else {
                map.next_value_seed(Object { names, slots })?;
            }
        }
        Ok(())
    }
}

/// `minValues`, `maxValues`, `nullCount`, or a struct inside one of them.
struct Object<'r, 'l, 'a> {
    names: &'r Names,
    slots: &'l mut [Option<&'a str>],
}

impl<'de> DeserializeSeed<'de> for Object<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Object<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object of columns")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Object { names, slots } = self;
        while let Some(wanted) = map.next_key_seed(&Key(|name: &str| names.find(name)))? {
            match wanted {
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
                Some(Wanted::Leaf(column)) => {
                    let slot = slots.get_mut(*column).ok_or_else(|| A::Error::custom("no such column"))?;
                    *slot = Some(map.next_value::<&RawValue>()?.get());
                }
                Some(Wanted::Struct(names)) => map.next_value_seed(Object { names, slots: &mut *slots })?,
            }
        }
        Ok(())
    }
}

/// Looks a key up without making a string of it.
struct Key<F>(F);

impl<'de, T, F: Fn(&str) -> T> DeserializeSeed<'de> for &Key<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T, F: Fn(&str) -> T> Visitor<'_> for &Key<F> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<T, E> {
        Ok(self.0(name))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::schema::DataType;

    fn reader() -> JsonReader {
        let column = |path: &[&str], data_type| {
            let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
            BoundColumn {
                logical: path.clone(),
                physical: path,
                data_type,
                partition: false,
                was_float: false,
            }
        };
        JsonReader::new(&[
            column(&["x"], DataType::Long),
            column(&["s", "y"], DataType::String),
            column(&["s", "t", "z"], DataType::Double),
            column(&["flag"], DataType::Boolean),
        ])
    }

    /// Objects of statistics: as they should be, nearly so, and others.
    fn section() -> impl Strategy<Value = String> {
        let value = select(vec![
            "1",
            "-2.5",
            "null",
            "\"a\"",
            "\"\\u0061\"",
            "true",
            "{}",
            "[1]",
            r#"{"y":1}"#,
            "01",
        ]);
        let whole = (value.clone(), value.clone(), value.clone())
            .prop_map(|(x, y, z)| format!(r#"{{"x":{x},"s":{{"y":{y},"t":{{"z":{z}}}}},"flag":0}}"#));
        let name = select(vec!["x", "s", "flag", "other"]);
        let any = vec((name, value.clone()), 0..4).prop_map(|fields| {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            format!("{{{}}}", fields.join(","))
        });
        prop_oneof![4 => whole, 1 => any, 1 => value.prop_map(str::to_owned)]
    }

    fn text() -> impl Strategy<Value = String> {
        let name =
            select(vec!["minValues", "maxValues", "nullCount", "numRecords", "tightBounds", "minValues"]);
        let sections = prop_oneof![
            3 => Just(vec!["numRecords", "minValues", "maxValues", "nullCount"]),
            1 => vec(name, 0..5),
        ];
        (sections, vec(section(), 5), select(vec!["", "", "", "}", " ", "x"])).prop_map(
            |(names, values, end)| {
                let value = |(name, value): (&&str, &String)| match *name {
                    "numRecords" => format!("\"numRecords\":{}", value.len()),
                    name => format!("\"{name}\":{value}"),
                };
                let fields: Vec<String> = names.iter().zip(&values).map(value).collect();
                format!("{{{}}}{end}", fields.join(","))
            },
        )
    }

    proptest! {
        #[test]
        fn shapes_change_nothing_of_what_is_read(texts in vec(text(), 1..8), order in vec(0_usize..8, 1..24)) {
            let reader = reader();
            let mut shaped = ShapedReader::new(&reader);
            let (mut found, mut expected) = (reader.leaves(), reader.leaves());
            for text in order.iter().filter_map(|at| texts.get(*at)) {
                let read = shaped.read(text, &mut found);
                prop_assert_eq!(read, reader.read(text, &mut expected), "{}", text);
                if read {
                    prop_assert_eq!(found.num_records, expected.num_records);
                    prop_assert_eq!(&found.lower, &expected.lower, "{}", text);
                    prop_assert_eq!(&found.upper, &expected.upper, "{}", text);
                    prop_assert_eq!(&found.nulls, &expected.nulls, "{}", text);
                }
            }
        }
    }
}
