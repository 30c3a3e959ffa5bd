use bytes::Bytes;
use rayon::prelude::*;

use super::line::{for_each_action, for_each_line, parse_whole, split};
use crate::actions::{Metadata, Protocol};
use crate::error::Result;
use crate::log::LogFile;
use crate::store::{Location, Recycling, runtime};

/// Commits that are fetched and parsed together: enough to keep all cores busy, few enough to bound the bodies held.
pub(crate) const CHUNK: usize = 256;

/// The bodies of log files, fetched at once, in order.
pub(crate) fn fetch(location: &Location, files: &[LogFile]) -> Result<Vec<Bytes>> {
    let dir = location.log_dir();
    let paths: Vec<_> = files.iter().map(|f| dir.join(&f.name)).collect();
    location.store().get_many(&paths).into_iter().collect()
}

/// The newest protocol and metadata of a run of commits (oldest first), and nothing else: no file action is parsed.
/// Reads from the end and stops when both are found or `found` already holds what is missing.
pub(crate) fn scan_for_protocol_and_metadata(
    location: &Location,
    commits: &[LogFile],
) -> Result<(Option<Protocol>, Option<Metadata>)> {
    let _recycling = Recycling::begin();
    let (mut protocol, mut metadata) = (None, None);
    // short tails first: the newest commits often hold nothing, and a table has few metadata changes
    let mut end = commits.len();
    let mut take = 16;
    while end > 0 && (protocol.is_none() || metadata.is_none()) {
        let start = end.saturating_sub(take);
        let files = &commits[start..end];
        for (newer_protocol, newer_metadata) in in_commits(location, files)?.into_iter().rev() {
            protocol = protocol.or(newer_protocol);
            metadata = metadata.or(newer_metadata);
        }
        end = start;
        take = (take * 4).min(CHUNK);
    }
    Ok((protocol, metadata))
}

/// The metadata of each commit of a run that has one, with its version, in their order. No file action is parsed.
///
/// # Errors
/// [`crate::Error::LogCorrupt`] for a commit that cannot be read.
///
/// # Cost
/// One GET a commit; memory for the bodies of [`CHUNK`] commits.
pub(crate) fn scan_for_metadata(location: &Location, commits: &[LogFile]) -> Result<Vec<(u64, Metadata)>> {
    let mut found = Vec::new();
    for files in commits.chunks(CHUNK) {
        let metadata =
            files.iter().zip(in_commits(location, files)?).filter_map(|(f, (_, m))| Some((f.version, m?)));
        found.extend(metadata);
    }
    Ok(found)
}

/// The content of each of these commits, in their order; all are fetched at once.
fn in_commits(location: &Location, files: &[LogFile]) -> Result<Vec<(Option<Protocol>, Option<Metadata>)>> {
    let bodies = fetch(location, files)?;
    each_of(&bodies, files, |body, file| in_commit(body, file, location))
}

/// The work of each commit, in their order: on all cores, and here where there is one, because to wake a core takes longer
/// than to read one commit.
///
/// # Errors
/// One of those of the work.
pub(super) fn each_of<'b, T: Send>(
    bodies: &'b [Bytes],
    files: &[LogFile],
    work: impl Fn(&'b Bytes, &LogFile) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    if let ([body], [file]) = (bodies, files) {
        return Ok(vec![work(body, file)?]);
    }
    runtime::pool()?.install(|| bodies.par_iter().zip(files).map(|(body, file)| work(body, file)).collect())
}

