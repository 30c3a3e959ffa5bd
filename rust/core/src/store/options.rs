//! With which options the store of a URL is opened.

use url::Url;

use super::hadoop::{self, Mapped, Settings};
use super::secrets::check_options;
use super::{ALLOWED_LOCATIONS, StorageOptions};
use crate::error::Result;

/// Options that belong together: if one of the first list is given, other sources of both lists are ignored.
struct Group {
    /// Names that decide, without the prefix of the store.
    decide: &'static [&'static str],
    /// Names that only add to those.
    add: &'static [&'static str],
}

const S3: &[Group] = &[
    Group {
        decide: &[
            "access_key_id",
            "secret_access_key",
            "skip_signature",
            "web_identity_token_file",
            "container_credentials_relative_uri",
            "container_credentials_full_uri",
        ],
        add: &[
            "session_token",
            "token",
            "role_arn",
            "role_session_name",
            "endpoint_url_sts",
            "container_authorization_token_file",
        ],
    },
    Group {
        decide: &["endpoint", "endpoint_url", "endpoint_url_s3"],
        add: &["virtual_hosted_style_request", "allow_http"],
    },
];
const AZURE: &[Group] = &[
    Group {
        decide: &[
            "account_key",
            "access_key",
            "master_key",
            "client_secret",
            "sas_key",
            "sas_token",
            "token",
            "bearer_token",
            "federated_token_file",
            "skip_signature",
            "use_azure_cli",
            "credential_type",
        ],
        add: &[
            "client_id",
            "tenant_id",
            "authority_id",
            "authority_host",
            "msi_endpoint",
            "object_id",
            "msi_resource_id",
        ],
    },
    Group { decide: &["endpoint", "use_emulator"], add: &["allow_http"] },
];
const GCS: &[Group] = &[
    Group {
        decide: &[
            "service_account",
            "service_account_path",
            "service_account_key",
            "application_credentials",
            "bearer_token",
            "skip_signature",
        ],
        add: &[],
    },
    Group { decide: &["base_url"], add: &["allow_http"] },
];
const PREFIXES: [&str; 4] = ["azure_storage_", "azure_", "aws_", "google_"];

impl Group {
    fn decides(&self, name: &str) -> bool {
        self.decide.contains(&plain(name))
    }

    fn has(&self, name: &str) -> bool {
        self.decides(name) || self.add.contains(&plain(name))
    }
}

/// The name of an option without the prefix of its store.
fn plain(name: &str) -> &str {
    PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// The options by the names of the crate `object_store`, a later one before an earlier one of the same name: the
/// environment, then Hadoop's settings among those given, then the others that are given. Credentials are of one of the
/// three, and so is an endpoint: a key that is given is not sent with a token of the environment.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) by the name of a setting of Hadoop that cannot be
/// followed, or of an option whose value cannot be sent.
pub(super) fn store_options(
    url: &Url,
    given: &StorageOptions,
    environment: impl Iterator<Item = (String, String)>,
) -> Result<Vec<(String, String)>> {
    let mut all: Vec<(String, String)> = environment
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .filter(|(name, _)| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    let settings = Settings::among(given);
    let (groups, mapped) = match url.scheme() {
        "s3" | "s3a" | "s3n" => {
            let set = |name: &str| all.iter().any(|(n, _)| n == name);
            (S3, hadoop::s3a(&settings, url.host_str().unwrap_or_default(), set)?)
        }
        "abfs" | "abfss" | "wasb" | "wasbs" | "az" | "adl" | "azure" => {
            (AZURE, hadoop::azure(&settings, url)?)
        }
        "gs" => (GCS, hadoop::gcs(&settings)?),
        _ => (&[][..], Mapped::default()),
    };
    if let Some(kept) = mapped.credentials {
        let credentials = groups.first();
        all.retain(|(name, _)| {
            kept.contains(&name.as_str()) || credentials.is_none_or(|group| !group.has(name))
        });
    }
    let mapped: StorageOptions =
        mapped.options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    check_options(mapped.iter())?;
    let others: StorageOptions = given
        .iter()
        .filter(|(name, _)| *name != ALLOWED_LOCATIONS && !hadoop::is_setting(name))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()))
        .collect();
    check_options(others.iter())?;
    for said in [mapped, others] {
        put_above(&mut all, said, groups);
    }
    Ok(all)
}

fn put_above(all: &mut Vec<(String, String)>, said: StorageOptions, groups: &[Group]) {
    for group in groups.iter().filter(|group| said.keys().any(|name| group.decides(name))) {
        all.retain(|(name, _)| !group.has(name));
    }
    all.extend(said);
}

/// Names of options, without the prefix of the store, that decide which server answers and how it is asked to write.
const SERVER: [&str; 12] = [
    "account_name",
    "base_url",
    "bucket_name",
    "conditional_put",
    "container_name",
    "default_region",
    "endpoint",
    "endpoint_url",
    "endpoint_url_s3",
    "proxy_url",
    "region",
    "use_emulator",
];

