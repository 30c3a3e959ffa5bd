//! The Parquet decoder panics on some damaged files. A damaged file is an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::panics::reason;

/// Calls the decoder and makes an error of a panic. What it worked on must not be used after that.
pub(crate) fn guarded<T, E: std::fmt::Display>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(done) => done.map_err(|e| e.to_string()),
        Err(panic) => {
            Err(format!("it is damaged in a way that stops the decoder: {}", reason(panic.as_ref())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_text() {
        let number = |text: &str| text.parse::<i32>();
        assert_eq!(guarded(|| number("7")), Ok(7));
        assert!(guarded(|| number("x")).is_err_and(|e| e.contains("invalid digit")));
        let panics = guarded(|| Err::<(), _>([String::new()][number("7").unwrap_or(0) as usize].clone()));
        assert!(panics.is_err_and(|e| e.contains("index out of bounds")));
    }
}
