//! Dates and timestamps by the patterns of Java: `date_format`, `to_date`, `to_timestamp`, `unix_timestamp`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::Int64Type;
use chrono::{Datelike, NaiveDate};

use super::kernel::{Eval, Function, each, texts};
use super::temporal::{dates, instants, micros};
use super::text::{function, string};
use super::time_text::{MICROS_PER_DAY, clock, date_of, days_of, split_micros};
use crate::schema::DataType;

const T: DataType = DataType::String;
const L: DataType = DataType::Long;
const TS: DataType = DataType::Timestamp;
const STANDARD: &str = "yyyy-MM-dd HH:mm:ss";

pub(super) const FUNCTIONS: &[Function] = &[
    function!(["date_format"], [TS, T], 0, T, |a| {
        let mut patterns = Patterns::default();
        texts(each(a, |row| format(patterns.get(string(a, 1, row))?, micros(a, 0, row)).map(Some))?)
    }),
    function!(["from_unixtime"], [L, T], 1, T, |a| {
        let mut patterns = Patterns::default();
        let seconds = a[0].as_primitive::<Int64Type>();
        let formatted = each(a, |row| {
            let pattern = if a.len() > 1 { string(a, 1, row) } else { STANDARD };
            let micros = seconds.value(row).checked_mul(1_000_000).ok_or("overflow of a timestamp")?;
            format(patterns.get(pattern)?, micros).map(Some)
        });
        texts(formatted?)
    }),
    function!(["to_date"], [T, T], 0, DataType::Date, |a| {
        dates(parsed(a)?.into_iter().map(|v| v.map(|v| split_micros(v).0)).collect())
    }),
    function!(["to_timestamp"], [T, T], 0, TS, |a| instants(parsed(a)?)),
    function!(["unix_timestamp", "to_unix_timestamp"], [T, T], 1, L, |a| {
        let seconds = parsed(a)?.into_iter().map(|v| v.map(|v| v / 1_000_000));
        Ok(Arc::new(seconds.collect::<Int64Array>()))
    }),
];

/// A part of a pattern: text as it is, or a letter and how often it is repeated.
#[derive(Debug, Clone, PartialEq)]
enum PatternPart {
    Text(String),
    Field(char, usize),
}

#[derive(Default)]
struct Patterns {
    last: Option<(String, Vec<PatternPart>)>,
}

impl Patterns {
    fn get(&mut self, pattern: &str) -> Eval<&[PatternPart]> {
        if self.last.as_ref().is_none_or(|(text, _)| text != pattern) {
            self.last = Some((pattern.to_owned(), parts(pattern)?));
        }
        self.last.as_ref().map(|(_, parts)| parts.as_slice()).ok_or_else(|| "no pattern".to_owned())
    }
}

fn parts(pattern: &str) -> Eval<Vec<PatternPart>> {
    let refused = |what: &str| Err(format!("the date pattern '{pattern}': {what} is not supported"));
    let mut parts: Vec<PatternPart> = Vec::new();
    let mut text = String::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\'' {
            if chars.peek() == Some(&'\'') {
                chars.next();
                text.push('\'');
                continue;
            }
            loop {
                match chars.next() {
                    Some('\'') if chars.peek() == Some(&'\'') => {
                        chars.next();
                        text.push('\'');
                    }
                    Some('\'') => break,
                    Some(other) => text.push(other),
                    None => return refused("an open quote"),
                }
            }
            continue;
        }
        if !c.is_ascii_alphabetic() {
            if matches!(c, '[' | ']' | '{' | '}' | '#') {
                return refused(&format!("`{c}`"));
            }
            text.push(c);
            continue;
        }
        let mut count = 1;
        while chars.peek() == Some(&c) {
            chars.next();
            count += 1;
        }
        let most = match c {
            'y' => 4,
            'M' | 'E' => 4,
            'D' => 3,
            'd' | 'H' | 'h' | 'm' | 's' => 2,
            'S' => 6,
            'a' => 1,
            _ => 0,
        };
        if count > most || (c == 'y' && count == 3) {
            return refused(&format!("`{}`", c.to_string().repeat(count)));
        }
        if !text.is_empty() {
            parts.push(PatternPart::Text(std::mem::take(&mut text)));
        }
        parts.push(PatternPart::Field(c, count));
    }
    if !text.is_empty() {
        parts.push(PatternPart::Text(text));
    }
    Ok(parts)
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

