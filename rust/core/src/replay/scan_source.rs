use std::sync::Arc;

use super::checkpoint::CheckpointReader;
use super::tail::Tail;
use crate::report::Counters;
use crate::store::Location;

/// What a listing reads: a tail over a checkpoint.
#[derive(Clone)]
pub(crate) struct ScanSource {
    pub(crate) location: Location,
    pub(crate) tail: Arc<Tail>,
    pub(crate) checkpoint: Option<Arc<CheckpointReader>>,
    pub(crate) counters: Arc<Counters>,
}
