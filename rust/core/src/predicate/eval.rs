//! Exact evaluation of a predicate on the rows of an Arrow batch, with the three-valued logic of SQL.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Datum, Decimal128Array, Int64Array, RecordBatch,
    Scalar as One,
};
use arrow::compute::kernels::boolean::{and_kleene, not, or_kleene};
use arrow::compute::kernels::cmp;
use arrow::datatypes::{DataType as Arrow, Field};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::bind::{Bound, Columns, Operand, Test, bind, opaque_type, position};
use super::canonical::{Canonical, canonical};
use super::scalar::{Scalar, compare_doubles, decimal_to_double};
use super::{CompareOp, Predicate};
use crate::error::{Error, Result};
use crate::schema::DataType;

/// For each row TRUE, FALSE or null, exactly as Spark would say: NaN equals NaN and is above every number, the two
/// zeros are equal, names are found without case, a field of a null struct is null.
///
/// # Errors
/// [`Error::InvalidPredicate`] for an unknown column (it lists those of the batch) and for a part that cannot be
/// evaluated: [`Predicate::Unknown`], a literal that cannot be cast exactly, a type that does not compare.
pub fn filter_mask(predicate: &Predicate, batch: &RecordBatch) -> Result<BooleanArray> {
    let mut columns = BatchColumns { batch, found: Vec::new() };
    let bound = bind(predicate, &mut columns)?;
    let columns = columns.found;
    let mut rows = Rows { predicate, columns: &columns, canonical: BTreeMap::new(), len: batch.num_rows() };
    rows.mask(&bound)
}

impl Predicate {
    /// The top-level columns that the predicate names, as it spells them.
    pub fn columns(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        self.gather(&mut names);
        names
    }

    /// Whether a part of it cannot be evaluated on rows: [`Predicate::Unknown`].
    pub fn has_unknown(&self) -> bool {
        match self {
            Predicate::And(parts) | Predicate::Or(parts) => parts.iter().any(Predicate::has_unknown),
            Predicate::Not(inner) => inner.has_unknown(),
            Predicate::Unknown(_) => true,
            _ => false,
        }
    }

    fn gather(&self, names: &mut BTreeSet<String>) {
        match self {
            Predicate::And(parts) | Predicate::Or(parts) => parts.iter().for_each(|p| p.gather(names)),
            Predicate::Not(inner) => inner.gather(names),
            Predicate::Compare { column, .. }
            | Predicate::In { column, .. }
            | Predicate::IsNull { column }
            | Predicate::IsNotNull { column }
            | Predicate::StartsWith { column, .. } => names.extend(column.first().cloned()),
            Predicate::Constant(_) | Predicate::Unknown(_) => {}
        }
    }
}

/// A column or field of the batch, null wherever one of its parents is.
struct Leaf {
    array: ArrayRef,
    data_type: DataType,
    nulls: Option<NullBuffer>,
}

struct BatchColumns<'b> {
    batch: &'b RecordBatch,
    found: Vec<Leaf>,
}

impl Columns for BatchColumns<'_> {
    fn resolve(&mut self, path: &[String]) -> Result<Operand, Vec<String>> {
        let schema = self.batch.schema();
        let mut fields = schema.fields();
        let mut arrays = self.batch.columns();
        let mut nulls = None;
        for (depth, part) in path.iter().enumerate() {
            let names = || fields.iter().map(|f| f.name().as_str());
            let Some(at) = position(names(), part) else {
                return Err(names().map(|n| [&path[..depth], &[n.to_owned()]].concat().join(".")).collect());
            };
            let array = &arrays[at];
            nulls = NullBuffer::union(nulls.as_ref(), array.logical_nulls().as_ref());
            if depth + 1 == path.len() {
                let data_type = column_type(&fields[at]);
                let opaque = match &data_type {
                    Some(known) => opaque_type(path, known),
                    None => Some(format!("`{}` is of the Arrow type {}", path.join("."), array.data_type())),
                };
                let data_type = data_type.unwrap_or(DataType::Void);
                self.found.push(Leaf { array: array.clone(), data_type: data_type.clone(), nulls });
                return Ok(Operand::Column { index: self.found.len() - 1, data_type, opaque });
            }
            match (fields[at].data_type(), array.as_struct_opt()) {
                (Arrow::Struct(inner), Some(inside)) => {
                    fields = inner;
                    arrays = inside.columns();
                }
                (other, _) if other.is_nested() => {
                    return Ok(Operand::Inside(format!("`{}` lies inside a {other}", path.join("."))));
                }
                _ => return Err(vec![path[..=depth].join(".")]),
            }
        }
        Err(schema.fields().iter().map(|f| f.name().clone()).collect())
    }
}

