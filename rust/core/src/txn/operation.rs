use std::collections::BTreeMap;

use serde_json::Value;

use super::route::Route;

/// What a transaction does, as the history of the table shows it. Names, parameters and metrics are delta-spark's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Operation {
    /// `WRITE`, `DELETE`, `SET TBLPROPERTIES` …
    pub name: String,
    /// Parameters.
    pub parameters: BTreeMap<String, Value>,
    /// Metrics; the log stores them as text.
    pub metrics: BTreeMap<String, Value>,
    /// Who read and wrote files, in order, each once; nobody is named where there is no choice.
    pub routes: Vec<Route>,
}

impl Operation {
    /// An operation without parameters.
    pub fn new(name: impl Into<String>) -> Self {
        Operation { name: name.into(), ..Default::default() }
    }

    /// With a parameter that is text.
    #[must_use]
    pub fn with(self, name: &str, value: impl Into<String>) -> Self {
        self.with_json(name, Value::String(value.into()))
    }

    /// With a parameter that is a list or an object: the log stores its JSON as text.
    #[must_use]
    pub fn with_encoded(self, name: &str, value: impl Into<Value>) -> Self {
        self.with(name, value.into().to_string())
    }

    /// With a parameter that is a number, a truth value or null.
    #[must_use]
    pub fn with_json(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.to_owned(), value.into());
        self
    }

    /// With a metric.
    #[must_use]
    pub fn metric(mut self, name: &str, value: u64) -> Self {
        self.set_metric(name, value);
        self
    }

    /// Sets a metric that is known late.
    pub fn set_metric(&mut self, name: &str, value: u64) {
        self.metrics.insert(name.to_owned(), Value::String(value.to_string()));
    }

    /// Sets several metrics that are known late.
    pub fn set_metrics(&mut self, metrics: impl IntoIterator<Item = (impl AsRef<str>, u64)>) {
        for (name, value) in metrics {
            self.set_metric(name.as_ref(), value);
        }
    }
}
