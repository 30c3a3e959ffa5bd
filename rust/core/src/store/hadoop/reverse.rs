use url::Url;

use super::settings::is_setting;
use crate::error::Result;
use crate::store::StorageOptions;
use crate::store::credentials::{CREDENTIALS, SESSION_CREDENTIALS};
use crate::store::names::{self, AZURE, GCS, Given, S3};
use crate::store::opened::options_to_send;

const PROVIDERS: &str = "org.apache.hadoop.fs.s3a.";
const ABFS: &str = "org.apache.hadoop.fs.azurebfs.oauth2.";

/// Hadoop's settings that say of a place what the options of a store say: for Spark, which reads and writes data files by
/// Hadoop's file systems. Settings of Hadoop among the options stay; what has no name in Hadoop is left out. A source of
/// credentials gives those that are valid now, for a client of this one read or write: Hadoop would keep it, with them.
///
/// # Errors
/// [`Error::Credentials`](crate::error::Error::Credentials).
pub fn hadoop_settings(uri: &str, options: &StorageOptions) -> Result<StorageOptions> {
    let own = || options.iter().filter(|(n, _)| is_setting(n)).map(|(n, v)| (n.clone(), v.clone())).collect();
    let Ok(url) = Url::parse(uri) else { return Ok(own()) };
    if ![CREDENTIALS, SESSION_CREDENTIALS].iter().any(|name| options.contains_key(*name)) {
        return Ok(of_url(&url, options));
    }
    let mut said = of_url(&url, &options_to_send(uri, options)?);
    said.insert(format!("fs.{}.impl.disable.cache", url.scheme()), "true");
    Ok(said)
}

fn of_url(url: &Url, options: &StorageOptions) -> StorageOptions {
    let given = |store| Given::new(store, options);
    let mut said = match url.scheme() {
        "s3" | "s3a" | "s3n" => s3a(&given(S3), url.host_str().unwrap_or_default()),
        "abfs" | "abfss" | "wasb" | "wasbs" => azure(&given(AZURE), url),
        "gs" => gcs(&given(GCS)),
        _ => StorageOptions::new(),
    };
    said.extend(options.iter().filter(|(n, _)| is_setting(n)).map(|(n, v)| (n.clone(), v.clone())));
    said
}

/// Settings of one bucket go before those of all: so these do.
fn s3a(given: &Given<'_>, bucket: &str) -> StorageOptions {
    use names::s3::{ENDPOINT, HOSTED, KEY_ID, PAYER, REGION, SECRET, TOKEN, UNSIGNED};
    let mut said = StorageOptions::new();
    let mut set = |name: &str, value: &str| said.insert(format!("fs.s3a.bucket.{bucket}.{name}"), value);
    if let (Some(id), Some(secret)) = (given.first(KEY_ID), given.first(SECRET)) {
        set("access.key", id);
        set("secret.key", secret);
        let provider = match given.first(TOKEN) {
            Some(token) => {
                set("session.token", token);
                "TemporaryAWSCredentialsProvider"
            }
            None => "SimpleAWSCredentialsProvider",
        };
        set("aws.credentials.provider", &format!("{PROVIDERS}{provider}"));
    } else if given.is_true(UNSIGNED) {
        set("aws.credentials.provider", &format!("{PROVIDERS}AnonymousAWSCredentialsProvider"));
    }
    if let Some(endpoint) = given.first(ENDPOINT) {
        let hosted = given.is_true(HOSTED);
        // there it has the bucket, which Hadoop puts before it
        let plain =
            if hosted { endpoint.replacen(&format!("://{bucket}."), "://", 1) } else { endpoint.to_owned() };
        set("endpoint", &plain);
        set("path.style.access", if hosted { "false" } else { "true" });
        set("connection.ssl.enabled", if endpoint.starts_with("http:") { "false" } else { "true" });
    }
    if let Some(region) = given.first(REGION) {
        set("endpoint.region", region);
    }
    if given.is_true(PAYER) {
        set("requester.pays.enabled", "true");
    }
    said
}

fn azure(given: &Given<'_>, url: &Url) -> StorageOptions {
    use names::azure::{AUTHORITY, CLIENT, KEY, SECRET, SIGNATURE, TENANT};
    let mut said = StorageOptions::new();
    let host = url.host_str().unwrap_or_default();
    let mut set = |name: &str, value: &str| said.insert(format!("fs.azure.{name}.{host}"), value);
    if let Some(key) = given.first(KEY) {
        set("account.auth.type", "SharedKey");
        set("account.key", key);
    } else if let Some(signature) = given.first(SIGNATURE) {
        set("account.auth.type", "SAS");
        set("sas.fixed.token", signature);
    } else if let (Some(secret), Some(tenant)) = (given.first(SECRET), given.first(TENANT)) {
        let host =
            given.first(AUTHORITY).unwrap_or("https://login.microsoftonline.com").trim_end_matches('/');
        set("account.auth.type", "OAuth");
        set("account.oauth.provider.type", &format!("{ABFS}ClientCredsTokenProvider"));
        if let Some(id) = given.first(CLIENT) {
            set("account.oauth2.client.id", id);
        }
        set("account.oauth2.client.secret", secret);
        set("account.oauth2.client.endpoint", &format!("{host}/{tenant}/oauth2/token"));
    }
    said
}

