//! The states of the model, and what can happen in each.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use bytes::Bytes;
use deltaic_core::Error;
use deltaic_core::actions::{ActionRef, ObjectPath};
use deltaic_core::commit::{CommitAttempt, CommitOutcome, Proposal, Step};
use deltaic_core::conflict::{MATRIX, Row};
use deltaic_core::store::PutOutcome;
use deltaic_core::txn::Pending;
use serde_json::Value;
use stateright::{Model, Property};

use crate::log::{Files, Log, parse};
use crate::operations::{Op, first};
use crate::oracle::{acknowledged, exactly_once, serializable};

/// The model: who does what, at which level, and how much goes wrong.
#[derive(Debug, Clone)]
pub(crate) struct Writers {
    pub(crate) level: &'static str,
    /// For each run, for each writer, its operations.
    pub(crate) scripts: Vec<Vec<Vec<Op>>>,
    /// How many answers of the store go wrong in one run.
    pub(crate) faults: u8,
    /// How many writers may crash in one run.
    pub(crate) crashes: u8,
    pub(crate) matrix: &'static [Row],
    /// How often an attempt tries a put or a read without a clear answer.
    pub(crate) tries: u32,
}

impl Writers {
    pub(crate) fn new() -> Self {
        Writers {
            level: "Serializable",
            scripts: Vec::new(),
            faults: 0,
            crashes: 0,
            matrix: &MATRIX,
            tries: 2,
        }
    }
}

/// How an operation ended for its writer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum End {
    Committed(u64),
    Recorded(u64),
    Failed(&'static str),
    Unknown,
    Crashed,
    /// There was nothing to do.
    Nothing,
}

/// An attempt; two are the same if they show the same.
#[derive(Debug, Clone)]
pub(crate) struct Shown(Box<CommitAttempt>);

impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

impl Hash for Shown {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        format!("{self:?}").hash(hasher);
    }
}

#[derive(Debug, Clone, PartialEq, Hash)]
enum Phase {
    Idle,
    /// Begun at a version, checked against the commits up to another, and trying the one after that.
    Attempting {
        begun: u64,
        checked: u64,
        body: Arc<str>,
        attempt: Shown,
    },
    /// Lost the race for the version after `checked`.
    Lost {
        begun: u64,
        checked: u64,
    },
    Over,
}

