//! Predicates cross as JSON, which `deltaic.predicates` makes of SQL and `Predicates.java` of Spark's filters.

use deltaic_core::predicate::Predicate;
use deltaic_core::scan::{ReadRequest, RowFilter};
use pyo3::prelude::*;

use crate::errors::to_python;

/// A predicate of its JSON.
pub(crate) struct JsonPredicate(pub(crate) Predicate);

impl<'py> FromPyObject<'_, 'py> for JsonPredicate {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let json: String = object.extract()?;
        Predicate::from_json(&json).map(JsonPredicate).map_err(|e| to_python(object.py(), &e))
    }
}

/// Without its form at the boundary.
pub(crate) fn inner(predicate: Option<JsonPredicate>) -> Option<Predicate> {
    predicate.map(|JsonPredicate(predicate)| predicate)
}

/// The predicates of the scans of a query: one for each, or none for every row.
pub(crate) fn of_scans(reads: Vec<Option<JsonPredicate>>) -> Vec<Option<Predicate>> {
    reads.into_iter().map(inner).collect()
}

/// What rows are asked for: those of a predicate, or those of a condition in SQL where its predicate does not say all of it.
pub(crate) fn read_request(
    columns: Option<Vec<String>>,
    predicate: Option<JsonPredicate>,
    condition: Option<String>,
) -> ReadRequest {
    let filter = match (inner(predicate), condition) {
        (Some(predicate), Some(text)) if predicate.has_unknown() => Some(RowFilter::Condition(text)),
        (predicate, _) => predicate.map(RowFilter::Predicate),
    };
    ReadRequest { columns, filter, ..ReadRequest::default() }
}
