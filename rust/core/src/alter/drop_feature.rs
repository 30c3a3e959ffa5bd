//! Dropping a table feature: what must be cleaned first, and the commit that takes the feature away.

use std::collections::BTreeMap;

use super::change::Change;
use super::column_mapping::{is_mapped, without_mapping};
use super::constraints::constraints;
use super::names::names_that_need_mapping;
use super::protocol::{with_features, without_feature};
use super::validate::check;
use super::widen::{has_changes, without_changes};
use super::{Definition, iceberg_compat};
use crate::error::{Error, Result, condition};
use crate::features::{FEATURES, Feature, Removal, TableFeature, feature};
use crate::properties::TableProperty;
use crate::schema::ColumnMappingMode;

/// Checkpoints that are written between the cleaning and the commit that drops a feature, as delta-spark writes them.
pub const BARRIER_CHECKPOINTS: usize = 3;

/// What a table's state shows of its features, beyond protocol and metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traces {
    /// Files that have a deletion vector.
    pub deletion_vectors: u64,
    /// Files of vectors that tombstones have and that no tombstone of their own keeps.
    pub unkept_vectors: u64,
    /// Files that have a base row id or a default row commit version.
    pub row_ids: u64,
    /// Domains of `domainMetadata` that are not removed.
    pub domains: Vec<String>,
    /// Whether the newest checkpoint is of V2.
    pub v2_checkpoint: bool,
    /// Whether commits and checkpoints before `delta.requireCheckpointProtectionBeforeVersion` are deleted.
    pub history_truncated: bool,
}

/// A step that takes traces of a feature out of a table. Each is a commit of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Sets and unsets these properties; see [`clean_properties`].
    Properties {
        /// To be set.
        set: BTreeMap<String, String>,
        /// To be unset.
        unset: Vec<String>,
    },
    /// Rewrites every file that has a deletion vector, without it (`dataChange` = false). Tombstones of the vectors stay.
    PurgeDeletionVectors,
    /// Writes a tombstone (`dataChange` = false) of each file of vectors that tombstones within
    /// `delta.deletedFileRetentionDuration` have: a vacuum by a writer without vectors then keeps what older versions need.
    KeepVectors,
    /// Rewrites every file whose types are older than the schema (`dataChange` = false), and then commits
    /// [`without_recorded_changes`].
    RewriteWidenedFiles,
    /// Rewrites every file with logical names, and in the same commit takes column mapping out of the schema: see
    /// [`unmapped`].
    RewriteMappedFiles,
    /// Takes the row ids from all files by adding them again (`dataChange` = false).
    ClearRowIds,
    /// Removes these domains.
    RemoveDomains(Vec<String>),
    /// Writes an empty commit and a checkpoint on it, and then removes what is older than
    /// `delta.dropFeatureTruncateHistory.retentionDuration` (24 hours unless set). If history remains, the caller must
    /// retry after that time.
    TruncateHistory,
}

/// What happens to versions that still have the feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// They may stay: only writers needed the feature.
    Stays,
    /// They stay behind [`BARRIER_CHECKPOINTS`] checkpoints that may not be removed one by one: the feature
    /// checkpointProtection is added to the protocol. After the last commit one more checkpoint is written.
    Protected,
    /// They must be gone: the executor truncates the history, and refuses where a commit or the oldest checkpoint still
    /// shows the feature.
    Truncated,
}

/// How a feature is dropped: the steps in order, and then the commit that [`downgraded`] gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropPlan {
    /// The feature.
    pub feature: TableFeature,
    /// What has to be cleaned first. None where the table is clean.
    pub steps: Vec<Step>,
    /// What happens to older versions.
    pub history: History,
    /// Domains that are removed in the commit that drops the feature.
    pub domains: Vec<String>,
}

fn refuse(feature: &str, reason: impl Into<String>) -> Error {
    Error::InvalidFeatureChange { feature: feature.to_owned(), reason: reason.into() }
}

