//! The state of a table at one version, made by plain forward replay: all that a checkpoint, a checksum or a compacted
//! file can be compared with, and nothing that the product's own replay has a part in.

use std::collections::{BTreeMap, HashMap};

use super::add_facts::{AddFacts, FileKey};
use super::commit_facts::{Change, CommitFacts};
use crate::actions::{DomainMetadata, Txn};
use crate::checksum::{Checksum, count, empty_checksum, finish_checksum};

/// A live file.
#[derive(Debug, Clone, Copy)]
pub(super) struct LiveFile {
    pub(super) facts: AddFacts,
    /// Version whose commit, or checkpoint, has the action.
    pub(super) since: u64,
    /// Number of the checkpoint that had it last.
    pub(super) seen: u32,
}

/// A tombstone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tombstone {
    pub(super) deleted_at: Option<i64>,
    pub(super) since: u64,
    pub(super) seen: u32,
}

/// The state at a version. About 150 bytes a live file, 60 a tombstone.
#[derive(Debug)]
pub(super) struct State {
    pub(super) version: u64,
    pub(super) files: HashMap<FileKey, LiveFile>,
    pub(super) tombstones: HashMap<FileKey, Tombstone>,
    /// Whether all tombstones are known: not where replay began at a checkpoint, which may have dropped some.
    pub(super) all_tombstones: bool,
    pub(super) txns: BTreeMap<String, Txn>,
    /// Removed ones too.
    pub(super) domains: BTreeMap<String, DomainMetadata>,
    /// Counts, protocol and metadata.
    pub(super) counted: Checksum,
}

impl State {
    pub(super) fn new(version: u64) -> Self {
        State {
            version,
            files: HashMap::new(),
            tombstones: HashMap::new(),
            all_tombstones: true,
            txns: BTreeMap::new(),
            domains: BTreeMap::new(),
            counted: empty_checksum(),
        }
    }

    pub(super) fn apply(&mut self, version: u64, commit: CommitFacts) {
        self.version = version;
        for (key, change) in commit.files {
            match change {
                Change::Add(facts) => {
                    self.tombstones.remove(&key);
                    self.add(key, facts, version);
                }
                Change::Remove(deleted_at) => {
                    if let Some(old) = self.files.remove(&key) {
                        count(&mut self.counted, old.facts.size, old.facts.deleted, -1);
                    }
                    self.tombstones.insert(key, Tombstone { deleted_at, since: version, seen: 0 });
                }
            }
        }
        self.txns.extend(commit.txns.into_iter().map(|t| (t.app_id.clone(), t)));
        self.domains.extend(commit.domains.into_iter().map(|d| (d.domain.clone(), d)));
        if commit.protocol.is_some() {
            self.counted.protocol = commit.protocol;
        }
        if commit.metadata.is_some() {
            self.counted.metadata = commit.metadata;
        }
        self.counted.in_commit_timestamp_opt = commit.timestamp;
        self.counted.txn_id = commit.txn_id;
    }

    /// Makes a file live; returns whether it was not.
    pub(super) fn add(&mut self, key: FileKey, facts: AddFacts, since: u64) -> bool {
        let old = self.files.insert(key, LiveFile { facts, since, seen: 0 });
        if let Some(old) = old {
            count(&mut self.counted, old.facts.size, old.facts.deleted, -1);
        }
        count(&mut self.counted, facts.size, facts.deleted, 1);
        old.is_none()
    }

    /// The checksum of the version; none without protocol or metadata.
    pub(super) fn checksum(&self) -> Option<Checksum> {
        let live = self.domains.values().filter(|d| !d.removed).cloned();
        finish_checksum(Checksum {
            set_transactions: Some(self.txns.values().cloned().collect()),
            domain_metadata: Some(live.collect()),
            ..self.counted.clone()
        })
    }
}
