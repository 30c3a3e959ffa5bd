//! The protocol that a set of features needs: the lowest that says exactly these features, as delta-spark writes it.

use std::collections::{BTreeMap, BTreeSet};

use crate::actions::{Metadata, Protocol};
use crate::error::{Error, Result, condition};
use crate::features::{FEATURES, TableFeature, feature, used_features};
use crate::schema::StructType;

/// Features by name, and whether readers must know them.
type Features = BTreeMap<String, bool>;

/// Requests to a protocol by name: features and versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// `delta.feature.<name> = supported`.
    pub features: BTreeSet<TableFeature>,
    /// `delta.minReaderVersion`.
    pub reader_version: Option<i32>,
    /// `delta.minWriterVersion`.
    pub writer_version: Option<i32>,
}

/// The protocol of a new table: the lowest that has what is requested and what the metadata uses. By default it is
/// reader 1, writer 2.
///
/// # Errors
/// [`Error::InvalidFeatureChange`] for a feature that deltaic does not read or write.
pub(super) fn for_new_table(asked: &Asked, metadata: &Metadata, schema: &StructType) -> Result<Protocol> {
    let mut needed =
        features_of(&versions(asked.reader_version.unwrap_or(1), asked.writer_version.unwrap_or(2)));
    let used = used_features(metadata, schema, |feature| asked.features.contains(&feature));
    let features = asked.features.iter().copied().chain(used.iter().map(|(f, _)| f.feature));
    needed.extend(closure(features)?);
    Ok(normalized(&needed))
}

/// The protocol of an existing table after a change: the one it has where that will do, else one that has all of its
/// features and those that are asked for, or used by the metadata.
///
/// # Errors
/// [`Error::InvalidFeatureChange`] for a feature that deltaic does not read or write, or that an existing table gets only
/// when it is asked for by name.
pub(super) fn upgraded(
    current: &Protocol,
    asked: &Asked,
    metadata: &Metadata,
    schema: &StructType,
) -> Result<Protocol> {
    let reader = asked.reader_version.unwrap_or(current.min_reader_version);
    let writer = asked.writer_version.unwrap_or(current.min_writer_version);
    let mut needed = features_of(&versions(reader, writer));
    needed.extend(closure(asked.features.iter().copied())?);
    let has = |feature: TableFeature| current.supports(feature) || needed.contains_key(feature.name());
    let used = used_features(metadata, schema, has);
    for (feature, what) in &used {
        if !feature.automatic && !has(feature.feature) {
            let supported = current.features().join(", ");
            let parameters = [("unsupportedFeatures", feature.name()), ("supportedFeatures", &supported)];
            return Err(Error::InvalidFeatureChange {
                feature: feature.feature.into(),
                reason: format!(
                    "{what} needs it, and an existing table gets it only when it is asked for: set \
                     `delta.feature.{}` = `supported`",
                    feature.feature
                ),
            }
            .named(&condition::FEATURES_REQUIRE_MANUAL_ENABLEMENT, parameters));
        }
    }
    let used = closure(used.iter().map(|(f, _)| f.feature).filter(|feature| !current.supports(*feature)))?;
    needed.extend(used);
    merged(current, needed)
}

/// The protocol with these features too; the same one where it has them.
///
/// # Errors
/// As [`upgraded`].
pub(super) fn with_features(current: &Protocol, features: &[TableFeature]) -> Result<Protocol> {
    merged(current, closure(features.iter().copied())?)
}

/// The protocol with all features of another one too; the same one where it has them.
pub(crate) fn joined_protocol(current: &Protocol, other: &Protocol) -> Protocol {
    if other.features().into_iter().all(|name| current.supports_named(name)) {
        return current.clone();
    }
    let mut features = features_of(current);
    features.extend(features_of(other));
    normalized(&features)
}

/// The protocol without a feature.
pub(super) fn without_feature(current: &Protocol, feature: TableFeature) -> Protocol {
    let mut features = features_of(current);
    features.remove(feature.name());
    normalized(&features)
}

/// Refuses a protocol that lacks a feature of the one before it, except those that are `dropped`.
///
/// # Errors
/// [`Error::InvalidFeatureChange`] with the first missing feature.
pub fn check_keeps_features(old: &Protocol, new: &Protocol, dropped: &[String]) -> Result<()> {
    let gone = |name: &&str| !new.supports_named(name) && !dropped.iter().any(|d| d == name);
    match old.features().into_iter().find(gone) {
        None => Ok(()),
        Some(name) => Err(Error::InvalidFeatureChange {
            feature: name.to_owned(),
            reason: "the new protocol lacks it; only dropping the feature removes it".into(),
        }),
    }
}

