//! Nothing outside a table is written or deleted, and no file that a version needs, whatever its log and its links say.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deltaic_core::Error;
use deltaic_core::after_commit::generate_manifest;
use deltaic_core::checkpoint::cleanup;
use deltaic_core::maintain::{VacuumDone, VacuumMode, VacuumOptions, vacuum};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A folder with a table, and what is none of its business beside it.
struct Ground {
    dir: tempfile::TempDir,
}

/// What a path is: a folder, a link, or a file with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Is {
    Folder,
    Link(PathBuf),
    File(Vec<u8>),
}

impl Ground {
    /// A table of two files, `a.parquet` and `sub/live.parquet`.
    fn new() -> Self {
        let ground = Ground { dir: tempfile::tempdir().unwrap() };
        for folder in ["table/_delta_log", "table/sub", "outside/deeper"] {
            fs::create_dir_all(ground.path(folder)).unwrap();
        }
        for file in ["table/a.parquet", "table/sub/live.parquet", "outside/victim", "outside/deeper/victim"] {
            fs::write(ground.path(file), file).unwrap();
        }
        ground.commit(
            0,
            &[
                json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}),
                json!({"metaData": {"id": "t", "format": {"provider": "parquet", "options": {}}, "schemaString":
                    r#"{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}"#,
                    "partitionColumns": [], "configuration": {}}}),
            ],
        );
        ground
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn text(&self, below: &str) -> String {
        self.path(below).to_str().unwrap().to_owned()
    }

    fn commit(&self, version: u64, actions: &[serde_json::Value]) {
        let info = json!({"commitInfo": {"timestamp": 1, "operation": "TEST"}});
        let lines: String =
            std::iter::once(&info).chain(actions).map(|action| format!("{action}\n")).collect();
        fs::write(self.path(&format!("table/_delta_log/{version:020}.json")), lines).unwrap();
    }

    /// Commits that say that files were removed long ago, and then add files, by these paths.
    fn says(&self, live: &[&str], removed: &[&str]) {
        let add = |path: &&str| json!({"add": {"path": path, "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": true}});
        let remove =
            |path: &&str| json!({"remove": {"path": path, "deletionTimestamp": 1, "dataChange": true}});
        self.commit(1, &removed.iter().map(remove).collect::<Vec<_>>());
        self.commit(2, &live.iter().map(add).collect::<Vec<_>>());
    }

    fn location(&self) -> Location {
        Location::open(&self.text("table"), &Default::default()).unwrap()
    }

    fn vacuum(&self, mode: VacuumMode) -> deltaic_core::Result<VacuumDone> {
        std::thread::sleep(Duration::from_millis(3));
        let retention = Some(Duration::ZERO);
        vacuum(
            &self.location(),
            &VacuumOptions { mode, retention, allow_short_retention: true, ..Default::default() },
        )
    }

    /// Everything below a folder; links are not followed.
    fn all(&self, below: &str) -> BTreeMap<PathBuf, Is> {
        let mut found = BTreeMap::new();
        gather(&self.path(below), &mut found);
        found
    }

    /// All but what a table may change.
    fn outside(&self) -> BTreeMap<PathBuf, Is> {
        let table = self.path("table");
        self.all("").into_iter().filter(|(path, _)| !path.starts_with(&table)).collect()
    }
}

fn gather(dir: &Path, found: &mut BTreeMap<PathBuf, Is>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        let is = if meta.is_symlink() {
            Is::Link(fs::read_link(&path).unwrap())
        } else if meta.is_dir() {
            gather(&path, found);
            Is::Folder
        } else {
            Is::File(fs::read(&path).unwrap())
        };
        found.insert(path, is);
    }
}

#[test]
fn a_vacuum_deletes_nothing_outside_by_the_word_of_a_log() {
    let ground = Ground::new();
    let absolute = format!("file://{}", ground.text("table/../outside/victim"));
    let removed = [
        "../outside/victim",
        "%2E%2E/outside/victim",
        "sub/../../outside/deeper/victim",
        &absolute,
        &ground.text("outside/deeper/victim"),
        "_delta_log/00000000000000000000.json",
        "sub/../_delta_log/00000000000000000000.json",
    ];
    ground.says(&["a.parquet", "sub/live.parquet"], &removed);
    let (outside, log) = (ground.outside(), ground.all("table/_delta_log"));
    for mode in [VacuumMode::Lite, VacuumMode::Full] {
        let done = ground.vacuum(mode).unwrap();
        assert!(done.files.is_empty() && done.failed.is_empty(), "{done:?}");
        assert_eq!(ground.outside(), outside);
        let now = ground.all("table/_delta_log");
        assert!(log.iter().all(|(path, is)| now.get(path) == Some(is)));
    }
}