/// The plan to drop a feature.
///
/// # Errors
/// [`Error::InvalidFeatureChange`] for what is not a feature, not one of the table, one that cannot be dropped, one that
/// another needs, for truncation that makes no sense, and where something has to be dropped by hand first.
pub fn plan_drop(
    table: &Definition,
    name: &str,
    truncate_history: bool,
    traces: &Traces,
) -> Result<DropPlan> {
    let (feature, removal) = removable(table, name)?;
    let protection = feature.feature == TableFeature::CheckpointProtection;
    if truncate_history && !removal.protects_history && !protection {
        return Err(refuse(name, "only writers need it, so there is no history to truncate")
            .of_condition(&condition::FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED));
    }
    if protection && !truncate_history {
        return Err(refuse(name, "it is dropped only by truncating the history that it protects")
            .of_condition(&condition::FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION));
    }
    let history = match (removal.protects_history, truncate_history) {
        (false, _) => History::Stays,
        (true, false) => History::Protected,
        (true, true) => History::Truncated,
    };
    let domains = traces.domains.iter().filter(|d| removal.domains.contains(&d.as_str())).cloned().collect();
    Ok(DropPlan { feature: feature.feature, steps: steps(table, feature.feature, traces)?, history, domains })
}

fn removable(table: &Definition, name: &str) -> Result<(&'static Feature, &'static Removal)> {
    let names = table.protocol.features();
    if !names.iter().any(|f| f.eq_ignore_ascii_case(name)) {
        if TableProperty::named(name).is_some() {
            return Err(refuse(name, "it is a property, not a feature; unset it")
                .of_condition(&condition::FEATURE_DROP_FEATURE_IS_DELTA_PROPERTY));
        }
        let reason = format!("the table does not have it; it has {}", names.join(", "));
        let condition = match feature(name) {
            Some(_) => &condition::FEATURE_DROP_FEATURE_NOT_PRESENT,
            None => &condition::FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE,
        };
        return Err(refuse(name, reason).of_condition(condition));
    }
    let feature = feature(name).ok_or_else(|| {
        refuse(name, "deltaic does not know what it is")
            .of_condition(&condition::FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE)
    })?;
    let Some(removal) = &feature.removal else {
        return Err(
            refuse(name, "it cannot be dropped").of_condition(&condition::FEATURE_DROP_NONREMOVABLE_FEATURE)
        );
    };
    let needed_by =
        |f: &&Feature| f.requires.contains(&feature.feature) && table.protocol.supports(f.feature);
    match FEATURES.iter().find(needed_by) {
        Some(other) => Err(refuse(name, format!("{} requires it; drop that first", other.name()))
            .named(&condition::FEATURE_DROP_DEPENDENT_FEATURE, [("dependentFeatures", other.name())])),
        None => Ok((feature, removal)),
    }
}

/// What shows that the table still uses the feature, as the steps that end it.
fn steps(table: &Definition, feature: TableFeature, traces: &Traces) -> Result<Vec<Step>> {
    let unset = |properties: &[TableProperty]| {
        let there = properties.iter().filter(|property| table.property(**property).is_some());
        Step::Properties { set: BTreeMap::new(), unset: there.map(ToString::to_string).collect() }
    };
    let set = |pairs: &[(TableProperty, &str)]| Step::Properties {
        set: pairs.iter().map(|(property, value)| (property.to_string(), (*value).to_owned())).collect(),
        unset: Vec::new(),
    };
    let mut steps = Vec::new();
    match feature {
        TableFeature::DeletionVectors => {
            if table.is_true(TableProperty::EnableDeletionVectors) {
                steps.push(unset(&[TableProperty::EnableDeletionVectors]));
            }
            if traces.deletion_vectors > 0 {
                steps.push(Step::PurgeDeletionVectors);
            }
            if traces.unkept_vectors > 0 {
                steps.push(Step::KeepVectors);
            }
        }
        TableFeature::TypeWidening | TableFeature::TypeWideningPreview => {
            if table.is_true(TableProperty::EnableTypeWidening) {
                steps.push(unset(&[TableProperty::EnableTypeWidening]));
            }
            if has_changes(&table.schema) {
                steps.push(Step::RewriteWidenedFiles);
            }
        }
        TableFeature::ColumnMapping
            if table.column_mapping() != ColumnMappingMode::None || is_mapped(&table.schema) =>
        {
            unmapped(table)?;
            steps.push(Step::RewriteMappedFiles);
        }
        TableFeature::V2Checkpoint => {
            if table.property(TableProperty::CheckpointPolicy).is_some_and(|v| v.eq_ignore_ascii_case("v2")) {
                steps.push(set(&[(TableProperty::CheckpointPolicy, "classic")]));
            } else if traces.v2_checkpoint {
                // the policy is classic already, so the next checkpoint is
                steps.push(set(&[]));
            }
        }
        TableFeature::RowTracking => {
            if table.is_true(TableProperty::EnableRowTracking)
                || !table.is_true(TableProperty::RowTrackingSuspended)
            {
                steps.push(set(&[
                    (TableProperty::EnableRowTracking, "false"),
                    (TableProperty::RowTrackingSuspended, "true"),
                ]));
            }
            if traces.row_ids > 0 {
                steps.push(Step::ClearRowIds);
            }
        }
        TableFeature::InCommitTimestamp => {
            let kept = [
                TableProperty::InCommitTimestampEnablementVersion,
                TableProperty::InCommitTimestampEnablementTimestamp,
            ];
            let on = table.is_true(TableProperty::EnableInCommitTimestamps);
            if on || kept.iter().any(|property| table.property(*property).is_some()) {
                let Step::Properties { unset, .. } = unset(&kept) else { return Ok(steps) };
                let off = (TableProperty::EnableInCommitTimestamps.to_string(), "false".to_owned());
                steps.push(Step::Properties { set: on.then_some(off).into_iter().collect(), unset });
            }
        }
        TableFeature::DomainMetadata if !traces.domains.is_empty() => {
            steps.push(Step::RemoveDomains(traces.domains.clone()));
        }
        TableFeature::CheckConstraints => {
            let names: Vec<&str> = constraints(&table.metadata).into_iter().map(|(name, _)| name).collect();
            if !names.is_empty() {
                let names = names.join(", ");
                return Err(refuse(feature.name(), format!("drop the constraints first: {names}"))
                    .named(&condition::CANNOT_DROP_CHECK_CONSTRAINT_FEATURE, [("constraints", names)]));
            }
        }
        TableFeature::CheckpointProtection => {
            let before: u64 = table
                .property(TableProperty::RequireCheckpointProtectionBeforeVersion)
                .and_then(|v| v.parse().ok())
                .unwrap_or(0);
            if before > 0 && !traces.history_truncated {
                steps.push(Step::TruncateHistory);
            }
            if table.property(TableProperty::RequireCheckpointProtectionBeforeVersion).is_some() {
                steps.push(unset(&[TableProperty::RequireCheckpointProtectionBeforeVersion]));
            }
        }
        _ => {}
    }
    Ok(steps)
}

