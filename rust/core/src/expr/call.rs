//! Functions by name. Those whose types depend on their arguments are here, the others in the tables of their families.

use chrono::Utc;

use super::ast::Literal;
use super::bound::{Bound, Node, accept, constant, unify};
use super::coerce::{is_atomic, is_numeric};
use super::kernel::{Eval, Function};
use super::names::data_type;
use super::operators::{binary, case, compare, concat, truth};
use super::{math, nested, split, temporal, temporal_format, text};
use crate::expr::Binary;
use crate::schema::DataType;

const TABLES: [&[Function]; 5] =
    [text::FUNCTIONS, split::FUNCTIONS, temporal::FUNCTIONS, temporal_format::FUNCTIONS, math::FUNCTIONS];

pub(super) fn bind_call(name: &str, args: Vec<Bound>) -> Eval<Bound> {
    let args = args.into_iter().map(Bound::value).collect::<Eval<Vec<_>>>()?;
    let failed = |reason: String| format!("{name}: {reason}");
    if let Some(bound) = special(name, &args).map_err(failed)? {
        return Ok(bound);
    }
    let function = TABLES.iter().flat_map(|t| t.iter()).find(|f| f.names.contains(&name));
    let function = function.ok_or_else(|| format!("the function `{name}` is not supported"))?;
    let (most, least) = (function.takes.len(), function.takes.len() - function.optional);
    if !(least..=most).contains(&args.len()) {
        return Err(format!("{name}: {} arguments are given, and it takes {least} to {most}", args.len()));
    }
    let args = args.into_iter().zip(function.takes).map(|(arg, to)| accept(arg, to).map_err(failed));
    Ok(Bound::call(function.kernel, args.collect::<Eval<_>>()?, function.gives.clone()))
}

fn special(name: &str, args: &[Bound]) -> Eval<Option<Bound>> {
    let own = |at: usize| args[at].clone();
    let exactly = |bound: Eval<Bound>| bound.map(Some);
    match (name, args.len()) {
        ("if" | "iff", 3) => exactly(case(vec![truth(own(0))?], vec![own(1), own(2)])),
        ("coalesce", 1..) => exactly(coalesce(args.to_vec())),
        ("ifnull" | "nvl", 2) => exactly(coalesce(args.to_vec())),
        ("nvl2", 3) => exactly(case(vec![own(0).null_test()], vec![own(2), own(1)])),
        ("nullif", 2) => {
            let equal = compare(Binary::Eq, own(0), own(1))?;
            let null = constant(&Literal::Null)?.cast(&args[0].data_type);
            exactly(case(vec![equal], vec![null, own(0)]))
        }
        ("isnull", 1) => Ok(Some(own(0).null_test())),
        ("isnotnull", 1) => Ok(Some(Bound::boolean(Node::Not(Box::new(own(0).null_test()))))),
        ("concat", _) => exactly(concat(args)),
        ("equal_null", 2) => exactly(compare(Binary::NullSafeEq, own(0), own(1))),
        ("mod", 2) => exactly(binary(Binary::Remainder, own(0), own(1))),
        ("pmod", 2) => exactly(pmod(own(0), own(1))),
        ("abs" | "negative" | "positive", 1) => {
            if !is_numeric(&args[0].data_type) {
                return Err(format!("{} is not a number", args[0].data_type.name()));
            }
            let data_type = args[0].data_type.clone();
            Ok(Some(match name {
                "positive" => own(0),
                "negative" => Bound { node: Node::Negate(Box::new(own(0))), data_type },
                _ => Bound::call(math::abs, args.to_vec(), data_type),
            }))
        }
        ("ceil" | "ceiling" | "floor", 1) => exactly(math::ceil_floor(own(0), name != "floor")),
        ("round", 1 | 2) => exactly(math::round(own(0), args.get(1))),
        ("greatest" | "least", 2..) => {
            let (values, to) = unify(args.to_vec())?;
            if !is_atomic(&to) && to != DataType::Void {
                return Err(format!("{} has no order", to.name()));
            }
            let code = nested::extreme(name == "greatest");
            Ok(Some(Bound { node: Node::Call(code, values), data_type: to }))
        }
        ("length" | "len" | "char_length" | "character_length", 1) => {
            let arg = if args[0].data_type == DataType::Binary {
                own(0)
            } else {
                accept(own(0), &DataType::String)?
            };
            Ok(Some(Bound::call(text::length, vec![arg], DataType::Integer)))
        }
        ("concat_ws", 1..) => exactly(text::concat_ws(args)),
        ("current_date" | "curdate", 0) => exactly(now().map(|now| now.cast(&DataType::Date))),
        ("current_timestamp" | "now", 0) => exactly(now()),
        ("localtimestamp", 0) => exactly(now().map(|now| now.cast(&DataType::TimestampNtz))),
        ("unix_timestamp", 0) => exactly(now().map(|now| now.cast(&DataType::Long))),
        ("current_timezone", 0) => exactly(constant(&Literal::String("UTC".into()))),
        ("uuid", 0) => Ok(Some(Bound { node: Node::Uuid, data_type: DataType::String })),
        ("extract" | "date_part" | "datepart", 2) => exactly(extract(args)),
        ("to_date" | "to_timestamp", 1)
        | (
            "date" | "timestamp" | "string" | "int" | "bigint" | "double" | "float" | "boolean" | "tinyint"
            | "smallint" | "decimal" | "binary",
            1,
        ) => {
            let to = data_type(name.trim_start_matches("to_"))?;
            if !super::cast::is_known(&args[0].data_type, &to) {
                return Err(format!("of {} is not supported", args[0].data_type.name()));
            }
            Ok(Some(own(0).cast(&to)))
        }
        ("to_unix_timestamp" | "unix_timestamp", 1 | 2) if args[0].data_type != DataType::String => {
            let instant = accept(own(0), &DataType::Timestamp)?;
            Ok(Some(Bound::call(temporal::whole_seconds, vec![instant], DataType::Long)))
        }
        ("size" | "cardinality" | "array_size" | "array_contains" | "element_at" | "array" | "split", _) => {
            nested::bind(name, args).map(Some)
        }
        _ => Ok(None),
    }
}

