use url::Url;

use super::settings::{Mapped, Settings, invalid, simple_name};
use crate::error::Result;

/// `fs.azure.*` for a storage account: a name that ends with the account's host takes precedence over the name alone.
struct Azure<'a> {
    settings: &'a Settings,
    hosts: Vec<String>,
}

impl Azure<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        let own = self.hosts.iter().find_map(|host| self.settings.get(&format!("fs.azure.{name}.{host}")));
        own.or_else(|| self.settings.get(&format!("fs.azure.{name}")))
    }
}

/// The options of Azure that the settings of ABFS and WASB ask for.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) by the name of the setting, for a value that makes no
/// sense.
pub(crate) fn azure(settings: &Settings, url: &Url) -> Result<Mapped> {
    let container = url.username();
    let azure = Azure { settings, hosts: hosts(url.host_str().unwrap_or_default()) };
    let mut mapped = Mapped::default();
    match azure.get("account.auth.type").map(str::to_ascii_lowercase).as_deref() {
        Some("oauth") => oauth(&azure, &mut mapped)?,
        Some("sas") => sas(&azure, container, &mut mapped)?,
        Some("custom") => {
            let class = azure.get("account.oauth.provider.type").unwrap_or("a custom token provider");
            mapped.ask_jvm("fs.azure.account.auth.type", in_java(class, "the option `azure_storage_token`"));
        }
        None | Some("sharedkey") => {
            mapped.copy("azure_storage_account_key", azure.get("account.key"));
            if mapped.options.is_empty() {
                // WASB has no type: its container's signature is found by its name
                mapped.copy("azure_storage_sas_key", signature(&azure, container));
            }
            mapped.credentials = (!mapped.options.is_empty()).then_some(&[]);
        }
        Some(other) => {
            let reason = format!("`{other}` is none of SharedKey, OAuth, SAS and Custom");
            return Err(invalid("fs.azure.account.auth.type", reason));
        }
    }
    endpoint(&azure, url, &mut mapped);
    Ok(mapped)
}

/// Another server than that of the URI, by address and port: it has the account in its path, as emulators do.
fn endpoint(azure: &Azure<'_>, url: &Url, mapped: &mut Mapped) {
    let Some(address) = azure.get("abfs.endpoint").filter(|address| address.contains(':')) else { return };
    let account = url.host_str().unwrap_or_default().split('.').next().unwrap_or_default();
    let plain = azure.get("always.use.https").is_some_and(|always| always.eq_ignore_ascii_case("false"))
        && matches!(url.scheme(), "abfs" | "wasb");
    let scheme = if plain { "http" } else { "https" };
    mapped.set("azure_storage_endpoint", format!("{scheme}://{address}/{account}"));
    if plain {
        mapped.set("allow_http", "true");
    }
}

/// The host of an account as ABFS and as WASB name it.
fn hosts(host: &str) -> Vec<String> {
    let other = if host.contains(".dfs.") {
        host.replacen(".dfs.", ".blob.", 1)
    } else {
        host.replacen(".blob.", ".dfs.", 1)
    };
    vec![host.to_owned(), other]
}

fn signature<'a>(azure: &'a Azure<'_>, container: &str) -> Option<&'a str> {
    azure.get("sas.fixed.token").or_else(|| azure.get(&format!("sas.{container}")))
}

fn sas(azure: &Azure<'_>, container: &str, mapped: &mut Mapped) -> Result<()> {
    let Some(signature) = signature(azure, container) else {
        let class = azure.get("sas.token.provider.type").unwrap_or("a signature provider");
        let reason = format!(
            "`{class}` gives a signature for each path and operation, in Java, and the log is read and written by one for \
             all: give `fs.azure.sas.fixed.token`, or the option `azure_storage_sas_key`, or a function as `credentials`"
        );
        return Err(invalid("fs.azure.sas.token.provider.type", reason));
    };
    mapped.set("azure_storage_sas_key", signature);
    mapped.credentials = Some(&[]);
    Ok(())
}

fn in_java(class: &str, instead: &str) -> String {
    format!(
        "`{class}` gets its tokens in Java, and this process has no JVM of Spark to ask: give {instead}, or a function \
         as `credentials`"
    )
}

fn oauth(azure: &Azure<'_>, mapped: &mut Mapped) -> Result<()> {
    let provider = azure.get("account.oauth.provider.type").unwrap_or_default();
    match simple_name(provider) {
        "ClientCredsTokenProvider" => {
            mapped.copy("azure_storage_client_id", azure.get("account.oauth2.client.id"));
            mapped.copy("azure_storage_client_secret", azure.get("account.oauth2.client.secret"));
            if let Some(endpoint) = azure.get("account.oauth2.client.endpoint") {
                let (host, tenant) = authority(endpoint)?;
                mapped.set("azure_storage_tenant_id", tenant);
                mapped.set("azure_storage_authority_host", host);
            }
        }
        "MsiTokenProvider" => {
            mapped.copy("azure_storage_client_id", azure.get("account.oauth2.client.id"));
            mapped.copy("azure_msi_endpoint", azure.get("account.oauth2.msi.endpoint"));
        }
        "WorkloadIdentityTokenProvider" => {
            mapped.copy("azure_storage_client_id", azure.get("account.oauth2.client.id"));
            mapped.copy("azure_storage_tenant_id", azure.get("account.oauth2.msi.tenant"));
            mapped.copy("azure_federated_token_file", azure.get("account.oauth2.token.file"));
            mapped.copy("azure_storage_authority_host", azure.get("account.oauth2.msi.authority"));
            // settings that are missing here are in the variables that the cluster sets
            mapped.credentials = Some(&[
                "azure_client_id",
                "azure_tenant_id",
                "azure_authority_host",
                "azure_federated_token_file",
            ]);
            return Ok(());
        }
        _ => {
            let instead = "ClientCredsTokenProvider, MsiTokenProvider or WorkloadIdentityTokenProvider, or the option \
                           `azure_storage_token`";
            mapped.ask_jvm("fs.azure.account.oauth.provider.type", in_java(provider, instead));
        }
    }
    mapped.credentials = Some(&[]);
    Ok(())
}

