//! Functions of texts. Positions and lengths are in characters.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Int32Array};
use arrow::datatypes::Int32Type;

use super::bound::{Bound, Code, accept, code};
use super::kernel::{Eval, Function, Room, each, texts};
use super::pattern::{Like, Regexes};
use crate::schema::DataType;

const T: DataType = DataType::String;
const I: DataType = DataType::Integer;

macro_rules! function {
    ($names:expr, $takes:expr, $optional:expr, $gives:expr, $kernel:expr) => {
        Function { names: &$names, takes: &$takes, optional: $optional, gives: $gives, kernel: $kernel }
    };
}
pub(super) use function;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(["upper", "ucase"], [T], 0, T, |a| map(a, |s| s.to_uppercase())),
    function!(["lower", "lcase"], [T], 0, T, |a| map(a, |s| s.to_lowercase())),
    function!(["trim"], [T], 0, T, |a| map(a, |s| s.trim_matches(' ').to_owned())),
    function!(["ltrim"], [T], 0, T, |a| map(a, |s| s.trim_start_matches(' ').to_owned())),
    function!(["rtrim"], [T], 0, T, |a| map(a, |s| s.trim_end_matches(' ').to_owned())),
    function!(["__trim_both", "btrim"], [T, T], 1, T, |a| trim(a, true, true)),
    function!(["__trim_leading"], [T, T], 1, T, |a| trim(a, true, false)),
    function!(["__trim_trailing"], [T, T], 1, T, |a| trim(a, false, true)),
    function!(["reverse"], [T], 0, T, |a| map(a, |s| s.chars().rev().collect())),
    function!(["substring", "substr"], [T, I, I], 1, T, |a| {
        indexed(a, |s, from, length| substring(s, from, length.unwrap_or(i32::MAX)))
    }),
    function!(["left"], [T, I], 0, T, |a| indexed(a, |s, length, _| substring(s, 1, length))),
    function!(["right"], [T, I], 0, T, |a| {
        indexed(a, |s, length, _| if length <= 0 { String::new() } else { substring(s, -length, i32::MAX) })
    }),
    function!(["repeat"], [T, I], 0, T, repeat),
    function!(["lpad"], [T, I, T], 1, T, |a| pad(a, true)),
    function!(["rpad"], [T, I, T], 1, T, |a| pad(a, false)),
    function!(["replace"], [T, T, T], 1, T, replace),
    function!(["startswith"], [T, T], 0, DataType::Boolean, |a| test(a, |s, t| s.starts_with(t))),
    function!(["endswith"], [T, T], 0, DataType::Boolean, |a| test(a, |s, t| s.ends_with(t))),
    function!(["contains"], [T, T], 0, DataType::Boolean, |a| test(a, |s, t| s.contains(t))),
    function!(["instr"], [T, T], 0, I, |a| position(&a[0], &a[1], a)),
    function!(["locate", "position"], [T, T], 0, I, |a| position(&a[1], &a[0], a)),
    function!(["ascii"], [T], 0, I, |a| {
        let values = each(a, |row| Ok(Some(string(a, 0, row).chars().next().map_or(0, |c| c as i32))))?;
        Ok(Arc::new(Int32Array::from(values)))
    }),
    function!(["octet_length"], [T], 0, I, |a| {
        let values = each(a, |row| Ok(Some(string(a, 0, row).len() as i32)))?;
        Ok(Arc::new(Int32Array::from(values)))
    }),
    function!(["rlike", "regexp_like", "regexp"], [T, T], 0, DataType::Boolean, |a| {
        let mut regexes = Regexes::default();
        let values = each(a, |row| Ok(Some(regexes.get(string(a, 1, row))?.is_match(string(a, 0, row))?)))?;
        Ok(Arc::new(BooleanArray::from(values)))
    }),
];

pub(super) fn string(args: &[ArrayRef], at: usize, row: usize) -> &str {
    args[at].as_string::<i32>().value(row)
}

pub(super) fn int(args: &[ArrayRef], at: usize, row: usize) -> i32 {
    args[at].as_primitive::<Int32Type>().value(row)
}

fn map(args: &[ArrayRef], f: impl Fn(&str) -> String) -> Eval<ArrayRef> {
    texts(each(args, |row| Ok(Some(f(string(args, 0, row)))))?)
}

fn test(args: &[ArrayRef], f: impl Fn(&str, &str) -> bool) -> Eval<ArrayRef> {
    let values = each(args, |row| Ok(Some(f(string(args, 0, row), string(args, 1, row)))))?;
    Ok(Arc::new(BooleanArray::from(values)))
}

fn indexed(args: &[ArrayRef], f: impl Fn(&str, i32, Option<i32>) -> String) -> Eval<ArrayRef> {
    let third = |row: usize| (args.len() > 2).then(|| int(args, 2, row));
    texts(each(args, |row| Ok(Some(f(string(args, 0, row), int(args, 1, row), third(row)))))?)
}

/// From a position that counts from 1, or from the end where it is negative.
fn substring(text: &str, from: i32, length: i32) -> String {
    let (from, length) = (i64::from(from), i64::from(length));
    let start = match from {
        1.. => from - 1,
        0 => 0,
        _ => text.chars().count() as i64 + from,
    };
    let end = start + length;
    if end <= start.max(0) {
        return String::new();
    }
    let start = start.max(0);
    text.chars().skip(start as usize).take((end - start) as usize).collect()
}

