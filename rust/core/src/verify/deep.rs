//! Compares data files and deletion vectors with the log.

use super::deep_stats;
use super::finding::{FindingKind, Wrong};
use crate::actions::{Add, ObjectPath};
use crate::deletion_vector::Shared;
use crate::error::{Error, Result};
use crate::parquet::DataFile;
use crate::scan::{check_vector, column_facts, row_count};
use crate::snapshot::Snapshot;

/// Opens a file that exists with its size, and compares it with its `add`. `vectors` has the deletion vectors of the
/// batch; none where that of this file is known to be lost.
///
/// # Errors
/// Errors of the store.
pub(super) fn check(
    snapshot: &Snapshot,
    add: &Add,
    path: &ObjectPath,
    vectors: Option<&Shared>,
) -> Result<Vec<Wrong>> {
    let location = snapshot.location();
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
    let opened = DataFile::open(location, path.clone(), add.size).and_then(|f| Ok((f.metadata(true)?, f)));
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
    let (schema, partitions) = (snapshot.schema(), snapshot.partition_columns());
    let in_files: Vec<bool> =
        schema.fields.iter().map(|f| !partitions.iter().any(|p| p.eq_ignore_ascii_case(&f.name))).collect();
    let facts = column_facts(&file.path(), schema, &in_files, snapshot.column_mapping(), &metadata);
    let facts = match facts {
        Ok(facts) => facts,
        // what deltaic does not read is not wrong
        Err(Error::Unsupported { .. }) => Vec::new(),
        Err(error @ Error::DataFile { .. }) => {
            wrong(FindingKind::FileSchemaDiffers, "columns of the table's types".into(), error.to_string());
            Vec::new()
        }
        Err(error) => return Err(error),
    };
    out.extend(deep_stats::check(snapshot, add, row_count(&metadata), &facts));
    Ok(out)
}
