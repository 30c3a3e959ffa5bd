use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::Mutex;

use super::{Asked, CredentialSource, GivenCredentials};
use crate::error::{Error, Result};
use crate::events;

/// How long before they expire credentials are renewed, at most; those of a short life after nine tenths of it.
const MARGIN: Duration = Duration::from_secs(60);
/// How long a source may take. It may ask a person; one that waits for what waits for it ends here.
const PATIENCE: Duration = Duration::from_secs(300);
/// After this time a source is asked again that failed, or whose credentials the store refused.
const AGAIN: Duration = Duration::from_secs(5);

/// The credentials of a store, renewed by their source before they expire.
pub(crate) struct Fresh {
    name: String,
    source: Arc<dyn CredentialSource>,
    asked: Asked,
    /// Held while the source is asked: once at a time.
    kept: Mutex<Kept>,
}

/// Without the credentials.
impl fmt::Debug for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fresh").field("store", &self.asked.store).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Kept {
    given: Option<Arc<GivenCredentials>>,
    /// When the source is asked again; `None`: when the store refuses them.
    renew: Option<SystemTime>,
    /// When the store last refused them and the source had no others.
    refused: Option<SystemTime>,
}

impl Kept {
    fn current(&self, now: SystemTime) -> Option<&Arc<GivenCredentials>> {
        self.given.as_ref().filter(|_| self.renew.is_none_or(|renew| now < renew))
    }

    fn put(&mut self, given: GivenCredentials, now: SystemTime) -> Arc<GivenCredentials> {
        let life = given.expires.map(|at| at.duration_since(now).unwrap_or_default());
        let given = Arc::new(given);
        let renew = life.map(|life| now + life.saturating_sub(MARGIN.min(life / 10)));
        *self = Kept { given: Some(given.clone()), renew, refused: None };
        given
    }

    /// Those that have not expired yet, until the source is asked again.
    fn put_off(&mut self, now: SystemTime) -> Option<Arc<GivenCredentials>> {
        let given = self.given.clone()?;
        let expires = given.expires.filter(|expires| now < *expires)?;
        self.renew = Some(expires.min(now + AGAIN));
        Some(given)
    }
}

impl Fresh {
    pub(super) fn new(name: &str, source: Arc<dyn CredentialSource>, asked: Asked) -> Self {
        Fresh { name: name.to_owned(), source, asked, kept: Mutex::default() }
    }

    /// The name by which the source is known.
    pub(crate) fn source_name(&self) -> &str {
        &self.name
    }

    /// Credentials that are valid now.
    ///
    /// # Errors
    /// [`Error::Credentials`]: the source failed and there are no others.
    pub(crate) async fn get(&self) -> Result<Arc<GivenCredentials>> {
        let mut kept = self.kept.lock().await;
        if let Some(given) = kept.current(SystemTime::now()) {
            return Ok(given.clone());
        }
        match self.ask().await {
            Ok(given) => Ok(kept.put(given, SystemTime::now())),
            Err(error) => {
                let given = kept.put_off(SystemTime::now()).ok_or_else(|| error.clone())?;
                events::not_renewed(&self.asked.store, &error);
                Ok(given)
            }
        }
    }

    /// Asks for others after the store refused these. Whether there are others, so that the request is worth another try.
    pub(crate) async fn renewed_after(&self, used: &Arc<GivenCredentials>) -> bool {
        let mut kept = self.kept.lock().await;
        if kept.given.as_ref().is_some_and(|given| **given != **used) {
            return true;
        }
        let now = SystemTime::now();
        if kept.refused.is_some_and(|refused| now < refused + AGAIN) {
            return false;
        }
        match self.ask().await {
            Ok(given) if given != **used => {
                kept.put(given, now);
                true
            }
            _ => {
                kept.refused = Some(now);
                false
            }
        }
    }

    /// The error of credentials that lack something.
    #[cfg(feature = "cloud")]
    pub(super) fn lacks(&self, missing: &str) -> Error {
        Error::Credentials {
            store: self.asked.store.clone(),
            reason: format!("something is missing: {missing}"),
        }
    }

