//! Compares data files and deletion vectors with the log.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::deep_stats;
use super::facts::Facts;
use super::finding::{FindingKind, Wrong};
use crate::actions::Add;
use crate::deletion_vector::Shared;
use crate::error::{Error, Result};
use crate::parquet::DataFile;
use crate::scan::{check_vector, column_facts, row_count};
use crate::store::runtime;

/// Files that are looked into before what was found is kept.
const WAVE: usize = 1024;

/// A file that exists with its size.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Existing {
    pub(crate) add: Add,
    /// Whether its deletion vector is known to be lost.
    pub(crate) lost_vector: bool,
}

/// Who looks into files: what is wrong with each, in order.
pub(crate) trait LooksInto {
    /// How many files it is to be given at once.
    fn most(&self) -> usize;

    /// # Errors
    /// Errors of the store.
    fn look(&mut self, facts: &Facts, files: Vec<Existing>) -> Result<Vec<Vec<Wrong>>>;
}

/// This process, several files at a time.
pub(super) struct Here;

impl LooksInto for Here {
    fn most(&self) -> usize {
        WAVE
    }

    fn look(&mut self, facts: &Facts, files: Vec<Existing>) -> Result<Vec<Vec<Wrong>>> {
        check_all(facts, &files)
    }
}

/// Opens files, several at a time; what is wrong with each.
///
/// # Errors
/// Errors of the store.
pub(crate) fn check_all(facts: &Facts, files: &[Existing]) -> Result<Vec<Vec<Wrong>>> {
    let vectors =
        files.iter().filter(|file| !file.lost_vector).filter_map(|f| f.add.deletion_vector.as_ref());
    let shared = Shared::of_descriptors(vectors, facts.location.root());
    let check = |file: &Existing| {
        let found = check(facts, &file.add, Some(&shared).filter(|_| !file.lost_vector))?;
        facts.location.progress().done(1, file.add.size.unsigned_abs());
        Ok(found)
    };
    runtime::pool()?.install(|| files.par_iter().map(check).collect())
}

/// Opens a file, and compares it with its `add`. `vectors` has the deletion vectors of the batch; none where that of this
/// file is known to be lost.
///
/// # Errors
/// Errors of the store.
fn check(facts: &Facts, add: &Add, vectors: Option<&Shared>) -> Result<Vec<Wrong>> {
    let location = &facts.location;
    location.cancel().check()?;
    let path = add.path.resolve(location.root())?;
    let mut out = Vec::new();
    let mut wrong = |kind, expected: String, found: String| out.push(Wrong { kind, expected, found });
    let vector = add.deletion_vector.as_ref().zip(vectors);
    let vector = match vector.map(|(v, vectors)| vectors.load(v, location)).transpose() {
        Ok(vector) => vector,
        Err(error) if matches!(error.plain(), Error::DeletionVector { .. }) => {
            wrong(FindingKind::InvalidDeletionVector, "a whole deletion vector".into(), error.to_string());
            None
        }
        Err(error) => return Err(error),
    };
    let opened = DataFile::open(location, path, add.size).and_then(|f| Ok((f.metadata(true)?, f)));
    let (metadata, file) = match opened {
        Ok(opened) => opened,
        Err(error @ Error::DataFile { .. }) => {
            wrong(FindingKind::UnreadableFile, "a whole Parquet file".into(), error.to_string());
            return Ok(out);
        }
        Err(error) => return Err(error),
    };
    if let Err(error) = check_vector(vector.as_ref(), &metadata, &file) {
        wrong(FindingKind::InvalidDeletionVector, "rows of the file".into(), error.to_string());
    }
    let (schema, partitions) = (&facts.schema, &facts.partition_columns);
    let in_files: Vec<bool> =
        schema.fields.iter().map(|f| !partitions.iter().any(|p| p.eq_ignore_ascii_case(&f.name))).collect();
    let columns = match column_facts(&file.path(), schema, &in_files, facts.mode, &metadata) {
        Ok(columns) => columns,
        // what deltaic does not read is not wrong
        Err(Error::Unsupported { .. }) => Vec::new(),
        Err(error @ Error::DataFile { .. }) => {
            wrong(FindingKind::FileSchemaDiffers, "columns of the table's types".into(), error.to_string());
            Vec::new()
        }
        Err(error) => return Err(error),
    };
    out.extend(deep_stats::check(facts, add, row_count(&metadata), &columns));
    Ok(out)
}
