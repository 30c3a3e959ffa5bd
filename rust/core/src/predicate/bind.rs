//! Binding: names become columns, literals become values of their type, and comparisons become tests of one column.

use super::literal::{Cast, cast};
use super::scalar::Scalar;
use super::{ColumnPath, CompareOp, Literal, Predicate};
use crate::error::{Error, Result};
use crate::schema::{COLLATIONS, ColumnMappingMode, DataType, StructType, TYPE_CHANGES};
use crate::similar::did_you_mean;

/// A column that a predicate names, found in the schema of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundColumn {
    /// Logical path, as the schema spells it.
    pub logical: Vec<String>,
    /// Physical path: the names in statistics and partition values.
    pub physical: Vec<String>,
    /// Type.
    pub data_type: DataType,
    /// Whether it is a partition column.
    pub partition: bool,
    /// Whether older files may hold it as float, so that their statistics were printed as floats.
    pub(crate) was_float: bool,
}

/// A predicate whose tests are bound to columns by number.
#[derive(Debug, Clone)]
pub(crate) enum Bound {
    And(Vec<Bound>),
    Or(Vec<Bound>),
    Not(Box<Bound>),
    Constant(Option<bool>),
    /// The result is unknown; the text says why.
    Unknown(String),
    Test {
        column: usize,
        test: Test,
    },
}

/// A test of the values of one column.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    /// `column op value`.
    Compare {
        op: CompareOp,
        value: Scalar<'static>,
    },
    /// The same after a cast of the column, whose values have this scale, to double.
    CompareAsDouble {
        op: CompareOp,
        value: f64,
        scale: i8,
    },
    /// `column IN (values)`: sorted, without null; `null` says whether there was one.
    In {
        values: Vec<Scalar<'static>>,
        null: bool,
    },
    IsNull,
    IsNotNull,
    StartsWith(Vec<u8>),
    /// This for every value, unknown for null.
    EveryValue(bool),
}

/// What a name refers to.
pub(crate) enum Operand {
    /// A column by number and type. `opaque` says why its values do not compare; IS [NOT] NULL still works.
    Column { index: usize, data_type: DataType, opaque: Option<String> },
    /// Something inside an array, a map or a variant.
    Inside(String),
}

/// Where names are looked up.
pub(crate) trait Columns {
    /// Finds a column; the error is the names that there are.
    fn resolve(&mut self, path: &[String]) -> Result<Operand, Vec<String>>;
}

/// Binds a predicate.
///
/// # Errors
/// [`Error::InvalidPredicate`] when a name is unknown; it lists the names that there are.
pub(crate) fn bind<C: Columns>(predicate: &Predicate, columns: &mut C) -> Result<Bound> {
    let all =
        |parts: &[Predicate], columns: &mut C| parts.iter().map(|p| bind(p, columns)).collect::<Result<_>>();
    Ok(match predicate {
        Predicate::And(parts) => Bound::And(all(parts, columns)?),
        Predicate::Or(parts) => Bound::Or(all(parts, columns)?),
        Predicate::Not(inner) => Bound::Not(Box::new(bind(inner, columns)?)),
        Predicate::Constant(value) => Bound::Constant(*value),
        Predicate::Unknown(text) => Bound::Unknown(format!("`{text}` cannot be evaluated")),
        Predicate::IsNull { column } => null_test(predicate, column, Test::IsNull, columns)?,
        Predicate::IsNotNull { column } => null_test(predicate, column, Test::IsNotNull, columns)?,
        Predicate::Compare { op, column, value } => {
            value_test(predicate, column, columns, |index, data_type| compare(*op, value, index, data_type))?
        }
        Predicate::In { column, values } => {
            value_test(predicate, column, columns, |index, data_type| is_in(values, index, data_type))?
        }
        Predicate::StartsWith { column, prefix } => {
            value_test(predicate, column, columns, |index, data_type| match data_type {
                DataType::String => {
                    Ok(Bound::Test { column: index, test: Test::StartsWith(prefix.clone().into()) })
                }
                DataType::Void => Ok(Bound::Constant(None)),
                other => Err(format!("LIKE needs a string, not {}", other.name())),
            })?
        }
    })
}

