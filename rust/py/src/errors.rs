//! Errors of the core become the classes of `deltaic.exceptions`: one class a kind, the fields as attributes.

use deltaic_core::error::{Error, Fact, condition};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// Every kind of error with the names of its facts. The class of a kind is `deltaic.exceptions.<kind>Error`.
#[pyfunction]
pub(crate) fn error_kinds() -> Vec<(&'static str, Vec<&'static str>)> {
    Error::KINDS.iter().map(|(kind, facts)| (*kind, facts.to_vec())).collect()
}

/// A condition: its name, SQLSTATE, the class in PySpark, and the message parameters, each with the fact that fills it.
#[derive(IntoPyObject)]
pub(crate) struct Condition {
    name: &'static str,
    sql_state: &'static str,
    spark_class: &'static str,
    parameters: Vec<(&'static str, Option<&'static str>)>,
}

/// Every condition.
#[pyfunction]
pub(crate) fn error_conditions() -> Vec<Condition> {
    let of = |c: &&condition::Condition| Condition {
        name: c.name,
        sql_state: c.sql_state,
        spark_class: c.class.name(),
        parameters: c.parameters.to_vec(),
    };
    condition::ALL.iter().map(of).collect()
}

/// The kinds of error that are always one condition, with its name.
#[pyfunction]
pub(crate) fn conditions_of_kinds() -> Vec<(&'static str, &'static str)> {
    condition::OF_KINDS.iter().filter_map(|(kind, of)| Some((*kind, (*of)?.name))).collect()
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
    let raised = class.call((error.to_string(),), Some(&facts))?;
    if let Some(condition) = error.condition() {
        let parameters = PyDict::new(py);
        for (name, value) in error.given_parameters() {
            parameters.set_item(name, value)?;
        }
        raised.call_method("named", (condition.name,), Some(&parameters))?;
    }
    Ok(PyErr::from_value(raised))
}