/// The Delta type of an Arrow column; of nested types only the kind.
fn column_type(field: &Field) -> Option<DataType> {
    fn of(arrow: &Arrow) -> Option<DataType> {
        Some(match arrow {
            Arrow::Null => DataType::Void,
            Arrow::Boolean => DataType::Boolean,
            Arrow::Int8 => DataType::Byte,
            Arrow::Int16 => DataType::Short,
            Arrow::Int32 => DataType::Integer,
            Arrow::Int64 => DataType::Long,
            Arrow::Float32 => DataType::Float,
            Arrow::Float64 => DataType::Double,
            Arrow::Decimal32(p, s) | Arrow::Decimal64(p, s) | Arrow::Decimal128(p, s) => {
                DataType::Decimal(*p, *s)
            }
            Arrow::Utf8 | Arrow::LargeUtf8 | Arrow::Utf8View => DataType::String,
            Arrow::Binary | Arrow::LargeBinary | Arrow::BinaryView => DataType::Binary,
            Arrow::Date32 => DataType::Date,
            Arrow::Timestamp(arrow::datatypes::TimeUnit::Nanosecond, _) => return None,
            Arrow::Timestamp(_, Some(_)) => DataType::Timestamp,
            Arrow::Timestamp(_, None) => DataType::TimestampNtz,
            Arrow::Dictionary(_, values) => return of(values),
            Arrow::RunEndEncoded(_, values) => return of(values.data_type()),
            Arrow::Struct(_) => DataType::Struct(Box::default()),
            _ => return None,
        })
    }
    of(field.data_type())
}

struct Rows<'a> {
    predicate: &'a Predicate,
    columns: &'a [Leaf],
    canonical: BTreeMap<usize, Canonical>,
    len: usize,
}

impl Rows<'_> {
    fn mask(&mut self, bound: &Bound) -> Result<BooleanArray> {
        match bound {
            Bound::And(parts) => self.fold(parts, true, and_kleene),
            Bound::Or(parts) => self.fold(parts, false, or_kleene),
            Bound::Not(inner) => not(&self.mask(inner)?).map_err(|e| self.arrow(e)),
            Bound::Constant(value) => Ok(constant(*value, self.len)),
            Bound::Unknown(reason) => {
                Err(Error::InvalidPredicate { predicate: self.predicate.to_string(), reason: reason.clone() })
            }
            Bound::Test { column, test } => self.test(*column, test),
        }
    }

    fn arrow(&self, source: arrow::error::ArrowError) -> Error {
        Error::arrow(format!("evaluating `{}`", self.predicate), source)
    }

    fn fold(
        &mut self,
        parts: &[Bound],
        empty: bool,
        combine: fn(&BooleanArray, &BooleanArray) -> Result<BooleanArray, arrow::error::ArrowError>,
    ) -> Result<BooleanArray> {
        let Some((first, rest)) = parts.split_first() else { return Ok(constant(Some(empty), self.len)) };
        let mut mask = self.mask(first)?;
        for part in rest {
            mask = combine(&mask, &self.mask(part)?).map_err(|e| self.arrow(e))?;
        }
        Ok(mask)
    }

    fn test(&mut self, index: usize, test: &Test) -> Result<BooleanArray> {
        let leaf = &self.columns[index];
        let valid = leaf.nulls.as_ref();
        let is_valid = || valid.map_or_else(|| BooleanBuffer::new_set(self.len), |n| n.inner().clone());
        match test {
            Test::IsNull => return Ok(BooleanArray::new(!&is_valid(), None)),
            Test::IsNotNull => return Ok(BooleanArray::new(is_valid(), None)),
            Test::EveryValue(truth) => {
                let values = if *truth {
                    BooleanBuffer::new_set(self.len)
                } else {
                    BooleanBuffer::new_unset(self.len)
                };
                return Ok(BooleanArray::new(values, valid.cloned()));
            }
            _ => {}
        }
        if !self.canonical.contains_key(&index) {
            let array = canonical(&leaf.array, &leaf.data_type);
            let array = array.ok_or_else(|| Error::InvalidPredicate {
                predicate: self.predicate.to_string(),
                reason: format!("an array of {} does not compare", leaf.array.data_type()),
            })?;
            self.canonical.insert(index, array);
        }
        let column = &self.canonical[&index];
        let hits = hits(column, test).map_err(|e| self.arrow(e))?;
        Ok(match test {
            Test::Compare { op: CompareOp::NullSafeEq, .. }
            | Test::CompareAsDouble { op: CompareOp::NullSafeEq, .. } => {
                BooleanArray::new(&hits & &is_valid(), None)
            }
            // a miss is unknown where the list holds a null
            Test::In { null: true, .. } => {
                let known = NullBuffer::new(hits.clone());
                BooleanArray::new(hits, NullBuffer::union(Some(&known), valid))
            }
            _ => BooleanArray::new(hits, valid.cloned()),
        })
    }
}

