//! The lengths of `char` and `varchar` columns, which are plain strings in the log: field metadata has the length.
//!
//! As Spark does on write: text that is too long loses trailing spaces down to the length, and is refused when that is
//! not enough; text shorter than a `char` is padded with spaces. Lengths are in characters.

use std::sync::Arc;

use crate::error::{Error, Result, condition};
use crate::schema::raw_type::{RawType, TextLimit};
use crate::schema::{CHAR_VARCHAR, DataType, StructField, StructType};
use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, RecordBatch, StringArray, StructArray};
use arrow::buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};

/// The limits of a column, at any depth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Limits {
    Text(TextLimit),
    /// One for each field, with its name; none where nothing in the field is limited.
    Struct(Vec<Option<(String, Limits)>>),
    List(Box<Limits>),
    Map(Option<Box<Limits>>, Option<Box<Limits>>),
}

/// The limits of the columns of a table, one for each; `None` where nothing is limited.
///
/// # Errors
/// [`Error::InvalidSchema`] when the type in a column's metadata is not one that can be read.
pub(crate) fn limits_of(schema: &StructType) -> Result<Vec<Option<Limits>>> {
    schema.fields.iter().map(limits_of_column).collect()
}

fn limits_of_column(field: &StructField) -> Result<Option<Limits>> {
    let Some(text) = field.metadata.get(CHAR_VARCHAR) else { return Ok(None) };
    let raw = text.as_str().and_then(RawType::parse).ok_or_else(|| Error::InvalidSchema {
        reason: format!("column `{}`: {CHAR_VARCHAR} is {text}, which is not a type", field.name),
    })?;
    Ok(bind(&raw, &field.data_type))
}

/// The limits of a column's own type. Fields are matched by name; renamed ones by their place.
fn bind(raw: &RawType, data_type: &DataType) -> Option<Limits> {
    match (raw, data_type) {
        (RawType::Text(limit), DataType::String) => Some(Limits::Text(*limit)),
        (RawType::List(raw), DataType::Array(a)) => Some(Limits::List(Box::new(bind(raw, &a.element_type)?))),
        (RawType::Map(key, value), DataType::Map(m)) => {
            let (key, value) = (bind(key, &m.key_type), bind(value, &m.value_type));
            (key.is_some() || value.is_some()).then(|| Limits::Map(key.map(Box::new), value.map(Box::new)))
        }
        (RawType::Struct(raw), DataType::Struct(s)) => {
            let same = raw.len() == s.fields.len();
            let find = |(place, field): (usize, &StructField)| {
                let named = raw.iter().find(|(name, _)| name.to_lowercase() == field.name.to_lowercase());
                let (_, raw) = named.or_else(|| raw.get(place).filter(|_| same))?;
                Some((field.name.clone(), bind(raw, &field.data_type)?))
            };
            let fields: Vec<_> = s.fields.iter().enumerate().map(find).collect();
            fields.iter().any(Option::is_some).then_some(Limits::Struct(fields))
        }
        _ => None,
    }
}

/// Writes the limits of a nested column into its metadata by the fields that it has now: those of fields that were renamed or
/// moved, and those in the metadata of a field that was added, where no engine looks for them.
pub(crate) fn renew_limits(column: &mut StructField) {
    let old = column.metadata.get(CHAR_VARCHAR).map(|text| text.as_str().and_then(RawType::parse));
    let limits = match old {
        // a type that cannot be read is refused by the next write
        Some(None) => return,
        Some(Some(raw)) => bind(&raw, &column.data_type),
        None => None,
    };
    let declared = declared(&column.data_type, limits.as_ref());
    let mut one = StructType { fields: vec![column.clone()] };
    one.change_fields(&mut |path, field| {
        if path.len() > 1 {
            field.metadata.remove(CHAR_VARCHAR);
        }
    });
    if let Some(field) = one.fields.pop() {
        *column = field;
    }
    match declared.has_text() {
        true => column.metadata.insert(CHAR_VARCHAR.into(), declared.to_string().into()),
        false => column.metadata.remove(CHAR_VARCHAR),
    };
}

/// The type with its limits, and with those in the metadata of its fields.
fn declared(data_type: &DataType, limits: Option<&Limits>) -> RawType {
    let boxed = |data_type, limits| Box::new(declared(data_type, limits));
    match (data_type, limits) {
        (DataType::String, Some(Limits::Text(limit))) => RawType::Text(*limit),
        (DataType::Array(a), limits) => RawType::List(boxed(
            &a.element_type,
            match limits {
                Some(Limits::List(element)) => Some(element.as_ref()),
                _ => None,
            },
        )),
        (DataType::Map(m), limits) => {
            let (key, value) = match limits {
                Some(Limits::Map(key, value)) => (key.as_deref(), value.as_deref()),
                _ => (None, None),
            };
            RawType::Map(boxed(&m.key_type, key), boxed(&m.value_type, value))
        }
        (DataType::Struct(s), limits) => RawType::Struct(
            s.fields
                .iter()
                .enumerate()
                .map(|(place, field)| {
                    let limits = match limits {
                        Some(Limits::Struct(fields)) => {
                            fields.get(place).and_then(Option::as_ref).map(|(_, limits)| limits)
                        }
                        _ => None,
                    };
                    let own = field.metadata.get(CHAR_VARCHAR).and_then(|text| text.as_str());
                    let raw = match own.and_then(RawType::parse) {
                        Some(raw) if limits.is_none() => raw,
                        _ => declared(&field.data_type, limits),
                    };
                    (field.name.clone(), raw)
                })
                .collect(),
        ),
        (data_type, _) => RawType::plain(data_type),
    }
}

