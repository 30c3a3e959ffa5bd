//! The values that the clauses of a merge give to rows.

use std::cell::RefCell;
use std::collections::BTreeSet;

use arrow::array::{ArrayRef, RecordBatch};

use super::clauses::{MergeAction, MergeClause, MergeWhen};
use super::names::{Joined, Names, Scope, columns_of};
use super::structs::{check_all_fields, keeping_fields};
use crate::dml::Assignments;
use crate::dml::nullable_rows::nullable_rows;
use crate::error::{Error, Result, condition};
use crate::expr::{Evaluator, Expr, parse};
use crate::schema::{
    CURRENT_DEFAULT, DataType, GENERATION_EXPRESSION, IDENTITY_START, StructField, StructType, as_nullable,
    in_backticks,
};
use crate::write::{Rules, WritePlan, check_assignable};

/// What errors call the rows that clauses make.
const NEW_VALUES: &str = "the new values of rows";

/// The column of the table that a name in a clause means, without the alias of the table.
fn target_of(names: &Names<'_>, given: &str, clause: &MergeClause) -> Result<String> {
    let parts = match parse(given) {
        Ok(Expr::Column(parts)) => parts,
        _ => vec![given.to_owned()],
    };
    let exact = names.target.field(given).map(|field| vec![field.name.clone()]);
    let without = match parts.split_first() {
        Some((side, rest)) if side.to_lowercase() == names.request.target_alias.to_lowercase() => {
            rest.to_vec()
        }
        _ => Vec::new(),
    };
    let known = |path: &Vec<String>| names.target.field_at(path).is_some();
    let readings = [Some(without), exact, Some(parts.clone())];
    match readings.into_iter().flatten().find(|path| !path.is_empty() && known(path)) {
        Some(path) => Ok(quoted(&path)),
        None => {
            let reason = |all: &str| format!("no column `{given}`. The table has {all}");
            Err(unknown("values", reason, given, names.target, clause))
        }
    }
}

/// A path as SQL writes it.
fn quoted(path: &[String]) -> String {
    path.iter().map(|part| in_backticks(part)).collect::<Vec<_>>().join(".")
}

/// The error of a column that one side does not have; `reason` is made of those that it has.
fn unknown(
    argument: &str,
    reason: impl Fn(&str) -> String,
    column: &str,
    there: &StructType,
    clause: &MergeClause,
) -> Error {
    let all: Vec<&str> = there.fields.iter().map(|f| f.name.as_str()).collect();
    let all = all.join(", ");
    let named = if clause.action == MergeAction::Insert { "INSERT clause" } else { "UPDATE clause" };
    Error::InvalidArgument { argument: argument.into(), reason: reason(&all) }.named(
        &condition::MERGE_UNRESOLVED_EXPRESSION,
        [("sqlExpr", column), ("clause", named), ("cols", all.as_str())],
    )
}

fn is_made(field: &StructField) -> bool {
    field.metadata.contains_key(GENERATION_EXPRESSION) || field.metadata.contains_key(IDENTITY_START)
}

/// The columns of the table that a star sets: those that the source has, too.
///
/// # Errors
/// [`Error::InvalidArgument`] for a column that the source lacks, unless the schema evolves or the table makes its values.
fn star<'f>(names: &Names<'f>, clause: &MergeClause) -> Result<Vec<(&'f StructField, &'f StructField)>> {
    let mut found = Vec::new();
    for field in &names.target.fields {
        match names.source.field(&field.name) {
            Some(own) => found.push((field, own)),
            None if names.request.with_schema_evolution || is_made(field) => {}
            None => {
                let name = field.name.as_str();
                let reason = |all: &str| format!("the source has no column `{name}`. It has {all}");
                return Err(unknown("clauses", reason, name, names.source, clause));
            }
        }
    }
    Ok(found)
}

/// Where the value of a column comes from.
pub(super) enum Value {
    /// An expression, cast to the type of the column.
    Of(Box<Evaluator>, DataType),
    /// A column of the source by place, with both types. It is stored as a write stores it.
    Column { place: usize, own: DataType, table: DataType },
}

