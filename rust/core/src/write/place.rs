//! The place where a table is to be made.

use crate::error::{Error, Result, condition};
use crate::store::Location;

/// Refuses a location with something other than a table: its rows would never be in the table, and a vacuum would
/// delete it. A folder of the log is left by a creation that failed; beside one, a creation `with_rows` may find files
/// that the failed one wrote.
///
/// # Errors
/// [`Error::InvalidArgument`], and errors of the store.
///
/// # Cost
/// One listing.
pub fn check_place(location: &Location, with_rows: bool) -> Result<()> {
    let entries = location.store().entries(location.root())?;
    let is_log = |name: &String| name == "_delta_log";
    if entries.iter().all(is_log) || (with_rows && entries.iter().any(is_log)) {
        return Ok(());
    }
    let path = location.root().to_string();
    let reason = format!(
        "`{path}` is not empty and holds no Delta table; choose another location, or convert the files"
    );
    Err(Error::InvalidArgument { argument: "location".into(), reason }
        .named(&condition::CREATE_TABLE_WITH_NON_EMPTY_LOCATION, [("tableLocation", path)]))
}
