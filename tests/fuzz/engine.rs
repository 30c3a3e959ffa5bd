//! Runs a target in a process whose memory is bounded: an input that panics, aborts, overflows the stack, takes memory without
//! bound or hangs is left in a file.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use fastrand::Rng;

/// What is fuzzed.
pub(crate) trait Target {
    /// Name of the test, and of the folder of its regressions.
    const NAME: &'static str;

    fn new() -> Self;

    /// Inputs as they really are.
    fn seeds(&self) -> Vec<Vec<u8>>;

    fn mutate(&self, rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8>;

    /// Panics where what must hold does not; tells whether the input was accepted.
    fn check(&self, input: &[u8]) -> bool;
}

/// For how long; none is for [`FEW`] inputs.
const SECONDS: &str = "DELTAIC_FUZZ_SECONDS";
/// Where the inputs begin; else 0, or with [`SECONDS`] the time.
const SEED: &str = "DELTAIC_FUZZ_SEED";
/// The file of one input, which alone is tried.
const INPUT: &str = "DELTAIC_FUZZ_INPUT";
/// The process that tries: it gets the file for the input that it is at.
const CURRENT: &str = "DELTAIC_FUZZ_CURRENT";

const FEW: u64 = 300;
/// More address space than that is memory without bound: inputs are of some kilobytes.
const KILOBYTES: u32 = 2 << 20;
/// An input that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) fn run<T: Target>() {
    if let Ok(current) = std::env::var(CURRENT) {
        return many::<T>(Path::new(&current));
    }
    if let Ok(input) = std::env::var(INPUT) {
        let accepted = T::new().check(&fs::read(&input).unwrap());
        println!("{}: {input} is {}", T::NAME, if accepted { "accepted" } else { "refused" });
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
    fs::create_dir_all(&folder).unwrap();
    let current = folder.join(format!("{}-{}", T::NAME, std::process::id()));
    let done = Command::new("sh")
        .args(["-c", &format!("ulimit -v {KILOBYTES} 2>/dev/null; exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args([T::NAME, "--exact", "--nocapture", "--test-threads=1"])
        .env(CURRENT, &current)
        // an arena a thread would count as memory
        .env("MALLOC_ARENA_MAX", "2")
        .output()
        .unwrap();
    println!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    if done.status.success() {
        fs::remove_file(&current).unwrap();
        return;
    }
    let failed = current.with_extension("failed");
    fs::rename(&current, &failed).unwrap();
    panic!(
        "{}. The input is in a file: {INPUT}={} cargo test -p deltaic-core --test fuzz {} -- --exact --nocapture. Once that is \
         mended, keep the file in tests/fuzz/regressions/{}",
        done.status,
        failed.display(),
        T::NAME,
        T::NAME
    );
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

fn regressions<T: Target>() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/regressions").join(T::NAME);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn many<T: Target>(current: &Path) {
    let (target, mut file) = (T::new(), File::create(current).unwrap());
    let runs = Arc::new(AtomicU64::new(0));
    watch(runs.clone());
    let mut accepted = 0_u64;
    let mut check = |input: &[u8]| {
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(input).unwrap();
        file.set_len(input.len() as u64).unwrap();
        accepted += u64::from(target.check(input));
        runs.fetch_add(1, Ordering::Relaxed) + 1
    };
    let seeds = target.seeds();
    for seed in &seeds {
        check(seed);
    }
    for input in regressions::<T>() {
        check(&input);
    }
    let seconds = number(SECONDS).map(Duration::from_secs);
    let time = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let seed = number(SEED).unwrap_or(seconds.map_or(0, |_| time));
    println!("{}: {} seeds, {SEED}={seed}", T::NAME, seeds.len());
    let (mut rng, started) = (Rng::with_seed(seed), Instant::now());
    loop {
        let count = check(&target.mutate(&mut rng, &seeds));
        if seconds.map_or(count >= FEW, |seconds| started.elapsed() >= seconds) {
            break;
        }
    }
    println!("{}: {} inputs, {accepted} accepted", T::NAME, runs.load(Ordering::Relaxed));
}

/// Ends the process when an input hangs.
fn watch(runs: Arc<AtomicU64>) {
    thread::spawn(move || {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            thread::sleep(Duration::from_millis(200));
            let now = runs.load(Ordering::Relaxed);
            if now != last {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() > LIMIT {
                eprintln!("input {} hangs", now + 1);
                std::process::exit(3);
            }
        }
    });
}