/// Which server answers, as far as options of the crate `object_store` say it.
pub(super) fn served_by(options: &[(String, String)]) -> String {
    let mut found: Vec<String> = options
        .iter()
        .filter(|(name, _)| SERVER.contains(&plain(name)))
        .map(|(name, value)| format!("{}={value}", plain(name)))
        .collect();
    found.sort();
    found.join(" ")
}

/// The URL as the crate `object_store` knows it: `s3n` is `s3`, and WASB is ABFS.
pub(super) fn known_url(url: &Url) -> Option<Url> {
    let text = match url.scheme() {
        "s3n" => url.as_str().replacen("s3n:", "s3:", 1),
        "wasb" | "wasbs" => {
            let host = url.host_str()?;
            let text = url.as_str().replacen(url.scheme(), "abfss", 1);
            text.replacen(host, &host.replacen(".blob.", ".dfs.", 1), 1)
        }
        _ => return Some(url.clone()),
    };
    Url::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, given: &[(&str, &str)], environment: &[(&str, &str)]) -> Vec<(String, String)> {
        let given = given.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let environment = environment.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        store_options(&Url::parse(url).unwrap(), &given, environment).unwrap()
    }

    fn texts(found: &[(String, String)]) -> Vec<(&str, &str)> {
        found.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect()
    }

    #[test]
    fn keys_are_never_sent_with_the_token_of_others() {
        let environment = [
            ("AWS_ACCESS_KEY_ID", "env"),
            ("AWS_SECRET_ACCESS_KEY", "env"),
            ("AWS_SESSION_TOKEN", "env"),
            ("AWS_REGION", "eu"),
            ("HOME", "/"),
        ];
        let own = [("access_key_id", "own"), ("secret_access_key", "own")];
        let expected = [("aws_region", "eu"), ("access_key_id", "own"), ("secret_access_key", "own")];
        assert_eq!(texts(&of("s3://b/t", &own, &environment)), expected);
        let hadoops = [("fs.s3a.access.key", "h"), ("fs.s3a.secret.key", "h")];
        let expected = [("aws_region", "eu"), ("aws_access_key_id", "h"), ("aws_secret_access_key", "h")];
        assert_eq!(texts(&of("s3a://b/t", &hadoops, &environment)), expected);
        let both = [hadoops[0], hadoops[1], own[0], own[1]];
        assert_eq!(of("s3n://b/t", &both, &environment), of("s3n://b/t", &own, &environment));
    }

    #[test]
    fn a_server_is_told_from_another_of_the_same_bucket() {
        let at = |endpoint| {
            let given =
                [("aws_endpoint", endpoint), ("aws_secret_access_key", "s"), ("aws_access_key_id", "k")];
            served_by(&of("s3://b/t", &given, &[]))
        };
        assert_eq!(at("http://one"), "endpoint=http://one");
        assert_ne!(at("http://one"), at("http://two"));
        // by Hadoop's name, too
        let hadoops = of("s3a://b/t", &[("fs.s3a.endpoint", "http://one")], &[]);
        assert_eq!(served_by(&hadoops), at("http://one"));
    }

    #[test]
    fn an_endpoint_goes_before_that_of_others() {
        let environment = [("AWS_ENDPOINT_URL_S3", "http://env"), ("AWS_ALLOW_HTTP", "true")];
        let hadoops = [("fs.s3a.endpoint", "https://10.0.0.1"), ("fs.s3a.path.style.access", "true")];
        let expected = [("aws_endpoint", "https://10.0.0.1"), ("aws_virtual_hosted_style_request", "false")];
        assert_eq!(texts(&of("s3://b/t", &hadoops, &environment)), expected);
        let found = of("s3://b/t", &[hadoops[0], ("endpoint", "https://own")], &environment);
        assert_eq!(texts(&found), [("endpoint", "https://own")]);
    }

    #[test]
    fn each_store_reads_its_own_settings() {
        let all = [
            ("fs.s3a.access.key", "s3"),
            ("fs.s3a.secret.key", "s3"),
            ("fs.azure.account.key.a.dfs.core.windows.net", "azure"),
            ("fs.gs.auth.service.account.json.keyfile", "gcs"),
        ];
        for (url, value) in [
            ("s3://b/t", "s3"),
            ("abfss://c@a.dfs.core.windows.net/t", "azure"),
            ("wasbs://c@a.blob.core.windows.net/t", "azure"),
            ("gs://b/t", "gcs"),
        ] {
            let found = of(url, &all, &[]);
            assert!(!found.is_empty() && found.iter().all(|(_, v)| v == value), "{url}: {found:?}");
        }
        assert!(of("https://h/t", &all, &[]).is_empty());
    }

    #[test]
    fn names_of_hadoop_are_known() {
        for (url, known) in [
            ("s3n://b/t", "s3://b/t"),
            ("wasbs://c@a.blob.core.windows.net/t", "abfss://c@a.dfs.core.windows.net/t"),
            ("wasb://c@a.blob.core.windows.net/t", "abfss://c@a.dfs.core.windows.net/t"),
            ("gs://b/t", "gs://b/t"),
        ] {
            assert_eq!(known_url(&Url::parse(url).unwrap()).unwrap().as_str(), known);
        }
    }
}
