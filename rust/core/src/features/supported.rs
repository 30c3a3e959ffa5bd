//! The features that a protocol has.

use super::{FEATURES, TableFeature, feature};
use crate::actions::Protocol;

impl Protocol {
    /// The features that a table of this protocol supports, by name: those that it lists, or those that its versions
    /// imply.
    pub fn features(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.reader_features.iter().chain(&self.writer_features).flatten().map(String::as_str).collect();
        names.extend(FEATURES.iter().filter(|f| self.implies(f.legacy)).map(|f| f.name()));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether a table of this protocol supports a feature.
    pub fn supports(&self, feature: TableFeature) -> bool {
        self.lists_for_readers(feature) || self.lists_for_writers(feature) || self.implies(feature.legacy())
    }

    /// Whether a table of this protocol supports the feature of this name, known here or not.
    pub fn supports_named(&self, name: &str) -> bool {
        self.reader_features.iter().chain(&self.writer_features).flatten().any(|f| f == name)
            || feature(name).is_some_and(|f| self.implies(f.legacy))
    }

    /// Whether it lists a feature for readers.
    pub(crate) fn lists_for_readers(&self, feature: TableFeature) -> bool {
        self.reader_features.iter().flatten().any(|f| f == feature.name())
    }

    /// Whether it lists a feature for writers.
    pub(crate) fn lists_for_writers(&self, feature: TableFeature) -> bool {
        self.writer_features.iter().flatten().any(|f| f == feature.name())
    }

    fn implies(&self, legacy: Option<(i32, i32)>) -> bool {
        legacy.is_some_and(|(reader, writer)| {
            self.min_writer_version < 7
                && (writer..7).contains(&self.min_writer_version)
                && self.min_reader_version >= reader
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_imply_the_features_that_are_older_than_features() {
        let legacy = |reader, writer| Protocol {
            min_reader_version: reader,
            min_writer_version: writer,
            reader_features: None,
            writer_features: None,
        };
        assert!(legacy(1, 1).features().is_empty());
        assert_eq!(legacy(1, 2).features(), ["appendOnly", "invariants"]);
        assert!(!legacy(1, 5).supports(TableFeature::ColumnMapping));
        assert!(
            legacy(2, 5).supports(TableFeature::ColumnMapping)
                && legacy(1, 6).supports(TableFeature::IdentityColumns)
        );
        let listed = Protocol { writer_features: Some(vec!["x".into()]), ..legacy(1, 7) };
        assert_eq!(listed.features(), ["x"]);
        assert!(listed.supports_named("x") && !listed.supports(TableFeature::AppendOnly));
    }
}