fn resolve<C: Columns>(predicate: &Predicate, path: &ColumnPath, columns: &mut C) -> Result<Operand> {
    columns.resolve(path).map_err(|candidates| Error::InvalidPredicate {
        predicate: predicate.to_string(),
        reason: format!(
            "there is no column `{}`{}; the columns are: {}",
            path.join("."),
            did_you_mean(&path.join("."), &candidates),
            candidates.join(", ")
        ),
    })
}

fn null_test<C: Columns>(p: &Predicate, path: &ColumnPath, test: Test, columns: &mut C) -> Result<Bound> {
    Ok(match resolve(p, path, columns)? {
        Operand::Column { index, .. } => Bound::Test { column: index, test },
        Operand::Inside(reason) => Bound::Unknown(reason),
    })
}

fn value_test<C: Columns>(
    predicate: &Predicate,
    path: &ColumnPath,
    columns: &mut C,
    test: impl FnOnce(usize, &DataType) -> Result<Bound, String>,
) -> Result<Bound> {
    Ok(match resolve(predicate, path, columns)? {
        Operand::Inside(reason) | Operand::Column { opaque: Some(reason), .. } => Bound::Unknown(reason),
        Operand::Column { index, data_type, opaque: None } => {
            test(index, &data_type).unwrap_or_else(Bound::Unknown)
        }
    })
}

fn incomparable(value: &Literal, data_type: &DataType) -> String {
    format!("{value} cannot be cast exactly to {}", data_type.name())
}

fn compare(op: CompareOp, value: &Literal, column: usize, data_type: &DataType) -> Result<Bound, String> {
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne, NullSafeEq};
    let test = |test| Bound::Test { column, test };
    // no value equals the literal; a null is not equal to it either
    let every = |truth| match op {
        NullSafeEq => Bound::Constant(Some(false)),
        _ => test(Test::EveryValue(truth)),
    };
    if *data_type == DataType::Void && !matches!(value, Literal::Null) {
        return Ok(Bound::Constant((op == NullSafeEq).then_some(false)));
    }
    Ok(match cast(value, data_type) {
        Cast::Null if op == NullSafeEq => test(Test::IsNull),
        Cast::Null => Bound::Constant(None),
        Cast::Exact(value) => test(Test::Compare { op, value }),
        Cast::AsDouble(value) => {
            let scale = if let DataType::Decimal(_, scale) = data_type { *scale } else { 0 };
            test(Test::CompareAsDouble { op, value, scale })
        }
        Cast::AboveAll => every(matches!(op, Lt | Le | Ne)),
        Cast::BelowAll => every(matches!(op, Gt | Ge | Ne)),
        Cast::Between(value) => match op {
            Lt | Le => test(Test::Compare { op: Le, value }),
            Gt | Ge => test(Test::Compare { op: Gt, value }),
            Eq | Ne | NullSafeEq => every(op == Ne),
        },
        Cast::Incomparable => return Err(incomparable(value, data_type)),
    })
}

fn is_in(values: &[Literal], column: usize, data_type: &DataType) -> Result<Bound, String> {
    if values.is_empty() {
        return Ok(Bound::Constant(Some(false)));
    }
    let mut null = *data_type == DataType::Void;
    let (mut exact, mut alternatives) = (Vec::new(), Vec::new());
    for value in values.iter().filter(|_| *data_type != DataType::Void) {
        match cast(value, data_type) {
            Cast::Null => null = true,
            Cast::Exact(value) => exact.push(value),
            Cast::AsDouble(_) => alternatives.push(compare(CompareOp::Eq, value, column, data_type)?),
            Cast::AboveAll | Cast::BelowAll | Cast::Between(_) => {}
            Cast::Incomparable => return Err(incomparable(value, data_type)),
        }
    }
    if !alternatives.is_empty() {
        // the list has one type: with one double in it, all are compared as doubles
        let scale = if let DataType::Decimal(_, scale) = data_type { *scale } else { 0 };
        alternatives.extend(exact.drain(..).filter_map(|v: Scalar<'static>| v.to_double(scale)).map(
            |value| Bound::Test { column, test: Test::CompareAsDouble { op: CompareOp::Eq, value, scale } },
        ));
    }
    exact.sort_by(|a, b| a.compare(b).unwrap_or(std::cmp::Ordering::Equal));
    let list = match (exact.is_empty(), null) {
        (true, true) => Bound::Constant(None),
        (true, false) => Bound::Test { column, test: Test::EveryValue(false) },
        _ => Bound::Test { column, test: Test::In { values: exact, null } },
    };
    if alternatives.is_empty() {
        return Ok(list);
    }
    alternatives.push(list);
    Ok(Bound::Or(alternatives))
}