#[derive(Debug, Clone, PartialEq, Hash)]
struct Writer {
    phase: Phase,
    ends: Vec<End>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub(crate) struct World {
    pub(crate) script: usize,
    pub(crate) log: Log,
    pub(crate) files: Files,
    writers: Vec<Writer>,
    /// Puts that are still under way: version and body.
    late: VecDeque<(u64, Arc<str>)>,
    faults: u8,
    crashes: u8,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fate {
    Works,
    /// It is done, and the answer is lost.
    LostAnswer,
    /// It is not done, and fails.
    Fails,
    /// It fails, and is done later.
    Late,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Happens {
    Begin(usize),
    Put(usize, Fate),
    Read(usize, Fate),
    Check(usize, Fate),
    Arrive(usize),
    Crash(usize),
}

fn trouble() -> Error {
    Error::storage("put", "a commit", "no answer")
}

impl World {
    /// How operations ended, by the ids of their transactions.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (String, &End)> {
        self.writers.iter().enumerate().flat_map(|(writer, w)| {
            w.ends.iter().enumerate().map(move |(step, end)| (format!("{writer}-{step}"), end))
        })
    }

    fn put(&mut self, version: u64, body: &Arc<str>) -> PutOutcome {
        if version == self.log.len() as u64 {
            self.log.push(body.clone());
            return PutOutcome::Created;
        }
        assert!(version < self.log.len() as u64, "a version was skipped");
        PutOutcome::AlreadyExists
    }

    fn end(&mut self, model: &Writers, writer: usize, end: End) {
        let goes_on = !matches!(end, End::Unknown | End::Crashed);
        let w = &mut self.writers[writer];
        w.ends.push(end);
        let more = w.ends.len() < model.scripts[self.script][writer].len();
        w.phase = if goes_on && more { Phase::Idle } else { Phase::Over };
    }

    /// The operation of a writer on a version; how it ends at once where there is nothing to commit.
    fn pending(&self, model: &Writers, writer: usize, begun: u64) -> Result<(Pending, Files), End> {
        let step = self.writers[writer].ends.len();
        let op = model.scripts[self.script][writer][step];
        let log = self.log[..=begun as usize].to_vec();
        let prepared = op.prepare(&format!("w{writer}-{step}"), &log, &self.files);
        let (txn, written) = prepared.ok_or(End::Nothing)?;
        if let Some(version) = txn.recorded().unwrap() {
            return Err(End::Recorded(version));
        }
        let mut pending = txn.prepare().unwrap();
        pending.judge_by(model.matrix);
        Ok((pending, written))
    }

    fn winners(&self, from: u64, to: u64) -> Vec<deltaic_core::conflict::Winner> {
        (from..=to).map(|v| parse(v, &self.log[v as usize])).collect()
    }

    /// Goes on to the version after `checked`.
    fn attempt(&mut self, model: &Writers, writer: usize, begun: u64, checked: u64, mut pending: Pending) {
        let version = checked + 1;
        let id = format!("{writer}-{}", self.writers[writer].ends.len());
        let body = body(&mut pending, version, &id);
        let attempt = CommitAttempt::new(ObjectPath::new("memory://", "/t/a-commit"), version, &id);
        let attempt = Shown(Box::new(attempt.with_tries(model.tries)));
        self.writers[writer].phase = Phase::Attempting { begun, checked, body, attempt };
    }

    /// Ends an attempt that is over.
    fn settle(&mut self, model: &Writers, writer: usize) {
        let Phase::Attempting { begun, checked, attempt, .. } = &self.writers[writer].phase else { return };
        let (begun, checked) = (*begun, *checked);
        match (*attempt.0).clone().end() {
            None => {}
            Some(Ok(CommitOutcome::Committed(version))) => self.end(model, writer, End::Committed(version)),
            Some(Ok(CommitOutcome::Unknown { .. })) => self.end(model, writer, End::Unknown),
            Some(Ok(CommitOutcome::Conflict { .. })) => {
                self.writers[writer].phase = Phase::Lost { begun, checked };
            }
            Some(Err(error)) => self.end(model, writer, End::Failed(error.kind())),
        }
    }
}

/// The commit as the product makes it, but for clocks and random ids: one state must look like itself.
fn body(pending: &mut Pending, version: u64, id: &str) -> Arc<str> {
    let (info, actions) = pending.at(version, 0).unwrap();
    let mut out = String::new();
    for action in std::iter::once(ActionRef::CommitInfo(&info)).chain(actions.iter().copied()) {
        let mut line = serde_json::to_value(action).unwrap();
        for (key, field, value) in [
            ("commitInfo", "txnId", Value::from(id)),
            ("txn", "lastUpdated", Value::from(0)),
            ("remove", "deletionTimestamp", Value::from(0)),
        ] {
            if let Some(body) = line.get_mut(key).and_then(Value::as_object_mut) {
                body.insert(field.to_owned(), value);
            }
        }
        out += &format!("{line}\n");
    }
    out.into()
}

impl Model for Writers {
    type State = World;
    type Action = Happens;

    fn init_states(&self) -> Vec<World> {
        let (log, files) = first(self.level);
        let idle = Writer { phase: Phase::Idle, ends: Vec::new() };
        let world = |script: usize| World {
            script,
            log: log.clone(),
            files: files.clone(),
            writers: vec![idle.clone(); self.scripts[script].len()],
            late: VecDeque::new(),
            faults: self.faults,
            crashes: self.crashes,
        };
        (0..self.scripts.len()).map(world).collect()
    }

    fn actions(&self, world: &World, out: &mut Vec<Happens>) {
        for (at, writer) in world.writers.iter().enumerate() {
            let faults = world.faults > 0;
            match &writer.phase {
                Phase::Idle => out.push(Happens::Begin(at)),
                Phase::Attempting { attempt, .. } => match attempt.0.step() {
                    Step::Put => {
                        out.push(Happens::Put(at, Fate::Works));
                        if faults {
                            let fates = [Fate::LostAnswer, Fate::Fails, Fate::Late];
                            out.extend(fates.map(|fate| Happens::Put(at, fate)));
                        }
                    }
                    Step::Read => {
                        out.push(Happens::Read(at, Fate::Works));
                        if faults {
                            out.push(Happens::Read(at, Fate::Fails));
                        }
                    }
                    Step::Over => {}
                },
                Phase::Lost { .. } => {
                    out.push(Happens::Check(at, Fate::Works));
                    if faults {
                        out.push(Happens::Check(at, Fate::Fails));
                    }
                }
                Phase::Over => continue,
            }
            if world.crashes > 0 && writer.phase != Phase::Over {
                out.push(Happens::Crash(at));
            }
        }
        out.extend((0..world.late.len()).map(Happens::Arrive));
    }

    fn next_state(&self, last: &World, action: Happens) -> Option<World> {
        let mut world = last.clone();
        if let Happens::Put(_, fate) | Happens::Read(_, fate) | Happens::Check(_, fate) = action
            && fate != Fate::Works
        {
            world.faults -= 1;
        }
        match action {
            Happens::Begin(at) => {
                let head = world.log.len() as u64 - 1;
                match world.pending(self, at, head) {
                    Err(end) => world.end(self, at, end),
                    Ok((pending, written)) => {
                        world.files.extend(written);
                        world.attempt(self, at, head, head, pending);
                    }
                }
            }
            Happens::Put(at, fate) => {
                let Phase::Attempting { checked, body, mut attempt, begun } = world.writers[at].phase.clone()
                else {
                    return None;
                };
                let version = checked + 1;
                let answer = match fate {
                    Fate::Works => Ok(world.put(version, &body)),
                    Fate::LostAnswer => {
                        world.put(version, &body);
                        Err(trouble())
                    }
                    Fate::Fails => Err(trouble()),
                    Fate::Late => {
                        world.late.push_back((version, body.clone()));
                        Err(trouble())
                    }
                };
                attempt.0.put_answered(answer);
                world.writers[at].phase = Phase::Attempting { begun, checked, body, attempt };
                world.settle(self, at);
            }
            Happens::Read(at, fate) => {
                let Phase::Attempting { checked, body, mut attempt, begun } = world.writers[at].phase.clone()
                else {
                    return None;
                };
                let there = world.log.get(checked as usize + 1);
                attempt.0.read_answered(match (fate, there) {
                    (Fate::Works, Some(there)) => Ok(Bytes::from(there.to_string())),
                    (Fate::Works, None) => Err(Error::NotFound { path: "a commit".into() }),
                    _ => Err(trouble()),
                });
                world.writers[at].phase = Phase::Attempting { begun, checked, body, attempt };
                world.settle(self, at);
            }
            Happens::Check(at, fate) => {
                let Phase::Lost { begun, checked } = world.writers[at].phase else { return None };
                if fate != Fate::Works {
                    world.end(self, at, End::Failed("Storage"));
                    return Some(world);
                }
                let (mut pending, _) = world.pending(self, at, begun).ok()?;
                // what it followed before, and then what is new
                assert_eq!(pending.follow(&world.winners(begun + 1, checked)).unwrap(), None);
                let head = world.log.len() as u64 - 1;
                match pending.follow(&world.winners(checked + 1, head)) {
                    Ok(None) => world.attempt(self, at, begun, head, pending),
                    Ok(Some(version)) => world.end(self, at, End::Recorded(version)),
                    Err(error) => world.end(self, at, End::Failed(error.kind())),
                }
            }
            Happens::Arrive(at) => {
                let (version, body) = world.late.remove(at)?;
                world.put(version, &body);
            }
            Happens::Crash(at) => {
                world.crashes -= 1;
                world.end(self, at, End::Crashed);
            }
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("serializable", serializable),
            Property::always("acknowledged", acknowledged),
            Property::always("exactly once", exactly_once),
        ]
    }
}
