//! `log`
