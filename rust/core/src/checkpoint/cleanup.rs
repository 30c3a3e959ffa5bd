//! Cleanup of expired logs (PROTOCOL.md, "Metadata Cleanup"): what may go is decided by pure functions.

use std::collections::BTreeSet;

use chrono::Utc;
use rayon::prelude::*;

use crate::actions::ObjectPath;
use crate::error::{Error, Result};
use crate::features::TableFeature;
use crate::log::{
    Checkpoint, CheckpointFormat, DAY, Listing, LogFile, LogFileKind, LogSettings, complete_checkpoints,
};
use crate::replay::CheckpointReader;
use crate::snapshot::{Snapshot, monotonic};
use crate::store::{FileMeta, Location, is_of_log, runtime, staged_for};

/// Files that are deleted together; the oldest first, so that a log after an interrupted cleanup has no gap.
const WAVE: usize = 256;

/// What a cleanup may delete, and why no more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deletable {
    /// The checkpoint that everything kept is built on; none when nothing may be deleted.
    pub base: Option<Checkpoint>,
    /// Files of the log that no version from the cutoff on needs, oldest first.
    pub files: Vec<LogFile>,
}

/// The files of a whole listing that may be deleted so that every version that was newest at the cutoff (milliseconds since
/// the Unix epoch) or later still loads, with its commit, its checksum, and the time that it had.
///
/// The newest version that was committed at or before the cutoff is the oldest one kept; the newest complete checkpoint at
/// or before it is what everything kept is built on. Commits count as committed when their files were written, made
/// monotonic. A checkpoint whose commit owes its time to a commit before it is skipped, because deleting that commit
/// would change its time; so is one before `protected_before`.
pub fn deletable(listing: &Listing, cutoff: i64, protected_before: u64) -> Deletable {
    let times = monotonic(listing.commits());
    let Some(oldest_kept) = times.iter().rev().find(|(_, at)| **at <= cutoff).map(|(version, _)| *version)
    else {
        return Deletable::default();
    };
    let own_time = |version: u64| {
        let mut commits = listing.commits();
        commits.find(|c| c.version == version).is_some_and(|c| times.get(&version) == Some(&c.modified))
    };
    let files: Vec<&LogFile> = listing.files.iter().collect();
    let base = complete_checkpoints(&files).into_iter().rev().find(|c| {
        c.version <= oldest_kept
            && c.version >= protected_before
            && c.files.iter().all(|f| f.size > 0)
            && own_time(c.version)
    });
    let Some(base) = base else { return Deletable::default() };
    let expired = |f: &&LogFile| match f.kind {
        LogFileKind::Compacted { .. } => f.version <= base.version,
        _ => f.version < base.version,
    };
    let files = listing.files.iter().filter(expired).cloned().collect();
    Deletable { files, base: Some(base) }
}

/// The sidecars that may be deleted: those that no checkpoint that stays links, and that are older than a time, because
/// a checkpoint in the making links its sidecars last.
pub fn deletable_sidecars(
    sidecars: &[FileMeta],
    linked: &BTreeSet<String>,
    older_than: i64,
) -> Vec<FileMeta> {
    sidecars.iter().filter(|s| s.modified < older_than && !linked.contains(&s.name)).cloned().collect()
}

/// What [`cleanup`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CleanupDone {
    /// Names below `_delta_log` that were deleted, or would be in a dry run.
    pub deleted: Vec<String>,
    /// Names that could not be deleted, with the reason. The next cleanup tries again.
    pub failed: Vec<(String, String)>,
}

/// Deletes what has expired by `delta.logRetentionDuration`, as of midnight UTC, if the checkpoint that is left to build on
/// can be read. Best effort and parallel; with `dry_run` nothing is deleted. `delta.enableExpiredLogCleanup` is the
/// caller's to ask.
///
/// # Errors
/// [`Error::InvalidArgument`] for a property that cannot be read; errors of the store for the listing.
///
/// # Cost
/// One listing of the log, the footer of one checkpoint, one request a deleted file; on file systems one more listing, for
/// what killed writers left. Where checkpoints were deleted and there are sidecars: one listing of those, and the
/// top-level file of each checkpoint that stays.
pub fn cleanup(snapshot: &Snapshot, dry_run: bool) -> Result<CleanupDone> {
    cleanup_at(snapshot, Utc::now().timestamp_millis(), dry_run)
}

/// [`cleanup`] at a given time.
///
/// # Errors
/// As [`cleanup`].
pub fn cleanup_at(snapshot: &Snapshot, now: i64, dry_run: bool) -> Result<CleanupDone> {
    let settings = LogSettings::of(snapshot.protocol(), snapshot.metadata())?;
    cleanup_before(snapshot, midnight(now.saturating_sub(settings.log_retention)), now, dry_run)
}

