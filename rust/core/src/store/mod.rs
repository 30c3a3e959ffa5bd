//! Where bytes live. [`Store`] is the little that a Delta log needs: an ordered listing, reads, and put-if-absent.

mod traits;

pub use traits::{FileMeta, PutOutcome, Store};
