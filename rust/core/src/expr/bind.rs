//! Names to columns, and every part of an expression bound.

use super::ast::{Expr, Literal};
use super::bound::{Bound, Node, accept, constant};
use super::call::bind_call;
use super::kernel::Eval;
use super::operators::{binary, case, member, negate, truth};
use super::{cast, nested, text};
use crate::schema::{COLLATIONS, DataType, StructField, StructType};
use crate::similar::did_you_mean;

pub(super) fn bind(expr: &Expr, schema: &StructType) -> Eval<Bound> {
    Ok(match expr {
        Expr::Column(parts) => {
            check_collation(parts, schema)?;
            column(parts, schema)?
        }
        Expr::Literal(Literal::Interval(interval)) => {
            Bound { node: Node::Interval(*interval), data_type: DataType::Void }
        }
        Expr::Literal(literal) => constant(literal)?,
        Expr::Binary(op, left, right) => binary(*op, bind(left, schema)?, bind(right, schema)?)?,
        Expr::Not(x) => Bound::boolean(Node::Not(Box::new(truth(bind(x, schema)?)?))),
        Expr::Negate(x) => negate(bind(x, schema)?)?,
        Expr::IsNull(x) => match x.as_ref() {
            Expr::Column(parts) => column(parts, schema)?.null_test(),
            x => bind(x, schema)?.value()?.null_test(),
        },
        Expr::In(x, list) => {
            let list = list.iter().map(|e| bind(e, schema)).collect::<Eval<Vec<_>>>()?;
            member(bind(x, schema)?, list)?
        }
        Expr::Like(value, pattern, escape, ignore_case) => {
            let value = accept(bind(value, schema)?, &DataType::String)?;
            let pattern = accept(bind(pattern, schema)?, &DataType::String)?;
            let code = text::like(*escape, *ignore_case);
            Bound { node: Node::Call(code, vec![value, pattern]), data_type: DataType::Boolean }
        }
        Expr::Case(branches, otherwise) => {
            let conditions = branches.iter().map(|(c, _)| truth(bind(c, schema)?));
            let conditions = conditions.collect::<Eval<Vec<_>>>()?;
            let mut values = branches.iter().map(|(_, v)| bind(v, schema)).collect::<Eval<Vec<_>>>()?;
            values.extend(otherwise.as_deref().map(|o| bind(o, schema)).transpose()?);
            case(conditions, values)?
        }
        Expr::Cast(x, to, tries) => cast_explicitly(bind(x, schema)?, to, *tries)?,
        Expr::Field(x, name) => field(bind(x, schema)?.value()?, name)?,
        Expr::Index(x, index) => nested::index(bind(x, schema)?.value()?, bind(index, schema)?.value()?)?,
        Expr::Call(name, args) => {
            let args = args.iter().map(|a| bind(a, schema)).collect::<Eval<Vec<_>>>()?;
            bind_call(name, args)?
        }
    })
}

fn column(parts: &[String], schema: &StructType) -> Eval<Bound> {
    let (name, fields) = parts.split_first().ok_or("a column without a name")?;
    let place = place(schema, name)?.ok_or_else(|| {
        let names: Vec<_> = schema.fields.iter().map(|f| format!("`{}`", f.name)).collect();
        let like = did_you_mean(name, schema.fields.iter().map(|f| &f.name));
        format!("there is no column `{name}`{like}; there are {}", names.join(", "))
    })?;
    let column = Bound { node: Node::Column(place), data_type: schema.fields[place].data_type.clone() };
    fields.iter().try_fold(column, |column, name| field(column, name))
}

/// Text with a collation does not compare by its bytes, as it does here: only whether it is null can be asked.
fn check_collation(parts: &[String], schema: &StructType) -> Eval<()> {
    match schema.field_at(parts) {
        Some(field) if is_collated(field) => Err(format!("`{}` has a collation: ask Spark", parts.join("."))),
        _ => Ok(()),
    }
}

fn is_collated(field: &StructField) -> bool {
    let within = matches!(&field.data_type, DataType::Struct(s) if s.fields.iter().any(is_collated));
    within || field.metadata.contains_key(COLLATIONS)
}

fn place(schema: &StructType, name: &str) -> Eval<Option<usize>> {
    let lower = name.to_lowercase();
    let mut found = schema.fields.iter().enumerate().filter(|(_, f)| f.name.to_lowercase() == lower);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(format!("`{name}` is ambiguous: two columns have this name")),
        (found, _) => Ok(found.map(|(place, _)| place)),
    }
}

fn field(of: Bound, name: &str) -> Eval<Bound> {
    let DataType::Struct(s) = &of.data_type else {
        return Err(format!("`.{name}` of a value of type {} is not supported", of.data_type.name()));
    };
    let place = place(s, name)?.ok_or_else(|| format!("there is no field `{name}`"))?;
    let data_type = s.fields[place].data_type.clone();
    Ok(Bound { node: Node::Field(Box::new(of), place), data_type })
}

fn cast_explicitly(x: Bound, to: &DataType, tries: bool) -> Eval<Bound> {
    let x = x.value()?;
    if !cast::is_known(&x.data_type, to) {
        return Err(format!("a cast of {} to {} is not supported", x.data_type.name(), to.name()));
    }
    if x.data_type == *to {
        return Ok(x);
    }
    Ok(Bound { node: Node::Cast(Box::new(x), tries), data_type: to.clone() })
}
