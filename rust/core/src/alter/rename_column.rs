//! Renaming a column.

use super::change::Change;
use super::finalize::finalize;
use super::paths::{position, refuse, resolve, same, struct_mut};
use super::references::refuse_if_used;
use super::{Definition, stats_list};
use crate::error::{Result, condition};
use crate::schema::ColumnMappingMode;

/// The table with another name for a column, in the place of the last part of its path. Files stay as they are.
///
/// # Errors
/// [`crate::Error::InvalidColumnChange`] without column mapping, when the name is taken, and when a CHECK constraint or a
/// generated column refers to the column.
pub fn rename_column(table: &Definition, path: &[String], name: &str) -> Result<Definition> {
    let path = resolve(&table.schema, path)?;
    if table.column_mapping() == ColumnMappingMode::None {
        return Err(refuse(&path, "renaming needs column mapping: set `delta.columnMapping.mode` = `name`")
            .of_condition(&condition::UNSUPPORTED_RENAME_COLUMN));
    }
    refuse_if_used(table, &path, "renamed")?;
    let mut new = table.clone();
    let (last, parent) = path.split_last().ok_or_else(|| refuse(&path, "no column is given"))?;
    let within = struct_mut(&mut new.schema, parent)
        .ok_or_else(|| refuse(&path, "elements, keys and values have no name of their own"))?;
    let place = position(within, last).ok_or_else(|| refuse(&path, "no such column"))?;
    if within.fields.iter().enumerate().any(|(at, f)| at != place && same(&f.name, name)) {
        return Err(refuse(&path, format!("a column `{name}` exists already")));
    }
    within.fields[place].name = name.to_owned();
    if parent.is_empty() {
        for column in new.metadata.partition_columns.iter_mut().filter(|c| same(c, last)) {
            *column = name.to_owned();
        }
    }
    stats_list::rename(&mut new, &path, name)?;
    finalize(Some(table), new, &Default::default(), Change::Alter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{partitioned, path, table};
    use crate::properties::TableProperty;

    const NAME: (&str, &str) = ("delta.columnMapping.mode", "name");

    #[test]
    fn files_do_not_notice() {
        let t = table(
            "a long, p string, s struct<x: long>",
            &[NAME, ("delta.dataSkippingStatsColumns", "a,s.x")],
        );
        let t = partitioned(t, &["p"]);
        let physical = |t: &Definition| -> Vec<String> {
            t.schema
                .explode()
                .iter()
                .map(|(_, f)| f.physical_name(ColumnMappingMode::Name).to_owned())
                .collect()
        };
        let new = rename_column(&t, &path("P"), "new name").unwrap();
        let new = rename_column(&new, &path("s.x"), "y").unwrap();
        let new = rename_column(&new, &path("a"), "A").unwrap();
        assert_eq!(physical(&new), physical(&t));
        assert_eq!(new.metadata.partition_columns, ["new name"]);
        assert_eq!(new.property(TableProperty::DataSkippingStatsColumns), Some("A,s.y"));
        assert_eq!(new.protocol, t.protocol);
    }

    #[test]
    fn what_cannot_be_renamed_is_refused() {
        let mut t = table("a long, b long, l array<long>", &[NAME]);
        t.metadata.configuration.insert("delta.constraints.c".into(), "b > 0".into());
        for (column, name, said) in [
            ("a", "B", "already"),
            ("q", "r", "no such column"),
            ("b", "c", "constraint `c`"),
            ("l.element", "x", "no name of their own"),
            ("a", "", "no name"),
        ] {
            let error = rename_column(&t, &path(column), name).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let error = rename_column(&table("a long", &[]), &path("a"), "b").unwrap_err().to_string();
        assert!(error.contains("needs column mapping"), "{error}");
    }
}
