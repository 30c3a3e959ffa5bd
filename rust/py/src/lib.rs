//! The extension module `deltaic._core`: conversion between Python and the core, and nothing else. The module is the
//! list below.

mod arrow;
mod errors;
mod runtime;
mod spark;

#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::errors::error_kinds;
    #[pymodule_export]
    use crate::spark::SparkTable;

    /// Version of the extension.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
