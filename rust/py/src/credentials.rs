//! Functions of Python that give credentials.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use deltaic_core::store::{Asked, CredentialSource, GivenCredentials, register_credentials};
use pyo3::prelude::*;

/// Makes a function known to the core by a name: the option `CREDENTIALS` names it. It gets the store and Hadoop's settings
/// for it, and returns options of the store and the seconds since the Unix epoch at which they expire.
#[pyfunction]
#[pyo3(name = "register_credentials")]
pub(crate) fn register(name: &str, function: Py<PyAny>) {
    register_credentials(name, Arc::new(Function(function)));
}

/// The options of a store for another process; see `store::options_to_send`.
#[pyfunction]
pub(crate) fn options_to_send(
    py: Python<'_>,
    uri: String,
    storage_options: BTreeMap<String, String>,
) -> PyResult<BTreeMap<String, String>> {
    crate::runtime::read(py, move || {
        Ok(deltaic_core::store::options_to_send(&uri, &storage_options.into())?.into_iter().collect())
    })
}

struct Function(Py<PyAny>);

impl CredentialSource for Function {
    fn credentials(&self, asked: &Asked) -> Result<GivenCredentials, String> {
        // the calls that wait for this have released the GIL
        let called = Python::try_attach(|py| {
            let answer = self.0.call1(py, (&asked.store, asked.settings.clone()));
            answer
                .and_then(|given| given.extract::<(BTreeMap<String, String>, Option<f64>)>(py))
                .map_err(|e| e.value(py).to_string())
        });
        let (options, expires) = called.unwrap_or_else(|| Err("Python is shutting down".into()))?;
        let expires = match expires.map(Duration::try_from_secs_f64).transpose() {
            Ok(after) => after.and_then(|after| SystemTime::UNIX_EPOCH.checked_add(after)),
            Err(_) => return Err("`expires_at` is not a time".into()),
        };
        Ok(GivenCredentials { options: options.into(), expires })
    }
}
