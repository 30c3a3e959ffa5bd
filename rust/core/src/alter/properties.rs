//! Setting and unsetting table properties.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Definition;
use super::change::Change;
use super::constraints::is_constraint;
use super::finalize::finalize;
use super::protocol::Asked;
use super::row_tracking::{EITHER, both};
use crate::error::{Error, Result, condition};
use crate::features::{FEATURES, TableFeature, feature};
use crate::properties::{FEATURE_PREFIX, PREFIX, ROW_TRACKING_PREFIX, TableProperty, Value, parse_interval};

const READER_VERSION: TableProperty = TableProperty::MinReaderVersion;
const WRITER_VERSION: TableProperty = TableProperty::MinWriterVersion;

fn invalid(key: &str, reason: impl Into<String>) -> Error {
    Error::InvalidArgument { argument: key.to_owned(), reason: reason.into() }
}

/// What `SET TBLPROPERTIES` may do beyond the rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetOptions {
    /// Accepts unknown `delta.` properties unchanged.
    pub allow_arbitrary: bool,
}

/// The table with these properties, and with the protocol and the columns' ids that they ask for. `comment` is the
/// description of the table. An executor gives row ids to all files before `delta.enableRowTracking` is set on an existing
/// table (see [`super::row_tracking`]).
///
/// # Errors
/// * [`Error::InvalidArgument`] for a key that is not known, is not set by hand, or whose value cannot be.
/// * [`Error::InvalidFeatureChange`] for a feature that deltaic does not have.
/// * [`Error::InvalidSchema`], where the table cannot have the property.
pub fn set_properties(
    table: &Definition,
    properties: &BTreeMap<String, String>,
    options: SetOptions,
) -> Result<Definition> {
    let (set, asked) = checked(properties, options)?;
    let mut new = table.clone();
    let touched: Vec<String> = set.keys().cloned().collect();
    for (key, value) in set {
        match key.as_str() {
            "comment" => new.metadata.description = Some(value),
            "location" | "provider" => {
                return Err(invalid(&key, "it belongs to the catalog, not to the table"));
            }
            _ => {
                new.metadata.configuration.insert(key, value);
            }
        }
    }
    check_together(&new.metadata.configuration, &touched)?;
    finalize(Some(table), new, &asked, Change::Alter)
}

/// The table without these properties. The protocol stays: [`super::drop_feature`] takes features away.
///
/// # Errors
/// [`Error::InvalidArgument`] for a key that is not set, unless `if_exists`, and for one that is not unset by hand.
pub fn unset_properties(table: &Definition, keys: &[String], if_exists: bool) -> Result<Definition> {
    let mut new = table.clone();
    for key in keys {
        let lower = key.to_lowercase();
        if lower.starts_with(FEATURE_PREFIX) {
            return Err(invalid(key, "a feature is not a property; drop it as a feature"));
        }
        if is_constraint(key) {
            return Err(invalid(key, "drop it as a constraint"));
        }
        let spelled = match TableProperty::named(key) {
            Some(known) if known.value() == Value::Kept => {
                return Err(invalid(key, "deltaic keeps it itself"));
            }
            Some(known) => known.name(),
            None => key,
        };
        let gone = match spelled {
            "comment" => new.metadata.description.take().is_some(),
            _ => new.metadata.configuration.remove(spelled).is_some(),
        };
        if !gone && !if_exists {
            return Err(invalid(key, "it is not set")
                .named(&condition::UNSET_NON_EXISTENT_PROPERTY, [("property", key)]));
        }
    }
    finalize(Some(table), new, &Asked::default(), Change::Alter)
}

/// The properties of a new table in their own spelling, and what they ask of the protocol, which is no property of the
/// table.
///
/// # Errors
/// As [`set_properties`].
pub fn for_new_table(
    given: &BTreeMap<String, String>,
    options: SetOptions,
) -> Result<(BTreeMap<String, String>, Asked)> {
    let (set, asked) = checked(given, options)?;
    let touched: Vec<String> = set.keys().cloned().collect();
    check_together(&set, &touched)?;
    Ok((set, asked))
}

