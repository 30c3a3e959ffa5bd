//! The clients of this process, one for each file system, user and settings: a client has connections and a thread's
//! worth of tasks, and lives on for the next table.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hdfs_native::{Client, ClientBuilder, HdfsError};

use crate::error::Result;
use crate::store::runtime;

/// More are forgotten: settings that change with each table would gather.
const KEPT: usize = 16;

/// What a client was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) url: String,
    pub(super) settings: BTreeMap<String, String>,
}

struct Known {
    /// Connections and tasks do not survive `fork`.
    process: u32,
    user: Option<String>,
    wanted: Wanted,
    client: Client,
}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// The client for what is wanted, as the user that the environment names now. Nothing is sent.
pub(super) fn client(wanted: &Wanted) -> Result<std::result::Result<Client, HdfsError>> {
    let (process, user) = (std::process::id(), std::env::var("HADOOP_USER_NAME").ok());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.iter().any(|k| k.process != process) {
        // leaked: their tasks are on threads of the parent process, which are not ours to end
        std::mem::forget(std::mem::take(&mut *known));
    }
    if let Some(found) = known.iter().find(|k| k.user == user && k.wanted == *wanted) {
        return Ok(Ok(found.client.clone()));
    }
    let Wanted { url, settings } = wanted.clone();
    // made there, it has its tasks on our runtime
    let made =
        runtime::block_on(async move { ClientBuilder::new().with_url(url).with_config(settings).build() })?;
    let client = match made {
        Ok(client) => client,
        Err(error) => return Ok(Err(error)),
    };
    if known.len() >= KEPT {
        known.remove(0);
    }
    known.push(Known { process, user, wanted: wanted.clone(), client: client.clone() });
    Ok(Ok(client))
}
