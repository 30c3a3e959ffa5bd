//! Lists, maps, and the greatest of many.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, ListArray, UInt32Array, new_null_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::kernels::zip::zip;
use arrow::compute::{concat, take};
use arrow::datatypes::{Field, Int32Type};

use super::bound::{Bound, Code, Node, accept, code, unify};
use super::coerce::common;
use super::compare::compare;
use super::kernel::Eval;
use super::split::split;
use crate::expr::Binary;
use crate::schema::{ArrayType, DataType, arrow_type};

fn failed(error: arrow::error::ArrowError) -> String {
    error.to_string()
}

pub(super) fn bind(name: &str, args: &[Bound]) -> Eval<Bound> {
    match (name, args) {
        ("size" | "cardinality" | "array_size", [of]) => {
            let map = matches!(of.data_type, DataType::Map(_)) && name != "array_size";
            if !map && !matches!(of.data_type, DataType::Array(_)) {
                return Err(format!("{name} of {} is not supported", of.data_type.name()));
            }
            let null_is_null = name == "array_size";
            let kernel = move |a: &[ArrayRef]| size(&a[0], null_is_null);
            Ok(Bound { node: Node::Call(code(kernel), args.to_vec()), data_type: DataType::Integer })
        }
        ("array_contains", [of, item]) => {
            let DataType::Array(list) = &of.data_type else {
                return Err(format!("array_contains of {} is not supported", of.data_type.name()));
            };
            let fits = common(&list.element_type, &item.data_type).as_ref() == Some(&list.element_type);
            if !fits || item.data_type == DataType::Void {
                let (list, item) = (list.element_type.name(), item.data_type.name());
                return Err(format!("array_contains: {item} in a list of {list} is not supported"));
            }
            let item = item.clone().cast(&list.element_type);
            Ok(Bound::call(contains, vec![of.clone(), item], DataType::Boolean))
        }
        ("element_at", [of, at]) => element_at(of.clone(), at.clone(), 1),
        ("array", [_, ..]) => {
            let (args, to) = unify(args.to_vec())?;
            let list = ArrayType { element_type: to, contains_null: true };
            let kernel = |a: &[ArrayRef]| make(a);
            Ok(Bound { node: Node::Call(code(kernel), args), data_type: DataType::Array(Box::new(list)) })
        }
        ("split", [_, _] | [_, _, _]) => {
            let takes = [DataType::String, DataType::String, DataType::Integer];
            let args = args.iter().zip(&takes).map(|(arg, to)| accept(arg.clone(), to));
            let list = ArrayType { element_type: DataType::String, contains_null: false };
            Ok(Bound::call(split, args.collect::<Eval<_>>()?, DataType::Array(Box::new(list))))
        }
        _ => Err(format!("{name} does not take {} arguments", args.len())),
    }
}

/// `x[index]`, which counts from 0.
pub(super) fn index(of: Bound, at: Bound) -> Eval<Bound> {
    element_at(of, at, 0)
}

fn element_at(of: Bound, at: Bound, first: i32) -> Eval<Bound> {
    match of.data_type.clone() {
        DataType::Array(list) => {
            let at = accept(at, &DataType::Integer)?;
            let kernel = move |a: &[ArrayRef]| item(&a[0], &a[1], first);
            Ok(Bound { node: Node::Call(code(kernel), vec![of, at]), data_type: list.element_type })
        }
        DataType::Map(map) => {
            if common(&map.key_type, &at.data_type).as_ref() != Some(&map.key_type) {
                let (key, at) = (map.key_type.name(), at.data_type.name());
                return Err(format!("a key of type {at} in a map by {key} is not supported"));
            }
            let at = at.cast(&map.key_type);
            Ok(Bound::call(value, vec![of, at], map.value_type))
        }
        other => Err(format!("an element of {} is not supported", other.name())),
    }
}

