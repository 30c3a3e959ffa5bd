//! Every damage of every file, in a process whose memory is bounded, with an eye on those that hang.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use deltaic_core::snapshot::Verify;

use super::damages::{Damage, FLIPS};
use super::judge::{Judged, Known, LEVELS, Outcome};
use super::tables::tables;

/// The folder in which the process that damages says what it is at.
const FOLDER: &str = "DELTAIC_DAMAGE_FOLDER";
/// Bits that are flipped in each file.
const COUNT: &str = "DELTAIC_DAMAGE_FLIPS";
/// More address space than that is memory without bound: the tables are of some kilobytes.
const KILOBYTES: u32 = 3 << 20;
/// A damage that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(30);
const THREADS: usize = 2;

#[test]
fn no_damage_of_a_log_gives_a_wrong_answer_that_the_log_tells() {
    let folder = tempfile::tempdir().unwrap();
    let bounded = format!("ulimit -v {KILOBYTES} 2>/dev/null; exec \"$0\" \"$@\"");
    let done = Command::new("sh")
        .args(["-c", &bounded])
        .arg(std::env::current_exe().unwrap())
        .args(["damage::run::process", "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder.path())
        // an arena a thread would count as memory
        .env("MALLOC_ARENA_MAX", "2")
        .output()
        .unwrap();
    let at = |entry: fs::DirEntry| fs::read_to_string(entry.path()).unwrap_or_default();
    let at: Vec<String> = fs::read_dir(folder.path()).unwrap().map(|e| at(e.unwrap())).collect();
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    println!("{said}");
    assert!(done.status.success(), "{}, at {at:#?}", done.status);
}

struct Case {
    table: Arc<Known>,
    name: String,
    damage: Damage,
}

/// What is under way in a thread, and since when.
type Slots = [Mutex<Option<(String, Instant)>>; THREADS];

/// Of a thousand readings of damaged tables at a level, so many at most may give a wrong answer that something in the log
/// tells: where a bit is flipped, and where a whole file is another one. At the level `full` it is none: that one finds them,
/// or the test fails.
const MOST_WRONG: [(Verify, [usize; 2]); 2] = [(Verify::Fast, [7, 13]), (Verify::Checked, [4, 2])];

/// What is wrong, and how often each outcome was, by level.
#[derive(Default)]
struct Found {
    failures: Vec<String>,
    outcomes: BTreeMap<(Verify, Outcome), usize>,
    /// Readings by level, and whether a bit is flipped; how many there are, and how many of them are wrong.
    readings: BTreeMap<(Verify, bool), (usize, usize)>,
    /// The wrong answers at the default level.
    wrong: Vec<String>,
}

impl Found {
    fn add(&mut self, what: &str, damage: &Damage, judged: Vec<Judged>) {
        let flipped = matches!(damage, Damage::Flipped(..));
        for Judged { level, outcome, wrong } in judged {
            let (all, bad) = self.readings.entry((level, flipped)).or_default();
            *all += 1;
            *bad += usize::from(outcome == Outcome::Wrong);
            *self.outcomes.entry((level, outcome)).or_default() += 1;
            self.wrong
                .extend(wrong.filter(|_| level == Verify::default()).map(|wrong| format!("{what} {wrong}")));
        }
    }
}

/// The process that damages: no test, unless it is given a folder.
#[test]
fn process() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let flips = std::env::var(COUNT).map_or(FLIPS, |count| count.parse().unwrap());
    let known: Vec<Arc<Known>> = tables().into_iter().map(|table| Arc::new(Known::of(table))).collect();
    let mut cases = Vec::new();
    let mut files = 0;
    for table in &known {
        let image = &table.table.image;
        let vectors = image.objects.keys().filter(|name| name.ends_with(".bin")).cloned();
        for name in image.log().into_iter().chain(vectors) {
            files += 1;
            let damages = Damage::of(image, &name, flips).into_iter();
            cases.extend(damages.map(|damage| Case { table: table.clone(), name: name.clone(), damage }));
        }
    }
    let count = cases.len();
    let Found { failures, outcomes, readings, wrong } = run(cases, PathBuf::from(folder));
    println!("{} tables, {files} files, {count} damages, two versions each:", known.len());
    for level in LEVELS {
        println!("  at the level `{level}`:");
        for ((_, outcome), count) in outcomes.iter().filter(|((of, _), _)| *of == level) {
            println!("  {count:6} {outcome}");
        }
    }
    println!("wrong at the level `{}`:\n  {}", Verify::default(), wrong.join("\n  "));
    for (level, most) in MOST_WRONG {
        for (flipped, most) in [true, false].into_iter().zip(most) {
            let (all, wrong) = readings[&(level, flipped)];
            println!("  {wrong} of {all} wrong at the level `{level}`, bits flipped: {flipped}");
            assert!(wrong * 1000 <= most * all, "{wrong} of {all} at the level `{level}`");
        }
    }
    assert!(
        failures.is_empty(),
        "{} failed, such as\n{}",
        failures.len(),
        failures[..failures.len().min(40)].join("\n")
    );
}

fn run(cases: Vec<Case>, folder: PathBuf) -> Found {
    let (cases, folder) = (Arc::new(cases), Arc::new(folder));
    let slots: Arc<Slots> = Arc::default();
    let next = Arc::new(AtomicUsize::new(0));
    let results: Arc<Mutex<Found>> = Arc::default();
    let workers: Vec<_> = (0..THREADS)
        .map(|slot| {
            let (cases, folder) = (cases.clone(), folder.clone());
            let (slots, next, results) = (slots.clone(), next.clone(), results.clone());
            thread::spawn(move || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let what = format!("{}: {} {}", case.table.table.name, case.name, case.damage);
                    fs::write(folder.join(slot.to_string()), &what).unwrap();
                    *lock(&slots[slot]) = Some((what.clone(), Instant::now()));
                    let judged =
                        catch_unwind(AssertUnwindSafe(|| case.table.judge(&case.name, &case.damage)));
                    let mut found = lock(&results);
                    match judged {
                        Ok(Ok(judged)) => found.add(&what, &case.damage, judged),
                        Ok(Err(wrong)) => found.failures.push(format!("{what}: {wrong}")),
                        Err(_) => found.failures.push(format!("{what}: a panic")),
                    }
                }
                *lock(&slots[slot]) = None;
            })
        })
        .collect();
    while workers.iter().any(|worker| !worker.is_finished()) {
        thread::sleep(Duration::from_millis(50));
        for slot in slots.iter() {
            if let Some((what, since)) = &*lock(slot) {
                assert!(since.elapsed() < LIMIT, "{what}: hangs");
            }
        }
    }
    std::mem::take(&mut *lock(&results))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
