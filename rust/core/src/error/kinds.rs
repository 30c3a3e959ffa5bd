//! The one error type. Every variant is a fact: what was read, what was found, and what to do about it.

use std::sync::Arc;

use super::condition::Condition;
use super::conflict::{Conflict, ConflictKind};
use super::fact::AsFact;
pub(super) use super::fact::Fact;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. Each variant is one Python class of `deltaic.exceptions` (see [`Error::kind`]).
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No Delta log at the location.
    #[error("no Delta table at `{path}`: `_delta_log` holds neither a commit nor a checkpoint")]
    TableNotFound {
        /// Table location.
        path: String,
    },
    /// A table is already there and the operation must create one.
    #[error("a Delta table already exists at `{path}` (version {version})")]
    TableAlreadyExists {
        /// Table location.
        path: String,
        /// Its newest version.
        version: u64,
    },
    /// The version asked for is not in the log, or can no longer be rebuilt from it.
    #[error("version {version} of `{path}` is not available: the log offers versions {earliest} to {latest}")]
    VersionNotFound {
        /// Table location.
        path: String,
        /// Version asked for.
        version: u64,
        /// Oldest version that can be rebuilt.
        earliest: u64,
        /// Newest version.
        latest: u64,
    },
    /// The timestamp asked for is before the first or after the last commit.
    #[error(
        "timestamp {timestamp} of `{path}` is not available: the log offers {earliest} (version {earliest_version}) to {latest} (version {latest_version})"
    )]
    TimestampOutOfRange {
        /// Table location.
        path: String,
        /// Timestamp asked for, RFC 3339.
        timestamp: String,
        /// Timestamp of the oldest version that can be rebuilt.
        earliest: String,
        /// That version.
        earliest_version: u64,
        /// Timestamp of the newest version.
        latest: String,
        /// That version.
        latest_version: u64,
    },
    /// A version or timestamp that cannot be parsed, or two that contradict each other.
    #[error("time travel of `{path}`: {reason}")]
    InvalidTimeTravel {
        /// Table location.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The change data feed was off in a version of the range.
    #[error(
        "the changes of versions {start} to {end} of `{path}` are not there: version {version} was committed with the \
         change data feed off (`delta.enableChangeDataFeed`). See the history for when it was enabled"
    )]
    ChangesNotRecorded {
        /// Table location.
        path: String,
        /// First version of the range.
        start: u64,
        /// Last version of the range.
        end: u64,
        /// First version whose changes are not recorded.
        version: u64,
    },
    /// The changes of a range of versions have no schema in common.
    #[error(
        "the changes of versions {start} to {end} of `{path}` cannot be read with the schema of version {read_version}: \
         version {version} has another one ({reason}). Read the versions before and after such a change one by one"
    )]
    ChangesSchemaMismatch {
        /// Table location.
        path: String,
        /// First version of the range.
        start: u64,
        /// Last version of the range.
        end: u64,
        /// Version with a schema that does not fit.
        version: u64,
        /// Version whose schema the changes are read with.
        read_version: u64,
        /// What differs.
        reason: String,
    },
    /// Commits are missing between two that exist.
    #[error("the log of `{path}` has a gap: `{missing}` is missing, and no checkpoint covers it")]
    LogGap {
        /// Table location.
        path: String,
        /// First missing version.
        version: u64,
        /// File name of the first missing commit.
        missing: String,
    },
    /// A log file is torn, empty or against the protocol. It is never skipped: its content may matter.
    #[error("log file `{path}`{} is corrupt: {reason}", version.map(|v| format!(" (version {v})")).unwrap_or_default())]
    LogCorrupt {
        /// The file.
        path: String,
        /// Its version, if the name shows it.
        version: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// The log holds no protocol or no metadata action.
    #[error("the log of `{path}` up to version {version} has no `{action}` action")]
    MissingAction {
        /// Table location.
        path: String,
        /// Version that was replayed.
        version: u64,
        /// `protocol` or `metaData`.
        action: &'static str,
    },
    /// The table needs features that this reader or writer does not have.
    #[error(
        "`{path}` needs {role} features that deltaic does not support: {}. Supported: {}",
        features.join(", "),
        supported.join(", ")
    )]
    UnsupportedFeature {
        /// Table location.
        path: String,
        /// `reader` or `writer`.
        role: &'static str,
        /// Unsupported features by name.
        features: Vec<String>,
        /// What this role supports.
        supported: Vec<String>,
    },
    /// Something that the protocol allows and deltaic does not do (yet), by name.
    #[error("`{path}`: {what} is not supported")]
    Unsupported {
        /// Table or file location.
        path: String,
        /// What is not supported.
        what: String,
    },
    /// A path that is not inside the table: of a write or delete, or of a read that the option `allowed_locations` refuses.
    #[error("`{table}`: {operation} of `{path}` is refused: {reason}")]
    OutsideTable {
        /// Path of the file.
        path: String,
        /// Table location.
        table: String,
        /// What was to be done.
        operation: &'static str,
        /// Why it is not inside.
        reason: String,
    },
    /// A schema string, type or column that breaks the rules.
    #[error("schema: {reason}")]
    InvalidSchema {
        /// What is wrong.
        reason: String,
    },
    /// Data that does not fit the table's schema.
    #[error("the data does not fit the table `{path}`: {reason}")]
    SchemaMismatch {
        /// Table location.
        path: String,
        /// Both schemas and the columns that differ.
        reason: String,
    },
    /// The table has another schema than the one that the plan of a query was made for.
    #[error(
        "the schema of `{path}` has changed since the query was analysed: {columns}. Build the query again"
    )]
    SchemaChanged {
        /// Table location.
        path: String,
        /// The columns that differ, and how.
        columns: String,
    },
    /// A row that the condition of an overwrite (`replaceWhere`) does not match: the next overwrite would not replace it.
    #[error(
        "a row of the data for `{path}` does not match `{predicate}`, which the overwrite replaces: {row}"
    )]
    ReplaceWhereMismatch {
        /// Table location.
        path: String,
        /// The condition.
        predicate: String,
        /// The columns of the condition in the first such row.
        row: String,
    },
    /// A predicate that names an unknown column, or that cannot be evaluated as asked.
    #[error("predicate `{predicate}`: {reason}")]
    InvalidPredicate {
        /// The predicate, as text.
        predicate: String,
        /// What is wrong.
        reason: String,
    },
    /// An SQL expression that cannot be parsed, that is not supported, or that has no value for a row: an overflow, a cast
    /// that fails, a division by zero.
    #[error("expression `{expression}`: {reason}")]
    InvalidExpression {
        /// The expression, as text.
        expression: String,
        /// What is wrong.
        reason: String,
    },
    /// A row that breaks a rule of the table. The write did not change the table.
    #[error("a row breaks the {rule} of `{path}`: `{expression}` does not hold for {row}")]
    InvariantViolation {
        /// Table location.
        path: String,
        /// `CHECK constraint name`, `invariant of column name` …
        rule: String,
        /// The expression of the rule.
        expression: String,
        /// The columns that the rule reads, with the values of one such row.
        row: String,
    },
    /// An argument that makes no sense.
    #[error("{argument}: {reason}")]
    InvalidArgument {
        /// Name of the argument.
        argument: String,
        /// The problem, and the valid values.
        reason: String,
    },
    /// A change of a column that the table, or the protocol, does not allow.
    #[error("column `{column}`: {reason}")]
    InvalidColumnChange {
        /// Path of the column.
        column: String,
        /// The obstacle, and what to do.
        reason: String,
    },
    /// A table feature that cannot be added or dropped, or that the protocol would lack.
    #[error("table feature `{feature}`: {reason}")]
    InvalidFeatureChange {
        /// Name of the feature.
        feature: String,
        /// The obstacle, and what to do.
        reason: String,
    },
    /// A table feature that versions in the log still show, so that it cannot be dropped yet. The newest version no longer
    /// uses it.
    #[error(
        "table feature `{feature}` of `{path}` cannot be dropped yet: versions of the log before {clean_from} still use it, and \
         the history is kept for {retention}. Drop it again after {come_again}"
    )]
    FeatureInHistory {
        /// Table location.
        path: String,
        /// Name of the feature.
        feature: String,
        /// The first version from which on no version shows it.
        clean_from: u64,
        /// How long the history is kept, by the property that says so.
        retention: String,
        /// When the history may be truncated up to that version, RFC 3339.
        come_again: String,
    },
    /// A data file that the log lists is missing or unreadable.
    #[error("data file `{path}`: {reason}")]
    DataFile {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A deletion vector that is missing, torn or inconsistent. Never read as "nothing deleted".
    #[error("deletion vector `{path}`: {reason}")]
    DeletionVector {
        /// The file, or `inline`.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// Rows cannot be removed from an append-only table.
    #[error(
        "`{path}` is append-only (`delta.appendOnly`), but {} to be removed",
        file.as_deref().map_or_else(|| "rows were".to_owned(), |f| format!("the rows of `{f}` were"))
    )]
    AppendOnly {
        /// Table location.
        path: String,
        /// File that was to be removed; none where no file was looked at.
        file: Option<String>,
    },
    /// Several rows of the source of a merge match one row of the table, or those of an upsert have one key.
    #[error(
        "`{path}`: several rows of the source match one row: {}. Give the source one row for each",
        rows.join("; ")
    )]
    MultipleMatches {
        /// Table location.
        path: String,
        /// Some of the rows of the table, or the keys.
        rows: Vec<String>,
    },
    /// An action that a commit must not hold.
    #[error("a commit to `{path}` must not hold `{action}`: {reason}")]
    InvalidAction {
        /// Table location.
        path: String,
        /// File, application or domain of the action.
        action: String,
        /// Rule that it breaks.
        reason: String,
    },
    /// A commit removed or changed rows of a table that a stream reads, which only passes on new rows.
    #[error(
        "version {version} of `{path}` {what} rows that the stream has emitted already ({cause}). Set the option \
         `{option}` to true to skip such commits, or start the query with a new checkpoint"
    )]
    SourceRowsChanged {
        /// Table location.
        path: String,
        /// Version of the commit.
        version: u64,
        /// `removes` or `changes`.
        what: String,
        /// Operation of the commit, or a file that it removes.
        cause: String,
        /// Option that skips such commits.
        option: String,
    },
    /// The schema or the partitioning of a table changed while a stream reads it.
    #[error("version {version} of `{path}` cannot be read with the schema of the stream: {reason}")]
    SourceSchemaChanged {
        /// Table location.
        path: String,
        /// Version of the commit, or the one where the stream continues.
        version: u64,
        /// What changed, and whether the query can be started again as it is.
        reason: String,
    },
    /// A commit that a stream must read next is not in the log any more.
    #[error(
        "`{missing}`, which the stream must read next, is not in the log of `{path}`: rows may be lost. Start the query with \
         a new checkpoint, or set the option `failOnDataLoss` to false to continue with the versions that exist"
    )]
    SourceDataLost {
        /// Table location.
        path: String,
        /// Version of the commit.
        version: u64,
        /// Its file name.
        missing: String,
    },
    /// Where a stream read a table, another one is now.
    #[error(
        "`{path}` is another table now (id {found}) than the one that the stream reads (id {expected}): start the query with \
         a new checkpoint"
    )]
    SourceReplaced {
        /// Table location.
        path: String,
        /// Id in the offset.
        expected: String,
        /// Id of the current table.
        found: String,
    },
    /// An offset of a stream that cannot be used.
    #[error("offset {offset}: {reason}")]
    InvalidOffset {
        /// The offset as JSON.
        offset: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Another writer added rows that this transaction should have read, or a file that it adds too.
    #[error("{0}")]
    ConcurrentAppend(Box<Conflict>),
    /// Another writer removed rows that this transaction read.
    #[error("{0}")]
    ConcurrentDeleteRead(Box<Conflict>),
    /// Another writer removed or rewrote a file that this transaction removes or rewrites.
    #[error("{0}")]
    ConcurrentDeleteDelete(Box<Conflict>),
    /// Another writer recorded the application transaction or the metadata domain that this transaction depends on.
    #[error("{0}")]
    ConcurrentTransaction(Box<Conflict>),
    /// Other writers won every race until the time for the commit was used up, or one of them was before a commit that
    /// depends on all that the table is.
    #[error("{0}")]
    ConcurrentWrite(Box<Conflict>),
    /// Another writer changed schema, partition columns or properties.
    #[error("{0}")]
    MetadataChanged(Box<Conflict>),
    /// Another writer changed the protocol.
    #[error("{0}")]
    ProtocolChanged(Box<Conflict>),
    /// The store gave no clear answer to the commit, and reading back gave none either. Nothing was removed.
    #[error(
        "whether version {version} of `{path}` was committed is unknown: {reason}. Check the log before you write again"
    )]
    CommitStateUnknown {
        /// Table location.
        path: String,
        /// Version that was attempted.
        version: u64,
        /// Answer of the store.
        reason: String,
    },
    /// Who gives the credentials of a store, a function or a class of Hadoop, gave none.
    #[error("no credentials for `{store}`: {reason}")]
    Credentials {
        /// The store: `s3://bucket`.
        store: String,
        /// What was raised, or what is missing.
        reason: String,
    },
    /// The store refused or failed.
    #[error("{operation} `{path}`: {source}")]
    Storage {
        /// `list`, `get`, `put`, `delete` …
        operation: &'static str,
        /// The object.
        path: String,
        /// Cause.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// The object does not exist. It is not an [`Error::Storage`] because callers act on it.
    #[error("`{path}` does not exist")]
    NotFound {
        /// The object.
        path: String,
    },
    /// An Arrow computation failed: a bug or an overflow, never bad input alone.
    #[error("{context}: {source}")]
    Arrow {
        /// What was being done.
        context: String,
        /// Cause.
        source: Arc<arrow::error::ArrowError>,
    },
    /// The caller asked to stop (Ctrl-C).
    #[error("interrupted")]
    Interrupted,
    /// A panic: a bug of deltaic or of a library below it, never bad input alone.
    #[error("internal error in `{operation}`: {reason}. This is a bug of deltaic: please report it")]
    Internal {
        /// What was being done.
        operation: String,
        /// The message of the panic.
        reason: String,
    },
    /// Another error, of which the place that raised it knows the condition (see [`Error::named`]).
    #[error("{}", .0.error)]
    Named(Box<Given>),
}

