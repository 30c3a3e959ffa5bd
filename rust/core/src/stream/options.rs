use std::collections::BTreeMap;

use regex::Regex;

use super::admission::ReadLimit;
use super::tracking::TrackingOptions;
use crate::error::{Error, Result, condition};
use crate::expr::java_regex;
use crate::properties::parse_byte_size;

/// Files of a batch where the stream does not say.
const MOST_FILES: u64 = 1000;

/// Where a stream without a checkpoint begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Start {
    /// With the table as it is, then with what is added.
    #[default]
    Table,
    /// With what the commit of this version adds.
    Version(u64),
    /// With what is added from now on.
    Latest,
    /// With the first commit at or after this time, in milliseconds since the Unix epoch.
    Timestamp(i64),
}

/// The options of a stream, by the names of delta-spark.
#[derive(Debug, Clone)]
pub struct SourceOptions {
    /// `startingVersion`, `startingTimestamp`.
    pub start: Start,
    /// `maxFilesPerTrigger`.
    pub max_files: Option<u64>,
    /// `maxBytesPerTrigger`.
    pub max_bytes: Option<u64>,
    /// `ignoreDeletes`: commits that only remove rows are skipped.
    pub ignore_deletes: bool,
    /// `ignoreChanges` (and `ignoreFileDeletion`): all added files of commits that change rows are read, so that
    /// unchanged rows may come again.
    pub ignore_changes: bool,
    /// `skipChangeCommits`: commits that remove or change rows are skipped.
    pub skip_change_commits: bool,
    /// `failOnDataLoss`: a missing commit is an error.
    pub fail_on_data_loss: bool,
    /// `excludeRegex`: files whose path, as the log has it, has a match are left out.
    pub exclude: Option<Regex>,
    /// Whether a start after the newest version is allowed, as in delta-spark by
    /// `spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled`.
    pub allow_out_of_range: bool,
    /// `schemaTrackingLocation` and what belongs to it.
    pub tracking: TrackingOptions,
}

impl Default for SourceOptions {
    fn default() -> Self {
        SourceOptions {
            start: Start::Table,
            max_files: None,
            max_bytes: None,
            ignore_deletes: false,
            ignore_changes: false,
            skip_change_commits: false,
            fail_on_data_loss: true,
            exclude: None,
            allow_out_of_range: false,
            tracking: TrackingOptions::default(),
        }
    }
}

/// Options that would change the rows of a stream, and that are not supported yet.
const UNSUPPORTED: [&str; 4] = ["readChangeFeed", "readChangeData", "endingVersion", "endingTimestamp"];

impl SourceOptions {
    /// From text; names are compared without case, and unknown names are ignored. `start_time` is the value of
    /// `startingTimestamp` in milliseconds since the Unix epoch, none where it is not a timestamp.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a value that makes no sense; [`Error::Unsupported`] for an option by its name.
    pub fn parse(path: &str, given: &BTreeMap<String, String>, start_time: Option<i64>) -> Result<Self> {
        let given: BTreeMap<String, &str> =
            given.iter().map(|(name, value)| (name.to_lowercase(), value.trim())).collect();
        let find = |name: &str| given.get(&name.to_lowercase()).copied();
        for name in UNSUPPORTED {
            if find(name).is_some_and(|value| !value.eq_ignore_ascii_case("false")) {
                let what = format!("the option `{name}` of a stream");
                return Err(Error::Unsupported { path: path.to_owned(), what });
            }
        }
        for name in ["versionAsOf", "timestampAsOf"] {
            if find(name).is_some() {
                return Err(invalid(
                    name,
                    "a stream follows the table; set startingVersion for its start".into(),
                )
                .of_condition(&condition::UNSUPPORTED_TIME_TRAVEL_VIEWS));
            }
        }
        Ok(SourceOptions {
            start: start(find("startingVersion"), find("startingTimestamp"), start_time)?,
            max_files: find("maxFilesPerTrigger").map(most_files).transpose()?,
            max_bytes: find("maxBytesPerTrigger").map(most_bytes).transpose()?,
            ignore_deletes: switch("ignoreDeletes", find("ignoreDeletes"), false)?,
            ignore_changes: switch("ignoreChanges", find("ignoreChanges"), false)?
                || switch("ignoreFileDeletion", find("ignoreFileDeletion"), false)?,
            skip_change_commits: switch("skipChangeCommits", find("skipChangeCommits"), false)?,
            fail_on_data_loss: switch("failOnDataLoss", find("failOnDataLoss"), true)?,
            exclude: find("excludeRegex")
                .map(|v| java_regex(v).map_err(|reason| no_pattern("excludeRegex", reason)))
                .transpose()?,
            allow_out_of_range: false,
            tracking: TrackingOptions::parse(find),
        })
    }

    /// In a session with these settings (names without `spark.databricks.delta.`), for the query whose source has this part
    /// of a checkpoint; without one the query is only made.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an option that a setting forbids.
    pub fn in_session(
        mut self,
        path: &str,
        settings: &BTreeMap<String, String>,
        metadata_path: Option<String>,
    ) -> Result<Self> {
        let said = settings.get("changeDataFeed.timestampOutOfRange.enabled");
        self.allow_out_of_range = said.is_some_and(|said| said.eq_ignore_ascii_case("true"));
        self.tracking = self.tracking.in_session(path, settings, metadata_path)?;
        Ok(self)
    }