/// The table after [`Step::Properties`].
///
/// # Errors
/// [`Error::InvalidSchema`] when the table breaks a rule.
pub fn clean_properties(
    table: &Definition,
    set: &BTreeMap<String, String>,
    unset: &[String],
) -> Result<Definition> {
    let mut new = table.clone();
    new.metadata.configuration.retain(|key, _| !unset.contains(key));
    new.metadata.configuration.extend(set.clone());
    check(Some(table), &new, Change::Alter)?;
    Ok(new)
}

/// The table after [`Step::RewriteWidenedFiles`]: every file has the types of the schema.
pub fn without_recorded_changes(table: &Definition) -> Definition {
    let mut new = table.clone();
    new.schema = without_changes(&table.schema);
    new.metadata.schema_string = new.schema.to_json();
    new
}

/// The table after [`Step::RewriteMappedFiles`]: every file has the names of the schema.
///
/// # Errors
/// [`Error::InvalidSchema`] when a name cannot be in files; [`Error::InvalidFeatureChange`] where something else needs column
/// mapping.
pub fn unmapped(table: &Definition) -> Result<Definition> {
    let names = names_that_need_mapping(&table.schema);
    if !names.is_empty() {
        let names = names.join(", ");
        let reason = format!("names that need column mapping: {names}; rename these columns first");
        return Err(Error::InvalidSchema { reason }.named(
            &condition::INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING,
            [("invalidColumnNames", names)],
        ));
    }
    let mut new = table.clone();
    new.schema = without_mapping(&table.schema);
    new.metadata.schema_string = new.schema.to_json();
    for key in [TableProperty::ColumnMappingMode, TableProperty::ColumnMappingMaxColumnId] {
        new.metadata.unset_property(key);
    }
    iceberg_compat::check(None, &new, Change::Replace)?;
    check(Some(table), &new, Change::Replace)?;
    Ok(new)
}

