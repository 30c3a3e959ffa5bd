//! Columns by path: finding them, and the struct or type that they are in.

use crate::error::{Error, Result, condition};
use crate::schema::{DataType, StructField, StructType};
use crate::similar::did_you_mean;

/// A refusal of a change of a column.
pub(super) fn refuse(path: &[String], reason: impl Into<String>) -> Error {
    Error::InvalidColumnChange { column: path.join("."), reason: reason.into() }
}

pub(super) fn same(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

/// Whether one path begins with the other, ignoring case.
pub(super) fn begins_with(path: &[String], prefix: &[String]) -> bool {
    path.len() >= prefix.len() && path.iter().zip(prefix).all(|(a, b)| same(a, b))
}

/// The place of a column in the struct that it is in.
pub(super) fn position(schema: &StructType, name: &str) -> Option<usize> {
    let exact = schema.fields.iter().position(|f| f.name == name);
    exact.or_else(|| schema.fields.iter().position(|f| same(&f.name, name)))
}

/// The path as the schema spells it. In arrays and maps it has `element`, `key` and `value`.
///
/// # Errors
/// [`Error::InvalidColumnChange`] when there is no such column.
pub(crate) fn resolve(schema: &StructType, path: &[String]) -> Result<Vec<String>> {
    let missing = |reason: String| refuse(path, reason);
    let mut resolved: Vec<String> = Vec::with_capacity(path.len());
    let mut parent: Option<&DataType> = None;
    for name in path {
        let at = || match resolved.as_slice() {
            [] => "the table".to_owned(),
            parts => format!("`{}`", parts.join(".")),
        };
        let within = match parent {
            None => Some(schema),
            Some(DataType::Struct(s)) => Some(&**s),
            Some(_) => None,
        };
        let (spelled, next) = match (within, parent) {
            (Some(s), _) => {
                let names = || s.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ");
                let like = || did_you_mean(name, s.fields.iter().map(|f| &f.name));
                let place = position(s, name)
                    .ok_or_else(|| missing(format!("no such column{}; {} has {}", like(), at(), names())))?;
                (s.fields[place].name.clone(), &s.fields[place].data_type)
            }
            (None, Some(DataType::Array(a))) if same(name, "element") => ("element".into(), &a.element_type),
            (None, Some(DataType::Map(m))) if same(name, "key") => ("key".into(), &m.key_type),
            (None, Some(DataType::Map(m))) if same(name, "value") => ("value".into(), &m.value_type),
            (None, other) => {
                let steps = match other {
                    Some(DataType::Array(_)) => "; an array continues with `element`",
                    Some(DataType::Map(_)) => "; a map continues with `key` or `value`",
                    _ => "",
                };
                let kind = other.map(DataType::name).unwrap_or_default();
                return Err(missing(format!("no such column; {} is of type {kind}{steps}", at())));
            }
        };
        resolved.push(spelled);
        parent = Some(next);
    }
    match resolved.is_empty() {
        true => Err(missing("no column is given".into())),
        false => Ok(resolved),
    }
}

/// The error of a missing column: a field of something other than a struct has its own condition.
pub(super) fn not_there(schema: &StructType, column: &[String], error: Error) -> Error {
    let parent = column.split_last().and_then(|(_, parent)| field(schema, &resolve(schema, parent).ok()?));
    match parent.map(|f| &f.data_type) {
        None | Some(DataType::Struct(_)) => {
            error.named(&condition::COLUMN_NOT_FOUND_IN_SCHEMA, [("columnName", column.join("."))])
        }
        Some(other) => error.named(
            &condition::COLUMN_PATH_NOT_NESTED,
            [
                ("columnPath", column[..column.len() - 1].join(".")),
                ("other", other.name()),
                ("column", column.last().cloned().unwrap_or_default()),
                ("schema", schema.to_json()),
            ],
        ),
    }
}

/// The struct at a resolved path; that of no path is the schema. None where the path is no struct.
pub(super) fn struct_mut<'a>(schema: &'a mut StructType, path: &[String]) -> Option<&'a mut StructType> {
    match path {
        [] => Some(schema),
        path => match type_mut(schema, path)? {
            DataType::Struct(s) => Some(s),
            _ => None,
        },
    }
}

/// The type at a resolved path.
pub(super) fn type_mut<'a>(schema: &'a mut StructType, path: &[String]) -> Option<&'a mut DataType> {
    let (first, rest) = path.split_first()?;
    let place = position(schema, first)?;
    rest.iter().try_fold(&mut schema.fields[place].data_type, |at, name| match (at, name.as_str()) {
        (DataType::Struct(s), name) => {
            let place = position(s, name)?;
            Some(&mut s.fields[place].data_type)
        }
        (DataType::Array(a), "element") => Some(&mut a.element_type),
        (DataType::Map(m), "key") => Some(&mut m.key_type),
        (DataType::Map(m), "value") => Some(&mut m.value_type),
        _ => None,
    })
}

/// The field at a resolved path; none for an element, key or value.
pub(super) fn field<'a>(schema: &'a StructType, path: &[String]) -> Option<&'a StructField> {
    let exact = |parts: &[&str]| parts.len() == path.len() && parts.iter().zip(path).all(|(a, b)| a == b);
    schema.explode().into_iter().find(|(parts, _)| exact(parts)).map(|(_, field)| field)
}

/// The physical path of a resolved path.
pub(crate) fn physical(
    schema: &StructType,
    path: &[String],
    mode: crate::schema::ColumnMappingMode,
) -> Vec<String> {
    let name = |end: usize| {
        field(schema, &path[..end])
            .map_or_else(|| path[end - 1].clone(), |f| f.physical_name(mode).to_owned())
    };
    (1..=path.len()).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{path, schema};

    #[test]
    fn a_path_is_spelled_as_the_schema_does_and_names_what_is_missing() {
        let s = schema("A long, s struct<X array<struct<y: long>>>, m map<string, long>");
        assert_eq!(resolve(&s, &path("S.x.ELEMENT.Y")).unwrap(), path("s.X.element.y"));
        assert_eq!(resolve(&s, &path("m.value")).unwrap(), path("m.value"));
        for (column, said) in [
            ("b", "the table has A, s, m"),
            ("s.q", "`s` has X"),
            ("a.b", "`A` is of type long"),
            ("s.x.y", "an array continues with `element`"),
            ("m.k", "`key` or `value`"),
        ] {
            let error = resolve(&s, &path(column)).unwrap_err().to_string();
            assert!(error.contains(said), "{column}: {error}");
        }
    }
}