/// [`cleanup`] of what no version needs that was newest at the cutoff or later, both in milliseconds since the Unix epoch.
///
/// # Errors
/// As [`cleanup`].
pub(crate) fn cleanup_before(
    snapshot: &Snapshot,
    cutoff: i64,
    now: i64,
    dry_run: bool,
) -> Result<CleanupDone> {
    let settings = LogSettings::of(snapshot.protocol(), snapshot.metadata())?;
    let location = snapshot.location();
    let listing = Listing::read(location, 0)?;
    let Deletable { base, files } = deletable(&listing, cutoff, settings.protected_before);
    let mut done = CleanupDone::default();
    let Some(base) = base.filter(|_| !files.is_empty()) else { return Ok(done) };
    // a name alone never justifies a deletion
    let readable = CheckpointReader::open(location, &base).and_then(|c| c.protocol_and_metadata());
    if !matches!(readable, Ok((Some(_), Some(_)))) {
        return Ok(done);
    }
    if !dry_run {
        compatible(location, &listing, &base)?;
    }
    let names = files.iter().map(|f| f.name.clone()).collect();
    delete(location, &location.log_dir(), names, dry_run, &mut done)?;
    delete_staged(location, now.saturating_sub(DAY), dry_run, &mut done)?;
    let had_checkpoint = files.iter().any(LogFile::is_checkpoint);
    if had_checkpoint && protocol_has_v2(snapshot) {
        delete_sidecars(location, cutoff.min(now.saturating_sub(DAY)), dry_run, &mut done)?;
    }
    Ok(done)
}

fn midnight(millis: i64) -> i64 {
    millis - millis.rem_euclid(DAY)
}

fn protocol_has_v2(snapshot: &Snapshot) -> bool {
    snapshot.protocol().lists_for_readers(TableFeature::V2Checkpoint)
}

/// Old readers know only checkpoints with a classic name: they must find one, so that they can read the protocol in it
/// and refuse the table by it. A V2 checkpoint in Parquet is the same under both names.
fn compatible(location: &Location, listing: &Listing, base: &Checkpoint) -> Result<()> {
    let [file] = base.files.as_slice() else { return Ok(()) };
    if file.kind != LogFileKind::UuidCheckpoint(CheckpointFormat::Parquet) {
        return Ok(());
    }
    let classic = listing.files.iter().any(|f| {
        f.version >= base.version
            && matches!(f.kind, LogFileKind::ClassicCheckpoint | LogFileKind::MultiPartCheckpoint { .. })
    });
    if classic {
        return Ok(());
    }
    let dir = location.log_dir();
    let body = location.store().get(&dir.join(&file.name))?;
    location.store().put_if_absent(&dir.join(&format!("{:020}.checkpoint.parquet", base.version)), body)?;
    Ok(())
}

fn delete(
    location: &Location,
    dir: &ObjectPath,
    names: Vec<String>,
    dry_run: bool,
    done: &mut CleanupDone,
) -> Result<()> {
    if dry_run {
        done.deleted.extend(names);
        return Ok(());
    }
    let pool = runtime::pool()?;
    for wave in names.chunks(WAVE) {
        let answers: Vec<Result<()>> = pool.install(|| {
            wave.par_iter().with_max_len(1).map(|name| location.store().delete(&dir.join(name))).collect()
        });
        for (name, answer) in wave.iter().zip(answers) {
            match answer {
                // another cleanup was faster
                Ok(()) | Err(Error::NotFound { .. }) => done.deleted.push(name.clone()),
                Err(error) => done.failed.push((name.clone(), error.to_string())),
            }
        }
    }
    Ok(())
}

/// Deletes the hidden files that writers left when they were killed before they renamed them: those that are older than a
/// time. Object stores have none.
fn delete_staged(location: &Location, older_than: i64, dry_run: bool, done: &mut CleanupDone) -> Result<()> {
    if !matches!(location.root().scheme(), "file" | "hdfs" | "viewfs") {
        return Ok(());
    }
    let dir = location.log_dir();
    let listed = location.store().list_from(&dir, ".")?;
    let of_log = |name: &str| staged_for(name).is_some_and(is_of_log);
    let old = listed.into_iter().filter(|f| f.modified < older_than && of_log(&f.name));
    delete(location, &dir, old.map(|f| f.name).collect(), dry_run, done)
}

