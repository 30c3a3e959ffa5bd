//! Paths that a log has, one a line: where they lead, and what the door of a table lets through. Nothing outside the table
//! changes, spellings of one place are one place, and what is written is read back by its path.

use std::collections::BTreeMap;

use deltaic_core::actions::{FilePath, ObjectPath};
use deltaic_core::store::{Location, ObjectAdapter, Store};
use deltaic_core::{Error, Result};
use fastrand::Rng;
use percent_encoding::percent_decode_str;

use super::engine::Target;
use super::mutate;
#[cfg(target_os = "linux")]
use super::paths_ground::Ground;

pub(crate) struct Paths {
    #[cfg(target_os = "linux")]
    ground: Ground,
}

/// The folder of a local table and its neighbours, in an input.
const BASE: &str = "{base}";

/// Lines of an input that are tried.
const LINES: usize = 6;

const SEEDS: [&str; 26] = [
    "a.parquet",
    "sub/live.parquet",
    "sub/deep/old.parquet",
    "../outside/victim",
    "%2E%2E/outside/victim",
    "sub/../../outside/deeper/victim",
    "{base}/table/sub/live.parquet",
    "{base}/outside/victim",
    "file:{base}/outside/../table/a.parquet",
    "FILE://localhost{base}/table//a.parquet",
    "file://{base}/alias/sub/live.parquet",
    "out/victim",
    "in/live.parquet",
    "linked.parquet",
    "_delta_log/00000000000000000000.json",
    "x/../_delta_log/00000000000000000001.json",
    "_delta_log/_sidecars/a.parquet",
    "_delta_log/_last_checkpoint",
    "_Delta_Log/a.parquet",
    "p=a%20b%2525/ts=2020-01-01 10:00:00/f%25.parquet",
    "s3://bucket/t/a.parquet",
    "S3A://bucket/t/../victim",
    "s3n://Bucket/t2/victim",
    "abfs://c@account.dfs.core.windows.net/t/a.parquet",
    "%2F%2e%2e%2Fetc/passwd",
    "",
];

const WORDS: [&str; 40] = [
    "/",
    "//",
    "..",
    ".",
    "/../",
    "/./",
    "%2E",
    "%2e%2E",
    "%2F",
    "%5C",
    "\\",
    "%00",
    "%25",
    "%",
    "%FF",
    ":",
    "?",
    "#",
    "~",
    " ",
    "é",
    "\u{202e}",
    "\n",
    "file:",
    "FILE:/",
    "s3:",
    "s3a://bucket",
    "abfss://c@account",
    "{base}",
    "table",
    "t",
    "outside",
    "victim",
    "alias",
    "out",
    "in",
    "_delta_log",
    "_DELTA_LOG",
    "00000000000000000000.json",
    "a.parquet",
];

impl Target for Paths {
    const NAME: &'static str = "paths";

    fn new() -> Self {
        Paths {
            #[cfg(target_os = "linux")]
            ground: Ground::new(),
        }
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let pairs = SEEDS.windows(3).map(|lines| lines.join("\n"));
        SEEDS.iter().map(|&line| line.to_owned()).chain(pairs).map(String::into_bytes).collect()
    }

    fn mutate(&self, rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut out = match rng.u8(..4) {
            0 => mutate::bytes(rng, seeds),
            _ => mutate::pick(rng, seeds).clone(),
        };
        for _ in 0..rng.u32(..6) {
            let at = rng.usize(..=out.len());
            out.splice(at..at, mutate::pick(rng, &WORDS).bytes());
        }
        out
    }

    fn check(&self, input: &[u8]) -> bool {
        let text = String::from_utf8_lossy(input);
        let mut accepted = self.is_kept_locally(&text);
        for uri in ["s3://bucket/t", "s3://bucket", "abfss://c@account.dfs.core.windows.net/t"] {
            let root = FilePath::from_log(uri).resolve(&ObjectPath::new("file://", "/")).unwrap();
            accepted |= is_kept_in_memory(&root, &placed(&text, &root));
        }
        accepted
    }
}

