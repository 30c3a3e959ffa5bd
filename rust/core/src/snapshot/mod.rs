//! `snapshot`
