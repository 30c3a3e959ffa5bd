use std::collections::HashMap;

use super::rows::{RowLevel, compare, moved, only_deletes};
use super::table_changes::{metadata_rule, protocol_rule};
use super::winner::Winner;
use super::{Changes, IsolationLevel, MovedRows, Reads, Row, RowMerge, Vectors, Verdict};
use crate::actions::{Action, Add, DeletionVectorDescriptor, Metadata, ObjectPath, Protocol, Remove};
use crate::error::{ConflictKind, ConflictRule, Result};
use crate::features::{ROW_TRACKING_DOMAIN, TableFeature, assigns_row_ids, has_in_commit_timestamps};
use crate::predicate::Predicate;
use crate::properties::TableProperty;

/// A transaction that lost a race, in its current state.
#[derive(Debug, Clone, Copy)]
pub struct Ours<'a> {
    /// Root of the table.
    pub root: &'a ObjectPath,
    /// Protocol that it assumes.
    pub protocol: &'a Protocol,
    /// Metadata that it assumes.
    pub metadata: &'a Metadata,
    /// What it read.
    pub reads: &'a Reads,
    /// What it does.
    pub changes: &'a Changes,
}

/// A rule that applies, and to what.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleFinding {
    /// The rule.
    pub rule: ConflictRule,
    /// Files that it is about, as the log writes them.
    pub files: Vec<String>,
    /// Predicate, application or domain that it is about.
    pub subject: Option<String>,
    /// How the deletes of both become one, for [`ConflictRule::OtherRows`].
    pub merge: Option<RowMerge>,
    /// Rows that are to be deleted where they are now, for [`ConflictRule::RowsMoved`].
    pub moved: Option<MovedRows>,
}

impl RuleFinding {
    fn new(rule: ConflictRule) -> Self {
        RuleFinding { rule, files: Vec::new(), subject: None, merge: None, moved: None }
    }

    fn about(rule: ConflictRule, subject: impl Into<String>) -> Self {
        RuleFinding { subject: Some(subject.into()), ..Self::new(rule) }
    }

    fn file(rule: ConflictRule, path: &str) -> Self {
        RuleFinding { files: vec![path.to_owned()], ..Self::new(rule) }
    }
}

/// The first finding, if any, that is a conflict at a level by this matrix. A rule without a row is one.
pub fn decide<'f>(
    matrix: &[Row],
    findings: &'f [RuleFinding],
    level: IsolationLevel,
) -> Option<(ConflictKind, &'f RuleFinding)> {
    findings.iter().find_map(|finding| {
        let row = matrix.iter().find(|r| r.rule == finding.rule);
        match row.map(|r| r.verdict(level)) {
            Some(Verdict::Pass | Verdict::Rebase) => None,
            Some(Verdict::Conflict(kind)) => Some((kind, finding)),
            None => Some((ConflictKind::ConcurrentWrite, finding)),
        }
    })
}

/// Every rule that applies between a transaction and a commit that landed before it. Pure, except that it reads the
/// deletion vectors of files that both changed.
///
/// # Errors
/// [`crate::Error::LogCorrupt`] for a path that cannot be decoded, and errors of `vectors`.
pub fn findings(ours: &Ours<'_>, winner: &Winner, vectors: &dyn Vectors) -> Result<Vec<RuleFinding>> {
    let theirs = Theirs::of(winner, ours.root)?;
    let mut out = Vec::new();
    if ours.reads.reads_state() {
        out.push(RuleFinding::new(ConflictRule::Overtaken));
    }
    out.extend(table_findings(ours, winner)?);
    let row_ids = assigns_row_ids(ours.protocol, ours.metadata);
    for action in &winner.actions {
        match action {
            Action::Txn(t) if ours.reads.reads_app(&t.app_id) || records(ours.changes, &t.app_id) => {
                out.push(RuleFinding::about(ConflictRule::Transaction, &t.app_id));
            }
            Action::DomainMetadata(d) if d.domain == ROW_TRACKING_DOMAIN && row_ids => {
                out.push(RuleFinding::new(ConflictRule::RowIds));
            }
            Action::DomainMetadata(d) if ours.changes.domains.iter().any(|o| o.domain == d.domain) => {
                out.push(RuleFinding::about(ConflictRule::Domain, &d.domain));
            }
            _ => {}
        }
    }
    file_findings(ours, &theirs, vectors, &mut out)?;
    read_findings(ours, winner, &theirs, vectors, &mut out)?;
    if has_in_commit_timestamps(ours.metadata)
        && winner.info().is_some_and(|i| i.in_commit_timestamp.is_some())
    {
        out.push(RuleFinding::new(ConflictRule::InCommitTimestamps));
    }
    Ok(out)
}