fn gcs(given: &Given<'_>) -> StorageOptions {
    use names::gcs::{FILE, ROOT, UNSIGNED};
    let mut said = StorageOptions::new();
    let mut set = |name: &str, value: &str| said.insert(format!("fs.gs.{name}"), value);
    if let Some(file) = given.first(FILE) {
        set("auth.type", "SERVICE_ACCOUNT_JSON_KEYFILE");
        set("auth.service.account.json.keyfile", file);
    } else if given.is_true(UNSIGNED) {
        set("auth.type", "UNAUTHENTICATED");
    }
    if let Some(root) = given.first(ROOT) {
        set("storage.root.url", &format!("{}/", root.trim_end_matches('/')));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::super::settings::Settings;
    use super::super::{azure as from_azure, gcs as from_gcs, s3a as from_s3a};
    use super::*;

    fn options(given: &[(&str, &str)]) -> StorageOptions {
        given.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
    }

    /// The settings that Hadoop would get, translated back into ours.
    fn there_and_back(url: &str, given: &[(&str, &str)]) -> StorageOptions {
        let url = Url::parse(url).unwrap();
        let settings = Settings::among(&hadoop_settings(url.as_str(), &options(given)).unwrap());
        let mapped = match url.scheme() {
            "s3a" => from_s3a(&settings, url.host_str().unwrap(), |_| false),
            "gs" => from_gcs(&settings),
            _ => from_azure(&settings, &url),
        };
        mapped.unwrap().options.into_iter().map(|(n, v)| (n.to_owned(), v)).collect()
    }

    #[test]
    fn hadoop_gets_the_same_settings() {
        for (url, given) in [
            (
                "s3a://b/t",
                vec![
                    ("aws_access_key_id", "id"),
                    ("aws_secret_access_key", "secret"),
                    ("aws_session_token", "token"),
                    ("aws_endpoint", "http://127.0.0.1:7070"),
                    ("aws_allow_http", "true"),
                    ("aws_virtual_hosted_style_request", "false"),
                    ("aws_region", "eu"),
                    ("aws_request_payer", "true"),
                ],
            ),
            (
                "s3a://b/t",
                vec![("aws_endpoint", "https://b.minio:9000"), ("aws_virtual_hosted_style_request", "true")],
            ),
            ("s3a://b/t", vec![("aws_skip_signature", "true")]),
            ("abfss://c@a.dfs.core.windows.net/t", vec![("azure_storage_account_key", "key")]),
            ("wasbs://c@a.blob.core.windows.net/t", vec![("azure_storage_sas_key", "s")]),
            (
                "abfss://c@a.dfs.core.windows.net/t",
                vec![
                    ("azure_storage_client_id", "id"),
                    ("azure_storage_client_secret", "secret"),
                    ("azure_storage_tenant_id", "tenant"),
                    ("azure_storage_authority_host", "https://login.microsoftonline.com"),
                ],
            ),
            ("gs://b/t", vec![("google_service_account", "/key.json")]),
            (
                "gs://b/t",
                vec![
                    ("allow_http", "true"),
                    ("google_base_url", "http://127.0.0.1:4443"),
                    ("google_skip_signature", "true"),
                ],
            ),
        ] {
            assert_eq!(there_and_back(url, &given), options(&given), "{url}");
        }
    }

    #[test]
    fn settings_of_hadoop_stay() {
        let given = [("fs.s3a.fast.upload.buffer", "bytebuffer"), ("aws_region", "eu")];
        let said = hadoop_settings("s3a://b/t", &options(&given)).unwrap();
        let expected =
            [("fs.s3a.bucket.b.endpoint.region", "eu"), ("fs.s3a.fast.upload.buffer", "bytebuffer")];
        assert_eq!(said, options(&expected));
        let said = hadoop_settings("/t", &options(&given)).unwrap();
        assert_eq!(said, options(&given[..1]));
    }

    #[test]
    fn names_of_another_store_say_nothing() {
        let given =
            [("azure_endpoint", "http://azure"), ("google_skip_signature", "true"), ("aws_region", "eu")];
        let said = hadoop_settings("s3a://b/t", &options(&given)).unwrap();
        assert_eq!(said, options(&[("fs.s3a.bucket.b.endpoint.region", "eu")]));
    }
}
