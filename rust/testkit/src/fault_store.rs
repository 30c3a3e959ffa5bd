use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use deltaic_core::actions::ObjectPath;
use deltaic_core::store::{FileMeta, PutOutcome, Store};
use deltaic_core::{Error, Result};

/// A call of [`Store`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// [`Store::list_from`]
    ListFrom,
    /// [`Store::list_all`]
    ListAll,
    /// [`Store::head`]
    Head,
    /// [`Store::get`], also each object of `get_many`.
    Get,
    /// [`Store::get_range`], also each range of `get_ranges`.
    GetRange,
    /// [`Store::put_if_absent`]
    PutIfAbsent,
    /// [`Store::put`]
    Put,
    /// [`Store::delete`]
    Delete,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done and the call fails.
    Refused,
    /// The call is done in full, and its answer is an error all the same.
    LostAnswer,
    /// A `put_if_absent` is done, and a retry inside the client turns its answer into `AlreadyExists`.
    RetriedAnswer,
    /// A `put_if_absent` is not done and answers `AlreadyExists` all the same, as S3 does (409) while another conditional
    /// write of the object is under way.
    Contended,
    /// Another writer creates the object with this body first; then the call goes on.
    Overtaken(Bytes),
    /// A read gives at most this many bytes; a `put` writes at most this many and fails.
    Torn(usize),
    /// A listing lacks its last entries, this many.
    StaleList(usize),
    /// A listing lacks the entries of these names: it passed their places before they were made.
    Overlooked(Vec<String>),
    /// A write or a deletion fails, and is done all the same after so many more calls, by whomever: the request was still
    /// under way. Anything else is refused.
    Late(u64),
    /// This call and every later one are refused: the process is gone.
    Crash,
}

/// When a fault strikes: at calls of one kind, on objects of some name, from the `nth` on, some number of times.
#[derive(Debug, Clone)]
pub struct Rule {
    fault: Fault,
    op: Option<Op>,
    name: Option<String>,
    nth: u64,
    times: u64,
    seen: u64,
}

impl Rule {
    /// A fault at the first call of any kind, once.
    pub fn new(fault: Fault) -> Self {
        Rule { fault, op: None, name: None, nth: 1, times: 1, seen: 0 }
    }

    /// Only at calls of this kind.
    #[must_use]
    pub fn on(self, op: Op) -> Self {
        Rule { op: Some(op), ..self }
    }

    /// Only where the path contains this text.
    #[must_use]
    pub fn named(self, part: &str) -> Self {
        Rule { name: Some(part.to_owned()), ..self }
    }

    /// Not before the `nth` call that fits, counted from 1.
    #[must_use]
    pub fn nth(self, nth: u64) -> Self {
        Rule { nth, ..self }
    }

    /// At this many calls in a row.
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Rule { times, ..self }
    }

    /// At every call that fits.
    #[must_use]
    pub fn always(self) -> Self {
        self.times(u64::MAX)
    }

    fn strikes(&mut self, op: Op, path: &str) -> bool {
        let fits = self.op.is_none_or(|o| o == op) && self.name.as_deref().is_none_or(|n| path.contains(n));
        if !fits {
            return false;
        }
        self.seen += 1;
        self.seen >= self.nth && self.seen - self.nth < self.times
    }
}

/// One call that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Kind.
    pub op: Op,
    /// Object or folder.
    pub path: String,
    /// Bytes that the call gave or took.
    pub bytes: u64,
    /// What went wrong.
    pub fault: Option<Fault>,
}

/// Random faults. The draw depends on seed, kind, path and how often that path was called, and not on the order of
/// calls between threads: one seed is one story.
#[derive(Debug)]
struct Dice {
    seed: u64,
    rate: f64,
    faults: Vec<Fault>,
    calls: HashMap<(Op, String), u64>,
}

/// A request, the fault that strikes it, and what it does where it arrives late.
struct Request<'a> {
    op: Op,
    path: &'a ObjectPath,
    fault: Option<Fault>,
    late: Option<Work>,
}

/// A request that is under way, and after how many more calls it arrives.
struct UnderWay {
    calls: u64,
    work: Work,
}

type Work = Box<dyn FnOnce(&dyn Store) + Send>;

impl fmt::Debug for UnderWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnderWay").field("calls", &self.calls).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<Rule>,
    dice: Option<Dice>,
    calls: Vec<Call>,
    under_way: Vec<UnderWay>,
    crashed: bool,
}

/// Says before each call what goes wrong with it. It may block.
#[derive(Clone)]
struct Director(Arc<Direct>);

type Direct = dyn Fn(Op, &ObjectPath) -> Option<Fault> + Send + Sync;

impl fmt::Debug for Director {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Director")
    }
}

/// A store that fails on purpose and keeps a record of every call. Clones share rules and record.
#[derive(Debug, Clone)]
pub struct FaultStore {
    inner: Arc<dyn Store>,
    state: Arc<Mutex<State>>,
    director: Option<Director>,
    far: bool,
}

