//! Opening: listing, segment, protocol and metadata. No file action is read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use super::at::At;
use super::level::Checks;
use super::times::CommitTimes;
use crate::actions::{Metadata, Protocol};
use crate::checksum::Checksum;
use crate::error::{Error, Result};
use crate::log::{
    Checkpoint, LastCheckpoint, Listing, LogFile, LogFileKind, LogSegment, commit_name, commit_path,
};
use crate::replay::{CheckpointReader, Totals, scan_for_protocol_and_metadata};
use crate::report::Counters;
use crate::store::Location;

/// The newest checkpoints that this process has seen, by the root of the table.
static CHECKPOINTS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
/// Tables among them.
const MOST_SEEN: usize = 1024;

/// A version whose protocol and metadata are known.
pub(super) struct Opened {
    pub(super) segment: LogSegment,
    pub(super) protocol: Protocol,
    pub(super) metadata: Metadata,
    pub(super) opened_from: &'static str,
    /// Files that turned out to be broken.
    pub(super) excluded: BTreeSet<String>,
    /// The checkpoint, where it had to be opened.
    pub(super) checkpoint: Option<Arc<CheckpointReader>>,
    pub(super) evidence: Evidence,
    /// Newest version that a file of the listing knows of: a checksum or a compacted file may outlive its commit.
    pub(super) known: u64,
}

/// What files other than commits and checkpoint stated when the version was opened, to compare with the rest of the log.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    /// How much of it is compared with the log.
    pub(super) checks: Checks,
    /// Version of the checkpoint that the hint names, and the files that it says are in it.
    pub(super) hinted: Option<(u64, u64)>,
    /// Totals of the checksum of this version.
    pub(super) totals: Option<Totals>,
    /// That checksum, for the one of the next version.
    pub(super) checksum: Option<Arc<Checksum>>,
    /// The checksum of this version, where it was not read yet.
    pub(super) listed: Option<LogFile>,
    /// The checksum that gave protocol or metadata, which nothing else has confirmed yet.
    pub(super) unconfirmed: Option<String>,
}

impl Evidence {
    /// Opens a checkpoint, which has the files that the hint says.
    ///
    /// # Errors
    /// As [`CheckpointReader::open`], and [`Error::LogCorrupt`] where it has others.
    pub(super) fn open_checkpoint(
        &self,
        location: &Location,
        checkpoint: &Checkpoint,
    ) -> Result<CheckpointReader> {
        let reader = CheckpointReader::open(location, checkpoint)?;
        if let (Some((version, said)), Some(found)) = (self.hinted, reader.num_adds())
            && version == checkpoint.version
            && said != found
        {
            let name = checkpoint.files.first().map_or("", |f| &f.name);
            let path = location.log_dir().join(name).to_string();
            let reason = format!("it has {found} files, and `{}` states {said}", LastCheckpoint::NAME);
            return Err(Error::corrupt(path, Some(version), reason));
        }
        Ok(reader)
    }
}

/// The newest version that a checksum or a compacted file of a listing knows of.
pub(super) fn known(listing: &Listing) -> u64 {
    let of = |file: &LogFile| match file.kind {
        LogFileKind::Checksum => file.version,
        LogFileKind::Compacted { end } => end,
        _ => 0,
    };
    listing.files.iter().map(of).max().unwrap_or(0)
}

/// The newest version is `version`, unless the commit after it is lost, which `known` shows: then the table is not what
/// it was, and what is read or written on top of the version before would be wrong.
///
/// # Errors
/// [`Error::LogGap`] for the first commit that is lost.
///
/// # Cost
/// One HEAD, only where a newer version is known than the newest commit.
pub(super) fn check_not_lost(location: &Location, version: u64, known: u64) -> Result<()> {
    if known <= version {
        return Ok(());
    }
    // one that is there was made while the log was listed
    if has_commit(location, version + 1)? {
        return Ok(());
    }
    let path = location.root().to_string();
    Err(Error::LogGap { path, version: version + 1, missing: commit_name(version + 1) })
}

/// Whether the log has the commit of this version, whatever a listing says: one HEAD.
pub(super) fn has_commit(location: &Location, version: u64) -> Result<bool> {
    match location.store().head(&commit_path(location, version)) {
        Err(Error::NotFound { .. }) => Ok(false),
        found => found.map(|_| true),
    }
}

