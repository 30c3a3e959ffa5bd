//! Evaluation of bound expressions, a batch at a time.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Scalar, StringArray, UInt32Array, new_null_array,
};
use arrow::compute::kernels::boolean::{and_kleene, not, or_kleene};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{filter, take};
use uuid::Uuid;

use super::arithmetic;
use super::bound::{Bound, Node};
use super::cast::cast_to;
use super::compare::compare;
use super::field::visible;
use super::kernel::Eval;
use crate::expr::Binary;
use crate::schema::arrow_type;

/// Rows of the columns that an expression reads.
pub(super) struct Batch {
    pub(super) columns: Vec<ArrayRef>,
    /// For each column of the schema its place in `columns`.
    pub(super) places: Arc<[Option<usize>]>,
    pub(super) rows: usize,
}

impl Batch {
    fn filter(&self, mask: &BooleanArray) -> Eval<Batch> {
        let columns = self.columns.iter().map(|c| filter(c, mask).map_err(|e| e.to_string()));
        Ok(Batch {
            columns: columns.collect::<Eval<_>>()?,
            places: self.places.clone(),
            rows: mask.true_count(),
        })
    }
}

fn failed(error: arrow::error::ArrowError) -> String {
    error.to_string()
}

impl Bound {
    pub(super) fn evaluate(&self, batch: &Batch) -> Eval<ArrayRef> {
        match &self.node {
            Node::Column(place) => {
                let at = batch.places.get(*place).copied().flatten();
                at.map(|at| batch.columns[at].clone()).ok_or_else(|| "a column does not exist".to_owned())
            }
            Node::Literal(array) => repeat(array, batch.rows),
            Node::Interval(_) => Err("an interval is not a value of a column".into()),
            Node::Field(of, place) => {
                let of = of.evaluate(batch)?;
                let of = of.as_struct_opt().ok_or("a struct is expected")?;
                visible(of, of.column(*place)).map_err(failed)
            }
            Node::Cast(of, tries) => cast_to(&of.evaluate(batch)?, &of.data_type, &self.data_type, *tries),
            Node::And(left, right) => self.logic(left, right, batch, true),
            Node::Or(left, right) => self.logic(left, right, batch, false),
            Node::Not(x) => Ok(Arc::new(not(&boolean(&x.evaluate(batch)?)?).map_err(failed)?)),
            Node::IsNull(x) => {
                let x = x.evaluate(batch)?;
                let nulls = x.logical_nulls();
                let there = nulls.map(|n| !n.inner());
                let none = || arrow::buffer::BooleanBuffer::new_unset(x.len());
                Ok(Arc::new(BooleanArray::new(there.unwrap_or_else(none), None)))
            }
            Node::Compare(op, left, right) => Ok(Arc::new(self.compare(*op, left, right, batch)?)),
            Node::Arithmetic(op, left, right) => {
                let (l, r) = (left.evaluate(batch)?, right.evaluate(batch)?);
                arithmetic::binary(*op, &l, &r, &self.data_type)
            }
            Node::Negate(x) => arithmetic::negate(&x.evaluate(batch)?),
            Node::In(x, list) => self.member(x, list, batch),
            Node::Case(branches, otherwise) => self.case(branches, otherwise.as_deref(), batch),
            Node::Coalesce(args) => self.coalesce(args, batch),
            Node::Call(code, args) => {
                let args = args.iter().map(|a| a.evaluate(batch)).collect::<Eval<Vec<_>>>()?;
                (code.0)(&args)
            }
            Node::Uuid => {
                let values = (0..batch.rows).map(|_| Some(Uuid::new_v4().to_string()));
                Ok(Arc::new(values.collect::<StringArray>()))
            }
        }
    }

    fn compare(&self, op: Binary, left: &Bound, right: &Bound, batch: &Batch) -> Eval<BooleanArray> {
        match (left.literal(), right.literal()) {
            (None, Some(right)) => compare(op, &left.evaluate(batch)?, &Scalar::new(right.clone())),
            (Some(left), None) => compare(op, &Scalar::new(left.clone()), &right.evaluate(batch)?),
            _ => compare(op, &left.evaluate(batch)?, &right.evaluate(batch)?),
        }
    }

    /// `AND` and `OR`: the right side is computed only for rows that the left side does not decide.
    fn logic(&self, left: &Bound, right: &Bound, batch: &Batch, and: bool) -> Eval<ArrayRef> {
        let left = boolean(&left.evaluate(batch)?)?;
        let right = if right.can_fail() {
            let open = left.iter().map(|truth| Some(truth != Some(!and))).collect();
            right.evaluate_where(&open, batch)?
        } else {
            right.evaluate(batch)?
        };
        let right = boolean(&right)?;
        let joined = if and { and_kleene(&left, &right) } else { or_kleene(&left, &right) };
        Ok(Arc::new(joined.map_err(failed)?))
    }

