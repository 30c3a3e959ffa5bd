use crate::alter::Definition;
use crate::error::Result;
use crate::features::{CLUSTERING_DOMAIN, TableFeature};
use crate::snapshot::Snapshot;

/// The definition of a version, with its clustering columns.
///
/// # Errors
/// As [`Definition::of`], and errors of the store.
pub(crate) fn definition(snapshot: &Snapshot) -> Result<Definition> {
    let table = Definition::of(snapshot.protocol(), snapshot.metadata())?;
    if !table.protocol.supports(TableFeature::Clustering) {
        return Ok(table);
    }
    let domains = snapshot.domain_metadata()?;
    table.with_clustering(domains.iter().find(|d| d.domain == CLUSTERING_DOMAIN))
}
