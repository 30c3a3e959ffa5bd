//! `scan`