#[test]
fn a_vacuum_does_not_follow_links_out_of_the_table() {
    let ground = Ground::new();
    symlink(ground.path("outside"), ground.path("table/link")).unwrap();
    ground.says(&["a.parquet", "sub/live.parquet"], &["link/victim", "link/deeper/victim"]);
    let outside = ground.outside();
    for mode in [VacuumMode::Full, VacuumMode::Lite] {
        let done = ground.vacuum(mode).unwrap();
        assert!(done.files.is_empty(), "{done:?}");
        assert_eq!(ground.outside(), outside);
    }
    // the log named them: it is reported that they stay
    let failed = ground.vacuum(VacuumMode::Lite).unwrap().failed;
    assert_eq!(failed.len(), 2);
    assert!(failed[0].1.contains("is a link"), "{failed:?}");
}

#[test]
fn files_that_a_log_spells_in_its_own_way_stay() {
    let ground = Ground::new();
    symlink(ground.path("table/sub"), ground.path("table/also")).unwrap();
    symlink(ground.path("table"), ground.path("alias")).unwrap();
    symlink(ground.path("table/sub/live.parquet"), ground.path("table/linked.parquet")).unwrap();
    let (real, by_alias) = (ground.text("table"), ground.text("alias"));
    for live in [
        "x/../sub/live.parquet".to_owned(),
        "sub/./live.parquet".to_owned(),
        "sub//live.parquet".to_owned(),
        "sub/%2E/live.parquet".to_owned(),
        "also/live.parquet".to_owned(),
        "linked.parquet".to_owned(),
        format!("{real}/sub/live.parquet"),
        format!("{real}/x/../sub/live.parquet"),
        format!("file://localhost{real}/sub/live.parquet"),
        format!("FILE:{real}/sub/live.parquet"),
        format!("file://{by_alias}/sub/live.parquet"),
    ] {
        ground.says(&["a.parquet", &live], &["sub/live.parquet"]);
        for uri in [&real, &by_alias] {
            for mode in [VacuumMode::Full, VacuumMode::Lite] {
                std::thread::sleep(Duration::from_millis(3));
                let options = VacuumOptions {
                    mode,
                    retention: Some(Duration::ZERO),
                    allow_short_retention: true,
                    dry_run: true,
                    ..Default::default()
                };
                let done = vacuum(&Location::open(uri, &Default::default()).unwrap(), &options).unwrap();
                let known_by_folder = mode == VacuumMode::Full || live != "linked.parquet";
                assert!(done.files.is_empty() || !known_by_folder, "{live} of {uri}: {done:?}");
            }
        }
    }
}

#[test]
fn a_vacuum_refuses_a_log_that_it_cannot_place() {
    let ground = Ground::new();
    for (live, refused) in [
        ("dbfs:/t/a.parquet", true),
        ("https://host/a", true),
        ("s3://bucket/a", false),
        ("/elsewhere/a", false),
    ] {
        ground.says(&["a.parquet", "sub/live.parquet", live], &[]);
        let done = ground.vacuum(VacuumMode::Full);
        match done {
            Err(Error::OutsideTable { operation: "vacuum", .. }) => assert!(refused, "{live}"),
            done => assert!(!refused && done.unwrap().files.is_empty(), "{live}"),
        }
    }
}

#[test]
fn the_cleanup_of_a_log_does_not_follow_a_link_of_its_sidecars() {
    let ground = Ground::new();
    let protocol = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}});
    let metadata: serde_json::Value = json!({"metaData": {"id": "t", "format": {"provider": "parquet", "options": {}},
        "schemaString": r#"{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}"#,
        "partitionColumns": [], "configuration": {
            "delta.checkpointPolicy": "v2", "delta.logRetentionDuration": "interval 0 seconds"}}});
    ground.commit(0, &[protocol, metadata]);
    symlink(ground.path("outside"), ground.path("table/_delta_log/_sidecars")).unwrap();
    let outside = ground.outside();
    let location = ground.location();
    for version in 1..4 {
        ground.commit(version, &[json!({"txn": {"appId": "x", "version": version}})]);
        // a checkpoint that would put a sidecar there is refused, or needs none
        let _ = deltaic_core::checkpoint::checkpoint(&Snapshot::open(location.clone(), At::Latest).unwrap());
    }
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(90 * 86_400);
    for path in ground.all("table/_delta_log").keys().filter(|path| path.is_file()) {
        fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
    for victim in ["outside/victim", "outside/deeper/victim"] {
        fs::File::options().write(true).open(ground.path(victim)).unwrap().set_modified(long_ago).unwrap();
    }
    let _ = cleanup(&Snapshot::open(location, At::Latest).unwrap(), false);
    assert_eq!(ground.outside(), outside);
}