/// Opens a version: one listing (from the hint on), one GET of a checksum or of the commits after the checkpoint.
pub(super) fn open(location: &Location, at: At, counters: &Counters) -> Result<Opened> {
    let version = match at {
        At::Latest => None,
        At::Version(version) => Some(version),
        At::Timestamp(millis) => return at_time(location, millis, counters),
    };
    let (hint, early) = hint_and_listing(location, counters);
    let hint = hint.filter(|h| version.is_none_or(|v| h.version <= v));
    // a listing that was made at the same time, if it goes far enough back
    let listed = |from: u64| match early {
        Some(early) if early.from <= from => Ok(early.later(from)),
        _ => Listing::read(location, from),
    };
    let Some(hint) = hint else {
        return open_listed(location, &listed(0)?, version, counters);
    };
    let adds = hint.num_of_add_files.and_then(|adds| u64::try_from(adds).ok());
    let hinted = adds.map(|adds| (hint.version, adds));
    let listing = listed(hint.version)?;
    match LogSegment::select(&location.root().to_string(), &listing, version, &BTreeSet::new()) {
        Ok(Some(segment)) if segment.checkpoint.is_some() => {
            match finish(location, segment, BTreeSet::new(), hinted, counters) {
                Err(Retry::Without(files)) => {
                    let listing = Listing::read(location, 0)?;
                    reopen(location, &listing, version, files, counters)
                }
                Err(Retry::Never(error)) => Err(error),
                Ok(opened) => Ok(Opened { known: known(&listing), ..opened }),
            }
        }
        // the listing from the hint on is not enough to find what is wrong
        _ => {
            let listing = Listing::read(location, 0)?;
            if !listing.files.iter().any(|f| f.is_checkpoint() && f.version == hint.version) {
                let what = format!(
                    "`{}` names a checkpoint of version {} that does not exist",
                    LastCheckpoint::NAME,
                    hint.version
                );
                counters.fell_back(what);
            }
            open_listed(location, &listing, version, counters)
        }
    }
}

/// The hint, and at the same time the first page of a listing where the store is a server: that is all of most logs, and
/// one wait less. It begins at the checkpoint that this process saw last. Of a longer log it is one request too many, the
/// first time.
fn hint_and_listing(location: &Location, counters: &Counters) -> (Option<LastCheckpoint>, Option<Listing>) {
    if !location.store().is_far() {
        return (hint(location, counters), None);
    }
    let root = location.root().to_string();
    let from = CHECKPOINTS.try_lock().ok().and_then(|seen| seen.get(&root).copied()).unwrap_or(0);
    let (hint, early) = std::thread::scope(|scope| {
        // a listing that fails is made again, and reports it
        let listing =
            std::thread::Builder::new().spawn_scoped(scope, || Listing::first(location, from).ok().flatten());
        let hint = hint(location, counters);
        (hint, listing.ok().and_then(|listing| listing.join().ok()).flatten())
    });
    if let (Some(hint), Ok(mut seen)) = (&hint, CHECKPOINTS.try_lock()) {
        if seen.len() >= MOST_SEEN {
            seen.clear();
        }
        seen.insert(root, hint.version);
    }
    (hint, early)
}

fn hint(location: &Location, counters: &Counters) -> Option<LastCheckpoint> {
    LastCheckpoint::read(location).unwrap_or_else(|error| {
        counters.fell_back(format!("the hint was ignored: {error}"));
        None
    })
}

fn open_listed(
    location: &Location,
    listing: &Listing,
    version: Option<u64>,
    counters: &Counters,
) -> Result<Opened> {
    reopen(location, listing, version, BTreeSet::new(), counters)
}

/// Opens from a listing of the whole log, ignoring the files in `excluded` and those that turn out to be corrupt.
pub(super) fn reopen(
    location: &Location,
    listing: &Listing,
    version: Option<u64>,
    mut excluded: BTreeSet<String>,
    counters: &Counters,
) -> Result<Opened> {
    let table = location.root().to_string();
    loop {
        let segment = LogSegment::select(&table, listing, version, &excluded)?;
        let Some(segment) = segment else { return Err(Error::TableNotFound { path: table }) };
        match finish(location, segment, excluded.clone(), None, counters) {
            Ok(opened) => return Ok(Opened { known: known(listing), ..opened }),
            Err(Retry::Never(error)) => return Err(error),
            Err(Retry::Without(files)) => excluded.extend(files),
        }
    }
}

/// Why opening did not succeed.
enum Retry {
    /// For good.
    Never(Error),
    /// These files are caches and broken: another selection may do without them.
    Without(BTreeSet<String>),
}

impl From<Error> for Retry {
    fn from(error: Error) -> Self {
        Retry::Never(error)
    }
}

