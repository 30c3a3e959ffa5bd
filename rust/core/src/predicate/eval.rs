//! Exact evaluation of a predicate on the rows of an Arrow batch.
