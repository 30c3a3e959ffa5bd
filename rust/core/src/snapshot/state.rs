use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::at::At;
use super::clock::commit_info;
use super::level::{Checks, Verify};
use super::load::{Evidence, Opened, check_not_lost, known, open, reopen};
use super::log_state::{ReplayedLog, State, replay};
use super::recount::count_of;
use crate::actions::{Add, CommitInfo, DomainMetadata, Metadata, Protocol};
use crate::checksum::Checksum;
use crate::error::{Error, Result};
use crate::events;
use crate::features::{TableFeature, check_reader, check_uses};
use crate::log::{Listing, LogFile, LogFileKind, commit_name, complete_checkpoints};
use crate::predicate::Predicate;
use crate::prune::Pruner;
use crate::replay::{
    CheckpointReader, Count, FileBatch, FileStream, FilesRequest, ScanSource, Tail, Totals, check_table,
    scan_for_protocol_and_metadata,
};
use crate::report::{Counters, Report};
use crate::schema::{ColumnMappingMode, StructType, check_type_changes};
use crate::store::{Location, runtime};

/// One version of a table. It never changes; cloning shares it.
///
/// Opening reads protocol and metadata only. The commits after the checkpoint are replayed when files are first asked
/// for; checkpoint rows are read again by each listing, projected and pruned, and never kept.
#[derive(Clone)]
pub struct Snapshot {
    inner: Arc<Inner>,
}

struct Inner {
    location: Location,
    /// The location without counting, for the next snapshot.
    plain: Location,
    version: u64,
    protocol: Protocol,
    metadata: Metadata,
    schema: Arc<StructType>,
    mode: ColumnMappingMode,
    opened_from: &'static str,
    counters: Arc<Counters>,
    state: Mutex<State>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report();
        write!(
            f,
            "Snapshot({}, version {}, {} requests, {} bytes read)",
            self.inner.location.root(),
            self.version(),
            report.lists + report.gets,
            report.bytes
        )
    }
}

impl Snapshot {
    /// Opens a version of the table at a location, as [`Snapshot::open_with`] at the level [`Verify::Checked`].
    ///
    /// # Errors
    /// As [`Snapshot::open_with`].
    pub fn open(location: Location, at: At) -> Result<Self> {
        Self::open_with_checks(location, at, Checks::Checked)
    }

    /// [`Snapshot::open_with`] for callers that have the check of the whole table, or do not need it.
    ///
    /// # Errors
    /// As [`Snapshot::open_with`].
    pub(crate) fn open_with_checks(location: Location, at: At, checks: Checks) -> Result<Self> {
        location.cancel().check()?;
        if let Checks::Full(check) = checks {
            check(&location)?;
        }
        let started = Instant::now();
        let counters = Arc::new(Counters::of(&location));
        let _span = events::opening(counters.table()).entered();
        let metered = location.metered(counters.meter.clone());
        let mut opened = open(&metered, at, &counters)?;
        opened.evidence.checks = checks;
        let (version, known, excluded) = (opened.segment.version, opened.known, opened.excluded.clone());
        let checksum = opened.segment.checksum.clone().filter(|_| opened.opened_from == "checksum");
        let snapshot = match (Snapshot::of(&location, &metered, &counters, opened), checksum) {
            // a checksum repeats the log: if it gives no table, the log itself is read
            (Err(error), Some(checksum)) => {
                let name = checksum.name;
                counters.fell_back(format!("`{name}` was ignored: {error}"));
                let without = excluded.into_iter().chain([name]).collect();
                let listing = Listing::read(&metered, 0)?;
                let again = reopen(&metered, &listing, Some(version), without, &counters);
                let mut again = again.map_err(|_| error)?;
                again.evidence.checks = checks;
                Snapshot::of(&location, &metered, &counters, again)?
            }
            (snapshot, _) => snapshot?,
        };
        if at == At::Latest {
            check_not_lost(&metered, version, known)?;
        }
        counters.opened(version, snapshot.inner.opened_from, started.elapsed());
        Ok(snapshot)
    }

    fn of(plain: &Location, metered: &Location, counters: &Arc<Counters>, opened: Opened) -> Result<Self> {
        let Opened { segment, protocol, metadata, opened_from, excluded, checkpoint, evidence, .. } = opened;
        let state = State::of(segment, excluded, checkpoint, evidence);
        let (plain, location, counters) = (plain.clone(), metered.clone(), counters.clone());
        Snapshot::new(plain, location, protocol, metadata, opened_from, counters, state)
    }

