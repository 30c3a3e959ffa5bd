//! The stores of URLs, by the crate `object_store`.

use std::sync::Arc;

use url::Url;

use super::credentials::{self, Asked, CREDENTIALS, Fresh, JVM_CREDENTIALS, SESSION_CREDENTIALS};
use super::kept::Kept;
use super::options::{Chosen, Origin, known_url, served_by, store_options};
use super::root::{invalid, parse_root};
use super::{ObjectAdapter, StorageOptions, hadoop, remote, runtime, secrets};
use crate::actions::ObjectPath;
use crate::error::Result;

/// The store of a path, and the server that answers; see [`served_by`].
pub(super) fn open_remote(path: &ObjectPath, options: &StorageOptions) -> Result<(ObjectAdapter, String)> {
    let uri = path.to_uri();
    let url = Url::parse(&uri).map_err(|e| invalid(&uri, e))?;
    secrets::check_url(&url)?;
    let chosen = store_options(&url, options, std::env::vars())?;
    let fresh = fresh(path, &chosen.credentials, options)?;
    let kept = Kept::of(&(&chosen.options, fresh.as_ref().map(|fresh| fresh.source_name())))?;
    let url = known_url(&url).ok_or_else(|| invalid(&uri, "not a URL of a store"))?;
    choose_tls();
    let server = served_by(url.scheme(), &chosen.options);
    let (store, key) = remote::open(&url, chosen.options, fresh.as_ref()).map_err(|e| invalid(&uri, e))?;
    let skip = path.key().len().saturating_sub(key.as_ref().len() + 1);
    Ok((ObjectAdapter::new(Arc::from(store), skip).of_server(fresh, kept), server))
}

/// The options of a store for another process, which cannot ask the source of its credentials: with those that are valid
/// now.
///
/// # Errors
/// [`Error::Credentials`](crate::error::Error::Credentials); those of [`Location::open`](super::Location::open).
pub fn options_to_send(uri: &str, options: &StorageOptions) -> Result<StorageOptions> {
    let path = parse_root(uri, options)?;
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

/// The TLS of the HTTP clients, where the process has not chosen one. Losing that race is as good as winning it.
pub(super) fn choose_tls() {
    #[cfg(feature = "https")]
    let _ = rustls::crypto::ring::default_provider().install_default();
}
