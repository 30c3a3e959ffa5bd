use super::{LogFile, LogFileKind, commit_path};
use crate::error::{Error, Result};
use crate::store::{FileMeta, Location};

/// More missing commits than this are not asked for by their names: the log is listed again.
const MOST_NAMES: u64 = 32;

/// The files of the log from a version on: one listing, ordered by name.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Files of the protocol, ordered by name.
    pub files: Vec<LogFile>,
    /// First version that was listed; files before it may exist.
    pub from: u64,
}

/// The first name of a version.
fn start(from: u64) -> String {
    // every name of the protocol starts with a digit: from version 0 on, start at the first digit
    if from == 0 { "0".to_owned() } else { format!("{from:020}.") }
}

impl Listing {
    /// Lists the log from a version on. A commit that existed before a later, listed one is listed too.
    ///
    /// # Errors
    /// [`Error::Storage`] when the store cannot list.
    ///
    /// # Cost
    /// One listing request. Only where commits are missing between others, they are asked for by their names, or where
    /// these are many by another listing.
    pub fn read(location: &Location, from: u64) -> Result<Self> {
        Self::of(location, location.store().list_from(&location.log_dir(), &start(from))?, from)
    }

    /// The first page of [`Listing::read`]; `None` where it is not all.
    ///
    /// # Errors
    /// As [`Listing::read`].
    pub(crate) fn first(location: &Location, from: u64) -> Result<Option<Self>> {
        let (listed, all) = location.store().list_first(&location.log_dir(), &start(from))?;
        if all { Self::of(location, listed, from).map(Some) } else { Ok(None) }
    }

    fn of(location: &Location, listed: Vec<FileMeta>, from: u64) -> Result<Self> {
        let files = listed.into_iter().filter_map(LogFile::classify).collect();
        let mut listing = Listing { files, from };
        let overlooked = listing.overlooked(location)?;
        if !overlooked.is_empty() {
            listing.files.extend(overlooked);
            listing.files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(listing)
    }

    /// The listing from a later version on.
    pub(crate) fn later(mut self, from: u64) -> Self {
        self.files.retain(|file| file.version >= from);
        Listing { files: self.files, from }
    }

    /// Commits that exist, although the listing lacks them between others, or between a checkpoint and the first one: a
    /// listing may pass the name of a commit before it is written, and reach the name of the next one after that is
    /// written, too. A listing that took long may lack many; what it lacks existed before the next listing begins.
    fn overlooked(&self, location: &Location) -> Result<Vec<LogFile>> {
        let Some(oldest) = self.commits().next().map(|c| c.version) else { return Ok(Vec::new()) };
        let checkpoint = self.files.iter().filter(|f| f.is_checkpoint()).map(|f| f.version).max();
        let first = checkpoint.map_or(self.from, |version| oldest.min(version.saturating_add(1)));
        let (mut next, mut gaps) = (first, Vec::new());
        for version in self.commits().map(|c| c.version) {
            if next < version {
                gaps.push(next..version);
            }
            next = version.saturating_add(1);
        }
        let missing = gaps.iter().map(|gap| gap.end - gap.start).fold(0, u64::saturating_add);
        if missing > MOST_NAMES {
            let again = location.store().list_from(&location.log_dir(), &start(first))?;
            let files = again.into_iter().filter_map(LogFile::classify);
            let in_gap = |version: u64| gaps.iter().any(|gap| gap.contains(&version));
            return Ok(files.filter(|f| f.kind == LogFileKind::Commit && in_gap(f.version)).collect());
        }
        let mut found = Vec::new();
        for version in gaps.into_iter().flatten() {
            match location.store().head(&commit_path(location, version)) {
                Ok(file) => found.extend(LogFile::classify(file)),
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// The commits, oldest first.
    pub fn commits(&self) -> impl DoubleEndedIterator<Item = &LogFile> {
        self.files.iter().filter(|f| f.kind == LogFileKind::Commit)
    }
}
