use super::{Changes, Finding, Rule, Vectors};
use crate::actions::{Action, ObjectPath};
use crate::commit::Winner;
use crate::error::Result;

impl Changes {
    /// The changes as they would be, had the transaction begun after the winner: deletion vectors are joined, and files
    /// that the winner gave row ids keep them. (Protocol, metadata, timestamps and new row ids are not part of the
    /// prepared changes; each attempt makes them anew.)
    ///
    /// # Errors
    /// [`crate::Error::LogCorrupt`] for a path that cannot be decoded, and what `vectors` says.
    pub fn rebase(
        &mut self,
        findings: &[Finding],
        winner: &Winner,
        root: &ObjectPath,
        vectors: &dyn Vectors,
    ) -> Result<()> {
        for merge in findings.iter().filter_map(|f| f.merge.as_ref()) {
            for remove in &mut self.removes {
                if remove.path.identity(root)? == merge.file {
                    remove.deletion_vector = Some(merge.left.clone());
                }
            }
            let union = vectors.store(&merge.union)?;
            for add in &mut self.adds {
                if add.path.identity(root)? == merge.file {
                    add.deletion_vector = Some(union.clone());
                }
            }
        }
        let restated = findings.iter().any(|f| matches!(f.rule, Rule::FileRestated | Rule::OtherRows));
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
}
