//! Errors from what other libraries report.

use std::sync::Arc;

use arrow::error::ArrowError;

use super::kinds::Error;

impl Error {
    /// A storage failure.
    pub fn storage(
        operation: &'static str,
        path: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Error::Storage { operation, path: path.into(), source: Arc::from(source.into()) }
    }

    /// An Arrow failure with what was being done; our own error that passed through Arrow is unwrapped.
    pub fn arrow(context: impl Into<String>, source: ArrowError) -> Self {
        let source = match source {
            ArrowError::ExternalError(inner) => match inner.downcast::<Error>() {
                Ok(ours) => return *ours,
                Err(inner) => ArrowError::ExternalError(inner),
            },
            other => other,
        };
        Error::Arrow { context: context.into(), source: Arc::new(source) }
    }

    /// A corrupt log file.
    pub fn corrupt(path: impl Into<String>, version: Option<u64>, reason: impl Into<String>) -> Self {
        Error::LogCorrupt { path: path.into(), version, reason: reason.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_ours_comes_back_through_arrow() {
        let ours = Error::storage("get", "a", "refused");
        let through = ArrowError::ExternalError(Box::new(ours));
        assert_eq!(Error::arrow("reading", through).kind(), "Storage");
        let theirs = ArrowError::ExternalError("theirs".into());
        assert_eq!(Error::arrow("reading", theirs).kind(), "Arrow");
    }
}
