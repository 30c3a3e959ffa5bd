use std::collections::{BTreeMap, BTreeSet};

use super::{Listing, LogFile, LogFileKind, commit_name};
use crate::error::{Error, Result};

/// A complete checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its version.
    pub version: u64,
    /// Its top-level files: one, or all parts in order.
    pub files: Vec<LogFile>,
}

/// The files that make up one version: a checkpoint (or none), and every commit after it without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSegment {
    /// Version that the segment gives.
    pub version: u64,
    /// Newest complete checkpoint at or before it.
    pub checkpoint: Option<Checkpoint>,
    /// Commits and compacted files after the checkpoint, oldest first; together they cover each version once.
    pub tail: Vec<LogFile>,
    /// Newest checksum file that is not older than the checkpoint.
    pub checksum: Option<LogFile>,
    /// The commit of [`LogSegment::version`], which the listing may no longer hold.
    pub last_commit: Option<LogFile>,
}

impl LogSegment {
    /// Selects the files of a version (the newest where `version` is none). `excluded` names checkpoint and compacted
    /// files that turned out to be broken. `None` when the listing has no table.
    ///
    /// # Errors
    /// [`Error::LogGap`] when commits are missing; [`Error::VersionNotFound`] when the version is after the newest
    /// one or cannot be rebuilt from what is listed.
    pub fn select(
        table: &str,
        listing: &Listing,
        version: Option<u64>,
        excluded: &BTreeSet<String>,
    ) -> Result<Option<Self>> {
        let files: Vec<&LogFile> = listing.files.iter().filter(|f| !excluded.contains(&f.name)).collect();
        let checkpoints = complete_checkpoints(&files);
        let newest_commit = files.iter().filter(|f| f.kind == LogFileKind::Commit).map(|f| f.version).max();
        let newest_checkpoint = checkpoints.last().map(|c| c.version);
        let Some(latest) = newest_commit.max(newest_checkpoint) else {
            return Ok(None);
        };
        let target = version.unwrap_or(latest);
        if target > latest {
            let earliest = earliest_version(&files, &checkpoints).unwrap_or(latest);
            return Err(Error::VersionNotFound { path: table.into(), version: target, earliest, latest });
        }
        let checkpoint = checkpoints.iter().rev().find(|c| c.version <= target).cloned();
        let first = checkpoint.as_ref().map_or(0, |c| c.version + 1);
        let tail = match cover(&files, first, target) {
            Ok(tail) => tail,
            Err(missing) => {
                let earliest = earliest_version(&files, &checkpoints).unwrap_or(latest);
                return Err(if version.is_some() && target < earliest {
                    Error::VersionNotFound { path: table.into(), version: target, earliest, latest }
                } else {
                    let (version, missing) = missing_part(&files, first, target)
                        .unwrap_or_else(|| (missing, commit_name(missing)));
                    Error::LogGap { path: table.into(), version, missing }
                });
            }
        };
        let checksum = files
            .iter()
            .rfind(|f| f.kind == LogFileKind::Checksum && f.version <= target && f.version + 1 >= first)
            .map(|f| (*f).clone());
        let last_commit =
            files.iter().find(|f| f.kind == LogFileKind::Commit && f.version == target).map(|f| (*f).clone());
        Ok(Some(LogSegment { version: target, checkpoint, tail, checksum, last_commit }))
    }

    /// The names of the files that repeat what commits say: those of the checkpoint and compacted ones.
    pub(crate) fn repeated(&self) -> Vec<String> {
        let compacted = self.tail.iter().filter(|f| matches!(f.kind, LogFileKind::Compacted { .. }));
        let checkpoint = self.checkpoint.iter().flat_map(|c| &c.files);
        checkpoint.chain(compacted).map(|f| f.name.clone()).collect()
    }

    /// Number of commits after the checkpoint.
    pub fn commits_since_checkpoint(&self) -> u64 {
        self.version - self.checkpoint.as_ref().map_or(0, |c| c.version)
    }
}

