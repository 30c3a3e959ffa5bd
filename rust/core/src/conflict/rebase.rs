use super::row_relocation::RelocatedRows;
use super::winner::Winner;
use super::{Changes, RuleFinding, Vectors};
use crate::actions::{Action, ObjectPath};
use crate::deletion_vector::DeletionVector;
use crate::error::{ConflictRule, Result};
use crate::stats::wide_bounds;

impl Changes {
    /// The changes as they would be, had the transaction begun after the winner: deletion vectors are merged, marks of
    /// identity columns are applied to its metadata, rows that the winner deleted where they were are deleted where
    /// they are now, and files that it gave row ids keep them. (Protocol, metadata, timestamps and new row ids are not
    /// part of the prepared changes; each attempt computes them again.)
    ///
    /// # Errors
    /// [`crate::Error::LogCorrupt`] for a path that cannot be decoded, [`crate::Error::InvalidColumnChange`] for a mark
    /// that does not fit, and errors of `vectors`.
    pub fn rebase(
        &mut self,
        findings: &[RuleFinding],
        winner: &Winner,
        root: &ObjectPath,
        vectors: &dyn Vectors,
    ) -> Result<()> {
        let merges: Vec<_> = findings.iter().filter_map(|f| f.merge.as_ref()).collect();
        let unions: Vec<_> = merges.iter().map(|merge| merge.union.clone()).collect();
        for (merge, union) in merges.into_iter().zip(vectors.store_all(&unions)?) {
            for remove in &mut self.removes {
                if remove.path.identity(root)? == merge.file {
                    remove.deletion_vector = Some(merge.left.clone());
                }
            }
            for add in &mut self.adds {
                if add.path.identity(root)? == merge.file {
                    add.deletion_vector = Some(union.clone());
                }
            }
        }
        if let (Some(values), Some(theirs)) = (&self.identities, winner.metadata()) {
            self.metadata = Some(values.advance(theirs)?);
        }
        self.delete_moved(findings, root, vectors)?;
        let restated = findings.iter().any(|f| {
            matches!(f.rule, ConflictRule::FileRestated | ConflictRule::OtherRows | ConflictRule::RowsMoved)
        });
        for action in winner.actions.iter().filter(|_| restated) {
            let Action::Add(theirs) = action else { continue };
            if theirs.base_row_id.is_none() && theirs.default_row_commit_version.is_none() {
                continue;
            }
            let file = theirs.path.identity(root)?;
            for add in &mut self.adds {
                if add.path.identity(root)? == file {
                    add.base_row_id = theirs.base_row_id;
                    add.default_row_commit_version = theirs.default_row_commit_version;
                }
            }
            for remove in &mut self.removes {
                if remove.path.identity(root)? == file {
                    remove.base_row_id = theirs.base_row_id;
                    remove.default_row_commit_version = theirs.default_row_commit_version;
                }
            }
        }
        Ok(())
    }

    /// Deletes rows in the new files that the winner deleted in the old ones.
    fn delete_moved(
        &mut self,
        findings: &[RuleFinding],
        root: &ObjectPath,
        vectors: &dyn Vectors,
    ) -> Result<()> {
        let mut deleted = RelocatedRows::new();
        for moved in findings.iter().filter_map(|f| f.moved.as_ref()) {
            for at in (0..self.removes.len()).rev() {
                if self.removes[at].path.identity(root)? != moved.file {
                    continue;
                }
                match &moved.left {
                    Some(left) => self.removes[at].deletion_vector = Some(left.clone()),
                    // the winner removed it already
                    None => drop(self.removes.remove(at)),
                }
            }
            for (target, rows) in &moved.deleted {
                *deleted.entry(target.clone()).or_default() |= rows;
            }
        }
        let mut left = Vec::new();
        for (target, mut rows) in deleted {
            for at in (0..self.adds.len()).rev() {
                let add = &self.adds[at];
                if add.path.identity(root)? != *target {
                    continue;
                }
                if let Some(vector) = &add.deletion_vector {
                    rows |= vectors.load(vector)?.rows();
                }
                if self.moves.rows_of(&target) == Some(rows.len()) {
                    // nothing is left of it
                    self.adds.remove(at);
                    self.moves.forget(&target);
                    continue;
                }
                left.push((target.clone(), rows.iter().collect::<DeletionVector>()));
            }
        }
        let (targets, rows): (Vec<_>, Vec<_>) = left.into_iter().unzip();
        for (target, vector) in targets.into_iter().zip(vectors.store_all(&rows)?) {
            for add in &mut self.adds {
                if add.path.identity(root)? == *target {
                    add.deletion_vector = Some(vector.clone());
                    add.stats = add.stats.as_deref().map(wide_bounds);
                }
            }
        }
        Ok(())
    }
}
