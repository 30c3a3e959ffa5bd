//! Writers take turns, request by request, in an order that the seed decides.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;

use deltaic_core::actions::ObjectPath;
use deltaic_testkit::{Fault, FaultStore, Op};
use fastrand::Rng;

/// Which writer may go on.
#[derive(Debug)]
pub(crate) struct Stage {
    turns: Mutex<Turns>,
    changed: Condvar,
}

#[derive(Debug)]
struct Turns {
    rng: Rng,
    waiting: Vec<bool>,
    over: Vec<bool>,
    turn: Option<usize>,
}

impl Turns {
    /// Gives the turn to one of those who wait, once all who are left do.
    fn next(&mut self) {
        let ready = self.waiting.iter().zip(&self.over).all(|(waiting, over)| *waiting || *over);
        let left: Vec<usize> = (0..self.over.len()).filter(|w| !self.over[*w]).collect();
        self.turn = if ready && !left.is_empty() { Some(left[self.rng.usize(..left.len())]) } else { None };
    }
}

impl Stage {
    pub(crate) fn new(seed: u64, writers: usize) -> Arc<Self> {
        let rng = Rng::with_seed(seed ^ 0x5747_4147_4521);
        let turns = Turns { rng, waiting: vec![false; writers], over: vec![false; writers], turn: None };
        Arc::new(Stage { turns: Mutex::new(turns), changed: Condvar::new() })
    }

    /// Waits until it is this writer's turn.
    pub(crate) fn enter(&self, writer: usize) {
        let mut turns = self.turns.lock().unwrap();
        turns.waiting[writer] = true;
        turns.next();
        self.changed.notify_all();
        while turns.turn != Some(writer) {
            turns = self.changed.wait(turns).unwrap();
        }
        turns.waiting[writer] = false;
    }

    /// Between two requests: others may have the turn, or the writer goes on.
    fn between(&self, writer: usize) {
        let stays = {
            let mut turns = self.turns.lock().unwrap();
            turns.over.iter().filter(|over| !**over).count() < 2 || turns.rng.u8(..) < 150
        };
        if !stays {
            self.enter(writer);
        }
    }

    /// The writer is done for good.
    pub(crate) fn leave(&self, writer: usize) {
        let mut turns = self.turns.lock().unwrap();
        turns.over[writer] = true;
        turns.next();
        self.changed.notify_all();
    }
}

/// What goes wrong with the requests of one writer. It depends on the seed, on the kind of request and object, and on how
/// often there was one like it, and not on random names.
#[derive(Debug)]
pub(crate) struct Director {
    stage: Arc<Stage>,
    writer: usize,
    thread: ThreadId,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    seed: u64,
    rate: f64,
    seen: HashMap<(Op, String), u64>,
    /// The same for threads that help with an attempt: how many requests they make before one fails depends on who is
    /// faster.
    helped: HashMap<(Op, String), u64>,
    /// Each begins with a listing.
    attempts: u64,
    calls: u64,
    crash_at: Option<u64>,
    crashed: bool,
    /// Whether listings of the log may lag behind: what a writer may live with, and one that deletes old files may not.
    may_lag: bool,
}

impl Director {
    /// The director of a writer of this thread.
    pub(crate) fn new(stage: Arc<Stage>, writer: usize, seed: u64, rate: f64) -> Arc<Self> {
        let seed = seed.wrapping_mul(31).wrapping_add(writer as u64);
        let state = State {
            seed,
            rate,
            seen: HashMap::new(),
            helped: HashMap::new(),
            attempts: 0,
            calls: 0,
            crash_at: None,
            crashed: false,
            may_lag: false,
        };
        let thread = std::thread::current().id();
        Arc::new(Director { stage, writer, thread, state: Mutex::new(state) })
    }

    /// The store as this writer meets it.
    pub(crate) fn over(self: &Arc<Self>, store: &FaultStore) -> FaultStore {
        let director = self.clone();
        store.directed(move |op, path| director.ask(op, path))
    }

    /// Begins an operation: a process that was gone is started again.
    pub(crate) fn begin(&self, may_lag: bool, crash_after: Option<u64>) {
        let mut state = self.state.lock().unwrap();
        state.crashed = false;
        state.attempt();
        state.crash_at = crash_after.map(|n| state.calls + n);
        state.may_lag = may_lag;
    }

    pub(crate) fn crashed(&self) -> bool {
        self.state.lock().unwrap().crashed
    }

    fn ask(&self, op: Op, path: &ObjectPath) -> Option<Fault> {
        // helpers of the writer run within its turn; how many files there are to clear away depends on them too
        let clears = op == Op::Delete && !path.key().contains("/_delta_log/");
        let own =
            std::thread::current().id() == self.thread && !(clears && self.state.lock().unwrap().may_lag);
        if own {
            self.stage.between(self.writer);
        }
        let mut state = self.state.lock().unwrap();
        if own {
            state.calls += 1;
            if op == Op::ListFrom {
                state.attempt();
            }
            state.crashed |= state.crash_at.is_some_and(|at| state.calls >= at);
        }
        if state.crashed {
            return Some(Fault::Refused);
        }
        state.draw(own, op, &plain(path.key()))
    }
}

/// A path without what is random in it: the commit by its name, all else by folder and kind.
fn plain(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let kind = name.rsplit('.').next().unwrap_or_default();
    match name.split_once('.') {
        Some((version, "json")) if version.len() == 20 => path.to_owned(),
        _ => format!("{folder}/{kind}"),
    }
}

impl State {
    fn attempt(&mut self) {
        self.attempts += 1;
        self.helped.clear();
    }

    fn draw(&mut self, own: bool, op: Op, path: &str) -> Option<Fault> {
        let (seen, salt) = if own { (&mut self.seen, 0) } else { (&mut self.helped, self.attempts << 40) };
        let nth = seen.entry((op, path.to_owned())).and_modify(|n| *n += 1).or_insert(1);
        let mut hash = 0xcbf2_9ce4_8422_2325u64 ^ self.seed ^ salt;
        for byte in path.bytes().chain([op as u8]).chain(nth.to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut rng = Rng::with_seed(hash);
        // most requests are reads, and a failed read ends most operations before anything can happen
        let reads = matches!(op, Op::Get | Op::GetRange | Op::Head | Op::ListFrom);
        if rng.f64() >= if reads { self.rate / 6.0 } else { self.rate } {
            return None;
        }
        let late = Fault::Late(rng.u64(1..60));
        let torn = Fault::Torn(rng.usize(..400));
        let all = match op {
            Op::PutIfAbsent => {
                vec![Fault::Refused, Fault::LostAnswer, Fault::RetriedAnswer, Fault::Contended, late]
            }
            Op::Put => vec![Fault::Refused, Fault::LostAnswer, torn, late],
            Op::Delete => vec![Fault::Refused, Fault::LostAnswer, late],
            Op::ListFrom if self.may_lag => vec![Fault::Refused, Fault::StaleList(rng.usize(1..5))],
            Op::ListAll => vec![Fault::Refused, Fault::StaleList(rng.usize(1..5))],
            _ => vec![Fault::Refused],
        };
        Some(all[rng.usize(..all.len())].clone())
    }
}
