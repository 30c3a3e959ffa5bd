//! A vacuum that is spread over processes: tasks list folders and delete files, and the log is read and written here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::documents::{from_json, to_json, wrong};
use crate::actions::ObjectPath;
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::maintain::{
    Deletion, ListedTree, VacuumDone, VacuumMode, VacuumOptions, VacuumWork, delete_files,
};
use crate::progress::Progress;
use crate::replay::FilesRequest;
use crate::snapshot::{At, Snapshot};
use crate::store::{FileMeta, Location, StorageOptions};
use crate::txn::Route;

const VACUUM: &str = "vacuum";
/// Files that one work of a task deletes: one request of S3.
const CHUNK: usize = 1000;

/// A vacuum of which tasks do the work on files.
#[derive(Debug)]
pub struct DistributedVacuum {
    location: Location,
    storage: StorageOptions,
    options: VacuumOptions,
    listed: Option<ListedTree>,
    work: Option<VacuumWork>,
    /// Warnings of the commit that says that it began; none before.
    begun: Option<Vec<String>>,
}

/// A task that travels.
#[derive(Serialize, Deserialize)]
struct Packed {
    root: String,
    storage: StorageOptions,
}

/// What a task found below a folder, or did with files.
#[derive(Serialize, Deserialize)]
enum Answer {
    Listed { folder: String, files: Vec<(String, u64, i64)> },
    Deleted { first: usize, outcomes: Vec<Deletion> },
}

/// What a task does.
#[derive(Serialize, Deserialize)]
enum Work {
    /// The objects below this folder of the table.
    List {
        folder: String,
    },
    Delete {
        first: usize,
        names: Vec<String>,
    },
}

impl DistributedVacuum {
    /// Nothing is read yet.
    pub fn new(location: Location, storage: StorageOptions, options: VacuumOptions) -> Self {
        DistributedVacuum { location, storage, options, listed: None, work: None, begun: None }
    }

    /// The files that the log says the table has: about as many are listed. 0 where nothing is listed.
    ///
    /// # Errors
    /// As [`Snapshot::open`] and [`Snapshot::files`].
    pub fn expected_files(&self) -> Result<u64> {
        if self.options.mode == VacuumMode::Lite || self.options.inventory.is_some() {
            return Ok(0);
        }
        let snapshot = Snapshot::open(self.location.clone(), At::Latest)?;
        match snapshot.checksum() {
            Some(checksum) => Ok(checksum.num_files.unsigned_abs()),
            None => {
                let files = snapshot.files(FilesRequest::default())?;
                files.map(|batch| Ok(batch?.num_files() as u64)).sum()
            }
        }
    }

    /// What [`VacuumTask`] needs. It holds the storage options.
    ///
    /// # Errors
    /// None that is known.
    pub fn task(&self) -> Result<String> {
        to_json(VACUUM, &Packed { root: self.location.root().to_uri(), storage: self.storage.clone() })
    }

