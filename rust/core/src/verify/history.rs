//! One walk over the log, oldest version first, that compares everything with everything before it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use rayon::prelude::*;

use super::checkpoints;
use super::checksums;
use super::commit_facts::{CommitFacts, Reconciled};
use super::compacted::{self, Compaction};
use super::finding::FindingKind;
use super::log_files::LogFiles;
use super::report::VerifyReport;
use super::state::State;
use super::timestamps;
use crate::error::{Error, Result};
use crate::log::{LogFile, commit_path};
use crate::store::{Location, runtime};

/// Commits that are read at once, and their bytes.
const CHUNK: usize = 256;
const CHUNK_BYTES: u64 = 64 << 20;

/// Replays the log and compares what lies in it. Returns the state at the head, where it is known.
pub(super) fn walk(location: &Location, log: &LogFiles, report: &mut VerifyReport) -> Result<Option<State>> {
    let mut walk = Walk {
        location,
        log,
        state: None,
        next: log.first,
        last: None,
        open: Vec::new(),
        transactions: HashMap::new(),
        ordinal: 0,
        report,
    };
    let commits: Vec<&LogFile> = log.commits.range(log.first..).map(|(_, f)| f).collect();
    let mut rest = commits.as_slice();
    while !rest.is_empty() {
        let mut bytes = 0_u64;
        let fit = rest.iter().take(CHUNK).take_while(|f| {
            bytes = bytes.saturating_add(f.size);
            bytes <= CHUNK_BYTES
        });
        let (chunk, later) = rest.split_at(fit.count().max(1));
        walk.chunk(chunk)?;
        rest = later;
    }
    walk.checkpoints_before(log.head + 1)?;
    let state = walk.state.filter(|s| s.version == log.head);
    for stale in log.commits.range(..log.first).map(|(_, f)| f) {
        parse_alone(location, stale, report)?;
    }
    for (_, file) in log.compacted.iter().filter(|(_, f)| f.version < log.first) {
        compacted::compare(location, file, None, report)?;
    }
    Ok(state)
}

struct Walk<'a> {
    location: &'a Location,
    log: &'a LogFiles,
    /// The state after the last version that was walked; none where a commit before is missing or broken, and no
    /// checkpoint came since.
    state: Option<State>,
    /// The first version that was not walked.
    next: u64,
    /// In-commit timestamp of the commit before.
    last: Option<i64>,
    open: Vec<Compaction>,
    /// The version of each transaction, by a hash of its identifier.
    transactions: HashMap<u64, u64>,
    ordinal: u32,
    report: &'a mut VerifyReport,
}