    /// The limits of a batch if the trigger leaves them to the source: `maxFilesPerTrigger` and `maxBytesPerTrigger`, 1000
    /// files without both.
    pub fn limit(&self) -> ReadLimit {
        let files = self.max_files.or_else(|| self.max_bytes.is_none().then_some(MOST_FILES));
        ReadLimit::Most { files, bytes: self.max_bytes }
    }
}

fn start(version: Option<&str>, timestamp: Option<&str>, millis: Option<i64>) -> Result<Start> {
    match (version, timestamp, millis) {
        (Some(_), Some(_), _) => {
            Err(invalid("startingVersion", "give this or startingTimestamp, not both".into())
                .of_condition(&condition::STARTING_VERSION_AND_TIMESTAMP_BOTH_SET))
        }
        (Some(v), None, _) if v.eq_ignore_ascii_case("latest") => Ok(Start::Latest),
        (Some(v), None, _) => v.parse().map(Start::Version).map_err(|_| {
            let reason = format!("`{v}` is neither a version (a whole number from 0) nor `latest`");
            let parameters = [("input", v), ("explain", "must be greater than or equal to zero")];
            invalid("startingVersion", reason).named(&condition::ILLEGAL_OPTION, parameters)
        }),
        (None, Some(_), Some(millis)) => Ok(Start::Timestamp(millis)),
        (None, Some(text), None) => Err(invalid(
            "startingTimestamp",
            format!("`{text}` is not a timestamp: write 2026-01-31 or 2026-01-31 12:30:00"),
        )
        .named(&condition::TIMESTAMP_INVALID, [("expr", format!("'{text}'"))])),
        (None, None, _) => Ok(Start::Table),
    }
}

fn most_files(text: &str) -> Result<u64> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| {
        let parameters = [("input", text), ("explain", "must be a positive integer")];
        invalid("maxFilesPerTrigger", format!("`{text}` is not a whole number of at least 1"))
            .named(&condition::ILLEGAL_OPTION, parameters)
    })
}

fn most_bytes(text: &str) -> Result<u64> {
    let wrong = |reason| {
        let parameters = [("input", text), ("explain", "must be a size configuration such as '10g'")];
        invalid("maxBytesPerTrigger", reason).named(&condition::ILLEGAL_OPTION, parameters)
    };
    parse_byte_size(text).map_err(wrong)
}

fn no_pattern(option: &str, reason: String) -> Error {
    invalid(option, reason).named(&condition::REGEX_OPT_SYNTAX_ERROR, [("regExpOption", option)])
}

fn switch(name: &str, text: Option<&str>, unless: bool) -> Result<bool> {
    match text {
        None => Ok(unless),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        Some(text) => Err(invalid(name, format!("`{text}` is neither true nor false"))
            .named(&condition::ILLEGAL_OPTION, [("input", text), ("explain", "must be 'true' or 'false'")])),
    }
}

fn invalid(argument: &str, reason: String) -> Error {
    Error::InvalidArgument { argument: argument.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(given: &[(&str, &str)], time: Option<i64>) -> Result<SourceOptions> {
        let given = given.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        SourceOptions::parse("t", &given, time)
    }

    #[test]
    fn names_compare_without_case() {
        let options = parse(
            &[
                ("MAXBYTESPERTRIGGER", "10g"),
                ("startingversion", "latest"),
                ("IgnoreFileDeletion", "TRUE"),
                ("failondataloss", "false"),
                ("excluderegex", "^a.*b$"),
                ("whatever", "1"),
                ("readChangeFeed", "false"),
            ],
            None,
        )
        .unwrap();
        assert_eq!(options.limit(), ReadLimit::Most { files: None, bytes: Some(10 << 30) });
        assert_eq!(options.start, Start::Latest);
        assert!(options.ignore_changes && !options.fail_on_data_loss);
        assert!(options.exclude.unwrap().is_match("axb"));
        assert_eq!(parse(&[], None).unwrap().limit(), ReadLimit::Most { files: Some(1000), bytes: None });
        let timed = parse(&[("startingTimestamp", "2026-01-31")], Some(7)).unwrap();
        assert_eq!(timed.start, Start::Timestamp(7));
    }

    #[test]
    fn values_that_make_no_sense_are_named() {
        for (name, value) in [
            ("maxFilesPerTrigger", "0"),
            ("maxFilesPerTrigger", "many"),
            ("maxBytesPerTrigger", "-1"),
            ("startingVersion", "-1"),
            ("startingVersion", "newest"),
            ("startingTimestamp", "yesterday"),
            ("ignoreDeletes", "yes"),
            ("excludeRegex", "(?<"),
            ("versionAsOf", "3"),
        ] {
            let error = parse(&[(name, value)], None).unwrap_err();
            assert!(
                matches!(error.plain(), Error::InvalidArgument { argument, .. } if argument == name),
                "{error}"
            );
        }
        let both = parse(&[("startingVersion", "1"), ("startingTimestamp", "2026-01-31")], Some(1));
        assert_eq!(both.unwrap_err().kind(), "InvalidArgument");
        assert_eq!(parse(&[("readChangeFeed", "true")], None).unwrap_err().kind(), "Unsupported");
    }
}
