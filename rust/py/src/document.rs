//! Documents: options come and results go as dictionaries, whose types are in `_core.pyi`.

use pyo3::prelude::*;

/// A dictionary of options as the struct that lists its items. An item of a wrong type raises what an argument would, with
/// a note that names the item.
pub(crate) struct Document<T>(pub(crate) T);

impl<'a, 'py, T> FromPyObject<'a, 'py> for Document<T>
where
    T: FromPyObject<'a, 'py, Error = PyErr>,
{
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        T::extract(object).map(Document).map_err(|error| match error.cause(py) {
            Some(cause) => {
                // Python 3.10 has no notes
                let _ = cause.value(py).call_method1("add_note", (error.value(py).to_string(),));
                cause
            }
            None => error,
        })
    }
}