fn format(parts: &[PatternPart], micros: i64) -> Eval<String> {
    let (days, of_day) = split_micros(micros);
    let date = date_of(days)?;
    let (hour, minute, second, fraction) = clock(of_day);
    if !(1..=9999).contains(&date.year()) {
        return Err(format!("the year {} in a date pattern is not supported", date.year()));
    }
    let mut out = String::new();
    let name = |name: &str, count: usize| if count < 4 { name[..3].to_owned() } else { name.to_owned() };
    for part in parts {
        let (letter, count) = match part {
            PatternPart::Text(text) => {
                out.push_str(text);
                continue;
            }
            PatternPart::Field(letter, count) => (*letter, *count),
        };
        let number = match letter {
            'y' if count == 2 => date.year() as u32 % 100,
            'y' => date.year() as u32,
            'M' if count > 2 => {
                out.push_str(&name(MONTHS[date.month0() as usize], count));
                continue;
            }
            'M' => date.month(),
            'd' => date.day(),
            'D' => date.ordinal(),
            'H' => hour,
            'h' => (hour + 11) % 12 + 1,
            'm' => minute,
            's' => second,
            'E' => {
                out.push_str(&name(DAYS[date.weekday().num_days_from_monday() as usize], count));
                continue;
            }
            'a' => {
                out.push_str(if hour < 12 { "AM" } else { "PM" });
                continue;
            }
            _ => {
                out.push_str(&format!("{fraction:06}")[..count]);
                continue;
            }
        };
        out.push_str(&format!("{number:0count$}"));
    }
    Ok(out)
}

/// Microseconds of texts by the pattern beside each.
fn parsed(args: &[ArrayRef]) -> Eval<Vec<Option<i64>>> {
    let mut patterns = Patterns::default();
    each(args, |row| {
        let pattern = if args.len() > 1 { string(args, 1, row) } else { STANDARD };
        let text = string(args, 0, row);
        let micros = parse(patterns.get(pattern)?, text)?;
        micros.map(Some).ok_or_else(|| format!("'{text}' does not have the form '{pattern}'"))
    })
}

fn parse(parts: &[PatternPart], text: &str) -> Eval<Option<i64>> {
    let (mut year, mut month, mut day) = (1970, 1, 1);
    let (mut hour, mut minute, mut second, mut fraction) = (0, 0, 0, 0);
    let mut rest = text;
    for (at, part) in parts.iter().enumerate() {
        let (letter, count) = match part {
            PatternPart::Text(text) => match rest.strip_prefix(text.as_str()) {
                Some(after) => {
                    rest = after;
                    continue;
                }
                None => return Ok(None),
            },
            PatternPart::Field(letter, count) => (*letter, *count),
        };
        let joined = matches!(parts.get(at + 1), Some(PatternPart::Field(..)));
        if (letter == 'y' && count != 4) || (letter == 'M' && count > 2) || !"yMdHmsS".contains(letter) {
            return Err(format!(
                "reading `{}` of a date pattern is not supported",
                letter.to_string().repeat(count)
            ));
        }
        if count == 1 && joined && letter != 'S' {
            return Err(format!("reading `{letter}` right before another field is not supported"));
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let most = if count == 1 && letter != 'S' { 2 } else { count };
        let length = if count == 1 && letter != 'S' { digits.min(most) } else { most };
        if length == 0 || digits < length {
            return Ok(None);
        }
        let Ok(value) = rest[..length].parse::<u32>() else { return Ok(None) };
        rest = &rest[length..];
        match letter {
            'y' => year = value as i32,
            'M' => month = value,
            'd' => day = value,
            'H' => hour = value,
            'm' => minute = value,
            's' => second = value,
            _ => fraction = value * 10_u32.pow(6 - count as u32),
        }
    }
    let fits = rest.is_empty() && hour < 24 && minute < 60 && second < 60;
    let date = NaiveDate::from_ymd_opt(year, month, day).filter(|_| fits);
    Ok(date.and_then(|date| {
        let of_day = i64::from((hour * 60 + minute) * 60 + second) * 1_000_000 + i64::from(fraction);
        i64::from(days_of(date)).checked_mul(MICROS_PER_DAY)?.checked_add(of_day)
    }))
}
