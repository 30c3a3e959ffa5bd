//! The facts of an error, by field.

use std::sync::Arc;

/// One field of an error, for languages that have no `enum`s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Text; a cause is its message.
    Text(String),
    /// A version.
    Number(u64),
    /// Names.
    Names(Vec<String>),
    /// Not known.
    Absent,
}

/// A value as a [`Fact`].
pub(crate) trait AsFact {
    /// The value.
    fn as_fact(&self) -> Fact;
}

impl AsFact for String {
    fn as_fact(&self) -> Fact {
        Fact::Text(self.clone())
    }
}

impl AsFact for &'static str {
    fn as_fact(&self) -> Fact {
        Fact::Text((*self).to_owned())
    }
}

impl AsFact for u64 {
    fn as_fact(&self) -> Fact {
        Fact::Number(*self)
    }
}

impl AsFact for Vec<String> {
    fn as_fact(&self) -> Fact {
        Fact::Names(self.clone())
    }
}

impl<T: AsFact> AsFact for Option<T> {
    fn as_fact(&self) -> Fact {
        self.as_ref().map_or(Fact::Absent, AsFact::as_fact)
    }
}

impl AsFact for Arc<dyn std::error::Error + Send + Sync> {
    fn as_fact(&self) -> Fact {
        Fact::Text(self.to_string())
    }
}

impl AsFact for Arc<arrow::error::ArrowError> {
    fn as_fact(&self) -> Fact {
        Fact::Text(self.to_string())
    }
}
