//! Functions of dates and timestamps. The session time zone is UTC.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Date32Array, Int32Array, Int64Array, TimestampMicrosecondArray};
use arrow::datatypes::{Date32Type, Int64Type, TimestampMicrosecondType};
use chrono::{Datelike, Months, NaiveDate};

use super::ast::{Binary, Interval};
use super::bound::{Bound, Node, code};
use super::kernel::{Eval, Function, each};
use super::text::{function, int, string};
use super::time_text::{MICROS_PER_DAY, clock, date_of, days_of, split_micros};
use crate::schema::DataType;

const T: DataType = DataType::String;
const I: DataType = DataType::Integer;
const L: DataType = DataType::Long;
const D: DataType = DataType::Date;
const TS: DataType = DataType::Timestamp;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(["year"], [D], 0, I, |a| of_date(a, |d| d.year())),
    function!(["quarter"], [D], 0, I, |a| of_date(a, |d| d.month0() as i32 / 3 + 1)),
    function!(["month"], [D], 0, I, |a| of_date(a, |d| d.month() as i32)),
    function!(["day", "dayofmonth"], [D], 0, I, |a| of_date(a, |d| d.day() as i32)),
    function!(["dayofyear"], [D], 0, I, |a| of_date(a, |d| d.ordinal() as i32)),
    function!(["dayofweek"], [D], 0, I, |a| of_date(a, |d| d.weekday().number_from_sunday() as i32)),
    function!(["weekday"], [D], 0, I, |a| of_date(a, |d| d.weekday().num_days_from_monday() as i32)),
    function!(["weekofyear"], [D], 0, I, |a| of_date(a, |d| d.iso_week().week() as i32)),
    function!(["hour"], [TS], 0, I, |a| of_clock(a, |(hour, _, _)| hour)),
    function!(["minute"], [TS], 0, I, |a| of_clock(a, |(_, minute, _)| minute)),
    function!(["second"], [TS], 0, I, |a| of_clock(a, |(_, _, second)| second)),
    function!(["last_day"], [D], 0, D, |a| {
        dates(each(a, |row| Ok(Some(days_of(last_day(date(a, 0, row)?)?))))?)
    }),
    function!(["date_add", "dateadd"], [D, I], 0, D, |a| {
        dates(each(a, |row| shift_days(days(a, 0, row), i64::from(int(a, 1, row))).map(Some))?)
    }),
    function!(["date_sub"], [D, I], 0, D, |a| {
        dates(each(a, |row| shift_days(days(a, 0, row), -i64::from(int(a, 1, row))).map(Some))?)
    }),
    function!(["add_months"], [D, I], 0, D, |a| {
        dates(each(a, |row| Ok(Some(days_of(shift_months(date(a, 0, row)?, int(a, 1, row))?))))?)
    }),
    function!(["datediff", "date_diff"], [D, D], 0, I, |a| {
        let differences = each(a, |row| {
            let apart = days(a, 0, row).checked_sub(days(a, 1, row));
            apart.map(Some).ok_or_else(|| "datediff: overflow".to_owned())
        });
        Ok(Arc::new(Int32Array::from(differences?)))
    }),
    function!(["make_date"], [I, I, I], 0, D, |a| {
        dates(each(a, |row| {
            let (year, month, day) = (int(a, 0, row), int(a, 1, row), int(a, 2, row));
            let (m, d) = (u32::try_from(month).unwrap_or_default(), u32::try_from(day).unwrap_or_default());
            let date = NaiveDate::from_ymd_opt(year, m, d);
            date.map(days_of)
                .map(Some)
                .ok_or_else(|| format!("make_date: {year}-{month}-{day} is not a date"))
        })?)
    }),
    function!(["trunc"], [D, T], 0, D, |a| {
        dates(each(a, |row| truncate_date(date(a, 0, row)?, string(a, 1, row)).map(|d| d.map(days_of)))?)
    }),
    function!(["date_trunc"], [T, TS], 0, TS, |a| {
        instants(each(a, |row| truncate_micros(string(a, 0, row), micros(a, 1, row)))?)
    }),
    function!(["unix_date"], [D], 0, I, |a| Ok(Arc::new(Int32Array::from(each(a, |row| Ok(Some(days(
        a, 0, row
    ))))?)))),
    function!(["date_from_unix_date"], [I], 0, D, |a| dates(each(a, |row| Ok(Some(int(a, 0, row))))?)),
    function!(["unix_seconds"], [TS], 0, L, |a| longs(a, |v| v.div_euclid(1_000_000))),
    function!(["unix_millis"], [TS], 0, L, |a| longs(a, |v| v.div_euclid(1_000))),
    function!(["unix_micros"], [TS], 0, L, |a| longs(a, |v| v)),
    function!(["timestamp_seconds"], [L], 0, TS, |a| of_count(a, 1_000_000)),
    function!(["timestamp_millis"], [L], 0, TS, |a| of_count(a, 1_000)),
    function!(["timestamp_micros"], [L], 0, TS, |a| of_count(a, 1)),
];

