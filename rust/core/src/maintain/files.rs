//! The files that a version needs, and whether they exist.

use rayon::prelude::*;

use crate::actions::{DeletionVectorDescriptor, FilePath, ObjectPath};
use crate::deletion_vector::file_path;
use crate::error::{Error, Result};
use crate::store::{FileMeta, Location, runtime};

/// What a logical file needs in the store: its data file, and the file of its deletion vector.
pub(crate) fn needs(
    path: &FilePath,
    vector: Option<&DeletionVectorDescriptor>,
    root: &ObjectPath,
) -> Result<(ObjectPath, Option<ObjectPath>)> {
    let vector = vector.map(|v| file_path(v, root)).transpose()?.flatten();
    Ok((path.resolve(root)?, vector))
}

/// Checks each of these: `None` for a missing one.
///
/// # Errors
/// Errors of the store, except "not there".
///
/// # Cost
/// One HEAD each, several at a time.
pub(crate) fn look(location: &Location, paths: &[ObjectPath]) -> Result<Vec<Option<FileMeta>>> {
    let head = |path: &ObjectPath| {
        location.cancel().check()?;
        head(location, path)
    };
    runtime::pool()?.install(|| paths.par_iter().map(head).collect())
}

fn head(location: &Location, path: &ObjectPath) -> Result<Option<FileMeta>> {
    match location.store_for(path)?.head(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