/// A condition that the raising code gave, with parameters that no fact has.
#[derive(Debug, Clone)]
pub struct Given {
    /// The error.
    pub error: Error,
    /// Its condition.
    pub condition: &'static Condition,
    /// Parameters by name.
    pub parameters: Vec<(&'static str, String)>,
}

/// The one table of kinds and fields. The compiler checks that it is complete: a variant or field that is not in it is
/// an error. Conflicts have the fields of [`Conflict`].
macro_rules! kinds {
    (facts { $($kind:ident { $($field:ident),* }),* $(,)? } conflicts { $($conflict:ident),* $(,)? }) => {
        impl Error {
            /// Every kind with the names of its fields.
            pub const KINDS: &'static [(&'static str, &'static [&'static str])] = &[
                $((stringify!($kind), &[$(stringify!($field)),*] as &[&str]),)*
                $((stringify!($conflict), &Conflict::FIELDS),)*
            ];

            /// The kind in one word: the name of the Python class without the suffix `Error`, and a stable key for
            /// programs.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Error::$kind { .. } => stringify!($kind),)*
                    $(Error::$conflict(_) => stringify!($conflict),)*
                    Error::Named(given) => given.error.kind(),
                }
            }

            /// The fields by name.
            pub fn facts(&self) -> Vec<(&'static str, Fact)> {
                match self {
                    $(Error::$kind { $($field),* } => vec![$((stringify!($field), $field.as_fact())),*],)*
                    $(Error::$conflict(conflict) => conflict.facts(),)*
                    Error::Named(given) => given.error.facts(),
                }
            }

            /// The facts of a commit that lost against another writer.
            pub fn conflict(&self) -> Option<&Conflict> {
                match self {
                    $(Error::$conflict(conflict) => Some(conflict),)*
                    Error::Named(given) => given.error.conflict(),
                    _ => None,
                }
            }

            /// A commit that lost.
            pub(crate) fn lost(kind: ConflictKind, conflict: Conflict) -> Self {
                match kind {
                    $(ConflictKind::$conflict => Error::$conflict(Box::new(conflict)),)*
                }
            }
        }
    };
}