fn size(of: &ArrayRef, null_is_null: bool) -> Eval<ArrayRef> {
    if of.null_count() > 0 && !null_is_null {
        // null by one setting of Spark, -1 by the other
        return Err("the size of null is not supported; test for null before".into());
    }
    let lengths = |offsets: &OffsetBuffer<i32>| offsets.lengths().map(|n| n as i32).collect::<Vec<_>>();
    let sizes = match of.as_list_opt::<i32>() {
        Some(list) => lengths(list.offsets()),
        None => lengths(of.as_map_opt().ok_or("a map is expected")?.offsets()),
    };
    Ok(Arc::new(Int32Array::new(sizes.into(), of.nulls().cloned())))
}

/// True, or null where a null is in the list, or false.
fn contains(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let list = args[0].as_list::<i32>();
    let rows = (0..list.len()).map(|row| {
        if list.is_null(row) || args[1].is_null(row) {
            return Ok(None);
        }
        let items = list.value(row);
        let wanted = arrow::array::Scalar::new(args[1].slice(row, 1));
        let equal = compare(Binary::Eq, &items, &wanted)?;
        if equal.true_count() > 0 {
            return Ok(Some(true));
        }
        Ok((items.null_count() == 0).then_some(false))
    });
    Ok(Arc::new(rows.collect::<Eval<BooleanArray>>()?))
}

fn item(list: &ArrayRef, at: &ArrayRef, first: i32) -> Eval<ArrayRef> {
    let (list, at) = (list.as_list::<i32>(), at.as_primitive::<Int32Type>());
    let places = (0..list.len()).map(|row| {
        if list.is_null(row) || at.is_null(row) {
            return Ok(None);
        }
        let (wanted, length) = (at.value(row), list.value_length(row));
        let place = if wanted < 0 && first == 1 { length + wanted } else { wanted - first };
        if !(0..length).contains(&place) {
            return Err(format!("a list of {length} has no element {wanted}"));
        }
        Ok(Some((list.value_offsets()[row] + place) as u32))
    });
    let places = places.collect::<Eval<UInt32Array>>()?;
    take(list.values(), &places, None).map_err(failed)
}

fn value(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let map = args[0].as_map();
    let places = (0..map.len()).map(|row| {
        if map.is_null(row) || args[1].is_null(row) {
            return Ok(None);
        }
        let (from, length) = (map.value_offsets()[row] as usize, map.value_length(row) as usize);
        let keys = map.keys().slice(from, length);
        let wanted = arrow::array::Scalar::new(args[1].slice(row, 1));
        let equal = compare(Binary::Eq, &keys, &wanted)?;
        let place = (0..length).find(|at| equal.is_valid(*at) && equal.value(*at));
        Ok(place.map(|at| (from + at) as u32))
    });
    let places = places.collect::<Eval<UInt32Array>>()?;
    take(map.values(), &places, None).map_err(failed)
}

fn make(args: &[ArrayRef]) -> Eval<ArrayRef> {
    let (rows, width) = (args[0].len(), args.len());
    let all: Vec<&dyn Array> = args.iter().map(|a| a.as_ref()).collect();
    let all = concat(&all).map_err(failed)?;
    let order: UInt32Array = (0..rows * width).map(|i| Some((i % width * rows + i / width) as u32)).collect();
    let values = take(&all, &order, None).map_err(failed)?;
    let field = Arc::new(Field::new("element", values.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(width, rows));
    Ok(Arc::new(ListArray::try_new(field, offsets, values, None).map_err(failed)?))
}

/// The greatest or least of the columns; nulls do not count.
pub(super) fn extreme(greatest: bool) -> Code {
    let op = if greatest { Binary::Gt } else { Binary::Lt };
    code(move |args| {
        let mut best = args[0].clone();
        for next in &args[1..] {
            if next.data_type() == &arrow_type(&DataType::Void) {
                return Ok(new_null_array(next.data_type(), next.len()));
            }
            let better = compare(op, next, &best)?;
            let better: BooleanArray = (0..next.len())
                .map(|row| {
                    let wins = better.is_valid(row) && better.value(row);
                    Some(next.is_valid(row) && (best.is_null(row) || wins))
                })
                .collect();
            best = zip(&better, next, &best).map_err(failed)?;
        }
        Ok(best)
    })
}
