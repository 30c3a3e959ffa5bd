//! Dropping columns.

use super::change::Change;
use super::clustering::is_clustering;
use super::finalize::finalize;
use super::paths::{not_there, position, refuse, resolve, struct_mut};
use super::references::refuse_if_used;
use super::{Definition, stats_list};
use crate::error::{Result, condition};
use crate::schema::ColumnMappingMode;

/// The table without these columns. Files stay as they are.
///
/// # Errors
/// [`crate::Error::InvalidColumnChange`] without column mapping, for partition and clustering columns, for those that a CHECK
/// constraint or a generated column refers to, and for the last column of a struct.
pub fn drop_columns(table: &Definition, columns: &[Vec<String>]) -> Result<Definition> {
    let mut new = table.clone();
    for path in columns {
        drop_column(table, &mut new, path)?;
    }
    finalize(Some(table), new, &Default::default(), Change::Alter)
}

/// Removes a column from the new definition of `table`.
pub(super) fn drop_column(table: &Definition, new: &mut Definition, path: &[String]) -> Result<()> {
    let path = resolve(&new.schema, path).map_err(|error| not_there(&new.schema, path, error))?;
    if table.column_mapping() == ColumnMappingMode::None {
        return Err(refuse(&path, "dropping needs column mapping: set `delta.columnMapping.mode` = `name`")
            .of_condition(&condition::UNSUPPORTED_DROP_COLUMN));
    }
    if path.len() == 1 && table.is_partition_column(&path[0]) {
        let columns = [("columnList", path[0].clone())];
        return Err(refuse(&path, "a partition column cannot be dropped")
            .named(&condition::UNSUPPORTED_DROP_PARTITION_COLUMN, columns));
    }
    if is_clustering(table, &path) {
        let columns = [("columnList", path.join("."))];
        return Err(refuse(&path, "a clustering column cannot be dropped; change the clustering first")
            .named(&condition::UNSUPPORTED_DROP_CLUSTERING_COLUMN, columns));
    }
    refuse_if_used(table, &path, "dropped")?;
    let (last, parent) = path.split_last().ok_or_else(|| refuse(&path, "no column is given"))?;
    let within = struct_mut(&mut new.schema, parent).ok_or_else(|| {
        refuse(&path, "elements, keys and values cannot be dropped").named(
            &condition::UNSUPPORTED_DROP_NESTED_COLUMN_FROM_NON_STRUCT_TYPE,
            [("struct", parent.join("."))],
        )
    })?;
    let place = position(within, last).ok_or_else(|| refuse(&path, "no such column"))?;
    if within.fields.len() == 1 {
        return Err(refuse(&path, "it is the last column of its struct")
            .of_condition(&condition::DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA));
    }
    within.fields.remove(place);
    stats_list::drop(new, &path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{partitioned, path, table};
    use crate::properties::TableProperty;

    const NAME: (&str, &str) = ("delta.columnMapping.mode", "name");

    #[test]
    fn a_dropped_column_leaves_its_id_behind() {
        let t = table(
            "a long, s struct<x: long, y: long>, b long",
            &[NAME, ("delta.dataSkippingStatsColumns", "b,a")],
        );
        let new = drop_columns(&t, &[path("B"), path("s.x")]).unwrap();
        let paths: Vec<String> = new.schema.explode().iter().map(|(p, _)| p.join(".")).collect();
        assert_eq!(paths, ["a", "s", "s.y"]);
        assert_eq!(new.property(TableProperty::ColumnMappingMaxColumnId), Some("5"));
        assert_eq!(new.property(TableProperty::DataSkippingStatsColumns), Some("a"));
    }

    #[test]
    fn what_cannot_be_dropped_is_refused() {
        let t = table("a long, p long, c long, s struct<x: long>, m map<string, long>", &[NAME]);
        let mut t = partitioned(t, &["p"]);
        t.clustering = vec![super::super::paths::physical(&t.schema, &path("c"), t.column_mapping())];
        t.metadata.configuration.insert("delta.constraints.k".into(), "a > 0".into());
        for (column, said) in [
            ("P", "partition column"),
            ("c", "clustering column"),
            ("a", "constraint `k`"),
            ("s.x", "last column"),
            ("m.key", "cannot be dropped"),
            ("q", "no such column"),
        ] {
            let error = drop_columns(&t, &[path(column)]).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let plain = table("a long, b long", &[]);
        assert!(drop_columns(&plain, &[path("a")]).unwrap_err().to_string().contains("needs column mapping"));
    }
}
