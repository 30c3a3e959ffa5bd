//! Behaviour of the core as its users see it: one binary, one module for each behaviour. `tests/README.md` lists the tables.

// a failed step of a test is a failed test
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod allowed_locations;
mod cdf;
mod checkpoint;
mod commit;
mod compatibility;
mod conflict;
mod damage;
mod dml;
mod explain;
mod hostile;
mod kill;
mod load;
mod load_checkpoint_damage;
mod load_cleaned;
mod load_contradictions;
mod load_counts;
mod load_faults;
mod load_groups;
mod load_levels;
mod maintain;
mod rivals;
mod secrets;
mod store;
mod stream;
mod table_builder;
mod time_travel;
mod tracked_stream;
mod txn;
mod verify;
mod write;
