//! Adding columns.

use super::Definition;
use super::change::Change;
use super::column_mapping::strip;
use super::finalize::finalize;
use super::paths::{position, refuse, resolve, same, struct_mut};
use crate::error::{Result, condition};
use crate::schema::{
    CURRENT_DEFAULT, GENERATION_EXPRESSION, IDENTITY_START, StructField, StructType, TYPE_CHANGES,
};

/// A place among the columns of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// Before all others.
    First,
    /// After this one.
    After(String),
}

/// A column to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct NewColumn {
    /// The struct that it is added to; empty for the table. In arrays and maps the path has `element`, `key` and `value`.
    pub parent: Vec<String>,
    /// The column. A comment may be in its metadata.
    pub field: StructField,
    /// Where; the end when not given.
    pub position: Option<Position>,
}

impl NewColumn {
    /// A column at the end of the table.
    pub fn of(field: StructField) -> Self {
        NewColumn { parent: Vec::new(), field, position: None }
    }
}

/// The table with more columns. Existing rows have null in them.
///
/// # Errors
/// [`crate::Error::InvalidColumnChange`] when the column exists, its parent does not, it cannot be null, or it is generated
/// or has a default; [`crate::Error::InvalidSchema`] for its name; [`crate::Error::InvalidFeatureChange`] for a type
/// whose feature the table does not have.
pub fn add_columns(table: &Definition, columns: &[NewColumn]) -> Result<Definition> {
    let mut new = table.clone();
    for column in columns {
        add(&mut new.schema, column)?;
    }
    finalize(Some(table), new, &Default::default(), Change::Alter)
}

fn add(schema: &mut StructType, column: &NewColumn) -> Result<()> {
    let parent = match column.parent.as_slice() {
        [] => Vec::new(),
        parent => resolve(schema, parent)?,
    };
    let path: Vec<String> = parent.iter().chain([&column.field.name]).cloned().collect();
    let field = checked(&column.field, &path)?;
    let within = struct_mut(schema, &parent)
        .ok_or_else(|| refuse(&path, format!("`{}` is not a struct", parent.join("."))))?;
    if within.fields.iter().any(|f| same(&f.name, &field.name)) {
        let columns = [("duplicateCols", path.join("."))];
        return Err(refuse(&path, "it exists already; names that differ only in case are the same")
            .named(&condition::DUPLICATE_COLUMNS_FOUND_ADDING_COLUMNS, columns));
    }
    let at = match &column.position {
        None => within.fields.len(),
        Some(Position::First) => 0,
        Some(Position::After(name)) => {
            let after = position(within, name);
            1 + after.ok_or_else(|| refuse(&path, format!("there is no column `{name}` to put it after")))?
        }
    };
    within.fields.insert(at, field);
    Ok(())
}

