//! The files after an offset, in order: those of the version where a stream began, then those of one commit after the
//! other.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::commit::IndexedCommit;
use super::known::Known;
use super::offset::{BASE, END, Offset, SCHEMA_CHANGE};
use super::source::Source;
use crate::actions::Add;
use crate::error::{Error, Result, condition};
use crate::log::{Listing, LogFile, commit_name};
use crate::replay::{CHUNK, fetch};
use crate::scan::surviving_files;
use crate::snapshot::{At, Snapshot};
use crate::store::runtime;

/// Parsed commits that are kept from the question for an offset to that for its files.
const KEPT: usize = 1024;

/// A place in the stream: version, index, and the file that has it.
pub(super) type Place<'a> = (u64, i64, Option<&'a Add>);

impl Source {
    /// Visits all positions after `from`, up to and including `end`, until a visit returns `false`. With `whole` every
    /// commit up to
    /// `end` must be there.
    ///
    /// # Errors
    /// [`Error::SourceDataLost`], [`Error::SourceReplaced`], [`Error::SourceRowsChanged`],
    /// [`Error::SourceSchemaChanged`], and what the log gives.
    pub(super) fn walk(
        &self,
        known: &mut Known,
        from: &Offset,
        end: Option<&Offset>,
        whole: bool,
        mut visit: impl FnMut(Place<'_>) -> bool,
    ) -> Result<()> {
        let mut each = |version: u64, files: &[Add], barrier: bool| {
            let places = std::iter::once((version, BASE, None))
                .chain(barrier.then_some((version, SCHEMA_CHANGE, None)))
                .chain(files.iter().zip(0..).map(|(file, index)| (version, index, Some(file))))
                .chain(std::iter::once((version, END, None)));
            places
                .filter(|p| (p.0, p.1) > from.place())
                .all(|p| end.is_none_or(|end| (p.0, p.1) <= end.place()) && visit(p))
        };
        let mut next = from.version;
        if from.initial {
            let files = self.initial(known, from.version)?;
            if !each(from.version, &files, false) {
                return Ok(());
            }
            next += 1;
        }
        // an offset before everything in a version does not reach into it
        let last = end.map(|end| if end.index > BASE { end.version + 1 } else { end.version });
        if last.is_some_and(|last| last <= next) {
            return Ok(());
        }
        if self.tracks().is_some() && !self.options.fail_on_data_loss {
            let reason = "not false with schemaTrackingLocation: a change of the schema may be in a commit that is gone";
            let argument = "failOnDataLoss".to_owned();
            return Err(Error::InvalidArgument { argument, reason: reason.to_owned() });
        }
        let mut commits = self.commits_from(known, next)?;
        if let Some(last) = last {
            commits.retain(|c| c.version < last);
            let seen = commits.last().map_or(next, |c| c.version + 1);
            if whole && seen < last {
                // a planned batch never becomes smaller, even if files are lost
                let parameters = [
                    ("expectedVersion", (last - 1).to_string()),
                    ("seenVersion", (i128::from(seen) - 1).to_string()),
                ];
                return Err(self.lost(seen).named(&condition::STREAMING_TRAILING_COMMIT_MISSING, parameters));
            }
        }
        // few at first: a limit is often reached soon
        let (mut rest, mut size) = (commits.as_slice(), 16);
        while !rest.is_empty() {
            let (chunk, others) = rest.split_at(size.min(rest.len()));
            for (version, commit) in self.parsed(known, chunk)? {
                let barrier = self.is_barrier(version, &commit)?;
                commit.check_rows(&self.location.root().to_string(), version, &self.options)?;
                if !each(version, &commit.files, barrier) {
                    return Ok(());
                }
            }
            (rest, size) = (others, (size * 4).min(CHUNK));
        }
        Ok(())
    }

    /// The files that make up a version, by modification time and path.
    fn initial(&self, known: &mut Known, version: u64) -> Result<Arc<Vec<Add>>> {
        if let Some((of, files)) = &known.initial
            && *of == version
        {
            return Ok(files.clone());
        }
        let snapshot = if self.table.version() == version {
            self.table.clone()
        } else {
            Snapshot::open(self.location.clone(), At::Version(version))?
        };
        self.check_initial(&snapshot)?;
        let mut files = surviving_files(&snapshot, None, false)?;
        files.par_sort_unstable_by(|a, b| {
            (a.modification_time, a.path.as_str()).cmp(&(b.modification_time, b.path.as_str()))
        });
        let files = Arc::new(files);
        known.initial = Some((version, files.clone()));
        Ok(files)
    }

    /// The commits from a version on, without a gap.
    fn commits_from(&self, known: &mut Known, version: u64) -> Result<Vec<LogFile>> {
        // the previous commit proves that the log continues where the stream stopped
        let listing = Listing::read(&self.location, version.saturating_sub(1))?;
        let anchored = version == 0 || listing.commits().any(|c| c.version + 1 == version);
        let same = known
            .head
            .as_ref()
            .is_none_or(|head| head.version < listing.from || listing.commits().any(|c| c == head));
        if !anchored || !same {
            let reached = known.head.as_ref().map_or(0, |head| head.version + 1).max(version);
            self.check_still_there(reached)?;
        }
        let commits: Vec<LogFile> = listing.commits().filter(|c| c.version >= version).cloned().collect();
        if self.options.fail_on_data_loss
            && let Some((_, missing)) = commits.iter().zip(version..).find(|(c, v)| c.version != *v)
        {
            return Err(self.lost(missing));
        }
        if let Some(head) = listing.commits().next_back() {
            known.head = Some(head.clone());
        }
        Ok(commits)
    }

    /// Checks that the table is the one that was followed up to a version.
    fn check_still_there(&self, reached: u64) -> Result<()> {
        let newest = Snapshot::open(self.location.clone(), At::Latest)?;
        if newest.metadata().id != self.table_id() {
            return Err(self.replaced(&newest.metadata().id));
        }
        if newest.version() + 1 < reached {
            return Err(self.lost(newest.version() + 1));
        }
        Ok(())
    }

    pub(super) fn lost(&self, version: u64) -> Error {
        let path = self.location.root().to_string();
        Error::SourceDataLost { path, version, missing: commit_name(version) }
    }

    /// Commits as the stream sees them, in order; all that are not known are fetched at once.
    fn parsed(&self, known: &mut Known, files: &[LogFile]) -> Result<Vec<(u64, Arc<IndexedCommit>)>> {
        let missing: Vec<LogFile> =
            files.iter().filter(|f| !known.commits.contains_key(&f.version)).cloned().collect();
        let bodies = fetch(&self.location, &missing).map_err(|error| match error {
            // listed, and gone when it was read
            Error::NotFound { .. } => self.lost(missing[0].version),
            other => other,
        })?;
        let (table, dir) = (self.location.root().to_string(), self.location.log_dir());
        let parsed: Vec<Arc<IndexedCommit>> = runtime::pool()?.install(|| {
            bodies
                .par_iter()
                .zip(&missing)
                .map(|(body, file)| {
                    let path = dir.join(&file.name).to_string();
                    IndexedCommit::parse(&table, file.version, &path, body, &self.options).map(Arc::new)
                })
                .collect::<Result<_>>()
        })?;
        let mut new: BTreeMap<u64, Arc<IndexedCommit>> =
            missing.iter().map(|f| f.version).zip(parsed).collect();
        let mut out = Vec::with_capacity(files.len());
        for file in files {
            let version = file.version;
            if let Some(commit) = known.commits.get(&version).cloned().or_else(|| new.remove(&version)) {
                if known.commits.len() < KEPT {
                    known.commits.insert(version, commit.clone());
                }
                out.push((version, commit));
            }
        }
        Ok(out)
    }
}
