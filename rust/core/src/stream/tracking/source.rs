//! When a stream writes into its log of schemas, and ends.

use super::schema_log::Entry;
use super::tracker::{Said, Tracker};
use crate::actions::{Metadata, Protocol};
use crate::error::{Error, Result, condition};
use crate::log::{Listing, LogFile, commit_name};
use crate::replay::fetch;
use crate::snapshot::{At, Snapshot};
use crate::stream::commit::IndexedCommit;
use crate::stream::offset::{AFTER_SCHEMA_CHANGE, BASE, Offset, SCHEMA_CHANGE};
use crate::stream::schema_changes::{Compare, ReadSchema, readable};
use crate::stream::source::Source;

impl Source {
    /// The log of schemas, where it has an entry.
    pub(in crate::stream) fn tracks(&self) -> Option<&Tracker> {
        self.tracker.as_ref().filter(|tracker| tracker.tracks())
    }

    /// Whether a batch must end before the files of a commit.
    ///
    /// # Errors
    /// Without a log of schemas as [`ReadSchema::check`].
    pub(in crate::stream) fn is_barrier(&self, version: u64, commit: &IndexedCommit) -> Result<bool> {
        match (self.tracks(), &commit.metadata) {
            (None, None) => Ok(false),
            (None, Some(metadata)) => self.read.check(version, metadata).map(|()| false),
            (Some(tracker), metadata) => {
                if let Some(found) = metadata
                    && found.id != self.table_id()
                {
                    return Err(self.replaced(&found.id));
                }
                tracker.is_change(&self.snapshot, version, metadata.as_ref(), commit.protocol.as_ref())
            }
        }
    }

    /// Where a query that reached a change of the schema continues: after it, and it stops there until it is started again.
    pub(in crate::stream) fn held(&self, from: &Offset) -> Result<Option<Offset>> {
        let Some(tracker) = self.tracks() else { return Ok(None) };
        if from.index == SCHEMA_CHANGE {
            return Ok(Some(Offset { index: AFTER_SCHEMA_CHANGE, ..from.clone() }));
        }
        if from.index == AFTER_SCHEMA_CHANGE {
            let said = self.said(from.version)?;
            let (metadata, protocol) = (said.metadata.as_ref(), said.protocol.as_ref());
            if tracker.is_change(&self.snapshot, from.version, metadata, protocol)? {
                return Ok(Some(from.clone()));
            }
        }
        Ok(None)
    }

    /// The rows up to an offset are taken. If the schema changes there, it is written into the log, and the query ends.
    ///
    /// # Errors
    /// [`Error::SourceSchemaChanged`]: the query must be started again. [`Error::InvalidArgument`] when another query has the
    /// same log.
    pub fn commit(&self, end: &Offset) -> Result<()> {
        let Some(tracker) = self.tracks() else { return Ok(()) };
        if end.index != SCHEMA_CHANGE && end.index != AFTER_SCHEMA_CHANGE {
            return Ok(());
        }
        let said = self.said(end.version)?;
        self.evolve(tracker, end.version, said.metadata.as_ref(), said.protocol.as_ref(), false)
    }

    /// The files that make up a version are to be read: in its schema. An entry that was made before anything was read gives
    /// way to it.
    pub(in crate::stream) fn check_initial(&self, snapshot: &Snapshot) -> Result<()> {
        let version = snapshot.version();
        let Some(tracker) = self.tracks() else { return self.read.check(version, snapshot.metadata()) };
        if version < self.schema_version() {
            return Ok(());
        }
        self.evolve(tracker, version, Some(snapshot.metadata()), Some(snapshot.protocol()), true)
    }

    fn evolve(
        &self,
        tracker: &Tracker,
        version: u64,
        metadata: Option<&Metadata>,
        protocol: Option<&Protocol>,
        replace: bool,
    ) -> Result<()> {
        if !tracker.is_change(&self.snapshot, version, metadata, protocol)? {
            return Ok(());
        }
        let metadata = metadata.unwrap_or(self.snapshot.metadata());
        let protocol = protocol.unwrap_or(self.snapshot.protocol());
        self.append(tracker, version, metadata, protocol, replace)?;
        Err(self.evolved(version, metadata, protocol))
    }

    fn append(
        &self,
        tracker: &Tracker,
        version: u64,
        metadata: &Metadata,
        protocol: &Protocol,
        replace: bool,
    ) -> Result<()> {
        let of = tracker.options.metadata_path.as_deref().unwrap_or_default();
        let entry = Entry::new(version, metadata, protocol, of)?;
        tracker.append(entry, replace, &self.location.root().to_string())
    }

