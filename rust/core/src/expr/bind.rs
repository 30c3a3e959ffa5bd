//! Names to columns, types to every part, and the casts that Spark adds by itself.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, new_null_array};

use super::ast::{Binary, Expr, Interval, Literal};
use super::call::bind_call;
use super::coerce::{as_decimal, common, decimal_result, is_atomic, is_integral, is_numeric};
use super::kernel::{Eval, Kernel};
use super::{cast, nested, temporal, text};
use crate::schema::{COLLATIONS, DataType, StructField, StructType, arrow_type};
use crate::similar::did_you_mean;

/// An expression that can be evaluated.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) node: Node,
    pub(super) data_type: DataType,
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    /// Place of a column of the schema.
    Column(usize),
    /// An array of one row.
    Literal(ArrayRef),
    Interval(Interval),
    /// Place of a field in a struct.
    Field(Box<Bound>, usize),
    /// The flag gives null where the cast fails.
    Cast(Box<Bound>, bool),
    And(Box<Bound>, Box<Bound>),
    Or(Box<Bound>, Box<Bound>),
    Not(Box<Bound>),
    IsNull(Box<Bound>),
    /// Both sides have one type.
    Compare(Binary, Box<Bound>, Box<Bound>),
    /// Both sides have one type, or both are decimals.
    Arithmetic(Binary, Box<Bound>, Box<Bound>),
    Negate(Box<Bound>),
    /// All have one type.
    In(Box<Bound>, Vec<Bound>),
    Case(Vec<(Bound, Bound)>, Option<Box<Bound>>),
    Coalesce(Vec<Bound>),
    Call(Code, Vec<Bound>),
    Uuid,
}

/// What computes a function.
#[derive(Clone)]
pub(super) struct Code(pub(super) Arc<Compute>);

/// Columns of equal length to one column.
pub(super) type Compute = dyn Fn(&[ArrayRef]) -> Eval<ArrayRef> + Send + Sync;

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code")
    }
}

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

impl Bound {
    pub(super) fn boolean(node: Node) -> Bound {
        Bound { node, data_type: DataType::Boolean }
    }

    pub(super) fn call(kernel: Kernel, args: Vec<Bound>, data_type: DataType) -> Bound {
        Bound { node: Node::Call(Code(Arc::new(kernel)), args), data_type }
    }

    pub(super) fn null_test(self) -> Bound {
        Bound::boolean(Node::IsNull(Box::new(self)))
    }

    pub(super) fn literal(&self) -> Option<&ArrayRef> {
        match &self.node {
            Node::Literal(array) => Some(array),
            _ => None,
        }
    }

    /// Itself, unless it is an interval.
    pub(super) fn value(self) -> Eval<Bound> {
        match self.node {
            Node::Interval(_) => Err("an interval can only be added to a date or timestamp".into()),
            _ => Ok(self),
        }
    }

    pub(super) fn cast(self, to: &DataType) -> Bound {
        if self.data_type == *to {
            return self;
        }
        if let (Node::Literal(array), DataType::Void) = (&self.node, &self.data_type) {
            let node = Node::Literal(new_null_array(&arrow_type(to), array.len()));
            return Bound { node, data_type: to.clone() };
        }
        Bound { node: Node::Cast(Box::new(self), false), data_type: to.clone() }
    }

    /// Places of the columns in it.
    pub(super) fn columns(&self, places: &mut Vec<usize>) {
        if let Node::Column(place) = self.node {
            places.push(place);
        }
        self.children(&mut |child| child.columns(places));
    }

    fn children(&self, visit: &mut dyn FnMut(&Bound)) {
        match &self.node {
            Node::Column(_) | Node::Literal(_) | Node::Interval(_) | Node::Uuid => {}
            Node::Field(x, _) | Node::Cast(x, _) | Node::Not(x) | Node::IsNull(x) | Node::Negate(x) => {
                visit(x)
            }
            Node::And(l, r) | Node::Or(l, r) | Node::Compare(_, l, r) | Node::Arithmetic(_, l, r) => {
                visit(l);
                visit(r);
            }
            Node::In(x, list) => {
                visit(x);
                list.iter().for_each(visit);
            }
            Node::Case(branches, otherwise) => {
                for (condition, value) in branches {
                    visit(condition);
                    visit(value);
                }
                if let Some(otherwise) = otherwise {
                    visit(otherwise);
                }
            }
            Node::Coalesce(args) | Node::Call(_, args) => args.iter().for_each(visit),
        }
    }

    /// Whether a value can make it fail, so that it must not be computed for rows that do not ask for it.
    pub(super) fn can_fail(&self) -> bool {
        let own = matches!(
            self.node,
            Node::Cast(..) | Node::Arithmetic(..) | Node::Negate(_) | Node::Call(..) | Node::Interval(_)
        );
        let mut any = own;
        self.children(&mut |child| any |= child.can_fail());
        any
    }
}

