//! Paths of files that are known by their keys alone: the log is read again for them, only where something is wrong.

use std::collections::BTreeSet;

use super::add_facts::{FileKey, file_key};
use crate::actions::{Add, ObjectPath};
use crate::log::commit_path;
use crate::replay::{RemoveLine, for_each_action, for_each_line, parse_whole};
use crate::store::Location;

/// Files that are named one by one.
pub(super) const FEW: usize = 5;

/// The paths that a commit or compacted file has for these keys; what cannot be read is left out.
pub(super) fn in_body(body: &[u8], keys: &BTreeSet<FileKey>, root: &ObjectPath) -> Vec<String> {
    let mut out = Vec::new();
    // the file was parsed before; damage was reported
    let _ = for_each_line(body, "", None, |line| {
        for_each_action(line, |action, value| {
            if !matches!(action, "add" | "remove") {
                return Ok(true);
            }
            let Some(file) = parse_whole::<RemoveLine<'_>>(value)? else { return Ok(false) };
            if file_key(&file.path, file.deletion_vector.as_ref(), root).is_ok_and(|k| keys.contains(&k)) {
                out.push(file.path.into_owned());
            }
            Ok(true)
        })
    });
    out.sort();
    out.dedup();
    out
}

/// The path of a file that came with this version, or words for it.
pub(super) fn of(location: &Location, key: FileKey, since: u64) -> String {
    let path = commit_path(location, since);
    let found = location.store().get(&path).ok();
    let found = found.map(|body| in_body(&body, &BTreeSet::from([key]), location.root()));
    match found.and_then(|f| f.into_iter().next()) {
        Some(path) => format!("`{path}`"),
        None => format!("a file of version {since} or before"),
    }
}

/// The add of a file that came with this version, if its commit exists.
pub(super) fn add_of(location: &Location, key: FileKey, since: u64) -> Option<Add> {
    let body = location.store().get(&commit_path(location, since)).ok()?;
    let mut found = None;
    let _ = for_each_line(&body, "", None, |line| {
        for_each_action(line, |action, value| {
            if action != "add" {
                return Ok(true);
            }
            let Some(add) = parse_whole::<Add>(value)? else { return Ok(false) };
            let vector = add.deletion_vector.as_ref();
            if file_key(add.path.as_str(), vector, location.root()).is_ok_and(|k| k == key) {
                found = Some(add);
            }
            Ok(true)
        })
    });
    found
}
