//! Table features: what a reader and a writer must do (PROTOCOL.md, "Table Features", "Reader Version Requirements").

use std::collections::BTreeSet;

use crate::actions::Protocol;
use crate::error::{Error, Result};

/// Newest reader version of the protocol.
pub const MAX_READER_VERSION: i32 = 3;

/// Reader features that deltaic reads.
pub const READER_FEATURES: &[&str] = &[
    "columnMapping",
    "deletionVectors",
    "timestampNtz",
    "typeWidening",
    "typeWidening-preview",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "variantType",
    "variantType-preview",
];

/// Features that a writer version implied before features had names, by version (PROTOCOL.md, "Writer Version
/// Requirements").
const IMPLIED: [(i32, &str); 7] = [
    (2, "appendOnly"),
    (2, "invariants"),
    (3, "checkConstraints"),
    (4, "changeDataFeed"),
    (4, "generatedColumns"),
    (5, "columnMapping"),
    (6, "identityColumns"),
];

/// The features that a protocol asks for, by name, also those that its version implies.
pub(crate) fn features_of(protocol: &Protocol) -> BTreeSet<&str> {
    let mut out: BTreeSet<&str> = match protocol.min_writer_version {
        version @ ..7 => IMPLIED.iter().filter(|(v, _)| *v <= version).map(|(_, f)| *f).collect(),
        _ => protocol.writer_features.iter().flatten().map(String::as_str).collect(),
    };
    out.extend(protocol.reader_features.iter().flatten().map(String::as_str));
    out
}

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
        supported: READER_FEATURES.iter().map(|f| (*f).to_owned()).collect(),
    };
    if protocol.min_reader_version > MAX_READER_VERSION {
        return Err(refuse(vec![format!("reader version {}", protocol.min_reader_version)]));
    }
    if protocol.min_reader_version < MAX_READER_VERSION {
        return Ok(());
    }
    let Some(features) = &protocol.reader_features else {
        return Err(Error::corrupt(table, None, "reader version 3 without `readerFeatures`"));
    };
    let missing: Vec<String> =
        features.iter().filter(|f| !READER_FEATURES.contains(&f.as_str())).cloned().collect();
    if missing.is_empty() { Ok(()) } else { Err(refuse(missing)) }
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
