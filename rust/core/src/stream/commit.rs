//! One commit as a stream sees it: the files that it adds, and its effect on older rows.

use super::options::SourceOptions;
use crate::actions::{Action, Add, Metadata, Protocol};
use crate::error::{Error, Result};
use crate::features::check_reader;
use crate::replay::CommitActions;

/// A commit. The index of a file is its place among the files with new rows, as the commit lists them.
#[derive(Debug)]
pub(super) struct IndexedCommit {
    /// Files with new rows, without statistics; none where the commit is skipped.
    pub(super) files: Vec<Add>,
    /// The metadata that it sets.
    pub(super) metadata: Option<Metadata>,
    /// The protocol that it sets.
    pub(super) protocol: Option<Protocol>,
    /// A file whose rows it removes.
    removed: Option<String>,
    adds: bool,
    /// Operation and parameters, for messages.
    operation: Option<String>,
}

impl IndexedCommit {
    pub(super) fn parse(
        table: &str,
        version: u64,
        path: &str,
        body: &[u8],
        options: &SourceOptions,
    ) -> Result<Self> {
        let mut commit = IndexedCommit {
            files: Vec::new(),
            metadata: None,
            protocol: None,
            removed: None,
            adds: false,
            operation: None,
        };
        for action in CommitActions::parse(body, path, Some(version))?.actions {
            match action {
                Action::Add(add) if add.data_change => {
                    commit.files.push(Add { stats: None, tags: None, ..*add });
                }
                Action::Remove(remove) if remove.data_change && commit.removed.is_none() => {
                    commit.removed = Some(remove.path.as_str().to_owned());
                }
                Action::MetaData(metadata) => commit.metadata = Some(*metadata),
                Action::Protocol(protocol) => {
                    check_reader(table, &protocol)?;
                    commit.protocol = Some(protocol);
                }
                Action::CommitInfo(info) => commit.operation = info.operation,
                _ => {}
            }
        }
        commit.adds = !commit.files.is_empty();
        if options.skip_change_commits && commit.removed.is_some() {
            commit.files.clear();
        }
        Ok(commit)
    }

    /// Refuses a commit that removes or changes rows, unless the options allow it.
    pub(super) fn check_rows(&self, table: &str, version: u64, options: &SourceOptions) -> Result<()> {
        let Some(removed) = &self.removed else { return Ok(()) };
        let changes = options.ignore_changes || options.skip_change_commits;
        if changes || (!self.adds && options.ignore_deletes) {
            return Ok(());
        }
        let (what, option) =
            if self.adds { ("changes", "skipChangeCommits") } else { ("removes", "ignoreDeletes") };
        Err(Error::SourceRowsChanged {
            path: table.to_owned(),
            version,
            what: what.to_owned(),
            cause: self.operation.clone().unwrap_or_else(|| format!("removes {removed}")),
            option: option.to_owned(),
        })
    }
}
