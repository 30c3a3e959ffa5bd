//! An expression with a type for every part.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, new_null_array};

use super::ast::{Binary, Interval, Literal};
use super::coerce::{common, is_atomic, is_numeric};
use super::kernel::{Eval, Kernel};
use crate::schema::{DataType, arrow_type};

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

/// A function that holds something.
pub(super) fn code(f: impl Fn(&[ArrayRef]) -> Eval<ArrayRef> + Send + Sync + 'static) -> Code {
    Code(Arc::new(f))
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
