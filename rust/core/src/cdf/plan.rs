//! A range of versions with the one schema that all of its changes are read with.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::compatible::difference;
use super::files::{ChangeFile, Committed, files};
use super::range::{CdfRequest, resolve};
use crate::actions::{Action, Metadata};
use crate::error::condition::Condition;
use crate::error::{Error, Result, condition};
use crate::features::in_commit_since;
use crate::log::{Listing, LogFile, commit_name};
use crate::properties::TableProperty;
use crate::replay::{CHUNK, CommitActions, fetch, scan_for_metadata};
use crate::schema::{ColumnMappingMode, StructType, with_change_columns};
use crate::snapshot::{At, Snapshot, monotonic};

/// When a commit counts as made, and its files.
pub(super) type TimedFiles = (i64, Vec<ChangeFile>);

/// Whether the changes of the versions with this metadata are recorded.
const ENABLED: TableProperty = TableProperty::EnableChangeDataFeed;

/// The setting of delta-spark that says which version gives the schema.
const SCHEMA_MODE: &str = "spark.databricks.delta.changeDataFeed.defaultSchemaModeForColumnMappingTable";

/// The changes of a range of versions: those versions are in the log, the feed was on in all of them, and their rows can
/// be read with one schema. A copy is cheap.
#[derive(Debug, Clone)]
pub struct ChangeDataFeed {
    /// The version whose schema the rows have.
    pub(super) snapshot: Snapshot,
    pub(super) schema: Arc<StructType>,
    pub(crate) commits: Arc<Vec<LogFile>>,
    file_times: Arc<BTreeMap<u64, i64>>,
    in_commit_since: Option<u64>,
}

impl ChangeDataFeed {
    /// Plans the changes up to a version of a table. Where columns are mapped, in the first or the last version of the range
    /// or in the snapshot, the schema is that of the last version of the range, otherwise that of the snapshot, as in
    /// delta-spark.
    ///
    /// # Errors
    /// [`Error::VersionNotFound`], [`Error::TimestampOutOfRange`] and [`Error::InvalidTimeTravel`] for a range that the log
    /// does not have or that ends before it starts; [`Error::ChangesNotRecorded`] when the feed was off in a version of it;
    /// [`Error::ChangesSchemaMismatch`] when a column was renamed, dropped or got another type in it; [`Error::LogGap`] when
    /// a commit is missing in it.
    ///
    /// # Cost
    /// A listing of the log, the protocol and metadata of the first and the last version, and a read of each commit of the range, of which
    /// no file action is parsed. With timestamps and in-commit timestamps also a few commits more.
    pub fn plan(snapshot: &Snapshot, request: &CdfRequest) -> Result<Self> {
        let location = snapshot.location();
        let listing = Listing::read(location, 0)?;
        let range = resolve(snapshot, &listing, request)?;
        let mut plan = ChangeDataFeed {
            snapshot: snapshot.clone(),
            schema: Arc::new(with_change_columns(snapshot.schema())),
            commits: Arc::new(Vec::new()),
            file_times: Arc::new(monotonic(listing.commits())),
            in_commit_since: in_commit_since(snapshot.metadata()),
        };
        let Some(range) = range else { return Ok(plan) };
        let at = |version: u64| match version == snapshot.version() {
            true => Ok(snapshot.clone()),
            false => Snapshot::open(location.clone(), At::Version(version)),
        };
        let first = at(*range.start())?;
        plan.commits = Arc::new(commits(snapshot, &listing, &range)?);
        let last = at(*range.end())?;
        let maps = |version: &Snapshot| version.column_mapping() != ColumnMappingMode::None;
        let last = if maps(&first) || maps(&last) || maps(snapshot) { last } else { snapshot.clone() };
        plan.schema = Arc::new(with_change_columns(last.schema()));
        plan.snapshot = last;
        plan.check(&range, first.metadata())?;
        Ok(plan)
    }

