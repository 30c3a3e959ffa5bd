//! A table with neighbours in a folder, and links in and out of it. Each name is one file, as on Linux and not everywhere.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use deltaic_core::actions::ObjectPath;
use deltaic_core::store::{Location, PutOutcome};

use super::paths::is_allowed;

const FILES: [&str; 7] = [
    "table/_delta_log/00000000000000000000.json",
    "table/a.parquet",
    "table/sub/live.parquet",
    "table/sub/deep/old.parquet",
    "outside/victim",
    "outside/deeper/victim",
    "victim",
];
/// Links, and what they lead to.
const LINKS: [(&str, &str); 6] = [
    ("table/out", "outside"),
    ("table/in", "table/sub"),
    ("table/linked.parquet", "outside/victim"),
    ("table/sub/up", "table"),
    ("table/_delta_log/_sidecars", "outside"),
    ("alias", "table"),
];

pub(crate) struct Ground {
    _dir: tempfile::TempDir,
    /// Without a link on the way.
    base: PathBuf,
    /// As a key has it.
    text: String,
    is_changed: Cell<bool>,
}

/// What a path is: a folder, a link, or a file with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Is {
    Folder,
    Link(PathBuf),
    File(Vec<u8>),
}

impl Ground {
    pub(crate) fn new() -> Self {
        // synced files are quick in memory
        let memory = Path::new("/dev/shm");
        let dir = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let dir = dir.unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        let root = Location::open(base.to_str().unwrap(), &Default::default()).unwrap();
        let ground =
            Ground { _dir: dir, text: root.root().key().to_owned(), base, is_changed: Cell::new(true) };
        ground.lay();
        ground
    }

    pub(crate) fn base(&self) -> &str {
        &self.text
    }

    /// The table by its name, and by that of a link.
    pub(crate) fn roots(&self) -> [ObjectPath; 2] {
        ["table", "alias"].map(|name| ObjectPath::new("file://", &self.text).join(name))
    }

    /// Makes everything again where something changed.
    fn lay(&self) {
        if !self.is_changed.replace(false) {
            return;
        }
        for entry in fs::read_dir(&self.base).unwrap() {
            let path = entry.unwrap().path();
            let is_folder = fs::symlink_metadata(&path).unwrap().is_dir();
            if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.unwrap();
        }
        for file in FILES {
            let path = self.base.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        for (name, target) in LINKS {
            symlink(self.base.join(target), self.base.join(name)).unwrap();
        }
    }

    fn all(&self) -> BTreeMap<PathBuf, Is> {
        let mut found = BTreeMap::new();
        gather(&self.base, &mut found);
        found
    }

    /// Deletes and writes by the door of the table at `root`; whether any went through.
    pub(crate) fn keeps(&self, root: &ObjectPath, places: &[ObjectPath]) -> bool {
        self.lay();
        let location = Location::open(&root.to_uri(), &Default::default()).unwrap();
        for place in places {
            self.lies_as_typed(place, root);
        }
        let before = self.all();
        let deleted: Vec<&ObjectPath> =
            places.iter().filter(|place| is_allowed(location.store().delete(place), place, root)).collect();
        let after = self.all();
        for (path, is) in &before {
            match after.get(path) {
                Some(now) => assert_eq!(now, is, "{path:?} is another"),
                None => {
                    assert!(*is != Is::Folder, "the folder {path:?} is gone");
                    assert!(deleted.iter().any(|place| self.real(place) == *path), "{path:?} is gone");
                }
            }
        }
        assert!(after.keys().all(|path| before.contains_key(path)));
        let mut written = BTreeMap::new();
        for (n, place) in places.iter().enumerate() {
            let body = format!("body {n}");
            let put = match n % 2 {
                0 => location.store().put(place, body.clone().into()).map(|()| PutOutcome::Created),
                _ => location.store().put_if_absent(place, body.clone().into()),
            };
            let is_created = matches!(put, Ok(PutOutcome::Created));
            if is_allowed(put, place, root) && is_created {
                written.insert(self.real(place), body);
            }
        }
        let last = self.all();
        for (path, is) in &last {
            match written.get(path) {
                Some(body) => assert_eq!(*is, Is::File(body.clone().into_bytes()), "{path:?}"),
                None if after.contains_key(path) => assert_eq!(after.get(path), Some(is), "{path:?}"),
                None => {
                    assert!(*is == Is::Folder && path.starts_with(self.base.join("table")), "{path:?} is new")
                }
            }
        }
        assert!(after.keys().chain(written.keys()).all(|path| last.contains_key(path)), "something went");
        self.is_changed.set(before != last);
        !deleted.is_empty() || !written.is_empty()
    }

    /// The path of a place of the table, when the link to the table itself is followed.
    fn real(&self, place: &ObjectPath) -> PathBuf {
        let [table, alias] = self.roots();
        let name = place.below(&table).or_else(|| place.below(&alias)).unwrap();
        self.base.join("table").join(name)
    }

    /// What is typed as inside is inside, and what is typed as outside is not, unless a link is on the way.
    fn lies_as_typed(&self, place: &ObjectPath, root: &ObjectPath) {
        let (Some(local), Some(root_path)) = (place.to_local(), root.to_local()) else { return };
        let Ok(real) = fs::canonicalize(&local) else { return };
        let table = self.base.join("table");
        let is_inside = real.starts_with(&table) && real != table;
        if is_inside != place.below(root).is_some() {
            let is_link = |way: &Path| fs::symlink_metadata(way).is_ok_and(|meta| meta.is_symlink());
            let mut way = local.ancestors().filter(|way| !root_path.starts_with(way));
            let by_link = way.any(is_link) || (is_inside && is_link(&root_path));
            assert!(by_link, "{place:?} is {real:?}, of {root:?}");
        }
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
