//! A merge that is bound to a table and a source, and what is written for it.

use std::collections::BTreeMap;

use super::bound::BoundMerge;
use super::clauses::{MergeAction, MergeRequest};
use super::names::{Joined, Names};
use super::source::MergeSource;
use super::values::{Insert, Update};
use crate::dml::rewritten_files::Rewritten;
use crate::error::Result;
use crate::predicate::Predicate;
use crate::schema::{DataType, StructType};
use crate::write::WritePlan;

/// A merge that is bound to a version of the table and to its source.
pub(crate) struct MergePlan<'a> {
    pub(super) bound: BoundMerge<'a>,
    pub(super) source: &'a MergeSource,
    /// All columns of both sides.
    pub(super) joined: Joined,
    /// By number of the clause.
    pub(super) updates: Vec<Option<Update>>,
    pub(super) inserts: Vec<Option<Insert>>,
}

impl<'a> MergePlan<'a> {
    /// Binds everything, so that what cannot be done is found before anything is written.
    ///
    /// # Errors
    /// As [`crate::operations::merge()`], for the request.
    pub(crate) fn new(request: &'a MergeRequest, plan: &WritePlan, source: &'a MergeSource) -> Result<Self> {
        let names = Names { request, target: &plan.schema, source: source.columns() };
        let joined = Joined::new(request, plan.schema.clone(), source.columns().clone());
        let path = plan.location.root().to_string();
        let (mut updates, mut inserts) = (Vec::new(), Vec::new());
        for clause in &request.clauses {
            updates.push(match clause.action {
                MergeAction::Update => Some(Update::of(clause, &names, &joined, &path)?),
                _ => None,
            });
            inserts.push(match clause.action {
                MergeAction::Insert => Some(Insert::of(clause, &names, &joined, &path)?),
                _ => None,
            });
        }
        let bound = BoundMerge::new(request, plan, source)?;
        Ok(MergePlan { bound, source, joined, updates, inserts })
    }

    /// True for every row of the table that a clause can apply to; none may be skipped without it.
    pub(crate) fn pruning(&self) -> Option<&Predicate> {
        self.bound.pruning.as_ref()
    }
}

/// The columns that a merge adds to a table, in the schema of its data: those that a clause sets and only the source has,
/// and structs, which may have new fields.
pub(crate) fn new_columns(request: &MergeRequest, table: &StructType, source: &StructType) -> StructType {
    let stars =
        request.clauses.iter().any(|clause| clause.values.is_none() && clause.action != MergeAction::Delete);
    let set = request.clauses.iter().flat_map(|clause| clause.values.iter().flatten());
    let set: Vec<String> = set.map(|(name, _)| name.to_lowercase()).collect();
    let alias = format!("{}.", request.target_alias.to_lowercase());
    let is_set = |name: &str| {
        let name = name.to_lowercase();
        set.iter().any(|given| given.strip_prefix(&alias).unwrap_or(given).replace('`', "") == name)
    };
    let joins = |name: &str, data_type: &DataType| match table.field(name) {
        Some(_) => stars && matches!(data_type, DataType::Struct(_)),
        None => stars || is_set(name),
    };
    let fields = source.fields.iter().filter(|field| joins(&field.name, &field.data_type));
    StructType { fields: fields.cloned().collect() }
}

/// What was written for a merge.
#[derive(Debug, Default)]
pub(crate) struct MergeWritten {
    pub(crate) files: Rewritten,
    /// How many rows each clause applied to.
    pub(crate) rows: Vec<u64>,
    /// The farthest values of identity columns in new rows, by physical name.
    pub(crate) marks: BTreeMap<String, i64>,
}
