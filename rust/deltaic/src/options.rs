use std::fmt;

use crate::core;

/// Options of a store: credentials, region, endpoint, by the keys of the `object_store` crate, such as `aws_region`; and
/// `allowed_locations`, which says where a log may name files that are read: `any`, `table-only`, or locations with commas
/// between them.
///
/// No value is ever shown: `Debug` prints the keys only.
///
/// # Examples
///
/// ```
/// use deltaic::StorageOptions;
///
/// let options = StorageOptions::new().with("aws_secret_access_key", "hidden").with("aws_region", "eu-central-1");
/// assert_eq!(format!("{options:?}"), r#"StorageOptions {"aws_region", "aws_secret_access_key"}"#);
/// ```
#[derive(Clone, Default)]
pub struct StorageOptions(pub(crate) core::StorageOptions);

impl StorageOptions {
    /// No options: what the environment says counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same options and one more; the last value of a key counts.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.insert(key.into(), value.into());
        self
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for StorageOptions {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(options: I) -> Self {
        StorageOptions(options.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl fmt::Debug for StorageOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StorageOptions ")?;
        f.debug_set().entries(self.0.keys()).finish()
    }
}
