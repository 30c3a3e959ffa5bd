//! Clustering columns (PROTOCOL.md, "Clustered Table").

use super::Definition;
use super::paths::{begins_with, physical, refuse};
use crate::actions::DomainMetadata;
use crate::error::{Result, condition};
use crate::features::{CLUSTERING_DOMAIN, clustering_columns};
use crate::schema::in_backticks;
use crate::stats::StatsColumns;

impl Definition {
    /// The definition with the clustering columns that the domain has.
    ///
    /// # Errors
    /// [`crate::Error::InvalidSchema`] when the domain cannot be read.
    pub fn with_clustering(mut self, domain: Option<&DomainMetadata>) -> Result<Self> {
        let domain = domain.filter(|d| d.domain == CLUSTERING_DOMAIN && !d.removed);
        self.clustering = domain.map(clustering_columns).transpose()?.unwrap_or_default();
        Ok(self)
    }
}

/// A column as the history and the detail of a table show it: parts that are no plain names are quoted.
pub(crate) fn shown(path: &[String]) -> String {
    let plain = |part: &str| {
        part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !part.chars().all(|c| c.is_ascii_digit())
    };
    let part = |name: &String| match plain(name) {
        true => name.clone(),
        false => in_backticks(name),
    };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}

/// Whether a column is a clustering column, or has one in it.
pub(super) fn is_clustering(table: &Definition, path: &[String]) -> bool {
    let path = physical(&table.schema, path, table.column_mapping());
    table.clustering.iter().any(|column| begins_with(column, &path))
}

/// Checks that every clustering column gets statistics.
///
/// # Errors
/// [`crate::Error::InvalidColumnChange`] with the column.
pub(super) fn check_statistics(table: &Definition) -> Result<()> {
    if table.clustering.is_empty() {
        return Ok(());
    }
    let columns = StatsColumns::of(&table.schema, &table.metadata, table.column_mapping(), false)?;
    match table.clustering.iter().find(|column| !columns.covers(column)) {
        None => Ok(()),
        Some(column) => {
            let column = logical(table, column);
            let reason = "files have no statistics of it, and a clustering column needs them: put it among the first columns, or \
                          into `delta.dataSkippingStatsColumns`";
            Err(refuse(&column, reason)
                .named(&condition::CLUSTERING_COLUMN_MISSING_STATS, [("columns", column.join("."))]))
        }
    }
}

/// The path that users know of a clustering column.
fn logical(table: &Definition, column: &[String]) -> Vec<String> {
    let paths = table.schema.explode().into_iter().map(|(path, _)| path.into_iter().map(str::to_owned));
    let mut paths = paths.map(Iterator::collect::<Vec<_>>);
    let found = paths.find(|path| physical(&table.schema, path, table.column_mapping()) == column);
    found.unwrap_or_else(|| column.to_vec())
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn parts_that_are_no_plain_names_are_quoted() {
        let shown = |parts: &[&str]| shown(&parts.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>());
        assert_eq!(shown(&["a_1", "b c"]), "a_1.`b c`");
        assert_eq!(shown(&["7"]), "`7`");
        assert_eq!(shown(&["a`.b"]), "`a``.b`");
    }
}
