//! Credentials that somebody gives when they are asked for, and that are renewed before they expire: a function of
//! Python, or a class of Hadoop in the JVM.

mod fresh;
mod profile;
#[cfg(feature = "cloud")]
mod providers;
mod registered;
mod source;

pub(super) use fresh::Fresh;
pub(super) use profile::of_profile;
#[cfg(feature = "cloud")]
pub(super) use providers::{aws, azure, gcp};
pub use registered::register_credentials;
pub(super) use registered::{fresh_of, is_registered, of_source};
pub use source::{
    Asked, CREDENTIALS, CredentialSource, GivenCredentials, JVM_CREDENTIALS, SESSION_CREDENTIALS,
};
