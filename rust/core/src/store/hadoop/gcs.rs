use super::settings::{Mapped, Settings, invalid};
use crate::error::Result;

/// The options of Google Cloud Storage that `fs.gs.*` asks for.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) by the name of the setting, for a way to sign in that
/// only Hadoop's connector has.
pub(crate) fn gcs(settings: &Settings) -> Result<Mapped> {
    let mut mapped = Mapped::default();
    let keyfile = settings.get("fs.gs.auth.service.account.json.keyfile");
    let kind = settings.get("fs.gs.auth.type").map(str::to_ascii_uppercase);
    match kind.as_deref() {
        Some("UNAUTHENTICATED") => {
            mapped.set("google_skip_signature", "true");
            mapped.credentials = Some(&[]);
        }
        Some("COMPUTE_ENGINE") => mapped.credentials = Some(&[]),
        Some("APPLICATION_DEFAULT") => mapped.credentials = Some(&["google_application_credentials"]),
        Some("SERVICE_ACCOUNT_JSON_KEYFILE") | None => {
            let named = "fs.gs.auth.service.account.json.keyfile";
            match keyfile {
                Some(file) => {
                    mapped.set("google_service_account", file);
                    mapped.credentials = Some(&[]);
                }
                None if kind.is_some() => {
                    return Err(invalid(named, "the type of `fs.gs.auth.type` needs the file's path"));
                }
                None => {}
            }
        }
        Some("ACCESS_TOKEN_PROVIDER") => {
            let named = "fs.gs.auth.access.token.provider";
            let class = settings.get(named).ok_or_else(|| {
                invalid(named, "the type of `fs.gs.auth.type` needs the class that gives tokens")
            })?;
            let reason = format!(
                "`{class}` gets its tokens in Java, and this process has no JVM of Spark to ask: give the option \
                 `google_bearer_token`, or a function as `credentials`"
            );
            mapped.ask_jvm(named, reason);
        }
        Some(other) => {
            let reason = format!(
                "`{other}` signs in from Java, and the log is read and written without Java: use \
                 SERVICE_ACCOUNT_JSON_KEYFILE, COMPUTE_ENGINE, APPLICATION_DEFAULT, ACCESS_TOKEN_PROVIDER or \
                 UNAUTHENTICATED, or give the option `google_bearer_token`, or a function as `credentials`"
            );
            return Err(invalid("fs.gs.auth.type", reason));
        }
    }
    if let Some(root) = settings.get("fs.gs.storage.root.url") {
        let root = root.trim_end_matches('/');
        mapped.set("google_base_url", root);
        if root.starts_with("http:") {
            mapped.set("allow_http", "true");
        }
    }
    Ok(mapped)
}

#[cfg(test)]
mod tests {
    use super::super::settings::settings;
    use super::*;

    #[test]
    fn ways_to_sign_in() {
        let found = gcs(&settings([("fs.gs.auth.service.account.json.keyfile", "/key.json")])).unwrap();
        assert_eq!(found.options["google_service_account"], "/key.json");
        let found = gcs(&settings([
            ("fs.gs.auth.type", "UNAUTHENTICATED"),
            ("fs.gs.storage.root.url", "http://127.0.0.1:4443/"),
        ]))
        .unwrap();
        let options: Vec<_> = found.options.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let expected = [
            ("allow_http", "true"),
            ("google_base_url", "http://127.0.0.1:4443"),
            ("google_skip_signature", "true"),
        ];
        assert_eq!(options, expected);
        for (given, named) in [
            (("fs.gs.auth.type", "USER_CREDENTIALS"), "google_bearer_token"),
            (("fs.gs.auth.type", "ACCESS_TOKEN_PROVIDER"), "fs.gs.auth.access.token.provider"),
            (("fs.gs.auth.type", "SERVICE_ACCOUNT_JSON_KEYFILE"), "json.keyfile"),
        ] {
            let error = gcs(&settings([given])).err().unwrap().to_string();
            assert!(error.contains(named), "{error}");
        }
        assert!(gcs(&settings([])).unwrap().credentials.is_none());
        let class = ("fs.gs.auth.access.token.provider", "com.example.Vault");
        let found = gcs(&settings([("fs.gs.auth.type", "ACCESS_TOKEN_PROVIDER"), class])).unwrap();
        let error = found.jvm.unwrap().to_string();
        assert!(error.contains("com.example.Vault") && error.contains("`credentials`"), "{error}");
    }
}
