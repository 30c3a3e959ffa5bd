//! How far each application came, as the table still knows it.

use chrono::Utc;

use super::Snapshot;
use crate::actions::Txn;
use crate::error::Result;
use crate::log::LogSettings;

impl Snapshot {
    /// The newest transaction identifier of an application, if it has one that has not expired.
    ///
    /// # Errors
    /// As [`Snapshot::app_transactions`].
    pub fn app_transaction(&self, app_id: &str) -> Result<Option<Txn>> {
        let found = self.retried(|| {
            let (tail, checkpoint) = self.replayed()?;
            Ok(match (tail.txns.get(app_id), checkpoint) {
                (Some(txn), _) => Some(txn.clone()),
                (None, Some(checkpoint)) => {
                    checkpoint.txns_and_domains()?.0.iter().find(|t| t.app_id == app_id).cloned()
                }
                (None, None) => None,
            })
        })?;
        let expired = self.expired_at()?;
        Ok(found.filter(|txn| lives(txn, expired)))
    }

    /// The newest transaction identifier of every application, except those that are as old as
    /// `delta.setTransactionRetentionDuration` now, or do not say their age, where the table has this property.
    ///
    /// # Errors
    /// As [`Snapshot::files`]; [`crate::Error::InvalidArgument`] where the property cannot be read.
    pub fn app_transactions(&self) -> Result<Vec<Txn>> {
        let all = self.retried(|| {
            let (tail, checkpoint) = self.replayed()?;
            let mut all = (*tail.txns).clone();
            if let Some(checkpoint) = checkpoint {
                for txn in checkpoint.txns_and_domains()?.0 {
                    all.entry(txn.app_id.clone()).or_insert_with(|| txn.clone());
                }
            }
            Ok(all)
        })?;
        let expired = self.expired_at()?;
        Ok(all.into_values().filter(|txn| lives(txn, expired)).collect())
    }

    /// The time up to which identifiers have expired; none where they never do.
    fn expired_at(&self) -> Result<Option<i64>> {
        let kept = LogSettings::of(self.protocol(), self.metadata())?.txn_retention;
        Ok(kept.map(|keep| Utc::now().timestamp_millis().saturating_sub(keep)))
    }
}

fn lives(txn: &Txn, expired: Option<i64>) -> bool {
    expired.is_none_or(|cut| txn.last_updated.is_some_and(|at| at > cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_that_is_old_enough_or_does_not_say_its_age_has_expired() {
        let of = |last_updated| Txn { app_id: "a".into(), version: 1, last_updated };
        assert!(lives(&of(None), None) && lives(&of(Some(1)), None));
        assert!(lives(&of(Some(8)), Some(7)));
        assert!(!lives(&of(Some(7)), Some(7)) && !lives(&of(None), Some(7)));
    }
}
