//! Checkpoints against the replay of the log before them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::add_facts::{AddFacts, FileKey, file_key};
use super::differences::show;
use super::finding::FindingKind;
use super::names;
use super::names::FEW;
use super::report::VerifyReport;
use super::state::{State, Tombstone};
use crate::actions::{Add, DomainMetadata, Txn};
use crate::error::{Error, Result};
use crate::features::TableFeature;
use crate::log::{Checkpoint, LogFile, LogFileKind, LogSettings};
use crate::replay::{CheckpointReader, FileStream, FilesRequest, ScanSource, Tail};
use crate::report::Counters;
use crate::store::Location;

/// A checkpoint as it is reported.
fn path_of(location: &Location, checkpoint: &Checkpoint) -> String {
    let name = checkpoint.files.first().map(|f| f.name.as_str()).unwrap_or_default();
    location.log_dir().join(name).to_string()
}

/// What a broken file makes of a checkpoint; other errors are the caller's.
fn or_finding<T>(result: Result<T>) -> Result<Result<T, String>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error) => match error.plain() {
            Error::LogCorrupt { .. }
            | Error::NotFound { .. }
            | Error::DataFile { .. }
            | Error::DeletionVector { .. }
            | Error::Arrow { .. } => Ok(Err(error.to_string())),
            _ => Err(error),
        },
    }
}

/// Calls `visit` with every `add` of a checkpoint, and whether its statistics are those of the log, word for word.
fn for_each_add(
    location: &Location,
    reader: &Arc<CheckpointReader>,
    mut visit: impl FnMut(&Add, FileKey, bool) -> Result<()>,
) -> Result<()> {
    let request = FilesRequest { predicate: None, stats: true, extended: true };
    let source = || ScanSource {
        location: location.clone(),
        tail: Arc::new(Tail::default()),
        checkpoint: Some(reader.clone()),
        counters: Arc::new(Counters::of(location)),
    };
    let mut read = |stream: FileStream, words: bool| -> Result<()> {
        for batch in stream {
            for add in batch?.adds() {
                let add = add?;
                let key = file_key(add.path.as_str(), add.deletion_vector.as_ref(), location.root())?;
                visit(&add, key, words)?;
            }
        }
        Ok(())
    };
    read(FileStream::new(source(), &request, None).only(|_| false), true)?;
    for (index, file) in reader.parquet.iter().enumerate() {
        let stream = FileStream::new(source(), &request, None).only_file(index);
        // where the text is missing, it is made from the parsed form, in other words; our own files do not count the texts
        match file.count("add", "stats") {
            None => read(stream.texts_only(), true)?,
            texts => read(stream, texts == file.count("add", "path"))?,
        }
    }
    Ok(())
}

/// The state that a checkpoint gives; none where it cannot be read, which is reported.
pub(super) fn load(
    location: &Location,
    checkpoint: &Checkpoint,
    report: &mut VerifyReport,
) -> Result<Option<State>> {
    let version = checkpoint.version;
    let read = || -> Result<State> {
        let reader = Arc::new(CheckpointReader::open(location, checkpoint)?);
        let mut state = State::new(version);
        state.all_tombstones = false;
        (state.counted.protocol, state.counted.metadata) = reader.protocol_and_metadata()?;
        let (txns, domains) = reader.txns_and_domains()?;
        state.txns = txns.iter().map(|t| (t.app_id.clone(), t.clone())).collect();
        state.domains = domains.iter().map(|d| (d.domain.clone(), d.clone())).collect();
        for_each_add(location, &reader, |add, key, words| {
            let mut facts = AddFacts::of(add);
            if !words {
                facts.stats = None;
            }
            if !state.add(key, facts, version) {
                let reason = format!("it has `{}` twice", add.path);
                return Err(Error::corrupt(path_of(location, checkpoint), Some(version), reason));
            }
            Ok(())
        })?;
        for tombstone in reader.tombstones()? {
            let vector = tombstone.deletion_vector.as_ref();
            let key = file_key(tombstone.path.as_str(), vector, location.root())?;
            let deleted_at = tombstone.deletion_timestamp;
            state.tombstones.insert(key, Tombstone { deleted_at, since: version, seen: 0 });
        }
        Ok(state)
    };
    match or_finding(read())? {
        Ok(state) => Ok(Some(state)),
        Err(reason) => {
            unreadable(location, checkpoint, &reason, report);
            Ok(None)
        }
    }
}

