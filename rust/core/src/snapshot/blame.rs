//! Decides which one is damaged if a checksum contradicts the commits.
//!
//! A checksum alone proves nothing: a writer may have counted wrongly, and every reader trusts the commits. Two
//! together may: if one agrees with the commits and the next does not, the commits between them are not those that the
//! writer counted, unless its numbers have a known explanation.

use std::collections::BTreeSet;

use super::log_state::files_without;
use crate::actions::{Action, ActionRef};
use crate::checksum::{Checksum, next_checksum};
use crate::error::{Error, Result};
use crate::log::{Listing, LogFile, LogFileKind};
use crate::replay::{CommitActions, KeyLayer, KeySet, Totals, fetch, key, without};
use crate::store::Location;

/// Number of commits between two checksums beyond which they prove nothing about a single commit.
const MOST: u64 = 64;

/// A checksum of the log that does not contradict itself.
struct Said {
    version: u64,
    checksum: Checksum,
    totals: Totals,
}

/// The commit that is damaged, as an error, where the totals of the checksum of `version` are not those of the log. None where
/// the checksum may be wrong: then what the commits say counts.
///
/// # Errors
/// Errors of replay for the other versions.
///
/// # Cost
/// One listing, and as many replays as the logarithm of the number of checksums.
pub(super) fn damaged_commit(
    location: &Location,
    version: u64,
    excluded: &BTreeSet<String>,
) -> Result<Option<Error>> {
    let listing = Listing::read(location, 0)?;
    let is = |f: &&LogFile| f.kind == LogFileKind::Checksum && f.version <= version;
    let mut listed: Vec<&LogFile> = listing.files.iter().filter(is).collect();
    let Some(mut wrong) = listed.pop().and_then(|file| said(location, file)) else { return Ok(None) };
    let agrees = |said: &Said| -> Result<Option<bool>> {
        let files = files_without(location, &listing, said.version, excluded.clone())?;
        files.map(|files| said.totals.agree(files)).transpose()
    };
    // the oldest one that can be asked: where it is wrong, too, the writer counts in its own way
    let mut right = None;
    while !listed.is_empty() && right.is_none() {
        let Some(oldest) = said(location, listed.remove(0)) else { continue };
        match agrees(&oldest)? {
            None => {}
            Some(true) => right = Some(oldest),
            Some(false) => {
                wrong = oldest;
                break;
            }
        }
    }
    let Some(mut right) = right else {
        return Ok(another_transaction(location, &listing, &wrong)?.then(|| damaged(location, &wrong, None)));
    };
    while !listed.is_empty() {
        let rest = listed.split_off(listed.len() / 2);
        let (middle, newer) = (rest[0], &rest[1..]);
        let answer = match said(location, middle) {
            Some(said) => agrees(&said)?.map(|agrees| (said, agrees)),
            None => None,
        };
        match answer {
            Some((said, true)) => {
                right = said;
                listed = newer.to_vec();
            }
            Some((said, false)) => wrong = said,
            None => listed.extend(newer),
        }
    }
    let blamed = another_transaction(location, &listing, &wrong)?
        || !explained(location, &listing, &right, &wrong, excluded)?;
    Ok(blamed.then(|| damaged(location, &wrong, Some(right.version))))
}

fn said(location: &Location, file: &LogFile) -> Option<Said> {
    // one that cannot be read proves nothing
    let checksum = Checksum::read(location, file).ok()?;
    let path = location.log_dir().join(&file.name).to_string();
    let totals = Totals::of(&checksum, path, file.version)?;
    Some(Said { version: file.version, checksum, totals })
}

fn damaged(location: &Location, wrong: &Said, right: Option<u64>) -> Error {
    let version = wrong.version;
    let path = location.log_dir().join(&crate::log::commit_name(version)).to_string();
    let reported = match right {
        Some(before) if before + 1 == version => format!(
            "the checksum of version {before} matches the log, that of version {version} does not: the commit is \
             not the one that was written"
        ),
        Some(before) => format!(
            "the checksum of version {before} matches the log, that of version {version} does not: one of the \
             commits after {before} is not the one that was written"
        ),
        None => format!("the checksum of version {version} is of another transaction, and of other files"),
    };
    Error::corrupt(
        path,
        Some(version),
        reported + "; `verify` reports more, and reading with `fast` accepts the log as it is",
    )
}

/// Whether the commit of a version is of another transaction than its checksum.
fn another_transaction(location: &Location, listing: &Listing, said: &Said) -> Result<bool> {
    let Some(commit) = listing.commits().find(|c| c.version == said.version) else { return Ok(false) };
    let actions = actions(location, std::slice::from_ref(commit))?;
    let found = actions.iter().flatten().find_map(|action| match action {
        Action::CommitInfo(info) => info.txn_id.as_ref(),
        _ => None,
    });
    Ok(said.checksum.txn_id.as_ref().zip(found).is_some_and(|(said, found)| said != found))
}

/// Whether a known miscount explains how the writer got from a right checksum to a wrong one with these commits: it
/// counted an existing file again, or its operation does not record it.
fn explained(
    location: &Location,
    listing: &Listing,
    right: &Said,
    wrong: &Said,
    excluded: &BTreeSet<String>,
) -> Result<bool> {
    let between: Vec<LogFile> = listing
        .commits()
        .filter(|c| c.version > right.version && c.version <= wrong.version)
        .cloned()
        .collect();
    let count = wrong.version - right.version;
    if between.len() as u64 != count || count > MOST {
        return Ok(true);
    }
    let commits = actions(location, &between)?;
    let mut next = right.checksum.clone();
    for commit in &commits {
        let info = commit.iter().find_map(|action| match action {
            Action::CommitInfo(info) => Some((**info).clone()),
            _ => None,
        });
        let refs: Vec<ActionRef<'_>> = commit.iter().map(ActionRef::from).collect();
        match next_checksum(Some(&next), &info.unwrap_or_default(), &refs) {
            Some(counted) => next = counted,
            None => return Ok(true),
        }
    }
    Ok(wrong.totals.are_those_of(&next) && adds_again(location, listing, right, &commits, excluded)?)
}

/// Whether commits add a file that exists already.
fn adds_again(
    location: &Location,
    listing: &Listing,
    right: &Said,
    commits: &[Vec<Action>],
    excluded: &BTreeSet<String>,
) -> Result<bool> {
    let mut added = KeyLayer::default();
    let mut twice = false;
    for action in commits.iter().flatten() {
        if let Action::Add(add) = action {
            let vector = add.deletion_vector.as_ref();
            twice |= !added.insert(key(add.path.as_str(), vector, location.root())?, vector.is_some());
        }
    }
    let added: KeySet = added.finish();
    let Some(files) = files_without(location, listing, right.version, excluded.clone())? else {
        return Ok(true);
    };
    for batch in files {
        let batch = batch?;
        twice |= without(&batch, &added, location.root())?.num_files() < batch.num_files();
    }
    Ok(twice)
}

fn actions(location: &Location, commits: &[LogFile]) -> Result<Vec<Vec<Action>>> {
    let dir = location.log_dir();
    let bodies = fetch(location, commits)?;
    bodies
        .iter()
        .zip(commits)
        .map(|(body, file)| {
            CommitActions::parse(body, &dir.join(&file.name).to_string(), Some(file.version))
                .map(|c| c.actions)
        })
        .collect()
}
