//! Setting an application back, so that its next writes count again.

use crate::actions::OperationName;
use crate::error::Result;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::txn::{Operation, Transaction};

/// The identifier of an application that was reset. PROTOCOL.md has no way to remove it, but allows a lower version.
const NOTHING: i64 = -1;

/// Makes the table forget how far an application came: the id of a streaming query, or the `txnAppId` of a write.
/// Returns the version of the commit, `None` if the table does not know the application.
///
/// # Errors
/// [`crate::Error::ConcurrentTransaction`] when the application writes meanwhile; as [`Snapshot::open`] and
/// [`Transaction::commit`].
pub fn reset_application(location: &Location, app_id: &str) -> Result<Option<u64>> {
    let snapshot = Snapshot::open(location.clone(), At::Latest)?;
    if snapshot.app_transaction(app_id)?.is_none_or(|recorded| recorded.version <= NOTHING) {
        return Ok(None);
    }
    let operation = Operation::new(OperationName::ResetApplication).with("appId", app_id);
    let mut txn = Transaction::begin(&snapshot, operation);
    txn.app_transaction(app_id, NOTHING);
    Ok(Some(txn.commit()?.version))
}
