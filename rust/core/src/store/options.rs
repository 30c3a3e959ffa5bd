//! With which options the store of a URL is opened.

use url::Url;

use super::credentials::{CREDENTIALS, SESSION_CREDENTIALS};
use super::hadoop::{self, Mapped, Settings};
use super::names::Options;
use super::secrets::check_options;
use super::{ALLOWED_LOCATIONS, StorageOptions};
use crate::error::{Error, Result};

/// Options by the names of the crate `object_store`, a later one before an earlier one of the same name, and who gives
/// the credentials.
pub(super) struct Chosen {
    pub(super) options: Vec<(String, String)>,
    pub(super) credentials: Origin,
}

/// Who gives the credentials of a store.
pub(super) enum Origin {
    /// The options, or what they tell `object_store` to ask.
    Options,
    /// The source that is registered under this name.
    Source(String),
    /// A profile of AWS's files by its name, or the one that they have for all, if it has any.
    Profile(Option<String>),
    /// A class that only a JVM can call. The error is for a process without one.
    Jvm(Error),
}

/// The options of a store: the environment, then Hadoop's settings among those given, then the others that are given.
/// Credentials are of one of the three, and so is an endpoint: a key that is given is not sent with a token of the
/// environment. A source of credentials goes before all keys.
///
/// # Errors
/// [`Error::InvalidArgument`] by the name of a setting of Hadoop that cannot be followed, or of an option whose value
/// cannot be sent.
pub(super) fn store_options(
    url: &Url,
    given: &StorageOptions,
    environment: impl Iterator<Item = (String, String)>,
) -> Result<Chosen> {
    let store = Options::of_scheme(url.scheme());
    let mut all: Vec<(String, String)> = environment
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .filter(|(name, _)| store.is_some_and(|store| store.is_variable(name)))
        .collect();
    let settings = Settings::among(given);
    let mapped = match url.scheme() {
        "s3" | "s3a" | "s3n" => {
            let set = |name: &str| all.iter().any(|(n, _)| n == name);
            hadoop::s3a(&settings, url.host_str().unwrap_or_default(), set)?
        }
        "gs" => hadoop::gcs(&settings)?,
        _ if store.is_some() => hadoop::azure(&settings, url)?,
        _ => Mapped::default(),
    };
    let is_credential =
        |name: &str| store.is_some_and(|store| store.has(&store.credentials, &name.to_ascii_lowercase()));
    if let Some(kept) = mapped.credentials {
        all.retain(|(name, _)| kept.contains(&name.as_str()) || !is_credential(name));
    }
    let (jvm, may_be_profile) = (mapped.jvm, mapped.credentials.is_none_or(hadoop::is_default_chain));
    let mapped: StorageOptions =
        mapped.options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    check_options(mapped.iter())?;
    let others: StorageOptions = given
        .iter()
        .filter(|(name, _)| ![ALLOWED_LOCATIONS, CREDENTIALS, SESSION_CREDENTIALS].contains(&name.as_str()))
        .filter(|(name, _)| !hadoop::is_setting(name))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()))
        .collect();
    check_options(others.iter())?;
    let has_keys = others.keys().any(|name| is_credential(name));
    let of_session = given.get(SESSION_CREDENTIALS).filter(|_| !has_keys);
    let credentials = match (given.get(CREDENTIALS).or(of_session), jvm) {
        (Some(source), _) => Origin::Source(source.clone()),
        (None, Some(error)) if !has_keys => Origin::Jvm(error),
        _ => Origin::Options,
    };
    for said in [mapped, others] {
        put_above(&mut all, said, store);
    }
    let of_s3 = matches!(url.scheme(), "s3" | "s3a" | "s3n");
    let has_keys = all.iter().any(|(name, _)| store.is_some_and(|s| s.decides(&s.credentials, name)));
    let profile = all.iter().rfind(|(name, _)| ["aws_profile", "profile"].contains(&name.as_str()));
    let credentials = match (credentials, profile) {
        (Origin::Options, profile) if of_s3 && may_be_profile && !has_keys => {
            Origin::Profile(profile.map(|(_, name)| name.clone()))
        }
        (origin, _) => origin,
    };
    if !matches!(credentials, Origin::Options | Origin::Profile(_)) {
        all.retain(|(name, _)| !is_credential(name));
    }
    Ok(Chosen { options: all, credentials })
}

