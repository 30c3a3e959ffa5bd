use crate::StorageOptions;
use crate::core::{Location, Result};

/// Where an operation works: at a table that is open, or at a path or URL.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Open(Location),
    Uri(String, StorageOptions),
}

impl Place {
    pub(crate) fn uri(uri: impl Into<String>) -> Self {
        Place::Uri(uri.into(), StorageOptions::new())
    }

    /// Sets an option of the store; an open table ignores it.
    pub(crate) fn option(&mut self, key: impl Into<String>, value: impl Into<String>) {
        if let Place::Uri(_, options) = self {
            *options = std::mem::take(options).with(key, value);
        }
    }

    pub(crate) fn open(self) -> Result<Location> {
        match self {
            Place::Open(location) => Ok(location),
            Place::Uri(uri, options) => Location::open(&uri, &options.0),
        }
    }
}

pub(crate) fn strings<S: Into<String>>(items: impl IntoIterator<Item = S>) -> Vec<String> {
    items.into_iter().map(Into::into).collect()
}
