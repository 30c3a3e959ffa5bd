use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::error::{Error, Result};

/// What names of options have whose values are secrets, of stores, of Hadoop's file systems and of proxies, and what a
/// value has that is one itself: credentials in a URL, which the container of `abfss://container@account` is not. Java's
/// regular expressions read it alike: Spark hides by it.
pub const SECRETS: &str = "(?i)secret|password|passphrase|token|credential|bearer|authorization\
|(account|access|master|encryption|customer|private|shared|api|sas)[_.-]?key|\\bsas[.]|service_account|proxy_?url\
|://[^/?#]*:[^/?#]*@|\\b(s3[an]?|gs|https?)://[^/?#]*@|[?&]sig=";

/// One that did not compile would hide everything.
static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(SECRETS).ok());

/// Schemes of URLs that name the container before an `@`.
const CONTAINER_FIRST: [&str; 4] = ["abfs", "abfss", "wasb", "wasbs"];

/// Whether the value of an option of a store is a secret, by its name. In doubt it is.
pub fn is_secret(option: &str) -> bool {
    PATTERN.as_ref().is_none_or(|p| p.is_match(option))
}

/// Options of a store: credentials, region, endpoint; the keys of the `object_store` crate, or the settings of Hadoop's file
/// systems (`fs.s3a.*`, `fs.azure.*`, `fs.gs.*`). `Debug` shows no secret. Serialized they are whole.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StorageOptions(BTreeMap<String, String>);

impl StorageOptions {
    /// No options: the environment decides.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more option; the last value of a name counts.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }
}

impl From<BTreeMap<String, String>> for StorageOptions {
    fn from(options: BTreeMap<String, String>) -> Self {
        StorageOptions(options)
    }
}

impl FromIterator<(String, String)> for StorageOptions {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(options: I) -> Self {
        StorageOptions(options.into_iter().collect())
    }
}

impl Extend<(String, String)> for StorageOptions {
    fn extend<I: IntoIterator<Item = (String, String)>>(&mut self, options: I) {
        self.0.extend(options);
    }
}

