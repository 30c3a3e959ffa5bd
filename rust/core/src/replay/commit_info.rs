//! The provenance of a commit.

use super::CommitActions;
use crate::actions::{Action, CommitInfo};
use crate::error::Result;

/// The `commitInfo` of a commit from its body.
pub(crate) fn info_of(body: &[u8], path: &str, version: u64) -> Result<Option<CommitInfo>> {
    // it is the first line wherever a writer follows the protocol; all lines are read only where it is not
    let first = body.split(|b| *b == b'\n').next().unwrap_or_default();
    let parse = |b: &[u8]| {
        CommitActions::parse(b, path, Some(version)).map(|c| {
            c.actions.into_iter().find_map(|a| match a {
                Action::CommitInfo(info) => Some(*info),
                _ => None,
            })
        })
    };
    if first.starts_with(br#"{"commitInfo":"#)
        && let Ok(Some(info)) = parse(first)
    {
        return Ok(Some(info));
    }
    parse(body)
}