fn days(args: &[ArrayRef], at: usize, row: usize) -> i32 {
    args[at].as_primitive::<Date32Type>().value(row)
}

fn date(args: &[ArrayRef], at: usize, row: usize) -> Eval<NaiveDate> {
    date_of(days(args, at, row))
}

pub(super) fn micros(args: &[ArrayRef], at: usize, row: usize) -> i64 {
    args[at].as_primitive::<TimestampMicrosecondType>().value(row)
}

pub(super) fn dates(values: Vec<Option<i32>>) -> Eval<ArrayRef> {
    Ok(Arc::new(Date32Array::from(values)))
}

pub(super) fn instants(values: Vec<Option<i64>>) -> Eval<ArrayRef> {
    Ok(Arc::new(TimestampMicrosecondArray::from(values).with_timezone("UTC")))
}

fn of_date(args: &[ArrayRef], f: impl Fn(NaiveDate) -> i32) -> Eval<ArrayRef> {
    Ok(Arc::new(Int32Array::from(each(args, |row| Ok(Some(f(date(args, 0, row)?))))?)))
}

fn of_clock(args: &[ArrayRef], f: impl Fn((u32, u32, u32)) -> u32) -> Eval<ArrayRef> {
    let values = each(args, |row| {
        let (hour, minute, second, _) = clock(split_micros(micros(args, 0, row)).1);
        Ok(Some(f((hour, minute, second)) as i32))
    });
    Ok(Arc::new(Int32Array::from(values?)))
}

fn longs(args: &[ArrayRef], f: impl Fn(i64) -> i64) -> Eval<ArrayRef> {
    Ok(Arc::new(Int64Array::from(each(args, |row| Ok(Some(f(micros(args, 0, row)))))?)))
}

/// Seconds, cut towards the epoch: a cast to a number cuts towards the past.
pub(super) fn whole_seconds(args: &[ArrayRef]) -> Eval<ArrayRef> {
    longs(args, |v| v / 1_000_000)
}

fn of_count(args: &[ArrayRef], by: i64) -> Eval<ArrayRef> {
    let counts = args[0].as_primitive::<Int64Type>();
    instants(each(args, |row| {
        let count = counts.value(row);
        count.checked_mul(by).map(Some).ok_or_else(|| format!("overflow: {count} as a timestamp"))
    })?)
}

fn shift_days(days: i32, by: i64) -> Eval<i32> {
    i32::try_from(i64::from(days) + by).map_err(|_| "overflow of a date".to_owned())
}

/// The same day of another month, or its last one.
fn shift_months(date: NaiveDate, by: i32) -> Eval<NaiveDate> {
    let months = Months::new(by.unsigned_abs());
    let moved = if by < 0 { date.checked_sub_months(months) } else { date.checked_add_months(months) };
    moved.ok_or_else(|| "overflow of a date".to_owned())
}

fn last_day(date: NaiveDate) -> Eval<NaiveDate> {
    date.with_day(1)
        .and_then(|first| first.checked_add_months(Months::new(1)))
        .and_then(|next| next.pred_opt())
        .ok_or_else(|| "overflow of a date".to_owned())
}

/// The first day of what a format names: none for one that Spark does not know, which gives null.
fn truncate_date(date: NaiveDate, format: &str) -> Eval<Option<NaiveDate>> {
    Ok(match format.to_ascii_uppercase().as_str() {
        "YEAR" | "YYYY" | "YY" => date.with_ordinal(1),
        "QUARTER" => NaiveDate::from_ymd_opt(date.year(), date.month0() / 3 * 3 + 1, 1),
        "MONTH" | "MM" | "MON" => date.with_day(1),
        "WEEK" => {
            let back = chrono::TimeDelta::days(i64::from(date.weekday().num_days_from_monday()));
            date.checked_sub_signed(back)
        }
        _ => None,
    })
}

