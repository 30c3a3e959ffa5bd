//! Benches only: `cargo bench -p deltaic-benches`. See README.md.