/// All complete checkpoints, oldest first. Of several for one version the last is the one to use, the same in every
/// run: UUID-named before multi-part before classic, more parts before fewer, the greater name.
pub(crate) fn complete_checkpoints(files: &[&LogFile]) -> Vec<Checkpoint> {
    let mut out: Vec<((u64, u8, u32, String), Checkpoint)> = Vec::new();
    let mut parts_of: BTreeMap<(u64, u32), Vec<LogFile>> = BTreeMap::new();
    for file in files {
        let rank = match file.kind {
            LogFileKind::ClassicCheckpoint => 0,
            LogFileKind::UuidCheckpoint(_) => 2,
            LogFileKind::MultiPartCheckpoint { parts, .. } => {
                parts_of.entry((file.version, parts)).or_default().push((*file).clone());
                continue;
            }
            _ => continue,
        };
        let checkpoint = Checkpoint { version: file.version, files: vec![(*file).clone()] };
        out.push(((file.version, rank, 1, file.name.clone()), checkpoint));
    }
    for ((version, parts), mut found) in parts_of {
        found.sort_by(|a, b| a.kind.cmp(&b.kind));
        found.dedup_by(|a, b| a.kind == b.kind);
        if found.len() == parts as usize {
            out.push(((version, 1, parts, String::new()), Checkpoint { version, files: found }));
        }
    }
    out.sort_by(|a, b| a.0.cmp(&b.0));
    out.into_iter().map(|(_, checkpoint)| checkpoint).collect()
}

/// The first missing part of the newest multi-part checkpoint that would have made a version loadable.
fn missing_part(files: &[&LogFile], first: u64, target: u64) -> Option<(u64, String)> {
    let parts_of = |f: &LogFile| match f.kind {
        LogFileKind::MultiPartCheckpoint { parts, .. } => Some(parts),
        _ => None,
    };
    let newest =
        files.iter().rfind(|f| f.version >= first && f.version <= target && parts_of(f).is_some())?;
    let (version, parts) = (newest.version, parts_of(newest)?);
    let missing = (1..=parts).find(|part| {
        let kind = LogFileKind::MultiPartCheckpoint { part: *part, parts };
        !files.iter().any(|f| f.version == version && f.kind == kind)
    })?;
    Some((version, format!("{version:020}.checkpoint.{missing:010}.{parts:010}.parquet")))
}

/// Commits and compacted files that cover `first..=last` once each, or the first version that nothing covers.
/// At each version the compacted file that reaches furthest is preferred.
fn cover(files: &[&LogFile], first: u64, last: u64) -> std::result::Result<Vec<LogFile>, u64> {
    let mut best: BTreeMap<u64, (u64, &LogFile)> = BTreeMap::new();
    for file in files {
        let end = match file.kind {
            LogFileKind::Commit => file.version,
            LogFileKind::Compacted { end } => end,
            _ => continue,
        };
        if file.version < first || end > last {
            continue;
        }
        let slot = best.entry(file.version).or_insert((end, file));
        if end > slot.0 {
            *slot = (end, file);
        }
    }
    let mut out = Vec::new();
    let mut next = first;
    while next <= last {
        let (end, file) = best.get(&next).ok_or(next)?;
        out.push((*file).clone());
        next = end + 1;
    }
    Ok(out)
}