fn put_above(all: &mut Vec<(String, String)>, said: StorageOptions, store: Option<&Options>) {
    if let Some(store) = store {
        for group in [&store.credentials, &store.endpoint] {
            if said.keys().any(|name| store.decides(group, name)) {
                all.retain(|(name, _)| !store.has(group, name));
            }
        }
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

/// Which server of a scheme answers, as far as options of the crate `object_store` say it.
pub(super) fn served_by(scheme: &str, options: &[(String, String)]) -> String {
    let Some(store) = Options::of_scheme(scheme) else { return String::new() };
    let mut found: Vec<String> = options
        .iter()
        .map(|(name, value)| (store.plain(name), value))
        .filter(|(name, _)| SERVER.contains(name))
        .map(|(name, value)| format!("{name}={value}"))
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
        store_options(&Url::parse(url).unwrap(), &given, environment).unwrap().options
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
    fn a_server_differs_from_another_of_the_same_bucket() {
        let at = |endpoint| {
            let given =
                [("aws_endpoint", endpoint), ("aws_secret_access_key", "s"), ("aws_access_key_id", "k")];
            served_by("s3", &of("s3://b/t", &given, &[]))
        };
        assert_eq!(at("http://one"), "endpoint=http://one");
        assert_ne!(at("http://one"), at("http://two"));
        // by Hadoop's name, too
        let hadoops = [("fs.s3a.endpoint", "http://one"), ("fs.s3a.path.style.access", "true")];
        let hadoops = of("s3a://b/t", &hadoops, &[]);
        assert_eq!(served_by("s3a", &hadoops), at("http://one"));
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
    fn options_of_another_store_decide_nothing() {
        let environment =
            [("AWS_ENDPOINT", "http://env"), ("AWS_ACCESS_KEY_ID", "env"), ("AZURE_REGION", "x")];
        let found = of(
            "s3://b/t",
            &[("azure_endpoint", "http://azure"), ("google_skip_signature", "true")],
            &environment,
        );
        let expected = [
            ("aws_endpoint", "http://env"),
            ("aws_access_key_id", "env"),
            ("azure_endpoint", "http://azure"),
            ("google_skip_signature", "true"),
        ];
        assert_eq!(texts(&found), expected);
    }

    #[test]
    fn a_source_of_credentials_goes_before_all_keys() {
        let environment =
            [("AWS_ACCESS_KEY_ID", "env"), ("AWS_REGION", "eu")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        let given =
            [("fs.s3a.access.key", "h"), ("fs.s3a.secret.key", "h"), ("token", "own"), (CREDENTIALS, "f")];
        let given = given.map(|(n, v)| (n.to_owned(), v.to_owned())).into_iter().collect();
        let url = Url::parse("s3://b/t").unwrap();
        let found = store_options(&url, &given, environment.into_iter()).unwrap();
        assert_eq!(texts(&found.options), [("aws_region", "eu")]);
        assert!(matches!(found.credentials, Origin::Source(name) if name == "f"));
    }

    #[test]
    fn keys_that_are_given_go_before_a_source_of_the_session() {
        let of = |given: &[(&str, &str)]| {
            let given = given.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            store_options(&Url::parse("s3://b/t").unwrap(), &given, std::iter::empty()).unwrap()
        };
        let (session, hadoops) = ((SESSION_CREDENTIALS, "f"), ("fs.s3a.access.key", "h"));
        assert!(matches!(of(&[session, hadoops]).credentials, Origin::Source(name) if name == "f"));
        let keys = of(&[session, ("access_key_id", "own"), ("secret_access_key", "own")]);
        assert!(matches!(keys.credentials, Origin::Options));
        assert_eq!(texts(&keys.options), [("access_key_id", "own"), ("secret_access_key", "own")]);
    }

    #[test]
    fn a_profile_is_asked_where_there_are_no_keys() {
        let of = |url: &str, given: &[(&str, &str)], environment: &[(&str, &str)]| {
            let given = given.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            let environment = environment.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
            store_options(&Url::parse(url).unwrap(), &given, environment).unwrap().credentials
        };
        let named = [("AWS_PROFILE", "env")];
        assert!(matches!(of("s3://b/t", &[], &[]), Origin::Profile(None)));
        assert!(matches!(of("s3a://b/t", &[], &named), Origin::Profile(Some(name)) if name == "env"));
        let own = of("s3://b/t", &[("aws_profile", "own")], &named);
        assert!(matches!(own, Origin::Profile(Some(name)) if name == "own"));
        let keys = [("AWS_ACCESS_KEY_ID", "env"), ("AWS_SECRET_ACCESS_KEY", "env"), named[0]];
        assert!(matches!(of("s3://b/t", &[], &keys), Origin::Options));
        // Hadoop's settings name another source
        let instance = [("fs.s3a.aws.credentials.provider", "IAMInstanceCredentialsProvider")];
        assert!(matches!(of("s3://b/t", &instance, &named), Origin::Options));
        let chain = [("fs.s3a.aws.credentials.provider", "DefaultCredentialsProvider")];
        assert!(matches!(of("s3://b/t", &chain, &named), Origin::Profile(Some(_))));
        assert!(matches!(of("gs://b/t", &[], &named), Origin::Options));
    }

    #[test]
    fn keys_that_are_given_go_before_a_class_of_java() {
        let class = ("fs.s3a.aws.credentials.provider", "com.example.Vault");
        let of = |given: &[(&str, &str)]| {
            let given = given.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            store_options(&Url::parse("s3://b/t").unwrap(), &given, std::iter::empty()).unwrap()
        };
        let Origin::Jvm(error) = of(&[class]).credentials else { panic!("not of the JVM") };
        assert!(error.to_string().contains("com.example.Vault"), "{error}");
        let keys = [class, ("access_key_id", "own"), ("secret_access_key", "own")];
        assert!(matches!(of(&keys).credentials, Origin::Options));
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
