//! Changing columns: type, nullability, comment, default, place.

use super::add_column::Position;
use super::clustering::check_statistics;
use super::defaults::set_default;
use super::paths::{position, refuse, resolve, same, struct_mut, type_mut};
use super::references::refuse_if_used;
use super::settle::{Change, settle};
use super::{Definition, widen};
use crate::error::Result;
use crate::schema::{DataType, StructField, StructType};

/// A change of one column; what is not given stays.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnChange {
    /// The column. In arrays and maps the path has `element`, `key` and `value`.
    pub path: Vec<String>,
    /// Another type; see [`mod@super::widen`].
    pub data_type: Option<DataType>,
    /// Whether it can be null. Only `true` is a change.
    pub nullable: Option<bool>,
    /// Another comment; none inside takes it away.
    pub comment: Option<Option<String>>,
    /// Another default; none inside takes it away. See [`set_default`].
    pub default: Option<Option<String>>,
    /// Another place in its struct.
    pub position: Option<Position>,
}

impl ColumnChange {
    /// No change of this column.
    pub fn of(path: Vec<String>) -> Self {
        ColumnChange { path, data_type: None, nullable: None, comment: None, default: None, position: None }
    }
}

/// The table with changed columns: each change finds the columns where those before it put them, and what comes of all of
/// them is checked once.
///
/// # Errors
/// [`crate::Error::InvalidColumnChange`] for a type that the column cannot have, for nullability that is tightened, for a
/// column that a CHECK constraint or a generated column refers to when its type changes, and for what elements, keys and
/// values do not have; as [`set_default`].
pub fn change_columns(table: &Definition, changes: &[ColumnChange]) -> Result<Definition> {
    let mut new = table.clone();
    for change in changes {
        apply(table, &mut new.schema, change)?;
    }
    if changes.iter().any(|change| change.position.is_some()) {
        check_statistics(&new)?;
    }
    let new = settle(Some(table), new, &Default::default(), Change::Alter)?;
    changes.iter().try_fold(new, |new, change| match &change.default {
        Some(expression) => set_default(&new, &change.path, expression.as_deref()),
        None => Ok(new),
    })
}

/// Makes one change, but for the default, in the schema that `table` is to have.
fn apply(table: &Definition, schema: &mut StructType, change: &ColumnChange) -> Result<()> {
    let path = resolve(schema, &change.path)?;
    if let Some(to) = &change.data_type {
        let from = type_mut(schema, &path).ok_or_else(|| refuse(&path, "no such column"))?;
        change_type(table, &path, from, to)?;
    }
    let (last, parent) = path.split_last().ok_or_else(|| refuse(&path, "no column is named"))?;
    match struct_mut(schema, parent) {
        Some(within) => {
            let place = position(within, last).ok_or_else(|| refuse(&path, "no such column"))?;
            change_field(&mut within.fields[place], change, &path)?;
            move_field(&mut within.fields, place, change.position.as_ref(), &path)
        }
        None if change.nullable.is_some() || change.comment.is_some() || change.position.is_some() => {
            Err(refuse(&path, "elements, keys and values have a type and nothing else that changes"))
        }
        None => Ok(()),
    }
}

/// Makes the column at `path`, which is of a primitive type, one of type `to`.
pub(super) fn change_type(
    table: &Definition,
    path: &[String],
    from: &mut DataType,
    to: &DataType,
) -> Result<()> {
    if from == to {
        return Ok(());
    }
    if let DataType::Struct(_) | DataType::Array(_) | DataType::Map(_) = from {
        let reason = "is changed by what is in it: name the column, element, key or value";
        return Err(refuse(path, format!("a {} {reason}", from.name())));
    }
    widen::check(table, path, from, to)?;
    refuse_if_used(table, path, "changed in its type")?;
    *from = to.clone();
    Ok(())
}

pub(super) fn change_field(field: &mut StructField, change: &ColumnChange, path: &[String]) -> Result<()> {
    match change.nullable {
        Some(false) if field.nullable => {
            return Err(refuse(path, "it can be null and may hold nulls; add a CHECK constraint instead"));
        }
        Some(nullable) => field.nullable = nullable,
        None => {}
    }
    match &change.comment {
        Some(Some(comment)) => {
            field.metadata.insert("comment".into(), comment.as_str().into());
        }
        Some(None) => {
            field.metadata.remove("comment");
        }
        None => {}
    }
    Ok(())
}