impl Value {
    /// The column of the source with the name of one of the table.
    ///
    /// # Errors
    /// [`Error::SchemaMismatch`] for one that does not fit.
    fn of_star(
        (field, own): &(&StructField, &StructField),
        names: &Names<'_>,
        joined: &Joined,
        path: &str,
    ) -> Result<Self> {
        if is_cast(&own.data_type, &field.data_type) {
            let column = Expr::Column(vec![names.request.source_alias.clone(), own.name.clone()]);
            return Ok(Value::Of(Box::new(joined.bind(&own.name, &column)?), field.data_type.clone()));
        }
        let one = |field: &StructField| as_nullable(&StructType { fields: vec![field.clone()] });
        let given = StructField { name: field.name.clone(), ..(*own).clone() };
        check_assignable(path, &one(&given), &one(field))?;
        if !names.request.with_schema_evolution {
            check_all_fields(path, &own.data_type, &field.data_type)?;
        }
        let place = names.source.fields.iter().position(|f| f == *own).unwrap_or(usize::MAX);
        Ok(Value::Column { place, own: own.data_type.clone(), table: field.data_type.clone() })
    }

    /// The values of rows of which all columns of the source are given.
    fn evaluate(&self, from: &RecordBatch, source: &[ArrayRef]) -> Result<ArrayRef> {
        match self {
            Value::Of(value, data_type) => value.evaluate_as(from, data_type),
            Value::Column { place, .. } => source.get(*place).cloned().ok_or_else(|| Error::Internal {
                operation: "merge".into(),
                reason: "a column of the source is not there".into(),
            }),
        }
    }
}

/// Whether a value of one type is stored in a column of another by a cast, as Spark's store assignment does it (ANSI): a
/// value that does not fit is an error.
fn is_cast(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    let number = |t: &T| {
        matches!(t, T::Byte | T::Short | T::Integer | T::Long | T::Float | T::Double | T::Decimal(..))
    };
    let time = |t: &T| matches!(t, T::Date | T::Timestamp | T::TimestampNtz);
    from != to
        && ((number(from) && number(to))
            || (time(from) && time(to))
            || (*to == T::String && (number(from) || time(from) || *from == T::Boolean)))
}

/// What an update gives rows of the table.
pub(super) enum Update {
    /// Expressions over both sides, and the columns of the table that they read.
    Values(Assignments, BTreeSet<String>),
    /// Columns of the table by place, and those of the source.
    Star(Vec<(usize, Value)>),
}

impl Update {
    /// Of a clause.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a column that does not exist or is set twice; [`Error::InvalidExpression`] for a value
    /// that cannot be computed or does not fit; [`Error::SchemaMismatch`] for columns of a star that do not fit.
    pub(super) fn of(clause: &MergeClause, names: &Names<'_>, joined: &Joined, path: &str) -> Result<Self> {
        let Some(values) = &clause.values else {
            let mut places = Vec::new();
            for pair in star(names, clause)? {
                let place = names.target.fields.iter().position(|f| f == pair.0);
                let value = Value::of_star(&pair, names, joined, path)?;
                places.extend(place.map(|place| (place, value)));
            }
            return Ok(Update::Star(places));
        };
        let scope = if clause.when == MergeWhen::Matched { Scope::Both } else { Scope::Target };
        let set = values.iter().map(|(target, value)| Ok((target_of(names, target, clause)?, value.clone())));
        let set: Vec<(String, String)> = set.collect::<Result<_>>()?;
        let reads = RefCell::new(BTreeSet::new());
        let bind = |text: &str| {
            let value = names.expression(text, scope, "UPDATE clause")?;
            reads.borrow_mut().extend(columns_of(&names.request.target_alias, [&value]));
            joined.bind(text, &value)
        };
        let set = Assignments::bound(&set, names.target, bind)?;
        Ok(Update::Values(set, reads.into_inner()))
    }

    /// Whether new rows depend on the old values of the column of the table at this place.
    pub(super) fn reads(&self, place: usize, name: &str) -> bool {
        match self {
            Update::Values(values, reads) => values.keeps(place) || reads.contains(name),
            Update::Star(places) => match places.iter().find(|(target, _)| *target == place) {
                Some((_, Value::Column { table, .. })) => matches!(table, DataType::Struct(_)),
                Some((_, Value::Of(..))) => false,
                None => true,
            },
        }
    }

    /// Whether the column of the table at this place is set.
    fn sets(&self, place: usize) -> bool {
        match self {
            Update::Values(values, _) => values.sets(place),
            Update::Star(places) => places.iter().any(|(target, _)| *target == place),
        }
    }

    /// The rules for rows that have these values.
    ///
    /// # Errors
    /// As [`Rules::of_update`].
    pub(super) fn rules(&self, plan: &WritePlan) -> Result<Rules> {
        Rules::of_update(plan, |place| self.sets(place))
    }