/// The oldest version that the listed files can rebuild.
fn earliest_version(files: &[&LogFile], checkpoints: &[Checkpoint]) -> Option<u64> {
    let has_first = files.iter().any(|f| f.kind == LogFileKind::Commit && f.version == 0);
    if has_first { Some(0) } else { checkpoints.first().map(|c| c.version) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::FileMeta;

    fn listing(names: &[&str]) -> Listing {
        let mut files: Vec<LogFile> = names
            .iter()
            .filter_map(|n| LogFile::classify(FileMeta { name: (*n).to_owned(), size: 1, modified: 0 }))
            .collect();
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Listing { files, from: 0 }
    }

    fn v(version: u64, rest: &str) -> String {
        format!("{version:020}.{rest}")
    }

    fn select(names: &[String], version: Option<u64>) -> Result<Option<LogSegment>> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        LogSegment::select("t", &listing(&names), version, &BTreeSet::new())
    }

    #[test]
    fn a_gap_names_the_missing_commit() {
        let error = select(&[v(0, "json"), v(1, "json"), v(3, "json")], None).unwrap_err();
        assert!(matches!(error, Error::LogGap { version: 2, .. }), "{error}");
    }

    #[test]
    fn a_checkpoint_bridges_a_gap() {
        let names = [v(0, "json"), v(10, "checkpoint.parquet"), v(11, "json")];
        let segment = select(&names, None).unwrap().unwrap();
        assert_eq!((segment.version, segment.tail.len()), (11, 1));
        let error = select(&names, Some(5)).unwrap_err();
        assert!(matches!(error, Error::LogGap { version: 1, .. }), "{error}");
    }

    #[test]
    fn a_version_outside_the_log_gives_the_range() {
        let names = [v(10, "checkpoint.parquet"), v(11, "json")];
        for asked in [3, 12] {
            let error = select(&names, Some(asked)).unwrap_err();
            assert!(matches!(error, Error::VersionNotFound { earliest: 10, latest: 11, .. }), "{error}");
        }
    }

    #[test]
    fn an_incomplete_multi_part_checkpoint_is_ignored() {
        let mut names: Vec<String> = (0..=5).map(|i| v(i, "json")).collect();
        names.push(v(4, "checkpoint.0000000001.0000000002.parquet"));
        assert_eq!(select(&names, None).unwrap().unwrap().checkpoint, None);
        names.push(v(4, "checkpoint.0000000002.0000000002.parquet"));
        assert_eq!(select(&names, None).unwrap().unwrap().checkpoint.unwrap().files.len(), 2);
    }

    #[test]
    fn a_missing_part_is_named_where_nothing_else_gives_the_version() {
        let error =
            select(&[v(4, "checkpoint.0000000001.0000000002.parquet"), v(5, "json")], None).unwrap_err();
        let Error::LogGap { version: 4, missing, .. } = error else { unreachable!("{error}") };
        assert_eq!(missing, v(4, "checkpoint.0000000002.0000000002.parquet"));
    }

    #[test]
    fn t15_of_several_checkpoints_the_same_is_used_in_every_run() {
        let mut names: Vec<String> = (0..=4).map(|i| v(i, "json")).collect();
        names.push(v(4, "checkpoint.parquet"));
        names.push(v(4, "checkpoint.0000000001.0000000001.parquet"));
        for part in ["checkpoint.0000000001.0000000002.parquet", "checkpoint.0000000002.0000000002.parquet"] {
            names.push(v(4, part));
        }
        let chosen = |names: &[String]| select(names, None).unwrap().unwrap().checkpoint.unwrap();
        assert_eq!(chosen(&names).files.len(), 2);
        names.push(v(4, "checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet"));
        assert!(chosen(&names).files[0].name.contains("80a083e8"));
    }

    #[test]
    fn compacted_files_replace_the_commits_that_they_cover() {
        let mut names: Vec<String> = (0..=6).map(|i| v(i, "json")).collect();
        names.push(v(1, "00000000000000000003.compacted.json"));
        names.push(v(1, "00000000000000000002.compacted.json"));
        names.push(v(5, "00000000000000000009.compacted.json"));
        let tail: Vec<String> =
            select(&names, None).unwrap().unwrap().tail.into_iter().map(|f| f.name).collect();
        assert_eq!(
            tail,
            [
                v(0, "json"),
                v(1, "00000000000000000003.compacted.json"),
                v(4, "json"),
                v(5, "json"),
                v(6, "json")
            ]
        );
    }
}