fn records(changes: &Changes, app_id: &str) -> bool {
    changes.txns.iter().any(|t| t.app_id == app_id)
}

fn table_findings(ours: &Ours<'_>, winner: &Winner) -> Result<Vec<RuleFinding>> {
    let changed = |old: &Protocol, new| match ours.changes.protocol {
        Some(_) => Some(ConflictRule::ProtocolChanged),
        None => protocol_rule(old, new),
    };
    let protocol = winner.protocol().and_then(|new| changed(ours.protocol, new));
    let metadata = winner.metadata().and_then(|new| match ours.changes.changes_metadata() {
        true => Some(ConflictRule::MetadataChanged),
        false => metadata_rule(ours.metadata, new),
    });
    let mut out: Vec<RuleFinding> = protocol.into_iter().chain(metadata).map(RuleFinding::new).collect();
    if let (Some(values), Some(new), Some(ConflictRule::IdentityAdvanced)) =
        (&ours.changes.identities, winner.metadata(), metadata)
        && let Some(column) = values.taken(ours.metadata, new)?
    {
        out.push(RuleFinding::about(ConflictRule::IdentityTaken, column));
    }
    Ok(out)
}

/// The files of a winner by identity.
struct Theirs<'a> {
    adds: HashMap<String, &'a Add>,
    removes: HashMap<String, &'a Remove>,
}

impl<'a> Theirs<'a> {
    fn of(winner: &'a Winner, root: &ObjectPath) -> Result<Self> {
        let mut out = Theirs { adds: HashMap::new(), removes: HashMap::new() };
        for action in &winner.actions {
            match action {
                Action::Add(add) => {
                    out.adds.insert(add.path.identity(root)?, add);
                }
                Action::Remove(remove) => {
                    out.removes.insert(remove.path.identity(root)?, remove);
                }
                _ => {}
            }
        }
        Ok(out)
    }
}

/// Files that both write.
fn file_findings(
    ours: &Ours<'_>,
    theirs: &Theirs<'_>,
    vectors: &dyn Vectors,
    out: &mut Vec<RuleFinding>,
) -> Result<()> {
    let mut touched: HashMap<String, (Option<&Remove>, Option<&Add>)> = HashMap::new();
    for remove in &ours.changes.removes {
        touched.entry(remove.path.identity(ours.root)?).or_default().0 = Some(remove);
    }
    for add in &ours.changes.adds {
        touched.entry(add.path.identity(ours.root)?).or_default().1 = Some(add);
    }
    let mut touched: Vec<_> = touched.into_iter().collect();
    touched.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let vectors_enabled = ours.protocol.supports(TableFeature::DeletionVectors)
        && ours.metadata.is_true(TableProperty::EnableDeletionVectors);
    let claimed = |file: &str, remove: &Remove, out: &mut Vec<RuleFinding>| -> Result<()> {
        if remove.data_change && ours.reads.of_removed(file, remove, true)? {
            out.push(RuleFinding::file(ConflictRule::RemoveRead, remove.path.as_str()));
        }
        Ok(())
    };
    for (file, (our_remove, our_add)) in touched {
        let (remove, add) = (theirs.removes.get(&file).copied(), theirs.adds.get(&file).copied());
        if let Some(remove) = remove {
            if let (Some(our_remove), None, true) = (our_remove, our_add, vectors_enabled)
                && let Some(rows) = moved(&file, (remove, add), our_remove, &ours.changes.moves, vectors)?
            {
                let finding = RuleFinding::file(ConflictRule::RowsMoved, remove.path.as_str());
                out.push(RuleFinding { moved: Some(rows), ..finding });
                claimed(&file, remove, out)?;
                continue;
            }
            match compare(&file, (remove, add), (our_remove, our_add), vectors)? {
                RowLevel::Other(merge) => {
                    let finding = RuleFinding::file(ConflictRule::OtherRows, remove.path.as_str());
                    out.push(RuleFinding { merge: Some(merge), ..finding });
                    claimed(&file, remove, out)?;
                }
                RowLevel::Same => out.push(RuleFinding::file(ConflictRule::SameRows, remove.path.as_str())),
                RowLevel::No => {
                    out.push(RuleFinding::file(ConflictRule::FileRewritten, remove.path.as_str()))
                }
            }
        } else if let Some(add) = add {
            let id = |v: &Option<DeletionVectorDescriptor>| v.as_ref().map(|v| v.unique_id());
            let same = match (our_remove, our_add) {
                (Some(remove), _) => id(&remove.deletion_vector) == id(&add.deletion_vector),
                (None, Some(own)) => {
                    !own.data_change
                        && !add.data_change
                        && id(&own.deletion_vector) == id(&add.deletion_vector)
                }
                (None, None) => true,
            };
            let rule = if same { ConflictRule::FileRestated } else { ConflictRule::FileAdded };
            out.push(RuleFinding::file(rule, add.path.as_str()));
        }
    }
    Ok(())
}

