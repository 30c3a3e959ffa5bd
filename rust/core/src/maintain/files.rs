//! The files that a version needs, and whether they exist.

use rayon::prelude::*;

use crate::actions::{DeletionVectorDescriptor, FilePath, ObjectPath};
use crate::deletion_vector::file_path;
use crate::error::{Error, Result};
use crate::replay::FilesRequest;
use crate::snapshot::Snapshot;
use crate::store::{FileMeta, Location, runtime};

/// What a logical file needs in the store: its data file, and the file of its deletion vector.
pub(crate) fn needs(
    path: &FilePath,
    vector: Option<&DeletionVectorDescriptor>,
    root: &ObjectPath,
) -> Result<Needed> {
    let vector = vector.map(|v| file_path(v, root)).transpose()?.flatten();
    Ok((path.resolve(root)?, vector))
}

/// What the live files of a version need, one after the other.
///
/// # Errors
/// As [`Snapshot::files`]; what a path or a descriptor says.
///
/// # Cost
/// A listing without statistics.
pub(super) fn needed(snapshot: &Snapshot) -> Result<impl Iterator<Item = Result<Needed>> + use<>> {
    let root = snapshot.location().root().clone();
    Ok(snapshot.files(FilesRequest::default())?.flat_map(move |batch| match batch {
        Ok(batch) => (0..batch.num_files())
            .map(|file| {
                let path = FilePath::from_log(batch.paths().value(file));
                needs(&path, batch.deletion_vector(file).as_ref(), &root)
            })
            .collect(),
        Err(error) => vec![Err(error)],
    }))
}

/// A data file, and that of its deletion vector.
pub(crate) type Needed = (ObjectPath, Option<ObjectPath>);

/// Files that one thread asks the store for at a time.
const CHUNK: usize = 256;

/// Checks each of these: `None` for a missing one.
///
/// # Errors
/// Errors of the store, except "not there".
///
/// # Cost
/// One HEAD each, several at a time; a store with latency has many under way in each thread.
pub(crate) fn look(location: &Location, paths: &[ObjectPath]) -> Result<Vec<Option<FileMeta>>> {
    look_telling(location, paths, |_| ())
}

/// As [`look`]; `done` is called with files of which it is known.
///
/// # Errors
/// As [`look`].
pub(crate) fn look_telling(
    location: &Location,
    paths: &[ObjectPath],
    done: impl Fn(&[ObjectPath]) + Sync,
) -> Result<Vec<Option<FileMeta>>> {
    let heads = |paths: &[ObjectPath]| {
        location.cancel().check()?;
        let found = heads(location, paths)?;
        done(paths);
        Ok(found)
    };
    let found: Vec<Vec<_>> =
        runtime::pool()?.install(|| paths.par_chunks(CHUNK).map(heads).collect::<Result<_>>())?;
    Ok(found.into_iter().flatten().collect())
}

fn heads(location: &Location, paths: &[ObjectPath]) -> Result<Vec<Option<FileMeta>>> {
    let mut out = Vec::with_capacity(paths.len());
    // those of one store after the other
    for paths in paths.chunk_by(|one, next| one.prefix() == next.prefix()) {
        let Some(first) = paths.first() else { continue };
        for path in paths {
            location.store_for(path)?;
        }
        for found in location.store_for(first)?.head_many(paths) {
            out.push(match found {
                Ok(meta) => Some(meta),
                Err(Error::NotFound { .. }) => None,
                Err(error) => return Err(error),
            });
        }
    }
    Ok(out)
}