    /// Works that list the folders of the table. None where one listing of all is as good.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn folders(&mut self) -> Result<Vec<String>> {
        if self.options.mode == VacuumMode::Lite || self.options.inventory.is_some() {
            return Ok(Vec::new());
        }
        let Some((files, folders)) = self.location.store().one_level(self.location.root())? else {
            return Ok(Vec::new());
        };
        if folders.len() < 2 {
            return Ok(Vec::new());
        }
        self.listed = Some((files, Vec::new()));
        folders.into_iter().map(|folder| to_json(VACUUM, &Work::List { folder })).collect()
    }

    /// Takes what tasks listed.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for something else.
    pub fn take_listing(&mut self, answers: &[String]) -> Result<()> {
        let (mut found, links) = self.listed.take().ok_or_else(|| wrong(VACUUM, "nothing is listed"))?;
        for answer in answers {
            let Answer::Listed { folder, files } = from_json(VACUUM, answer)? else {
                return Err(wrong(VACUUM, "not a listing"));
            };
            let within =
                |(name, size, modified)| FileMeta { name: format!("{folder}/{name}"), size, modified };
            found.extend(files.into_iter().map(within));
        }
        self.listed = Some((found, links));
        Ok(())
    }

    /// From now on this follows how far it is, where it is done in this process.
    pub fn follow(&mut self, progress: &Progress) {
        self.location = self.location.followed_by(progress);
    }

    /// Finds the files to delete, and how many there are.
    ///
    /// # Errors
    /// As [`vacuum`](crate::maintain::vacuum) before the first file is deleted.
    pub fn plan(&mut self, cancel: &Cancel) -> Result<usize> {
        let location = self.location.stopped_by(cancel);
        let work = VacuumWork::of(&location, &self.options, self.listed.take())?;
        let count = work.files().count();
        self.work = Some(work);
        Ok(count)
    }

    /// Does it in this process, from what was done last. The history says by which route where one is given.
    ///
    /// # Errors
    /// As [`vacuum`](crate::maintain::vacuum).
    pub fn run(&mut self, route: Option<Route>, cancel: &Cancel) -> Result<VacuumDone> {
        let mut work = match self.work.take() {
            Some(work) => work,
            None => VacuumWork::of(&self.location.stopped_by(cancel), &self.options, None)?,
        };
        work.route = route;
        match self.begun.take() {
            Some(warnings) => Ok(work.finish(work.delete(cancel)?, warnings)),
            None => work.run(cancel),
        }
    }

    /// Commits `VACUUM START`, and gives the works that delete files.
    ///
    /// # Errors
    /// As [`crate::txn::Transaction::commit`].
    pub fn begin(&mut self) -> Result<Vec<String>> {
        let work = self.work.as_mut().ok_or_else(|| wrong(VACUUM, "nothing is planned"))?;
        work.route = Some(Route::Tasks);
        self.begun = Some(work.begin()?);
        let root = self.location.root();
        // the files of a plan are below the table
        let names: Vec<String> =
            work.files().filter_map(|path| path.below(root)).map(str::to_owned).collect();
        let chunks = names.chunks(CHUNK).enumerate();
        chunks
            .map(|(n, names)| to_json(VACUUM, &Work::Delete { first: n * CHUNK, names: names.to_vec() }))
            .collect()
    }

    /// Commits `VACUUM END`.
    ///
    /// # Errors
    /// [`Error::Internal`] where an answer is missing.
    pub fn finish(&mut self, answers: &[String]) -> Result<VacuumDone> {
        let work = self.work.take().ok_or_else(|| wrong(VACUUM, "nothing is planned"))?;
        let mut all: BTreeMap<usize, Vec<Deletion>> = BTreeMap::new();
        for answer in answers {
            let Answer::Deleted { first, outcomes } = from_json(VACUUM, answer)? else {
                return Err(wrong(VACUUM, "not what became of files"));
            };
            all.insert(first, outcomes);
        }
        let outcomes: Vec<Deletion> = all.into_values().flatten().collect();
        if outcomes.len() != work.files().count() {
            let reason = "the answer of a task is missing".into();
            return Err(Error::Internal { operation: "vacuum".into(), reason });
        }
        Ok(work.finish(outcomes, self.begun.take().unwrap_or_default()))
    }
}

/// The task of any work of a vacuum.
#[derive(Debug)]
pub struct VacuumTask {
    location: Location,
}

impl VacuumTask {
    /// From [`DistributedVacuum::task`]. Nothing is read.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for something else.
    pub fn from_json(text: &str) -> Result<Self> {
        let packed: Packed = from_json(VACUUM, text)?;
        Ok(VacuumTask { location: Location::open(&packed.root, &packed.storage)? })
    }

    /// Lists a folder, or deletes files, and answers.
    ///
    /// # Errors
    /// Errors of a listing. A file that cannot be deleted is in the answer.
    pub fn run(&self, work: &str) -> Result<String> {
        let root = self.location.root();
        let answer = match from_json(VACUUM, work)? {
            Work::Delete { first, names } => {
                let paths: Vec<ObjectPath> = names.iter().map(|name| root.join(name)).collect();
                Answer::Deleted { first, outcomes: delete_files(&self.location, &paths) }
            }
            Work::List { folder } => self.list(folder)?,
        };
        to_json(VACUUM, &answer)
    }

    /// Stores with links are not listed here.
    fn list(&self, folder: String) -> Result<Answer> {
        let found = self.location.store().list_all(&self.location.root().join(&folder))?;
        let files = found.into_iter().map(|file| (file.name, file.size, file.modified)).collect();
        Ok(Answer::Listed { folder, files })
    }
}