fn truncate_micros(format: &str, micros: i64) -> Eval<Option<i64>> {
    let unit = match format.to_ascii_uppercase().as_str() {
        "MICROSECOND" => 1,
        "MILLISECOND" => 1_000,
        "SECOND" => 1_000_000,
        "MINUTE" => 60_000_000,
        "HOUR" => 3_600_000_000,
        "DAY" | "DD" => MICROS_PER_DAY,
        _ => {
            let date = truncate_date(date_of(split_micros(micros).0)?, format)?;
            return Ok(date.and_then(|d| i64::from(days_of(d)).checked_mul(MICROS_PER_DAY)));
        }
    };
    let cut = micros.checked_sub(micros.rem_euclid(unit));
    cut.map(Some).ok_or_else(|| "overflow of a timestamp".to_owned())
}

/// `date + 1`, `timestamp - INTERVAL 1 DAY`; both sides are returned if it is none of these.
pub(super) fn arithmetic(op: Binary, left: Bound, right: Bound) -> Eval<Result<Bound, (Bound, Bound)>> {
    use DataType as T;
    let time = |b: &Bound| {
        matches!(b.data_type, T::Date | T::Timestamp | T::TimestampNtz)
            && !matches!(b.node, Node::Interval(_))
    };
    if !matches!(op, Binary::Add | Binary::Subtract) || !(time(&left) || time(&right)) {
        return Ok(Err((left, right)));
    }
    let (of, by) = match (time(&left), op) {
        (true, _) if !time(&right) => (left, right),
        (false, Binary::Add) => (right, left),
        _ => {
            return Err(format!(
                "{} of {} and {} is not supported",
                if op == Binary::Add { "a sum" } else { "a difference" },
                left.data_type.name(),
                right.data_type.name()
            ));
        }
    };
    let negative = op == Binary::Subtract;
    let Node::Interval(interval) = by.node else {
        let days = matches!(by.data_type, T::Byte | T::Short | T::Integer) && of.data_type == T::Date;
        if !days {
            return Err(format!("{} and {} cannot be added", of.data_type.name(), by.data_type.name()));
        }
        let args = vec![of, by.cast(&T::Integer)];
        let kernel = move |a: &[ArrayRef]| {
            let sign = if negative { -1 } else { 1 };
            dates(each(a, |row| shift_days(days_at(a, row), sign * i64::from(int(a, 1, row))).map(Some))?)
        };
        return Ok(Ok(Bound { node: Node::Call(code(kernel), args), data_type: T::Date }));
    };
    let of = match interval {
        // a date and hours make a timestamp
        Interval::Micros(_) if of.data_type == T::Date => of.cast(&T::Timestamp),
        _ => of,
    };
    let data_type = of.data_type.clone();
    let interval = if negative { negated(interval)? } else { interval };
    let is_date = data_type == T::Date;
    let zone = (data_type == T::Timestamp).then(|| Arc::<str>::from("UTC"));
    let kernel = move |a: &[ArrayRef]| {
        if is_date {
            return dates(each(a, |row| add_to_date(days_at(a, row), interval).map(Some))?);
        }
        let moved = each(a, |row| add_to_micros(micros(a, 0, row), interval).map(Some))?;
        let moved: ArrayRef =
            Arc::new(TimestampMicrosecondArray::from(moved).with_timezone_opt(zone.clone()));
        Ok(moved)
    };
    Ok(Ok(Bound { node: Node::Call(code(kernel), vec![of]), data_type }))
}

fn days_at(args: &[ArrayRef], row: usize) -> i32 {
    days(args, 0, row)
}

fn negated(interval: Interval) -> Eval<Interval> {
    match interval {
        Interval::Months(n) => n.checked_neg().map(Interval::Months),
        Interval::Days(n) => n.checked_neg().map(Interval::Days),
        Interval::Micros(n) => n.checked_neg().map(Interval::Micros),
    }
    .ok_or_else(|| "overflow of an interval".to_owned())
}

fn add_to_date(days: i32, interval: Interval) -> Eval<i32> {
    match interval {
        Interval::Months(n) => Ok(days_of(shift_months(date_of(days)?, n)?)),
        Interval::Days(n) => shift_days(days, i64::from(n)),
        Interval::Micros(_) => Err("hours cannot be added to a date".into()),
    }
}

fn add_to_micros(micros: i64, interval: Interval) -> Eval<i64> {
    let moved = match interval {
        Interval::Micros(n) => micros.checked_add(n),
        Interval::Days(n) => i64::from(n).checked_mul(MICROS_PER_DAY).and_then(|n| micros.checked_add(n)),
        Interval::Months(n) => {
            let (days, of_day) = split_micros(micros);
            let days = days_of(shift_months(date_of(days)?, n)?);
            i64::from(days).checked_mul(MICROS_PER_DAY).and_then(|d| d.checked_add(of_day))
        }
    };
    moved.ok_or_else(|| "overflow of a timestamp".to_owned())
}