fn in_commit(
    body: &Bytes,
    file: &LogFile,
    location: &Location,
) -> Result<(Option<Protocol>, Option<Metadata>)> {
    let (mut protocol, mut metadata) = (None, None);
    let path = location.log_dir().join(&file.name).to_string();
    for_each_line(body, &path, Some(file.version), |line| {
        // file actions, nearly all lines, are recognised by their first bytes
        if line.starts_with(br#"{"add":{"#) || line.starts_with(br#"{"remove":{"#) {
            return split(line).map(|_| ());
        }
        for_each_action(line, |key, value| {
            match key {
                "protocol" => match parse_whole(value)? {
                    Some(parsed) => protocol = Some(parsed),
                    None => return Ok(false),
                },
                "metaData" => match parse_whole(value)? {
                    Some(parsed) => metadata = Some(parsed),
                    None => return Ok(false),
                },
                _ => return Ok(parse_whole::<serde::de::IgnoredAny>(value)?.is_some()),
            }
            Ok(true)
        })
    })?;
    Ok((protocol, metadata))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::actions::ObjectPath;
    use crate::store::{FileMeta, ObjectAdapter};

    const PROTOCOL: &str = r#""protocol":{"minReaderVersion":1,"minWriterVersion":2}"#;
    const METADATA: &str = r#""metaData":{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"{}","partitionColumns":[],"configuration":{}}"#;
    const INFO: &str = r#""commitInfo":{"operation":"WRITE"}"#;

    /// A log in memory of commits with these bodies.
    fn log(bodies: &[String]) -> (Location, Vec<LogFile>) {
        let root = ObjectPath::new("memory://", "/t");
        let location = Location::with_store(root, Arc::new(ObjectAdapter::memory()));
        let commits = bodies.iter().enumerate().map(|(version, body)| {
            let name = format!("{version:020}.json");
            location.store().put(&location.log_dir().join(&name), body.clone().into()).unwrap();
            LogFile::classify(FileMeta { name, size: 1, modified: 1 }).unwrap()
        });
        let commits = commits.collect();
        (location, commits)
    }

    #[test]
    fn both_are_found_however_far_back_and_in_lines_with_other_actions() {
        let other = || format!("{{{INFO}}}");
        let mut bodies = vec![format!("{{{INFO},{PROTOCOL},{METADATA}}}")];
        bodies.extend((0..300).map(|_| other()));
        let (location, commits) = log(&bodies);
        let (protocol, metadata) = scan_for_protocol_and_metadata(&location, &commits).unwrap();
        assert_eq!((protocol.unwrap().min_writer_version, metadata.unwrap().id.as_str()), (2, "i"));
        let found = scan_for_metadata(&location, &commits).unwrap();
        assert_eq!(found.iter().map(|(version, _)| *version).collect::<Vec<_>>(), [0]);
        // the newest of each, wherever the other one is
        let newer = METADATA.replace("\"i\"", "\"j\"");
        bodies.push(format!("{{{newer}}}"));
        let (location, commits) = log(&bodies);
        let (protocol, metadata) = scan_for_protocol_and_metadata(&location, &commits).unwrap();
        assert_eq!((protocol.is_some(), metadata.unwrap().id.as_str()), (true, "j"));
        let (location, commits) = log(&[bodies[0].clone(), format!("{{{newer}}}"), other()]);
        let (protocol, metadata) = scan_for_protocol_and_metadata(&location, &commits).unwrap();
        assert_eq!((protocol.is_some(), metadata.unwrap().id.as_str()), (true, "j"));
        let found = scan_for_metadata(&location, &commits).unwrap();
        assert_eq!(found.iter().map(|(version, _)| *version).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn a_torn_line_of_any_action_is_refused() {
        for torn in [r#"{"commitInfo":{"operation":"}"#, r#"{"txn":[}"#, r#"{"add":{"path":"#] {
            let (location, commits) = log(&[torn.to_owned()]);
            assert!(scan_for_protocol_and_metadata(&location, &commits).is_err(), "{torn}");
        }
    }

    #[test]
    fn an_action_that_is_null_is_none() {
        let lines = [
            format!("{{\"protocol\":null,{METADATA}}}"),
            format!("{{\"metaData\":null,{PROTOCOL}}}"),
            "{\"protocol\":null}\n{\"metaData\":null}".to_owned(),
            "{}".to_owned(),
        ];
        let (location, commits) = log(&lines);
        let found = in_commits(&location, &commits).unwrap();
        let found: Vec<_> = found.iter().map(|(p, m)| (p.is_some(), m.is_some())).collect();
        assert_eq!(found, [(false, true), (true, false), (false, false), (false, false)]);
        // what has another type than the action is refused, and not taken for null
        for wrong in ["{\"protocol\":[[]]}", "{\"metaData\":[[]]}", "{\"protocol\":null"] {
            let (location, commits) = log(&[wrong.to_owned()]);
            assert!(in_commits(&location, &commits).is_err(), "{wrong}");
        }
    }
}
