//! The extension module `deltaic._core`: conversion between Python and the core, and nothing else. The module is the
//! list below.

mod alter;
mod arrow;
mod c_data;
mod changes;
mod commits;
mod convert;
mod credentials;
mod dml;
mod document;
mod errors;
mod file_choices;
mod files;
mod logs;
mod maintain;
mod merge;
mod optimize;
mod predicate;
mod runtime;
mod spark;
mod spark_dml;
mod spark_scan;
mod spark_stream;
mod spark_write;
mod stream;
mod table;
mod vacuum;
mod verify;
mod write;

#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::alter::{
        add_columns, add_constraint, change_columns, cluster_by, drop_columns, drop_constraint, drop_feature,
        known_properties, rename_column, replace_columns, set_properties, sync_identity, unset_properties,
    };
    #[pymodule_export]
    use crate::arrow::arrow_schema_json;
    #[pymodule_export]
    use crate::changes::Changes;
    #[pymodule_export]
    use crate::convert::{Convert, ConvertTask};
    #[pymodule_export]
    use crate::credentials::{options_to_send, register};
    #[pymodule_export]
    use crate::dml::{delete_rows, update_rows};
    #[pymodule_export]
    use crate::errors::{conditions_of_kinds, error_conditions, error_kinds};
    #[pymodule_export]
    use crate::files::FileLines;
    #[pymodule_export]
    use crate::maintain::{fsck, generate_manifest, reset_application, restore, shallow_clone};
    #[pymodule_export]
    use crate::merge::{merge_rows, upsert_rows};
    #[pymodule_export]
    use crate::optimize::{Optimize, OptimizeGather, OptimizeSpread, OptimizeTask};
    #[pymodule_export]
    use crate::spark::{SparkTable, hadoop_settings, time_in_path};
    #[pymodule_export]
    use crate::spark_dml::Dml;
    #[pymodule_export]
    use crate::spark_scan::{ScanPlan, read_split};
    #[pymodule_export]
    use crate::spark_stream::{StreamPart, StreamSource, check_stream_places};
    #[pymodule_export]
    use crate::spark_write::{WritePlan, rule_functions};
    #[pymodule_export]
    use crate::stream::Stream;
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::vacuum::{Vacuum, VacuumTask};
    #[pymodule_export]
    use crate::verify::{VerifyTask, probe_store, verify};
    #[pymodule_export]
    use crate::write::{check_place, create, create_like, write};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::logs::install();
        Ok(())
    }

    /// Version of the extension.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// What names of options have whose values are secrets.
    #[pymodule_export]
    const SECRETS: &str = deltaic_core::store::SECRETS;

    /// The storage option that names a source of credentials.
    #[pymodule_export]
    const CREDENTIALS: &str = deltaic_core::store::CREDENTIALS;

    /// The same of a session.
    #[pymodule_export]
    const SESSION_CREDENTIALS: &str = deltaic_core::store::SESSION_CREDENTIALS;

    /// The name of the source that asks the JVM.
    #[pymodule_export]
    const JVM_CREDENTIALS: &str = deltaic_core::store::JVM_CREDENTIALS;
}
