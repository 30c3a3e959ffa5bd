//! Where a log may name files that are read: anywhere by default, and below the table alone where a stranger wrote it.

use std::path::{Path, PathBuf};

use arrow::array::{Int64Array, RecordBatch};
use deltaic_core::actions::{DeletionVectorDescriptor, DvStorage};
use deltaic_core::deletion_vector::DeletionVector;
use deltaic_core::engine::file_list;
use deltaic_core::maintain::{CloneOptions, shallow_clone};
use deltaic_core::scan::{ReadRequest, file_facts, read, surviving_files};
use deltaic_core::snapshot::At;
use deltaic_core::store::{ALLOWED_LOCATIONS, Location, StorageOptions};
use deltaic_core::{Error, Result, Snapshot};
use deltaic_testkit::{TableBuilder, actions};
use serde_json::Value;
use std::sync::Arc;

fn options(allowed: Option<&str>) -> StorageOptions {
    allowed.map(|allowed| (ALLOWED_LOCATIONS.to_owned(), allowed.to_owned())).into_iter().collect()
}

fn ids(count: i64) -> RecordBatch {
    RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from_iter_values(0..count)) as _)]).unwrap()
}

fn open(table: &TableBuilder, allowed: Option<&str>) -> Result<Snapshot> {
    Snapshot::open(Location::open(&table.uri(), &options(allowed))?, At::Latest)
}

fn rows(table: &TableBuilder, allowed: Option<&str>) -> Result<usize> {
    read(&open(table, allowed)?, ReadRequest::default())?.map(|batch| batch.map(|b| b.num_rows())).sum()
}

