use bytes::Bytes;
use serde::Serialize;

use crate::actions::{Action, Add, Cdc, CommitInfo, DomainMetadata, Metadata, Protocol, Remove, Txn};
use crate::error::{Error, Result};

/// A borrowed action of a commit: a commit of many files is encoded without a copy of them.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ActionRef<'a> {
    /// `add`
    Add(&'a Add),
    /// `remove`
    Remove(&'a Remove),
    /// `cdc`
    Cdc(&'a Cdc),
    /// `metaData`
    MetaData(&'a Metadata),
    /// `protocol`
    Protocol(&'a Protocol),
    /// `txn`
    Txn(&'a Txn),
    /// `domainMetadata`
    DomainMetadata(&'a DomainMetadata),
    /// `commitInfo`
    CommitInfo(&'a CommitInfo),
    /// One that belongs to no commit.
    #[serde(untagged)]
    Other(&'a Action),
}

impl<'a> From<&'a Action> for ActionRef<'a> {
    fn from(action: &'a Action) -> Self {
        match action {
            Action::Add(add) => ActionRef::Add(add),
            Action::Remove(remove) => ActionRef::Remove(remove),
            Action::Cdc(cdc) => ActionRef::Cdc(cdc),
            Action::MetaData(metadata) => ActionRef::MetaData(metadata),
            Action::Protocol(protocol) => ActionRef::Protocol(protocol),
            Action::Txn(txn) => ActionRef::Txn(txn),
            Action::DomainMetadata(domain) => ActionRef::DomainMetadata(domain),
            Action::CommitInfo(info) => ActionRef::CommitInfo(info),
            other => ActionRef::Other(other),
        }
    }
}

/// The body of a commit: the provenance first, as in-commit timestamps demand, then the actions, one line each.
pub(crate) fn encode<'a>(
    info: &CommitInfo,
    actions: impl IntoIterator<Item = impl Into<ActionRef<'a>>>,
    path: &str,
) -> Result<Bytes> {
    let actions = actions.into_iter();
    let mut body = Vec::with_capacity(256 + actions.size_hint().0 * 512);
    let failed = |e: serde_json::Error| Error::storage("encode", path, e);
    serde_json::to_writer(&mut body, &ActionRef::CommitInfo(info)).map_err(failed)?;
    body.push(b'\n');
    for action in actions {
        serde_json::to_writer(&mut body, &action.into()).map_err(failed)?;
        body.push(b'\n');
    }
    Ok(body.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_one_json_object_a_line_and_provenance_is_first() {
        let info = CommitInfo { in_commit_timestamp: Some(7), ..Default::default() };
        let protocol = Protocol {
            min_reader_version: 1,
            min_writer_version: 2,
            reader_features: None,
            writer_features: None,
        };
        let expected = "{\"commitInfo\":{\"inCommitTimestamp\":7}}\n{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n";
        let body = encode(&info, [ActionRef::Protocol(&protocol)], "0.json").unwrap();
        assert_eq!(std::str::from_utf8(&body).unwrap(), expected);
        assert_eq!(encode(&info, &[Action::Protocol(protocol)], "0.json").unwrap(), body);
    }
}