pub(super) fn constant(literal: &Literal) -> Eval<Bound> {
    let data_type = literal.data_type().ok_or("an interval is not a value")?;
    Ok(Bound { node: Node::Literal(literal.array()?), data_type })
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

/// A value as a condition.
pub(super) fn truth(x: Bound) -> Eval<Bound> {
    match x.data_type {
        DataType::Boolean => Ok(x),
        DataType::Void => Ok(x.value()?.cast(&DataType::Boolean)),
        _ => Err(format!("a condition is expected where the type is {}", x.data_type.name())),
    }
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

/// An argument of a function, cast as Spark does it without being asked.
pub(super) fn accept(x: Bound, to: &DataType) -> Eval<Bound> {
    use DataType as T;
    let x = x.value()?;
    let fits = match (&x.data_type, to) {
        (given, to) if given == to => true,
        (T::Void, _) => true,
        (T::Integer | T::Short | T::Byte | T::Long, T::Integer | T::Long) => true,
        (given, T::Double) if is_numeric(given) => true,
        (T::String, T::Integer | T::Long | T::Double | T::Date | T::Timestamp) => true,
        (T::Date | T::TimestampNtz, T::Timestamp) | (T::Timestamp | T::TimestampNtz, T::Date) => true,
        (T::Binary, T::String) => false,
        (given, T::String) => is_atomic(given),
        _ => false,
    };
    if fits {
        return Ok(x.cast(to));
    }
    Err(format!("an argument of type {} is expected where the type is {}", to.name(), x.data_type.name()))
}

pub(super) fn binary(op: Binary, left: Bound, right: Bound) -> Eval<Bound> {
    match op {
        Binary::And => Ok(Bound::boolean(Node::And(Box::new(truth(left)?), Box::new(truth(right)?)))),
        Binary::Or => Ok(Bound::boolean(Node::Or(Box::new(truth(left)?), Box::new(truth(right)?)))),
        Binary::Concat => bind_call("concat", vec![left, right]),
        Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::NullSafeEq => {
            compare(op, left, right)
        }
        _ => match temporal::arithmetic(op, left, right)? {
            Ok(bound) => Ok(bound),
            Err((left, right)) => arithmetic(op, left.value()?, right.value()?),
        },
    }
}

pub(super) fn compare(op: Binary, left: Bound, right: Bound) -> Eval<Bound> {
    let (left, right) = comparable(left.value()?, right.value()?)?;
    Ok(Bound::boolean(Node::Compare(op, Box::new(left), Box::new(right))))
}

fn comparable(left: Bound, right: Bound) -> Eval<(Bound, Bound)> {
    use DataType as T;
    let to = match (&left.data_type, &right.data_type) {
        (T::Void, T::Void) => Some(T::Boolean),
        (T::String, other) | (other, T::String) if other != &T::String => match other {
            T::Date | T::Timestamp | T::TimestampNtz | T::Void => {
                Some(if *other == T::Void { T::String } else { other.clone() })
            }
            T::Decimal(..) | T::Double => Some(T::Double),
            T::Boolean => Some(T::Boolean),
            other => is_integral(other).then(|| other.clone()),
        },
        (T::Float, other) | (other, T::Float) if is_integral(other) => {
            let whole = if left.data_type == T::Float { &right } else { &left };
            let exact = matches!(other, T::Byte | T::Short) || small(whole);
            exact.then_some(T::Double)
        }
        (l, r) => common(l, r).filter(is_atomic),
    };
    let Some(to) = to else {
        return Err(format!(
            "a comparison of {} with {} is not supported; write a cast",
            left.data_type.name(),
            right.data_type.name()
        ));
    };
    Ok((left.cast(&to), right.cast(&to)))
}

/// Whether it is a whole number that a `float` holds exactly.
fn small(x: &Bound) -> bool {
    let array = x.literal().and_then(|a| cast::cast_to(a, &x.data_type, &DataType::Long, false).ok());
    array.is_some_and(|a| {
        use arrow::array::AsArray;
        use arrow::datatypes::Int64Type;
        a.as_primitive::<Int64Type>().values().iter().all(|v| v.unsigned_abs() <= 1 << 24)
    })
}

fn member(x: Bound, list: Vec<Bound>) -> Eval<Bound> {
    let x = x.value()?;
    let list = list.into_iter().map(Bound::value).collect::<Eval<Vec<_>>>()?;
    let mut to = x.data_type.clone();
    for item in &list {
        let (l, r) = (&to, &item.data_type);
        to = match (l, r) {
            // by one setting of Spark both become text, by the other the text becomes the other type
            (DataType::String, other) | (other, DataType::String)
                if !matches!(other, DataType::String | DataType::Void) =>
            {
                canonical(item, other).then(|| other.clone())
            }
            _ => common(l, r).filter(|t| is_atomic(t) || *t == DataType::Void),
        }
        .ok_or_else(|| format!("IN of {} and {} is not supported; write a cast", l.name(), r.name()))?;
    }
    if to == DataType::Void {
        to = DataType::Boolean;
    }
    let list = list.into_iter().map(|item| item.cast(&to)).collect();
    Ok(Bound::boolean(Node::In(Box::new(x.cast(&to)), list)))
}

/// Whether it is a text that a value of the type is written as.
fn canonical(item: &Bound, to: &DataType) -> bool {
    let Some(array) = item.literal() else { return false };
    if item.data_type != DataType::String || matches!(to, DataType::Float | DataType::Double) {
        return false;
    }
    let there = cast::cast_to(array, &DataType::String, to, false);
    let back = there.and_then(|there| cast::cast_to(&there, to, &DataType::String, false));
    back.is_ok_and(|back| &back == array)
}

fn arithmetic(op: Binary, left: Bound, right: Bound) -> Eval<Bound> {
    use DataType as T;
    let refused = |l: &T, r: &T| {
        Err(format!("arithmetic of {} and {} is not supported; write a cast", l.name(), r.name()))
    };
    let (left, right) = match (&left.data_type, &right.data_type) {
        (T::Void, T::Void) => (left.cast(&T::Double), right.cast(&T::Double)),
        (T::Void, other) => {
            let other = other.clone();
            (left.cast(&other), right)
        }
        (other, T::Void) => {
            let other = other.clone();
            (left, right.cast(&other))
        }
        _ => (left, right),
    };
    let (l, r) = (left.data_type.clone(), right.data_type.clone());
    if !is_numeric(&l) || !is_numeric(&r) {
        return refused(&l, &r);
    }
    let decimal = matches!(l, T::Decimal(..)) || matches!(r, T::Decimal(..));
    let floating = matches!(l, T::Float | T::Double) || matches!(r, T::Float | T::Double);
    let node = |left, right| Node::Arithmetic(op, Box::new(left), Box::new(right));
    if decimal && !floating {
        let (left, right) = (to_decimal(left)?, to_decimal(right)?);
        let (Some(a), Some(b)) = (as_decimal(&left.data_type), as_decimal(&right.data_type)) else {
            return refused(&l, &r);
        };
        let (precision, scale) = decimal_result(op, a, b);
        let data_type = if op == Binary::IntegralDivide { T::Long } else { T::Decimal(precision, scale) };
        return Ok(Bound { node: node(left, right), data_type });
    }
    let to = match op {
        Binary::Divide => T::Double,
        Binary::IntegralDivide if floating => return refused(&l, &r),
        Binary::IntegralDivide => T::Long,
        _ => match common(&l, &r) {
            Some(to) => to,
            None => return refused(&l, &r),
        },
    };
    Ok(Bound { node: node(left.cast(&to), right.cast(&to)), data_type: to })
}

/// A whole number as a decimal: a constant of just its digits, any other of all that its type can have.
fn to_decimal(x: Bound) -> Eval<Bound> {
    let (precision, scale) = as_decimal(&x.data_type).ok_or("no decimal")?;
    let to = match x.literal() {
        Some(array) if is_integral(&x.data_type) => {
            let text = cast::cast_to(array, &x.data_type, &DataType::String, false)?;
            let digits =
                arrow::array::AsArray::as_string::<i32>(&text).value(0).trim_start_matches('-').len();
            DataType::Decimal(digits as u8, 0)
        }
        _ => DataType::Decimal(precision, scale),
    };
    Ok(x.cast(&to))
}

fn negate(x: Bound) -> Eval<Bound> {
    let x = x.value()?;
    if !is_numeric(&x.data_type) {
        return Err(format!("minus of {} is not supported", x.data_type.name()));
    }
    let data_type = x.data_type.clone();
    Ok(Bound { node: Node::Negate(Box::new(x)), data_type })
}

/// One value for each condition, and one more for what is left, or null.
pub(super) fn case(conditions: Vec<Bound>, values: Vec<Bound>) -> Eval<Bound> {
    let (mut values, to) = unify(values)?;
    let otherwise = (values.len() > conditions.len()).then(|| values.pop()).flatten().map(Box::new);
    let branches = conditions.into_iter().zip(values).collect();
    Ok(Bound { node: Node::Case(branches, otherwise), data_type: to })
}

/// Values as one type.
pub(super) fn unify(values: Vec<Bound>) -> Eval<(Vec<Bound>, DataType)> {
    let values = values.into_iter().map(Bound::value).collect::<Eval<Vec<_>>>()?;
    let mut to = DataType::Void;
    for value in &values {
        to = common(&to, &value.data_type).ok_or_else(|| {
            format!("{} and {} have no type in common; write a cast", to.name(), value.data_type.name())
        })?;
    }
    Ok((values.into_iter().map(|v| v.cast(&to)).collect(), to))
}
