use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::actions;
use crate::checkpoint::{ActionWriter, CheckpointSpec, TableShape, checkpoint_row, checkpoint_schema};

/// Writes logs of any size without holding them: a checkpoint of `files` files at version `commits_before`, then
/// `commits` commits. There are no data files. Everything follows from the numbers: no two files overlap in `id`
/// (1,000 ids each), and `date` has 1,000 values.
#[derive(Debug, Clone)]
pub struct LogGen {
    /// Files in the checkpoint; 0 writes no checkpoint.
    pub files: u64,
    /// Commits after it.
    pub commits: u64,
    /// Files that each commit adds.
    pub adds: u64,
    /// Files that each commit removes: the oldest ones.
    pub removes: u64,
    /// Whether files have the statistics of nine columns and not of three, come in no order, and are of the later dates
    /// the later they were added.
    pub wide: bool,
    /// Partitions of files with wide statistics.
    pub days: u64,
    /// How the checkpoint is written.
    pub checkpoint: CheckpointSpec,
}

impl Default for LogGen {
    fn default() -> Self {
        LogGen {
            files: 0,
            commits: 0,
            adds: 10,
            removes: 0,
            wide: false,
            days: DAYS,
            checkpoint: CheckpointSpec { row_group: 100_000, ..CheckpointSpec::default() },
        }
    }
}

/// Actions that are turned to columns at once.
const CHUNK: u64 = 10_000;
const DAYS: u64 = 1000;
/// A prime, so that its multiples reach every number of files that it does not divide.
const STEP: u64 = 7_368_787;

/// Numbers that look random and follow from the first.
struct Scattered(u64);

impl Scattered {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `most`, with six digits.
    fn fraction(&mut self, most: f64) -> f64 {
        ((self.draw() % 1_000_000) as f64 / 1e6 * most * 1e6).round() / 1e6
    }
}

impl LogGen {
    /// The `metaData` of the table: `id long, value double, name string, date date`, partitioned by `date`.
    pub fn metadata() -> Value {
        let schema =
            actions::schema(&[("id", "long"), ("value", "double"), ("name", "string"), ("date", "date")]);
        actions::metadata(&schema, &["date"], &[])
    }

    /// The `metaData` of a table with wide statistics.
    pub fn wide_metadata() -> Value {
        let columns = [
            ("id", "long"),
            ("ts", "timestamp"),
            ("date", "date"),
            ("d1", "double"),
            ("d2", "double"),
            ("d3", "double"),
            ("s1", "string"),
            ("s2", "string"),
            ("s3", "string"),
            ("n", "integer"),
        ];
        actions::metadata(&actions::schema(&columns), &["date"], &[])
    }

    /// File number `n` of this log.
    fn file(&self, n: u64) -> Value {
        if !self.wide {
            return Self::add(n);
        }
        let total = self.files + self.commits * self.adds;
        let date = Self::day(n * self.days / total.max(1));
        let mut random = Scattered(n);
        let path = format!(
            "date={date}/part-{:05}-{:016x}{:016x}.c000.snappy.parquet",
            n % 200,
            random.draw(),
            random.draw()
        );
        let second = random.draw() % 80_000;
        let time = |second: u64, millis: u64| {
            format!("{date}T{:02}:{:02}:{:02}.{millis:03}Z", second / 3600, second / 60 % 60, second % 60)
        };
        let mut bounds = |first: &str, id: u64, second: u64| {
            json!({
                "id": id, "ts": time(second, random.draw() % 1000), "n": random.draw() % 1000,
                "d1": random.fraction(1e3), "d2": random.fraction(1e6), "d3": random.fraction(1.0),
                "s1": format!("{first}_{:013x}", random.draw() >> 12),
                "s2": format!("customer-{first}{:08x}", random.draw() >> 32), "s3": format!("region/{first}{}", id % 977),
            })
        };
        let (least, most) = (bounds("aa", n * 1000, second), bounds("zz", n * 1000 + 999, second + 3000));
        let mut nulls = || random.draw() % 500;
        let stats = json!({
            "numRecords": 1000, "minValues": least, "maxValues": most,
            "nullCount": {
                "id": 0, "ts": 0, "d1": nulls(), "d2": nulls(), "d3": nulls(), "s1": nulls(), "s2": 0, "s3": 0, "n": 0,
            },
        });
        let add = actions::with(actions::add_in(&path, &[("date", Some(&date))]), "size", 40_000 + n % 4096);
        actions::with_stats(add, &stats)
    }