fn constant(value: Option<bool>, len: usize) -> BooleanArray {
    match value {
        Some(true) => BooleanArray::new(BooleanBuffer::new_set(len), None),
        Some(false) => BooleanArray::new(BooleanBuffer::new_unset(len), None),
        None => BooleanArray::new_null(len),
    }
}

/// The truth of a test for each value; its value for nulls is meaningless.
fn hits(column: &Canonical, test: &Test) -> Result<BooleanBuffer, arrow::error::ArrowError> {
    let each = |f: &dyn Fn(Scalar<'_>) -> bool| {
        BooleanBuffer::collect_bool(column.as_array().len(), |row| column.value(row).is_some_and(f))
    };
    Ok(match (test, column) {
        (Test::Compare { op, value }, _) => match (column, value) {
            (Canonical::Boolean(a), Scalar::Boolean(v)) => kernel(*op, a, &BooleanArray::new_scalar(*v))?,
            (Canonical::Integer(a), Scalar::Integer(v)) => kernel(*op, a, &Int64Array::new_scalar(*v))?,
            (Canonical::Decimal(a), Scalar::Decimal(v)) => {
                let one = Decimal128Array::from_value(*v, 1).with_data_type(a.data_type().clone());
                kernel(*op, a, &One::new(one))?
            }
            (Canonical::Bytes(a), Scalar::Bytes(v)) => kernel(*op, a, &BinaryViewArray::new_scalar(v))?,
            (Canonical::Double(a), Scalar::Double(v)) => {
                BooleanBuffer::collect_bool(a.len(), |row| holds(*op, compare_doubles(a.value(row), *v)))
            }
            _ => return Err(two_kinds()),
        },
        (Test::CompareAsDouble { op, value, .. }, Canonical::Integer(a)) => {
            BooleanBuffer::collect_bool(a.len(), |row| {
                holds(*op, compare_doubles(a.value(row) as f64, *value))
            })
        }
        (Test::CompareAsDouble { op, value, scale }, Canonical::Decimal(a)) => {
            BooleanBuffer::collect_bool(a.len(), |row| {
                holds(*op, compare_doubles(decimal_to_double(a.value(row), *scale), *value))
            })
        }
        (Test::In { values, .. }, _) => {
            each(&|v| values.binary_search_by(|other| other.compare(&v).unwrap_or(Ordering::Less)).is_ok())
        }
        (Test::StartsWith(prefix), Canonical::Bytes(a)) => {
            BooleanBuffer::collect_bool(a.len(), |row| a.value(row).starts_with(prefix))
        }
        _ => return Err(two_kinds()),
    })
}

fn two_kinds() -> arrow::error::ArrowError {
    arrow::error::ArrowError::ComputeError("column and literal are of two kinds".into())
}

fn kernel(
    op: CompareOp,
    left: &dyn Datum,
    right: &dyn Datum,
) -> Result<BooleanBuffer, arrow::error::ArrowError> {
    let compare = match op {
        CompareOp::Eq | CompareOp::NullSafeEq => cmp::eq,
        CompareOp::Ne => cmp::neq,
        CompareOp::Lt => cmp::lt,
        CompareOp::Le => cmp::lt_eq,
        CompareOp::Gt => cmp::gt,
        CompareOp::Ge => cmp::gt_eq,
    };
    Ok(compare(left, right)?.values().clone())
}