fn merged(current: &Protocol, needed: Features) -> Result<Protocol> {
    if needed.keys().all(|name| current.supports_named(name)) {
        return Ok(current.clone());
    }
    let mut features = features_of(current);
    features.extend(needed);
    Ok(normalized(&features))
}

fn versions(reader: i32, writer: i32) -> Protocol {
    // there are no reader features without writer features
    let reader = if writer < 7 { reader.min(2) } else { reader };
    Protocol {
        min_reader_version: reader,
        min_writer_version: writer,
        reader_features: None,
        writer_features: None,
    }
}

fn features_of(protocol: &Protocol) -> Features {
    let for_readers = |name: &str| {
        feature(name).map_or_else(
            || protocol.reader_features.iter().flatten().any(|f| f == name),
            |known| known.reader_writer,
        )
    };
    protocol.features().into_iter().map(|name| (name.to_owned(), for_readers(name))).collect()
}

/// These features with all that they require.
fn closure(asked: impl Iterator<Item = TableFeature>) -> Result<Features> {
    let mut todo: Vec<TableFeature> = asked.collect();
    let mut features = Features::new();
    while let Some(feature) = todo.pop() {
        let known = FEATURES.iter().find(|f| f.feature == feature && f.reads && f.writes);
        let known = known.ok_or_else(|| Error::InvalidFeatureChange {
            feature: feature.into(),
            reason: "deltaic does not read and write tables that have it".into(),
        })?;
        if features.insert(known.feature.into(), known.reader_writer).is_none() {
            todo.extend(known.requires);
        }
    }
    Ok(features)
}

