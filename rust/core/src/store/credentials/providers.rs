//! [`Fresh`] as the providers of credentials that the crate `object_store` asks before each request.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use object_store::CredentialProvider;
use object_store::aws::{AwsCredential, AwsCredentialProvider};
use object_store::azure::{AzureAccessKey, AzureCredential, AzureCredentialProvider};
use object_store::gcp::{GcpCredential, GcpCredentialProvider};

use super::{Fresh, GivenCredentials};
use crate::error::Error;
use crate::store::names::{self, AZURE, GCS, Given, S3};

/// The credentials of S3.
pub(crate) fn aws(fresh: Arc<Fresh>) -> AwsCredentialProvider {
    use names::s3::{KEY_ID, SECRET, TOKEN};
    Provider::new(fresh, "AWS", |given| {
        let given = Given::new(S3, &given.options);
        let (Some(id), Some(secret)) = (given.first(KEY_ID), given.first(SECRET)) else {
            return Err(
                "S3 needs `aws_access_key_id` and `aws_secret_access_key`, and `aws_session_token` of temporary ones",
            );
        };
        let token = given.first(TOKEN).map(str::to_owned);
        Ok(AwsCredential { key_id: id.to_owned(), secret_key: secret.to_owned(), token })
    })
}

/// The credentials of Azure.
pub(crate) fn azure(fresh: Arc<Fresh>) -> AzureCredentialProvider {
    use names::azure::{KEY, SIGNATURE, TOKEN};
    Provider::new(fresh, "Azure", |given| {
        let given = Given::new(AZURE, &given.options);
        if let Some(token) = given.first(TOKEN) {
            Ok(AzureCredential::BearerToken(token.to_owned()))
        } else if let Some(signature) = given.first(SIGNATURE) {
            let pairs = url::form_urlencoded::parse(signature.trim_start_matches('?').as_bytes());
            Ok(AzureCredential::SASToken(pairs.into_owned().collect()))
        } else if let Some(key) = given.first(KEY) {
            let key = AzureAccessKey::try_new(key);
            key.map(AzureCredential::AccessKey)
                .map_err(|_| "`azure_storage_account_key` is no key: it is not base64")
        } else {
            Err("Azure needs `azure_storage_token`, `azure_storage_sas_key` or `azure_storage_account_key`")
        }
    })
}

/// The credentials of Google Cloud Storage.
pub(crate) fn gcp(fresh: Arc<Fresh>) -> GcpCredentialProvider {
    Provider::new(fresh, "Google", |given| {
        let token = Given::new(GCS, &given.options).first(names::gcs::TOKEN).map(str::to_owned);
        token.map(|bearer| GcpCredential { bearer }).ok_or("Google Cloud Storage needs `google_bearer_token`")
    })
}

/// How a store reads what a source gave, or what it misses.
type Read<T> = fn(&GivenCredentials) -> Result<T, &'static str>;

struct Provider<T> {
    fresh: Arc<Fresh>,
    store: &'static str,
    read: Read<T>,
    /// What was read last, and of what.
    last: Mutex<Option<(Arc<GivenCredentials>, Arc<T>)>>,
}

impl<T> Provider<T> {
    fn new(fresh: Arc<Fresh>, store: &'static str, read: Read<T>) -> Arc<Self> {
        Arc::new(Provider { fresh, store, read, last: Mutex::new(None) })
    }

    async fn credential(&self) -> Result<Arc<T>, Error> {
        let given = self.fresh.get().await?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((of, read)) if Arc::ptr_eq(of, &given) => Ok(read.clone()),
            _ => {
                let read = Arc::new((self.read)(&given).map_err(|missing| self.fresh.lacks(missing))?);
                *last = Some((given, read.clone()));
                Ok(read)
            }
        }
    }
}

/// Without the credentials.
impl<T> fmt::Debug for Provider<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("fresh", &self.fresh).finish_non_exhaustive()
    }
}

#[async_trait]
impl<T: Send + Sync> CredentialProvider for Provider<T> {
    type Credential = T;

    async fn get_credential(&self) -> object_store::Result<Arc<T>> {
        let store = self.store;
        self.credential().await.map_err(|e| object_store::Error::Generic { store, source: Box::new(e) })
    }
}
