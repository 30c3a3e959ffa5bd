use std::collections::BTreeMap;
use std::sync::Arc;

use super::commit::IndexedCommit;
use super::offset::Offset;
use crate::actions::Add;
use crate::log::LogFile;

/// What a source knows from one question to the next.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The files of the version where the stream began, in order.
    pub(super) initial: Option<(u64, Arc<Vec<Add>>)>,
    pub(super) commits: BTreeMap<u64, Arc<IndexedCommit>>,
    /// The newest commit that was listed.
    pub(super) head: Option<LogFile>,
}

impl Known {
    /// What lies before an offset is not asked for again.
    pub(super) fn forget_before(&mut self, start: &Offset) {
        self.commits = self.commits.split_off(&start.version);
        if !start.initial {
            self.initial = None;
        }
    }
}
