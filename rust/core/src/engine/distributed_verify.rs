//! A verification that is spread over processes: tasks open data files and deletion vectors, and the log is read here.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::documents::{from_json, to_json, wrong};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::schema::{ColumnMappingMode, StructType};
use crate::store::{Location, StorageOptions};
use crate::verify::{
    Existing, Facts, FindingKind, LooksInto, VerifyOptions, VerifyReport, Wrong, check_all, verify_by,
};

const VERIFY: &str = "verify";
/// Files that one work of a task opens.
const CHUNK: usize = 256;
/// Files whose actions are in memory here while tasks open them.
const MOST: usize = 1 << 16;

/// Runs tasks: given their document, works, and how many files these have, the answer to each work, in order.
pub type RunsTasks<'a> = &'a mut dyn FnMut(&str, Vec<String>, usize) -> Result<Vec<String>>;

/// As [`verify`](crate::verify::verify), with data files and deletion vectors opened by tasks. A process holds the actions
/// of at most 65,536 files at once.
///
/// # Errors
/// As [`verify`](crate::verify::verify), those of the tasks, and [`Error::Internal`] where an answer is missing.
pub fn verify_by_tasks(
    location: &Location,
    storage: &StorageOptions,
    version: Option<u64>,
    tasks: RunsTasks<'_>,
) -> Result<VerifyReport> {
    let options = VerifyOptions { version, deep: true };
    verify_by(location, &options, &mut Tasks { storage, run: tasks })
}

struct Tasks<'a> {
    storage: &'a StorageOptions,
    run: RunsTasks<'a>,
}

/// What travels to all tasks.
#[derive(Serialize, Deserialize)]
struct Packed {
    root: String,
    storage: StorageOptions,
    schema: String,
    partition_columns: Vec<String>,
    mode: ColumnMappingMode,
}

/// What a task found: for each file the kind, what was expected and what was found.
type Answer = Vec<Vec<(String, String, String)>>;

impl LooksInto for Tasks<'_> {
    fn most(&self) -> usize {
        MOST
    }

    fn look(&mut self, facts: &Facts, files: Vec<Existing>) -> Result<Vec<Vec<Wrong>>> {
        let document = to_json(
            VERIFY,
            &Packed {
                root: facts.location.root().to_uri(),
                storage: self.storage.clone(),
                schema: facts.schema.to_json(),
                partition_columns: facts.partition_columns.clone(),
                mode: facts.mode,
            },
        )?;
        let works = files.chunks(CHUNK).map(|files| to_json(VERIFY, &files)).collect::<Result<_>>()?;
        let mut found = Vec::with_capacity(files.len());
        for answer in (self.run)(&document, works, files.len())? {
            let answer: Answer = from_json(VERIFY, &answer)?;
            for wrongs in answer {
                found.push(wrongs.into_iter().map(unpacked).collect::<Result<_>>()?);
            }
        }
        if found.len() != files.len() {
            let reason = "the answer of a task is missing".into();
            return Err(Error::Internal { operation: VERIFY.into(), reason });
        }
        Ok(found)
    }
}

fn unpacked((kind, expected, found): (String, String, String)) -> Result<Wrong> {
    let kind = FindingKind::ALL.iter().copied().find(|known| known.name() == kind);
    let kind = kind.ok_or_else(|| wrong(VERIFY, "a finding of an unknown kind"))?;
    Ok(Wrong { kind, expected, found })
}

/// The task of any work of a verification.
#[derive(Debug)]
pub struct VerifyTask {
    facts: Facts,
}

impl VerifyTask {
    /// From the document that the tasks are run with. Nothing is read.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for something else.
    pub fn from_json(text: &str) -> Result<Self> {
        let packed: Packed = from_json(VERIFY, text)?;
        let facts = Facts {
            location: Location::open(&packed.root, &packed.storage)?.afresh(),
            schema: Arc::new(StructType::from_json(&packed.schema)?),
            partition_columns: packed.partition_columns,
            mode: packed.mode,
        };
        Ok(VerifyTask { facts })
    }

    /// Opens files, and answers.
    ///
    /// # Errors
    /// Errors of the store. What is wrong with a file is in the answer.
    pub fn run(&self, work: &str, cancel: &Cancel) -> Result<String> {
        let files: Vec<Existing> = from_json(VERIFY, work)?;
        let facts = Facts { location: self.facts.location.stopped_by(cancel), ..self.facts.clone() };
        let packed = |wrong: Wrong| (wrong.kind.name().to_owned(), wrong.expected, wrong.found);
        let found = check_all(&facts, &files)?.into_iter();
        let answer: Answer = found.map(|wrongs| wrongs.into_iter().map(packed).collect()).collect();
        to_json(VERIFY, &answer)
    }
}