    fn new(
        plain: Location,
        location: Location,
        protocol: Protocol,
        metadata: Metadata,
        opened_from: &'static str,
        counters: Arc<Counters>,
        state: State,
    ) -> Result<Self> {
        let table = location.root().to_string();
        check_reader(&table, &protocol)?;
        if !metadata.format.provider.eq_ignore_ascii_case("parquet") {
            let what = format!("data files in the format `{}`", metadata.format.provider);
            return Err(Error::Unsupported { path: table, what });
        }
        let schema = metadata.schema()?;
        check_uses(&table, &protocol, &metadata, &schema)?;
        let widens = [TableFeature::TypeWidening, TableFeature::TypeWideningPreview];
        if widens.into_iter().any(|feature| protocol.lists_for_readers(feature)) {
            check_type_changes(&table, &schema)?;
        }
        let mode = metadata.column_mapping();
        let version = state.segment.version;
        Ok(Snapshot {
            inner: Arc::new(Inner {
                location,
                plain,
                version,
                protocol,
                metadata,
                schema: Arc::new(schema),
                mode,
                opened_from,
                counters,
                state: Mutex::new(state),
            }),
        })
    }

    /// The same files, read with other metadata and another protocol of the table: as a stream reads them that keeps its
    /// schemas.
    ///
    /// # Errors
    /// As [`Snapshot::open`] of the protocol and the schema.
    pub(crate) fn read_as(&self, metadata: Metadata, protocol: Protocol) -> Result<Snapshot> {
        let inner = &self.inner;
        let state = {
            let state = self.state();
            State::of(
                state.segment.clone(),
                state.excluded.clone(),
                state.checkpoint.clone(),
                state.evidence.clone(),
            )
        };
        let (plain, location, counters) =
            (inner.plain.clone(), inner.location.clone(), inner.counters.clone());
        Snapshot::new(plain, location, protocol, metadata, inner.opened_from, counters, state)
    }