impl FaultStore {
    /// A store without faults: it counts.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        FaultStore { inner, state: Arc::default(), director: None, far: false }
    }

    /// A store where a share `rate` (0 to 1) of the calls meets one of `faults`. The same seed and the same calls give
    /// the same faults.
    pub fn seeded(inner: Arc<dyn Store>, seed: u64, rate: f64, faults: &[Fault]) -> Self {
        let store = Self::new(inner);
        store.state().dice = Some(Dice { seed, rate, faults: faults.to_vec(), calls: HashMap::new() });
        store
    }

    /// A clone whose calls are each put to `director` first, which says what goes wrong with them; where it says nothing,
    /// rules and dice are asked. It may block, to let others go first.
    #[must_use]
    pub fn directed(
        &self,
        director: impl Fn(Op, &ObjectPath) -> Option<Fault> + Send + Sync + 'static,
    ) -> Self {
        FaultStore { director: Some(Director(Arc::new(director))), ..self.clone() }
    }

    /// A clone that says that its requests take long: some then are made at once.
    #[must_use]
    pub fn far(&self) -> Self {
        FaultStore { far: true, ..self.clone() }
    }

    /// How many requests are under way, see [`Fault::Late`].
    pub fn under_way(&self) -> usize {
        self.state().under_way.len()
    }

    /// Lets every request arrive that is under way.
    pub fn deliver(&self) {
        let all = std::mem::take(&mut self.state().under_way);
        all.into_iter().for_each(|late| (late.work)(&*self.inner));
    }

    /// Adds a rule. The first rule that strikes wins.
    pub fn rule(&self, rule: Rule) -> &Self {
        self.state().rules.push(rule);
        self
    }

    /// Removes all rules and dice, and ends a crash: the process is started again. The record stays.
    pub fn heal(&self) {
        let mut state = self.state();
        state.rules.clear();
        state.dice = None;
        state.crashed = false;
    }

    /// Every call so far, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// How many calls of a kind were made on paths that contain `part`.
    pub fn count(&self, op: Op, part: &str) -> usize {
        self.state().calls.iter().filter(|c| c.op == op && c.path.contains(part)).count()
    }

    /// Bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.state().calls.iter().filter(|c| matches!(c.op, Op::Get | Op::GetRange)).map(|c| c.bytes).sum()
    }

    /// Forgets the calls made so far.
    pub fn forget(&self) {
        self.state().calls.clear();
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // a panic in another thread of the test is reported there
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn strike(&self, op: Op, path: &ObjectPath) -> Option<Fault> {
        let directed = self.director.as_ref().and_then(|director| (director.0)(op, path));
        let path = path.to_string();
        let mut state = self.state();
        let mut due = Vec::new();
        for late in &mut state.under_way {
            late.calls = late.calls.saturating_sub(1);
        }
        while let Some(at) = state.under_way.iter().position(|late| late.calls == 0) {
            due.push(state.under_way.remove(at));
        }
        if !due.is_empty() {
            drop(state);
            due.into_iter().for_each(|late| (late.work)(&*self.inner));
            state = self.state();
        }
        let mut fault = state.crashed.then_some(Fault::Crash).or(directed);
        // every rule counts every call, whichever of them strikes
        for rule in &mut state.rules {
            let strikes = rule.strikes(op, &path);
            if strikes && fault.is_none() {
                fault = Some(rule.fault.clone());
            }
        }
        if fault.is_none() {
            fault = state.dice.as_mut().and_then(|dice| dice.draw(op, &path));
        }
        state.crashed |= fault == Some(Fault::Crash);
        fault
    }

    /// Runs one call under the fault that strikes it, if any.
    fn call<T>(
        &self,
        op: Op,
        path: &ObjectPath,
        size: impl Fn(&T) -> u64,
        run: impl FnOnce() -> Result<T>,
        twist: impl FnOnce(&Fault, T) -> Result<T>,
    ) -> Result<T> {
        let request = Request { op, path, fault: self.strike(op, path), late: None };
        self.answer(request, size, run, twist)
    }

    /// The same for a request whose fault is known.
    fn answer<T>(
        &self,
        request: Request<'_>,
        size: impl Fn(&T) -> u64,
        run: impl FnOnce() -> Result<T>,
        twist: impl FnOnce(&Fault, T) -> Result<T>,
    ) -> Result<T> {
        let Request { op, path, fault, late } = request;
        let answer = match &fault {
            None => run(),
            Some(Fault::Late(calls)) => {
                let late = late.map(|work| UnderWay { calls: *calls, work });
                self.state().under_way.extend(late);
                Err(failure(op, path, "no answer in time"))
            }
            Some(Fault::Refused | Fault::Crash) => Err(failure(op, path, "refused")),
            Some(Fault::LostAnswer) => run().and_then(|_| Err(failure(op, path, "the answer was lost"))),
            Some(Fault::Overtaken(body)) => self.inner.put_if_absent(path, body.clone()).and_then(|_| run()),
            Some(fault) => run().and_then(|answer| twist(fault, answer)),
        };
        let bytes = answer.as_ref().map_or(0, size);
        self.state().calls.push(Call { op, path: path.to_string(), bytes, fault });
        answer
    }

    fn list(
        &self,
        op: Op,
        dir: &ObjectPath,
        run: impl FnOnce() -> Result<Vec<FileMeta>>,
    ) -> Result<Vec<FileMeta>> {
        self.call(
            op,
            dir,
            |_| 0,
            run,
            |fault, mut entries| {
                match fault {
                    Fault::StaleList(missing) => entries.truncate(entries.len().saturating_sub(*missing)),
                    Fault::Overlooked(names) => entries.retain(|entry| !names.contains(&entry.name)),
                    _ => {}
                }
                Ok(entries)
            },
        )
    }

    fn read(&self, op: Op, path: &ObjectPath, run: impl FnOnce() -> Result<Bytes>) -> Result<Bytes> {
        self.call(
            op,
            path,
            |b| b.len() as u64,
            run,
            |fault, bytes| match fault {
                Fault::Torn(keep) => Ok(bytes.slice(..bytes.len().min(*keep))),
                _ => Ok(bytes),
            },
        )
    }
}

