//! How the stores of object_store are opened, and how long their requests wait when a server asks for it.

use std::sync::Arc;

use object_store::path::Path;
use object_store::{ObjectStore, parse_url_opts};
use url::Url;

use super::credentials::Fresh;

/// The store of a URL and the path in it, by the options of the crate `object_store`, with credentials that are renewed
/// if some are given.
///
/// # Errors
/// Those of the builders of object_store: an option with a wrong value, a URL without its bucket, a store that is not in
/// this build.
pub(super) fn open(
    url: &Url,
    options: Vec<(String, String)>,
    fresh: Option<&Arc<Fresh>>,
) -> object_store::Result<(Box<dyn ObjectStore>, Path)> {
    #[cfg(feature = "https")]
    if let Some(opened) = patient::open(url, &options, fresh)? {
        return Ok(opened);
    }
    #[cfg(not(feature = "https"))]
    let _ = fresh;
    parse_url_opts(url, options)
}

#[cfg(feature = "https")]
mod patient {
    use std::error::Error;
    use std::fmt;
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::time::Duration;

    use chrono::{DateTime, Utc};
    use object_store::client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
        ReqwestConnector,
    };
    use object_store::path::Path;
    use object_store::{ClientOptions, ObjectStore, ObjectStoreScheme};
    use url::Url;

    use crate::store::Doubt;
    #[cfg(feature = "cloud")]
    use crate::store::credentials;
    use crate::store::credentials::Fresh;

    /// The longest that a server's `Retry-After` delays the next try. object_store itself stops after ten tries or three
    /// minutes.
    const LONGEST: Duration = Duration::from_secs(20);

    /// As [`parse_url_opts`](object_store::parse_url_opts), for the stores that are reached by HTTP with credentials.
    macro_rules! builder {
        ($builder:ty, $url:expr, $options:expr) => {
            $options.iter().fold(
                <$builder>::new().with_url($url.to_string()).with_http_connector(Patient),
                |builder, (name, value)| match name.parse() {
                    Ok(name) => builder.with_config(name, value),
                    // options of other stores are ignored
                    Err(_) => builder,
                },
            )
        };
    }

    /// The store of a builder, with its own provider of credentials if there is one.
    macro_rules! built {
        ($builder:expr, $fresh:expr, $provider:ident) => {{
            let builder = $builder;
            #[cfg(feature = "cloud")]
            let builder = match $fresh {
                Some(fresh) => builder.with_credentials(credentials::$provider(fresh.clone())),
                None => builder,
            };
            Box::new(builder.build()?)
        }};
    }

    pub(super) fn open(
        url: &Url,
        options: &[(String, String)],
        fresh: Option<&Arc<Fresh>>,
    ) -> object_store::Result<Option<(Box<dyn ObjectStore>, Path)>> {
        let (scheme, path) = ObjectStoreScheme::parse(url)?;
        let store: Box<dyn ObjectStore> = match scheme {
            #[cfg(feature = "aws")]
            ObjectStoreScheme::AmazonS3 => {
                built!(builder!(object_store::aws::AmazonS3Builder, url, options), fresh, aws)
            }
            #[cfg(feature = "azure")]
            ObjectStoreScheme::MicrosoftAzure => {
                built!(builder!(object_store::azure::MicrosoftAzureBuilder, url, options), fresh, azure)
            }
            #[cfg(feature = "gcp")]
            ObjectStoreScheme::GoogleCloudStorage => {
                use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
                let mut builder = builder!(GoogleCloudStorageBuilder, url, options);
                let value = |key| builder.get_config_value(&key);
                let unsigned = value(GoogleConfigKey::SkipSignature).as_deref() == Some("true");
                if unsigned && fresh.is_none() && value(GoogleConfigKey::BearerToken).is_none() {
                    // object_store signs writes in any case: without this it asks for a token of the machine
                    builder = builder.with_bearer_token("");
                }
                built!(builder, fresh, gcp)
            }
            _ => return Ok(None),
        };
        #[cfg(not(feature = "cloud"))]
        let _ = fresh;
        Ok(Some((store, path)))
    }

    /// object_store's own client, which waits as long as a server that is busy asks for.
    #[derive(Debug)]
    struct Patient;

    impl HttpConnector for Patient {
        fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
            Ok(HttpClient::new(PatientClient(ReqwestConnector::default().connect(options)?)))
        }
    }

    #[derive(Debug)]
    struct PatientClient(HttpClient);

    type Answer<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

    impl HttpService for PatientClient {
        fn call<'s, 'a>(&'s self, mut request: HttpRequest) -> Answer<'a>
        where
            's: 'a,
            Self: 'a,
        {
            Box::pin(async move {
                let token = request.headers().get("authorization");
                if token.is_some_and(|token| token.as_bytes().trim_ascii() == b"Bearer") {
                    // nobody is signed in
                    request.headers_mut().remove("authorization");
                }
                let (object, repeatable) = (is_object(&request), is_repeatable(&request));
                let doubt = request.extensions().get::<Doubt>().cloned().unwrap_or_default();
                let again = |error| {
                    doubt.raise();
                    sent_again(error, repeatable)
                };
                let answer = self.0.execute(request).await.map_err(again)?;
                if answer.status().is_server_error() {
                    doubt.raise();
                }
                let asked = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
                if let (429 | 503, Some(asked)) = (answer.status().as_u16(), asked) {
                    // object_store tries again after a pause of its own, which is added to this one
                    tokio::time::sleep(pause(asked, Utc::now())).await;
                }
                if !object || !answer.status().is_success() {
                    // object_store asks again for an answer that does not come, but not for one that breaks off
                    let (parts, body) = answer.into_parts();
                    let body = body.bytes().await.map_err(again)?;
                    return Ok(HttpResponse::from_parts(parts, body.into()));
                }
                Ok(answer)
            })
        }
    }

    /// Whether the answer is an object, of which object_store itself reads the rest where it breaks off.
    fn is_object(request: &HttpRequest) -> bool {
        let query = request.uri().query().unwrap_or_default();
        let lists = ["list-type=", "comp=list"].iter().any(|listing| query.contains(listing));
        request.method().as_str() == "GET" && !lists
    }

    /// Whether a request may be sent twice that object_store takes for one that may not: a put-if-absent then finds its own
    /// object, which callers are ready for, and what is deleted stays deleted.
    fn is_repeatable(request: &HttpRequest) -> bool {
        let has = |name: &&str| request.headers().contains_key(*name);
        match request.method().as_str() {
            "PUT" => ["if-none-match", "x-goog-if-generation-match"].iter().any(has),
            "DELETE" => true,
            // S3's request that deletes many
            "POST" => {
                request.uri().query().is_some_and(|query| query.split('&').any(|q| q.starts_with("delete")))
            }
            _ => false,
        }
    }

    /// A failure of the network such that object_store sends the request again; by itself it does not know all kinds of
    /// them.
    fn sent_again(error: HttpError, repeatable: bool) -> HttpError {
        match error.kind() {
            HttpErrorKind::Unknown | HttpErrorKind::Decode | HttpErrorKind::Interrupted => {
                let kind = if repeatable { HttpErrorKind::Request } else { HttpErrorKind::Interrupted };
                HttpError::new(kind, Broken(error))
            }
            _ => error,
        }
    }

    /// The causes of a failure in one line.
    #[derive(Debug)]
    struct Broken(HttpError);

    impl fmt::Display for Broken {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let mut cause = self.0.source();
            let mut between = "";
            while let Some(error) = cause {
                write!(f, "{between}{error}")?;
                cause = error.source();
                between = ": ";
            }
            Ok(())
        }
    }

    impl std::error::Error for Broken {}

    /// How long `Retry-After` asks to wait, in seconds or until a time; at most [`LONGEST`].
    fn pause(asked: &str, now: DateTime<Utc>) -> Duration {
        let asked = asked.trim();
        let seconds = asked.parse().ok().map(Duration::from_secs);
        let until = || (DateTime::parse_from_rfc2822(asked).ok()?.to_utc() - now).to_std().ok();
        seconds.or_else(until).unwrap_or_default().min(LONGEST)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_server_may_ask_for_a_pause_of_at_most_twenty_seconds() {
            let now = DateTime::parse_from_rfc2822("Fri, 31 Dec 1999 23:59:50 GMT").unwrap().to_utc();
            for (asked, seconds) in [
                ("3", 3),
                (" 0 ", 0),
                ("3600", 20),
                ("Fri, 31 Dec 1999 23:59:59 GMT", 9),
                ("Fri, 31 Dec 1999 23:59:40 GMT", 0),
                ("Sat, 01 Jan 2000 23:59:59 GMT", 20),
                ("soon", 0),
                ("-1", 0),
            ] {
                assert_eq!(pause(asked, now), Duration::from_secs(seconds), "{asked}");
            }
        }
    }
}