fn unreadable(location: &Location, checkpoint: &Checkpoint, reason: &str, report: &mut VerifyReport) {
    let path = path_of(location, checkpoint);
    report.found(FindingKind::UnreadableCheckpoint, checkpoint.version, path, "a whole checkpoint", reason);
}

/// Compares a checkpoint with the state at its version. `ordinal` is another number for each checkpoint, from 1.
pub(super) fn compare(
    location: &Location,
    checkpoint: &Checkpoint,
    state: &mut State,
    ordinal: u32,
    report: &mut VerifyReport,
) -> Result<()> {
    let of_v2 = |f: &LogFile| matches!(f.kind, LogFileKind::UuidCheckpoint(_));
    if checkpoint.files.iter().any(of_v2)
        && state.counted.protocol.as_ref().is_some_and(|p| !p.supports(TableFeature::V2Checkpoint))
    {
        let expected = "the feature `v2Checkpoint`, which checkpoints of this name need";
        let path = path_of(location, checkpoint);
        report.found(
            FindingKind::MissingFeature,
            checkpoint.version,
            path,
            expected,
            "a protocol without it",
        );
    }
    let mut differs: Vec<(String, String)> = Vec::new();
    match or_finding(differences(location, checkpoint, state, ordinal, &mut differs))? {
        Ok(()) => {
            report.checkpoints += 1;
            let path = path_of(location, checkpoint);
            for (expected, found) in differs {
                report.found(FindingKind::CheckpointDiffers, checkpoint.version, &path, expected, found);
            }
        }
        Err(reason) => unreadable(location, checkpoint, &reason, report),
    }
    Ok(())
}

fn differences(
    location: &Location,
    checkpoint: &Checkpoint,
    state: &mut State,
    ordinal: u32,
    out: &mut Vec<(String, String)>,
) -> Result<()> {
    let reader = Arc::new(CheckpointReader::open(location, checkpoint)?);
    let (protocol, metadata) = reader.protocol_and_metadata()?;
    let settings = match (&state.counted.protocol, &state.counted.metadata) {
        (Some(protocol), Some(metadata)) => LogSettings::of(protocol, metadata).ok(),
        _ => None,
    };
    if protocol != state.counted.protocol {
        out.push(labelled("protocol", show(state.counted.protocol.as_ref(), protocol.as_ref())));
    }
    if metadata != state.counted.metadata {
        out.push(labelled("metaData", show(state.counted.metadata.as_ref(), metadata.as_ref())));
    }
    named(state, &reader, settings.as_ref(), out)?;

    let (mut matched, mut more) = (0, 0);
    let mut note = |expected: String, found: String, out: &mut Vec<(String, String)>| {
        if more < FEW {
            out.push((expected, found));
        }
        more += 1;
    };
    for_each_add(location, &reader, |add, key, words| {
        let facts = AddFacts::of(add);
        match state.files.get_mut(&key) {
            None => {
                let gone = match state.tombstones.contains_key(&key) {
                    true => "it was removed",
                    false => "no commit adds it",
                };
                note(format!("no file `{}`: {gone}", add.path), "the file".into(), out);
            }
            Some(live) if live.seen == ordinal => {
                note(format!("the file `{}` once", add.path), "it is listed twice".into(), out);
            }
            Some(live) => {
                live.seen = ordinal;
                matched += 1;
                if !live.facts.agrees(&facts, words) {
                    let said = names::add_of(location, key, live.since);
                    let (said, found) = show(said.as_ref(), Some(add));
                    note(format!("`{}` with {said}", add.path), found, out);
                }
            }
        }
        Ok(())
    })?;
    if matched < state.files.len() {
        let lost = state.files.iter().filter(|(_, f)| f.seen != ordinal);
        let few: Vec<String> = lost.take(FEW).map(|(key, f)| names::of(location, *key, f.since)).collect();
        out.push((
            format!("{} files", state.files.len()),
            format!("{} are missing: {}", state.files.len() - matched, few.join(", ")),
        ));
    }
    tombstones(location, checkpoint, &reader, state, ordinal, settings.as_ref(), out)
}