/// The definition of the commit at `version` that drops the feature. To be called again for every attempt at another
/// version, with the traces of the newest state.
///
/// # Errors
/// [`Error::InvalidFeatureChange`] when the table is not clean: another writer used the feature again.
pub fn downgraded(table: &Definition, plan: &DropPlan, traces: &Traces, version: u64) -> Result<Definition> {
    let (feature, removal) = removable(table, plan.feature.name())?;
    let left = steps(table, feature.feature, traces)?;
    if !left.is_empty() {
        return Err(refuse(feature.name(), format!("the table uses it again; to be done: {left:?}")));
    }
    let mut new = table.clone();
    for property in removal.properties {
        new.metadata.unset_property(*property);
    }
    new.protocol = without_feature(&table.protocol, feature.feature);
    if plan.history == History::Protected {
        new.protocol = with_features(&new.protocol, &[TableFeature::CheckpointProtection])?;
        new.metadata
            .set_property(TableProperty::RequireCheckpointProtectionBeforeVersion, version.to_string());
    }
    check(Some(table), &new, Change::Alter)?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{protocol, table};

    fn plan(table: &Definition, name: &str, traces: &Traces) -> DropPlan {
        plan_drop(table, name, false, traces).unwrap()
    }

    fn unset(keys: &[&str]) -> Step {
        Step::Properties { set: BTreeMap::new(), unset: keys.iter().map(|k| (*k).to_owned()).collect() }
    }

    #[test]
    fn a_feature_of_readers_goes_behind_protected_checkpoints() {
        let t = table("a long", &[("delta.enableDeletionVectors", "true")]);
        let dirty = Traces { deletion_vectors: 2, ..Default::default() };
        let p = plan(&t, "DeletionVectors", &dirty);
        assert_eq!(p.steps, [unset(&["delta.enableDeletionVectors"]), Step::PurgeDeletionVectors]);
        assert_eq!(p.history, History::Protected);
        let error = downgraded(&t, &p, &dirty, 9).unwrap_err().to_string();
        assert!(error.contains("uses it again"), "{error}");
        let clean = clean_properties(&t, &BTreeMap::new(), &["delta.enableDeletionVectors".into()]).unwrap();
        assert!(downgraded(&clean, &p, &dirty, 9).is_err(), "vectors are left");
        let done = downgraded(&clean, &p, &Traces::default(), 9).unwrap();
        assert_eq!(done.protocol.features(), ["appendOnly", "checkpointProtection", "invariants"]);
        assert_eq!(done.protocol.min_reader_version, 1);
        assert_eq!(done.property(TableProperty::RequireCheckpointProtectionBeforeVersion), Some("9"));
        // the protection is dropped when the history is deleted
        let guard = plan_drop(&done, "checkpointProtection", true, &Traces::default()).unwrap();
        assert_eq!(
            guard.steps,
            [Step::TruncateHistory, unset(&[TableProperty::RequireCheckpointProtectionBeforeVersion.name()])]
        );
        let truncated = Traces { history_truncated: true, ..Default::default() };
        let bare = clean_properties(
            &done,
            &BTreeMap::new(),
            &[TableProperty::RequireCheckpointProtectionBeforeVersion.to_string()],
        )
        .unwrap();
        assert_eq!(downgraded(&bare, &guard, &truncated, 12).unwrap().protocol, protocol(1, 2));
    }

    #[test]
    fn truncation_takes_the_place_of_protection() {
        let t = table("a long", &[("delta.feature.vacuumProtocolCheck", "supported")]);
        let p = plan_drop(&t, "vacuumProtocolCheck", true, &Traces::default()).unwrap();
        assert_eq!((p.history, p.steps.len()), (History::Truncated, 0));
        assert_eq!(downgraded(&t, &p, &Traces::default(), 3).unwrap().protocol, protocol(1, 2));
    }

    #[test]
    fn column_mapping_goes_with_a_rewrite() {
        let t = table("a long, s struct<x: int>", &[("delta.columnMapping.mode", "name")]);
        let p = plan(&t, "columnMapping", &Traces::default());
        assert_eq!(p.steps, [Step::RewriteMappedFiles]);
        let bare = unmapped(&t).unwrap();
        assert!(!is_mapped(&bare.schema) && bare.metadata.configuration.is_empty());
        let done = downgraded(&bare, &p, &Traces::default(), 4).unwrap();
        assert!(
            !done.protocol.supports(TableFeature::ColumnMapping)
                && done.protocol.supports(TableFeature::CheckpointProtection)
        );
        let spaced = table("b long", &[("delta.columnMapping.mode", "name")]);
        let spaced = crate::alter::rename_column(&spaced, &["b".into()], "a b").unwrap();
        let error = plan_drop(&spaced, "columnMapping", false, &Traces::default()).unwrap_err();
        assert_eq!(error.kind(), "InvalidSchema");
    }

    #[test]
    fn a_feature_of_writers_leaves_history_alone() {
        let t = table("a long", &[("delta.enableRowTracking", "true")]);
        let traces = Traces {
            row_ids: 1,
            domains: vec!["delta.rowTracking".into(), "mine".into()],
            ..Default::default()
        };
        let p = plan(&t, "rowTracking", &traces);
        assert_eq!(p.history, History::Stays);
        assert_eq!(p.domains, ["delta.rowTracking"]);
        let [Step::Properties { set, unset }, Step::ClearRowIds] = &p.steps[..] else { panic!("{p:?}") };
        let clean = clean_properties(&t, set, unset).unwrap();
        let done = downgraded(&clean, &p, &Traces::default(), 5).unwrap();
        assert!(done.metadata.configuration.is_empty(), "{:?}", done.metadata.configuration);
        assert_eq!(done.protocol.features(), ["appendOnly", "domainMetadata", "invariants"]);
        let domain =
            plan(&done, "domainMetadata", &Traces { domains: vec!["mine".into()], ..Default::default() });
        assert_eq!(domain.steps, [Step::RemoveDomains(vec!["mine".into()])]);
        assert_eq!(downgraded(&done, &domain, &Traces::default(), 6).unwrap().protocol, protocol(1, 2));
    }

    #[test]
    fn what_cannot_be_dropped_is_refused() {
        let t = table(
            "a long",
            &[
                ("delta.feature.clustering", "supported"),
                ("delta.enableChangeDataFeed", "true"),
                ("delta.feature.checkpointProtection", "supported"),
                ("delta.enableInCommitTimestamps", "true"),
            ],
        );
        for (name, truncate, said) in [
            ("delta.enableChangeDataFeed", false, "is a property"),
            ("deletionVectors", false, "does not have it"),
            ("changeDataFeed", false, "cannot be dropped"),
            ("domainMetadata", false, "clustering requires it"),
            ("inCommitTimestamp", true, "no history to truncate"),
            ("checkpointProtection", false, "only by truncating"),
        ] {
            let error = plan_drop(&t, name, truncate, &Traces::default()).unwrap_err();
            assert_eq!(error.kind(), "InvalidFeatureChange");
            assert!(error.to_string().contains(said), "{error}");
        }
        let checked = crate::alter::add_constraint(&table("a long", &[]), "c", "a > 1").unwrap();
        let error = plan_drop(&checked, "checkConstraints", false, &Traces::default()).unwrap_err();
        let condition = error.condition().map(|c| c.name);
        assert_eq!(condition, Some("DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE"));
        assert!(error.to_string().contains("drop the constraints first: c"), "{error}");
    }

    #[test]
    fn timestamps_and_checkpoints_are_turned_off_first() {
        let t =
            table("a long", &[("delta.enableInCommitTimestamps", "true"), ("delta.checkpointPolicy", "v2")]);
        let steps = plan(&t, "inCommitTimestamp", &Traces::default()).steps;
        let [Step::Properties { set, unset }] = &steps[..] else { panic!("{steps:?}") };
        assert_eq!(set["delta.enableInCommitTimestamps"], "false");
        assert!(unset.is_empty());
        let steps = plan(&t, "v2Checkpoint", &Traces::default()).steps;
        let [Step::Properties { set, .. }] = &steps[..] else { panic!("{steps:?}") };
        let classic = clean_properties(&t, set, &[]).unwrap();
        assert!(plan(&classic, "v2Checkpoint", &Traces::default()).steps.is_empty());
        let v2 = Traces { v2_checkpoint: true, ..Default::default() };
        assert_eq!(plan(&classic, "v2Checkpoint", &v2).steps.len(), 1);
    }

    #[test]
    fn widened_files_are_rewritten() {
        let mut t = table("a int", &[("delta.enableTypeWidening", "true")]);
        t = super::super::change_columns(
            &t,
            &[super::super::ColumnChange {
                data_type: Some(crate::schema::DataType::Long),
                ..super::super::ColumnChange::of(vec!["a".into()])
            }],
        )
        .unwrap();
        let p = plan(&t, "typeWidening", &Traces::default());
        assert_eq!(p.steps, [unset(&["delta.enableTypeWidening"]), Step::RewriteWidenedFiles]);
        let clean = clean_properties(&t, &BTreeMap::new(), &["delta.enableTypeWidening".into()]).unwrap();
        let clean = without_recorded_changes(&clean);
        assert!(downgraded(&clean, &p, &Traces::default(), 3).is_ok());
    }
}