    fn member(&self, x: &Bound, list: &[Bound], batch: &Batch) -> Eval<ArrayRef> {
        let x = x.evaluate(batch)?;
        let mut found = BooleanArray::from(vec![false; batch.rows]);
        for item in list {
            let equal = match item.literal() {
                Some(item) => compare(Binary::Eq, &x, &Scalar::new(item.clone()))?,
                None => compare(Binary::Eq, &x, &item.evaluate(batch)?)?,
            };
            found = or_kleene(&found, &equal).map_err(failed)?;
        }
        if x.null_count() > 0 {
            // a null is in no list, an empty one excepted
            let unknown: BooleanArray =
                (0..x.len()).map(|row| Some(x.is_null(row) && !list.is_empty())).collect();
            let found: ArrayRef = Arc::new(found);
            return arrow::compute::nullif(&found, &unknown).map_err(failed);
        }
        Ok(Arc::new(found))
    }

    fn case(&self, branches: &[(Bound, Bound)], otherwise: Option<&Bound>, batch: &Batch) -> Eval<ArrayRef> {
        let mut result = new_null_array(&arrow_type(&self.data_type), batch.rows);
        let mut open = BooleanArray::from(vec![true; batch.rows]);
        let mut put = |value: &Bound, chosen: &BooleanArray| -> Eval<()> {
            if chosen.true_count() > 0 {
                let value = value.evaluate_where(chosen, batch)?;
                result = zip(chosen, &same_type(&value, &result)?, &result).map_err(failed)?;
            }
            Ok(())
        };
        for (condition, value) in branches {
            let holds = boolean(&condition.evaluate_where(&open, batch)?)?;
            let chosen: BooleanArray = (0..batch.rows)
                .map(|row| Some(open.value(row) && holds.is_valid(row) && holds.value(row)))
                .collect();
            put(value, &chosen)?;
            open = (0..batch.rows).map(|row| Some(open.value(row) && !chosen.value(row))).collect();
        }
        if let Some(otherwise) = otherwise {
            put(otherwise, &open)?;
        }
        Ok(result)
    }

    fn coalesce(&self, args: &[Bound], batch: &Batch) -> Eval<ArrayRef> {
        let mut result = new_null_array(&arrow_type(&self.data_type), batch.rows);
        for arg in args {
            let open: BooleanArray = match result.logical_nulls() {
                Some(nulls) => BooleanArray::new(!nulls.inner(), None),
                None => break,
            };
            if open.true_count() == 0 {
                break;
            }
            let value = arg.evaluate_where(&open, batch)?;
            result = zip(&open, &same_type(&value, &result)?, &result).map_err(failed)?;
        }
        Ok(result)
    }

    /// The value for the rows of the mask, and null for others.
    fn evaluate_where(&self, mask: &BooleanArray, batch: &Batch) -> Eval<ArrayRef> {
        let wanted = mask.true_count();
        if wanted == batch.rows || !self.can_fail() {
            return self.evaluate(batch);
        }
        if wanted == 0 {
            return Ok(new_null_array(&arrow_type(&self.data_type), batch.rows));
        }
        let values = self.evaluate(&batch.filter(mask)?)?;
        let mut next = 0;
        let places: UInt32Array = mask
            .values()
            .iter()
            .map(|chosen| {
                let place = chosen.then_some(next);
                next += u32::from(chosen);
                place
            })
            .collect();
        take(&values, &places, None).map_err(failed)
    }
}

/// Field names inside nested values differ between table and file; the layout is the same.
fn same_type(value: &ArrayRef, like: &ArrayRef) -> Eval<ArrayRef> {
    if value.data_type() == like.data_type() {
        return Ok(value.clone());
    }
    arrow::compute::cast(value, like.data_type()).map_err(failed)
}

fn boolean(array: &ArrayRef) -> Eval<BooleanArray> {
    array
        .as_boolean_opt()
        .cloned()
        .ok_or_else(|| format!("a condition is expected, not {}", array.data_type()))
}

/// One row as many.
fn repeat(array: &ArrayRef, rows: usize) -> Eval<ArrayRef> {
    if array.is_null(0) || array.data_type() == &arrow::datatypes::DataType::Null {
        return Ok(new_null_array(array.data_type(), rows));
    }
    take(array, &UInt32Array::from(vec![0; rows]), None).map_err(failed)
}