/// Why the values of a type do not compare.
pub(crate) fn opaque_type(path: &[String], data_type: &DataType) -> Option<String> {
    match data_type {
        DataType::Struct(_)
        | DataType::Array(_)
        | DataType::Map(_)
        | DataType::Variant
        | DataType::UserDefined(_) => {
            Some(format!("`{}` is of type {}, which does not compare", path.join("."), data_type.name()))
        }
        _ => None,
    }
}

/// Finds a name in a list: the exact one, else the one that differs only in case.
pub(crate) fn position<'n>(names: impl Iterator<Item = &'n str> + Clone, wanted: &str) -> Option<usize> {
    let folded = wanted.to_lowercase();
    names.clone().position(|n| n == wanted).or_else(|| names.clone().position(|n| n.to_lowercase() == folded))
}

/// The columns of a table, gathered as they are named.
pub(crate) struct TableColumns<'s> {
    pub(crate) schema: &'s StructType,
    pub(crate) partition_columns: &'s [String],
    pub(crate) mode: ColumnMappingMode,
    pub(crate) found: Vec<BoundColumn>,
}

impl Columns for TableColumns<'_> {
    fn resolve(&mut self, path: &[String]) -> Result<Operand, Vec<String>> {
        let mut level = self.schema;
        let (mut logical, mut physical) = (Vec::new(), Vec::new());
        for (depth, part) in path.iter().enumerate() {
            let field = level.field(part).ok_or_else(|| {
                level
                    .fields
                    .iter()
                    .map(|f| [&logical[..], std::slice::from_ref(&f.name)].concat().join("."))
                    .collect::<Vec<_>>()
            })?;
            logical.push(field.name.clone());
            physical.push(field.physical_name(self.mode).to_owned());
            if depth + 1 == path.len() {
                let data_type = field.data_type.clone();
                let partition = depth == 0 && self.partition_columns.contains(&field.name);
                let collated = field.metadata.contains_key(COLLATIONS);
                let opaque = opaque_type(&logical, &data_type)
                    .or_else(|| collated.then(|| format!("`{}` has a collation", logical.join("."))));
                let was_float = field.metadata.get(TYPE_CHANGES).is_some_and(|changes| {
                    changes.as_array().into_iter().flatten().any(|c| c["fromType"] == "float")
                });
                let column =
                    BoundColumn { logical, physical, data_type: data_type.clone(), partition, was_float };
                let index = self.found.iter().position(|c| *c == column).unwrap_or_else(|| {
                    self.found.push(column);
                    self.found.len() - 1
                });
                return Ok(Operand::Column { index, data_type, opaque });
            }
            match &field.data_type {
                DataType::Struct(inner) => level = inner,
                DataType::Array(_) | DataType::Map(_) | DataType::Variant | DataType::UserDefined(_) => {
                    return Ok(Operand::Inside(format!(
                        "`{}` lies inside a {}",
                        path.join("."),
                        field.data_type.name()
                    )));
                }
                // a name below a primitive is unknown, and there is nothing to choose from
                _ => return Err(vec![logical.join(".")]),
            }
        }
        Err(self.schema.fields.iter().map(|f| f.name.clone()).collect())
    }
}