fn delete_sidecars(
    location: &Location,
    older_than: i64,
    dry_run: bool,
    done: &mut CleanupDone,
) -> Result<()> {
    let dir = location.log_dir().join("_sidecars");
    let listed = location.store().list_from(&dir, "")?;
    if listed.is_empty() {
        return Ok(());
    }
    // made since the listing, or left because it could not be deleted: each keeps its sidecars
    let now = Listing::read(location, 0)?;
    let gone: BTreeSet<&str> = match dry_run {
        true => done.deleted.iter().map(String::as_str).collect(),
        false => BTreeSet::new(),
    };
    let kept: Vec<&LogFile> =
        now.files.iter().filter(|f| f.is_checkpoint() && !gone.contains(f.name.as_str())).collect();
    let mut linked = BTreeSet::new();
    for file in kept {
        let one = Checkpoint { version: file.version, files: vec![file.clone()] };
        match CheckpointReader::links(location, &one) {
            Ok(names) => linked.extend(names),
            // a checkpoint that nobody can read keeps everything, until somebody looks at it
            Err(_) => return Ok(()),
        }
    }
    let names = deletable_sidecars(&listed, &linked, older_than).into_iter().map(|s| s.name).collect();
    let mut sidecars = CleanupDone::default();
    delete(location, &dir, names, dry_run, &mut sidecars)?;
    done.deleted.extend(sidecars.deleted.into_iter().map(|n| format!("_sidecars/{n}")));
    done.failed.extend(sidecars.failed.into_iter().map(|(n, e)| (format!("_sidecars/{n}"), e)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, size: u64, modified: i64) -> LogFile {
        LogFile::classify(FileMeta { name: name.into(), size, modified }).unwrap()
    }

    /// Commits of these times, from version 0 on, and checkpoints of these versions and sizes.
    fn listing(times: &[i64], checkpoints: &[(u64, u64)]) -> Listing {
        let commits = times.iter().enumerate().map(|(v, at)| file(&format!("{v:020}.json"), 1, *at));
        let checkpoints =
            checkpoints.iter().map(|(v, size)| file(&format!("{v:020}.checkpoint.parquet"), *size, 0));
        let mut files: Vec<LogFile> = commits.chain(checkpoints).collect();
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Listing { files, from: 0 }
    }

    fn base(listing: &Listing, cutoff: i64, protected_before: u64) -> Option<u64> {
        deletable(listing, cutoff, protected_before).base.map(|c| c.version)
    }

    #[test]
    fn the_version_of_the_cutoff_is_kept_and_a_checkpoint_of_it_is_built_on() {
        let all = listing(&[10, 20, 30, 40], &[(1, 1), (2, 1)]);
        // committed at the cutoff, one before it, one after it
        assert_eq!((base(&all, 30, 0), base(&all, 29, 0), base(&all, 31, 0)), (Some(2), Some(1), Some(2)));
        assert_eq!((base(&all, 20, 0), base(&all, 19, 0), base(&all, 9, 0)), (Some(1), None, None));
        // the protected versions begin below it
        assert_eq!((base(&all, 30, 2), base(&all, 30, 3), base(&all, 20, 2)), (Some(2), None, None));
        let gone = deletable(&all, 30, 0).files;
        let names: Vec<&str> = gone.iter().map(|f| &f.name[18..]).collect();
        assert_eq!(names, ["00.json", "01.checkpoint.parquet", "01.json"]);
    }

    #[test]
    fn an_empty_checkpoint_is_not_built_on_nor_one_whose_time_is_not_its_own() {
        assert_eq!(base(&listing(&[10, 20, 30], &[(1, 1), (2, 0)]), 40, 0), Some(1));
        // version 2 was written at 15, and counts as committed after version 1
        assert_eq!(base(&listing(&[10, 20, 15], &[(1, 1), (2, 1)]), 40, 0), Some(1));
        assert_eq!(base(&listing(&[10, 20, 21], &[(1, 1), (2, 1)]), 40, 0), Some(2));
    }

    #[test]
    fn compacted_files_up_to_the_base_go() {
        let mut all = listing(&[10, 20, 30, 40], &[(2, 1)]);
        for (from, to) in [(0, 1), (1, 2), (2, 3)] {
            all.files.push(file(&format!("{from:020}.{to:020}.compacted.json"), 1, 0));
        }
        let gone = deletable(&all, 40, 0).files;
        let compacted = gone.iter().filter(|f| matches!(f.kind, LogFileKind::Compacted { .. }));
        let names: Vec<&str> = compacted.map(|f| &f.name[19..41]).collect();
        assert_eq!(names, ["0.00000000000000000001", "1.00000000000000000002", "2.00000000000000000003"]);
    }

    #[test]
    fn sidecars_go_that_are_older_and_not_linked() {
        let sidecar = |name: &str, modified| FileMeta { name: name.into(), size: 1, modified };
        let all = [sidecar("older", 9), sidecar("as old", 10), sidecar("younger", 11), sidecar("linked", 9)];
        assert_eq!(deletable_sidecars(&all, &BTreeSet::from(["linked".to_owned()]), 10), all[..1]);
    }

    #[test]
    fn midnight_is_the_one_before() {
        for (at, expected) in [(0, 0), (1, 0), (DAY - 1, 0), (DAY, DAY), (-1, -DAY), (3 * DAY + 5, 3 * DAY)] {
            assert_eq!(midnight(at), expected, "{at}");
        }
    }
}