fn now() -> Eval<Bound> {
    constant(&Literal::Timestamp(Utc::now().timestamp_micros()))
}

/// The remainder, made positive where it is below zero.
fn pmod(value: Bound, by: Bound) -> Eval<Bound> {
    let remainder = binary(Binary::Remainder, value, by.clone())?;
    let to = remainder.data_type.clone();
    let below = compare(Binary::Lt, remainder.clone(), constant(&Literal::Integer(0))?)?;
    let sum = binary(Binary::Add, remainder.clone(), by.clone())?;
    let positive = binary(Binary::Remainder, sum, by)?.cast(&to);
    case(vec![below], vec![positive, remainder])
}

fn coalesce(args: Vec<Bound>) -> Eval<Bound> {
    let (values, to) = unify(args)?;
    Ok(Bound { node: Node::Coalesce(values), data_type: to })
}

fn extract(args: &[Bound]) -> Eval<Bound> {
    let field = args[0]
        .literal()
        .and_then(|a| arrow::array::AsArray::as_string_opt::<i32>(a).map(|s| s.value(0).to_lowercase()));
    let field = field.ok_or("the field is not a constant")?;
    let name = match field.as_str() {
        "year" | "y" | "years" | "yr" | "yrs" => "year",
        "quarter" | "qtr" => "quarter",
        "month" | "mon" | "mons" | "months" => "month",
        "week" | "w" | "weeks" => "weekofyear",
        "day" | "d" | "days" => "day",
        "dayofweek" | "dow" => "dayofweek",
        "doy" | "dayofyear" => "dayofyear",
        "hour" | "h" | "hours" | "hr" | "hrs" => "hour",
        "minute" | "m" | "min" | "mins" | "minutes" => "minute",
        // with its fraction, a decimal
        _ => return Err(format!("the field `{field}` is not supported")),
    };
    bind_call(name, vec![args[1].clone()])
}

/// The names of the functions in the tables.
#[cfg(test)]
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    TABLES.iter().flat_map(|t| t.iter()).flat_map(|function| function.names.iter().copied())
}