/// Applies the limits to a batch that [`crate::write::conform_batch`] made.
///
/// # Errors
/// [`Error::SchemaMismatch`] for text that is too long; the error names the column.
pub(crate) fn limit_batch(
    path: &str,
    batch: RecordBatch,
    table: &StructType,
    limits: &[Option<Limits>],
) -> Result<RecordBatch> {
    if limits.iter().all(Option::is_none) {
        return Ok(batch);
    }
    let limited = |((array, field), limits): ((&ArrayRef, &StructField), &Option<Limits>)| match limits {
        Some(limits) => Limiter { path }.apply(array, limits, array.nulls(), &field.name),
        None => Ok(array.clone()),
    };
    let columns =
        batch.columns().iter().zip(&table.fields).zip(limits).map(limited).collect::<Result<_>>()?;
    RecordBatch::try_new(batch.schema(), columns).map_err(|e| Error::arrow(format!("data for `{path}`"), e))
}

struct Limiter<'a> {
    path: &'a str,
}

impl Limiter<'_> {
    /// `visible` are the values that exist: those under a null parent do not.
    fn apply(
        &self,
        array: &ArrayRef,
        limits: &Limits,
        visible: Option<&NullBuffer>,
        column: &str,
    ) -> Result<ArrayRef> {
        let failed = |e| Error::arrow(format!("column `{column}` of the data for `{}`", self.path), e);
        let inner = |array: &ArrayRef, limits: &Option<Box<Limits>>, visible: &NullBuffer, name: &str| {
            let visible = NullBuffer::union(Some(visible), array.nulls());
            match limits {
                Some(limits) => self.apply(array, limits, visible.as_ref(), &format!("{column}.{name}")),
                None => Ok(array.clone()),
            }
        };
        match limits {
            Limits::Text(limit) => self.limit(array, *limit, visible, column),
            Limits::Struct(fields) => {
                let array = array.as_struct();
                let children = array.columns().iter().zip(fields).map(|(child, limits)| match limits {
                    Some((name, limits)) => {
                        let visible = NullBuffer::union(visible, child.nulls());
                        self.apply(child, limits, visible.as_ref(), &format!("{column}.{name}"))
                    }
                    None => Ok(child.clone()),
                });
                let children = children.collect::<Result<_>>()?;
                let built = StructArray::try_new(array.fields().clone(), children, array.nulls().cloned());
                Ok(Arc::new(built.map_err(failed)?))
            }
            Limits::List(limits) => {
                let list = array.as_list::<i32>();
                let shown = shown(list.offsets(), list.values().len(), visible);
                let values = inner(list.values(), &Some(limits.clone()), &shown, "element")?;
                let arrow::datatypes::DataType::List(field) = list.data_type() else {
                    return Ok(array.clone());
                };
                let built =
                    ListArray::try_new(field.clone(), list.offsets().clone(), values, list.nulls().cloned());
                Ok(Arc::new(built.map_err(failed)?))
            }
            Limits::Map(key, value) => {
                let map = array.as_map();
                let arrow::datatypes::DataType::Map(field, sorted) = map.data_type() else {
                    return Ok(array.clone());
                };
                let shown = shown(map.offsets(), map.entries().len(), visible);
                let keys = inner(map.keys(), key, &shown, "key")?;
                let values = inner(map.values(), value, &shown, "value")?;
                let fields = map.entries().fields().clone();
                let entries = StructArray::try_new(fields, vec![keys, values], None).map_err(failed)?;
                let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
                let built = MapArray::try_new(field.clone(), offsets, entries, nulls, *sorted);
                Ok(Arc::new(built.map_err(failed)?))
            }
        }
    }

    fn limit(
        &self,
        array: &ArrayRef,
        limit: TextLimit,
        visible: Option<&NullBuffer>,
        column: &str,
    ) -> Result<ArrayRef> {
        let texts: &StringArray = array.as_string();
        let there = |row: usize| visible.is_none_or(|v| v.is_valid(row));
        let characters = |text: &str| text.chars().count();
        let fits = |text: &str| match limit.padded {
            true => characters(text) == limit.length,
            false => text.len() <= limit.length || characters(text) <= limit.length,
        };
        if (0..texts.len()).all(|row| !there(row) || fits(texts.value(row))) {
            return Ok(array.clone());
        }
        if limit.padded {
            // a length is what the log says: the texts of a batch stay within what an array of them holds
            let most = texts.value_data().len().saturating_add(limit.length.saturating_mul(texts.len()));
            if i32::try_from(most).is_err() {
                return Err(Error::Unsupported {
                    path: self.path.to_owned(),
                    what: format!(
                        "{} rows of `{column}`, which is char({}), in one batch",
                        texts.len(),
                        limit.length
                    ),
                });
            }
        }
        let fitted = |row: usize| {
            if !there(row) {
                return Ok(None);
            }
            let text = texts.value(row);
            let length = characters(text);
            if length <= limit.length {
                let missing = if limit.padded { limit.length - length } else { 0 };
                return Ok(Some(text.to_owned() + &" ".repeat(missing)));
            }
            if characters(text.trim_end_matches(' ')) > limit.length {
                let kind = if limit.padded { "char" } else { "varchar" };
                let most = limit.length;
                return Err(Error::SchemaMismatch {
                    path: self.path.to_owned(),
                    reason: format!(
                        "`{column}` is {kind}({most}), and the data holds a text of {length} characters"
                    ),
                }
                .named(&condition::EXCEED_CHAR_VARCHAR_LIMIT, [("value", text)]));
            }
            Ok(Some(text.chars().take(limit.length).collect::<String>()))
        };
        Ok(Arc::new((0..texts.len()).map(fitted).collect::<Result<StringArray>>()?))
    }
}

