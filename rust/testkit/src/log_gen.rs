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
            checkpoint: CheckpointSpec { row_group: 100_000, ..CheckpointSpec::default() },
        }
    }
}

/// Actions that are turned to columns at once.
const CHUNK: u64 = 10_000;
const DAYS: u64 = 1000;

impl LogGen {
    /// The `metaData` of the table: `id long, value double, name string, date date`, partitioned by `date`.
    pub fn metadata() -> Value {
        let schema =
            actions::schema(&[("id", "long"), ("value", "double"), ("name", "string"), ("date", "date")]);
        actions::metadata(&schema, &["date"], &[])
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
        let day = n % DAYS;
        format!("20{:02}-{:02}-{:02}", day / 336, day / 28 % 12 + 1, day % 28 + 1)
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
                body += &format!("{}\n{}\n", actions::protocol(1, 2), Self::metadata());
            }
            for n in tail..(tail + self.removes).min(head) {
                let path = Self::add(n)["add"]["path"].take();
                body += &format!("{}\n", actions::remove(path.as_str().unwrap_or_default()));
            }
            tail = (tail + self.removes).min(head);
            for n in head..head + self.adds {
                body += &format!("{}\n", Self::add(n));
            }
            head += self.adds;
            fs::write(log.join(format!("{version:020}.json")), body).expect("write a commit");
        }
        ((next + self.commits).saturating_sub(1), head - tail)
    }

    fn write_checkpoint(&self, log: &Path) {
        let metadata = Self::metadata();
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
            let rows: Vec<Value> =
                (start..self.files.min(start + CHUNK)).map(|n| row(&Self::add(n))).collect();
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
