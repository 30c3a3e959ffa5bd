//! What verification needs of a commit or a compacted file. Paths are not kept.

use std::collections::{BTreeMap, HashSet};

use super::add_facts::{AddFacts, FileKey, file_key};
use crate::actions::{Add, CommitInfo, DomainMetadata, Metadata, ObjectPath, Protocol, Remove, Txn};
use crate::error::Result;
use crate::replay::{for_each_action, for_each_line, parse_whole};

/// The facts of a file action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Add(AddFacts),
    /// With the time of the removal.
    Remove(Option<i64>),
}

/// One commit.
#[derive(Debug, Default)]
pub(super) struct CommitFacts {
    pub(super) files: Vec<(FileKey, Change)>,
    pub(super) txns: Vec<Txn>,
    pub(super) domains: Vec<DomainMetadata>,
    pub(super) protocol: Option<Protocol>,
    pub(super) metadata: Option<Metadata>,
    pub(super) timestamp: Option<i64>,
    pub(super) txn_id: Option<String>,
    /// Whether `commitInfo` is the first action.
    pub(super) info_is_first: bool,
    /// Actions that a commit may have only once, and that it has again.
    pub(super) repeated: Vec<String>,
}

impl CommitFacts {
    /// # Errors
    /// [`crate::Error::LogCorrupt`] with the number of the line.
    pub(super) fn parse(body: &[u8], path: &str, version: u64, root: &ObjectPath) -> Result<Self> {
        let mut out = CommitFacts::default();
        let mut once: HashSet<(&'static str, String)> = HashSet::new();
        let mut repeat = |kind: &'static str, name: &str, out: &mut Vec<String>| {
            if !once.insert((kind, name.to_owned())) {
                out.push(format!("{kind} {name}").trim_end().to_owned());
            }
        };
        let mut actions = 0;
        for_each_line(body, path, Some(version), |line| {
            for_each_action(line, |action, value| {
                let whole = match action {
                    "add" => match parse_whole::<Add>(value)? {
                        Some(add) => {
                            repeat("add", add.path.as_str(), &mut out.repeated);
                            let key = file_key(add.path.as_str(), add.deletion_vector.as_ref(), root);
                            let key = key.map_err(|e| e.to_string())?;
                            out.files.push((key, Change::Add(AddFacts::of(&add))));
                            true
                        }
                        None => false,
                    },
                    "remove" => match parse_whole::<Remove>(value)? {
                        Some(remove) => {
                            repeat("remove", remove.path.as_str(), &mut out.repeated);
                            let vector = remove.deletion_vector.as_ref();
                            let key = file_key(remove.path.as_str(), vector, root);
                            let key = key.map_err(|e| e.to_string())?;
                            out.files.push((key, Change::Remove(remove.deletion_timestamp)));
                            true
                        }
                        None => false,
                    },
                    "txn" => match parse_whole::<Txn>(value)? {
                        Some(txn) => {
                            repeat("txn", &txn.app_id, &mut out.repeated);
                            out.txns.push(txn);
                            true
                        }
                        None => false,
                    },
                    "domainMetadata" => match parse_whole::<DomainMetadata>(value)? {
                        Some(domain) => {
                            repeat("domainMetadata", &domain.domain, &mut out.repeated);
                            out.domains.push(domain);
                            true
                        }
                        None => false,
                    },
                    "protocol" => match parse_whole(value)? {
                        Some(protocol) => {
                            repeat("protocol", "", &mut out.repeated);
                            out.protocol = Some(protocol);
                            true
                        }
                        None => false,
                    },
                    "metaData" => match parse_whole(value)? {
                        Some(metadata) => {
                            repeat("metaData", "", &mut out.repeated);
                            out.metadata = Some(metadata);
                            true
                        }
                        None => false,
                    },
                    "commitInfo" => match parse_whole::<CommitInfo>(value)? {
                        Some(info) => {
                            out.timestamp = info.in_commit_timestamp;
                            out.txn_id = info.txn_id;
                            out.info_is_first = actions == 0;
                            true
                        }
                        None => false,
                    },
                    _ => parse_whole::<serde::de::IgnoredAny>(value)?.is_some(),
                };
                actions += usize::from(whole);
                Ok(whole)
            })
            .map_err(|reason| reason.to_string())
        })?;
        Ok(out)
    }
}

/// The actions of several commits, reconciled: the last one counts.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Reconciled {
    pub(super) files: BTreeMap<FileKey, Change>,
    pub(super) txns: BTreeMap<String, Txn>,
    pub(super) domains: BTreeMap<String, DomainMetadata>,
    pub(super) protocol: Option<Protocol>,
    pub(super) metadata: Option<Metadata>,
}

impl Reconciled {
    pub(super) fn apply(&mut self, commit: &CommitFacts) {
        self.files.extend(commit.files.iter().copied());
        self.txns.extend(commit.txns.iter().map(|t| (t.app_id.clone(), t.clone())));
        self.domains.extend(commit.domains.iter().map(|d| (d.domain.clone(), d.clone())));
        if commit.protocol.is_some() {
            self.protocol.clone_from(&commit.protocol);
        }
        if commit.metadata.is_some() {
            self.metadata.clone_from(&commit.metadata);
        }
    }
}