kinds! {
    facts {
        TableNotFound { path },
        TableAlreadyExists { path, version },
        VersionNotFound { path, version, earliest, latest },
        TimestampOutOfRange { path, timestamp, earliest, earliest_version, latest, latest_version },
        InvalidTimeTravel { path, reason },
        ChangesNotRecorded { path, start, end, version },
        ChangesSchemaMismatch { path, start, end, version, read_version, reason },
        LogGap { path, version, missing },
        LogCorrupt { path, version, reason },
        MissingAction { path, version, action },
        UnsupportedFeature { path, role, features, supported },
        Unsupported { path, what },
        OutsideTable { path, table, operation, reason },
        InvalidSchema { reason },
        SchemaMismatch { path, reason },
        SchemaChanged { path, columns },
        ReplaceWhereMismatch { path, predicate, row },
        InvalidPredicate { predicate, reason },
        InvalidExpression { expression, reason },
        InvariantViolation { path, rule, expression, row },
        InvalidArgument { argument, reason },
        InvalidColumnChange { column, reason },
        InvalidFeatureChange { feature, reason },
        FeatureInHistory { path, feature, clean_from, retention, come_again },
        DataFile { path, reason },
        DeletionVector { path, reason },
        AppendOnly { path, file },
        MultipleMatches { path, rows },
        InvalidAction { path, action, reason },
        SourceRowsChanged { path, version, what, cause, option },
        SourceSchemaChanged { path, version, reason },
        SourceDataLost { path, version, missing },
        SourceReplaced { path, expected, found },
        InvalidOffset { offset, reason },
        CommitStateUnknown { path, version, reason },
        Credentials { store, reason },
        Storage { operation, path, source },
        NotFound { path },
        Arrow { context, source },
        Interrupted {},
        Internal { operation, reason },
    }
    conflicts {
        ConcurrentAppend,
        ConcurrentDeleteDelete,
        ConcurrentDeleteRead,
        ConcurrentTransaction,
        ConcurrentWrite,
        MetadataChanged,
        ProtocolChanged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_an_error_is_a_fact() {
        let error = Error::VersionNotFound { path: "t".into(), version: 9, earliest: 2, latest: 5 };
        assert_eq!(error.kind(), "VersionNotFound");
        let facts = error.facts();
        assert_eq!(facts[0], ("path", Fact::Text("t".into())));
        assert_eq!(facts[3], ("latest", Fact::Number(5)));
        let kind = Error::KINDS.iter().find(|(kind, _)| *kind == "VersionNotFound").unwrap();
        assert_eq!(kind.1, facts.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        assert_eq!(Error::corrupt("f", None, "torn").facts()[1], ("version", Fact::Absent));
    }
}
