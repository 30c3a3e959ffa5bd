//! The extension module `deltaic._core`.