/// Checks the names and values of properties that are not set, because the table exists. Names of features are not
/// looked at.
///
/// # Errors
/// [`Error::InvalidArgument`] for a key that is not known, is not set by hand, or whose value cannot be.
pub(crate) fn check_properties(given: &BTreeMap<String, String>, options: SetOptions) -> Result<()> {
    let named = |key: &&String| !key.to_lowercase().starts_with(FEATURE_PREFIX);
    let properties =
        given.iter().filter(|(key, _)| named(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
    checked(&properties, options).map(|_| ())
}

/// The properties `delta.*` that deltaic knows, in order.
pub fn known_properties() -> impl Iterator<Item = &'static str> {
    TableProperty::settable().map(TableProperty::name)
}

/// Whether a property is about the protocol and not one of the table.
pub(crate) fn is_of_protocol(key: &str) -> bool {
    let lower = key.to_lowercase();
    lower.starts_with(FEATURE_PREFIX) || READER_VERSION.is(key) || WRITER_VERSION.is(key)
}

fn checked(
    given: &BTreeMap<String, String>,
    options: SetOptions,
) -> Result<(BTreeMap<String, String>, Asked)> {
    let (mut set, mut asked) = (BTreeMap::new(), Asked::default());
    for (key, value) in given {
        let lower = key.to_lowercase();
        if let Some(name) = lower.strip_prefix(FEATURE_PREFIX) {
            asked.features.insert(feature_named(key, name, value)?);
        } else if READER_VERSION.is(key) {
            asked.reader_version = Some(version(key, value, &[1, 2, 3])?);
        } else if WRITER_VERSION.is(key) {
            asked.writer_version = Some(version(key, value, &[1, 2, 3, 4, 5, 6, 7])?);
        } else if TableProperty::IgnoreProtocolDefaults.is(key) {
            Value::Boolean.check(value).map_err(|reason| invalid(key, reason))?;
        } else if is_constraint(key) {
            return Err(invalid(key, "add it as a constraint: existing rows must be checked")
                .of_condition(&condition::ADD_CONSTRAINTS));
        } else if lower == "clusteringcolumns" {
            return Err(invalid(key, "set the clustering columns instead")
                .named(&condition::CANNOT_MODIFY_TABLE_PROPERTY, [("prop", "clusteringColumns")]));
        } else if let Some(known) = TableProperty::named(key) {
            let checked = known.value().check(value);
            let value = checked.map_err(|reason| wrong(known, value, invalid(key, reason)))?;
            set.insert(known.to_string(), value);
        } else if lower.starts_with(PREFIX) && !options.allow_arbitrary {
            let names: Vec<&str> = known_properties().collect();
            return Err(invalid(
                key,
                format!("not a property that deltaic knows; it knows {}", names.join(", ")),
            )
            .of_condition(&condition::UNKNOWN_CONFIGURATION));
        } else {
            set.insert(key.clone(), value.clone());
        }
    }
    Ok((set, asked))
}

/// The error of a value that a property cannot have, by the name that delta-spark has for it, if any.
fn wrong(property: TableProperty, value: &str, error: Error) -> Error {
    match (property, property.value()) {
        (_, Value::Interval) => error.named(&condition::INVALID_INTERVAL, [("interval", value)]),
        (_, Value::Kept) if property.name().starts_with(ROW_TRACKING_PREFIX) => {
            error.of_condition(&condition::UNKNOWN_CONFIGURATION)
        }
        (_, Value::Kept) => {
            error.named(&condition::CANNOT_MODIFY_TABLE_PROPERTY, [("prop", property.name())])
        }
        (TableProperty::IsolationLevel, _) => {
            error.named(&condition::INVALID_ISOLATION_LEVEL, [("isolationLevel", value)])
        }
        _ => error,
    }
}

fn feature_named(key: &str, name: &str, value: &str) -> Result<TableFeature> {
    let known = feature(name).ok_or_else(|| {
        let names: Vec<&str> = FEATURES.iter().map(|f| f.name()).collect();
        invalid(key, format!("not a feature that deltaic knows; it knows {}", names.join(", ")))
            .named(&condition::UNSUPPORTED_FEATURES_IN_CONFIG, [("configs", key)])
    })?;
    match value.to_lowercase().as_str() {
        "supported" | "enabled" => Ok(known.feature),
        _ => Err(invalid(key, format!("`{value}` must be `supported`"))
            .named(&condition::UNSUPPORTED_FEATURE_STATUS, [("feature", name), ("status", value)])),
    }
}

fn version(key: &str, value: &str, all: &[i32]) -> Result<i32> {
    let newest = all.last().copied().unwrap_or_default();
    let error = || invalid(key, format!("`{value}` is not a protocol version from 1 to {newest}"));
    let found: i32 = value.parse().map_err(|_| {
        error().named(&condition::PROTOCOL_PROPERTY_NOT_INT, [("key", key), ("value", value)])
    })?;
    if all.contains(&found) { Ok(found) } else { Err(error()) }
}

/// Rules about two properties, where one of them is touched.
fn check_together(properties: &BTreeMap<String, String>, touched: &[String]) -> Result<()> {
    let value = |property: TableProperty| {
        properties.get(property.name()).map(String::as_str).or(property.default()).unwrap_or_default()
    };
    let is_true = |property: TableProperty| value(property).eq_ignore_ascii_case("true");
    let touches =
        |a: TableProperty, b: TableProperty| touched.iter().any(|key| *key == a.name() || *key == b.name());
    let length = |property: TableProperty| {
        parse_interval(value(property)).map_err(|reason| invalid(property.name(), reason))
    };
    let (log, files) = (TableProperty::LogRetentionDuration, TableProperty::DeletedFileRetentionDuration);
    if touches(log, files) && length(log)? < length(files)? {
        return Err(invalid(log.name(), format!("it must not be shorter than `{files}`")));
    }
    let [on, suspended] = EITHER;
    if touches(on, suspended) && is_true(on) && is_true(suspended) {
        let reason = format!("`{suspended}` is true as well: row tracking is either on or suspended");
        return Err(both(invalid(on.name(), reason)));
    }
    let (vectors, manifest) = (TableProperty::EnableDeletionVectors, TableProperty::SymlinkFormatManifest);
    if touches(vectors, manifest) && is_true(vectors) && is_true(manifest) {
        let reason = format!("`{manifest}` is true as well: a manifest cannot say which rows are deleted");
        return Err(invalid(vectors.name(), reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{protocol, table, try_table};

    fn set(table: &Definition, properties: &[(&str, &str)]) -> Result<Definition> {
        let properties = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        set_properties(table, &properties, SetOptions::default())
    }

    #[test]
    fn a_property_is_kept_in_its_own_spelling_and_checked() {
        let t =
            set(&table("a long", &[]), &[("DELTA.appendonly", "True"), ("owner", "me"), ("comment", "c")]);
        let t = t.unwrap();
        assert_eq!(t.property(TableProperty::AppendOnly), Some("true"));
        assert_eq!(
            (t.metadata.configuration["owner"].as_str(), t.metadata.description.as_deref()),
            ("me", Some("c"))
        );
        assert_eq!(t.protocol, protocol(1, 2));
        for (key, value, said) in [
            ("delta.apendOnly", "true", "not a property that deltaic knows"),
            ("delta.appendOnly", "1", "none of true, false"),
            ("delta.feature.timeMachine", "supported", "not a feature"),
            ("delta.feature.appendOnly", "on", "must be `supported`"),
            ("delta.constraints.c", "a > 1", "as a constraint"),
            ("delta.minReaderVersion", "9", "protocol version"),
            ("delta.columnMapping.maxColumnId", "9", "keeps it itself"),
            ("delta.logRetentionDuration", "1 day", "shorter"),
            ("location", "x", "catalog"),
        ] {
            let error = set(&t, &[(key, value)]).unwrap_err();
            assert_eq!(error.kind(), "InvalidArgument");
            assert!(error.to_string().starts_with(key) && error.to_string().contains(said), "{error}");
        }
        let any = [("delta.future".to_owned(), "x".to_owned())].into();
        let t = set_properties(&t, &any, SetOptions { allow_arbitrary: true }).unwrap();
        assert_eq!(t.metadata.configuration["delta.future"], "x");
    }

    #[test]
    fn a_property_brings_its_feature() {
        let t = table("a long", &[]);
        for (key, value, feature) in [
            ("delta.enableDeletionVectors", "true", "deletionVectors"),
            ("delta.enableChangeDataFeed", "true", "changeDataFeed"),
            ("delta.columnMapping.mode", "name", "columnMapping"),
            ("delta.enableTypeWidening", "true", "typeWidening"),
            ("delta.enableRowTracking", "true", "rowTracking"),
            ("delta.enableInCommitTimestamps", "true", "inCommitTimestamp"),
            ("delta.checkpointPolicy", "v2", "v2Checkpoint"),
            ("delta.feature.vacuumProtocolCheck", "supported", "vacuumProtocolCheck"),
            ("delta.feature.allowcolumndefaults", "Enabled", "allowColumnDefaults"),
        ] {
            let new = set(&t, &[(key, value)]).unwrap();
            assert!(new.protocol.supports_named(feature), "{key}");
            assert!(!new.metadata.configuration.keys().any(|k| k.starts_with("delta.feature.")));
        }
        let off = set(&t, &[("delta.enableDeletionVectors", "false"), ("delta.checkpointPolicy", "classic")]);
        assert_eq!(off.unwrap().protocol, protocol(1, 2));
    }

    #[test]
    fn versions_are_asked_of_the_protocol_and_are_no_property() {
        let t =
            set(&table("a long", &[]), &[("delta.minReaderVersion", "2"), ("delta.minWriterVersion", "5")]);
        let t = t.unwrap();
        assert_eq!(t.protocol, protocol(2, 5));
        assert!(t.metadata.configuration.is_empty());
        assert_eq!(table("a long", &[("delta.minWriterVersion", "4")]).protocol, protocol(1, 4));
    }

    #[test]
    fn properties_that_contradict_each_other_are_refused() {
        let t = table("a long", &[("delta.rowTrackingSuspended", "true")]);
        assert!(set(&t, &[("delta.enableRowTracking", "true")]).is_err());
        let manifest = ("delta.compatibility.symlinkFormatManifest.enabled", "true");
        assert!(try_table("a long", &[manifest, ("delta.enableDeletionVectors", "true")]).is_err());
    }

    #[test]
    fn what_is_unset_was_set_and_is_set_by_hand() {
        let t = table("a long", &[("delta.enableDeletionVectors", "true"), ("owner", "me")]);
        let keys = |keys: &[&str]| keys.iter().map(|k| (*k).to_owned()).collect::<Vec<_>>();
        let new = unset_properties(&t, &keys(&["delta.enabledeletionvectors", "owner"]), false).unwrap();
        assert!(new.metadata.configuration.is_empty());
        assert!(new.protocol.supports(TableFeature::DeletionVectors), "the feature stays");
        assert!(unset_properties(&t, &keys(&["x"]), false).unwrap_err().to_string().contains("not set"));
        assert_eq!(unset_properties(&t, &keys(&["x"]), true).unwrap(), t);
        let mapped = table("a long", &[("delta.columnMapping.mode", "name")]);
        for key in ["delta.columnMapping.maxColumnId", "delta.constraints.c", "delta.feature.columnMapping"] {
            assert!(unset_properties(&mapped, &keys(&[key]), true).is_err(), "{key}");
        }
        assert_eq!(
            unset_properties(&mapped, &keys(&["delta.columnMapping.mode"]), true).unwrap_err().kind(),
            "InvalidFeatureChange"
        );
    }
}
