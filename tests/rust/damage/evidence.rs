//! Whether anything in a log tells that it is damaged, found without the code that looks for it.
//!
//! The truth of a log are its commits, and the checkpoint that it begins at. All else in it repeats the truth, so that a damage
//! of that can be distinguished from the truth, and a damage of the truth from what repeats the part that was damaged.

use deltaic_core::Result;
use deltaic_core::actions::Add;
use deltaic_core::snapshot::{At, Snapshot, Verify};
use deltaic_testkit::Image;

use super::answer::Answer;

/// The version and the rest of the name of a file of the log.
fn split(name: &str) -> Option<(u64, &str)> {
    let name = name.rsplit('/').next()?;
    Some((name.get(..20)?.parse().ok()?, name.get(21..)?))
}

fn is_commit(name: &str) -> bool {
    split(name).is_some_and(|(_, rest)| rest == "json")
}

fn is_checkpoint(name: &str) -> bool {
    split(name).is_some_and(|(_, rest)| rest.starts_with("checkpoint"))
}

/// The version of the checkpoint that a whole log begins at; none where its first commit is there.
fn first_checkpoint(image: &Image) -> Option<u64> {
    let log = image.log();
    let versions =
        |is: fn(&str) -> bool| log.iter().filter(move |n| is(n)).filter_map(|n| Some(split(n)?.0)).min();
    versions(is_commit).filter(|first| *first > 0).and_then(|_| versions(is_checkpoint))
}

/// Whether a file of a log is part of its truth.
pub(super) fn is_truth(whole: &Image, name: &str) -> bool {
    let first = first_checkpoint(whole);
    let version = split(name).map(|(version, _)| version);
    match is_commit(name) {
        true => first.is_none_or(|first| version > Some(first)),
        false => is_checkpoint(name) && first.is_some() && first == version,
    }
}

/// What in the damaged log says something else than its truth; none where nothing does.
pub(super) fn found(whole: &Image, damaged: &Image, name: &str) -> Option<String> {
    if !is_truth(whole, name) {
        return Some(format!("{name} repeats the commits, which are whole"));
    }
    if is_twice(damaged, name) {
        return Some("a `txnId` that is there twice".to_owned());
    }
    let of_truth = |image: &Image| image.clone().without(|name| !is_truth(whole, name));
    let (before, after) = (of_truth(whole), of_truth(damaged));
    let damaged_version = split(name).map_or(0, |(version, _)| version);
    let log = damaged.log();
    let reported = log.iter().filter(|name| !is_truth(whole, name)).find(|name| {
        let Some((version, rest)) = split(name) else { return false };
        let (version, all) = match rest {
            "crc" => (version, false),
            // one before the checkpoint says nothing of what it does not hold
            "json" => return false,
            // it says nothing of the commits before it
            _ if rest.ends_with("compacted.json") && damaged_version < version => return false,
            _ if rest.ends_with("compacted.json") => (rest[..20].parse().unwrap(), true),
            _ => (version, true),
        };
        let says = |image: &Image| says(image, version, all);
        match (says(&before), says(&after)) {
            (Ok(whole), Ok(found)) => whole != found,
            (whole, _) => whole.is_ok(),
        }
    });
    reported.cloned()
}

/// Whether another commit has the transaction of this one.
fn is_twice(image: &Image, name: &str) -> bool {
    let transaction = |name: &str| {
        let body = std::str::from_utf8(&image.objects.get(name)?.0).ok()?;
        let (_, id) = body.split_once("\"txnId\":\"")?;
        Some(id.split('"').next()?.to_owned())
    };
    let here = transaction(name);
    let others = image.log().into_iter().filter(|other| is_commit(other) && other != name);
    here.is_some() && others.map(|other| transaction(&other)).any(|other| other == here)
}

/// What a checkpoint says of a version, or a checksum.
fn says(truth: &Image, version: u64, all: bool) -> Result<String> {
    let answer = Answer::of_log(&Snapshot::open_with(truth.location(), At::Version(version), Verify::Fast)?)?;
    if all {
        return Ok(format!("{answer:?}"));
    }
    let Answer { protocol, metadata, named, files, .. } = answer;
    let adds: Vec<Add> = files.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let size: i64 = adds.iter().map(|add| add.size).sum();
    let vectors: Vec<i64> =
        adds.iter().filter_map(|add| add.deletion_vector.as_ref()).map(|v| v.cardinality).collect();
    let (count, deleted) = (vectors.len(), vectors.iter().sum::<i64>());
    Ok(format!("{} files, {size} bytes, {count} {deleted} {protocol} {metadata} {named:?}", adds.len()))
}
