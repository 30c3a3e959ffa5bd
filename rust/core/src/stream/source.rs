use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::admission::{Admission, ReadLimit};
use super::known::Known;
use super::offset::{END, Offset, SCHEMA_CHANGE};
use super::options::{SourceOptions, Start};
use super::schema_changes::ReadSchema;
use super::tracking::Tracker;
use crate::actions::Add;
use crate::error::{Error, Result, condition};
use crate::schema::ColumnMappingMode;
use crate::snapshot::{At, Snapshot, Verify};
use crate::store::{Location, StorageOptions};

/// A table as a stream. Every file is read in the schema that the table had when the source was opened, or in that which
/// the log of schemas has, where the stream keeps one.
#[derive(Debug)]
pub struct Source {
    uri: String,
    storage: StorageOptions,
    pub(super) location: Location,
    /// The newest version when the source was opened.
    pub(super) table: Snapshot,
    /// The same in the schema of the stream.
    pub(super) snapshot: Snapshot,
    pub(super) read: ReadSchema,
    pub(super) tracker: Option<Tracker>,
    pub(super) options: SourceOptions,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: Known,
    beginning: Option<Offset>,
    bound: Bound,
    /// Whether the schema where the query continues was compared.
    compared: bool,
}

/// Where a query ends that reads the existing data and stops (`Trigger.AvailableNow`).
#[derive(Debug, Default)]
enum Bound {
    #[default]
    None,
    /// At the newest data when it is first asked.
    Asked,
    /// Here; none where there is nothing.
    At(Option<Offset>),
}

/// Files of a batch that one scan can read: no file is in it with two deletion vectors.
#[derive(Debug, Clone)]
pub struct BatchPart {
    /// The version in whose schema they are read.
    pub snapshot: Snapshot,
    /// The files, without statistics.
    pub files: Vec<Add>,
}

impl Source {
    /// Opens the table at a path or URL. Nothing of its files is read.
    ///
    /// # Errors
    /// As [`Snapshot::open`]; [`Error::InvalidSchema`] for a table without columns; with a log of schemas
    /// [`Error::InvalidArgument`] where it cannot be read or is that of another source, and
    /// [`Error::SourceSchemaChanged`] where its newest schema lacks what the one before had, and the options do not allow it.
    pub fn open(uri: &str, storage: &StorageOptions, options: SourceOptions) -> Result<Self> {
        let table = Snapshot::newest(uri, storage, Verify::default())?;
        let location = Location::open(uri, storage)?;
        let tracker = Tracker::open(&options.tracking, &table, storage)?;
        let snapshot = match &tracker {
            None => table.clone(),
            Some(tracker) => tracker.read_as(&table)?,
        };
        if snapshot.schema().fields.is_empty() {
            let reason = format!("`{}` has no columns yet: a stream cannot begin", location.root());
            return Err(Error::InvalidSchema { reason }.of_condition(&condition::SCHEMA_NOT_SET));
        }
        let (metadata, schema) = (table.metadata().clone(), table.schema().as_ref().clone());
        let refuses_wider = options.tracking.widening_needs_a_log();
        let path = location.root().to_string();
        let read = ReadSchema::new(path, table.version(), metadata, schema, !refuses_wider);
        let (uri, storage, state) = (uri.to_owned(), storage.clone(), Mutex::default());
        Ok(Source { uri, storage, location, table, snapshot, read, tracker, options, state })
    }

    /// The table in the schema that the stream has.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The version whose schema the stream has.
    pub fn schema_version(&self) -> u64 {
        let tracked = self.tracker.as_ref().and_then(Tracker::version);
        tracked.unwrap_or_else(|| self.table.version())
    }

    /// The options.
    pub fn options(&self) -> &SourceOptions {
        &self.options
    }

    /// Options of the store.
    pub fn storage(&self) -> &StorageOptions {
        &self.storage
    }

    /// From now on the stream ends at the newest data when [`Source::latest`] is first called.
    pub fn stop_at_what_is_there(&self) {
        let mut state = self.state();
        if matches!(state.bound, Bound::None) {
            state.bound = Bound::Asked;
        }
    }