impl Walk<'_> {
    fn chunk(&mut self, files: &[&LogFile]) -> Result<()> {
        let dir = self.location.log_dir();
        let paths: Vec<_> = files.iter().map(|f| dir.join(&f.name)).collect();
        let bodies = self.location.store().get_many(&paths);
        let root = self.location.root();
        let parse = |(body, file): (&Result<Bytes>, &&LogFile)| match body {
            Ok(body) => CommitFacts::parse(body, &dir.join(&file.name).to_string(), file.version, root),
            Err(error) => Err(error.clone()),
        };
        let parsed: Vec<Result<CommitFacts>> =
            runtime::pool()?.install(|| bodies.par_iter().zip(files).map(parse).collect());
        drop(bodies);
        for (commit, file) in parsed.into_iter().zip(files) {
            self.checkpoints_before(file.version)?;
            self.version(file.version, Some((commit, file)))?;
        }
        Ok(())
    }

    /// Walks the versions up to this one whose commits are missing and that have a checkpoint.
    fn checkpoints_before(&mut self, version: u64) -> Result<()> {
        let log = self.log;
        for (between, _) in log.checkpoints.range(self.next..version) {
            self.version(*between, None)?;
        }
        Ok(())
    }

    fn version(&mut self, version: u64, commit: Option<(Result<CommitFacts>, &LogFile)>) -> Result<()> {
        if self.next != version {
            // commits are missing, which is reported
            self.forget();
        }
        if version == 0 {
            self.state = Some(State::new(0));
        }
        self.next = version + 1;
        let (mut timestamp, mut txn_id, mut first, mut whole) = (None, None, false, false);
        match commit {
            Some((Ok(commit), file)) => {
                (timestamp, txn_id) = (commit.timestamp, commit.txn_id.clone());
                (first, whole) = (commit.info_is_first, true);
                self.commit(commit, file);
            }
            Some((Err(error @ (Error::LogCorrupt { .. } | Error::NotFound { .. })), file)) => {
                let path = self.location.log_dir().join(&file.name);
                self.report.found(FindingKind::UnreadableCommit, version, path, "a whole commit", error);
                self.forget();
            }
            Some((Err(error), _)) => return Err(error),
            None => self.forget(),
        }
        if self.state.is_none() {
            self.take_checkpoint(version)?;
            if let Some(state) = &mut self.state {
                state.counted.in_commit_timestamp_opt = timestamp;
                state.counted.txn_id = txn_id;
            }
        }
        if let Some(state) = &self.state
            && whole
        {
            let path = commit_path(self.location, version);
            let metadata = state.counted.metadata.as_ref();
            timestamps::check(timestamp, first, metadata, version, &path, &mut self.last, self.report);
        }
        if version == self.log.first {
            self.has_protocol_and_metadata(version);
        }
        self.compare(version)
    }

    /// The state is unknown from here on.
    fn forget(&mut self) {
        self.state = None;
        self.last = None;
        self.open.clear();
    }

    fn commit(&mut self, commit: CommitFacts, file: &LogFile) {
        let version = file.version;
        self.report.commits += 1;
        for repeated in &commit.repeated {
            let path = self.location.log_dir().join(&file.name);
            let expected = format!("one `{repeated}`");
            self.report.found(FindingKind::ContradictoryCommit, version, path, expected, "more than one");
        }
        if let Some(id) = &commit.txn_id {
            let mut hasher = DefaultHasher::new();
            id.hash(&mut hasher);
            if let Some(before) = self.transactions.insert(hasher.finish(), version) {
                let path = self.location.log_dir().join(&file.name);
                let found = format!("`{id}`, which is that of version {before}");
                let expected = "a `txnId` of its own";
                self.report.found(FindingKind::ContradictoryCommit, version, path, expected, found);
            }
        }
        let starting = self.log.compacted.iter().filter(|(_, file)| file.version == version);
        self.open.extend(starting.map(|(end, file)| Compaction {
            end: *end,
            file: file.clone(),
            commits: Reconciled::default(),
        }));
        self.open.iter_mut().for_each(|c| c.commits.apply(&commit));
        if let Some(state) = &mut self.state {
            state.apply(version, commit);
        }
    }

    fn take_checkpoint(&mut self, version: u64) -> Result<()> {
        for checkpoint in self.log.checkpoints.get(&version).into_iter().flatten() {
            self.state = checkpoints::load(self.location, checkpoint, self.report)?;
            if self.state.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn has_protocol_and_metadata(&mut self, version: u64) {
        let Some(state) = &self.state else { return };
        let counted = &state.counted;
        for (action, there) in
            [("protocol", counted.protocol.is_some()), ("metaData", counted.metadata.is_some())]
        {
            if !there {
                let path = commit_path(self.location, version);
                let expected = format!("a `{action}` action in the first version");
                self.report.found(FindingKind::MissingAction, version, path, expected, "none");
            }
        }
    }

    /// Compares what describes this version with its state.
    fn compare(&mut self, version: u64) -> Result<()> {
        let location = self.location;
        let (done, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.open).into_iter().partition(|c| c.end == version);
        self.open = open;
        for compaction in done {
            compacted::compare(location, &compaction.file, Some(&compaction.commits), self.report)?;
        }
        if let Some(state) = &mut self.state {
            for checkpoint in self.log.checkpoints.get(&version).into_iter().flatten() {
                self.ordinal += 1;
                checkpoints::compare(location, checkpoint, state, self.ordinal, self.report)?;
            }
        }
        let Some(file) = self.log.checksums.get(&version) else { return Ok(()) };
        let body = match location.store().get(&location.log_dir().join(&file.name)) {
            Err(Error::NotFound { .. }) => return Ok(()),
            body => body?,
        };
        checksums::compare(location, file, &body, self.state.as_ref(), self.report)
    }
}

/// A commit from before the oldest checkpoint: it must be whole, and there is nothing to compare it with.
fn parse_alone(location: &Location, file: &LogFile, report: &mut VerifyReport) -> Result<()> {
    let path = location.log_dir().join(&file.name);
    let body = match location.store().get(&path) {
        Err(Error::NotFound { .. }) => return Ok(()),
        body => body?,
    };
    match CommitFacts::parse(&body, &path.to_string(), file.version, location.root()) {
        Err(error @ Error::LogCorrupt { .. }) => {
            report.found(FindingKind::UnreadableCommit, file.version, path, "a whole commit", error);
            Ok(())
        }
        parsed => parsed.map(drop),
    }
}
