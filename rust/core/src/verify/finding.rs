//! What can be wrong with a table, as data.

use std::fmt;

/// The one table of kinds: name and what to do.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident => $advice:literal),* $(,)?) => {
        /// What is wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[$doc])* $kind,)*
        }

        impl FindingKind {
            /// All of them.
            pub const ALL: &'static [FindingKind] = &[$(FindingKind::$kind),*];

            /// The kind in one word, a stable key for programs.
            pub fn name(self) -> &'static str {
                match self {
                    $(FindingKind::$kind => stringify!($kind),)*
                }
            }

            /// What to do about it.
            pub fn advice(self) -> &'static str {
                match self {
                    $(FindingKind::$kind => $advice,)*
                }
            }
        }
    };
}

kinds! {
    /// A commit that must be there is not.
    MissingCommit => "restore the file from a backup or a version of the object; versions after it may lack changes",
    /// A commit is torn, empty or against the protocol.
    UnreadableCommit => "restore the file from a backup or a version of the object; never delete it",
    /// A commit has actions that contradict one another.
    ContradictoryCommit => "find the writer that made it; rewrite the files that it names in a new commit",
    /// The oldest version has no protocol or no metadata.
    MissingAction => "restore the log file that holds it",
    /// The table cannot be opened although each file of its log is whole by itself.
    UnreadableTable => "read the error for what is missing",
    /// A checkpoint, one of its parts or of its sidecars is missing or damaged.
    UnreadableCheckpoint => "delete the checkpoint while the commits before it exist, and write a new one",
    /// A checkpoint differs from the log before it.
    CheckpointDiffers => "delete the checkpoint while the commits before it exist, and write a new one",
    /// A compacted file is damaged.
    UnreadableCompactedFile => "delete the compacted file: the commits that it covers are the truth",
    /// A compacted file does not say what its commits say.
    CompactedFileDiffers => "delete the compacted file: the commits that it covers are the truth",
    /// A version checksum is damaged.
    UnreadableChecksum => "delete the checksum; the next commit or checkpoint writes another one",
    /// A version checksum does not say what the log says.
    ChecksumDiffers => "find out which of the two is wrong: if the log is intact, delete the checksum",
    /// `_last_checkpoint` is damaged.
    UnreadableHint => "delete `_last_checkpoint`; the next checkpoint writes another one",
    /// `_last_checkpoint` does not match the log.
    HintDiffers => "delete `_last_checkpoint`; the next checkpoint writes another one",
    /// A commit has no in-commit timestamp although the table has them, or it is not the first action.
    MissingTimestamp => "time travel by timestamp is not reliable around this version; find the writer that made it",
    /// An in-commit timestamp is not after the one before.
    TimestampNotMonotonic => "time travel by timestamp is not reliable around this version; find the writer that made it",
    /// A file has no row ids although the table has row tracking.
    MissingRowIds => "row ids of this file are unknown; find the writer that made it and rewrite the file",
    /// Two files have the same row ids.
    OverlappingRowIds => "rewrite one of the two files, so that its rows get fresh ids",
    /// A row id is above the high-water mark: the next writer would give it again.
    RowIdsAboveMark => "raise the high-water mark of the domain `delta.rowTracking` before the next write",
    /// An identity column has values beyond its high-water mark: the next writer would give them again.
    IdentityBeyondMark => "raise the high-water mark (SYNC IDENTITY) before the next write",
    /// The table makes use of a feature that its protocol does not have.
    MissingFeature => "add the feature to the table: clients without it read or write the table wrongly",
    /// A data file is missing.
    MissingFile => "restore the file, or remove it from the log (fsck)",
    /// A data file has another size than the log says.
    FileSizeDiffers => "restore the file: it was torn or overwritten",
    /// The file of a deletion vector is missing, or too short.
    MissingDeletionVector => "restore the file: without it nobody can tell which rows are deleted",
    /// A path, a deletion vector's name or statistics in an `add` cannot be understood.
    UnreadableAdd => "find the writer that made it; rewrite the file in a new commit",
    /// A partition value is missing or is no value of its column's type.
    PartitionValueInvalid => "find the writer that made it; rewrite the file in a new commit",
    /// A data file is damaged (deep).
    UnreadableFile => "restore the file: it was torn or overwritten",
    /// A data file has columns of types that the table does not have (deep).
    FileSchemaDiffers => "find the writer that made it; write its rows again in the types of the table",
    /// A data file has another number of rows than its statistics say (deep).
    RowCountDiffers => "rewrite the file, so that its statistics are computed again: counts and row ids are wrong",
    /// A value of a data file is outside of the bounds that its statistics give (deep).
    StatsNotBounds => "rewrite the file, so that its statistics are computed again: queries miss rows of it",
    /// A column of a data file has another number of nulls than its statistics say (deep).
    NullCountDiffers => "rewrite the file, so that its statistics are computed again: queries for nulls miss rows of it",
    /// A deletion vector is damaged, or is not one of its file (deep).
    InvalidDeletionVector => "restore the file: without it nobody can tell which rows are deleted",
}

/// One thing that is wrong with a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of thing.
    pub kind: FindingKind,
    /// Version at which it shows, where there is one.
    pub version: Option<u64>,
    /// The file: absolute for files of the log, as the log has it for data files.
    pub path: String,
    /// What should be.
    pub expected: String,
    /// What is.
    pub found: String,
}

impl Finding {
    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        self.kind.advice()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`", self.kind.name(), self.path)?;
        if let Some(version) = self.version {
            write!(f, " (version {version})")?;
        }
        write!(f, ": expected {}, found {}; {}", self.expected, self.found, self.advice())
    }
}

/// Something wrong with one file.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) kind: FindingKind,
    pub(crate) expected: String,
    pub(crate) found: String,
}
