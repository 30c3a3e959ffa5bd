//! The options of each store by the names of the crate `object_store`, in one list: a name is one of these, alone or
//! after a prefix of its own store.

use std::collections::BTreeMap;

use super::StorageOptions;

/// The names of one option, the one that decides first.
type Names = &'static [&'static str];

/// Options that belong together: if one of the first list is given, other sources of both lists are ignored.
pub(super) struct Group {
    /// Options that decide.
    decide: &'static [Names],
    /// Options that only add to those.
    add: &'static [Names],
}

/// The settings of a kind of store.
pub(super) struct Options {
    prefixes: &'static [&'static str],
    pub(super) credentials: Group,
    pub(super) endpoint: Group,
}

pub(super) mod s3 {
    use super::Names;

    pub(crate) const KEY_ID: Names = &["access_key_id"];
    pub(crate) const SECRET: Names = &["secret_access_key"];
    pub(crate) const TOKEN: Names = &["session_token", "token"];
    pub(crate) const UNSIGNED: Names = &["skip_signature"];
    pub(crate) const ENDPOINT: Names = &["endpoint_url_s3", "endpoint_url", "endpoint"];
    pub(crate) const HOSTED: Names = &["virtual_hosted_style_request"];
    pub(crate) const REGION: Names = &["region", "default_region"];
    pub(crate) const PAYER: Names = &["request_payer"];
}

pub(super) mod azure {
    use super::Names;

    pub(crate) const KEY: Names = &["account_key", "access_key", "master_key"];
    pub(crate) const SIGNATURE: Names = &["sas_key", "sas_token"];
    pub(crate) const TOKEN: Names = &["bearer_token", "token"];
    pub(crate) const SECRET: Names = &["client_secret"];
    pub(crate) const CLIENT: Names = &["client_id"];
    pub(crate) const TENANT: Names = &["tenant_id", "authority_id"];
    pub(crate) const AUTHORITY: Names = &["authority_host"];
}

pub(super) mod gcs {
    use super::Names;

    pub(crate) const FILE: Names = &["service_account", "service_account_path"];
    pub(crate) const TOKEN: Names = &["bearer_token", "token"];
    pub(crate) const UNSIGNED: Names = &["skip_signature"];
    pub(crate) const ROOT: Names = &["base_url"];
}

/// Of S3.
pub(super) const S3: &Options = &Options {
    prefixes: &["aws_"],
    credentials: Group {
        decide: &[
            s3::KEY_ID,
            s3::SECRET,
            s3::UNSIGNED,
            &["web_identity_token_file"],
            &["container_credentials_relative_uri"],
            &["container_credentials_full_uri"],
        ],
        add: &[
            s3::TOKEN,
            &["role_arn"],
            &["role_session_name"],
            &["endpoint_url_sts"],
            &["container_authorization_token_file"],
        ],
    },
    endpoint: Group { decide: &[s3::ENDPOINT], add: &[s3::HOSTED, &["allow_http"]] },
};

/// Of Azure.
pub(super) const AZURE: &Options = &Options {
    prefixes: &["azure_storage_", "azure_"],
    credentials: Group {
        decide: &[
            azure::KEY,
            azure::SECRET,
            azure::SIGNATURE,
            azure::TOKEN,
            &["federated_token_file"],
            &["skip_signature"],
            &["use_azure_cli"],
            &["credential_type"],
        ],
        add: &[
            azure::CLIENT,
            azure::TENANT,
            azure::AUTHORITY,
            &["msi_endpoint"],
            &["object_id"],
            &["msi_resource_id"],
        ],
    },
    endpoint: Group { decide: &[&["endpoint"], &["use_emulator"]], add: &[&["allow_http"]] },
};

/// Of Google Cloud Storage.
pub(super) const GCS: &Options = &Options {
    prefixes: &["google_"],
    credentials: Group {
        decide: &[
            gcs::FILE,
            &["service_account_key"],
            &["application_credentials"],
            gcs::TOKEN,
            gcs::UNSIGNED,
        ],
        add: &[],
    },
    endpoint: Group { decide: &[gcs::ROOT], add: &[&["allow_http"]] },
};

impl Options {
    /// Those of the store that a scheme of a URL names.
    pub(super) fn of_scheme(scheme: &str) -> Option<&'static Options> {
        match scheme {
            "s3" | "s3a" | "s3n" => Some(S3),
            "abfs" | "abfss" | "wasb" | "wasbs" | "az" | "adl" | "azure" => Some(AZURE),
            "gs" => Some(GCS),
            _ => None,
        }
    }

    /// Whether a variable of the environment, in lower case, is for this store.
    pub(super) fn is_variable(&self, name: &str) -> bool {
        self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Whether an option is of a group.
    pub(super) fn has(&self, group: &Group, name: &str) -> bool {
        self.decides(group, name) || self.is_one(group.add, name)
    }

    /// Whether an option decides a group.
    pub(super) fn decides(&self, group: &Group, name: &str) -> bool {
        self.is_one(group.decide, name)
    }

    /// The name of an option without the prefix of this store.
    pub(super) fn plain<'a>(&self, name: &'a str) -> &'a str {
        self.prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
    }

    fn is_one(&self, options: &[Names], name: &str) -> bool {
        let plain = self.plain(name);
        options.iter().any(|names| names.contains(&plain))
    }
}

/// Options that were given for one store, by names in lower case.
pub(super) struct Given<'a> {
    store: &'static Options,
    options: BTreeMap<String, &'a str>,
}

impl<'a> Given<'a> {
    pub(super) fn new(store: &'static Options, options: &'a StorageOptions) -> Self {
        let options = options.iter().map(|(n, v)| (n.to_ascii_lowercase(), v.as_str())).collect();
        Given { store, options }
    }

    /// The value of an option that has several names.
    pub(super) fn first(&self, names: Names) -> Option<&'a str> {
        let prefixes = self.store.prefixes.iter().chain(&[""]);
        let mut all = prefixes.flat_map(|prefix| names.iter().map(move |name| format!("{prefix}{name}")));
        all.find_map(|name| self.options.get(&name).copied())
    }

    /// Whether a switch is on.
    pub(super) fn is_true(&self, names: Names) -> bool {
        self.first(names)
            .is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on"))
    }
}
