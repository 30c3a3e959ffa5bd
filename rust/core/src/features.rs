//! Table features: what a reader and a writer may do.