fn finish(
    location: &Location,
    segment: LogSegment,
    excluded: BTreeSet<String>,
    hinted: Option<(u64, u64)>,
    counters: &Counters,
) -> Result<Opened, Retry> {
    let mut opened_from = "commits";
    let mut evidence = Evidence { hinted, ..Evidence::default() };
    let checksum = read_checksum(location, &segment, counters).map(|(version, c)| (version, Arc::new(c)));
    let path = || {
        let name = segment.checksum.as_ref().map_or("", |file| &file.name);
        location.log_dir().join(name).to_string()
    };
    if let Some((version, checksum)) = &checksum
        && *version == segment.version
    {
        evidence.totals = Totals::of(checksum, path(), *version);
        evidence.checksum = Some(checksum.clone());
    }
    // old writers left both out
    let checksum = checksum.filter(|(_, c)| c.protocol.is_some() && c.metadata.is_some());
    let since = checksum.as_ref().map_or(0, |(version, _)| version + 1);
    let newer: Vec<LogFile> = segment.tail.iter().filter(|f| last_version(f) >= since).cloned().collect();
    let (mut protocol, mut metadata) = match scan_for_protocol_and_metadata(location, &newer) {
        Err(Error::LogCorrupt { path, reason, .. }) if compacted(&newer, &path).is_some() => {
            let name = compacted(&newer, &path).unwrap_or_default();
            counters.fell_back(format!("`{name}` was ignored: {reason}"));
            return Err(Retry::Without(BTreeSet::from([name])));
        }
        found => found?,
    };
    if let Some((_, checksum)) = checksum {
        if protocol.is_none() || metadata.is_none() {
            opened_from = "checksum";
            evidence.unconfirmed = Some(path());
        }
        protocol = protocol.or_else(|| checksum.protocol.clone());
        metadata = metadata.or_else(|| checksum.metadata.clone());
    }
    let mut reader = None;
    if (protocol.is_none() || metadata.is_none())
        && let Some(checkpoint) = &segment.checkpoint
    {
        opened_from = "checkpoint";
        let read = evidence
            .open_checkpoint(location, checkpoint)
            .and_then(|c| c.protocol_and_metadata().map(|found| (c, found)));
        let (opened, (p, m)) = read.map_err(|error| {
            let names = checkpoint.files.iter().map(|f| f.name.clone()).collect();
            give_up_checkpoint(error, checkpoint.version, names, counters)
        })?;
        protocol = protocol.or(p);
        metadata = metadata.or(m);
        reader = Some(Arc::new(opened));
    }
    let missing =
        |action| Error::MissingAction { path: location.root().to_string(), version: segment.version, action };
    let protocol = protocol.ok_or_else(|| missing("protocol"))?;
    let metadata = metadata.ok_or_else(|| missing("metaData"))?;
    Ok(Opened { segment, protocol, metadata, opened_from, excluded, checkpoint: reader, evidence, known: 0 })
}

/// A checkpoint that cannot be read is ignored; a store that fails is an error.
fn give_up_checkpoint(error: Error, version: u64, names: BTreeSet<String>, counters: &Counters) -> Retry {
    if !matches!(error, Error::LogCorrupt { .. } | Error::NotFound { .. }) {
        return Retry::Never(error);
    }
    counters.fell_back(format!("the checkpoint of version {version} was ignored: {error}"));
    Retry::Without(names)
}

fn last_version(file: &LogFile) -> u64 {
    match file.kind {
        LogFileKind::Compacted { end } => end,
        _ => file.version,
    }
}

/// The compacted file of this path, if it is one of `files`.
pub(super) fn compacted(files: &[LogFile], path: &str) -> Option<String> {
    let is = |f: &&LogFile| matches!(f.kind, LogFileKind::Compacted { .. }) && path.ends_with(&f.name);
    files.iter().find(is).map(|f| f.name.clone())
}

/// The checksum of the segment with its version, where it can be read.
fn read_checksum(location: &Location, segment: &LogSegment, counters: &Counters) -> Option<(u64, Checksum)> {
    let file = segment.checksum.as_ref()?;
    match Checksum::read(location, file) {
        Ok(checksum) => Some((file.version, checksum)),
        Err(error) => {
            counters.fell_back(format!("the checksum was ignored: {error}"));
            None
        }
    }
}

/// Opens the newest version that was committed at or before a time.
fn at_time(location: &Location, millis: i64, counters: &Counters) -> Result<Opened> {
    let listing = Listing::read(location, 0)?;
    let latest = open_listed(location, &listing, None, counters)?;
    let times = CommitTimes::new(location, &listing, &latest.metadata)?;
    let version = times.at(millis)?;
    if version == latest.segment.version {
        return Ok(latest);
    }
    reopen(location, &listing, Some(version), latest.excluded, counters)
}