    /// File number `n`.
    pub fn add(n: u64) -> Value {
        let date = Self::date(n);
        // a multiplicative hash scatters the names, as the UUIDs of real writers do
        let unique = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let path = format!("date={date}/part-{:05}-{unique:016x}-c000.snappy.parquet", n % 200);
        let stats = json!({
            "numRecords": 1000,
            "minValues": {"id": n * 1000, "value": n as f64 / 8.0, "name": format!("aa{unique:014x}")},
            "maxValues": {"id": n * 1000 + 999, "value": n as f64 / 4.0, "name": format!("zz{unique:014x}")},
            "nullCount": {"id": 0, "value": n % 7, "name": 0},
        });
        let add = actions::with(actions::add_in(&path, &[("date", Some(&date))]), "size", 40_000 + n % 4096);
        actions::with_stats(add, &stats)
    }

    /// The partition of file number `n`.
    pub fn date(n: u64) -> String {
        Self::day(n % DAYS)
    }

    /// Day number `n` of a calendar whose months have 28 days.
    fn day(n: u64) -> String {
        format!("{:04}-{:02}-{:02}", 2000 + n / 336, n / 28 % 12 + 1, n % 28 + 1)
    }

    /// Writes the log below `root` and gives the newest version and the number of live files.
    ///
    /// # Panics
    /// When a file cannot be written.
    pub fn write(&self, root: &Path) -> (u64, u64) {
        let log = root.join("_delta_log");
        fs::create_dir_all(&log).expect("create _delta_log");
        let mut next = 0;
        if self.files > 0 {
            self.write_checkpoint(&log);
            next = 1;
        }
        let (mut head, mut tail) = (self.files, 0);
        for version in next..next + self.commits {
            let mut body =
                format!("{}\n", actions::commit_info(1_767_225_600_000 + version as i64 * 1000, "WRITE"));
            if version == 0 {
                body += &format!("{}\n{}\n", actions::protocol(1, 2), self.table());
            }
            for n in tail..(tail + self.removes).min(head) {
                let path = self.file(n)["add"]["path"].take();
                body += &format!("{}\n", actions::remove(path.as_str().unwrap_or_default()));
            }
            tail = (tail + self.removes).min(head);
            for n in head..head + self.adds {
                body += &format!("{}\n", self.file(n));
            }
            head += self.adds;
            fs::write(log.join(format!("{version:020}.json")), body).expect("write a commit");
        }
        ((next + self.commits).saturating_sub(1), head - tail)
    }

    fn table(&self) -> Value {
        if self.wide { Self::wide_metadata() } else { Self::metadata() }
    }

    fn write_checkpoint(&self, log: &Path) {
        let metadata = self.table();
        let shape = TableShape::of(&metadata["metaData"]);
        let row = |action: &Value| checkpoint_row(action, &shape, &self.checkpoint);
        let path = log.join(format!("{:020}.checkpoint.parquet", 0));
        let mut writer = ActionWriter::create(
            &path,
            checkpoint_schema(&shape, &self.checkpoint, false),
            self.checkpoint.row_group,
        );
        writer.write(&[actions::protocol(1, 2), metadata.clone()]);
        for start in (0..self.files).step_by(CHUNK as usize) {
            let number = |n: u64| if self.wide { n * STEP % self.files } else { n };
            let files = (start..self.files.min(start + CHUNK)).map(|n| row(&self.file(number(n))));
            let rows: Vec<Value> = files.collect();
            writer.write(&rows);
        }
        writer.close();
        if self.checkpoint.hint {
            fs::write(
                log.join("_last_checkpoint"),
                json!({"version": 0, "size": self.files + 2}).to_string(),
            )
            .expect("write the hint");
        }
    }
}
