//! `delta.dataSkippingStatsColumns` when columns change.

use super::Definition;
use super::paths::{begins_with, resolve, same};
use crate::condition;
use crate::error::{Error, Result};
use crate::schema::{DataType, format_column_list, parse_column_list};

const KEY: &str = "delta.dataSkippingStatsColumns";

fn listed(table: &Definition) -> Result<Option<Vec<Vec<String>>>> {
    let list = table.property(KEY).map(parse_column_list).transpose();
    list.map_err(|reason| Error::InvalidArgument { argument: KEY.into(), reason })
}

/// Takes a dropped column, and what is in it, out of the list.
pub(super) fn drop(table: &mut Definition, path: &[String]) -> Result<()> {
    let Some(mut list) = listed(table)? else { return Ok(()) };
    let before = list.len();
    list.retain(|column| !begins_with(column, path));
    if list.len() < before {
        table.metadata.configuration.insert(KEY.into(), format_column_list(&list));
    }
    Ok(())
}

/// Renames a column in the list.
pub(super) fn rename(table: &mut Definition, path: &[String], name: &str) -> Result<()> {
    let Some(mut list) = listed(table)? else { return Ok(()) };
    let mut changed = false;
    for column in list.iter_mut().filter(|column| begins_with(column, path)) {
        column[path.len() - 1] = name.to_owned();
        changed = true;
    }
    if changed {
        table.metadata.configuration.insert(KEY.into(), format_column_list(&list));
    }
    Ok(())
}

/// Checks that the listed columns are there, are no partition columns, and are of a type that has statistics.
///
/// # Errors
/// [`Error::InvalidArgument`] with the property and the column.
pub(super) fn check(table: &Definition) -> Result<()> {
    let invalid = |reason: String| Error::InvalidArgument { argument: KEY.into(), reason };
    for column in listed(table)?.unwrap_or_default() {
        let name = column.join(".");
        let path = resolve(&table.schema, &column).map_err(|error| match error {
            Error::InvalidColumnChange { column, reason } => invalid(format!("`{column}`: {reason}")),
            other => other,
        })?;
        if let [only] = path.as_slice() {
            if table.is_partition_column(only) {
                return Err(invalid(format!(
                    "`{name}` is a partition column, whose values are known anyhow"
                )));
            }
            let field = table.schema.fields.iter().find(|f| same(&f.name, only));
            let skips = |t: &DataType| matches!(t, DataType::Struct(_)) || crate::write::has_bounds(t);
            if let Some(field) = field.filter(|f| !skips(&f.data_type)) {
                let kind = field.data_type.name();
                let parameters = [("column", name.clone()), ("type", kind.clone())];
                return Err(invalid(format!("`{name}` is of type {kind}, which has no minimum and maximum"))
                    .named(&condition::COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE, parameters));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{path, table, try_table};

    #[test]
    fn the_list_follows_the_columns() {
        let mut t = table("a long, s struct<x: long, y: long>, b string", &[(KEY, "A, s.x, s.y, b")]);
        drop(&mut t, &path("s.x")).unwrap();
        assert_eq!(t.property(KEY), Some("A,s.y,b"));
        rename(&mut t, &path("s"), "t u").unwrap();
        rename(&mut t, &path("a"), "c").unwrap();
        assert_eq!(t.property(KEY), Some("c,`t u`.y,b"));
    }

    #[test]
    fn the_list_names_columns_that_have_statistics() {
        for (list, said) in [("q", "no such column"), ("l", "of type array"), ("v", "of type binary")] {
            let error = try_table("a long, l array<int>, v binary", &[(KEY, list)]).unwrap_err().to_string();
            assert!(error.contains(KEY) && error.contains(said), "{error}");
        }
        let partitioned = crate::alter::testing::partitioned(table("a long, p long", &[(KEY, "p")]), &["p"]);
        assert!(check(&partitioned).unwrap_err().to_string().contains("partition column"));
    }
}