/// Files of the winner that this transaction read, or should have read.
fn read_findings(
    ours: &Ours<'_>,
    winner: &Winner,
    theirs: &Theirs<'_>,
    vectors: &dyn Vectors,
    out: &mut Vec<RuleFinding>,
) -> Result<()> {
    let mut own = std::collections::HashSet::new();
    for path in ours.changes.removes.iter().map(|r| &r.path).chain(ours.changes.adds.iter().map(|a| &a.path))
    {
        own.insert(path.identity(ours.root)?);
    }
    let (mut removed, mut rewritten) = (Vec::new(), Vec::new());
    for (file, remove) in theirs.removes.iter().filter(|(file, _)| !own.contains(*file)) {
        if ours.reads.of_removed(file, remove, false)? {
            let files = if remove.data_change { &mut removed } else { &mut rewritten };
            files.push(remove.path.as_str().to_owned());
        }
    }
    let added = theirs.adds.iter().filter(|(_, add)| add.data_change);
    let mut added: Vec<_> = added.map(|(file, add)| (file, *add)).collect();
    added.sort_unstable_by(|a, b| a.0.cmp(b.0));
    let rearranged = theirs.adds.values().any(|add| !add.data_change);
    let adds: Vec<&Add> = added.iter().map(|(_, add)| *add).collect();
    let (mut read, mut elsewhere): (Vec<String>, bool) = (Vec::new(), false);
    let mut predicate: Option<&Predicate> = None;
    for ((file, add), claim) in added.iter().zip(ours.reads.of_added(&adds)?) {
        let Some(claim) = claim else {
            elsewhere = true;
            continue;
        };
        // rows that only left an older state of the file are no new rows
        if let Some(remove) = theirs.removes.get(*file)
            && only_deletes(remove, add, vectors)?
        {
            continue;
        }
        predicate = predicate.or(claim);
        read.push(add.path.as_str().to_owned());
    }
    let append = match (is_blind_append(winner, theirs), ours.changes.changes_metadata()) {
        (false, _) => ConflictRule::AppendRead,
        (true, false) => ConflictRule::BlindAppendRead,
        (true, true) => ConflictRule::BlindAppendMetadata,
    };
    let subject = predicate.map(Predicate::to_string);
    removed.sort_unstable();
    rewritten.sort_unstable();
    let found = [
        (append, read, subject),
        (ConflictRule::RemoveRead, removed, None),
        (ConflictRule::RewriteRead, rewritten, None),
    ];
    for (rule, files, subject) in found {
        if !files.is_empty() {
            out.push(RuleFinding { files, subject, ..RuleFinding::new(rule) });
        }
    }
    if elsewhere {
        out.push(RuleFinding::new(ConflictRule::AppendElsewhere));
    }
    if rearranged {
        out.push(RuleFinding::new(ConflictRule::RewriteAdded));
    }
    Ok(())
}

/// Whether the winner states that it read nothing, and does nothing that contradicts this.
fn is_blind_append(winner: &Winner, theirs: &Theirs<'_>) -> bool {
    theirs.removes.is_empty() && winner.info().is_some_and(|i| i.is_blind_append == Some(true))
}
