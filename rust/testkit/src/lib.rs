//! Test tools of deltaic: everything here is for tests and benches, never for a release.
//!
//! - [`FaultStore`] wraps any store and loses answers, tears reads and hides listings, by rule or by seed.
//! - [`Image`] is a table in memory, to be damaged.
//! - [`TableBuilder`] writes a Delta log and small data files by hand, also wrong ones.
//! - [`LogGen`] streams logs of any size to disk.
//! - [`store_conformance`] is what every [`deltaic_core::store::Store`] must pass.
//! - [`Clock`] makes times repeatable.

// a tool that cannot do its part is a failing test, so it says so on the spot
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

pub mod actions;
mod checkpoint;
mod clock;
mod conformance;
mod data;
mod fault_store;
mod image;
mod log_gen;
mod table_builder;

pub use checkpoint::{CheckpointForm, CheckpointSpec};
pub use clock::Clock;
pub use conformance::store_conformance;
pub use data::write_parquet;
pub use fault_store::{Call, Fault, FaultStore, Op, Rule};
pub use image::Image;
pub use log_gen::LogGen;
pub use table_builder::TableBuilder;
