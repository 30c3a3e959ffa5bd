//! The facts of a version besides its rows.

use crate::alter::clustering::shown;
use crate::error::{Error, Result};
use crate::features::{CLUSTERING_DOMAIN, TableFeature, clustering_columns as physical_columns};
use crate::schema::{ColumnMappingMode, DataType, StructType};
use crate::snapshot::Snapshot;

/// The clustering columns of a version, as paths of logical names; none where it is not clustered.
///
/// # Errors
/// [`Error::InvalidSchema`] when the domain cannot be read, or names a missing column; errors of the store.
pub fn clustering_columns(snapshot: &Snapshot) -> Result<Vec<Vec<String>>> {
    if !snapshot.protocol().supports(TableFeature::Clustering) {
        return Ok(Vec::new());
    }
    let domains = snapshot.domain_metadata()?;
    let Some(domain) = domains.iter().find(|d| d.domain == CLUSTERING_DOMAIN && !d.removed) else {
        return Ok(Vec::new());
    };
    let (schema, mode) = (snapshot.schema(), snapshot.column_mapping());
    let logical = |path: &Vec<String>| {
        logical(schema, path, mode).ok_or_else(|| Error::InvalidSchema {
            reason: format!("clustering column `{}` is not in the schema", path.join(".")),
        })
    };
    physical_columns(domain)?.iter().map(logical).collect()
}

/// [`clustering_columns`], each as the detail of a table shows it: parts that are no plain names are quoted.
///
/// # Errors
/// As [`clustering_columns`].
pub fn shown_clustering_columns(snapshot: &Snapshot) -> Result<Vec<String>> {
    Ok(clustering_columns(snapshot)?.iter().map(|path| shown(path)).collect())
}

/// The names of a path that is given by the names in files.
pub(super) fn logical(schema: &StructType, path: &[String], mode: ColumnMappingMode) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    let field = schema.fields.iter().find(|f| f.physical_name(mode) == first)?;
    let mut names = vec![field.name.clone()];
    if !rest.is_empty() {
        let DataType::Struct(inner) = &field.data_type else { return None };
        names.extend(logical(inner, rest, mode)?);
    }
    Some(names)
}
