//! State that is shared where nobody may wait for it.

use std::sync::{Mutex, TryLockError};

/// Uses what is shared, unless another thread does: a forked child must not wait for a thread that it does not have.
pub(crate) fn if_unlocked<S, T>(shared: &Mutex<S>, use_it: impl FnOnce(&mut S) -> T) -> Option<T> {
    match shared.try_lock() {
        Ok(mut state) => Some(use_it(&mut state)),
        Err(TryLockError::Poisoned(poisoned)) => Some(use_it(&mut poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}
