//! Fuzz targets: real files of tables, mutated, through the doors that read them. `cargo test` plays the inputs that once failed
//! and a few new ones; `tests/README.md` has the commands for more.

// a failed step of a test is a failed test
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]
// what was tried is said beside the result
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod checkpoints;
mod commits;
mod engine;
mod mutate;
mod mutate_json;
mod paths;
#[cfg(target_os = "linux")]
mod paths_ground;
mod predicates;
mod rules;
mod schemas;
mod seeds;
mod state;
mod statistics;
mod vectors;

#[test]
fn commits() {
    engine::run::<commits::Commits>();
}

#[test]
fn checkpoints() {
    engine::run::<checkpoints::Checkpoints>();
}

#[test]
fn vectors() {
    engine::run::<vectors::Vectors>();
}

#[test]
fn schemas() {
    engine::run::<schemas::Schemas>();
}

#[test]
fn predicates() {
    engine::run::<predicates::Predicates>();
}

#[test]
fn paths() {
    engine::run::<paths::Paths>();
}

#[test]
fn rules() {
    engine::run::<rules::Rules>();
}

#[test]
fn statistics() {
    engine::run::<statistics::Statistics>();
}