#[test]
fn nothing_is_written_through_a_link() {
    let ground = Ground::new();
    fs::remove_dir_all(ground.path("table")).unwrap();
    let location = ground.location();
    write(&location, &[("a", 1)], &partitioned()).unwrap();
    symlink(ground.path("outside"), ground.path("table/p=b")).unwrap();
    symlink(ground.path("outside"), ground.path("table/_symlink_format_manifest")).unwrap();
    let outside = ground.outside();
    let error = write(&location, &[("b", 2)], &partitioned()).unwrap_err();
    assert!(matches!(error, Error::OutsideTable { .. }), "{error}");
    assert!(error.to_string().contains("is a link"), "{error}");
    let error = generate_manifest(&location).unwrap_err();
    assert!(matches!(error, Error::OutsideTable { .. }), "{error}");
    assert_eq!(ground.outside(), outside);
    assert_eq!(rows(&location), owned(&[("a", 1)]));
}

#[test]
fn a_table_that_is_reached_by_a_link_is_written_as_any_other() {
    let ground = Ground::new();
    fs::create_dir(ground.path("disk")).unwrap();
    symlink(ground.path("disk"), ground.path("mounted")).unwrap();
    let location = Location::open(&ground.text("mounted/t"), &Default::default()).unwrap();
    write(&location, &[("a", 1)], &partitioned()).unwrap();
    write(&location, &[("b", 2)], &WriteOptions { mode: WriteMode::Overwrite, ..Default::default() })
        .unwrap();
    std::thread::sleep(Duration::from_millis(3));
    let options =
        VacuumOptions { retention: Some(Duration::ZERO), allow_short_retention: true, ..Default::default() };
    assert_eq!(vacuum(&location, &options).unwrap().files.len(), 1);
    assert_eq!(rows(&location), owned(&[("b", 2)]));
}

/// A path of a log: any mix of what leads in, out and around.
fn spelling() -> impl Strategy<Value = (u8, Vec<usize>)> {
    (0u8..8, prop::collection::vec(0..PARTS.len(), 1..6))
}

const PARTS: [&str; 17] = [
    "..",
    ".",
    "",
    "%2E%2E",
    "a.parquet",
    "sub",
    "live.parquet",
    "old.parquet",
    "out",
    "in",
    "table",
    "outside",
    "deeper",
    "victim",
    "_delta_log",
    "00000000000000000000.json",
    "alias",
];

fn spelled(ground: &Ground, (prefix, parts): &(u8, Vec<usize>)) -> String {
    let parts: Vec<&str> = parts.iter().map(|part| PARTS[*part]).collect();
    let (relative, base) = (parts.join("/"), ground.text(""));
    let base = base.trim_end_matches('/');
    match prefix {
        0 => format!("{base}/{relative}"),
        1 => format!("file://{base}/{relative}"),
        2 => format!("file:{base}/table/{relative}"),
        3 => format!("FILE://localhost{base}/{relative}"),
        _ => relative,
    }
}

proptest! {
    /// `PROPTEST_CASES=10000 cargo test containment` looks longer.
    #[test]
    fn random_logs_and_links_change_nothing_outside(
        removed in prop::collection::vec(spelling(), 1..6),
        vector in spelling(),
        links in prop::collection::vec((0usize..4, 0usize..5), 0..3),
        lite in any::<bool>(),
    ) {
        let ground = Ground::new();
        fs::write(ground.path("table/sub/old.parquet"), "old").unwrap();
        for (name, target) in links {
            let name = ["table/out", "table/in", "alias", "table/sub/out"][name];
            let target = ["outside", "outside/deeper", "table", "table/sub", "outside/victim"][target];
            let _ = symlink(ground.path(target), ground.path(name));
        }
        let texts: Vec<String> = removed.iter().map(|path| spelled(&ground, path)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).filter(|path| !path.is_empty()).collect();
        ground.says(&["a.parquet", "sub/live.parquet"], &texts);
        let descriptor = json!({"storageType": "p", "pathOrInlineDv": spelled(&ground, &vector), "offset": 1,
            "sizeInBytes": 1, "cardinality": 1});
        ground.commit(3, &[json!({"remove": {"path": "x.parquet", "deletionTimestamp": 1, "dataChange": true,
            "deletionVector": descriptor}})]);
        let before = ground.all("");
        // a log that cannot be read or placed is an error, and nothing went
        let _ = ground.vacuum(if lite { VacuumMode::Lite } else { VacuumMode::Full });
        let after = ground.all("");
        let old = ground.path("table/sub/old.parquet");
        let links: Vec<&PathBuf> =
            before.iter().filter(|(_, is)| matches!(is, Is::Link(_))).map(|(path, _)| path).collect();
        for (path, is) in &before {
            let may_go = *path == old || (links.contains(&path) && path.starts_with(ground.path("table")));
            prop_assert!(may_go || after.get(path) == Some(is), "{path:?} of {texts:?}");
        }
        let log = ground.path("table/_delta_log");
        for path in after.keys() {
            prop_assert!(before.contains_key(path) || path.starts_with(&log), "{path:?} is new, of {texts:?}");
        }
    }
}