    /// The feed and the schema in each version, the first of which has this metadata.
    fn check(&self, range: &RangeInclusive<u64>, first: &Metadata) -> Result<()> {
        let path = || self.snapshot.location().root().to_string();
        let (start, end) = (*range.start(), *range.end());
        let later = scan_for_metadata(self.snapshot.location(), self.commits.get(1..).unwrap_or_default())?;
        let recorded = |version: u64, metadata: &Metadata| match metadata.is_true(ENABLED) {
            true => Ok(()),
            false => Err(Error::ChangesNotRecorded { path: path(), start, end, version }
                .named(&condition::MISSING_CHANGE_DATA, [("key", ENABLED)])),
        };
        let readable = |version: u64, metadata: &Metadata, as_condition: &'static Condition| {
            let Some(reason) = difference(metadata, self.snapshot.metadata())? else { return Ok(()) };
            let read_version = self.snapshot.version();
            let read_schema = self.snapshot.schema().to_json();
            let error =
                Error::ChangesSchemaMismatch { path: path(), start, end, version, read_version, reason };
            let parameters = [
                ("readSchema", read_schema),
                ("incompatibleVersion", version.to_string()),
                ("config", SCHEMA_MODE.to_owned()),
            ];
            Err(error.named(as_condition, parameters))
        };
        recorded(start, first)?;
        for (version, metadata) in &later {
            recorded(*version, metadata)?;
            readable(*version, metadata, &condition::CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE)?;
        }
        // no change within the range: the version that gives the schema has another one than the first
        readable(start, first, &condition::CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA)?;
        Ok(())
    }

    /// The versions, first and last; `None` where there are none.
    pub fn versions(&self) -> Option<(u64, u64)> {
        Some((self.commits.first()?.version, self.commits.last()?.version))
    }

    /// The version whose schema the rows have, with the place of the table.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The columns of the table, then [`CHANGE_TYPE`](crate::schema::CHANGE_TYPE), [`COMMIT_VERSION`](crate::schema::COMMIT_VERSION) and
    /// [`COMMIT_TIMESTAMP`](crate::schema::COMMIT_TIMESTAMP).
    pub fn schema(&self) -> &StructType {
        &self.schema
    }

    /// The files of each version in turn, in the order of its actions.
    ///
    /// # Errors
    /// Each item is [`Error::LogCorrupt`] for a commit that cannot be read, or says why deleted rows cannot be compared.
    ///
    /// # Cost
    /// One GET a commit, many at a time; both deletion vectors and the footer of each file whose deleted rows changed.
    /// Memory: the bodies of as many commits as are fetched at a time, and the files of one.
    pub fn files(&self) -> impl Iterator<Item = Result<Vec<ChangeFile>>> + Send + 'static {
        self.timed_files().map(|commit| Ok(commit?.1))
    }

    /// [`ChangeDataFeed::files`] with the time of each commit, in milliseconds since the Unix epoch.
    pub(crate) fn timed_files(&self) -> impl Iterator<Item = Result<TimedFiles>> + Send + 'static {
        let plan = self.clone();
        (0..plan.commits.len().div_ceil(CHUNK)).flat_map(move |chunk| plan.files_of(chunk))
    }

    /// The files of a chunk of commits.
    fn files_of(&self, chunk: usize) -> Box<dyn Iterator<Item = Result<TimedFiles>> + Send> {
        let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(self.commits.len());
        let bodies = match fetch(self.snapshot.location(), &self.commits[range.clone()]) {
            Ok(bodies) => bodies,
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        let plan = self.clone();
        Box::new(range.zip(bodies).map(move |(index, body)| plan.files_in(&plan.commits[index], &body)))
    }

    fn files_in(&self, commit: &LogFile, body: &[u8]) -> Result<TimedFiles> {
        let location = self.snapshot.location();
        let path = location.log_dir().join(&commit.name).to_string();
        let version = commit.version;
        let CommitActions { actions } = CommitActions::parse(body, &path, Some(version))?;
        let in_commit = actions.iter().find_map(|action| match action {
            Action::CommitInfo(info) => info.in_commit_timestamp,
            _ => None,
        });
        let in_commit = in_commit.filter(|_| self.in_commit_since.is_some_and(|since| version >= since));
        let file_time = || self.file_times.get(&version).copied().unwrap_or(commit.modified);
        let timestamp = in_commit.unwrap_or_else(file_time);
        let partitioned = !self.snapshot.partition_columns().is_empty();
        let commit = Committed { location, partitioned, path: &path, version, timestamp };
        Ok((timestamp, files(commit, actions)?))
    }
}

/// The commits of a range, all of them.
fn commits(snapshot: &Snapshot, listing: &Listing, range: &RangeInclusive<u64>) -> Result<Vec<LogFile>> {
    let commits: Vec<LogFile> = listing.commits().filter(|c| range.contains(&c.version)).cloned().collect();
    match range.clone().zip(commits.iter().map(|c| c.version).chain([u64::MAX])).find(|(want, is)| want != is)
    {
        None => Ok(commits),
        Some((version, _)) => {
            let path = snapshot.location().root().to_string();
            Err(Error::LogGap { path, version, missing: commit_name(version) })
        }
    }
}
