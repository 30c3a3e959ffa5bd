//! Changing columns: type, nullability, comment, default, place.

use super::add_column::Position;
use super::change::Change;
use super::clustering::check_statistics;
use super::finalize::finalize;
use super::generated::refuse_type_of_generated;
use super::identity::Identity;
use super::paths::{position, refuse, resolve, same, struct_mut, type_mut};
use super::references::refuse_if_used;
use super::set_default::set_default;
use super::{Definition, widen};
use crate::error::{Result, condition};
use crate::schema::{CHAR_VARCHAR, DataType, StructField, StructType, TextLimit};

/// A change of one column; what is not given stays.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnChange {
    /// The column. In arrays and maps the path has `element`, `key` and `value`.
    pub path: Vec<String>,
    /// Another type; see [`mod@super::widen`].
    pub data_type: Option<DataType>,
    /// Another length of its texts, as `char(n)` or `varchar(n)`: a longer `varchar`. `Some(None)` allows any length.
    /// What is within a column keeps its length.
    pub length: Option<Option<String>>,
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
        ColumnChange {
            path,
            data_type: None,
            length: None,
            nullable: None,
            comment: None,
            default: None,
            position: None,
        }
    }
}

/// The table with changed columns: each change applies to the result of those before it, and the final result is
/// checked once.
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
    let new = finalize(Some(table), new, &Default::default(), Change::Alter)?;
    changes.iter().try_fold(new, |new, change| match &change.default {
        Some(expression) => set_default(&new, &change.path, expression.as_deref()),
        None => Ok(new),
    })
}

/// Makes one change, except of the default, in the new schema of `table`.
fn apply(table: &Definition, schema: &mut StructType, change: &ColumnChange) -> Result<()> {
    let path = resolve(schema, &change.path)?;
    check_identity(schema, change, &path)?;
    if let Some(to) = &change.data_type {
        let from = type_mut(schema, &path).ok_or_else(|| refuse(&path, "no such column"))?;
        let before = from.clone();
        change_type(table, &path, from, to)?;
        if let Some(column) = path.first().and_then(|name| table.schema.field(name)).filter(|_| before != *to)
        {
            refuse_type_of_generated(column, &path, &before, to)?;
        }
    }
    let (last, parent) = path.split_last().ok_or_else(|| refuse(&path, "no column is given"))?;
    match struct_mut(schema, parent) {
        Some(within) => {
            let place = position(within, last).ok_or_else(|| refuse(&path, "no such column"))?;
            change_field(&mut within.fields[place], change, &path)?;
            move_field(&mut within.fields, place, change.position.as_ref(), &path)
        }
        None => {
            let is_null = type_mut(schema, parent).and_then(|within| holds_null(within, last));
            let refused = || refuse(&path, "of elements, keys and values only the type can change");
            if change.comment.is_some() {
                let parameters = [("fieldPath", path.join("."))];
                return Err(refused().named(&condition::UNSUPPORTED_COMMENT_MAP_ARRAY, parameters));
            }
            match change.position.is_some() || change.nullable.is_some_and(|null| is_null != Some(null)) {
                true => Err(refused()),
                false => Ok(()),
            }
        }
    }
}

/// Refuses a change of what makes a column one of identities.
fn check_identity(schema: &StructType, change: &ColumnChange, path: &[String]) -> Result<()> {
    let field = match path {
        [name] => schema.field(name),
        _ => None,
    };
    let others = change.data_type.is_some() || change.nullable.is_some() || change.default.is_some();
    match field.map(Identity::of).transpose()?.flatten() {
        Some(_) if others => {
            let reason = "it is an identity column: its type, its nullability and its default cannot change";
            Err(refuse(path, reason).of_condition(&condition::IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED))
        }
        _ => Ok(()),
    }
}

