//! Errors of the core become the classes of `deltaic.exceptions`: one class a kind, the fields as attributes.

use deltaic::error::{Error, Fact};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// Every kind of error with the names of its facts. The class of a kind is `deltaic.exceptions.<kind>Error`.
#[pyfunction]
pub(crate) fn error_kinds() -> Vec<(&'static str, Vec<&'static str>)> {
    Error::KINDS.iter().map(|(kind, facts)| (*kind, facts.to_vec())).collect()
}

/// The Python exception of an error of the core.
pub(crate) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    raise(py, error).unwrap_or_else(|lookup| {
        let plain = PyRuntimeError::new_err(error.to_string());
        plain.set_cause(py, Some(lookup));
        plain
    })
}

fn raise(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("deltaic.exceptions").map(Bound::unbind))?.bind(py);
    let class = module.getattr(format!("{}Error", error.kind()))?.cast_into::<PyType>()?;
    let facts = PyDict::new(py);
    for (name, fact) in error.facts() {
        match fact {
            Fact::Text(text) => facts.set_item(name, text)?,
            Fact::Number(number) => facts.set_item(name, number)?,
            Fact::Names(names) => facts.set_item(name, names)?,
            Fact::Absent => facts.set_item(name, py.None())?,
        }
    }
    Ok(PyErr::from_value(class.call((error.to_string(),), Some(&facts))?))
}
