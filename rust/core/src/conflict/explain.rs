use serde::Serialize;

use super::winner::Winner;
use super::{IsolationLevel, MATRIX, Ours, Vectors, Verdict, findings};
use crate::error::{ConflictRule, Result};

/// The outcome of a transaction after a commit that landed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It follows as it is.
    Pass,
    /// It follows after it was changed.
    Rebase,
    /// The commit did its work already.
    Recorded,
    /// It cannot follow.
    Conflict,
}

/// One rule, asked of a transaction and a commit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedRule {
    /// The rule.
    pub rule: ConflictRule,
    /// Whether it applies.
    pub applies: bool,
    /// What follows where it applies.
    pub outcome: Option<Outcome>,
    /// Kind of the error where that is a conflict.
    pub error: Option<String>,
    /// Files that it is about, as the log writes them.
    pub files: Vec<String>,
    /// Predicate, application or domain that it is about.
    pub subject: Option<String>,
    /// What the commit did.
    pub winner: &'static str,
    /// What the transaction did.
    pub ours: &'static str,
    /// What to do, or what a rebase does.
    pub then: &'static str,
}

/// A commit that landed first, and every rule of the matrix: those that apply in the order in which they were found, then
/// the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedWinner {
    /// Its version.
    pub version: u64,
    /// Its operation.
    pub operation: Option<String>,
    /// What wrote it.
    pub engine: Option<String>,
    /// When, in milliseconds since the Unix epoch.
    pub timestamp: Option<i64>,
    /// Whether it says that it read nothing.
    pub blind_append: Option<bool>,
    /// The outcome of the transaction after it.
    pub outcome: Outcome,
    /// The rules.
    pub rules: Vec<ExplainedRule>,
}

/// Evaluates every rule for a transaction and a commit that landed first, by the check that the commit itself makes.
/// Pure, except that it reads the deletion vectors of files that both changed.
///
/// # Errors
/// As [`findings`].
pub fn explain(
    ours: &Ours<'_>,
    winner: &Winner,
    vectors: &dyn Vectors,
    level: IsolationLevel,
) -> Result<ExplainedWinner> {
    let mut rules: Vec<ExplainedRule> = Vec::with_capacity(MATRIX.len());
    for finding in findings(ours, winner, vectors)? {
        match rules.iter_mut().find(|r| r.rule == finding.rule && r.subject == finding.subject) {
            Some(known) => known.files.extend(finding.files),
            None => rules.extend(MATRIX.iter().find(|row| row.rule == finding.rule).map(|row| {
                let (outcome, error) = match row.verdict(level) {
                    Verdict::Pass => (Outcome::Pass, None),
                    Verdict::Rebase => (Outcome::Rebase, None),
                    Verdict::Conflict(kind) => (Outcome::Conflict, Some(format!("{kind:?}"))),
                };
                ExplainedRule {
                    applies: true,
                    outcome: Some(outcome),
                    error,
                    files: finding.files,
                    subject: finding.subject,
                    ..asked(row)
                }
            })),
        }
    }
    let outcomes = rules.iter().filter_map(|r| r.outcome);
    let rank = |o: &Outcome| match o {
        Outcome::Pass => 0,
        Outcome::Rebase => 1,
        Outcome::Recorded => 2,
        Outcome::Conflict => 3,
    };
    let outcome = outcomes.max_by_key(rank).unwrap_or(Outcome::Pass);
    let others: Vec<_> =
        MATRIX.iter().filter(|row| rules.iter().all(|r| r.rule != row.rule)).map(asked).collect();
    rules.extend(others);
    let info = winner.info();
    Ok(ExplainedWinner {
        version: winner.version,
        operation: winner.operation(),
        engine: info.and_then(|i| i.engine_info.clone()),
        timestamp: info.and_then(|i| i.in_commit_timestamp.or(i.timestamp)),
        blind_append: info.and_then(|i| i.is_blind_append),
        outcome,
        rules,
    })
}

/// A rule that does not apply.
fn asked(row: &super::Row) -> ExplainedRule {
    ExplainedRule {
        rule: row.rule,
        applies: false,
        outcome: None,
        error: None,
        files: Vec::new(),
        subject: None,
        winner: row.winner,
        ours: row.ours,
        then: row.then,
    }
}
