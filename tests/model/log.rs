//! Logs as the model holds them, and what a reader makes of them.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex};

use deltaic_core::actions::{DeletionVectorDescriptor, ObjectPath};
use deltaic_core::conflict::{Changes, Winner};
use deltaic_core::deletion_vector::DeletionVector;
use deltaic_core::log::commit_path;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, ObjectAdapter};

/// A row: id and value.
pub(crate) type Row = (u8, u8);

/// The rows of each data file.
pub(crate) type Files = BTreeMap<String, Vec<Row>>;

/// The commits, from version 0 on.
pub(crate) type Log = Vec<Arc<str>>;

static LOCATION: LazyLock<Location> = LazyLock::new(place);

fn place() -> Location {
    Location::with_store(ObjectPath::new("memory://", "/t"), Arc::new(ObjectAdapter::memory()))
}

/// The snapshot of the newest version of a log; one for each log that was ever seen.
pub(crate) fn snapshot(log: &[Arc<str>]) -> Snapshot {
    static SEEN: LazyLock<Mutex<HashMap<u64, Snapshot>>> = LazyLock::new(Mutex::default);
    let mut hasher = DefaultHasher::new();
    log.hash(&mut hasher);
    let key = hasher.finish();
    if let Some(snapshot) = SEEN.lock().unwrap().get(&key) {
        return snapshot.clone();
    }
    let location = place();
    for (version, body) in log.iter().enumerate() {
        let path = commit_path(&location, version as u64);
        location.store().put_if_absent(&path, body.to_string().into()).unwrap();
    }
    let snapshot = Snapshot::open(location, At::Latest).unwrap();
    SEEN.lock().unwrap().insert(key, snapshot.clone());
    snapshot
}

pub(crate) fn parse(version: u64, body: &str) -> Winner {
    Winner::parse(version, "a commit", body.as_bytes()).unwrap()
}

/// A live file: its vector, and the positions and rows that it leaves.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) vector: Option<DeletionVectorDescriptor>,
    pub(crate) rows: Vec<(u64, Row)>,
}

impl Live {
    /// The deleted positions.
    pub(crate) fn deleted(&self) -> Vec<u64> {
        match &self.vector {
            Some(vector) => DeletionVector::load(vector, &LOCATION).unwrap().rows().iter().collect(),
            None => Vec::new(),
        }
    }
}

/// The live files of a log, by plain replay.
///
/// # Errors
/// When a commit is one that no writer may make.
pub(crate) fn replay(log: &[Arc<str>], files: &Files) -> Result<BTreeMap<String, Live>, String> {
    let mut live: BTreeMap<String, Option<DeletionVectorDescriptor>> = BTreeMap::new();
    for (version, body) in log.iter().enumerate() {
        let changes = Changes::of(&parse(version as u64, body).actions);
        for remove in &changes.removes {
            let path = remove.path.as_str();
            match live.remove(path) {
                Some(vector) if vector == remove.deletion_vector => {}
                other => return Err(format!("version {version} removes {path}, which is {other:?}")),
            }
        }
        for add in changes.adds {
            let path = add.path.as_str().to_owned();
            if live.insert(path.clone(), add.deletion_vector).is_some() {
                return Err(format!("version {version} adds {path} again"));
            }
        }
    }
    let content = |(path, vector): (String, Option<DeletionVectorDescriptor>)| {
        let mut file = Live { vector, rows: Vec::new() };
        let deleted = file.deleted();
        let rows = files[&path].iter().enumerate().map(|(at, row)| (at as u64, *row));
        file.rows = rows.filter(|(at, _)| !deleted.contains(at)).collect();
        (path, file)
    };
    Ok(live.into_iter().map(content).collect())
}
