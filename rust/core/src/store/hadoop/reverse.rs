use std::collections::BTreeMap;

use url::Url;

use super::settings::is_setting;
use crate::store::StorageOptions;

const PROVIDERS: &str = "org.apache.hadoop.fs.s3a.";
const ABFS: &str = "org.apache.hadoop.fs.azurebfs.oauth2.";

/// Hadoop's settings that say of a place what the options of a store say: for Spark, which reads and writes data files by
/// Hadoop's file systems. Settings of Hadoop among the options stay; what has no name in Hadoop is left out.
pub fn hadoop_settings(uri: &str, options: &StorageOptions) -> StorageOptions {
    let own = || options.iter().filter(|(n, _)| is_setting(n)).map(|(n, v)| (n.clone(), v.clone())).collect();
    Url::parse(uri).map_or_else(|_| own(), |url| of_url(&url, options))
}

fn of_url(url: &Url, options: &StorageOptions) -> StorageOptions {
    let given =
        Given { options: options.iter().map(|(n, v)| (n.to_ascii_lowercase(), v.as_str())).collect() };
    let mut said = match url.scheme() {
        "s3" | "s3a" | "s3n" => s3a(&given, url.host_str().unwrap_or_default()),
        "abfs" | "abfss" | "wasb" | "wasbs" => azure(&given, url),
        "gs" => gcs(&given),
        _ => StorageOptions::new(),
    };
    said.extend(options.iter().filter(|(n, _)| is_setting(n)).map(|(n, v)| (n.clone(), v.clone())));
    said
}

struct Given<'a> {
    options: BTreeMap<String, &'a str>,
}

impl<'a> Given<'a> {
    /// The value of an option that has several names.
    fn first(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.options.get(*name).copied())
    }

    fn is_true(&self, names: &[&str]) -> bool {
        self.first(names)
            .is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on"))
    }
}

/// Settings of one bucket go before those of all: so these do.
fn s3a(given: &Given<'_>, bucket: &str) -> StorageOptions {
    let mut said = StorageOptions::new();
    let mut set = |name: &str, value: &str| {
        said.insert(format!("fs.s3a.bucket.{bucket}.{name}"), value.to_owned());
    };
    let id = given.first(&["aws_access_key_id", "access_key_id"]);
    let secret = given.first(&["aws_secret_access_key", "secret_access_key"]);
    if let (Some(id), Some(secret)) = (id, secret) {
        set("access.key", id);
        set("secret.key", secret);
        let provider = match given.first(&["aws_session_token", "aws_token", "session_token", "token"]) {
            Some(token) => {
                set("session.token", token);
                "TemporaryAWSCredentialsProvider"
            }
            None => "SimpleAWSCredentialsProvider",
        };
        set("aws.credentials.provider", &format!("{PROVIDERS}{provider}"));
    } else if given.is_true(&["aws_skip_signature", "skip_signature"]) {
        set("aws.credentials.provider", &format!("{PROVIDERS}AnonymousAWSCredentialsProvider"));
    }
    let endpoints = ["aws_endpoint_url_s3", "aws_endpoint_url", "aws_endpoint", "endpoint_url", "endpoint"];
    if let Some(endpoint) = given.first(&endpoints) {
        let hosted = given.is_true(&["aws_virtual_hosted_style_request", "virtual_hosted_style_request"]);
        // there it has the bucket, which Hadoop puts before it
        let plain =
            if hosted { endpoint.replacen(&format!("://{bucket}."), "://", 1) } else { endpoint.to_owned() };
        set("endpoint", &plain);
        set("path.style.access", if hosted { "false" } else { "true" });
        set("connection.ssl.enabled", if endpoint.starts_with("http:") { "false" } else { "true" });
    }
    if let Some(region) = given.first(&["aws_region", "region", "aws_default_region", "default_region"]) {
        set("endpoint.region", region);
    }
    if given.is_true(&["aws_request_payer", "request_payer"]) {
        set("requester.pays.enabled", "true");
    }
    said
}

fn azure(given: &Given<'_>, url: &Url) -> StorageOptions {
    let mut said = StorageOptions::new();
    let host = url.host_str().unwrap_or_default();
    let mut set = |name: &str, value: &str| {
        said.insert(format!("fs.azure.{name}.{host}"), value.to_owned());
    };
    let key = given.first(&[
        "azure_storage_account_key",
        "azure_storage_access_key",
        "azure_storage_master_key",
        "account_key",
        "access_key",
        "master_key",
    ]);
    let signature =
        given.first(&["azure_storage_sas_key", "azure_storage_sas_token", "sas_key", "sas_token"]);
    let secret = given.first(&["azure_storage_client_secret", "azure_client_secret", "client_secret"]);
    let tenant = given.first(&[
        "azure_storage_tenant_id",
        "azure_storage_authority_id",
        "azure_tenant_id",
        "azure_authority_id",
        "tenant_id",
        "authority_id",
    ]);
    if let Some(key) = key {
        set("account.auth.type", "SharedKey");
        set("account.key", key);
    } else if let Some(signature) = signature {
        set("account.auth.type", "SAS");
        set("sas.fixed.token", signature);
    } else if let (Some(secret), Some(tenant)) = (secret, tenant) {
        let host = given.first(&["azure_storage_authority_host", "azure_authority_host", "authority_host"]);
        let host = host.unwrap_or("https://login.microsoftonline.com").trim_end_matches('/');
        set("account.auth.type", "OAuth");
        set("account.oauth.provider.type", &format!("{ABFS}ClientCredsTokenProvider"));
        if let Some(id) = given.first(&["azure_storage_client_id", "azure_client_id", "client_id"]) {
            set("account.oauth2.client.id", id);
        }
        set("account.oauth2.client.secret", secret);
        set("account.oauth2.client.endpoint", &format!("{host}/{tenant}/oauth2/token"));
    }
    said
}

fn gcs(given: &Given<'_>) -> StorageOptions {
    let mut said = StorageOptions::new();
    let mut set = |name: &str, value: &str| {
        said.insert(format!("fs.gs.{name}"), value.to_owned());
    };
    let files =
        ["google_service_account", "google_service_account_path", "service_account", "service_account_path"];
    if let Some(file) = given.first(&files) {
        set("auth.type", "SERVICE_ACCOUNT_JSON_KEYFILE");
        set("auth.service.account.json.keyfile", file);
    } else if given.is_true(&["google_skip_signature", "skip_signature"]) {
        set("auth.type", "UNAUTHENTICATED");
    }
    if let Some(root) = given.first(&["google_base_url", "base_url"]) {
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
        let settings = Settings::among(&hadoop_settings(url.as_str(), &options(given)));
        let mapped = match url.scheme() {
            "s3a" => from_s3a(&settings, url.host_str().unwrap(), |_| false),
            "gs" => from_gcs(&settings),
            _ => from_azure(&settings, &url),
        };
        mapped.unwrap().options.into_iter().map(|(n, v)| (n.to_owned(), v)).collect()
    }

    #[test]
    fn hadoop_is_told_the_same() {
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
        let said = hadoop_settings("s3a://b/t", &options(&given));
        let expected =
            [("fs.s3a.bucket.b.endpoint.region", "eu"), ("fs.s3a.fast.upload.buffer", "bytebuffer")];
        assert_eq!(said, options(&expected));
        let said = hadoop_settings("/t", &options(&given));
        assert_eq!(said, options(&given[..1]));
    }
}
