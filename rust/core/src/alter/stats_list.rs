//! `delta.dataSkippingStatsColumns` when columns change.

use std::collections::BTreeSet;

use super::Definition;
use super::paths::{begins_with, field, not_there, resolve};
use crate::error::{Error, Result, condition};
use crate::properties::TableProperty;
use crate::schema::{DataType, format_column_list, parse_column_list};

const KEY: TableProperty = TableProperty::DataSkippingStatsColumns;

fn listed(table: &Definition) -> Result<Option<Vec<Vec<String>>>> {
    let list = table.property(KEY).map(parse_column_list).transpose();
    list.map_err(|reason| Error::InvalidArgument { argument: KEY.to_string(), reason })
}

/// Removes a dropped column, and what is in it, from the list.
pub(super) fn drop(table: &mut Definition, path: &[String]) -> Result<()> {
    let Some(mut list) = listed(table)? else { return Ok(()) };
    let before = list.len();
    list.retain(|column| !begins_with(column, path));
    if list.len() < before {
        table.metadata.set_property(KEY, format_column_list(&list));
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
        table.metadata.set_property(KEY, format_column_list(&list));
    }
    Ok(())
}

/// Checks that the listed columns exist, are not partition columns, are of a type that has statistics, and that none
/// is listed twice, as itself or in its struct. Columns in structs may be of any type.
///
/// # Errors
/// [`Error::InvalidArgument`] with the property and the column.
pub(super) fn check(table: &Definition) -> Result<()> {
    let invalid = |reason: String| Error::InvalidArgument { argument: KEY.to_string(), reason };
    let mut leaves = Vec::new();
    for column in listed(table)?.unwrap_or_default() {
        let name = column.join(".");
        let path = resolve(&table.schema, &column).map_err(|error| match error {
            Error::InvalidColumnChange { column: given, reason } => {
                not_there(&table.schema, &column, invalid(format!("`{given}`: {reason}")))
            }
            other => other,
        })?;
        let found = field(&table.schema, &path);
        if let [only] = path.as_slice() {
            if table.is_partition_column(only) {
                return Err(invalid(format!(
                    "`{name}` is a partition column, whose values are known anyhow"
                ))
                .named(
                    &condition::COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN,
                    [("column", name)],
                ));
            }
            let skips = |t: &DataType| matches!(t, DataType::Struct(_)) || crate::stats::has_bounds(t);
            if let Some(field) = found.filter(|f| !skips(&f.data_type)) {
                let kind = field.data_type.name();
                let parameters = [("column", name.clone()), ("type", kind.clone())];
                return Err(invalid(format!("`{name}` is of type {kind}, which has no minimum and maximum"))
                    .named(&condition::COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE, parameters));
            }
        }
        if let Some(field) = found {
            add_leaves(path, &field.data_type, &mut leaves);
        }
    }
    leaves.sort();
    let twice: BTreeSet<String> =
        leaves.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].join(".")).collect();
    if twice.is_empty() {
        return Ok(());
    }
    let columns = twice.into_iter().collect::<Vec<_>>().join(",");
    Err(invalid(format!("listed twice, as themselves or in a struct: {columns}"))
        .named(&condition::DUPLICATE_DATA_SKIPPING_COLUMNS, [("columns", columns)]))
}

/// The columns in the list that have their own statistics.
fn add_leaves(path: Vec<String>, data_type: &DataType, leaves: &mut Vec<Vec<String>>) {
    match data_type {
        DataType::Struct(inner) => {
            for field in &inner.fields {
                let mut inside = path.clone();
                inside.push(field.name.clone());
                add_leaves(inside, &field.data_type, leaves);
            }
        }
        _ => leaves.push(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{path, table, try_table};

    #[test]
    fn the_list_follows_the_columns() {
        let mut t = table("a long, s struct<x: long, y: long>, b string", &[(KEY.name(), "A, s.x, s.y, b")]);
        drop(&mut t, &path("s.x")).unwrap();
        assert_eq!(t.property(KEY), Some("A,s.y,b"));
        rename(&mut t, &path("s"), "t u").unwrap();
        rename(&mut t, &path("a"), "c").unwrap();
        assert_eq!(t.property(KEY), Some("c,`t u`.y,b"));
    }

    #[test]
    fn the_list_names_columns_that_have_statistics() {
        for (list, said) in [("q", "no such column"), ("l", "of type array"), ("v", "of type binary")] {
            let error =
                try_table("a long, l array<int>, v binary", &[(KEY.name(), list)]).unwrap_err().to_string();
            assert!(error.contains(KEY.name()) && error.contains(said), "{error}");
        }
        let partitioned =
            crate::alter::testing::partitioned(table("a long, p long", &[(KEY.name(), "p")]), &["p"]);
        assert!(check(&partitioned).unwrap_err().to_string().contains("partition column"));
    }

    #[test]
    fn no_column_is_listed_twice() {
        for list in ["a, A", "s, s.x", "s.x, s.x", "s, s"] {
            let error =
                try_table("a long, s struct<x: long, f: boolean>", &[(KEY.name(), list)]).unwrap_err();
            assert!(error.to_string().contains("listed twice"), "{error}");
        }
        try_table("a long, s struct<x: long, f: boolean>", &[(KEY.name(), "s.f, a, s.x")]).unwrap();
    }
}