impl IntoIterator for StorageOptions {
    type Item = (String, String);
    type IntoIter = std::collections::btree_map::IntoIter<String, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Deref for StorageOptions {
    type Target = BTreeMap<String, String>;

    fn deref(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

impl fmt::Debug for StorageOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.iter().map(|(name, value)| {
            let hidden = is_secret(name) || PATTERN.as_ref().is_none_or(|p| p.is_match(value));
            (name, if hidden { "<secret>" } else { value.as_str() })
        });
        f.debug_map().entries(shown).finish()
    }
}

/// Checks that secrets can be sent: a line break, as files have at their end, is in none of a header's values.
///
/// # Errors
/// [`Error::InvalidArgument`] by the name of the option.
pub(super) fn check_options<'a>(options: impl IntoIterator<Item = (&'a String, &'a String)>) -> Result<()> {
    // the key of a service account is JSON
    let sent = |name: &str| is_secret(name) && !name.to_ascii_lowercase().contains("service_account");
    match options.into_iter().find(|(name, value)| sent(name) && value.contains(char::is_control)) {
        Some((name, _)) => Err(Error::InvalidArgument {
            argument: name.clone(),
            reason: "the value has a control character, such as a line break at its end".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Checks that a URL is only a location: anything else in it would be shown wherever the table is named.
///
/// # Errors
/// [`Error::InvalidArgument`], which does not repeat the secret.
pub(super) fn check_url(url: &Url) -> Result<()> {
    let container = CONTAINER_FIRST.contains(&url.scheme()) && url.password().is_none();
    let reason = if !container && (!url.username().is_empty() || url.password().is_some()) {
        "the URL has credentials, which every message and plan would show: give them in the options of the store, or in \
         the environment"
    } else if url.query().is_some() {
        "the URL has a query, which is not part of a table's location: give a signature or token in the options of the \
         store, such as `azure_storage_sas_key`; a `?` of a name is `%3F`"
    } else if url.fragment().is_some() {
        "the URL has a fragment, which is not part of a table's location; a `#` of a name is `%23`"
    } else {
        return Ok(());
    };
    Err(Error::InvalidArgument { argument: without_secrets(url.as_str()), reason: reason.to_owned() })
}

/// A URL, which may be no right one, without credentials, query and fragment.
pub(super) fn without_secrets(uri: &str) -> String {
    let Some((scheme, rest)) = uri.split_once("://") else { return uri.to_owned() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    // a password may have a slash, which belongs into an URL escaped
    let (authority, path) = match path.rsplit_once('@') {
        Some((_, after)) if authority.contains(':') => (after, ""),
        _ => (authority.rsplit_once('@').map_or(authority, |(_, host)| host), path),
    };
    format!("{scheme}://{authority}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_is_known_by_its_name() {
        for name in [
            "aws_secret_access_key",
            "secret_access_key",
            "aws_access_key_id",
            "AWS_SESSION_TOKEN",
            "token",
            "aws_sse_customer_key_base64",
            "aws_container_authorization_token_file",
            "azure_storage_account_key",
            "azure_storage_access_key",
            "azure_storage_master_key",
            "azure_storage_sas_key",
            "azure_storage_sas_token",
            "sas_key",
            "azure_storage_client_secret",
            "azure_storage_encryption_key",
            "azure_fabric_session_token",
            "bearer_token",
            "google_service_account",
            "google_service_account_key",
            "google_application_credentials",
            "google_bearer_token",
            "proxy_url",
            "fs.azure.account.key.a.dfs.core.windows.net",
            "fs.azure.sas.c.a.blob.core.windows.net",
            "fs.azure.account.oauth2.client.secret",
            "fs.gs.auth.service.account.private.key",
            "fs.s3a.access.key",
            "fs.s3a.secret.key",
            "fs.s3a.proxy.password",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in
            ["aws_region", "endpoint", "aws_bucket", "allow_http", "path", "mergeSchema", "fs.s3a.endpoint"]
        {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn options_show_what_is_no_secret() {
        let options = [("aws_region", "eu"), ("token", "PLANTED"), ("aws_endpoint", "http://u:PLANTED@h")];
        let options: StorageOptions =
            options.map(|(n, v)| (n.to_owned(), v.to_owned())).into_iter().collect();
        let shown = format!("{options:?}");
        assert!(
            shown.contains("\"eu\"") && shown.contains("aws_endpoint") && !shown.contains("PLANTED"),
            "{shown}"
        );
    }

    #[test]
    fn a_value_is_a_secret_where_it_is_a_url_with_one() {
        for value in
            ["s3://KEY:SECRET@b/t", "s3a://KEY@b/t", "abfss://c:SECRET@a.net/t", "https://h/t?a=b&sig=SECRET"]
        {
            assert!(is_secret(value), "{value}");
        }
        for value in ["s3://b/t", "abfss://c@a.dfs.core.windows.net/t", "wasbs://c@a.net/t", "gs://b/a@b"] {
            assert!(!is_secret(value), "{value}");
        }
    }

    #[test]
    fn a_url_loses_its_secrets() {
        for (uri, shown) in [
            ("s3://KEY:SECRET@b/t", "s3://b/t"),
            ("s3://KEY:SE/CR@ET@b/t", "s3://b/t"),
            ("https://h/t?sig=SECRET#SECRET", "https://h/t"),
            ("https://h?sig=SECRET", "https://h"),
            ("s3://b/a@b", "s3://b/a@b"),
            ("/a?b", "/a?b"),
        ] {
            assert_eq!(without_secrets(uri), shown, "{uri}");
        }
    }

    #[test]
    fn a_container_before_the_account_is_no_secret() {
        assert!(check_url(&Url::parse("abfss://c@a.dfs.core.windows.net/t").unwrap()).is_ok());
        for uri in [
            "abfss://c:SECRET@a.dfs.core.windows.net/t",
            "s3://SECRET@b/t",
            "gs://b/t?SECRET",
            "gs://b/t#SECRET",
        ] {
            let refused = check_url(&Url::parse(uri).unwrap()).unwrap_err().to_string();
            assert!(!refused.contains("SECRET"), "{refused}");
        }
    }
}