/// The field without what belongs to another table.
pub(super) fn checked(field: &StructField, path: &[String]) -> Result<StructField> {
    for (key, what) in [
        (CURRENT_DEFAULT, "a default; add it, and then set the default, for existing rows do not get it"),
        (GENERATION_EXPRESSION, "a generation expression: existing rows would not have its value"),
        (IDENTITY_START, "generated identities: existing rows would have none"),
    ] {
        if field.metadata.contains_key(key) {
            let error = refuse(path, format!("it cannot be added with {what}"));
            return Err(match key == CURRENT_DEFAULT {
                true => error.of_condition(
                    &condition::WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED,
                ),
                false => error,
            });
        }
    }
    let mut one = StructType { fields: vec![field.clone()] };
    let mut solid = false;
    one.change_fields(&mut |_, field| {
        strip(field);
        field.metadata.remove(TYPE_CHANGES);
        solid |= !field.nullable;
    });
    if solid {
        let operation = [("operation", "NOT NULL in ALTER TABLE ADD COLUMNS")];
        return Err(refuse(path, "a column that is added must be nullable, and so must everything in it")
            .named(&condition::OPERATION_NOT_ALLOWED, operation));
    }
    Ok(one.fields.remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{data_type, path, table};
    use crate::alter::{ColumnChange, change_columns, drop_columns, rename_column};
    use crate::features::TableFeature;
    use crate::properties::TableProperty;
    use crate::schema::CHAR_VARCHAR;

    fn column(parent: &str, name: &str, kind: &str, position: Option<Position>) -> NewColumn {
        let parent = if parent.is_empty() { Vec::new() } else { path(parent) };
        NewColumn { parent, field: StructField::new(name, data_type(kind), true), position }
    }

    #[test]
    fn columns_join_where_they_are_put() {
        let t = table(
            "a long, s struct<x: long>, l array<struct<y: long>>",
            &[("delta.columnMapping.mode", "name")],
        );
        let t = add_columns(
            &t,
            &[
                column("", "z", "string", Some(Position::First)),
                column("S", "w", "long", Some(Position::After("X".into()))),
                column("l.element", "v", "struct<u: int>", Some(Position::First)),
                column("", "e", "void", None),
            ],
        )
        .unwrap();
        let paths: Vec<String> = t.schema.explode().iter().map(|(p, _)| p.join(".")).collect();
        assert_eq!(
            paths,
            ["z", "a", "s", "s.x", "s.w", "l", "l.element.v", "l.element.v.u", "l.element.y", "e"]
        );
        assert_eq!(t.property(TableProperty::ColumnMappingMaxColumnId), Some("10"));
        assert_eq!(t.metadata.schema_string, t.schema.to_json());
    }

    #[test]
    fn lengths_of_texts_within_a_column_are_those_of_the_column() {
        let limit = |t: &Definition| t.schema.fields[0].metadata.get(CHAR_VARCHAR).cloned();
        let mut t = table("s struct<x: string, z: long>", &[("delta.columnMapping.mode", "name")]);
        assert_eq!(limit(&t), None);
        let mut new = column("s", "n", "string", Some(Position::First));
        new.field.metadata.insert(CHAR_VARCHAR.into(), "varchar(2)".into());
        t = add_columns(&t, &[new]).unwrap();
        assert_eq!(limit(&t), Some("struct<n:varchar(2),x:string,z:bigint>".into()));
        let within = t.schema.field_at(&path("s.n")).unwrap();
        assert!(!within.metadata.contains_key(CHAR_VARCHAR));

        t = rename_column(&t, &path("s.n"), "new name").unwrap();
        assert_eq!(limit(&t), Some("struct<`new name`:varchar(2),x:string,z:bigint>".into()));
        let last = ColumnChange {
            position: Some(Position::After("z".into())),
            ..ColumnChange::of(vec!["s".into(), "new name".into()])
        };
        t = change_columns(&t, &[last]).unwrap();
        t = add_columns(&t, &[column("s", "e", "array<int>", None)]).unwrap();
        assert_eq!(limit(&t), Some("struct<x:string,z:bigint,`new name`:varchar(2),e:array<int>>".into()));
        t = drop_columns(&t, &[vec!["s".into(), "new name".into()]]).unwrap();
        assert_eq!(limit(&t), None);
    }

    #[test]
    fn what_cannot_be_added_is_refused() {
        let t = table("a long, s struct<x: long>", &[]);
        let mut solid = column("", "n", "long", None);
        solid.field.nullable = false;
        let mut default = column("", "d", "long", None);
        default.field.metadata.insert(CURRENT_DEFAULT.into(), "1".into());
        for (new, said) in [
            (column("", "A", "long", None), "exists already"),
            (column("s", "X", "long", None), "exists already"),
            (column("q", "x", "long", None), "no such column"),
            (column("a", "x", "long", None), "not a struct"),
            (column("", "b", "long", Some(Position::After("q".into()))), "to put it after"),
            (solid, "must be nullable"),
            (default, "then set the default"),
            (column("", "b c", "long", None), "needs column mapping"),
            (column("", "b", "timestamp_ntz", None), "delta.feature.timestampNtz"),
        ] {
            let error = add_columns(&t, std::slice::from_ref(&new)).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(
            add_columns(&t, &[column("", "v", "variant", None)])
                .unwrap()
                .protocol
                .supports(TableFeature::VariantType)
        );
    }
}