/// The items that are in a non-null list.
fn shown(offsets: &OffsetBuffer<i32>, items: usize, visible: Option<&NullBuffer>) -> NullBuffer {
    let mut shown = vec![false; items];
    for (row, bounds) in offsets.windows(2).enumerate() {
        if visible.is_none_or(|v| v.is_valid(row)) {
            shown[bounds[0] as usize..bounds[1] as usize].fill(true);
        }
    }
    NullBuffer::new(BooleanBuffer::from(shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamed_fields_keep_their_limit() {
        let field = |name: &str| StructField::new(name, DataType::String, true);
        let to = DataType::Struct(Box::new(StructType { fields: vec![field("new"), field("B")] }));
        let raw = RawType::parse("struct<old:varchar(1),b:char(2)>").unwrap();
        let limit =
            |name: &str, length, padded| Some((name.to_owned(), Limits::Text(TextLimit { length, padded })));
        let limits = Limits::Struct(vec![limit("new", 1, false), limit("B", 2, true)]);
        assert_eq!(bind(&raw, &to), Some(limits));
    }

    fn limited(values: Vec<Option<&str>>, length: usize, padded: bool) -> Result<Vec<Option<String>>> {
        let array: ArrayRef = Arc::new(StringArray::from(values));
        let limits = Limits::Text(TextLimit { length, padded });
        let out = Limiter { path: "t" }.apply(&array, &limits, array.nulls(), "c")?;
        Ok(out.as_string::<i32>().iter().map(|v| v.map(str::to_owned)).collect())
    }

    #[test]
    fn text_is_cut_of_spaces_padded_or_refused() {
        let own = |values: &[Option<&str>]| {
            values.iter().map(|v| v.map(str::to_owned)).collect::<Vec<Option<String>>>()
        };
        let values = vec![Some("äöü"), Some("a"), Some("ab    "), None];
        assert_eq!(
            limited(values.clone(), 3, false).unwrap(),
            own(&[Some("äöü"), Some("a"), Some("ab "), None])
        );
        assert_eq!(limited(values, 3, true).unwrap(), own(&[Some("äöü"), Some("a  "), Some("ab "), None]));
        let error = limited(vec![Some("abcd ")], 3, false).unwrap_err().to_string();
        assert!(error.contains("`c` is varchar(3), and the data holds a text of 5 characters"), "{error}");
    }

    #[test]
    fn a_length_does_not_decide_how_much_memory_is_taken() {
        let long = limited(vec![Some("a"), Some("b")], 1 << 31, true).unwrap_err().to_string();
        assert!(long.contains("2 rows of `c`, which is char(2147483648), in one batch"), "{long}");
        assert!(limited(vec![Some("a")], usize::MAX, true).is_err());
        assert_eq!(limited(vec![Some("a")], usize::MAX, false).unwrap(), [Some("a".to_owned())]);
    }

    #[test]
    fn text_under_a_null_parent_does_not_count() {
        let field = Arc::new(arrow::datatypes::Field::new("a", arrow::datatypes::DataType::Utf8, true));
        let child: ArrayRef = Arc::new(StringArray::from(vec!["too long", "ok"]));
        let nulls = NullBuffer::from(vec![false, true]);
        let array: ArrayRef = Arc::new(StructArray::new(vec![field].into(), vec![child], Some(nulls)));
        let limit = Limits::Text(TextLimit { length: 3, padded: false });
        let limits = Limits::Struct(vec![Some(("a".into(), limit))]);
        let out = Limiter { path: "t" }.apply(&array, &limits, array.nulls(), "s").unwrap();
        assert_eq!(out.len(), 2);
        let array =
            StructArray::new(array.as_struct().fields().clone(), array.as_struct().columns().to_vec(), None);
        let array: ArrayRef = Arc::new(array);
        let error = Limiter { path: "t" }.apply(&array, &limits, None, "s").unwrap_err().to_string();
        assert!(error.contains("`s.a` is varchar(3)"), "{error}");
    }
}
