//! Statistics in JSON as columns, without a tree between: texts of one shape have each value in its place. What a value
//! means is what arrow-json makes of it; a row that has anything else is left to that.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, PrimitiveArray, StringBuilder, StructArray};
use arrow::buffer::NullBuffer;
use arrow::compute::kernels::cast_utils::{Parser, parse_decimal, string_to_datetime};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Fields, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
};
use arrow::error::ArrowError;
use chrono::Utc;

use crate::prune::{Shape, Shapes};

/// Columns of statistics, and the rows of which they hold.
pub(super) struct Columns {
    pub(super) columns: Vec<ArrayRef>,
    /// Rows that are not read; in the columns they are anything.
    pub(super) others: Vec<usize>,
}

/// What a shape holds of the wanted columns.
#[derive(Debug)]
struct Known {
    /// The leaf that each value is of.
    leaves: Vec<Option<usize>>,
    /// The structs that are there.
    structs: Vec<bool>,
}

/// The leaves and the structs of the wanted columns, by path and in the order of the schema.
#[derive(Default)]
struct Wanted<'f> {
    leaves: HashMap<Vec<&'f str>, usize>,
    structs: HashMap<Vec<&'f str>, usize>,
    types: Vec<&'f DataType>,
}

impl<'f> Wanted<'f> {
    fn add(&mut self, fields: &'f Fields, above: &mut Vec<&'f str>) {
        for field in fields {
            above.push(field.name());
            match field.data_type() {
                DataType::Struct(inner) => {
                    self.structs.insert(above.clone(), self.structs.len());
                    self.add(inner, above);
                }
                leaf => {
                    self.leaves.insert(above.clone(), self.types.len());
                    self.types.push(leaf);
                }
            }
            above.pop();
        }
    }

    /// None where there is no value, a value stands for a struct, or a struct for a value.
    fn of(&self, shape: &Shape) -> Option<Known> {
        if shape.paths().is_empty() {
            return None;
        }
        let mut structs = vec![false; self.structs.len()];
        let mut leaves = Vec::with_capacity(shape.paths().len());
        for path in shape.paths() {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            if self.structs.contains_key(&path) {
                return None;
            }
            for above in 1..path.len() {
                if self.leaves.contains_key(&path[..above]) {
                    return None;
                }
                if let Some(at) = self.structs.get(&path[..above]) {
                    structs[*at] = true;
                }
            }
            leaves.push(self.leaves.get(&path).copied());
        }
        Some(Known { leaves, structs })
    }
}

/// Makes columns of texts.
pub(super) struct ColumnReader<'f> {
    fields: &'f Fields,
    wanted: Wanted<'f>,
    shapes: Shapes<Known>,
}

impl<'f> ColumnReader<'f> {
    pub(super) fn new(fields: &'f Fields) -> Self {
        let mut wanted = Wanted::default();
        wanted.add(fields, &mut Vec::new());
        ColumnReader { fields, wanted, shapes: Shapes::new() }
    }

    /// The columns of these texts; none where a field has a type that statistics do not have. The texts are looked at once
    /// for each leaf: they should be so few that a cache holds them.
    pub(super) fn read(&mut self, rows: &[Option<&str>]) -> Result<Option<Columns>, ArrowError> {
        let ColumnReader { fields, wanted, shapes } = self;
        let mut raw: Vec<Vec<Option<&str>>> = vec![vec![None; rows.len()]; wanted.types.len()];
        let mut there: Vec<Vec<bool>> = vec![vec![false; rows.len()]; wanted.structs.len()];
        let mut read = vec![false; rows.len()];
        for (row, text) in rows.iter().enumerate() {
            let Some(text) = text else { continue };
            let mut begun = false;
            let fill = |known: &Known, number: usize, value| {
                // another shape did not fit
                if number == 0 && std::mem::replace(&mut begun, true) {
                    raw.iter_mut().for_each(|leaf| leaf[row] = None);
                }
                if let Some(leaf) = known.leaves[number] {
                    raw[leaf][row] = Some(value).filter(|value| *value != "null");
                }
            };
            let known = shapes.walk(text, |shape| wanted.of(shape), fill);
            match known {
                Some(known) => {
                    read[row] = true;
                    there.iter_mut().zip(&known.structs).for_each(|(there, known)| there[row] = *known);
                }
                None => raw.iter_mut().for_each(|leaf| leaf[row] = None),
            }
        }
        let mut leaves = Vec::with_capacity(raw.len());
        for (kind, raw) in wanted.types.iter().zip(&raw) {
            let Some(leaf) = leaf(kind, raw, &mut read)? else { return Ok(None) };
            leaves.push(leaf);
        }
        let columns = assemble(fields, &mut leaves.into_iter(), &mut there.into_iter())?;
        let others = (0..rows.len()).filter(|row| !read[*row]).collect();
        Ok(Some(Columns { columns, others }))
    }
}