impl Paths {
    #[cfg(target_os = "linux")]
    fn is_kept_locally(&self, text: &str) -> bool {
        let text = text.replace(BASE, self.ground.base());
        let kept = |root: &ObjectPath| self.ground.keeps(root, &placed(&text, root));
        self.ground.roots().map(|root| kept(&root)).contains(&true)
    }

    #[cfg(not(target_os = "linux"))]
    fn is_kept_locally(&self, text: &str) -> bool {
        placed(&text.replace(BASE, "/base"), &ObjectPath::new("file://", "/base/table"));
        false
    }
}

/// Where the lines lead; what has no place is refused.
fn placed(text: &str, root: &ObjectPath) -> Vec<ObjectPath> {
    let mut places = Vec::new();
    let mut by_identity = BTreeMap::new();
    for line in text.split('\n').take(LINES) {
        let path = FilePath::from_log(line);
        let (place, identity) = match (path.resolve(root), path.identity(root)) {
            (Ok(place), Ok(identity)) => (place, identity),
            (Err(Error::LogCorrupt { .. }), Err(Error::LogCorrupt { .. })) => continue,
            other => panic!("{line:?}: {other:?}"),
        };
        assert_eq!(FilePath::identity_of(line, root).unwrap(), identity, "{line:?}");
        let same = by_identity.entry(identity).or_insert_with(|| place.clone());
        assert_eq!(*same, place, "{line:?}: two places of one identity");
        is_normal(&place, root);
        assert!(place.prefix() != root.prefix() || is_same_store(line, root), "{line:?} in {root:?}");
        for other in respelled(line) {
            assert_eq!(FilePath::from_log(&other).resolve(root).unwrap(), place, "{line:?} as {other:?}");
        }
        places.push(place);
    }
    places
}

/// A place is its own normal form, and its texts lead to it.
fn is_normal(place: &ObjectPath, root: &ObjectPath) {
    assert_eq!(ObjectPath::new(place.prefix(), place.key()), *place);
    assert_eq!(FilePath::from_log(place.to_uri()).resolve(root).unwrap(), *place);
    let mut segments = place.key().split('/');
    assert_eq!(segments.next(), Some(""), "{place:?}");
    assert!(segments.all(|segment| !["", ".", ".."].contains(&segment)), "{place:?}");
    if let Some(name) = place.below(root) {
        assert!(place.uri().starts_with(&format!("{}/", root.uri())), "{place:?} is not below {root:?}");
        assert_eq!(root.join(name), *place);
        assert_eq!(FilePath::encode(name).resolve(root).unwrap(), *place, "{name:?}");
    }
}

/// Other spellings of a path.
fn respelled(line: &str) -> Vec<String> {
    let (head, tail) = split(line);
    if tail.is_empty() {
        return Vec::new();
    }
    let escape = |c: char| if ('g'..='z').contains(&c) { format!("%{:02X}", c as u32) } else { c.into() };
    let escaped: String = tail.chars().map(escape).collect();
    let doubled: String = tail
        .char_indices()
        .map(|(at, c)| if at > 0 && c == '/' { "//" } else { &tail[at..at + c.len_utf8()] })
        .collect();
    let mut out = vec![
        format!("{head}{escaped}"),
        format!("{head}{doubled}"),
        format!("{head}{tail}/."),
        format!("{head}{tail}/x/%2E%2E"),
    ];
    // a slash behind a colon makes a scheme of a name
    out.retain(|other| split(other).0 == head);
    if let Some((scheme, rest)) = head.split_once(':') {
        out.push(format!("{}:{rest}{tail}", scheme.to_ascii_uppercase()));
    } else if !percent_decode_str(tail).decode_utf8_lossy().starts_with('/') {
        out.extend([format!("./{tail}"), format!("x/../{tail}")]);
    }
    out
}

