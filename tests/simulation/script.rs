//! What a seed makes of a table's life: its properties, its phases, its writers and their operations.

use fastrand::Rng;

/// A row: id, partition, value. Ids are never used twice.
pub(crate) type Row = (i64, String, i64);

/// Values are below this.
pub(crate) const VALUES: i64 = 6;

const PARTITIONS: [&str; 3] = ["a", "b", "c"];

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Action {
    /// Adds rows.
    Append,
    /// Adds rows as this version of an application, and tries again where it failed.
    Once(i64),
    /// Replaces all rows.
    Overwrite,
    /// Replaces the rows of a partition.
    ReplacePartition(String),
    /// Replaces the rows whose value is below this.
    ReplaceBelow(i64),
    /// Deletes the rows of a value by deletion vectors.
    Delete(i64),
    /// Deletes the rows of a value by writing files again.
    Rewrite(i64),
    /// Adds one to the rows of a value.
    Update(i64),
    /// Makes one file of those of a partition, without a change of data.
    Optimize(String),
    /// Sets a property.
    Alter,
    /// Makes an older version the newest; by a random number, as the versions are not known yet.
    Restore(u64),
    /// Writes a checkpoint of the newest version.
    Checkpoint,
    /// Writes a compacted file of some of the newest commits.
    Compact(u64),
    /// Deletes what has expired of the log.
    Cleanup,
    /// Deletes files that no version of a week needs.
    Vacuum,
    /// Deletes all files that the newest version does not need; only while nobody else writes.
    VacuumAll { lite: bool },
}

impl Action {
    pub(crate) fn name(&self) -> String {
        let text = format!("{self:?}");
        text.split(['(', ' ']).next().unwrap_or_default().to_owned()
    }
}

/// One operation of one writer.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Unique in the history.
    pub(crate) id: i64,
    pub(crate) action: Action,
    /// Rows that it brings.
    pub(crate) rows: Vec<Row>,
    /// The process dies at its nth request.
    pub(crate) crash_after: Option<u64>,
}

impl Step {
    /// How its commit is found in the log.
    pub(crate) fn tag(&self) -> String {
        format!("op-{}", self.id)
    }
}

/// Writers that work at the same time.
#[derive(Debug)]
pub(crate) struct Phase {
    pub(crate) writers: Vec<Vec<Step>>,
    /// Days that go by before it.
    pub(crate) days: i64,
}

#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) seed: u64,
    pub(crate) properties: Vec<(String, String)>,
    /// Share of the requests that go wrong.
    pub(crate) faults: f64,
    pub(crate) phases: Vec<Phase>,
}

impl Script {
    pub(crate) fn of(seed: u64) -> Script {
        let mut rng = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut properties = vec![
            ("delta.isolationLevel", "Serializable"),
            ("delta.enableDeletionVectors", "true"),
            ("delta.checkpointInterval", ["2", "3", "5", "100"][rng.usize(..4)]),
            ("delta.logRetentionDuration", ["interval 30 days", "interval 300 days"][rng.usize(..2)]),
        ];
        if rng.bool() {
            properties
                .extend([("delta.checkpointPolicy", "v2"), ("delta.feature.v2Checkpoint", "supported")]);
        }
        if rng.bool() {
            properties.push(("delta.enableInCommitTimestamps", "true"));
        }
        let faults = [0.0, 0.02, 0.06, 0.15][rng.usize(..4)];
        let mut next = 1;
        let phases = (0..rng.usize(1..4)).map(|_| phase(&mut rng, faults, &mut next)).collect();
        let properties = properties.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        Script { seed, properties, faults, phases }
    }
}

fn phase(rng: &mut Rng, faults: f64, next: &mut i64) -> Phase {
    let writers = rng.usize(1..4);
    let mut steps = || {
        let length = rng.usize(2..6);
        (0..length)
            .map(|_| {
                let action = action(rng, writers == 1);
                let crashes = faults > 0.0 && rng.u8(..) < 30;
                let crash_after = crashes.then(|| rng.u64(1..25));
                *next += 10;
                Step { id: *next, rows: rows(rng, *next, &action), action, crash_after }
            })
            .collect()
    };
    let all = (0..writers).map(|_| steps()).collect();
    Phase { writers: all, days: [0, 0, 20, 40][rng.usize(..4)] }
}

fn action(rng: &mut Rng, alone: bool) -> Action {
    let partition = PARTITIONS[rng.usize(..3)].to_owned();
    let value = rng.i64(0..VALUES);
    match rng.u8(..28) {
        0..=5 => Action::Append,
        6..=7 => Action::Once(rng.i64(1..4)),
        8 => Action::Overwrite,
        9 => Action::ReplacePartition(partition),
        10 => Action::ReplaceBelow(value.max(1)),
        11..=13 => Action::Delete(value),
        14 => Action::Rewrite(value),
        15..=16 => Action::Update(value),
        17..=18 => Action::Optimize(partition),
        19 => Action::Alter,
        20..=21 => Action::Restore(rng.u64(..1000)),
        22..=23 => Action::Checkpoint,
        24 => Action::Compact(rng.u64(1..5)),
        25 => Action::Cleanup,
        26 if alone => Action::VacuumAll { lite: rng.bool() },
        _ => Action::Vacuum,
    }
}

/// Rows that the action may bring.
fn rows(rng: &mut Rng, first: i64, action: &Action) -> Vec<Row> {
    let count = rng.i64(1..5);
    let mut row = |n: i64| {
        let partition = match action {
            Action::ReplacePartition(p) => p.clone(),
            _ => PARTITIONS[rng.usize(..3)].to_owned(),
        };
        let below = match action {
            Action::ReplaceBelow(value) => *value,
            _ => VALUES,
        };
        (first + n, partition, rng.i64(0..below))
    };
    (0..count).map(&mut row).collect()
}