fn move_field(
    fields: &mut Vec<StructField>,
    place: usize,
    to: Option<&Position>,
    path: &[String],
) -> Result<()> {
    let at = match to {
        None => return Ok(()),
        Some(Position::First) => 0,
        Some(Position::After(name)) => {
            let after = fields.iter().position(|f| same(&f.name, name));
            let after =
                after.ok_or_else(|| refuse(path, format!("there is no column `{name}` to put it after")))?;
            if after == place {
                return Ok(());
            }
            if after > place { after } else { after + 1 }
        }
    };
    let field = fields.remove(place);
    fields.insert(at, field);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{data_type, path, table};

    fn names(table: &Definition) -> Vec<&str> {
        table.schema.fields.iter().map(|f| f.name.as_str()).collect()
    }

    #[test]
    fn a_column_moves() {
        let t = table("a long, b long, c long", &[]);
        let moved = |column: &str, position| {
            let change = ColumnChange { position: Some(position), ..ColumnChange::of(path(column)) };
            change_columns(&t, &[change])
        };
        assert_eq!(names(&moved("c", Position::First).unwrap()), ["c", "a", "b"]);
        assert_eq!(names(&moved("a", Position::After("B".into())).unwrap()), ["b", "a", "c"]);
        assert_eq!(names(&moved("c", Position::After("a".into())).unwrap()), ["a", "c", "b"]);
        assert_eq!(moved("b", Position::After("b".into())).unwrap(), t);
        assert!(moved("a", Position::After("q".into())).is_err());
    }

    #[test]
    fn comment_and_nullability() {
        let t = table("a long not null, b long", &[]);
        let comment = ColumnChange { comment: Some(Some("hi".into())), ..ColumnChange::of(path("A")) };
        let new = change_columns(&t, &[comment]).unwrap();
        assert_eq!(new.schema.fields[0].metadata["comment"], "hi");
        let none = ColumnChange { comment: Some(None), ..ColumnChange::of(path("a")) };
        assert_eq!(change_columns(&new, &[none]).unwrap().schema, t.schema);
        let relax =
            |c: &str, nullable| ColumnChange { nullable: Some(nullable), ..ColumnChange::of(path(c)) };
        assert!(change_columns(&t, &[relax("a", true)]).unwrap().schema.fields[0].nullable);
        assert!(change_columns(&t, &[relax("b", false)]).unwrap_err().to_string().contains("may hold nulls"));
        assert_eq!(change_columns(&t, &[relax("a", false)]).unwrap(), t);
    }

    #[test]
    fn what_cannot_change_is_refused() {
        let mut t = table("a int, l array<int>", &[("delta.enableTypeWidening", "true")]);
        t.metadata.configuration.insert("delta.constraints.c".into(), "a > 1".into());
        let typed =
            |c: &str, to: &str| ColumnChange { data_type: Some(data_type(to)), ..ColumnChange::of(path(c)) };
        for (change, said) in [
            (typed("a", "long"), "constraint `c`"),
            (typed("a", "string"), "no such change"),
            (typed("l", "array<long>"), "by what is in it"),
            (ColumnChange { comment: Some(None), ..ColumnChange::of(path("l.element")) }, "nothing else"),
        ] {
            let error = change_columns(&t, &[change]).unwrap_err();
            assert_eq!(error.kind(), "InvalidColumnChange");
            assert!(error.to_string().contains(said), "{error}");
        }
        assert!(change_columns(&t, &[typed("l.element", "long")]).is_ok());
    }

    #[test]
    fn several_changes_are_made_in_order_and_checked_together() {
        let t = table(
            "a int, b long, c long",
            &[("delta.enableTypeWidening", "true"), ("delta.feature.allowColumnDefaults", "supported")],
        );
        let changes = [
            ColumnChange { comment: Some(Some("x".into())), ..ColumnChange::of(path("a")) },
            ColumnChange { data_type: Some(data_type("long")), ..ColumnChange::of(path("a")) },
            ColumnChange { position: Some(Position::First), ..ColumnChange::of(path("C")) },
            ColumnChange { position: Some(Position::After("c".into())), ..ColumnChange::of(path("b")) },
            ColumnChange { default: Some(Some("7".into())), ..ColumnChange::of(path("b")) },
        ];
        let new = change_columns(&t, &changes).unwrap();
        assert_eq!(names(&new), ["c", "b", "a"]);
        assert_eq!(new.schema.fields[1].metadata["CURRENT_DEFAULT"], "7");
        let a = &new.schema.fields[2];
        assert_eq!((&a.data_type, a.metadata["comment"].as_str()), (&DataType::Long, Some("x")));
        assert!(a.metadata.contains_key("delta.typeChanges"));

        let wrong = ColumnChange { nullable: Some(false), ..ColumnChange::of(path("b")) };
        let error = change_columns(&t, &[changes[0].clone(), wrong]).unwrap_err();
        assert!(error.to_string().contains("may hold nulls"), "{error}");
        assert_eq!(change_columns(&t, &[]).unwrap(), t);
    }
}
