//! What this writer may append to, by table feature.

use crate::actions::{Metadata, Protocol};
use crate::error::{Error, Result};
use crate::features::{Appends, FEATURES};
use crate::schema::StructType;

/// Checks that an append by this writer keeps every rule of the table. Called before anything is written.
///
/// # Errors
/// [`Error::UnsupportedFeature`] with the role `writer`, which names every feature that stands in the way.
pub fn check_writer(path: &str, protocol: &Protocol, metadata: &Metadata, schema: &StructType) -> Result<()> {
    let mut refused = unknown(protocol);
    for feature in FEATURES {
        if let Appends::Unless(usage) = feature.appends
            && let Some(what) = usage.find(metadata, schema)
        {
            refused.push(format!("{} ({what})", feature.name));
        }
    }
    refuse(path, refused)
}

/// Checks that this writer knows every feature of the table. What a feature asks of rows is for [`check_writer`].
///
/// # Errors
/// As [`check_writer`].
pub fn check_writer_features(path: &str, protocol: &Protocol) -> Result<()> {
    refuse(path, unknown(protocol))
}

/// Version and features that are not known.
fn unknown(protocol: &Protocol) -> Vec<String> {
    let mut refused = Vec::new();
    if !(1..=7).contains(&protocol.min_writer_version) {
        refused.push(format!("writer version {}", protocol.min_writer_version));
    }
    let listed: &[String] = match protocol.min_writer_version {
        7 => protocol.writer_features.as_deref().unwrap_or_default(),
        _ => &[],
    };
    let known = |name: &String| FEATURES.iter().any(|f| f.name == name && !matches!(f.appends, Appends::No));
    refused.extend(listed.iter().filter(|f| !known(f)).cloned());
    refused
}

fn refuse(path: &str, refused: Vec<String>) -> Result<()> {
    if refused.is_empty() {
        return Ok(());
    }
    Err(Error::UnsupportedFeature {
        path: path.to_owned(),
        role: "writer",
        features: refused,
        supported: supported().map(str::to_owned).collect(),
    })
}

/// Writer features that an append honours, or that ask nothing of an append.
fn supported() -> impl Iterator<Item = &'static str> {
    FEATURES.iter().filter(|f| matches!(f.appends, Appends::Yes)).map(|f| f.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{DataType, StructField};

    fn protocol(features: &[&str]) -> Protocol {
        Protocol {
            min_reader_version: 3,
            min_writer_version: 7,
            reader_features: Some(Vec::new()),
            writer_features: Some(features.iter().map(|f| (*f).to_owned()).collect()),
        }
    }

    fn schema(key: Option<&str>) -> StructType {
        let mut inner = StructField::new("x", DataType::Long, true);
        inner.metadata.extend(key.map(|k| (k.to_owned(), "1".into())));
        let s = DataType::Struct(Box::new(StructType { fields: vec![inner] }));
        StructType { fields: vec![StructField::new("s", s, true)] }
    }

    fn refused(protocol: &Protocol, properties: &[(&str, &str)], schema: &StructType) -> Vec<String> {
        let configuration = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        match check_writer("t", protocol, &Metadata { configuration, ..Default::default() }, schema) {
            Ok(()) => Vec::new(),
            Err(Error::UnsupportedFeature { features, role: "writer", .. }) => features,
            Err(other) => vec![other.to_string()],
        }
    }

    #[test]
    fn features_that_are_only_listed_are_no_obstacle() {
        let listed = protocol(&[
            "invariants",
            "checkConstraints",
            "generatedColumns",
            "identityColumns",
            "icebergCompatV2",
        ]);
        assert!(refused(&listed, &[], &schema(None)).is_empty());
        assert!(refused(&protocol(&supported().collect::<Vec<_>>()), &[], &schema(None)).is_empty());
    }

    #[test]
    fn features_in_use_are_refused_by_name_and_place() {
        let iceberg = [("delta.enableIcebergCompatV1", "true")];
        assert_eq!(
            refused(&protocol(&["icebergCompatV1"]), &iceberg, &schema(None)),
            ["icebergCompatV1 (delta.enableIcebergCompatV1)"]
        );
        // the rules for values are held by the writer itself
        let rules = protocol(&["invariants", "generatedColumns", "identityColumns", "checkConstraints"]);
        for key in ["delta.invariants", "delta.generationExpression", "delta.identity.start"] {
            assert!(refused(&rules, &[("delta.constraints.c", "x > 1")], &schema(Some(key))).is_empty());
        }
    }

    #[test]
    fn what_is_unknown_is_refused() {
        assert_eq!(
            refused(&protocol(&["appendOnly", "catalogManaged", "x-new"]), &[], &schema(None)),
            ["catalogManaged", "x-new"]
        );
        let future = Protocol { min_writer_version: 8, ..protocol(&[]) };
        assert_eq!(refused(&future, &[], &schema(None)), ["writer version 8"]);
    }
}
