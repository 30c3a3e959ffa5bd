//! Statistics as JSON text. Only the leaves that a predicate needs are looked at; the rest is skipped, not built.

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::bounds::{facts, from_json, has_bounds};
use super::range::Facts;
use super::side::Side;
use crate::predicate::BoundColumn;

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

    /// Reads the statistics of one file. Whether it worked; text that is not the JSON of an object has no statistics.
    pub(crate) fn read<'a>(&self, text: &'a str, leaves: &mut Leaves<'a>) -> bool {
        leaves.num_records = None;
        for list in [&mut leaves.lower, &mut leaves.upper, &mut leaves.nulls] {
            list.fill(None);
        }
        let mut json = serde_json::Deserializer::from_str(text);
        Stats { reader: self, leaves }.deserialize(&mut json).is_ok() && json.end().is_ok()
    }
}

impl<'a> Leaves<'a> {
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
