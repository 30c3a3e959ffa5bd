//! The domain of clustering columns (PROTOCOL.md, "Clustered Table").

use serde_json::Value;

use crate::actions::DomainMetadata;
use crate::error::{Error, Result};

/// The domain of the clustering columns.
pub const CLUSTERING_DOMAIN: &str = "delta.clustering";

/// The clustering columns of the domain, by physical path.
///
/// # Errors
/// [`Error::InvalidSchema`] when it cannot be read.
pub(crate) fn clustering_columns(domain: &DomainMetadata) -> Result<Vec<Vec<String>>> {
    let invalid = || Error::InvalidSchema {
        reason: format!("the domain {CLUSTERING_DOMAIN} cannot be read: {}", domain.configuration),
    };
    let value: Value = serde_json::from_str(&domain.configuration).map_err(|_| invalid())?;
    let columns = value["clusteringColumns"].as_array().ok_or_else(invalid)?;
    // a list of paths, or of names
    let path = |column: &Value| match column {
        Value::String(name) => Some(vec![name.clone()]),
        Value::Array(parts) => parts.iter().map(|p| p.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    columns.iter().map(path).collect::<Option<_>>().ok_or_else(invalid)
}