/// The lowest protocol that has exactly these features: versions where they imply no others, else a list.
fn normalized(features: &Features) -> Protocol {
    let minimum = |(name, for_readers): (&String, &bool)| match feature(name).and_then(|f| f.legacy) {
        Some((reader, writer)) => (reader, writer),
        None => (if *for_readers { 3 } else { 1 }, 7),
    };
    let (reader, writer) = features.iter().map(minimum).fold((1, 1), |a, b| (a.0.max(b.0), a.1.max(b.1)));
    let legacy = versions(reader, writer);
    if writer < 7 && legacy.features().iter().copied().eq(features.keys().map(String::as_str)) {
        return legacy;
    }
    let listed = |(name, for_readers): (&String, &bool)| for_readers.then(|| name.clone());
    Protocol {
        min_reader_version: reader,
        min_writer_version: 7,
        reader_features: (reader == 3).then(|| features.iter().filter_map(listed).collect()),
        writer_features: Some(features.keys().cloned().collect()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::alter::testing::{protocol, schema};

    fn facts(p: &Protocol) -> (i32, i32, Vec<String>, Vec<String>) {
        (
            p.min_reader_version,
            p.min_writer_version,
            p.reader_features.clone().unwrap_or_default(),
            p.writer_features.clone().unwrap_or_default(),
        )
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|n| (*n).to_owned()).collect()
    }

    #[test]
    fn versions_stay_versions_where_they_say_exactly_the_features() {
        let p = protocol(1, 2);
        assert_eq!(with_features(&p, &[TableFeature::CheckConstraints]).unwrap(), protocol(1, 3));
        assert_eq!(
            with_features(
                &p,
                &[
                    TableFeature::CheckConstraints,
                    TableFeature::ChangeDataFeed,
                    TableFeature::GeneratedColumns
                ]
            )
            .unwrap(),
            protocol(1, 4)
        );
        // version 6 has it already
        assert_eq!(with_features(&protocol(2, 6), &[TableFeature::ColumnMapping]).unwrap(), protocol(2, 6));
        let listed = with_features(&p, &[TableFeature::ChangeDataFeed]).unwrap();
        assert_eq!(facts(&listed), (1, 7, vec![], names(&["appendOnly", "changeDataFeed", "invariants"])));
    }

    #[test]
    fn reader_version_3_is_for_features_that_have_no_version_of_their_own() {
        let mapped = with_features(&protocol(1, 2), &[TableFeature::ColumnMapping]).unwrap();
        assert_eq!(facts(&mapped), (2, 7, vec![], names(&["appendOnly", "columnMapping", "invariants"])));
        let both = with_features(&mapped, &[TableFeature::DeletionVectors]).unwrap();
        assert_eq!(facts(&both).2, ["columnMapping", "deletionVectors"]);
        assert_eq!(facts(&both).0, 3);
        assert_eq!(facts(&without_feature(&both, TableFeature::DeletionVectors)), facts(&mapped));
        assert_eq!(without_feature(&mapped, TableFeature::ColumnMapping), protocol(1, 2));
    }

    #[test]
    fn features_come_with_what_they_require() {
        let p = with_features(&protocol(1, 2), &[TableFeature::Clustering]).unwrap();
        assert!(p.supports(TableFeature::DomainMetadata) && p.min_reader_version == 1);
        let error = with_features(&protocol(1, 2), &[TableFeature::CatalogManaged]).unwrap_err();
        assert_eq!(error.kind(), "InvalidFeatureChange");
    }

    #[test]
    fn features_that_are_not_known_are_kept() {
        let current = Protocol {
            reader_features: Some(names(&["x-reader"])),
            writer_features: Some(names(&["x-reader", "x-writer"])),
            ..protocol(3, 7)
        };
        let p = with_features(&current, &[TableFeature::InCommitTimestamp]).unwrap();
        assert_eq!(
            facts(&p),
            (3, 7, names(&["x-reader"]), names(&["inCommitTimestamp", "x-reader", "x-writer"]))
        );
    }

    #[test]
    fn some_features_must_be_asked_for() {
        let s = schema("a timestamp_ntz");
        let error = upgraded(&protocol(1, 2), &Asked::default(), &Metadata::default(), &s).unwrap_err();
        assert!(error.to_string().contains("`delta.feature.timestampNtz` = `supported`"), "{error}");
        let asked = Asked { features: [TableFeature::TimestampNtz].into(), ..Default::default() };
        let p = upgraded(&protocol(1, 2), &asked, &Metadata::default(), &s).unwrap();
        assert!(p.supports(TableFeature::TimestampNtz));
        assert!(
            for_new_table(&Asked::default(), &Metadata::default(), &s)
                .unwrap()
                .supports(TableFeature::TimestampNtz)
        );
    }

    #[test]
    fn a_preview_stands_in_for_the_feature() {
        let current = with_features(&protocol(1, 2), &[TableFeature::TypeWideningPreview]).unwrap();
        let metadata = Metadata {
            configuration: [("delta.enableTypeWidening".to_owned(), "true".to_owned())].into(),
            ..Default::default()
        };
        let s = schema("a long");
        assert_eq!(upgraded(&current, &Asked::default(), &metadata, &s).unwrap(), current);
        assert!(
            upgraded(&protocol(1, 2), &Asked::default(), &metadata, &s)
                .unwrap()
                .supports(TableFeature::TypeWidening)
        );
    }

    #[test]
    fn asked_versions_bring_their_features_and_never_lower() {
        let asked = Asked { reader_version: Some(1), writer_version: Some(4), ..Default::default() };
        let (m, s) = (Metadata::default(), schema("a long"));
        assert_eq!(for_new_table(&asked, &m, &s).unwrap(), protocol(1, 4));
        assert_eq!(upgraded(&protocol(1, 2), &asked, &m, &s).unwrap(), protocol(1, 4));
        assert_eq!(upgraded(&protocol(2, 6), &asked, &m, &s).unwrap(), protocol(2, 6));
        let asked = Asked { reader_version: Some(3), writer_version: Some(7), ..Default::default() };
        assert_eq!(upgraded(&protocol(1, 2), &asked, &m, &s).unwrap(), protocol(1, 2));
        assert!(check_keeps_features(&protocol(1, 4), &protocol(1, 3), &[]).is_err());
    }

    fn any_features() -> impl Strategy<Value = Vec<TableFeature>> {
        let known: Vec<TableFeature> =
            FEATURES.iter().filter(|f| f.reads && f.writes).map(|f| f.feature).collect();
        proptest::sample::subsequence(known, 0..8)
    }

    fn any_legacy() -> impl Strategy<Value = Protocol> {
        proptest::sample::select(vec![(1, 1), (1, 2), (1, 3), (1, 4), (2, 5), (2, 6), (1, 5), (2, 3)])
            .prop_map(|(reader, writer)| protocol(reader, writer))
    }

    proptest! {
        #[test]
        fn an_upgrade_keeps_every_feature_and_has_the_new_ones(
            start in any_legacy(), first in any_features(), second in any_features(),
        ) {
            let one = with_features(&start, &first).unwrap();
            let two = with_features(&one, &second).unwrap();
            check_keeps_features(&start, &one, &[]).unwrap();
            check_keeps_features(&one, &two, &[]).unwrap();
            prop_assert!(first.iter().chain(&second).all(|f| two.supports(*f)));
            prop_assert_eq!(two.reader_features.is_some(), two.min_reader_version == 3);
            prop_assert_eq!(two.writer_features.is_some(), two.min_writer_version == 7);
            // again adds nothing
            prop_assert_eq!(with_features(&two, &first).unwrap(), two);
        }
    }
}
