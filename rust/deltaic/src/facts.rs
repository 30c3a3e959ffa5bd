//! The facts of a table in a version, read only.

use std::collections::BTreeMap;

use crate::core;

/// The protocol of a version (PROTOCOL.md, "Protocol Evolution"): what a client must support.
#[derive(Debug, Clone, PartialEq)]
pub struct Protocol(pub(crate) core::Protocol);

impl Protocol {
    /// The reader version.
    pub fn min_reader_version(&self) -> i32 {
        self.0.min_reader_version
    }

    /// The writer version.
    pub fn min_writer_version(&self) -> i32 {
        self.0.min_writer_version
    }

    /// The table features that a reader must support; empty below reader version 3.
    pub fn reader_features(&self) -> &[String] {
        self.0.reader_features.as_deref().unwrap_or_default()
    }

    /// The table features that a writer must support; empty below writer version 7.
    pub fn writer_features(&self) -> &[String] {
        self.0.writer_features.as_deref().unwrap_or_default()
    }
}

/// The metadata of a version (PROTOCOL.md, "Change Metadata"). The schema is [`Snapshot::schema`](crate::Snapshot::schema).
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata(pub(crate) core::Metadata);

impl Metadata {
    /// The id of the table, which a replacement changes.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// The name, where one was given.
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// The description, where one was given.
    pub fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    /// The partition columns, in order.
    pub fn partition_columns(&self) -> &[String] {
        &self.0.partition_columns
    }

    /// The table properties.
    pub fn configuration(&self) -> &BTreeMap<String, String> {
        &self.0.configuration
    }

    /// When the table was created, in milliseconds since the Unix epoch.
    pub fn created_time(&self) -> Option<i64> {
        self.0.created_time
    }
}

/// One commit of the history (PROTOCOL.md, "Commit Provenance Information"). All but version and timestamp is what the
/// writer chose to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit(pub(crate) core::Commit);

impl Commit {
    /// The version.
    pub fn version(&self) -> u64 {
        self.0.version
    }

    /// When it was committed, in milliseconds since the Unix epoch: the in-commit timestamp, or the time of the file made
    /// monotonic.
    pub fn timestamp(&self) -> i64 {
        self.0.timestamp
    }

    /// The operation, such as `WRITE`.
    pub fn operation(&self) -> Option<&str> {
        self.0.info.as_ref()?.operation.as_deref()
    }

    /// The parameters of the operation as JSON text, by name.
    pub fn operation_parameters(&self) -> BTreeMap<String, String> {
        let given = self.0.info.as_ref().and_then(|info| info.operation_parameters.as_ref());
        given.into_iter().flatten().map(|(name, value)| (name.clone(), value.to_string())).collect()
    }

    /// The metrics of the operation as JSON text, by name.
    pub fn operation_metrics(&self) -> BTreeMap<String, String> {
        let given = self.0.info.as_ref().and_then(|info| info.operation_metrics.as_ref());
        given.into_iter().flatten().map(|(name, value)| (name.clone(), value.to_string())).collect()
    }

    /// The text that the user gave.
    pub fn user_metadata(&self) -> Option<&str> {
        self.0.info.as_ref()?.user_metadata.as_deref()
    }

    /// The engine that wrote it.
    pub fn engine_info(&self) -> Option<&str> {
        self.0.info.as_ref()?.engine_info.as_deref()
    }

    /// Whether it read nothing of the table.
    pub fn is_blind_append(&self) -> Option<bool> {
        self.0.info.as_ref()?.is_blind_append
    }
}
