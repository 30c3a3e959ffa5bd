//! Where bytes live. [`Store`] is the little that a Delta log needs: an ordered listing, reads, and put-if-absent.

mod allowed;
mod buffers;
mod contained;
mod credentials;
mod folder;
mod hadoop;
#[cfg(feature = "hdfs")]
mod hdfs;
mod kept;
mod local;
mod location;
mod metered;
mod names;
mod object;
mod opened;
mod options;
#[cfg(all(test, unix))]
mod power_cut;
mod remote;
mod root;
pub mod runtime;
mod secrets;
mod staged;
mod traits;

pub use allowed::ALLOWED_LOCATIONS;
pub(crate) use allowed::AllowedLocations;
pub(crate) use buffers::Recycling;
pub(crate) use contained::{Contained, is_of_log};
pub use credentials::{
    Asked, CREDENTIALS, CredentialSource, GivenCredentials, JVM_CREDENTIALS, SESSION_CREDENTIALS,
    register_credentials,
};
pub use hadoop::hadoop_settings;
pub use local::LocalStore;
pub use location::Location;
pub(crate) use metered::{Meter, Metered};
pub use object::ObjectAdapter;
pub use opened::options_to_send;
#[cfg(all(test, unix))]
pub(crate) use power_cut::{Ignore, PowerCut};
pub use secrets::{SECRETS, StorageOptions, is_secret};
pub(crate) use staged::staged_for;
use traits::Doubt;
pub(crate) use traits::io_error;
pub use traits::{FileMeta, PutOutcome, Store};