    /// The rows with their new values. `source` has all columns of the row that each matches; none of rows that match
    /// nothing.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a row that a value cannot be computed for, or whose value does not fit.
    pub(super) fn apply(
        &self,
        joined: &Joined,
        old: &RecordBatch,
        source: Option<&[ArrayRef]>,
    ) -> Result<RecordBatch> {
        match self {
            Update::Values(values, _) => {
                let target = old.columns().get(..joined.target.fields.len()).unwrap_or_default();
                values.apply_to(old, &joined.rows(Some(target), source, old.num_rows())?)
            }
            Update::Star(places) => {
                let mut columns = old.columns().to_vec();
                let source = source.unwrap_or_default();
                let from = joined.rows(None, Some(source), old.num_rows())?;
                for (place, value) in places {
                    let new = value.evaluate(&from, source)?;
                    columns[*place] = match value {
                        Value::Column { own, table, .. } => {
                            keeping_fields(&columns[*place], &new, own, table)?
                        }
                        Value::Of(..) => new,
                    };
                }
                let names = old.schema();
                let named = names.fields().iter().map(|field| field.name().clone()).zip(columns);
                nullable_rows(named, old.num_rows(), NEW_VALUES)
            }
        }
    }
}

/// What an insert gives a new row.
pub(super) struct Insert {
    /// Names of columns of the table, and where each value comes from.
    columns: Vec<(String, Value)>,
    /// The columns that are given.
    pub(super) given: StructType,
}

impl Insert {
    /// Of a clause.
    ///
    /// # Errors
    /// As [`Update::of`]; [`Error::InvalidArgument`] for a field of a column.
    pub(super) fn of(clause: &MergeClause, names: &Names<'_>, joined: &Joined, path: &str) -> Result<Self> {
        let Some(values) = &clause.values else {
            let (mut columns, mut given) = (Vec::new(), StructType::default());
            for pair in star(names, clause)? {
                let value = Value::of_star(&pair, names, joined, path)?;
                let data_type = match &value {
                    Value::Of(_, data_type) => data_type.clone(),
                    Value::Column { own, .. } => own.clone(),
                };
                given.fields.push(StructField { data_type, ..pair.0.clone() });
                columns.push((pair.0.name.clone(), value));
            }
            return Ok(Insert { columns, given });
        };
        let (mut columns, mut given): (Vec<(String, Value)>, _) = (Vec::new(), StructType::default());
        for (target, text) in values {
            let target = target_of(names, target, clause)?;
            let field = match parse(&target) {
                Ok(Expr::Column(parts)) if parts.len() == 1 => names.target.field(&parts[0]),
                _ => None,
            };
            let Some(field) = field else {
                let reason = format!("`{target}` is a field: a new row is given whole columns");
                let facts =
                    [("operation", "INSERT clause of MERGE operation".to_owned()), ("fieldName", target)];
                return Err(Error::InvalidArgument { argument: "values".into(), reason }
                    .named(&condition::UNSUPPORTED_NESTED_FIELD_IN_OPERATION, facts));
            };
            if columns.iter().any(|(name, _)| *name == field.name) {
                let reason = format!("`{}` is set twice", field.name);
                return Err(Error::InvalidArgument { argument: "values".into(), reason }
                    .named::<&str>(&condition::DUPLICATE_COLUMNS_ON_INSERT, []));
            }
            let is_default =
                text.trim().eq_ignore_ascii_case("default") && names.source.field(text.trim()).is_none();
            if is_default && (field.metadata.contains_key(CURRENT_DEFAULT) || is_made(field)) {
                continue; // the rules of the table fill it
            }
            let text = if is_default { "NULL" } else { text };
            let value = joined.bind(text, &names.expression(text, Scope::Source, "INSERT clause")?)?;
            value.check_assignable(&field.data_type)?;
            given.fields.push(field.clone());
            columns.push((field.name.clone(), Value::Of(Box::new(value), field.data_type.clone())));
        }
        Ok(Insert { columns, given })
    }

    /// The new rows, of rows of the source with all its columns.
    ///
    /// # Errors
    /// As [`Update::apply`].
    pub(super) fn apply(&self, joined: &Joined, source: &[ArrayRef], rows: usize) -> Result<RecordBatch> {
        let from = joined.rows(None, Some(source), rows)?;
        let columns =
            self.columns.iter().map(|(name, value)| Ok((name.clone(), value.evaluate(&from, source)?)));
        nullable_rows(columns.collect::<Result<Vec<_>>>()?, rows, NEW_VALUES)
    }
}