fn holds(op: CompareOp, order: Ordering) -> bool {
    match op {
        CompareOp::Eq | CompareOp::NullSafeEq => order.is_eq(),
        CompareOp::Ne => order.is_ne(),
        CompareOp::Lt => order.is_lt(),
        CompareOp::Le => order.is_le(),
        CompareOp::Gt => order.is_gt(),
        CompareOp::Ge => order.is_ge(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        Date32Array, DictionaryArray, Float64Array, Int32Array, ListArray, StringArray, StructArray,
        TimestampMicrosecondArray,
    };
    use arrow::datatypes::{Fields, Int32Type};

    use super::*;
    use crate::predicate::Literal;

    fn batch() -> RecordBatch {
        let x: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(2), None, Some(4), Some(5)]));
        let fields = Fields::from(vec![Field::new("x", Arrow::Int32, true)]);
        let parents = NullBuffer::from(vec![true, true, true, false, true]);
        let s = StructArray::new(fields, vec![x], Some(parents));
        RecordBatch::try_from_iter([
            ("id", Arc::new(Int64Array::from(vec![Some(1), Some(2), None, Some(4), Some(5)])) as ArrayRef),
            (
                "f",
                Arc::new(Float64Array::from(vec![Some(f64::NAN), Some(-0.0), None, Some(1.5), Some(-2.0)])),
            ),
            ("name", Arc::new(StringArray::from(vec![Some("a"), Some("ab"), None, Some("b"), Some("")]))),
            ("s", Arc::new(s)),
            ("d", Arc::new(Date32Array::from(vec![0, 1, 2, 3, 4]))),
            ("t", Arc::new(TimestampMicrosecondArray::from(vec![0, 1, 2, 3, 4]).with_timezone("UTC"))),
            (
                "k",
                Arc::new(
                    vec![Some("x"), None, Some("y"), Some("x"), None]
                        .into_iter()
                        .collect::<DictionaryArray<Int32Type>>(),
                ),
            ),
            (
                "p",
                Arc::new(
                    Decimal128Array::from(vec![10, 11, 20, 25, 30]).with_precision_and_scale(4, 1).unwrap(),
                ),
            ),
            (
                "l",
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(vec![
                    Some(vec![Some(1)]),
                    None,
                    Some(vec![]),
                    None,
                    Some(vec![None]),
                ])),
            ),
        ])
        .unwrap()
    }

    fn path(name: &str) -> Vec<String> {
        name.split('.').map(str::to_owned).collect()
    }

    fn compare(column: &str, op: CompareOp, value: Literal) -> Predicate {
        Predicate::Compare { op, column: path(column), value }
    }

    /// One letter a row: t, f or n.
    fn mask(predicate: &Predicate) -> String {
        let mask = filter_mask(predicate, &batch()).unwrap();
        mask.iter().map(|v| v.map_or('n', |v| if v { 't' } else { 'f' })).collect()
    }

    #[test]
    fn comparisons_are_three_valued() {
        use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne, NullSafeEq};
        for (column, op, value, expected) in [
            ("ID", Gt, Literal::Long(2), "ffntt"),
            ("id", Le, Literal::Double(2.5), "ttnff"),
            ("id", Eq, Literal::Double(2.5), "ffnff"),
            ("id", Ne, Literal::Double(2.5), "ttntt"),
            ("id", Eq, Literal::Null, "nnnnn"),
            ("id", NullSafeEq, Literal::Null, "fftff"),
            ("id", NullSafeEq, Literal::Long(2), "ftfff"),
            ("id", Lt, Literal::Double(1e19), "ttntt"),
            ("id", Lt, Literal::Double(9e18), "ttntt"),
            ("f", Gt, Literal::Double(1e300), "tfnff"),
            ("f", Eq, Literal::Double(f64::NAN), "tfnff"),
            ("f", Eq, Literal::Double(0.0), "ftnff"),
            ("f", Lt, Literal::Long(0), "ffnft"),
            ("f", Lt, Literal::Double(f64::NAN), "ftntt"),
            ("name", Ge, Literal::String("ab".into()), "ftntf"),
            ("s.x", Ge, Literal::Long(2), "ftnnt"),
            ("S.X", NullSafeEq, Literal::Long(4), "fffff"),
            ("d", Eq, Literal::String("1970-01-02".into()), "ftfff"),
            ("d", Gt, Literal::TimestampNtz(1), "ftttt"),
            ("t", Gt, Literal::String("1970-01-01T00:00:00.000002Z".into()), "ffftt"),
            ("k", Eq, Literal::String("x".into()), "tnftn"),
            ("k", NullSafeEq, Literal::Null, "ftfft"),
            ("p", Lt, Literal::Decimal("2.05".into()), "tttff"),
            ("p", Eq, Literal::Double(1.1), "ftfff"),
            ("p", Gt, Literal::Long(2), "ffftt"),
        ] {
            assert_eq!(mask(&compare(column, op, value.clone())), expected, "{column} {op} {value}");
        }
    }

    #[test]
    fn lists_prefixes_nulls_and_logic() {
        let is_in = |column: &str, values: Vec<Literal>| Predicate::In { column: path(column), values };
        let id_in = is_in("id", vec![Literal::Long(5), Literal::Long(1)]);
        let id_in_null = is_in("id", vec![Literal::Long(5), Literal::Null]);
        let not = |p: &Predicate| Predicate::Not(Box::new(p.clone()));
        for (predicate, expected) in [
            (id_in.clone(), "tfnft"),
            (id_in_null.clone(), "nnnnt"),
            (not(&id_in_null), "nnnnf"),
            (is_in("id", vec![]), "fffff"),
            (is_in("id", vec![Literal::Double(0.5)]), "ffnff"),
            (is_in("id", vec![Literal::Double(9007199254740992.0), Literal::Long(2)]), "ftnff"),
            (is_in("f", vec![Literal::Double(0.0), Literal::Double(f64::NAN)]), "ttnff"),
            (Predicate::StartsWith { column: path("name"), prefix: "a".into() }, "ttnff"),
            (Predicate::StartsWith { column: path("name"), prefix: "".into() }, "ttntt"),
            (Predicate::IsNull { column: path("s.x") }, "ffttf"),
            (Predicate::IsNull { column: path("s") }, "ffftf"),
            (Predicate::IsNotNull { column: path("l") }, "tftft"),
            (Predicate::IsNull { column: path("k") }, "ftfft"),
            (Predicate::Constant(None), "nnnnn"),
            (Predicate::And(vec![]), "ttttt"),
            (Predicate::Or(vec![]), "fffff"),
            (Predicate::And(vec![id_in.clone(), Predicate::Constant(None)]), "nfnfn"),
            (Predicate::Or(vec![id_in.clone(), Predicate::Constant(None)]), "tnnnt"),
            (Predicate::Or(vec![id_in, Predicate::Constant(Some(true))]), "ttttt"),
        ] {
            assert_eq!(mask(&predicate), expected, "{predicate}");
        }
    }

    #[test]
    fn what_cannot_be_evaluated_is_an_error_with_the_reason() {
        for (predicate, expected) in [
            (Predicate::Unknown("f(x)".into()), "predicate `f(x)`: `f(x)` cannot be evaluated"),
            (
                compare("s.y", CompareOp::Eq, Literal::Long(1)),
                "predicate `s.y = 1`: there is no column `s.y`; the columns are: s.x",
            ),
            (
                compare("nope", CompareOp::Eq, Literal::Long(1)),
                "predicate `nope = 1`: there is no column `nope`; the columns are: id, f, name, s, d, t, k, p, l",
            ),
            (
                compare("l", CompareOp::Eq, Literal::Long(1)),
                "predicate `l = 1`: `l` is of the Arrow type List(Int32)",
            ),
            (
                compare("name", CompareOp::Eq, Literal::Long(1)),
                "predicate `name = 1`: 1 cannot be cast exactly to string",
            ),
        ] {
            assert_eq!(filter_mask(&predicate, &batch()).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn columns_are_the_top_level_names() {
        let predicate = Predicate::And(vec![
            compare("s.x", CompareOp::Eq, Literal::Long(1)),
            Predicate::Not(Box::new(Predicate::IsNull { column: path("id") })),
        ]);
        assert_eq!(predicate.columns().into_iter().collect::<Vec<_>>(), ["id", "s"]);
    }
}
