//! An error and its condition.

use super::condition::{
    Condition, OF_KINDS, SOURCE_IGNORE_DELETE, SOURCE_TABLE_IGNORE_CHANGES,
    TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION, TIMESTAMP_GREATER_THAN_COMMIT, TRUNCATED_TRANSACTION_LOG,
    UNSUPPORTED_FEATURES_FOR_READ, UNSUPPORTED_FEATURES_FOR_WRITE,
};
use super::fact::Fact;
use super::kinds::{Error, Given};

impl Error {
    /// The same error with its condition; `parameters` are those that no fact of the error fills. What the condition does
    /// not have is left out, so that one place can name several.
    pub fn named<P: Into<String>>(
        self,
        condition: &'static Condition,
        parameters: impl IntoIterator<Item = (&'static str, P)>,
    ) -> Self {
        let has = |name: &str| condition.parameters.iter().any(|(own, _)| *own == name);
        let given = parameters.into_iter().filter(|(name, _)| has(name));
        let parameters = given.map(|(name, value)| (name, value.into())).collect();
        let error = match self {
            Error::Named(given) => given.error,
            plain => plain,
        };
        Error::Named(Box::new(Given { error, condition, parameters }))
    }

    /// The same error with a condition that its facts fill.
    pub fn of_condition(self, condition: &'static Condition) -> Self {
        self.named(condition, [("", ""); 0])
    }

    /// The error itself, of the kind that it is, where the place that raised it gave a condition.
    pub fn plain(&self) -> &Self {
        match self {
            Error::Named(given) => &given.error,
            plain => plain,
        }
    }

    /// Its condition, if delta-spark has one for it.
    pub fn condition(&self) -> Option<&'static Condition> {
        match self {
            Error::Named(given) => Some(given.condition),
            // for these kinds a fact decides
            Error::LogGap { version: 0, .. } => Some(&TRUNCATED_TRANSACTION_LOG),
            Error::SourceRowsChanged { what, .. } => match what.as_str() {
                "changes" => Some(&SOURCE_TABLE_IGNORE_CHANGES),
                _ => Some(&SOURCE_IGNORE_DELETE),
            },
            Error::TimestampOutOfRange { timestamp, earliest, .. } => {
                // years of five digits begin with a sign
                match timestamp < earliest && !timestamp.starts_with('+') {
                    true => Some(&TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION),
                    false => Some(&TIMESTAMP_GREATER_THAN_COMMIT),
                }
            }
            Error::UnsupportedFeature { role, .. } => match *role {
                "reader" => Some(&UNSUPPORTED_FEATURES_FOR_READ),
                _ => Some(&UNSUPPORTED_FEATURES_FOR_WRITE),
            },
            plain => OF_KINDS.iter().find(|(kind, _)| *kind == plain.kind()).and_then(|(_, of)| *of),
        }
    }

    /// The parameters that the raising code gave besides the condition.
    pub fn given_parameters(&self) -> &[(&'static str, String)] {
        match self {
            Error::Named(given) => &given.parameters,
            _ => &[],
        }
    }

    /// The parameters of its condition that are known, by name.
    pub fn message_parameters(&self) -> Vec<(&'static str, String)> {
        let facts = self.facts();
        let given = self.given_parameters();
        let value = |parameter: &str, fact: Option<&str>| {
            let own = given.iter().find(|(name, _)| *name == parameter).map(|(_, value)| value.clone());
            own.or_else(|| {
                facts.iter().find(|(name, _)| Some(*name) == fact).and_then(|(_, fact)| text(fact))
            })
        };
        let parameters = self.condition().map_or(&[][..], |condition| condition.parameters);
        parameters.iter().filter_map(|(name, fact)| Some((*name, value(name, *fact)?))).collect()
    }
}

fn text(fact: &Fact) -> Option<String> {
    match fact {
        Fact::Text(text) => Some(text.clone()),
        Fact::Number(number) => Some(number.to_string()),
        Fact::Names(names) => Some(names.join(", ")),
        Fact::Absent => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::condition::{
        CANNOT_RESTORE_TABLE_VERSION, ILLEGAL_OPTION, VERSION_NOT_FOUND, VERSIONS_NOT_CONTIGUOUS,
    };

    #[test]
    fn facts_fill_the_parameters_of_a_condition() {
        let error = Error::VersionNotFound { path: "t".into(), version: 9, earliest: 2, latest: 5 };
        assert_eq!(error.condition(), Some(&VERSION_NOT_FOUND));
        let of = |pairs: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
            pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
        };
        assert_eq!(
            error.message_parameters(),
            of(&[("userVersion", "9"), ("earliest", "2"), ("latest", "5")])
        );
        let restored = error.of_condition(&CANNOT_RESTORE_TABLE_VERSION);
        assert_eq!(restored.kind(), "VersionNotFound");
        let parameters = of(&[("version", "9"), ("startVersion", "2"), ("endVersion", "5")]);
        assert_eq!(restored.message_parameters(), parameters);
    }

    #[test]
    fn a_fact_tells_which_condition_it_is() {
        let gap = |version| Error::LogGap { path: "t".into(), version, missing: String::new() };
        assert_eq!(gap(0).condition(), Some(&TRUNCATED_TRANSACTION_LOG));
        assert_eq!(gap(1).condition(), Some(&VERSIONS_NOT_CONTIGUOUS));
        let needs = |role| Error::UnsupportedFeature {
            path: "t".into(),
            role,
            features: vec!["a".into(), "b".into()],
            supported: Vec::new(),
        };
        assert_eq!(needs("reader").condition(), Some(&UNSUPPORTED_FEATURES_FOR_READ));
        assert_eq!(needs("writer").condition(), Some(&UNSUPPORTED_FEATURES_FOR_WRITE));
        let parameters = needs("reader").message_parameters();
        assert!(parameters.contains(&("unsupported", "a, b".to_owned())), "{parameters:?}");
        let at = |timestamp: &str| Error::TimestampOutOfRange {
            path: "t".into(),
            timestamp: timestamp.into(),
            earliest: "2026-01-01T00:00:00.000Z".into(),
            earliest_version: 0,
            latest: "2026-02-01T00:00:00.000Z".into(),
            latest_version: 1,
        };
        assert_eq!(
            at("1999-01-01T00:00:00.000Z").condition(),
            Some(&TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION)
        );
        for late in ["2999-01-01T00:00:00.000Z", "+10000-01-01T00:00:00.000Z"] {
            assert_eq!(at(late).condition(), Some(&TIMESTAMP_GREATER_THAN_COMMIT));
        }
    }

    #[test]
    fn the_place_that_raises_gives_what_no_fact_tells() {
        let error = Error::InvalidArgument { argument: "p".into(), reason: "wrong".into() };
        assert_eq!((error.condition(), error.message_parameters()), (None, Vec::new()));
        let text = error.to_string();
        let named = error.named(&ILLEGAL_OPTION, [("input", "maybe")]);
        assert_eq!((named.to_string(), named.kind()), (text, "InvalidArgument"));
        let parameters = vec![("input", "maybe".to_owned()), ("name", "p".to_owned())];
        assert_eq!(named.message_parameters(), parameters);
    }
}