/// The host and the tenant of an endpoint such as `https://login.microsoftonline.com/<tenant>/oauth2/token`.
fn authority(endpoint: &str) -> Result<(String, String)> {
    let parts = endpoint.split_once("://").and_then(|(scheme, rest)| {
        let mut parts = rest.split('/');
        Some((format!("{scheme}://{}", parts.next()?), parts.next().filter(|p| !p.is_empty())?.to_owned()))
    });
    parts.ok_or_else(|| {
        let reason =
            "no endpoint of a tenant, such as `https://login.microsoftonline.com/<tenant>/oauth2/token`";
        invalid("fs.azure.account.oauth2.client.endpoint", reason)
    })
}

#[cfg(test)]
mod tests {
    use super::super::settings::settings;
    use super::*;

    fn of<const N: usize>(given: [(&str, &str); N]) -> Result<Mapped> {
        azure(&settings(given), &Url::parse("abfss://c@a.dfs.core.windows.net/t").unwrap())
    }

    #[test]
    fn the_key_of_the_account() {
        let found = of([
            ("fs.azure.account.key.a.dfs.core.windows.net", "own"),
            ("fs.azure.account.key.other.dfs.core.windows.net", "not this"),
            ("fs.azure.account.key", "any"),
        ])
        .unwrap();
        assert_eq!(found.options["azure_storage_account_key"], "own");
        let found = of([("fs.azure.account.key.a.blob.core.windows.net", "own")]).unwrap();
        assert_eq!(found.options["azure_storage_account_key"], "own");
        assert!(of([]).unwrap().credentials.is_none());
    }

    #[test]
    fn an_emulator() {
        let at = ("fs.azure.abfs.endpoint", "127.0.0.1:10000");
        let given = [at, ("fs.azure.always.use.https", "false")];
        let found =
            azure(&settings(given), &Url::parse("abfs://c@a.dfs.core.windows.net/t").unwrap()).unwrap();
        assert_eq!(found.options["azure_storage_endpoint"], "http://127.0.0.1:10000/a");
        assert_eq!(found.options["allow_http"], "true");
        assert!(found.credentials.is_none());
        // abfss is never plain
        let found = of(given).unwrap();
        assert_eq!(found.options["azure_storage_endpoint"], "https://127.0.0.1:10000/a");
        assert!(!found.options.contains_key("allow_http"));
        assert!(of([("fs.azure.abfs.endpoint", "host")]).unwrap().options.is_empty());
    }

    #[test]
    fn signatures() {
        let found = of([("fs.azure.account.auth.type", "SAS"), ("fs.azure.sas.fixed.token", "s")]).unwrap();
        assert_eq!(found.options["azure_storage_sas_key"], "s");
        let found = of([("fs.azure.sas.c.a.blob.core.windows.net", "s")]).unwrap();
        assert_eq!(found.options["azure_storage_sas_key"], "s");
        let error = of([("fs.azure.account.auth.type", "SAS")]).err().unwrap().to_string();
        assert!(error.contains("fs.azure.sas.fixed.token"), "{error}");
    }

    #[test]
    fn identities() {
        let kind = ("fs.azure.account.auth.type.a.dfs.core.windows.net", "OAuth");
        let provider = |class| ("fs.azure.account.oauth.provider.type.a.dfs.core.windows.net", class);
        let found = of([
            kind,
            provider("org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider"),
            ("fs.azure.account.oauth2.client.id", "id"),
            ("fs.azure.account.oauth2.client.secret", "secret"),
            (
                "fs.azure.account.oauth2.client.endpoint",
                "https://login.microsoftonline.com/tenant/oauth2/token",
            ),
        ])
        .unwrap();
        let names: Vec<_> = found.options.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let expected = [
            ("azure_storage_authority_host", "https://login.microsoftonline.com"),
            ("azure_storage_client_id", "id"),
            ("azure_storage_client_secret", "secret"),
            ("azure_storage_tenant_id", "tenant"),
        ];
        assert_eq!(names, expected);
        let found = of([kind, provider("org.apache.hadoop.fs.azurebfs.oauth2.MsiTokenProvider")]).unwrap();
        assert_eq!((found.options.len(), found.credentials), (0, Some(&[][..])));
        let class = "org.apache.hadoop.fs.azurebfs.oauth2.UserPasswordTokenProvider";
        let error = of([kind, provider(class)]).unwrap().jvm.unwrap().to_string();
        assert!(error.contains(class), "{error}");
        let error = of([("fs.azure.account.auth.type", "Custom")]).unwrap().jvm.unwrap().to_string();
        assert!(error.contains("azure_storage_token"), "{error}");
    }
}
