//! The text of a type as Spark keeps it in a column's metadata, where texts of limited length are in it.

use std::fmt;

use serde::Serialize;

use crate::schema::DataType;
use crate::schema::column_list::quoted;

/// How deep types are nested at most: deeper than the JSON of a schema can be.
const DEEPEST: usize = 100;

/// The length of a text column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TextLimit {
    /// Most characters.
    pub length: usize,
    /// Whether shorter text is padded with spaces: `char`, not `varchar`.
    pub padded: bool,
}

impl TextLimit {
    /// The limit of `char(n)` and `varchar(n)`.
    pub(crate) fn of(text: &str) -> Option<TextLimit> {
        match RawType::parse(text)? {
            RawType::Text(limit) => Some(limit),
            _ => None,
        }
    }
}

/// A type as Spark's `catalogString` writes it.
#[derive(Debug, PartialEq)]
pub(super) enum RawType {
    Text(TextLimit),
    Struct(Vec<(String, RawType)>),
    List(Box<RawType>),
    Map(Box<RawType>, Box<RawType>),
    /// Any other, by its name.
    Other(String),
}

impl RawType {
    pub(super) fn parse(text: &str) -> Option<RawType> {
        let mut rest = text;
        let raw = RawType::read(&mut rest, DEEPEST)?;
        rest.trim().is_empty().then_some(raw)
    }

    /// A type without limits that nests none.
    pub(super) fn plain(data_type: &DataType) -> RawType {
        RawType::Other(match data_type {
            DataType::Long => "bigint".into(),
            DataType::Integer => "int".into(),
            DataType::Short => "smallint".into(),
            DataType::Byte => "tinyint".into(),
            DataType::UserDefined(udt) => udt.sql_type.name(),
            other => other.name(),
        })
    }

    /// Whether it is, or nests, text of limited length.
    pub(super) fn has_text(&self) -> bool {
        match self {
            RawType::Text(_) => true,
            RawType::Struct(fields) => fields.iter().any(|(_, raw)| raw.has_text()),
            RawType::List(element) => element.has_text(),
            RawType::Map(key, value) => key.has_text() || value.has_text(),
            RawType::Other(_) => false,
        }
    }

    fn read(rest: &mut &str, deepest: usize) -> Option<RawType> {
        let deepest = deepest.checked_sub(1)?;
        *rest = rest.trim_start();
        if eat(rest, "array<") {
            let element = RawType::read(rest, deepest)?;
            return eat(rest, ">").then_some(RawType::List(Box::new(element)));
        }
        if eat(rest, "map<") {
            let key = RawType::read(rest, deepest)?;
            let value = if eat(rest, ",") { RawType::read(rest, deepest)? } else { return None };
            return eat(rest, ">").then_some(RawType::Map(Box::new(key), Box::new(value)));
        }
        if eat(rest, "struct<") {
            let mut fields = Vec::new();
            while !eat(rest, ">") {
                if !fields.is_empty() && !eat(rest, ",") {
                    return None;
                }
                let name = read_name(rest)?;
                fields.push((name, RawType::read(rest, deepest)?));
            }
            return Some(RawType::Struct(fields));
        }
        let mut depth = 0;
        let end = rest.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0 && matches!(c, ',' | '>')
        });
        let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
        *rest = after;
        let name = name.trim().to_ascii_lowercase();
        let sized = |kind: &str| name.strip_prefix(kind)?.trim().strip_prefix('(')?.strip_suffix(')');
        let (length, padded) = match (sized("char"), sized("varchar")) {
            (Some(length), _) => (length, true),
            (_, Some(length)) => (length, false),
            _ => return (!name.is_empty()).then_some(RawType::Other(name)),
        };
        Some(RawType::Text(TextLimit { length: length.trim().parse().ok()?, padded }))
    }
}

/// As Spark reads it: names that are no plain ones are in backticks.
impl fmt::Display for RawType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RawType::Text(TextLimit { length, padded: true }) => write!(f, "char({length})"),
            RawType::Text(TextLimit { length, padded: false }) => write!(f, "varchar({length})"),
            RawType::List(element) => write!(f, "array<{element}>"),
            RawType::Map(key, value) => write!(f, "map<{key},{value}>"),
            RawType::Other(name) => f.write_str(name),
            RawType::Struct(fields) => {
                f.write_str("struct<")?;
                for (place, (name, raw)) in fields.iter().enumerate() {
                    let comma = if place > 0 { "," } else { "" };
                    write!(f, "{comma}{}:{raw}", quoted(name))?;
                }
                f.write_str(">")
            }
        }
    }
}

fn eat(rest: &mut &str, token: &str) -> bool {
    match rest.trim_start().strip_prefix(token) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

/// The name of a field, in backticks or bare, and the colon after it.
fn read_name(rest: &mut &str) -> Option<String> {
    *rest = rest.trim_start();
    if !eat(rest, "`") {
        let (name, after) = rest.split_once(':')?;
        *rest = after;
        return Some(name.to_owned());
    }
    let mut name = String::new();
    loop {
        let (part, after) = rest.split_once('`')?;
        name.push_str(part);
        *rest = after;
        if !rest.starts_with('`') {
            break;
        }
        name.push('`');
        *rest = &rest[1..];
    }
    eat(rest, ":").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Option<RawType> {
        RawType::parse(text)
    }

    fn text(length: usize, padded: bool) -> RawType {
        RawType::Text(TextLimit { length, padded })
    }

    fn other(name: &str) -> RawType {
        RawType::Other(name.into())
    }

    #[test]
    fn types_of_the_metadata_are_read_and_written() {
        assert_eq!(raw("varchar(5)"), Some(text(5, false)));
        assert_eq!(raw("CHAR( 3 )"), Some(text(3, true)));
        assert_eq!(raw("array<char(3)>"), Some(RawType::List(Box::new(text(3, true)))));
        let odd = "struct<`a b`:decimal(12,2),`x:``y`:map<varchar(2),array<string>>,n:timestamp_ntz>";
        let fields = RawType::Struct(vec![
            ("a b".into(), other("decimal(12,2)")),
            (
                "x:`y".into(),
                RawType::Map(Box::new(text(2, false)), Box::new(RawType::List(Box::new(other("string"))))),
            ),
            ("n".into(), other("timestamp_ntz")),
        ]);
        assert_eq!(fields.to_string(), odd);
        assert_eq!(raw(&odd.replace("`a b`", "a b")), Some(fields));
        for broken in ["", "varchar(x)", "array<int", "map<int>", "struct<a>", "int>", "struct<a:int b:int,>"]
        {
            assert_eq!(raw(broken), None, "{broken}");
        }
    }

    #[test]
    fn nesting_without_end_is_no_type() {
        let nested = |depth: usize| "array<".repeat(depth) + "int" + &">".repeat(depth);
        assert!(raw(&nested(DEEPEST - 1)).is_some());
        assert_eq!(raw(&nested(1_000_000)), None);
    }
}
