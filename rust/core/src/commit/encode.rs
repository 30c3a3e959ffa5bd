use bytes::Bytes;

use crate::actions::{Action, CommitInfo};
use crate::error::{Error, Result};

/// The body of a commit: the provenance first, as in-commit timestamps demand, then the actions, one line each.
pub(super) fn encode(info: &CommitInfo, actions: &[Action], path: &str) -> Result<Bytes> {
    let mut body = Vec::with_capacity(256 + actions.len() * 512);
    let failed = |e: serde_json::Error| Error::storage("encode", path, e);
    serde_json::to_writer(&mut body, &Action::from(info.clone())).map_err(failed)?;
    body.push(b'\n');
    for action in actions {
        serde_json::to_writer(&mut body, action).map_err(failed)?;
        body.push(b'\n');
    }
    Ok(body.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::Protocol;

    #[test]
    fn a_commit_is_one_json_object_a_line_and_provenance_is_first() {
        let info = CommitInfo { in_commit_timestamp: Some(7), ..Default::default() };
        let protocol = Protocol {
            min_reader_version: 1,
            min_writer_version: 2,
            reader_features: None,
            writer_features: None,
        };
        let body = encode(&info, &[Action::Protocol(protocol)], "0.json").unwrap();
        assert_eq!(
            std::str::from_utf8(&body).unwrap(),
            "{\"commitInfo\":{\"inCommitTimestamp\":7}}\n{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
        );
    }
}
