//! Random histories: several writers, every operation, faults and crashes, played from a seed on the fault store and held
//! against an oracle in memory. What was acknowledged is there once, what failed is not, every version that must still be
//! there has the rows that it must have, and checkpoints, compacted files and checksums say what the commits say.
//!
//! `DELTAIC_SIM_COUNT` is the number of histories, `DELTAIC_SIM_SEED` plays one seed again and tells what happened,
//! `DELTAIC_SIM_TWICE` is the number of seeds that are played twice to see that they give the same.

// a failed step of a test is a failed test
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

mod disk;
mod history;
mod oracle;
mod script;
mod stage;
mod work;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use history::{Counts, History};
use script::Script;

/// Histories that are played at the same time: pauses between retries are waited for side by side.
const AT_ONCE: usize = 8;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

fn play(seed: u64, overwrites: bool) -> Result<Counts, String> {
    let script = Script::of(seed);
    let history = History::play(&script, overwrites)?;
    history.check().map(|()| history.counts)
}

/// Plays the seeds below `count`; gives what was counted, and what was wrong with the first few that failed.
fn play_all(count: u64, overwrites: bool) -> (Counts, Vec<(u64, String)>) {
    let next = AtomicU64::new(0);
    let (counts, wrong) = (Mutex::new(Counts::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while wrong.lock().unwrap().len() < 5 {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if seed >= count {
                        return;
                    }
                    match play(seed, overwrites) {
                        Ok(new) => {
                            let mut counts = counts.lock().unwrap();
                            new.into_iter().for_each(|(what, n)| *counts.entry(what).or_default() += n);
                        }
                        Err(why) => wrong.lock().unwrap().push((seed, why)),
                    }
                }
            });
        }
    });
    (counts.into_inner().unwrap(), wrong.into_inner().unwrap())
}

#[test]
fn random_histories_keep_what_was_acknowledged() {
    if let Some(seed) = number("DELTAIC_SIM_SEED") {
        let script = Script::of(seed);
        println!("{script:#?}");
        let history = History::play(&script, false).unwrap();
        history.trace().iter().for_each(|line| println!("{line}"));
        history.check().unwrap();
        return;
    }
    let count = number("DELTAIC_SIM_COUNT").unwrap_or(400);
    let (counts, wrong) = play_all(count, false);
    println!("{count} histories");
    counts.iter().for_each(|(what, n)| println!("{n:>9} {what}"));
    let text: Vec<_> = wrong.iter().map(|(seed, why)| format!("DELTAIC_SIM_SEED={seed}: {why}")).collect();
    assert!(wrong.is_empty(), "{}", text.join("\n"));
}

#[test]
fn a_store_that_forgets_the_condition_is_seen() {
    let (_, wrong) = play_all(60, true);
    assert!(!wrong.is_empty());
}

#[test]
fn a_seed_gives_the_same_history() {
    for seed in 0..number("DELTAIC_SIM_TWICE").unwrap_or(30) {
        let outline = || History::play(&Script::of(seed), false).unwrap().outline();
        let (once, again) = (outline(), outline());
        let differs = once.iter().zip(&again).find(|(a, b)| a != b);
        assert!(differs.is_none() && once.len() == again.len(), "DELTAIC_SIM_SEED={seed}: {differs:#?}");
    }
}