    /// The offset before the first file of a stream without a checkpoint.
    ///
    /// # Errors
    /// [`Error::VersionNotFound`] and [`Error::TimestampOutOfRange`] for a start that the log does not have.
    pub fn first(&self) -> Result<Offset> {
        self.begin(&mut self.state())
    }

    /// The offset after all current data, regardless of a query's progress.
    ///
    /// # Errors
    /// As [`Snapshot::update`].
    pub fn head(&self) -> Result<Offset> {
        let newest = self.newest()?;
        match newest.metadata().id == self.table_id() {
            true => Ok(Offset::before(self.table_id(), newest.version() + 1, false)),
            false => Err(self.replaced(&newest.metadata().id)),
        }
    }

    /// The end of a batch after `start`: the same offset if there is nothing new, `None` if there is nothing at all.
    /// Without a start the stream begins as the options say.
    ///
    /// # Errors
    /// [`Error::SourceRowsChanged`] when a commit removes or changes rows; [`Error::SourceSchemaChanged`];
    /// [`Error::SourceDataLost`] when a commit is missing; [`Error::SourceReplaced`] when another table is in its place;
    /// [`Error::InvalidOffset`]; [`Source::first`]; and what the log gives.
    ///
    /// # Cost
    /// One listing from the offset on, and the commits until the limit is reached. The first call of a new stream lists
    /// the files of the table.
    pub fn latest(&self, start: Option<&Offset>, limit: ReadLimit) -> Result<Option<Offset>> {
        let mut state = self.state();
        if matches!(state.bound, Bound::Asked) {
            let all = self.within(&mut state, start, ReadLimit::All, None)?;
            state.bound = Bound::At(all);
        }
        let bound = match &state.bound {
            Bound::At(None) => return Ok(start.cloned()),
            Bound::At(bound) => bound.clone(),
            _ => None,
        };
        self.within(&mut state, start, limit, bound.as_ref())
    }

    fn within(
        &self,
        state: &mut State,
        start: Option<&Offset>,
        limit: ReadLimit,
        bound: Option<&Offset>,
    ) -> Result<Option<Offset>> {
        let from = match start {
            Some(start) => start.clone(),
            None => self.begin(state)?,
        };
        if start.is_none() {
            if self.is_ahead(&from)? {
                return Ok(None);
            }
            self.begin_log(&from)?;
            if from.mark {
                // a batch of nothing writes into the checkpoint where the stream began
                return Ok(Some(from));
            }
        }
        self.check_table(&from)?;
        if let Some(held) = self.held(&from)? {
            return Ok(Some(held));
        }
        self.compare(state, &from)?;
        let mut left = Admission::new(limit);
        let mut last = None;
        self.walk(&mut state.known, &from, bound, false, |(version, index, file)| {
            let taken = file.is_none_or(|file| left.admits(file.size));
            if taken {
                last = Some((version, index));
            }
            taken && index != SCHEMA_CHANGE
        })?;
        Ok(match last {
            None => start.cloned(),
            Some((version, END)) => Some(Offset::before(self.table_id(), version + 1, false)),
            Some((version, index)) => Some(Offset {
                version,
                index,
                initial: from.initial && version == from.version,
                ..Offset::before(self.table_id(), version, false)
            }),
        })
    }

    /// The files after `start` up to and including `end`; `None` for the first batch of a stream. At least one part, which
    /// may be empty.
    ///
    /// # Errors
    /// As [`Source::latest`]; [`Error::InvalidOffset`] for an end before the start.
    ///
    /// # Cost
    /// As [`Source::latest`]; what that has read is not read again.
    pub fn batch(&self, start: Option<&Offset>, end: &Offset) -> Result<Vec<BatchPart>> {
        let mut state = self.state();
        self.check_table(end)?;
        let from = match start {
            Some(start) => start.clone(),
            None => self.begin_of(&mut state, end)?,
        };
        self.check_table(&from)?;
        let mut parts = vec![BatchPart { snapshot: self.snapshot.clone(), files: Vec::new() }];
        if from.place() == end.place() && from.initial == end.initial {
            return Ok(parts);
        }
        if from.place() > end.place() || (end.initial && !from.initial) {
            let reason = format!("it is before the offset that the batch begins with, {}", from.to_json());
            return Err(Error::InvalidOffset { offset: end.to_json(), reason });
        }
        state.known.forget_before(&from);
        self.begin_log_of_batch(&from, end)?;
        self.compare(&mut state, &from)?;
        let mut with_vectors: HashSet<String> = HashSet::new();
        self.walk(&mut state.known, &from, Some(end), true, |(_, _, file)| {
            let Some(file) = file.filter(|f| self.takes(f)) else { return true };
            if file.deletion_vector.is_some() && !with_vectors.insert(file.path.as_str().to_owned()) {
                parts.push(BatchPart { snapshot: self.snapshot.clone(), files: Vec::new() });
                with_vectors = HashSet::from([file.path.as_str().to_owned()]);
            }
            if let Some(part) = parts.last_mut() {
                part.files.push(file.clone());
            }
            true
        })?;
        Ok(parts)
    }