    /// What is known of its log.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.inner.counters
    }

    /// The level at which it was opened.
    pub fn level(&self) -> Verify {
        self.checks().level()
    }

    pub(super) fn checks(&self) -> Checks {
        self.state().evidence.checks
    }

    /// The checksum of the version, where opening it has read that.
    pub(crate) fn checksum(&self) -> Option<Arc<Checksum>> {
        self.state().evidence.checksum.clone()
    }

    /// Where the table is.
    pub fn location(&self) -> &Location {
        &self.inner.location
    }

    /// Version.
    pub fn version(&self) -> u64 {
        self.inner.version
    }

    /// Protocol of the version.
    pub fn protocol(&self) -> &Protocol {
        &self.inner.protocol
    }

    /// Metadata of the version.
    pub fn metadata(&self) -> &Metadata {
        &self.inner.metadata
    }

    /// Schema of the version; empty for a table without columns.
    pub fn schema(&self) -> &Arc<StructType> {
        &self.inner.schema
    }

    /// Column-mapping mode of the version.
    pub fn column_mapping(&self) -> ColumnMappingMode {
        self.inner.mode
    }

    /// Partition columns by logical name, in order.
    pub fn partition_columns(&self) -> &[String] {
        &self.inner.metadata.partition_columns
    }

    /// When the version was committed, in milliseconds since the Unix epoch: the in-commit timestamp, or the file time
    /// made monotonic.
    ///
    /// # Errors
    /// [`Error::InvalidTimeTravel`] when the commit file no longer exists.
    ///
    /// # Cost
    /// One listing of the log and one GET.
    pub fn timestamp(&self) -> Result<i64> {
        let newest = self.history(Some(1))?.into_iter().next().filter(|c| c.version == self.version());
        newest.map(|c| c.timestamp).ok_or_else(|| Error::InvalidTimeTravel {
            path: self.inner.location.root().to_string(),
            reason: format!(
                "the commit of version {} no longer exists, and with it its time",
                self.version()
            ),
        })
    }

    /// Provenance of the commit of this version, where it wrote one and the commit is still there.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] for a commit that cannot be read.
    pub(crate) fn commit_info(&self) -> Result<Option<CommitInfo>> {
        let commit = self.state().segment.last_commit.clone();
        match commit {
            Some(commit) => commit_info(&self.inner.location, commit.version),
            None => Ok(None),
        }
    }

    /// Size and modification time of the newest commit file, as the listing had them: they distinguish a version from
    /// another one of the same number that replaced it.
    pub(crate) fn commit_stamp(&self) -> Option<(u64, i64)> {
        let state = self.state();
        state.segment.last_commit.as_ref().map(|c| (c.size, c.modified))
    }

    /// The live files, pruned, as a stream of columns.
    ///
    /// # Errors
    /// [`Error::InvalidPredicate`] for an unknown column; [`Error::LogCorrupt`] for a torn or empty commit, for a checksum
    /// that gave another protocol or metadata than the log, and at the end of a listing of all files for a checkpoint or
    /// compacted file that gives others than the commits. A corrupt checkpoint is ignored and reported; so is a
    /// checksum with other totals than the log. From [`Verify::Checked`] on also for a commit that replaced the
    /// original one, where checksums or its transaction show it. Files that a cleanup of the log took since it was opened
    /// are replaced by what is left; [`Error::VersionNotFound`] or [`Error::LogGap`] where that does not give the version.
    ///
    /// # Cost
    /// The commits after the checkpoint once in the life of the snapshot; of the checkpoint the columns asked for, in
    /// the row groups that may match. Memory: the live files of the commits and one row group a core.
    pub fn files(&self, request: FilesRequest) -> Result<FileStream> {
        // a checkpoint that was opened before may have been taken by a cleanup of the log since
        let opened_before = self.state().checkpoint.is_some();
        let stream = self.files_once(&request)?;
        if !opened_before {
            return Ok(stream);
        }
        let again = self.clone();
        Ok(stream.or_again(Box::new(move |error| {
            again.reselect_gone(error)?;
            again.files_once(&request)
        })))
    }

    fn files_once(&self, request: &FilesRequest) -> Result<FileStream> {
        let pruner = match &request.predicate {
            Some(predicate) => {
                Some(Pruner::bind(predicate, self.schema(), self.partition_columns(), self.column_mapping())?)
            }
            None => None,
        };
        let (tail, checkpoint) = self.replayed()?;
        let source = ScanSource {
            location: self.inner.location.clone(),
            tail,
            checkpoint,
            counters: self.inner.counters.clone(),
        };
        let count = if pruner.is_none() { self.count() } else { None };
        Ok(FileStream::new(source, request, pruner).counted(count))
    }

    /// Whether a file of the version may have a deletion vector; false only where none has. It goes by the commits after
    /// the checkpoint, and by what the footers of the checkpoint tell, not by its rows.
    ///
    /// # Errors
    /// As [`Snapshot::files`].
    ///
    /// # Cost
    /// What the first listing costs before it reads rows of the checkpoint, which that then finds done.
    pub fn may_have_deletion_vectors(&self) -> Result<bool> {
        if !self.protocol().lists_for_readers(TableFeature::DeletionVectors) {
            return Ok(false);
        }
        let (tail, checkpoint) = self.replayed()?;
        let in_checkpoint = || checkpoint.is_some_and(|c| c.may_have_deletion_vectors());
        Ok(tail.batches.iter().any(FileBatch::has_deletion_vectors) || in_checkpoint())
    }

    /// Counts a listing of all files, where its checksum was read.
    fn count(&self) -> Option<Count> {
        let state = self.state();
        let totals = state.evidence.totals.clone()?;
        count_of(&self.inner.location, totals, &state.segment, &state.excluded, state.evidence.checks.level())
    }

    /// The live files that may hold rows of the predicate, all of them without one, as actions with all their fields.
    ///
    /// # Errors
    /// As [`Snapshot::files`].
    ///
    /// # Cost
    /// As [`Snapshot::files`], and memory for every file at once.
    pub(crate) fn adds(&self, predicate: Option<&Predicate>) -> Result<Vec<Add>> {
        self.each_add(FilesRequest::whole(predicate))?.collect()
    }

    /// [`Self::adds`] of all files that are wanted.
    ///
    /// # Errors
    /// As [`Snapshot::files`].
    ///
    /// # Cost
    /// As [`Snapshot::files`], and memory for these files alone.
    pub(crate) fn adds_where(&self, wanted: impl Fn(&Add) -> bool) -> Result<Vec<Add>> {
        let all = self.each_add(FilesRequest::whole(None))?;
        all.filter(|add| add.as_ref().map_or(true, &wanted)).collect()
    }

    /// The live files of a listing one after the other, as actions with the fields that it asks for.
    ///
    /// # Errors
    /// As [`Snapshot::files`].
    ///
    /// # Cost
    /// As [`Snapshot::files`].
    pub(crate) fn each_add(
        &self,
        request: FilesRequest,
    ) -> Result<impl Iterator<Item = Result<Add>> + use<>> {
        Ok(self.files(request)?.flat_map(|batch| match batch {
            Ok(batch) => batch.adds().collect(),
            Err(error) => vec![Err(error)],
        }))
    }

    /// The configuration of all live domains.
    ///
    /// # Errors
    /// As [`Snapshot::files`].
    pub fn domain_metadata(&self) -> Result<Vec<DomainMetadata>> {
        self.retried(|| {
            let (tail, checkpoint) = self.replayed()?;
            let mut all = (*tail.domains).clone();
            if let Some(checkpoint) = checkpoint {
                for domain in checkpoint.txns_and_domains()?.1 {
                    all.entry(domain.domain.clone()).or_insert_with(|| domain.clone());
                }
            }
            Ok(all.into_values().filter(|d| !d.removed).collect())
        })
    }

    /// The parts of the version: for writing a new checkpoint of it.
    pub(crate) fn replayed_log(&self) -> Result<ReplayedLog> {
        let (tail, checkpoint) = self.replayed()?;
        let state = self.state();
        Ok(ReplayedLog { segment: state.segment.clone(), tail, checkpoint })
    }

    /// The tail and the open checkpoint; made once, then shared.
    pub(super) fn replayed(&self) -> Result<(Arc<Tail>, Option<Arc<CheckpointReader>>)> {
        let inner = &self.inner;
        let mut state = self.state();
        loop {
            if let Some(tail) = &state.tail {
                return Ok((tail.clone(), state.checkpoint.clone()));
            }
            let started = Instant::now();
            let listed = state.evidence.listed.take();
            let here: &mut State = &mut state;
            // the checksum is read together with the commits
            let (replayed, totals) = match listed {
                None => (replay(&inner.location, here), None),
                Some(file) => runtime::pool()?
                    .join(|| replay(&inner.location, here), || read_totals(&inner.location, &file)),
            };
            state.evidence.totals = totals.or(state.evidence.totals.take());
            match replayed {
                Ok(tail) => {
                    self.confirm(&mut state, &tail)?;
                    inner.counters.replayed(started.elapsed(), tail.actions);
                    state.tail = Some(tail);
                    state.base = None;
                }
                Err(error) => self.pass_over(&mut state, error)?,
            }
        }
    }

    /// No transaction is in the log twice, each file says its partition, and protocol and metadata that a checksum gave are those of the log, now that it was
    /// read.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] for the commit and the checksum.
    fn confirm(&self, state: &mut State, tail: &Tail) -> Result<()> {
        if state.evidence.checks.level() > Verify::Fast {
            tail.transactions.check(&self.inner.location)?;
            if let Some((name, version)) =
                tail.unplaced.as_ref().filter(|_| !self.partition_columns().is_empty())
            {
                let path = self.inner.location.log_dir().join(name).to_string();
                let reason = "an `add` has no `partitionValues`, and the table is partitioned";
                return Err(Error::corrupt(path, Some(*version), reason));
            }
        }
        let Some(path) = &state.evidence.unconfirmed else { return Ok(()) };
        let (mut protocol, mut metadata) = (tail.protocol.clone(), tail.metadata.clone());
        if (protocol.is_none() || metadata.is_none())
            && let Some(checkpoint) = &state.checkpoint
        {
            let (p, m) = checkpoint.protocol_and_metadata()?;
            protocol = protocol.or(p.map(Arc::new));
            metadata = metadata.or(m.map(Arc::new));
        }
        let said = (self.protocol(), self.metadata());
        check_table(path, self.version(), said, (protocol.as_deref(), metadata.as_deref()))?;
        state.evidence.unconfirmed = None;
        Ok(())
    }

    /// The newest version: this snapshot where nothing was committed since, otherwise one that shares its columns and
    /// reads new commits only. Equal to a cold load.
    ///
    /// # Errors
    /// As [`Snapshot::open`]; [`Error::LogGap`] when this version is not in the log of the table any more, and no newer one
    /// is: what was read no longer exists, and others may commit something else in its place.
    ///
    /// # Cost
    /// One listing from this version on and the new commits. After many commits it is loaded again from a newer checkpoint, so
    /// that what it holds is bounded.
    pub fn update(&self) -> Result<Snapshot> {
        let inner = &self.inner;
        let started = Instant::now();
        let counters = Arc::new(Counters::of(&inner.plain));
        let location = inner.plain.metered(counters.meter.clone());
        let listing = Listing::read(&location, self.version())?;
        let newer: Vec<LogFile> = listing.commits().filter(|c| c.version > self.version()).cloned().collect();
        let contiguous = newer.iter().zip(self.version() + 1..).all(|(c, v)| c.version == v);
        let head = newer.last().map_or(self.version(), |c| c.version);
        let state = self.state();
        let sound: Vec<&LogFile> =
            listing.files.iter().filter(|f| !state.excluded.contains(&f.name)).collect();
        let newest = complete_checkpoints(&sound).last().map(|c| c.version);
        // a commit that is another file now belongs to a table that replaced this one
        let here = listing.commits().find(|c| c.version == self.version());
        let same = state.segment.last_commit.as_ref() == here;
        if !contiguous || newest > Some(head) || !same || newest.is_some_and(|version| state.is_long(version))
        {
            drop(state);
            return self.reopened(inner.plain.clone());
        }
        if newer.is_empty() {
            drop(state);
            check_not_lost(&location, self.version(), known(&listing))?;
            return Ok(self.clone());
        }
        let (checks, level) = (state.evidence.checks, state.evidence.checks.level());
        if level == Verify::Full || state.tail.is_none() && newest > Some(self.version()) {
            // nothing was replayed that could be shared, and a newer checkpoint saves the commits
            drop(state);
            return Snapshot::open_with_checks(inner.plain.clone(), At::Latest, checks);
        }
        let base = state.tail.clone().map(|t| (self.version(), t)).or_else(|| state.base.clone());
        let mut segment = state.segment.clone();
        let (excluded, checkpoint) = (state.excluded.clone(), state.checkpoint.clone());
        let is = |f: &&LogFile| level > Verify::Fast && f.kind == LogFileKind::Checksum && f.version == head;
        let listed = listing.files.iter().find(is).cloned();
        let evidence = Evidence { totals: None, checksum: None, listed, ..state.evidence.clone() };
        drop(state);
        segment.version = head;
        segment.last_commit = newer.last().cloned();
        segment.tail.extend(newer.iter().cloned());
        let (protocol, metadata) = scan_for_protocol_and_metadata(&location, &newer)?;
        let protocol = protocol.unwrap_or_else(|| inner.protocol.clone());
        let metadata = metadata.unwrap_or_else(|| inner.metadata.clone());
        counters.opened(head, "previous snapshot", started.elapsed());
        let state = State { segment, excluded, checkpoint, base, tail: None, evidence };
        Snapshot::new(inner.plain.clone(), location, protocol, metadata, "previous snapshot", counters, state)
    }

    /// The newest version by a load from nothing, where that is not older than this one.
    ///
    /// # Errors
    /// As [`Snapshot::update`].
    pub(super) fn reopened(&self, location: Location) -> Result<Snapshot> {
        let newest = Snapshot::open_with_checks(location, At::Latest, self.checks())?;
        // another table in the same place has a history of its own
        if newest.version() < self.version() && newest.metadata().id == self.metadata().id {
            let version = newest.version() + 1;
            let path = self.inner.plain.root().to_string();
            return Err(Error::LogGap { path, version, missing: commit_name(version) });
        }
        Ok(newest)
    }

    /// What this snapshot listed, read and skipped so far.
    pub fn report(&self) -> Report {
        let state = self.state();
        Report {
            checkpoint_version: state.segment.checkpoint.as_ref().map(|c| c.version),
            commits: state.segment.tail.len() as u64,
            opened_from: self.inner.opened_from.to_owned(),
            ..self.inner.counters.report(self.version())
        }
    }
}

/// The totals of a checksum that was listed; `None` where it has none.
fn read_totals(location: &Location, file: &LogFile) -> Option<Totals> {
    let checksum = Checksum::read(location, file).ok()?;
    Totals::of(&checksum, location.log_dir().join(&file.name).to_string(), file.version)
}
