//! `write`
