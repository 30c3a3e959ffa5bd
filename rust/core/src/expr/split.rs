//! Functions that take texts apart by regular expressions, or put them together.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListBuilder, StringBuilder};
use arrow::datatypes::{DataType as Arrow, Field};

use super::kernel::{Eval, Function, Room, each, texts};
use super::pattern::Regexes;
use super::text::{function, int, string};
use crate::schema::DataType;

const T: DataType = DataType::String;
const I: DataType = DataType::Integer;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(["regexp_replace"], [T, T, T], 0, T, regexp_replace),
    function!(["regexp_extract"], [T, T, I], 1, T, regexp_extract),
    function!(["split_part"], [T, T, I], 0, T, split_part),
];

/// The texts between what the expression finds.
pub(super) fn split(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let mut regexes = Regexes::default();
    let field = Field::new("element", Arrow::Utf8, false);
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(field);
    let parts = each(args, |row| {
        let text = string(args, 0, row);
        let regex = regexes.get(string(args, 1, row))?;
        if regex.regex.is_match("") {
            return Err("split by what can be empty is not supported".into());
        }
        let limit = if args.len() > 2 { int(args, 2, row) } else { -1 };
        let text = regex.subject(text)?;
        let parts: Vec<String> = match usize::try_from(limit) {
            Ok(limit @ 1..) => regex.regex.splitn(text, limit).map(str::to_owned).collect(),
            _ => regex.regex.split(text).map(str::to_owned).collect(),
        };
        Ok(Some(parts))
    });
    for parts in parts? {
        match parts {
            Some(parts) => {
                parts.iter().for_each(|part| lists.values().append_value(part));
                lists.append(true);
            }
            None => lists.append(false),
        }
    }
    Ok(Arc::new(lists.finish()))
}

fn split_part(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let parts = each(args, |row| {
        let (text, by, at) = (string(args, 0, row), string(args, 1, row), int(args, 2, row));
        if at == 0 {
            return Err("split_part: part 0 is requested; parts count from 1".into());
        }
        if text.is_empty() || by.is_empty() {
            return Ok(Some(if by.is_empty() && at.abs() == 1 { text.to_owned() } else { String::new() }));
        }
        let parts: Vec<&str> = text.split(by).collect();
        let place = if at > 0 { i64::from(at) - 1 } else { parts.len() as i64 + i64::from(at) };
        let part = usize::try_from(place).ok().and_then(|place| parts.get(place));
        Ok(Some(part.copied().unwrap_or_default().to_owned()))
    });
    texts(parts?)
}

fn regexp_extract(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let mut regexes = Regexes::default();
    let found = each(args, |row| {
        let regex = regexes.get(string(args, 1, row))?;
        let group = if args.len() > 2 { int(args, 2, row) } else { 1 };
        let group = usize::try_from(group).ok().filter(|g| *g < regex.regex.captures_len());
        let group = group.ok_or("regexp_extract: the expression has no such group")?;
        let found = regex.regex.captures(regex.subject(string(args, 0, row))?);
        let part = found.and_then(|found| found.get(group).map(|part| part.as_str().to_owned()));
        Ok(Some(part.unwrap_or_default()))
    });
    texts(found?)
}

fn regexp_replace(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let (mut regexes, mut room) = (Regexes::default(), Room::default());
    let replaced = each(args, |row| {
        let regex = regexes.get(string(args, 1, row))?;
        let by = replacement(string(args, 2, row), regex.regex.captures_len())?;
        let text = regex.subject(string(args, 0, row))?;
        // what it could be: the text between its characters, too, is replaced
        Room::default().take(text.len().saturating_add(1).saturating_mul(by.len().saturating_add(1)))?;
        let replaced = regex.regex.replace_all(text, by.as_str()).into_owned();
        room.take(replaced.len())?;
        Ok(Some(replaced))
    });
    texts(replaced?)
}

/// A replacement of Java as one of the crate: `$1` is a group, and a backslash takes the meaning from what follows.
fn replacement(java: &str, groups: usize) -> Eval<String> {
    let mut out = String::new();
    let mut chars = java.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('$') => out.push_str("$$"),
                Some(next) => out.push(next),
                None => return Err("a replacement ends with a backslash".into()),
            },
            '$' => {
                let digit = |c: Option<&char>| c.and_then(|c| c.to_digit(10)).map(|d| d as usize);
                let mut group =
                    digit(chars.peek()).ok_or("`$` in a replacement is not followed by a group")?;
                chars.next();
                // digits as long as there is such a group
                while let Some(longer) = digit(chars.peek()).map(|d| group * 10 + d).filter(|g| *g < groups) {
                    group = longer;
                    chars.next();
                }
                if group >= groups {
                    return Err(format!("a replacement names group {group}, which does not exist"));
                }
                out.push_str(&format!("${{{group}}}"));
            }
            other => out.push(other),
        }
    }
    Ok(out)
}
