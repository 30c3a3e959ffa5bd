//! A panic is a bug of this crate or of a dependency. The caller gets an error.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result};

/// Does some work; a panic ends it as [`Error::Internal`]. What it worked on must not be used after that.
///
/// # Errors
/// Those of the work, and [`Error::Internal`] with the name of the operation.
pub fn caught<T>(operation: impl FnOnce() -> String, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(internal(operation(), panic.as_ref())))
}

/// The error of a panic.
pub(crate) fn internal(operation: String, panic: &(dyn Any + Send)) -> Error {
    Error::Internal { operation, reason: reason(panic).to_owned() }
}

/// The message of a panic.
pub(crate) fn reason(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_names_the_operation() {
        let run = |work: fn() -> Result<i32>| caught(|| "vacuum".into(), work).map_err(|e| e.to_string());
        assert_eq!(run(|| Ok(7)), Ok(7));
        assert_eq!(run(|| Err(Error::Interrupted)), Err("interrupted".into()));
        let error = run(|| panic!("{} rows", 3)).unwrap_err();
        assert!(error.starts_with("internal error in `vacuum`: 3 rows. "), "{error}");
        let number = |text: &str| text.len();
        assert!(caught(String::new, || Ok([1, 2][number("four")])).is_err_and(|e| e.kind() == "Internal"));
    }
}
