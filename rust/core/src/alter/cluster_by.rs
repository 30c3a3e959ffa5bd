use serde_json::json;

use super::Definition;
use super::change::Change;
use super::clustering::check_statistics;
use super::finalize::finalize;
use super::paths::{field, not_there, physical, refuse, resolve};
use super::protocol::with_features;
use crate::actions::DomainMetadata;
use crate::error::{Error, Result, condition};
use crate::features::{CLUSTERING_DOMAIN, TableFeature};
use crate::stats::has_bounds;

/// Most clustering columns that delta-spark accepts.
const MOST: usize = 4;

/// The table with other clustering columns, and the action that says so. No columns end the clustering of new data.
///
/// # Errors
/// [`Error::InvalidColumnChange`] for a missing column, is named twice, or has no statistics;
/// [`Error::InvalidArgument`] for too many; [`Error::InvalidFeatureChange`] for a table that is partitioned.
pub fn cluster_by(table: &Definition, columns: &[Vec<String>]) -> Result<(Definition, DomainMetadata)> {
    if !table.metadata.partition_columns.is_empty() {
        return Err(Error::InvalidFeatureChange {
            feature: TableFeature::Clustering.into(),
            reason: format!(
                "the table is partitioned by {}, and a table is either partitioned or clustered",
                table.metadata.partition_columns.join(", ")
            ),
        }
        .of_condition(&condition::ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED));
    }
    if columns.len() > MOST {
        return Err(Error::InvalidArgument {
            argument: "cluster_by".into(),
            reason: format!("{} columns; at most {MOST} make sense", columns.len()),
        }
        .named(
            &condition::CLUSTER_BY_INVALID_NUM_COLUMNS,
            [("numColumnsLimit", MOST.to_string()), ("actualNumColumns", columns.len().to_string())],
        ));
    }
    let mut new = table.clone();
    new.clustering = Vec::with_capacity(columns.len());
    for column in columns {
        let path = resolve(&table.schema, column).map_err(|error| not_there(&table.schema, column, error))?;
        let data_type = field(&table.schema, &path).map(|f| &f.data_type);
        if path.iter().any(|part| part == "element" || part == "key" || part == "value")
            && data_type.is_none()
        {
            return Err(refuse(&path, "elements, keys and values cannot be clustered by"));
        }
        if let Some(data_type) = data_type.filter(|t| !has_bounds(t)) {
            let kind = data_type.name();
            let said = [("columnsWithDataTypes", format!("{} : {}", path.join("."), kind.to_uppercase()))];
            return Err(refuse(&path, format!("type {kind} has no minimum and maximum"))
                .named(&condition::CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED, said));
        }
        let path = physical(&table.schema, &path, table.column_mapping());
        if new.clustering.contains(&path) {
            let twice = [("duplicateCols", column.join("."))];
            return Err(refuse(column, "it is given twice")
                .named(&condition::DUPLICATE_COLUMNS_FOUND_CLUSTER_BY, twice));
        }
        new.clustering.push(path);
    }
    check_statistics(&new)?;
    new.protocol = with_features(&table.protocol, &[TableFeature::Clustering])?;
    let domain = DomainMetadata {
        domain: CLUSTERING_DOMAIN.into(),
        configuration: json!({"clusteringColumns": new.clustering, "domainName": CLUSTERING_DOMAIN})
            .to_string(),
        removed: false,
    };
    Ok((finalize(Some(table), new, &Default::default(), Change::Alter)?, domain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::add_column::Position;
    use crate::alter::change_column::{ColumnChange, change_columns};
    use crate::alter::testing::{partitioned, path, table};

    #[test]
    fn columns_are_kept_by_physical_name() {
        let t = table("a long, s struct<x: long>", &[("delta.columnMapping.mode", "name")]);
        let (t, domain) = cluster_by(&t, &[path("S.X"), path("A")]).unwrap();
        assert!(
            t.protocol.supports(TableFeature::Clustering)
                && t.protocol.supports(TableFeature::DomainMetadata)
        );
        assert!(t.clustering[0][0].starts_with("col-") && t.clustering[0].len() == 2);
        let read = Definition { clustering: Vec::new(), ..t.clone() }.with_clustering(Some(&domain)).unwrap();
        assert_eq!(read, t);
        let (none, domain) = cluster_by(&t, &[]).unwrap();
        assert!(none.clustering.is_empty() && domain.configuration.contains(r#""clusteringColumns":[]"#));
        // the form of the protocol's example
        let flat =
            DomainMetadata { configuration: r#"{"clusteringColumns":["a"]}"#.into(), ..domain.clone() };
        assert_eq!(t.clone().with_clustering(Some(&flat)).unwrap().clustering, [path("a")]);
        let broken = DomainMetadata { configuration: "[]".into(), ..domain };
        assert!(t.with_clustering(Some(&broken)).is_err());
    }

    #[test]
    fn what_cannot_be_clustered_by_is_refused() {
        let t = table(
            "a long, b array<long>, c long, d long, e long",
            &[("delta.dataSkippingNumIndexedCols", "3")],
        );
        for (columns, said) in [
            (vec!["q"], "no such column"),
            (vec!["b"], "type array"),
            (vec!["b.element"], "elements"),
            (vec!["a", "A"], "twice"),
            (vec!["e"], "no statistics"),
            (vec!["a", "c", "d", "e", "b"], "at most 4"),
        ] {
            let columns: Vec<_> = columns.into_iter().map(path).collect();
            let error = cluster_by(&t, &columns).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let error = cluster_by(&t, &[path("a.x")]).unwrap_err();
        assert_eq!(error.condition().map(|c| c.name), Some("DELTA_COLUMN_PATH_NOT_NESTED"));
        let error = cluster_by(&partitioned(t.clone(), &["a"]), &[path("c")]).unwrap_err();
        assert_eq!(error.kind(), "InvalidFeatureChange");
        // a move that takes the statistics away
        let (t, _) = cluster_by(&t, &[path("c")]).unwrap();
        let away =
            ColumnChange { position: Some(Position::After("e".into())), ..ColumnChange::of(path("c")) };
        let error = change_columns(&t, std::slice::from_ref(&away)).unwrap_err().to_string();
        assert!(error.contains("no statistics"), "{error}");
        // but not for good
        let back = ColumnChange { position: Some(Position::First), ..ColumnChange::of(path("c")) };
        assert!(change_columns(&t, &[away, back]).is_ok());
    }
}