    /// A query that reads its first rows begins its log, if that is empty, with the schema of the version where it starts.
    pub(in crate::stream) fn begin_log(&self, start: &Offset) -> Result<()> {
        let Some(tracker) = self.tracker.as_ref().filter(|tracker| !tracker.tracks()) else { return Ok(()) };
        // a stream from now on begins after the newest version, which has the schema
        let version = if start.mark { start.version.saturating_sub(1) } else { start.version };
        let at = self.at(version)?;
        self.initialize(tracker, version, at.metadata(), at.protocol())
    }

    /// As [`Source::begin_log`], for a batch that was planned before there was a log: with a schema that all of it can be read
    /// with.
    ///
    /// # Errors
    /// [`Error::SourceSchemaChanged`] where there is none, and where it is not that of the stream.
    pub(in crate::stream) fn begin_log_of_batch(&self, start: &Offset, end: &Offset) -> Result<()> {
        let Some(tracker) = self.tracker.as_ref().filter(|tracker| !tracker.tracks()) else { return Ok(()) };
        let last = if end.index == BASE { end.version.saturating_sub(1) } else { end.version };
        let first = self.at(start.version.min(last))?;
        let none = || {
            let (a, b) = (start.version, last);
            let reason = format!(
                "the batch of versions {a} to {b} was planned before schemas were kept, and no schema fits all of it: start a \
                 query with a new checkpoint"
            );
            let path = self.location.root().to_string();
            Error::SourceSchemaChanged { path, version: last, reason }.named(
                &condition::STREAMING_SCHEMA_LOG_INIT_FAILED_INCOMPATIBLE_METADATA,
                [("a", a.to_string()), ("b", b.to_string())],
            )
        };
        let (mut all, mut protocol) = (vec![first.metadata().clone()], first.protocol().clone());
        for said in self.said_between(start.version, last)? {
            all.extend(said.metadata);
            if let Some(later) = said.protocol {
                let features = |p: &Protocol| {
                    p.reader_features.iter().chain(&p.writer_features).flatten().cloned().collect::<Vec<_>>()
                };
                let (had, has) = (features(&protocol), features(&later));
                if !had.iter().all(|feature| has.contains(feature)) {
                    return Err(none());
                }
                protocol = later;
            }
        }
        let Some((newest, older)) = all.split_last() else { return Ok(()) };
        let schema = newest.schema()?;
        let read = ReadSchema::new(String::new(), last, newest.clone(), schema.clone(), true);
        for metadata in older {
            let compare = Compare { widens: false, may_lack: false };
            if read.check(0, metadata).is_err()
                || readable(&metadata.schema()?, &schema, compare, "").is_err()
            {
                return Err(none());
            }
        }
        self.initialize(tracker, last, newest, &protocol)
    }

    fn initialize(
        &self,
        tracker: &Tracker,
        version: u64,
        metadata: &Metadata,
        protocol: &Protocol,
    ) -> Result<()> {
        self.append(tracker, version, metadata, protocol, false)?;
        match tracker.is_change(&self.snapshot, version, Some(metadata), Some(protocol))? {
            true => Err(self.evolved(version, metadata, protocol)),
            false => Ok(()),
        }
    }

    fn evolved(&self, version: u64, metadata: &Metadata, protocol: &Protocol) -> Error {
        let reason =
            "its schema, properties or protocol changed, and the log of schemas has the new ones. Start the \
                      query again: it continues with them"
                .to_owned();
        let config: Vec<_> = metadata.configuration.iter().map(|(k, v)| format!("{k}:{v}")).collect();
        // numbers and texts always have a JSON form
        let protocol = serde_json::to_string(protocol).unwrap_or_default();
        let parameters = [
            ("schema", metadata.schema_string.clone()),
            ("config", config.join(", ")),
            ("protocol", protocol),
        ];
        let path = self.location.root().to_string();
        Error::SourceSchemaChanged { path, version, reason }
            .named(&condition::STREAMING_METADATA_EVOLUTION, parameters)
    }

    fn at(&self, version: u64) -> Result<Snapshot> {
        match version == self.table.version() {
            true => Ok(self.table.clone()),
            false => Snapshot::open(self.location.clone(), At::Version(version)),
        }
    }

    /// The facts of the commit of a version.
    fn said(&self, version: u64) -> Result<Said> {
        let path = self.location.log_dir().join(&commit_name(version));
        let body = self.location.store().get(&path).map_err(|error| match error {
            Error::NotFound { .. } => self.lost(version),
            other => other,
        })?;
        Said::parse(&path.to_string(), version, &body)
    }

    fn said_between(&self, first: u64, last: u64) -> Result<Vec<Said>> {
        let listing = Listing::read(&self.location, first)?;
        let commits: Vec<LogFile> =
            listing.commits().filter(|c| (first..=last).contains(&c.version)).cloned().collect();
        let dir = self.location.log_dir();
        let of = |(commit, body): (&LogFile, bytes::Bytes)| {
            Said::parse(&dir.join(&commit.name).to_string(), commit.version, &body)
        };
        commits.iter().zip(fetch(&self.location, &commits)?).map(of).collect()
    }
}
