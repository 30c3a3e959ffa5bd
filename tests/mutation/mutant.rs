//! The mutant that is on, which the environment names.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const UNREAD: u32 = u32::MAX;
const NONE: u32 = u32::MAX - 1;
const RECORDING: u32 = u32::MAX - 2;
static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);
static SEEN: [AtomicBool; 8192] = [const { AtomicBool::new(false) }; 8192];

fn read() -> u32 {
    let named = std::env::var("DELTAIC_MUTANT").ok().and_then(|n| n.parse().ok());
    let active = match named {
        Some(number) => number,
        None if std::env::var_os("DELTAIC_MUTANTS_SEEN").is_some() => RECORDING,
        None => NONE,
    };
    ACTIVE.store(active, Ordering::Relaxed);
    active
}

fn active() -> u32 {
    match ACTIVE.load(Ordering::Relaxed) {
        UNREAD => read(),
        known => known,
    }
}

fn seen(number: u32) {
    if !SEEN[number as usize].swap(true, Ordering::Relaxed) {
        if let Some(path) = std::env::var_os("DELTAIC_MUTANTS_SEEN") {
            if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
                let _ = file.write_all(format!("{number}\n").as_bytes());
            }
        }
    }
}

/// Whether a mutant is on.
pub(crate) fn on(number: u32) -> bool {
    let active = active();
    if active == RECORDING {
        seen(number);
    }
    active == number
}

/// Whether none of some mutants is on.
pub(crate) fn off(first: u32, count: u32) -> bool {
    let active = active();
    if active == RECORDING {
        (first..first + count).for_each(seen);
    }
    !(first..first + count).contains(&active)
}