/// Scheme and authority, and the rest.
fn split(line: &str) -> (&str, &str) {
    let valid = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    match line.split_once(":/") {
        Some((scheme, rest)) if valid(scheme) => {
            let authority = rest.strip_prefix('/').map(|rest| 2 + rest.find('/').unwrap_or(rest.len()));
            line.split_at(scheme.len() + 1 + authority.unwrap_or(0))
        }
        _ => ("", line),
    }
}

/// Whether a path names no store, or that of a table, by one of its names.
fn is_same_store(line: &str, root: &ObjectPath) -> bool {
    let Some((scheme, authority)) = split(line).0.split_once(':') else { return true };
    let names: &[&str] = match root.scheme() {
        "s3" => &["s3", "s3a", "s3n"],
        "abfss" => &["abfs", "abfss"],
        _ => &["file"],
    };
    let own = root.prefix().split_once(':').unwrap().1;
    let is_there = root.scheme() == "file" || authority.eq_ignore_ascii_case(own);
    is_there && names.iter().any(|name| name.eq_ignore_ascii_case(scheme))
}

/// Whether a place was let through; what is outside, or no file of the log in its folder, is refused as such.
pub(crate) fn is_allowed<T>(done: Result<T>, place: &ObjectPath, root: &ObjectPath) -> bool {
    if !matches!(done, Err(Error::OutsideTable { .. })) {
        let name = place.below(root).unwrap_or_else(|| panic!("{place:?} is not below {root:?}"));
        let (folder, file) = name.split_once('/').unwrap_or((name, ""));
        assert!(!folder.eq_ignore_ascii_case("_delta_log") || is_of_log(file), "{place:?} is not of the log");
    }
    done.is_ok()
}

fn is_of_log(file: &str) -> bool {
    let digits = file.bytes().take_while(u8::is_ascii_digit).count();
    let is_version = digits == 20 && file.len() > 21 && !file.contains('/');
    let is_probe = file.starts_with("_probe_") && !file.contains('/');
    let is_sidecar = file.strip_prefix("_sidecars/").is_some_and(|name| !name.contains('/'));
    file == "_last_checkpoint" || is_version || is_probe || is_sidecar
}

/// Deletes and writes in a store of objects; whether any went through.
fn is_kept_in_memory(root: &ObjectPath, places: &[ObjectPath]) -> bool {
    let memory = std::sync::Arc::new(ObjectAdapter::memory());
    let commit = root.join("_delta_log/00000000000000000000.json");
    let neighbours = ["/victim", "/t2/victim", "/outside/victim", "/table/a.parquet"];
    let neighbours = neighbours.map(|key| ObjectPath::new(root.prefix(), key));
    let outside = neighbours.iter().filter(|place| place.below(root).is_none()).chain([&commit]);
    let outside: Vec<&ObjectPath> = outside.collect();
    for place in &outside {
        memory.put(place, "kept".into()).unwrap();
    }
    let location = Location::with_store(root.clone(), memory.clone());
    let inside = |place: &&ObjectPath| **place != commit;
    let places: Vec<&ObjectPath> = places.iter().filter(inside).collect();
    for place in &places {
        is_allowed(location.store().delete(place), place, root);
    }
    let mut written = BTreeMap::new();
    for (n, place) in places.iter().enumerate() {
        let body = n.to_string();
        if is_allowed(location.store().put(place, body.clone().into()), place, root) {
            written.insert(place, body);
        }
    }
    for (place, body) in &written {
        assert_eq!(memory.get(place).unwrap(), body.as_bytes(), "{place:?}");
    }
    for place in outside {
        assert_eq!(memory.get(place).unwrap(), &b"kept"[..], "{place:?}");
    }
    let all = memory.list_all(&ObjectPath::new(root.prefix(), "/")).unwrap();
    assert!(all.len() <= 5 + written.len(), "{all:?}");
    !written.is_empty()
}