fn labelled(what: &str, (expected, found): (String, String)) -> (String, String) {
    (format!("`{what}` with {expected}"), found)
}

/// Transaction identifiers and domains.
fn named(
    state: &State,
    reader: &CheckpointReader,
    settings: Option<&LogSettings>,
    out: &mut Vec<(String, String)>,
) -> Result<()> {
    let (txns, domains) = reader.txns_and_domains()?;
    let expire = settings.is_none_or(|s| s.txn_retention.is_some());
    let here: BTreeMap<&str, &Txn> = txns.iter().map(|t| (t.app_id.as_str(), t)).collect();
    for (app, txn) in &state.txns {
        match here.get(app.as_str()) {
            None if expire => {}
            found if found == Some(&txn) => {}
            found => out.push(labelled(app, show(Some(txn), found.copied()))),
        }
    }
    for (app, txn) in here.iter().filter(|(app, _)| !state.txns.contains_key(**app)) {
        out.push((format!("no transaction identifier of `{app}`"), format!("version {}", txn.version)));
    }
    let here: BTreeMap<&str, &DomainMetadata> =
        domains.iter().filter(|d| !d.removed).map(|d| (d.domain.as_str(), d)).collect();
    let live = || state.domains.values().filter(|d| !d.removed);
    for domain in live().filter(|d| here.get(d.domain.as_str()) != Some(d)) {
        out.push(labelled(&domain.domain, show(Some(domain), here.get(domain.domain.as_str()).copied())));
    }
    for (name, domain) in here {
        if !live().any(|d| d.domain == name) {
            out.push((format!("no domain `{name}`"), domain.configuration.clone()));
        }
    }
    Ok(())
}

/// Tombstones of Parquet files: none of a live file, none without a `remove`, and no unexpired one missing.
fn tombstones(
    location: &Location,
    checkpoint: &Checkpoint,
    reader: &CheckpointReader,
    state: &mut State,
    ordinal: u32,
    settings: Option<&LogSettings>,
    out: &mut Vec<(String, String)>,
) -> Result<()> {
    for remove in reader.tombstones()? {
        let key = file_key(remove.path.as_str(), remove.deletion_vector.as_ref(), location.root())?;
        if state.files.contains_key(&key) {
            let live = format!("`{}` as a live file alone", remove.path);
            out.push((live, "a tombstone of it".into()));
        }
        match state.tombstones.get_mut(&key) {
            Some(known) => known.seen = ordinal,
            None if state.all_tombstones && !state.files.contains_key(&key) => {
                out.push((format!("no tombstone of `{}`: no commit removes it", remove.path), "one".into()));
            }
            None => {}
        }
    }
    // a checkpoint in JSON keeps its tombstones where they are not read
    if reader.is_json() {
        return Ok(());
    }
    let written = checkpoint.files.iter().map(|f| f.modified).max().unwrap_or(i64::MAX);
    let Some(settings) = settings else { return Ok(()) };
    let cutoff = written.saturating_sub(settings.tombstone_retention);
    let lost: Vec<_> = state
        .tombstones
        .iter()
        .filter(|(_, t)| t.seen != ordinal && t.deleted_at.is_some_and(|at| at > cutoff))
        .collect();
    if !lost.is_empty() {
        let few: Vec<String> =
            lost.iter().take(FEW).map(|(key, t)| names::of(location, **key, t.since)).collect();
        out.push((
            "all tombstones that had not expired: VACUUM needs them".into(),
            format!("{} are missing: {}", lost.len(), few.join(", ")),
        ));
    }
    Ok(())
}