/// Leaves as the fields nest them. Both lists are in the order in which [`Wanted::add`] meets them.
fn assemble(
    fields: &Fields,
    leaves: &mut impl Iterator<Item = ArrayRef>,
    there: &mut impl Iterator<Item = Vec<bool>>,
) -> Result<Vec<ArrayRef>, ArrowError> {
    let missing = || ArrowError::ComputeError("a column of statistics is missing".into());
    let mut out = Vec::with_capacity(fields.len());
    for field in fields {
        out.push(match field.data_type() {
            DataType::Struct(inner) => {
                let nulls = NullBuffer::from(there.next().ok_or_else(missing)?);
                let columns = assemble(inner, leaves, there)?;
                Arc::new(StructArray::try_new(inner.clone(), columns, Some(nulls))?)
            }
            _ => leaves.next().ok_or_else(missing)?,
        });
    }
    Ok(out)
}

/// The text within quotes.
fn quoted(raw: &str) -> Option<&str> {
    match raw.as_bytes() {
        [b'"', .., b'"'] => raw.get(1..raw.len() - 1),
        _ => None,
    }
}

/// A column of one type. A row whose value is none of the type is not read.
fn leaf(kind: &DataType, raw: &[Option<&str>], read: &mut [bool]) -> Result<Option<ArrayRef>, ArrowError> {
    fn each<T: ArrowPrimitiveType>(
        raw: &[Option<&str>],
        read: &mut [bool],
        parse: impl Fn(&str) -> Option<T::Native>,
    ) -> PrimitiveArray<T> {
        let value = |(raw, read): (&Option<&str>, &mut bool)| {
            let value = raw.and_then(&parse);
            *read &= raw.is_none() || value.is_some();
            value
        };
        raw.iter().zip(read).map(value).collect()
    }
    fn plain<T: ArrowPrimitiveType>(raw: &[Option<&str>], read: &mut [bool]) -> ArrayRef
    where
        T::Native: std::str::FromStr,
    {
        Arc::new(each::<T>(raw, read, |raw| raw.parse().ok()))
    }
    Ok(Some(match kind {
        DataType::Int8 => plain::<Int8Type>(raw, read),
        DataType::Int16 => plain::<Int16Type>(raw, read),
        DataType::Int32 => plain::<Int32Type>(raw, read),
        DataType::Int64 => plain::<Int64Type>(raw, read),
        DataType::Float32 => {
            Arc::new(each::<Float32Type>(raw, read, |raw| raw.parse().ok().filter(|v: &f32| v.is_finite())))
        }
        DataType::Float64 => {
            Arc::new(each::<Float64Type>(raw, read, |raw| raw.parse().ok().filter(|v: &f64| v.is_finite())))
        }
        DataType::Date32 => Arc::new(each::<Date32Type>(raw, read, |raw| Date32Type::parse(quoted(raw)?))),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let micros = |raw: &str| Some(string_to_datetime(&Utc, quoted(raw)?).ok()?.timestamp_micros());
            let array = each::<TimestampMicrosecondType>(raw, read, micros);
            Arc::new(array.with_timezone_opt(zone.clone()))
        }
        DataType::Decimal128(precision, scale) => {
            let parse = |raw: &str| {
                parse_decimal::<Decimal128Type>(quoted(raw).unwrap_or(raw), *precision, *scale).ok()
            };
            let array = each::<Decimal128Type>(raw, read, parse);
            Arc::new(array.with_precision_and_scale(*precision, *scale)?)
        }
        DataType::Boolean => {
            let value = |(raw, read): (&Option<&str>, &mut bool)| match raw {
                Some("true") => Some(true),
                Some("false") => Some(false),
                other => {
                    *read &= other.is_none();
                    None
                }
            };
            Arc::new(raw.iter().zip(read).map(value).collect::<BooleanArray>())
        }
        DataType::Utf8 => {
            let bytes = raw.iter().flatten().map(|raw| raw.len()).sum();
            let mut out = StringBuilder::with_capacity(raw.len(), bytes);
            for (raw, read) in raw.iter().zip(read) {
                let value = raw.and_then(quoted);
                *read &= raw.is_none() || value.is_some();
                out.append_option(value);
            }
            Arc::new(out.finish())
        }
        _ => return Ok(None),
    }))
}
