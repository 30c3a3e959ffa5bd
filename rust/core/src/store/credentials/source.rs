use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::store::StorageOptions;

/// The storage option that names a source of credentials: see [`register_credentials`](super::register_credentials).
pub const CREDENTIALS: &str = "credentials_source";

/// The same of a session: keys that an operation is given by the names of the crate `object_store` go before it.
pub const SESSION_CREDENTIALS: &str = "session_credentials_source";

/// The name of the source that is asked where Hadoop's settings name a class that only a JVM can call.
pub const JVM_CREDENTIALS: &str = "jvm";

/// What a source is asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// The store: `s3://bucket`.
    pub store: String,
    /// Hadoop's settings, for a source that asks Hadoop.
    pub settings: BTreeMap<String, String>,
}

/// What a source gave. `Debug` shows no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenCredentials {
    /// Options of the store, credentials only.
    pub options: StorageOptions,
    /// When they expire; `None`: never, as far as the source knows.
    pub expires: Option<SystemTime>,
}

/// Somebody who gives credentials. One call is made at a time for a store, from a thread that may block.
pub trait CredentialSource: Send + Sync {
    /// Credentials that are valid now.
    ///
    /// # Errors
    /// The reason why there are none, for the user.
    fn credentials(&self, asked: &Asked) -> Result<GivenCredentials, String>;
}