/// Whether the elements, keys or values of a type can be null.
fn holds_null(data_type: &DataType, step: &str) -> Option<bool> {
    match (data_type, step) {
        (DataType::Array(a), "element") => Some(a.contains_null),
        (DataType::Map(_), "key") => Some(false),
        (DataType::Map(m), "value") => Some(m.value_contains_null),
        _ => None,
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
        let reason = "can only be changed in its parts: name the column, element, key or value";
        return Err(refuse(path, format!("a {} {reason}", from.name())));
    }
    widen::check(table, path, from, to).map_err(|error| match error.condition() {
        Some(_) => error,
        None => {
            let column = [("fieldPath", path.join("."))];
            error.named(&condition::UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP, column)
        }
    })?;
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
    if let (Some(length), [_]) = (&change.length, path) {
        change_length(field, length.as_deref(), path)?;
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

fn change_length(field: &mut StructField, length: Option<&str>, path: &[String]) -> Result<()> {
    let old = field.metadata.get(CHAR_VARCHAR).and_then(|text| text.as_str());
    match length {
        None => {
            field.metadata.remove(CHAR_VARCHAR);
        }
        Some(new) if old == Some(new) => {}
        Some(new) => {
            let limits = old.and_then(TextLimit::of).zip(TextLimit::of(new));
            if !limits.is_some_and(|(old, new)| !new.padded && new.length >= old.length) {
                let old = old.unwrap_or("string");
                return Err(refuse(path, format!("{old} does not become {new}: values may be longer")));
            }
            field.metadata.insert(CHAR_VARCHAR.into(), new.into());
        }
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
    fn texts_get_longer() {
        let length = |to: Option<&str>| ColumnChange {
            length: Some(to.map(str::to_owned)),
            ..ColumnChange::of(path("a"))
        };
        let plain = table("a string", &[]);
        for (old, new, is_allowed) in [
            (Some("char(4)"), None, true),
            (Some("char(4)"), Some("varchar(8)"), true),
            (Some("char(4)"), Some("char(4)"), true),
            (Some("char(4)"), Some("char(8)"), false),
            (Some("varchar(4)"), Some("varchar(3)"), false),
            (None, Some("varchar(4)"), false),
        ] {
            let mut t = plain.clone();
            if let Some(old) = old {
                t.schema.fields[0].metadata.insert(CHAR_VARCHAR.into(), old.into());
            }
            let changed = change_columns(&t, &[length(new)]);
            assert_eq!(changed.is_ok(), is_allowed, "{old:?} {new:?}");
            let Ok(changed) = changed else { continue };
            let is_now = changed.schema.fields[0].metadata.get(CHAR_VARCHAR);
            assert_eq!(is_now.and_then(|text| text.as_str()), new);
        }
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
            (typed("l", "array<long>"), "in its parts"),
            (ColumnChange { comment: Some(None), ..ColumnChange::of(path("l.element")) }, "only the type"),
        ] {
            let error = change_columns(&t, &[change]).unwrap_err();
            assert_eq!(error.kind(), "InvalidColumnChange");
            assert!(error.to_string().contains(said), "{error}");
        }
        assert!(change_columns(&t, &[typed("l.element", "long")]).is_ok());
    }

    #[test]
    fn refusals_have_their_conditions() {
        let properties =
            [("delta.enableTypeWidening", "true"), ("delta.feature.identityColumns", "supported")];
        let mut t = table("id long, a int, l array<int>", &properties);
        let identity = Identity { start: 1, step: 1, high_water_mark: None, allow_explicit_insert: false };
        identity.write(&mut t.schema.fields[0]);
        let of = |c: &str| ColumnChange::of(path(c));
        let condition = |change| change_columns(&t, &[change]).unwrap_err().condition().map(|c| c.name);
        let changed = ColumnChange { data_type: Some(data_type("string")), ..of("a") };
        assert_eq!(condition(changed), Some("DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"));
        let comment = ColumnChange { comment: Some(Some("x".into())), ..of("l.element") };
        assert_eq!(condition(comment), Some("DELTA_UNSUPPORTED_COMMENT_MAP_ARRAY"));
        let default = ColumnChange { default: Some(Some("1".into())), ..of("id") };
        assert_eq!(condition(default), Some("DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED"));
        // what changes nothing passes
        let nullable = ColumnChange { nullable: Some(true), ..of("l.element") };
        assert_eq!(change_columns(&t, &[nullable]).unwrap().schema, t.schema);
        let nullable = ColumnChange { nullable: Some(false), ..of("l.element") };
        assert!(change_columns(&t, &[nullable]).is_err());
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
