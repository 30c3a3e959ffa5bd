//! Statistics of an `add` against the footer of its file. They need not be exact, but must be bounds.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Datum, Float64Array, Scalar, StringArray};
use arrow::compute::kernels::cmp::{gt, lt};
use arrow::compute::{cast, sum};
use arrow::datatypes::{DataType as Arrow, Float64Type, Int64Type};
use serde_json::value::RawValue;

use super::facts::Facts;
use super::finding::{FindingKind, Wrong};
use crate::actions::Add;
use crate::partition;
use crate::scan::ColumnFacts;
use crate::schema::{DataType, StructType};

/// Timestamps are cut to milliseconds, also those of maxima.
const CUT_MICROS: i64 = 999;

/// Values of a section of the statistics by path, as their JSON.
type Values<'a> = HashMap<Vec<String>, &'a str>;

/// Compares the statistics of a file with its footer.
pub(super) fn check(table: &Facts, add: &Add, rows: u64, facts: &[ColumnFacts]) -> Vec<Wrong> {
    let mut out = Vec::new();
    let mut wrong = |kind, expected: String, found: String| out.push(Wrong { kind, expected, found });
    let text = add.stats.as_deref().unwrap_or_default();
    // statistics that are no JSON are reported elsewhere
    let Ok(sections) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text) else { return out };
    let number = |name: &str| sections.get(name)?.get().parse::<i64>().ok();
    if let Some(said) = number("numRecords").filter(|said| u64::try_from(*said) != Ok(rows)) {
        wrong(FindingKind::RowCountDiffers, format!("numRecords: {said}"), format!("{rows} rows"));
    }
    let wide = sections.get("tightBounds").is_some_and(|t| t.get() == "false");
    if add.deletion_vector.is_some() && !wide {
        // these are of the rows that are left
        return out;
    }
    let section = |name: &str| {
        let mut values = Values::new();
        if let Some(raw) = sections.get(name) {
            leaves(raw, &mut Vec::new(), &mut values);
        }
        values
    };
    let (least, most, nulls) = (section("minValues"), section("maxValues"), section("nullCount"));
    for column in facts {
        let Some((physical, data_type)) = locate(table, &column.path) else { continue };
        let name = column.path.join(".");
        let known = column.nulls.null_count() == 0;
        if let (Some(said), false, true) = (nulls.get(&physical), wide, known) {
            let found = sum(&column.nulls).unwrap_or(0);
            if said.parse() != Ok(found) {
                let expected = format!("nullCount of `{name}`: {said}");
                wrong(FindingKind::NullCountDiffers, expected, format!("{found} nulls"));
            }
        }
        let Some((smallest, largest)) = &column.bounds else { continue };
        // the text of a `float` is not that of the `double` that it became
        let data_type = if column.single_precision { &DataType::Float } else { data_type };
        let bound = |values: &Values<'_>| value(values.get(&physical)?, data_type);
        if bound(&least).is_some_and(|min| outside(smallest, &min, true)) {
            let said = least.get(&physical).copied().unwrap_or_default();
            let expected = format!("no value of `{name}` below {said} (minValues)");
            wrong(FindingKind::StatsNotBounds, expected, format!("{smallest:?}"));
        }
        if bound(&most).is_some_and(|max| outside(largest, &max, false)) {
            let said = most.get(&physical).copied().unwrap_or_default();
            let expected = format!("no value of `{name}` above {said} (maxValues)");
            wrong(FindingKind::StatsNotBounds, expected, format!("{largest:?}"));
        }
    }
    out
}

/// The leaves of a section, whose numbers stay in the words of the log.
fn leaves<'a>(raw: &'a RawValue, path: &mut Vec<String>, out: &mut Values<'a>) {
    match serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get()) {
        Ok(children) => {
            for (name, child) in children {
                path.push(name);
                leaves(child, path, out);
                path.pop();
            }
        }
        Err(_) if raw.get() != "null" => {
            out.insert(path.clone(), raw.get());
        }
        Err(_) => {}
    }
}

/// The path of a column in the statistics, and its type.
fn locate<'a>(table: &'a Facts, path: &[String]) -> Option<(Vec<String>, &'a DataType)> {
    let mut schema: &StructType = &table.schema;
    let mut physical = Vec::with_capacity(path.len());
    let (last, parents) = path.split_last()?;
    for name in parents {
        let field = schema.field(name)?;
        physical.push(field.physical_name(table.mode).to_owned());
        let DataType::Struct(inner) = &field.data_type else { return None };
        schema = inner;
    }
    let field = schema.field(last)?;
    physical.push(field.physical_name(table.mode).to_owned());
    Some((physical, &field.data_type))
}

/// A bound of the statistics as a value of its column.
fn value(json: &str, data_type: &DataType) -> Option<ArrayRef> {
    let text: String = match json.starts_with('"') {
        true => serde_json::from_str(json).ok()?,
        false => json.to_owned(),
    };
    match data_type {
        DataType::String => Some(Arc::new(StringArray::from(vec![text]))),
        // statistics of these are of no use to anybody
        DataType::Binary | DataType::Boolean => None,
        other => partition::parse("", Some(&text), other).ok(),
    }
}

/// Whether a value of a row group is below (above) a bound.
fn outside(values: &ArrayRef, bound: &ArrayRef, below: bool) -> bool {
    match values.data_type() {
        // no order of NaN, and one zero
        Arrow::Float16 | Arrow::Float32 | Arrow::Float64 => {
            let floats = |a: &ArrayRef| -> Option<Float64Array> {
                Some(cast(a, &Arrow::Float64).ok()?.as_primitive::<Float64Type>().clone())
            };
            let (Some(values), Some(bound)) = (floats(values), floats(bound)) else { return false };
            let bound = bound.value(0);
            values.iter().flatten().any(|v| if below { v < bound } else { v > bound })
        }
        Arrow::Timestamp(..) => {
            let micros =
                |a: &ArrayRef| Some(cast(a, &Arrow::Int64).ok()?.as_primitive::<Int64Type>().clone());
            let (Some(values), Some(bound)) = (micros(values), micros(bound)) else { return false };
            let bound = bound.value(0);
            let above = bound.saturating_add(CUT_MICROS);
            values.iter().flatten().any(|v| if below { v < bound } else { v > above })
        }
        kind => {
            let Ok(bound) = cast(bound, kind) else { return false };
            if bound.is_null(0) {
                return false;
            }
            let bound = Scalar::new(bound);
            let compared = if below { lt(values, &bound as &dyn Datum) } else { gt(values, &bound) };
            compared.is_ok_and(|c| c.true_count() > 0)
        }
    }
}
