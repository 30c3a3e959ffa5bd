//! The stores of URLs, by the crate `object_store`.

use std::sync::Arc;

use object_store::ObjectStore;
use url::Url;

use super::credentials::{self, Asked, CREDENTIALS, Fresh, JVM_CREDENTIALS, SESSION_CREDENTIALS};
use super::kept::Kept;
use super::location::{invalid, parse_root};
use super::options::{Chosen, Origin, known_url, store_options};
use super::{ObjectAdapter, StorageOptions, hadoop, runtime, secrets};
use crate::actions::ObjectPath;
use crate::error::Result;

/// The store of a path.
pub(super) fn open_remote(path: &ObjectPath, options: &StorageOptions) -> Result<ObjectAdapter> {
    let uri = path.to_uri();
    let url = Url::parse(&uri).map_err(|e| invalid(&uri, e))?;
    secrets::check_url(&url)?;
    let chosen = store_options(&url, options, std::env::vars())?;
    let fresh = fresh(path, &chosen.credentials, options)?;
    let kept = Kept::of(&(&chosen.options, fresh.as_ref().map(|fresh| fresh.source_name())))?;
    let url = known_url(&url).ok_or_else(|| invalid(&uri, "not a URL of a store"))?;
    choose_tls();
    let built = match &fresh {
        None => {
            object_store::parse_url_opts(&url, chosen.options).map(|(store, key)| (Arc::from(store), key))
        }
        Some(fresh) => with_credentials(&url, chosen.options, fresh.clone()),
    };
    let (store, key) = built.map_err(|e| invalid(&uri, e))?;
    let skip = path.key().len().saturating_sub(key.as_ref().len() + 1);
    Ok(ObjectAdapter::new(store, skip).of_server(fresh, kept))
}

/// The options of a store for another process, which cannot ask the source of its credentials: with those that are valid
/// now.
///
/// # Errors
/// [`Error::Credentials`](crate::error::Error::Credentials); those of [`Location::open`](super::Location::open).
pub fn options_to_send(uri: &str, options: &StorageOptions) -> Result<StorageOptions> {
    let path = parse_root(uri)?;
    let Ok(url) = Url::parse(&path.to_uri()) else { return Ok(options.clone()) };
    let Chosen { credentials, .. } = store_options(&url, options, std::iter::empty())?;
    let Some(fresh) = fresh(&path, &credentials, options)? else { return Ok(options.clone()) };
    let given = runtime::block_on(async move { fresh.get().await })??;
    let others =
        options.iter().filter(|(name, _)| ![CREDENTIALS, SESSION_CREDENTIALS].contains(&name.as_str()));
    let mut sent: StorageOptions = others.map(|(name, value)| (name.clone(), value.clone())).collect();
    sent.extend(given.options.clone());
    Ok(sent)
}

/// The credentials of a store that a source gives, if one does.
fn fresh(path: &ObjectPath, origin: &Origin, options: &StorageOptions) -> Result<Option<Arc<Fresh>>> {
    let mut asked = Asked { store: path.prefix().to_owned(), settings: Default::default() };
    let name = match origin {
        Origin::Options => return Ok(None),
        Origin::Profile(profile) => return credentials::of_profile(profile.as_deref(), asked),
        Origin::Source(name) => name.as_str(),
        Origin::Jvm(error) if !credentials::is_registered(JVM_CREDENTIALS) => return Err(error.clone()),
        Origin::Jvm(_) => {
            let settings = options.iter().filter(|(name, _)| hadoop::is_setting(name));
            asked.settings = settings.map(|(n, v)| (n.clone(), v.clone())).collect();
            JVM_CREDENTIALS
        }
    };
    credentials::of_source(name, asked).map(Some)
}

type Built = (Arc<dyn ObjectStore>, object_store::path::Path);

/// The store of a URL as `parse_url_opts` makes it, with its own provider of credentials.
#[cfg(feature = "cloud")]
fn with_credentials(
    url: &Url,
    options: Vec<(String, String)>,
    fresh: Arc<Fresh>,
) -> object_store::Result<Built> {
    use object_store::ObjectStoreScheme;
    use object_store::aws::AmazonS3Builder;
    use object_store::azure::MicrosoftAzureBuilder;
    use object_store::gcp::GoogleCloudStorageBuilder;

    macro_rules! built {
        ($builder:ty, $credentials:expr) => {{
            // options of other stores are ignored
            let known = options.into_iter().filter_map(|(name, value)| Some((name.parse().ok()?, value)));
            let plain = <$builder>::new().with_url(url.as_str());
            let builder = known.fold(plain, |builder, (key, value)| builder.with_config(key, value));
            Arc::new(builder.with_credentials($credentials).build()?) as Arc<dyn ObjectStore>
        }};
    }
    let (scheme, path) = ObjectStoreScheme::parse(url)?;
    let store = match scheme {
        ObjectStoreScheme::AmazonS3 => built!(AmazonS3Builder, credentials::aws(fresh)),
        ObjectStoreScheme::MicrosoftAzure => built!(MicrosoftAzureBuilder, credentials::azure(fresh)),
        ObjectStoreScheme::GoogleCloudStorage => built!(GoogleCloudStorageBuilder, credentials::gcp(fresh)),
        _ => return object_store::parse_url_opts(url, options).map(|(store, key)| (Arc::from(store), key)),
    };
    Ok((store, object_store::path::Path::parse(path)?))
}

#[cfg(not(feature = "cloud"))]
fn with_credentials(url: &Url, options: Vec<(String, String)>, _: Arc<Fresh>) -> object_store::Result<Built> {
    object_store::parse_url_opts(url, options).map(|(store, key)| (Arc::from(store), key))
}

/// The TLS of the HTTP clients, where the process has not chosen one. Losing that race is as good as winning it.
fn choose_tls() {
    #[cfg(feature = "https")]
    let _ = rustls::crypto::ring::default_provider().install_default();
}
