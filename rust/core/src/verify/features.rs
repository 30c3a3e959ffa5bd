//! What the table makes use of against the features of its protocol.

use super::finding::FindingKind;
use super::report::VerifyReport;
use super::state::State;
use crate::features::{CLUSTERING_DOMAIN, FEATURES, ROW_TRACKING_DOMAIN, TableFeature, Use};
use crate::schema::StructType;
use crate::store::Location;

/// Compares the features of the version with what its metadata, files and domains make use of.
pub(super) fn check(location: &Location, state: &State, report: &mut VerifyReport) {
    let (Some(protocol), Some(metadata)) = (&state.counted.protocol, &state.counted.metadata) else { return };
    let schema = StructType::from_json(&metadata.schema_string).unwrap_or_default();
    let mut lacks = |feature: TableFeature, user: String| {
        let expected = format!("the feature `{feature}`, of which {user} makes use");
        report.found(
            FindingKind::MissingFeature,
            state.version,
            location.root(),
            expected,
            "a protocol without it",
        );
    };
    for feature in FEATURES {
        let has = protocol.supports(feature.feature) || feature.instead.is_some_and(|f| protocol.supports(f));
        // what a column is annotated with means nothing without the feature, and any writer keeps `NOT NULL`
        let uses = feature.used_by.iter().filter(|u| !matches!(u, Use::NotNull | Use::Column(_)));
        if !has && let Some(user) = uses.filter_map(|u| u.find(metadata, &schema)).next() {
            lacks(feature.feature, user);
        }
    }
    let has_vectors = state.files.values().any(|f| f.facts.deleted.is_some());
    if has_vectors && !protocol.supports(TableFeature::DeletionVectors) {
        lacks(TableFeature::DeletionVectors, "a file with a deletion vector".into());
    }
    for (domain, feature) in
        [(ROW_TRACKING_DOMAIN, TableFeature::RowTracking), (CLUSTERING_DOMAIN, TableFeature::Clustering)]
    {
        if state.domains.get(domain).is_some_and(|d| !d.removed) && !protocol.supports(feature) {
            lacks(feature, format!("the domain `{domain}`"));
        }
    }
}