/// What engines get of the files that they read themselves.
fn handed_over(table: &TableBuilder, allowed: Option<&str>) -> [Result<()>; 4] {
    let snapshot = open(table, allowed).unwrap();
    let adds = surviving_files(&snapshot, None, false).unwrap();
    let target = TableBuilder::temp();
    let target = Location::open(&target.uri(), &StorageOptions::default()).unwrap();
    let clone = shallow_clone(snapshot.location(), At::Latest, &target, &CloneOptions::default());
    [
        file_list::encode(&snapshot, None, None).map(drop),
        file_list::encode_adds(&snapshot, &adds).map(drop),
        file_facts(&snapshot, &adds).map(drop),
        clone.map(drop),
    ]
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(outcome: Result<T>) {
    let refused = matches!(outcome, Err(Error::OutsideTable { operation: "read", .. }));
    assert!(refused, "{outcome:?}");
}

/// A table with a file of two rows, and a folder beside it with one of three.
struct Stranger {
    table: TableBuilder,
    beside: TableBuilder,
}

impl Stranger {
    fn new() -> Self {
        let mut table = TableBuilder::temp();
        let features = ["deletionVectors", "v2Checkpoint"];
        table.commit(&[
            actions::protocol_features(&features, &features),
            actions::metadata(
                &actions::schema(&[("id", "long")]),
                &[],
                &[("delta.enableDeletionVectors", "true")],
            ),
        ]);
        let add = table.data_file("own.parquet", &ids(2), &[]);
        table.commit(&[add]);
        Stranger { table, beside: TableBuilder::temp() }
    }

    /// A file outside, as an action that names it by `path`.
    fn outside(&self, name: &str, path: &str) -> Value {
        let add = self.beside.data_file(name, &ids(3), &[]);
        actions::with(add, "path", path)
    }

    fn place(&self, name: &str) -> PathBuf {
        self.beside.root().join(name)
    }
}

#[test]
fn a_data_file_outside_is_read_where_it_is_allowed() {
    for spelling in ["{}", "file://{}", "file:{}", "../.."] {
        let mut stranger = Stranger::new();
        let place = stranger.place("a.parquet");
        let path = match spelling {
            "../.." => {
                let name = stranger.beside.root().parent().unwrap().file_name().unwrap().to_str().unwrap();
                format!("../../{name}/table/a.parquet")
            }
            absolute => absolute.replace("{}", place.to_str().unwrap()),
        };
        let add = stranger.outside("a.parquet", &path);
        stranger.table.commit(&[add]);
        let beside = stranger.beside.root().to_str().unwrap().to_owned();
        for allowed in [None, Some("any"), Some(beside.as_str())] {
            assert_eq!(rows(&stranger.table, allowed).unwrap(), 5, "{path} {allowed:?}");
            for outcome in handed_over(&stranger.table, allowed) {
                outcome.unwrap();
            }
        }
        for allowed in ["table-only", "/nowhere,s3://bucket/x"] {
            assert_refused(rows(&stranger.table, Some(allowed)));
            handed_over(&stranger.table, Some(allowed)).into_iter().for_each(assert_refused);
        }
    }
}

#[test]
fn a_deletion_vector_outside_is_read_where_it_is_allowed() {
    let mut stranger = Stranger::new();
    let vector: DeletionVector = [1].into_iter().collect();
    let body = vector.to_bytes();
    let size = (body.len() as u32).to_be_bytes();
    let crc = crc32fast::hash(&body).to_be_bytes();
    std::fs::write(stranger.place("v.bin"), [&[1], &size[..], &body, &crc].concat()).unwrap();
    let descriptor = DeletionVectorDescriptor {
        storage_type: DvStorage::AbsolutePath,
        path_or_inline_dv: stranger.place("v.bin").to_str().unwrap().to_owned(),
        offset: Some(1),
        size_in_bytes: body.len() as i32,
        cardinality: 1,
    };
    let add = stranger.table.data_file("b.parquet", &ids(4), &[]);
    stranger.table.commit(&[actions::with(add, "deletionVector", serde_json::to_value(descriptor).unwrap())]);
    assert_eq!(rows(&stranger.table, None).unwrap(), 5);
    assert_refused(rows(&stranger.table, Some("table-only")));
    handed_over(&stranger.table, Some("table-only")).into_iter().for_each(assert_refused);
}

#[cfg(unix)]
#[test]
fn no_link_below_the_table_is_followed() {
    let link = |to: &Path, from: PathBuf| std::os::unix::fs::symlink(to, from).unwrap();
    let mut stranger = Stranger::new();
    let add = stranger.outside("a.parquet", "folder/a.parquet");
    link(stranger.beside.root(), stranger.table.root().join("folder"));
    stranger.table.commit(&[add]);
    let beside = stranger.beside.root().to_str().unwrap().to_owned();
    assert_eq!(rows(&stranger.table, None).unwrap(), 5);
    for allowed in ["table-only", &beside] {
        assert_refused(rows(&stranger.table, Some(allowed)));
        handed_over(&stranger.table, Some(allowed)).into_iter().for_each(assert_refused);
    }

    // the log is a file as others are
    let linked = Stranger::new();
    let commit = linked.table.root().join("_delta_log/00000000000000000001.json");
    std::fs::rename(&commit, linked.place("1.json")).unwrap();
    link(&linked.place("1.json"), commit);
    assert_eq!(rows(&linked.table, None).unwrap(), 2);
    assert_refused(rows(&linked.table, Some("table-only")));

    // but the table itself may be reached by one, and its log name files by where it leads
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long")]), &[], &[]);
    let add = table.data_file("a.parquet", &ids(2), &[]);
    let real = table.root().canonicalize().unwrap();
    table.commit(&[actions::with(add, "path", real.join("a.parquet").to_str().unwrap())]);
    let by_link = TableBuilder::temp();
    let alias = by_link.root().join("alias");
    link(table.root(), alias.clone());
    assert_eq!(rows(&TableBuilder::at(alias), Some("table-only")).unwrap(), 2);
}

#[test]
fn a_sidecar_outside_is_read_where_it_is_allowed() {
    use deltaic_testkit::{CheckpointForm, CheckpointSpec};
    let stranger = Stranger::new();
    stranger.table.checkpoint(1, &CheckpointSpec::of(CheckpointForm::V2Json(1)));
    let log = stranger.table.root().join("_delta_log");
    let sidecar = std::fs::read_dir(log.join("_sidecars")).unwrap().next().unwrap().unwrap().path();
    let outside = stranger.place("sidecar.parquet");
    std::fs::rename(&sidecar, &outside).unwrap();
    let name = sidecar.file_name().unwrap().to_str().unwrap();
    for file in std::fs::read_dir(&log).unwrap().map(|f| f.unwrap().path()) {
        if file.is_file() {
            let text = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&file, text.replace(name, outside.to_str().unwrap())).unwrap();
        }
    }
    for version in 0..2 {
        stranger.table.remove_log_file(&format!("{version:020}.json"));
    }
    assert_eq!(rows(&stranger.table, None).unwrap(), 2);
    assert_refused(rows(&stranger.table, Some("table-only")));
}
