//! What deltaic reads (PROTOCOL.md, "Reader Version Requirements").

use super::{FEATURES, used_features};
use crate::actions::{Metadata, Protocol};
use crate::error::{Error, Result, condition};
use crate::schema::StructType;

/// Newest reader version of the protocol.
pub const MAX_READER_VERSION: i32 = 3;

/// Refuses a table that needs more of a reader than deltaic has.
///
/// # Errors
/// [`Error::UnsupportedFeature`] with the names of all that is missing; [`Error::LogCorrupt`] when the protocol
/// contradicts itself.
pub fn check_reader(table: &str, protocol: &Protocol) -> Result<()> {
    let refuse = |features: Vec<String>| Error::UnsupportedFeature {
        path: table.to_owned(),
        role: "reader",
        features,
        supported: known().map(str::to_owned).collect(),
    };
    if protocol.min_reader_version > MAX_READER_VERSION {
        let error = refuse(vec![format!("reader version {}", protocol.min_reader_version)]);
        let required = [("readerRequired", protocol.min_reader_version.to_string())];
        return Err(error.named(&condition::INVALID_PROTOCOL_VERSION, required));
    }
    if protocol.min_reader_version < MAX_READER_VERSION {
        return Ok(());
    }
    let Some(features) = &protocol.reader_features else {
        return Err(Error::corrupt(table, None, "reader version 3 without `readerFeatures`"));
    };
    let missing: Vec<String> =
        features.iter().filter(|f| !known().any(|name| name == f.as_str())).cloned().collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(refuse(missing)),
    }
}

/// Refuses a table whose metadata makes use of a feature that its protocol, which lists features, lacks: its writers
/// did not follow the feature.
///
/// # Errors
/// [`Error::LogCorrupt`] with all such features.
pub fn check_uses(table: &str, protocol: &Protocol, metadata: &Metadata, schema: &StructType) -> Result<()> {
    if protocol.writer_features.is_none() {
        return Ok(());
    }
    let mut used = used_features(metadata, schema, |feature| protocol.supports(feature));
    used.retain(|(feature, _)| !protocol.supports(feature.feature));
    if used.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = used.iter().map(|(feature, _)| feature.name()).collect();
    let uses: Vec<String> =
        used.iter().map(|(feature, what)| format!("`{}` (by {what})", feature.name())).collect();
    let reason = format!("the metadata makes use of features that the protocol lacks: {}", uses.join(", "));
    let named = [("features", names.join(", "))];
    Err(Error::corrupt(table, None, reason).named(&condition::FEATURES_PROTOCOL_METADATA_MISMATCH, named))
}

/// Reader features that deltaic reads.
fn known() -> impl Iterator<Item = &'static str> {
    FEATURES.iter().filter(|f| f.reader_writer && f.reads).map(|f| f.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocol(reader: i32, features: Option<&[&str]>) -> Protocol {
        Protocol {
            min_reader_version: reader,
            min_writer_version: 7,
            reader_features: features.map(|f| f.iter().map(|n| (*n).to_owned()).collect()),
            writer_features: Some(vec![]),
        }
    }

    #[test]
    fn t34_an_unknown_reader_feature_is_refused_by_name() {
        let error = check_reader("t", &protocol(3, Some(&["deletionVectors", "timeMachine"]))).unwrap_err();
        assert!(
            matches!(&error, Error::UnsupportedFeature { features, .. } if features == &["timeMachine"]),
            "{error}"
        );
        assert!(check_reader("t", &protocol(4, None)).is_err());
        assert!(check_reader("t", &protocol(2, None)).is_ok());
        assert!(check_reader("t", &protocol(3, Some(&["deletionVectors"]))).is_ok());
    }
}
