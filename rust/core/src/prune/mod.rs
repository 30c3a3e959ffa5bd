//! `prune`
