//! What the names of properties begin with that are many.

/// All properties with a meaning for Delta.
pub(crate) const PREFIX: &str = "delta.";

/// A CHECK constraint, by its name.
pub(crate) const CONSTRAINT_PREFIX: &str = "delta.constraints.";

/// A feature that the protocol is asked for, by its name.
pub(crate) const FEATURE_PREFIX: &str = "delta.feature.";

/// What column mapping keeps of a table.
pub(crate) const COLUMN_MAPPING_PREFIX: &str = "delta.columnMapping.";

/// What row tracking keeps of a table.
pub(crate) const ROW_TRACKING_PREFIX: &str = "delta.rowTracking.";

/// Who coordinates the commits of a table, and how.
pub(crate) const COORDINATED_COMMITS_PREFIX: &str = "delta.coordinatedCommits.";