    /// What [`Source::batch`] does first where the query keeps schemas since a short time: its log begins with a schema that
    /// fits all of the batch.
    ///
    /// # Errors
    /// [`Error::SourceSchemaChanged`] where none does, and where it is not that of the stream.
    pub fn begin_log_of(&self, start: Option<&Offset>, end: &Offset) -> Result<()> {
        self.check_table(end)?;
        let from = match start {
            Some(start) => start.clone(),
            None => self.begin_of(&mut self.state(), end)?,
        };
        if from.place() == end.place() && from.initial == end.initial {
            return Ok(());
        }
        self.begin_log_of_batch(&from, end)
    }

    fn takes(&self, file: &Add) -> bool {
        self.options.exclude.as_ref().is_none_or(|exclude| !exclude.is_match(file.path.as_str()))
    }

    /// The start of the first batch, of which the checkpoint knows only the end.
    fn begin_of(&self, state: &mut State, end: &Offset) -> Result<Offset> {
        let unknown =
            |reason: &str| Error::InvalidOffset { offset: end.to_json(), reason: reason.to_owned() };
        match self.options.start {
            Start::Latest if end.mark => Ok(end.clone()),
            Start::Latest => Err(unknown(
                "the first batch of this checkpoint was not finished, and its start is not recorded: set \
                 startingVersion to the number of that version",
            )),
            Start::Table if end.initial => Ok(Offset::before(self.table_id(), end.version, true)),
            // the files of the version before, and then what the commit adds: the same rows as from an older version on
            Start::Table => match end.version.checked_sub(1) {
                Some(version) => Ok(Offset::before(self.table_id(), version, true)),
                None => Err(unknown("no version is before 0")),
            },
            _ => self.begin(state),
        }
    }

    fn begin(&self, state: &mut State) -> Result<Offset> {
        if let Some(offset) = &state.beginning {
            return Ok(offset.clone());
        }
        let offset = self.beginning()?;
        state.beginning = Some(offset.clone());
        Ok(offset)
    }

    /// Once in the life of a source: a column that was renamed between the offset where the query continues and the version
    /// that the source was opened with shows in no commit that is read.
    fn compare(&self, state: &mut State, from: &Offset) -> Result<()> {
        if state.compared || self.tracks().is_some() || from.initial || from.version >= self.table.version() {
            return Ok(());
        }
        match Snapshot::open(self.location.clone(), At::Version(from.version)) {
            Ok(there) => self.read.check(from.version, there.metadata())?,
            // without column mapping no column can be renamed
            Err(Error::VersionNotFound { .. } | Error::LogGap { .. })
                if self.table.column_mapping() == ColumnMappingMode::None => {}
            Err(error) => return Err(error),
        }
        state.compared = true;
        Ok(())
    }

    fn check_table(&self, offset: &Offset) -> Result<()> {
        if offset.table_id != self.table_id() {
            let path = self.location.root().to_string();
            let found = self.table_id().to_owned();
            return Err(Error::SourceReplaced { path, expected: offset.table_id.clone(), found });
        }
        Ok(())
    }

    pub(super) fn replaced(&self, found: &str) -> Error {
        Error::SourceReplaced {
            path: self.location.root().to_string(),
            expected: self.table_id().to_owned(),
            found: found.to_owned(),
        }
    }

    pub(super) fn table_id(&self) -> &str {
        &self.table.metadata().id
    }

    pub(super) fn newest(&self) -> Result<Snapshot> {
        Snapshot::newest(&self.uri, &self.storage, Verify::default())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
