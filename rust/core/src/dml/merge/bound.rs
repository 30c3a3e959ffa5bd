//! A merge that is bound to a version of the table: what is read to find matches.

use std::sync::Arc;

use super::clauses::{MergeRequest, MergeWhen};
use super::keys::{Key, KeyIndex, conjuncts};
use super::names::{Joined, Names, Scope, columns_of, is_of};
use super::pruning;
use super::source::MergeSource;
use crate::error::Result;
use crate::expr::{Binary, Evaluator, Expr};
use crate::predicate::Predicate;
use crate::scan::{ReadRequest, RowScan};
use crate::schema::StructType;
use crate::write::WritePlan;

/// The condition and the conditions of clauses, over the columns that they read.
pub(crate) struct BoundMerge<'a> {
    pub(super) request: &'a MergeRequest,
    /// The columns that are read to find matches.
    pub(super) sought: Joined,
    /// Places of those of the source among all of its columns.
    pub(super) source_places: Vec<usize>,
    /// The rows of the source by key; none where nothing must be equal.
    pub(super) index: Option<KeyIndex>,
    /// What of the condition is no key.
    pub(super) rest: Option<Evaluator>,
    /// Of each clause, over both sides.
    conditions: Vec<Option<Evaluator>>,
    /// True for every row of the table that a clause can apply to; none may be skipped without it.
    pub(crate) pruning: Option<Predicate>,
}

impl<'a> BoundMerge<'a> {
    /// Binds and reads the keys of the source.
    ///
    /// # Errors
    /// [`crate::Error::InvalidExpression`] for what is no condition over the table and the source, and for a row of the
    /// source that a key cannot be computed for.
    pub(crate) fn new(request: &'a MergeRequest, plan: &WritePlan, source: &MergeSource) -> Result<Self> {
        let names = Names { request, target: &plan.schema, source: source.columns() };
        let condition = names.expression(&request.condition, Scope::Both, "search condition")?;
        let of_clauses = request.clauses.iter().map(|clause| {
            let Some(text) = &clause.condition else { return Ok(None) };
            let (scope, place) = match clause.when {
                MergeWhen::Matched => (Scope::Both, "clause condition"),
                MergeWhen::NotMatched => (Scope::Source, "INSERT condition"),
                MergeWhen::NotMatchedBySource => (Scope::Target, "clause condition"),
            };
            names.expression(text, scope, place).map(Some)
        });
        let of_clauses: Vec<Option<Expr>> = of_clauses.collect::<Result<_>>()?;
        let read = || std::iter::once(&condition).chain(of_clauses.iter().flatten());
        let (sought, source_places) = sought(&names, read);
        // bound as a whole once, so that an error is about the text that was given
        sought.bind_condition(&request.condition, &condition)?;
        let aliases = (request.target_alias.as_str(), request.source_alias.as_str());
        let (mut keys, mut rest) = (Vec::new(), Vec::new());
        for part in conjuncts(&condition) {
            match Key::of(part, &request.condition, &sought, aliases)? {
                Some(key) => keys.push(key),
                None => rest.push(part.clone()),
            }
        }
        let of_table = rest.iter().filter(|part| is_of(aliases.0, part));
        let pruning = match request.is_about_unmatched_rows() {
            true => None,
            false => Some(pruning::predicate(&keys, of_table, &request.condition, source)?),
        };
        let rest = rest.into_iter().reduce(|all, part| Expr::binary(Binary::And, all, part));
        let rest = rest.map(|rest| sought.bind_condition(&request.condition, &rest)).transpose()?;
        let index = match keys.is_empty() {
            true => None,
            false => Some(KeyIndex::of(keys, source, &sought, &source_places)?),
        };
        let conditions = request.clauses.iter().zip(&of_clauses).map(|(clause, resolved)| {
            let both = clause.condition.as_deref().zip(resolved.as_ref());
            both.map(|(text, resolved)| sought.bind_condition(text, resolved)).transpose()
        });
        let conditions = conditions.collect::<Result<_>>()?;
        Ok(BoundMerge { request, sought, source_places, index, rest, conditions, pruning })
    }

    /// A scan of the columns by which matches are found, in row groups and pages that may have some.
    ///
    /// # Errors
    /// As [`RowScan::new`].
    pub(super) fn scan(&self, plan: &WritePlan) -> Result<Arc<RowScan>> {
        let columns = self.sought.target.fields.iter().map(|f| f.name.clone()).collect();
        let request = ReadRequest { columns: Some(columns), ..ReadRequest::default() };
        let (location, partitions) = (plan.location.clone(), &plan.partition_columns);
        let scan = RowScan::new(location, &plan.schema, partitions, plan.column_mapping, request)?;
        Ok(Arc::new(match &self.pruning {
            Some(predicate) => scan.pruned_by(predicate)?,
            None => scan,
        }))
    }

    /// The conditions of the clauses of a kind, in order, each with the number of its clause.
    pub(super) fn conditions(&self, when: MergeWhen) -> impl Iterator<Item = (u16, Option<&Evaluator>)> {
        self.request.of(when).map(|(number, _)| (number, self.conditions[usize::from(number)].as_ref()))
    }

    /// Whether a clause of a kind has a condition.
    pub(super) fn has_conditions(&self, when: MergeWhen) -> bool {
        self.request.of(when).any(|(_, clause)| clause.condition.is_some())
    }

    /// The columns of the table that must equal something of the source.
    pub(super) fn key_columns(&self) -> Vec<&str> {
        let keys = self.index.iter().flat_map(KeyIndex::keys);
        keys.filter_map(|key| key.column.as_ref()?.first().map(String::as_str)).collect()
    }
}

/// The columns that expressions read, and the places of those of the source.
fn sought<'e, E: Iterator<Item = &'e Expr>>(names: &Names<'_>, read: impl Fn() -> E) -> (Joined, Vec<usize>) {
    let request = names.request;
    let of_target = columns_of(&request.target_alias, read());
    let of_source = columns_of(&request.source_alias, read());
    let some = |all: &StructType, wanted: &std::collections::BTreeSet<String>| StructType {
        fields: all.fields.iter().filter(|f| wanted.contains(&f.name)).cloned().collect(),
    };
    let places = names.source.fields.iter().enumerate();
    let places = places.filter(|(_, f)| of_source.contains(&f.name)).map(|(place, _)| place).collect();
    (Joined::new(request, some(names.target, &of_target), some(names.source, &of_source)), places)
}
