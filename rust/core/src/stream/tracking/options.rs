use std::collections::BTreeMap;

use super::schema_log::OPTION;
use crate::error::{Error, Result};

pub(super) const RENAME: &str = "allowSourceColumnRename";
pub(super) const DROP: &str = "allowSourceColumnDrop";
pub(super) const TYPE_CHANGE: &str = "allowSourceColumnTypeChange";
pub(super) const RENAME_SETTING: &str = "streaming.allowSourceColumnRename";
pub(super) const DROP_SETTING: &str = "streaming.allowSourceColumnDrop";
pub(super) const RENAME_DROP_SETTING: &str = "streaming.allowSourceColumnRenameAndDrop";
pub(super) const TYPE_CHANGE_SETTING: &str = "streaming.allowSourceColumnTypeChange";

/// How a stream keeps the schemas that it reads with, by the options and settings of delta-spark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrackingOptions {
    /// `schemaTrackingLocation` or `schemaLocation`; none where schemas are not kept.
    pub(super) location: Option<String>,
    /// `streamingSourceTrackingId`.
    pub(super) source: Option<String>,
    /// Where the source of a query that runs has its part of the checkpoint; none while the query is made.
    pub(super) metadata_path: Option<String>,
    pub(super) allowed: Allowed,
}

/// The changes after which the user lets a stream continue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Allowed {
    options: BTreeMap<&'static str, String>,
    settings: BTreeMap<String, String>,
}

impl Allowed {
    pub(super) fn renames(&self, hash: i32, version: u64) -> bool {
        self.any(RENAME, &[RENAME_SETTING, RENAME_DROP_SETTING], hash, version)
    }

    pub(super) fn drops(&self, hash: i32, version: u64) -> bool {
        self.any(DROP, &[DROP_SETTING, RENAME_DROP_SETTING], hash, version)
    }

    pub(super) fn type_changes(&self, hash: i32, version: u64) -> bool {
        self.any(TYPE_CHANGE, &[TYPE_CHANGE_SETTING], hash, version)
    }

    fn any(&self, option: &str, settings: &[&str], hash: i32, version: u64) -> bool {
        let version = version.to_string();
        let says = |name: &str, value: &str| {
            self.settings.get(name).is_some_and(|said| said.eq_ignore_ascii_case(value))
        };
        self.options.get(option).is_some_and(|value| *value == "always" || *value == version)
            || settings.iter().any(|name| {
                let of_stream = format!("{name}.ckpt_{hash}");
                says(name, "always") || says(&of_stream, "always") || says(&of_stream, &version)
            })
    }
}

impl TrackingOptions {
    /// From the options of a stream, by `find`, whatever the case of their names.
    pub(in crate::stream) fn parse<'a>(find: impl Fn(&str) -> Option<&'a str>) -> Self {
        let own = |name: &str| find(name).map(str::to_owned);
        let allowed = [RENAME, DROP, TYPE_CHANGE];
        TrackingOptions {
            location: own(OPTION).or_else(|| own("schemaLocation")),
            source: own("streamingSourceTrackingId"),
            metadata_path: None,
            allowed: Allowed {
                options: allowed.into_iter().filter_map(|name| Some((name, own(name)?))).collect(),
                settings: BTreeMap::new(),
            },
        }
    }

    /// In a session with these settings (names without `spark.databricks.delta.`), for the query whose source has this part
    /// of a checkpoint.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where a setting forbids to keep schemas.
    pub(in crate::stream) fn in_session(
        mut self,
        table: &str,
        settings: &BTreeMap<String, String>,
        metadata_path: Option<String>,
    ) -> Result<Self> {
        if self.location.is_some() && is_off(settings, "streaming.schemaTracking.enabled") {
            let what = format!("the option `{OPTION}`, with streaming.schemaTracking.enabled set to false,");
            return Err(Error::Unsupported { path: table.to_owned(), what });
        }
        self.allowed.settings = settings.clone();
        self.metadata_path = metadata_path;
        Ok(self)
    }

    pub(super) fn merges(&self) -> bool {
        !is_off(&self.allowed.settings, "streaming.schemaTracking.mergeConsecutiveSchemaChanges.enabled")
    }

    pub(super) fn checks_path(&self) -> bool {
        !is_off(&self.allowed.settings, "streaming.schemaTracking.metadataPathCheck.enabled")
    }

    /// Whether what only writers ask of a column is no part of its schema.
    pub(super) fn ignores_internal(&self) -> bool {
        !is_off(&self.allowed.settings, "streaming.ignoreInternalMetadataForSchemaChange.enabled")
    }

    /// Whether a wider type ends a query that keeps no schemas.
    pub(in crate::stream) fn widening_needs_a_log(&self) -> bool {
        let said = self.allowed.settings.get("typeWidening.enableStreamingSchemaTracking");
        said.is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }
}

fn is_off(settings: &BTreeMap<String, String>, name: &str) -> bool {
    settings.get(name).is_some_and(|value| value.eq_ignore_ascii_case("false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(options: &[(&'static str, &str)], settings: &[(&str, &str)]) -> Allowed {
        Allowed {
            options: options.iter().map(|(k, v)| (*k, (*v).to_owned())).collect(),
            settings: settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        }
    }

    #[test]
    fn a_change_is_allowed_by_an_option_or_a_setting() {
        assert!(!allowed(&[], &[]).renames(5, 2));
        assert!(allowed(&[(RENAME, "always")], &[]).renames(5, 2));
        assert!(allowed(&[(RENAME, "2")], &[]).renames(5, 2));
        assert!(!allowed(&[(RENAME, "2")], &[]).renames(5, 3));
        assert!(!allowed(&[(RENAME, "always")], &[]).drops(5, 2));
        for setting in [RENAME_SETTING, RENAME_DROP_SETTING] {
            assert!(allowed(&[], &[(setting, "ALWAYS")]).renames(5, 2));
            // a version is one of a stream
            assert!(!allowed(&[], &[(setting, "2")]).renames(5, 2));
            let of_stream = format!("{setting}.ckpt_-5");
            assert!(allowed(&[], &[(of_stream.as_str(), "2")]).renames(-5, 2));
            assert!(!allowed(&[], &[(of_stream.as_str(), "2")]).renames(5, 2));
            assert!(allowed(&[], &[(of_stream.as_str(), "always")]).renames(-5, 7));
        }
        assert!(allowed(&[], &[(RENAME_DROP_SETTING, "always")]).drops(5, 2));
        assert!(!allowed(&[], &[(RENAME_DROP_SETTING, "always")]).type_changes(5, 2));
        assert!(allowed(&[], &[(TYPE_CHANGE_SETTING, "always")]).type_changes(5, 2));
    }
}
