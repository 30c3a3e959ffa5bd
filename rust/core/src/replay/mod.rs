//! `replay`
