//! `commit`
