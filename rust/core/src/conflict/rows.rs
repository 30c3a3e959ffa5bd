use super::Vectors;
use super::row_relocation::{RelocatedRows, RowRelocations};
use crate::actions::{Add, DeletionVectorDescriptor, Remove};
use crate::deletion_vector::DeletionVector;
use crate::error::Result;

/// Deletes of different rows of one file, joined.
#[derive(Debug, Clone, PartialEq)]
pub struct RowMerge {
    /// Identity of the file.
    pub file: String,
    /// Its vector as the winner left it: the logical file that is to be removed now.
    pub left: DeletionVectorDescriptor,
    /// The rows that both deleted.
    pub union: DeletionVector,
}

/// What two updates of the deletion vector of one file have to do with each other.
#[derive(Debug)]
pub(super) enum RowLevel {
    /// They delete different rows.
    Other(RowMerge),
    /// They delete a common row.
    Same,
    /// They are no such updates: one removes the file, restores rows or began from another vector.
    No,
}

/// Deletes of rows that this transaction moves.
#[derive(Debug, Clone, PartialEq)]
pub struct MovedRows {
    /// Identity of the file that they were in.
    pub(super) file: String,
    /// Its vector as the winner left it; none when it left nothing.
    pub(super) left: Option<DeletionVectorDescriptor>,
    /// Where they are now.
    pub(super) deleted: RelocatedRows,
}

/// The rows that the winner deleted of a file whose rows this transaction moves: `remove` and `add` are the winner's.
/// None where it did something else, or where it is not known where the rows went.
pub(super) fn moved(
    file: &str,
    (remove, add): (&Remove, Option<&Add>),
    our_remove: &Remove,
    moves: &RowRelocations,
    vectors: &dyn Vectors,
) -> Result<Option<MovedRows>> {
    if !moves.knows(file) || our_remove.data_change || remove.deletion_vector != our_remove.deletion_vector {
        return Ok(None);
    }
    let moved = |left: Option<&DeletionVectorDescriptor>, deleted| MovedRows {
        file: file.to_owned(),
        left: left.cloned(),
        deleted,
    };
    let Some(add) = add else {
        // only rows that went away: those of another rewrite live on, and would be there twice
        let deleted = if remove.data_change { moves.all_places(file) } else { None };
        return Ok(deleted.map(|deleted| moved(None, deleted)));
    };
    let Some(left) = &add.deletion_vector else { return Ok(None) };
    let theirs = vectors.load(left)?;
    let base = match &remove.deletion_vector {
        Some(base) => vectors.load(base)?,
        None => DeletionVector::default(),
    };
    if !base.rows().is_subset(theirs.rows()) {
        return Ok(None);
    }
    let deleted = moves.places(file, &(theirs.rows() - base.rows()));
    Ok(deleted.map(|deleted| moved(Some(left), deleted)))
}

/// Compares two updates of one file: `remove` and `add` are the winner's.
pub(super) fn compare(
    file: &str,
    (remove, add): (&Remove, Option<&Add>),
    (our_remove, our_add): (Option<&Remove>, Option<&Add>),
    vectors: &dyn Vectors,
) -> Result<RowLevel> {
    let (Some(add), Some(our_remove), Some(our_add)) = (add, our_remove, our_add) else {
        return Ok(RowLevel::No);
    };
    let (Some(left), Some(ours)) = (&add.deletion_vector, &our_add.deletion_vector) else {
        return Ok(RowLevel::No);
    };
    if remove.deletion_vector != our_remove.deletion_vector {
        return Ok(RowLevel::No);
    }
    let base = match &remove.deletion_vector {
        Some(base) => vectors.load(base)?,
        None => DeletionVector::default(),
    };
    let (theirs, ours) = (vectors.load(left)?, vectors.load(ours)?);
    let (base, theirs, ours) = (base.rows(), theirs.rows(), ours.rows());
    if !base.is_subset(theirs) || !base.is_subset(ours) {
        return Ok(RowLevel::No);
    }
    if (theirs & ours) != *base {
        return Ok(RowLevel::Same);
    }
    let union = (theirs | ours).iter().collect();
    Ok(RowLevel::Other(RowMerge { file: file.to_owned(), left: left.clone(), union }))
}

/// Whether an update of the vector of a file only deletes rows, and restores none.
pub(super) fn only_deletes(remove: &Remove, add: &Add, vectors: &dyn Vectors) -> Result<bool> {
    let Some(base) = &remove.deletion_vector else { return Ok(true) };
    let Some(left) = &add.deletion_vector else { return Ok(false) };
    if left.cardinality < base.cardinality {
        return Ok(false);
    }
    Ok(vectors.load(base)?.rows().is_subset(vectors.load(left)?.rows()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::actions::ObjectPath;
    use crate::conflict::StoredVectors;
    use crate::store::{Location, ObjectAdapter};

    #[test]
    fn an_update_only_deletes_where_no_row_comes_back() {
        let root = ObjectPath::new("memory://", "/t");
        let vectors = StoredVectors::new(&Location::with_store(root, Arc::new(ObjectAdapter::memory())));
        let vector = |rows: &[u64]| rows.iter().copied().collect::<DeletionVector>().to_inline();
        let deletes = |before: Option<&[u64]>, after: Option<&[u64]>| {
            let remove = Remove { deletion_vector: before.map(vector), ..Remove::default() };
            let add = Add { deletion_vector: after.map(vector), ..Add::default() };
            only_deletes(&remove, &add, &vectors).unwrap()
        };
        assert!(deletes(None, None) && deletes(None, Some(&[1])));
        assert!(deletes(Some(&[1]), Some(&[1])) && deletes(Some(&[1]), Some(&[1, 2])));
        assert!(!deletes(Some(&[1]), None) && !deletes(Some(&[1, 2]), Some(&[1])));
        assert!(!deletes(Some(&[1]), Some(&[2])) && !deletes(Some(&[1]), Some(&[2, 3])));
    }
}