impl Dice {
    fn draw(&mut self, op: Op, path: &str) -> Option<Fault> {
        let nth = self.calls.entry((op, path.to_owned())).and_modify(|n| *n += 1).or_insert(1);
        let mut hash = 0xcbf2_9ce4_8422_2325u64 ^ self.seed;
        for byte in path.bytes().chain([op as u8]).chain(nth.to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut rng = fastrand::Rng::with_seed(hash);
        (!self.faults.is_empty() && rng.f64() < self.rate)
            .then(|| self.faults[rng.usize(..self.faults.len())].clone())
    }
}

fn failure(op: Op, path: &ObjectPath, what: &str) -> Error {
    Error::storage("test", path.to_string(), format!("{op:?}: {what}"))
}

impl Store for FaultStore {
    fn list_from(&self, dir: &ObjectPath, from: &str) -> Result<Vec<FileMeta>> {
        self.list(Op::ListFrom, dir, || self.inner.list_from(dir, from))
    }

    fn list_all(&self, dir: &ObjectPath) -> Result<Vec<FileMeta>> {
        self.list(Op::ListAll, dir, || self.inner.list_all(dir))
    }

    fn is_far(&self) -> bool {
        self.far
    }

    fn head(&self, path: &ObjectPath) -> Result<FileMeta> {
        self.call(Op::Head, path, |_| 0, || self.inner.head(path), |_, meta| Ok(meta))
    }

    fn get(&self, path: &ObjectPath) -> Result<Bytes> {
        self.read(Op::Get, path, || self.inner.get(path))
    }

    fn get_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes> {
        self.read(Op::GetRange, path, || self.inner.get_range(path, range))
    }

    fn put_if_absent(&self, path: &ObjectPath, body: Bytes) -> Result<PutOutcome> {
        let fault = self.strike(Op::PutIfAbsent, path);
        let late = (path.clone(), body.clone());
        let run = || match fault {
            Some(Fault::Contended) => Ok(PutOutcome::AlreadyExists),
            _ => self.inner.put_if_absent(path, body),
        };
        let twist = |fault: &Fault, outcome| match fault {
            Fault::RetriedAnswer => Ok(PutOutcome::AlreadyExists),
            _ => Ok(outcome),
        };
        let late: Work = Box::new(move |store| drop(store.put_if_absent(&late.0, late.1)));
        let request = Request { op: Op::PutIfAbsent, path, fault: fault.clone(), late: Some(late) };
        self.answer(request, |_| 0, run, twist)
    }

    fn put(&self, path: &ObjectPath, body: Bytes) -> Result<()> {
        let (whole, late) = (body.clone(), (path.clone(), body.clone()));
        let twist = |fault: &Fault, ()| match fault {
            Fault::Torn(keep) => {
                self.inner.put(path, body.slice(..body.len().min(*keep)))?;
                Err(failure(Op::Put, path, "torn"))
            }
            _ => Ok(()),
        };
        let late: Work = Box::new(move |store| drop(store.put(&late.0, late.1)));
        let fault = self.strike(Op::Put, path);
        let request = Request { op: Op::Put, path, fault, late: Some(late) };
        self.answer(request, |()| 0, || self.inner.put(path, whole), twist)
    }

    fn make_durable(&self, root: &ObjectPath, files: &[ObjectPath]) -> Result<()> {
        self.inner.make_durable(root, files)
    }

    fn delete(&self, path: &ObjectPath) -> Result<()> {
        let late = path.clone();
        let late: Work = Box::new(move |store| drop(store.delete(&late)));
        let run = || self.inner.delete(path);
        let fault = self.strike(Op::Delete, path);
        let request = Request { op: Op::Delete, path, fault, late: Some(late) };
        self.answer(request, |()| 0, run, |_, ()| Ok(()))
    }
}
