use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};

/// Where the rows of a rewrite come from: for each source file the runs of its rows, and where each begins in a new file.
/// With it a compaction follows row-level deletes of the files that it replaces: the rows are deleted where they are now.
///
/// Files are named by [`FilePath::identity`](crate::actions::FilePath::identity), rows by their position in the data file,
/// deleted ones included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RowRelocations {
    sources: BTreeMap<String, Vec<Run>>,
    /// Number of rows of each new file.
    targets: BTreeMap<Arc<str>, u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Run {
    from: Range<u64>,
    target: Arc<str>,
    to: u64,
}

impl RowRelocations {
    /// The rows `from` of `source` became the next rows of the new file `target`, in the same order. The runs of a source
    /// are given in the order of its rows, those of a target in the order of its.
    pub fn run(&mut self, source: &str, from: Range<u64>, target: &str) {
        let target: Arc<str> = match self.targets.get_key_value(target) {
            Some((known, _)) => known.clone(),
            None => target.into(),
        };
        let rows = self.targets.entry(target.clone()).or_insert(0);
        let to = *rows;
        *rows += from.end.saturating_sub(from.start);
        if !self.sources.contains_key(source) {
            self.sources.insert(source.to_owned(), Vec::new());
        }
        let Some(runs) = self.sources.get_mut(source) else { return };
        match runs.last_mut() {
            Some(last)
                if last.target == target
                    && last.from.end == from.start
                    && last.to + (last.from.end - last.from.start) == to =>
            {
                last.from.end = from.end;
            }
            _ => runs.push(Run { from, target, to }),
        }
    }

    /// Whether nothing moves.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// A source none of whose rows were left.
    pub fn empty_source(&mut self, source: &str) {
        self.sources.entry(source.to_owned()).or_default();
    }

    /// The rows of the new file, of all sources.
    pub(super) fn rows_of(&self, target: &str) -> Option<u64> {
        self.targets.get(target).copied()
    }

    /// Whether it says where the rows of a file went.
    pub(super) fn knows(&self, source: &str) -> bool {
        self.sources.contains_key(source)
    }

    /// Where these rows of a source are now; none when it does not say so of one of them.
    pub(super) fn places(&self, source: &str, rows: &RoaringTreemap) -> Option<RelocatedRows> {
        let mut out = RelocatedRows::new();
        let mut runs = self.sources.get(source)?.iter().peekable();
        for row in rows {
            while runs.peek()?.from.end <= row {
                runs.next();
            }
            let run = runs.peek()?;
            let offset = row.checked_sub(run.from.start)?;
            out.entry(run.target.clone()).or_default().insert(run.to + offset);
        }
        Some(out)
    }

    /// Where all rows of a source are now.
    pub(super) fn all_places(&self, source: &str) -> Option<RelocatedRows> {
        let mut out = RelocatedRows::new();
        for run in self.sources.get(source)? {
            let length = run.from.end.saturating_sub(run.from.start);
            out.entry(run.target.clone()).or_default().insert_range(run.to..run.to + length);
        }
        Some(out)
    }

    /// Forgets a new file that is not to be.
    pub(super) fn forget(&mut self, target: &str) {
        self.targets.remove(target);
    }
}

/// Rows of new files.
pub(super) type RelocatedRows = BTreeMap<Arc<str>, RoaringTreemap>;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places(moves: &RowRelocations, source: &str, rows: &[u64]) -> Option<Vec<(String, Vec<u64>)>> {
        let places = moves.places(source, &rows.iter().copied().collect())?;
        Some(places.into_iter().map(|(t, rows)| (t.to_string(), rows.iter().collect())).collect())
    }

    #[test]
    fn rows_are_found_where_they_went() {
        let mut moves = RowRelocations::default();
        moves.run("a", 0..3, "x");
        moves.run("a", 5..8, "x");
        moves.run("b", 0..2, "x");
        moves.run("b", 2..4, "y");
        assert_eq!(places(&moves, "a", &[2, 5, 7]), Some(vec![("x".into(), vec![2, 3, 5])]));
        assert_eq!(
            places(&moves, "b", &[0, 1, 3]),
            Some(vec![("x".into(), vec![6, 7]), ("y".into(), vec![1])])
        );
        // a row that was deleted before, one after the end, an unknown file
        assert_eq!(places(&moves, "a", &[3]), None);
        assert_eq!(places(&moves, "a", &[8]), None);
        assert_eq!(places(&moves, "c", &[0]), None);
        assert_eq!(places(&moves, "a", &[]), Some(vec![]));
        assert_eq!((moves.rows_of("x"), moves.rows_of("y")), (Some(8), Some(2)));
        let all = moves.all_places("a").unwrap();
        assert_eq!(all["x"].iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn runs_that_go_on_are_one() {
        let mut moves = RowRelocations::default();
        (0..1000).for_each(|n| moves.run("a", n..n + 1, "x"));
        assert_eq!(moves.sources["a"].len(), 1);
        moves.run("a", 1001..1002, "x");
        assert_eq!(moves.sources["a"].len(), 2);
    }

    #[test]
    fn a_target_that_is_forgotten_has_no_rows() {
        let mut moves = RowRelocations::default();
        moves.run("a", 0..3, "x");
        moves.run("b", 0..2, "y");
        moves.forget("x");
        assert_eq!((moves.rows_of("x"), moves.rows_of("y")), (None, Some(2)));
    }

    #[test]
    fn a_run_goes_on_only_where_the_last_one_ended() {
        let mut moves = RowRelocations::default();
        moves.run("a", 5..6, "x");
        moves.run("b", 0..10, "x");
        moves.run("a", 6..7, "x");
        assert_eq!(places(&moves, "a", &[5, 6]), Some(vec![("x".into(), vec![0, 11])]));
    }

    proptest! {
        #[test]
        fn moved_rows_are_those_of_a_copy(
            files in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 0..40), 1..5),
            break_at in 1_u64..30,
        ) {
            // a copy, row by row: the live rows of the files, `break_at` rows to a new file
            let mut moves = RowRelocations::default();
            let mut expected = Vec::new();
            let mut copied = 0;
            for (n, file) in files.iter().enumerate() {
                moves.empty_source(&n.to_string());
                for row in (0..file.len() as u64).filter(|row| file[*row as usize]) {
                    let target = format!("new{}", copied / break_at);
                    moves.run(&n.to_string(), row..row + 1, &target);
                    expected.push((n.to_string(), row, target, copied % break_at));
                    copied += 1;
                }
            }
            for (source, row, target, at) in &expected {
                prop_assert_eq!(places(&moves, source, &[*row]), Some(vec![(target.clone(), vec![*at])]));
            }
            for n in 0..files.len() {
                let all: u64 = moves.all_places(&n.to_string()).unwrap().values().map(RoaringTreemap::len).sum();
                prop_assert_eq!(all, expected.iter().filter(|e| e.0 == n.to_string()).count() as u64);
            }
        }
    }
}