fn trim(args: &[ArrayRef], leading: bool, trailing: bool) -> Eval<ArrayRef> {
    let trimmed = each(args, |row| {
        let of: Vec<char> = if args.len() > 1 { string(args, 1, row).chars().collect() } else { vec![' '] };
        let mut text = string(args, 0, row);
        if leading {
            text = text.trim_start_matches(of.as_slice());
        }
        if trailing {
            text = text.trim_end_matches(of.as_slice());
        }
        Ok(Some(text.to_owned()))
    });
    texts(trimmed?)
}

fn repeat(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let mut room = Room::default();
    let repeated = each(args, |row| {
        let (text, times) = (string(args, 0, row), usize::try_from(int(args, 1, row)).unwrap_or_default());
        room.take(text.len().saturating_mul(times))?;
        Ok(Some(text.repeat(times)))
    });
    texts(repeated?)
}

fn pad(args: &[ArrayRef], left: bool) -> Eval<ArrayRef> {
    let mut room = Room::default();
    let padded = each(args, |row| {
        let text = string(args, 0, row);
        let length = usize::try_from(int(args, 1, row)).unwrap_or_default();
        let with = if args.len() > 2 { string(args, 2, row) } else { " " };
        let missing = length.saturating_sub(text.chars().count());
        if missing == 0 || with.is_empty() {
            return Ok(Some(text.chars().take(length).collect()));
        }
        // a character takes a byte at least
        room.take(missing)?;
        let padding: String = with.chars().cycle().take(missing).collect();
        Ok(Some(if left { padding + text } else { text.to_owned() + &padding }))
    });
    texts(padded?)
}

fn replace(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let mut room = Room::default();
    let replaced = each(args, |row| {
        let (text, search) = (string(args, 0, row), string(args, 1, row));
        let by = if args.len() > 2 { string(args, 2, row) } else { "" };
        if search.is_empty() {
            return Ok(Some(text.to_owned()));
        }
        if by.len() > search.len() {
            room.take(text.matches(search).count().saturating_mul(by.len()))?;
        }
        Ok(Some(text.replace(search, by)))
    });
    texts(replaced?)
}

fn position(of: &ArrayRef, part: &ArrayRef, args: &[ArrayRef]) -> Eval<ArrayRef> {
    let (of, part) = (of.as_string::<i32>(), part.as_string::<i32>());
    let places = each(args, |row| {
        let text = of.value(row);
        let at = text.find(part.value(row)).map_or(0, |at| text[..at].chars().count() as i32 + 1);
        Ok(Some(at))
    });
    Ok(Arc::new(Int32Array::from(places?)))
}

/// Characters of a text, bytes of a binary.
pub(super) fn length(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let lengths = match args[0].as_string_opt::<i32>() {
        Some(texts) => each(args, |row| Ok(Some(texts.value(row).chars().count() as i32)))?,
        None => {
            let bytes = args[0].as_binary::<i32>();
            each(args, |row| Ok(Some(bytes.value(row).len() as i32)))?
        }
    };
    Ok(Arc::new(Int32Array::from(lengths)))
}

pub(super) fn concat(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let mut room = Room::default();
    let joined = each(args, |row| {
        let parts = || (0..args.len()).map(|at| string(args, at, row));
        room.take(parts().map(str::len).sum())?;
        Ok(Some(parts().collect()))
    });
    texts(joined?)
}

pub(super) fn concat_bytes(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let joined = each(args, |row| {
        Ok(Some(args.iter().flat_map(|a| a.as_binary::<i32>().value(row).to_vec()).collect::<Vec<u8>>()))
    });
    Ok(Arc::new(joined?.into_iter().collect::<BinaryArray>()))
}

/// `concat_ws`: nulls are left out, and lists of texts are joined too.
pub(super) fn concat_ws(args: &[Bound]) -> Eval<Bound> {
    let list = |t: &DataType| matches!(t, DataType::Array(a) if a.element_type == DataType::String);
    let args = args.iter().map(|arg| {
        if list(&arg.data_type) { Ok(arg.clone()) } else { accept(arg.clone(), &DataType::String) }
    });
    let args = args.collect::<Eval<Vec<_>>>()?;
    if args[0].data_type != DataType::String {
        return Err("the separator is not a text".into());
    }
    Ok(Bound::call(join, args, DataType::String))
}

fn join(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let rows = args[0].len();
    let mut room = Room::default();
    let joined = (0..rows).map(|row| {
        if args[0].is_null(row) {
            return Ok(None);
        }
        let mut parts: Vec<String> = Vec::new();
        for arg in args[1..].iter().filter(|a| a.is_valid(row)) {
            match arg.as_list_opt::<i32>() {
                Some(list) => {
                    let items = list.value(row);
                    parts.extend(items.as_string::<i32>().iter().flatten().map(str::to_owned));
                }
                None => parts.push(arg.as_string::<i32>().value(row).to_owned()),
            }
        }
        let separator = string(args, 0, row);
        let separators = separator.len().saturating_mul(parts.len());
        room.take(parts.iter().map(String::len).sum::<usize>().saturating_add(separators))?;
        Ok(Some(parts.join(separator)))
    });
    texts(joined.collect::<Eval<_>>()?)
}

/// `LIKE`, or `ILIKE`.
pub(super) fn like(escape: char, ignore_case: bool) -> Code {
    code(move |args| {
        let mut last: Option<(String, Like)> = None;
        let values = each(args, |row| {
            let pattern = string(args, 1, row);
            if last.as_ref().is_none_or(|(text, _)| text != pattern) {
                last = Some((pattern.to_owned(), Like::new(pattern, escape, ignore_case)?));
            }
            Ok(last.as_ref().map(|(_, like)| like.matches(string(args, 0, row))))
        });
        Ok(Arc::new(BooleanArray::from(values?)))
    })
}
