use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::store::StorageOptions;

/// How the names of Hadoop's settings begin.
const PREFIXES: [&str; 3] = ["fs.", "dfs.", "hadoop."];

/// Whether an option is a setting of Hadoop's file systems.
pub(crate) fn is_setting(option: &str) -> bool {
    let begins =
        |prefix: &str| option.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    PREFIXES.into_iter().any(begins)
}

/// The setting that names the file system of paths without a scheme.
pub(crate) const DEFAULT_FS: &str = "fs.defaultFS";

/// The value of [`DEFAULT_FS`] among the options of a store; they may be in lower case.
pub(crate) fn default_fs(options: &StorageOptions) -> Option<&str> {
    let named = options.iter().find(|(name, _)| name.eq_ignore_ascii_case(DEFAULT_FS));
    named.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

/// Hadoop's settings for one bucket or account. Names in any case; a value that is blank is none.
pub(crate) struct Settings {
    given: BTreeMap<String, String>,
}

impl Settings {
    /// Those among the options of a store.
    pub(crate) fn among(options: &StorageOptions) -> Self {
        let given = options
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .filter(|(name, value)| is_setting(name) && !value.is_empty())
            .collect();
        Settings { given }
    }

    /// The value of a setting.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.given.get(&name.to_ascii_lowercase()).map(String::as_str)
    }

    /// The value of a switch.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another value than `true` and `false`.
    pub(super) fn switch(name: &str, value: Option<&str>) -> Result<Option<bool>> {
        match value.map(str::to_ascii_lowercase).as_deref() {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(invalid(name, format!("`{other}` is neither true nor false"))),
        }
    }
}

/// What Hadoop's settings say of a store.
#[derive(Default)]
pub(crate) struct Mapped {
    /// Options by the names of the crate `object_store`.
    pub(crate) options: BTreeMap<&'static str, String>,
    /// Whether they name the credentials to use, so that those of the environment are ignored, except these.
    pub(crate) credentials: Option<&'static [&'static str]>,
    /// Whether a class of Java gives the credentials: the error where there is no JVM that can ask it.
    pub(crate) jvm: Option<Error>,
}

impl Mapped {
    pub(super) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.options.insert(name, value.into());
    }

    /// Leaves the credentials to a class of Java.
    pub(super) fn ask_jvm(&mut self, setting: &str, reason: impl Into<String>) {
        self.credentials = Some(&[]);
        self.jvm = Some(invalid(setting, reason));
    }

    /// Sets an option to the value of a setting, if it has one.
    pub(super) fn copy(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }
}

/// A setting whose value is refused.
pub(super) fn invalid(name: &str, reason: impl Into<String>) -> Error {
    Error::InvalidArgument { argument: name.to_owned(), reason: reason.into() }
}

/// The last part of the name of a Java class.
pub(super) fn simple_name(class: &str) -> &str {
    class.rsplit(['.', '$']).next().unwrap_or(class)
}

#[cfg(test)]
pub(super) fn settings<const N: usize>(given: [(&str, &str); N]) -> Settings {
    Settings::among(&given.into_iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect())
}
