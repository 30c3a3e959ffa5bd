use std::fmt;

use crate::actions::ObjectPath;
use crate::store::{FileMeta, Location};

/// The kind of a file of `_delta_log`, by its name alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogFileKind {
    /// `n.json`.
    Commit,
    /// `x.y.compacted.json`: the commits from the version of the file to this one.
    Compacted {
        /// Last version that it covers.
        end: u64,
    },
    /// `n.checkpoint.parquet`, V1 or V2 inside.
    ClassicCheckpoint,
    /// `n.checkpoint.o.p.parquet`.
    MultiPartCheckpoint {
        /// Number of this part, from 1.
        part: u32,
        /// Number of parts.
        parts: u32,
    },
    /// `n.checkpoint.u.json` or `n.checkpoint.u.parquet`.
    UuidCheckpoint(CheckpointFormat),
    /// `n.crc`.
    Checksum,
}

/// Encoding of a checkpoint's top-level file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckpointFormat {
    /// One action a line.
    Json,
    /// One action a row.
    Parquet,
}

/// A file of the log. Names that the protocol does not know never become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// What it is.
    pub kind: LogFileKind,
    /// Version in the name; the first one of a compacted file.
    pub version: u64,
    /// Name in `_delta_log`.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Modification time, in milliseconds since the Unix epoch.
    pub modified: i64,
}

impl LogFile {
    /// Classifies a listed file; `None` for anything that is not part of the protocol.
    pub fn classify(file: FileMeta) -> Option<Self> {
        let (version, kind) = parse(&file.name)?;
        Some(LogFile { kind, version, name: file.name, size: file.size, modified: file.modified })
    }

    /// Whether it is a checkpoint or a part of one.
    pub fn is_checkpoint(&self) -> bool {
        matches!(
            self.kind,
            LogFileKind::ClassicCheckpoint
                | LogFileKind::MultiPartCheckpoint { .. }
                | LogFileKind::UuidCheckpoint(_)
        )
    }
}

impl fmt::Display for LogFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// File name of a commit.
pub fn commit_name(version: u64) -> String {
    format!("{version:020}.json")
}

/// Place of the commit of a version.
pub fn commit_path(location: &Location, version: u64) -> ObjectPath {
    location.log_dir().join(&commit_name(version))
}

fn digits<T: std::str::FromStr>(text: &str, width: usize) -> Option<T> {
    (text.len() == width && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn parse(name: &str) -> Option<(u64, LogFileKind)> {
    let mut parts = name.split('.');
    // the versions of the protocol are signed
    let version = digits(parts.next()?, 20).filter(|version| i64::try_from(*version).is_ok())?;
    let rest: Vec<&str> = parts.collect();
    let kind = match rest.as_slice() {
        ["json"] => LogFileKind::Commit,
        ["crc"] => LogFileKind::Checksum,
        ["checkpoint", "parquet"] => LogFileKind::ClassicCheckpoint,
        ["checkpoint", id, "json"] if is_uuid(id) => LogFileKind::UuidCheckpoint(CheckpointFormat::Json),
        ["checkpoint", id, "parquet"] if is_uuid(id) => {
            LogFileKind::UuidCheckpoint(CheckpointFormat::Parquet)
        }
        ["checkpoint", part, parts, "parquet"] => {
            let (part, parts) = (digits(part, 10)?, digits(parts, 10)?);
            if part == 0 || part > parts {
                return None;
            }
            LogFileKind::MultiPartCheckpoint { part, parts }
        }
        [end, "compacted", "json"] => {
            let end = digits(end, 20)?;
            if end < version || i64::try_from(end).is_err() {
                return None;
            }
            LogFileKind::Compacted { end }
        }
        _ => return None,
    };
    Some((version, kind))
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_protocol_are_known() {
        let v = "00000000000000000010";
        let id = "80a083e8-7026-4e79-81be-64bd76c43a11";
        let cases = [
            (format!("{v}.json"), LogFileKind::Commit),
            (format!("{v}.crc"), LogFileKind::Checksum),
            (format!("{v}.checkpoint.parquet"), LogFileKind::ClassicCheckpoint),
            (format!("{v}.checkpoint.{id}.json"), LogFileKind::UuidCheckpoint(CheckpointFormat::Json)),
            (format!("{v}.checkpoint.{id}.parquet"), LogFileKind::UuidCheckpoint(CheckpointFormat::Parquet)),
            (
                format!("{v}.checkpoint.0000000002.0000000003.parquet"),
                LogFileKind::MultiPartCheckpoint { part: 2, parts: 3 },
            ),
            (format!("{v}.00000000000000000012.compacted.json"), LogFileKind::Compacted { end: 12 }),
        ];
        for (name, kind) in cases {
            assert_eq!(parse(&name), Some((10, kind)), "{name}");
        }
    }

    #[test]
    fn t25_anything_else_is_not_part_of_the_log() {
        for name in [
            "_last_checkpoint",
            "0.json",
            "00000000000000000010.json.tmp",
            ".00000000000000000010.json.crc",
            "00000000000000000010.checkpoint.0000000004.0000000003.parquet",
            "00000000000000000010.checkpoint.0000000000.0000000003.parquet",
            "00000000000000000010.checkpoint.not-a-uuid.parquet",
            "00000000000000000010.80a083e8-7026-4e79-81be-64bd76c43a11.json",
            "99999999999999999999.json",
            "18446744073709551615.json",
        ] {
            assert_eq!(parse(name), None, "{name}");
        }
    }
}
