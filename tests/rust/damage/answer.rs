//! What a table answers: everything that a reader can ask for.

use std::collections::{BTreeMap, BTreeSet};

use arrow::util::display::{ArrayFormatter, FormatOptions};
use deltaic_core::Result;
use deltaic_core::replay::FilesRequest;
use deltaic_core::scan::{ReadRequest, read};
use deltaic_core::snapshot::{At, Snapshot, Verify};

use deltaic_testkit::Image;
use serde_json::Value;

use crate::load::text;

/// One version of a table, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) version: u64,
    pub(super) protocol: String,
    pub(super) metadata: String,
    /// Identifiers of applications and domains.
    pub(super) named: Vec<String>,
    /// The `add`s of the live files.
    pub(super) files: BTreeSet<String>,
    pub(super) rows: Vec<String>,
}

impl Answer {
    /// Opens a version and asks for everything. Where the log says what is `known`, the rows are known, too: `files` tells
    /// that data files and deletion vectors are whole.
    pub(super) fn of(
        image: &Image,
        at: At,
        level: Verify,
        known: Option<&Answer>,
        files: bool,
    ) -> Result<Answer> {
        let snapshot = Snapshot::open_with(image.location(), at, level)?;
        let mut answer = Self::of_log(&snapshot)?;
        if let Some(known) = known.filter(|_| files)
            && (Answer { rows: known.rows.clone(), version: known.version, ..answer.clone() }) == *known
        {
            answer.rows.clone_from(&known.rows);
            return Ok(answer);
        }
        for batch in read(&snapshot, ReadRequest::default())? {
            let batch = batch?;
            let options = FormatOptions::default().with_null("null");
            let columns: Vec<_> =
                batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
            let row = |r: usize| columns.iter().map(|c| c.value(r).to_string() + "|").collect::<String>();
            answer.rows.extend((0..batch.num_rows()).map(row));
        }
        answer.rows.sort();
        Ok(answer)
    }

    /// All but the rows.
    pub(super) fn of_log(snapshot: &Snapshot) -> Result<Answer> {
        let request = FilesRequest { stats: true, extended: true, ..FilesRequest::default() };
        let mut files = BTreeSet::new();
        for batch in snapshot.files(request)? {
            for add in batch?.adds() {
                let add = text(add?);
                assert!(!files.contains(&add), "a file is listed twice: {add}");
                files.insert(add);
            }
        }
        let txns = snapshot.app_transactions()?.into_iter().map(|t| format!("{t:?}"));
        let domains = snapshot.domain_metadata()?.into_iter().map(|d| format!("{d:?}"));
        Ok(Answer {
            version: snapshot.version(),
            protocol: format!("{:?}", snapshot.protocol()),
            metadata: format!("{:?}", snapshot.metadata()),
            named: txns.chain(domains).collect(),
            files,
            rows: Vec::new(),
        })
    }

    /// With the statistics of another answer where those here are less: lost, no JSON, or without some that the other has
    /// because their names are no names any more. A file is read that could be skipped, and no problem was found.
    pub(super) fn with_lost_stats(mut self, other: &Answer) -> Self {
        let split = |text: &String| {
            let mut add: Value = serde_json::from_str(text).unwrap();
            let stats = add.as_object_mut().unwrap().remove("stats");
            let stats = stats.and_then(|s| serde_json::from_str::<Value>(s.as_str().unwrap()).ok());
            (add.to_string(), stats)
        };
        let whole: BTreeMap<String, (&String, Option<Value>)> = other
            .files
            .iter()
            .map(|file| {
                let (add, stats) = split(file);
                (add, (file, stats))
            })
            .collect();
        let filled = |file: String| {
            let (add, stats) = split(&file);
            match whole.get(&add) {
                Some((whole, all)) if is_less(stats.as_ref(), all.as_ref()) => (*whole).clone(),
                _ => file,
            }
        };
        self.files = std::mem::take(&mut self.files).into_iter().map(filled).collect();
        self
    }

    /// What another answer says otherwise, in a few words.
    pub(super) fn difference(&self, other: &Answer) -> String {
        let mut words = Vec::new();
        if self.version != other.version {
            words.push(format!("version {} instead of {}", other.version, self.version));
        }
        for (what, ours, theirs) in
            [("protocol", &self.protocol, &other.protocol), ("metadata", &self.metadata, &other.metadata)]
        {
            if ours != theirs {
                words.push(format!("{what} {theirs} instead of {ours}"));
            }
        }
        if self.named != other.named {
            words.push(format!("named {:?} instead of {:?}", other.named, self.named));
        }
        let lost: Vec<_> = self.files.difference(&other.files).take(1).collect();
        let new: Vec<_> = other.files.difference(&self.files).take(1).collect();
        if !lost.is_empty() || !new.is_empty() {
            let counts = (other.files.len(), self.files.len());
            words.push(format!("{counts:?} files, such as {new:?} instead of {lost:?}"));
        }
        if self.rows != other.rows {
            words.push(format!("{} rows instead of {}", other.rows.len(), self.rows.len()));
        }
        words.join("; ")
    }
}

/// Whether statistics say nothing that others do not say, too: names that these do not have are nobody's.
fn is_less(stats: Option<&Value>, all: Option<&Value>) -> bool {
    let (Some(stats), Some(all)) = (stats, all) else { return stats.is_none() };
    // bounds without the word that they are wide would be taken for tight ones
    let wide = |s: &Value| s.get("tightBounds") == Some(&Value::Bool(false));
    fn fits(stats: &Value, all: &Value) -> bool {
        match (stats.as_object(), all.as_object()) {
            (Some(stats), Some(all)) => {
                stats.iter().all(|(name, value)| all.get(name).is_none_or(|known| fits(value, known)))
            }
            _ => stats == all,
        }
    }
    fits(stats, all) && wide(stats) == wide(all)
}