    async fn ask(&self) -> Result<GivenCredentials> {
        let (source, asked) = (self.source.clone(), self.asked.clone());
        let call = tokio::task::spawn_blocking(move || source.credentials(&asked));
        let reason = match tokio::time::timeout(PATIENCE, call).await {
            Ok(Ok(Ok(GivenCredentials { expires: Some(at), .. }))) if at <= SystemTime::now() => {
                format!(
                    "those that were given expired at {}",
                    chrono::DateTime::<chrono::Utc>::from(at).to_rfc3339()
                )
            }
            Ok(Ok(Ok(given))) => return Ok(given),
            Ok(Ok(Err(reason))) => reason,
            Ok(Err(died)) => format!("the function that gives them has died: {died}"),
            Err(_) => {
                format!("the function that gives them has not answered for {} seconds", PATIENCE.as_secs())
            }
        };
        Err(Error::Credentials { store: self.asked.store.clone(), reason })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;
    use crate::store::{StorageOptions, runtime};

    fn given(key: &str, expires: Option<SystemTime>) -> GivenCredentials {
        let options = [("access_key_id".to_owned(), key.to_owned())].into_iter().collect();
        GivenCredentials { options, expires }
    }

    /// Gives keys by their number; those before `fails` last an hour, the others are an error.
    struct Counting {
        calls: AtomicUsize,
        fails: usize,
        lives: Option<Duration>,
    }

    impl CredentialSource for Counting {
        fn credentials(&self, _: &Asked) -> Result<GivenCredentials, String> {
            let call = self.calls.fetch_add(1, SeqCst);
            if call >= self.fails {
                return Err("the vault is sealed".into());
            }
            Ok(given(&call.to_string(), self.lives.map(|life| SystemTime::now() + life)))
        }
    }

    fn fresh(fails: usize, lives: Option<Duration>) -> (Arc<Counting>, Arc<Fresh>) {
        let source = Arc::new(Counting { calls: AtomicUsize::new(0), fails, lives });
        let asked = Asked { store: "s3://b".into(), settings: std::collections::BTreeMap::new() };
        (source.clone(), Arc::new(Fresh::new("counting", source, asked)))
    }

    fn get(fresh: &Arc<Fresh>) -> Result<Arc<GivenCredentials>> {
        let fresh = fresh.clone();
        runtime::block_on(async move { fresh.get().await }).unwrap()
    }

    #[test]
    fn credentials_are_renewed_a_minute_or_a_tenth_before_they_expire() {
        let now = SystemTime::UNIX_EPOCH;
        for (life, renewed_after) in [(3600, 3540), (600, 540), (100, 90)] {
            let mut kept = Kept::default();
            kept.put(given("a", Some(now + Duration::from_secs(life))), now);
            let at = |seconds| now + Duration::from_secs(seconds);
            assert!(kept.current(at(renewed_after - 1)).is_some(), "{life}");
            assert!(kept.current(at(renewed_after)).is_none(), "{life}");
            // a source that fails has until they expire
            assert!(kept.put_off(at(renewed_after)).is_some(), "{life}");
            assert!(kept.current(at(renewed_after + 1)).is_some(), "{life}");
            assert!(kept.current(at(life)).is_none() && kept.put_off(at(life)).is_none(), "{life}");
        }
        let mut kept = Kept::default();
        kept.put(given("a", None), now);
        assert!(kept.current(now + Duration::from_secs(1 << 40)).is_some());
    }

    #[test]
    fn many_at_once_ask_once() {
        let (source, fresh) = fresh(1, Some(Duration::from_secs(3600)));
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| assert_eq!(get(&fresh).unwrap().options["access_key_id"], "0"));
            }
        });
        assert_eq!(source.calls.load(SeqCst), 1);
    }

    #[test]
    fn a_source_that_fails_is_named_by_its_store_and_reason() {
        let (_, failing) = fresh(0, None);
        let error = get(&failing).unwrap_err();
        assert_eq!(error.kind(), "Credentials");
        let text = error.to_string();
        assert!(text.contains("s3://b") && text.contains("the vault is sealed"), "{text}");
        let (_, expired) = fresh(1, Some(Duration::ZERO));
        assert!(get(&expired).unwrap_err().to_string().contains("expired at"));
    }

    #[test]
    fn credentials_that_were_refused_are_asked_for_again() {
        let (source, fresh) = fresh(2, None);
        let renewed = |used: Arc<GivenCredentials>| {
            let fresh = fresh.clone();
            runtime::block_on(async move { fresh.renewed_after(&used).await }).unwrap()
        };
        let used = get(&fresh).unwrap();
        assert!(renewed(used.clone()));
        // others have asked in the meantime
        assert!(renewed(used));
        assert_eq!(source.calls.load(SeqCst), 2);
        // the source has no others, and is not asked for each request
        let used = get(&fresh).unwrap();
        assert!(!renewed(used.clone()) && !renewed(used));
        assert_eq!(source.calls.load(SeqCst), 3);
    }

    #[test]
    fn debug_shows_no_credential() {
        let (_, fresh) = fresh(1, None);
        let options: StorageOptions =
            [("access_key_id".to_owned(), "PLANTED".to_owned())].into_iter().collect();
        let shown = format!("{fresh:?} {:?}", GivenCredentials { options, expires: None });
        assert!(!shown.contains("PLANTED"), "{shown}");
    }
}
