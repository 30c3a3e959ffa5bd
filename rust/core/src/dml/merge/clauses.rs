//! The clauses of a merge: what happens to which rows, in order.

use serde_json::{Value, json};

use crate::error::{Error, Result, condition};
use crate::schema::in_backticks;

/// Which rows a clause is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeWhen {
    /// Rows of the table that match a row of the source.
    Matched,
    /// Rows of the source that match no row of the table.
    NotMatched,
    /// Rows of the table that match no row of the source.
    NotMatchedBySource,
}

/// What a clause does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeAction {
    /// The row gets other values.
    Update,
    /// The row is deleted.
    Delete,
    /// A new row is added.
    Insert,
}

impl MergeAction {
    fn name(self) -> &'static str {
        match self {
            MergeAction::Update => "update",
            MergeAction::Delete => "delete",
            MergeAction::Insert => "insert",
        }
    }
}

/// One clause. Of those of one kind, the first whose condition is true applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeClause {
    /// The rows that it is about.
    pub when: MergeWhen,
    /// What happens to them.
    pub action: MergeAction,
    /// A condition in Spark SQL; none applies to all that are left.
    pub condition: Option<String>,
    /// Columns and expressions in Spark SQL; none sets every column to that of the source with its name.
    pub values: Option<Vec<(String, String)>>,
}

impl MergeClause {
    /// Whether columns get those of the source with their names.
    pub(super) fn is_star(&self) -> bool {
        self.values.is_none() && self.action != MergeAction::Delete
    }
}

/// What a merge does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeRequest {
    /// When a row of the table and one of the source match, in Spark SQL.
    pub condition: String,
    /// The name of the table in expressions.
    pub target_alias: String,
    /// The name of the source in expressions.
    pub source_alias: String,
    /// The clauses, in order.
    pub clauses: Vec<MergeClause>,
    /// Whether columns that only the source has are added, where a clause sets them.
    pub with_schema_evolution: bool,
}

impl MergeRequest {
    /// Rows replace those of the table with the same key, or are added. Nulls in a key are equal.
    pub fn upsert(id_cols: &[String], with_schema_evolution: bool) -> Self {
        let same =
            id_cols.iter().map(|key| in_backticks(key)).map(|key| format!("target.{key} <=> source.{key}"));
        let all = |when, action| MergeClause { when, action, condition: None, values: None };
        MergeRequest {
            condition: same.collect::<Vec<_>>().join(" AND "),
            target_alias: "target".into(),
            source_alias: "source".into(),
            clauses: vec![
                all(MergeWhen::Matched, MergeAction::Update),
                all(MergeWhen::NotMatched, MergeAction::Insert),
            ],
            with_schema_evolution,
        }
    }

    /// Clauses about some rows, each with its number.
    pub(super) fn of(&self, when: MergeWhen) -> impl Iterator<Item = (u16, &MergeClause)> {
        let numbered = (0_u16..).zip(&self.clauses);
        numbered.filter(move |(_, clause)| clause.when == when)
    }

    /// Whether rows of the table stay as they are.
    pub(crate) fn only_inserts(&self) -> bool {
        self.clauses.iter().all(|c| c.action == MergeAction::Insert)
    }

    /// Whether a clause is about rows of the table that match nothing.
    pub(super) fn is_about_unmatched_rows(&self) -> bool {
        self.of(MergeWhen::NotMatchedBySource).next().is_some()
    }

    /// Whether a row of the table may match several rows of the source, because each match has the same effect.
    pub(super) fn may_match_often(&self) -> bool {
        let mut matched = self.of(MergeWhen::Matched).map(|(_, clause)| clause);
        let first = matched.next();
        let deletes = |c: &MergeClause| c.action == MergeAction::Delete && c.condition.is_none();
        self.only_inserts() || (first.is_some_and(deletes) && matched.next().is_none())
    }

    /// Checks the clauses and names.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no clause, more than a commit can count, one that can never be reached, an action
    /// that does not go with its rows, and for two names that are one.
    pub(crate) fn check(&self) -> Result<()> {
        if self.clauses.is_empty() {
            let error = invalid("clauses", "a merge needs a clause: when matched, when not matched, …");
            return Err(error.named::<&str>(&condition::MERGE_MISSING_WHEN, []));
        }
        if u16::try_from(self.clauses.len()).is_err() {
            return Err(invalid("clauses", "more clauses than 65,535"));
        }
        for alias in [&self.target_alias, &self.source_alias] {
            if alias.is_empty() {
                return Err(invalid("alias", "the table and the source need a name in expressions"));
            }
        }
        if self.target_alias.to_lowercase() == self.source_alias.to_lowercase() {
            let reason = format!("`{}` names both the table and the source", self.source_alias);
            return Err(invalid("source_alias", &reason));
        }
        self.clauses.iter().try_for_each(check_action)?;
        let kinds = [
            (MergeWhen::Matched, &condition::NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION),
            (MergeWhen::NotMatched, &condition::NON_LAST_NOT_MATCHED_CLAUSE_OMIT_CONDITION),
            (MergeWhen::NotMatchedBySource, &condition::NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION),
        ];
        for (when, named) in kinds {
            let of_kind: Vec<_> = self.of(when).map(|(_, c)| c.condition.is_none()).collect();
            if of_kind.iter().rev().skip(1).any(|always| *always) {
                let reason =
                    "only the last clause of a kind may lack a condition: what follows it is never reached";
                return Err(invalid("clauses", reason).named::<&str>(named, []));
            }
        }
        Ok(())
    }

    /// The clauses as the history shows them: the name of the parameter, and a list.
    pub(crate) fn parameters(&self) -> [(&'static str, Value); 3] {
        let shown = |when: MergeWhen| -> Value {
            let of_kind = self.of(when).map(|(_, clause)| match &clause.condition {
                Some(text) => json!({"predicate": text, "actionType": clause.action.name()}),
                None => json!({"actionType": clause.action.name()}),
            });
            of_kind.collect()
        };
        [
            ("matchedPredicates", shown(MergeWhen::Matched)),
            ("notMatchedPredicates", shown(MergeWhen::NotMatched)),
            ("notMatchedBySourcePredicates", shown(MergeWhen::NotMatchedBySource)),
        ]
    }
}

fn check_action(clause: &MergeClause) -> Result<()> {
    let inserts = clause.action == MergeAction::Insert;
    if inserts != (clause.when == MergeWhen::NotMatched) {
        let reason =
            "rows of the source without a match are inserted; rows of the table are updated or deleted";
        return Err(invalid("clauses", reason));
    }
    if clause.when == MergeWhen::NotMatchedBySource && clause.is_star() {
        let reason = "a row that matches nothing has no columns of the source to be set to: give values";
        return Err(invalid("clauses", reason));
    }
    if clause.action == MergeAction::Delete && clause.values.is_some() {
        return Err(invalid("clauses", "a delete sets nothing"));
    }
    Ok(())
}

fn invalid(argument: &str, reason: &str) -> Error {
    Error::InvalidArgument { argument: argument.into(), reason: reason.into() }
}
