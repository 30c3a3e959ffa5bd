//! What the statistics of a checkpoint say of columns that predicates ask for again and again, so that a session that prunes
//! by them does not read and parse them each time.

use std::collections::{HashMap, HashSet};
use std::mem::{Discriminant, discriminant};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::prune::{BoundColumn, HeldFacts, Pruner};
use crate::schema::DataType;
use crate::unlocked::if_unlocked;

/// Bytes that all checkpoints of the process may hold together.
const MOST: usize = 64 << 20;

static BYTES: AtomicUsize = AtomicUsize::new(0);

/// A column of the table: its type decides how its statistics are read.
type Column = (Vec<String>, Discriminant<DataType>);

/// What is held of one checkpoint.
#[derive(Debug, Default)]
pub(crate) struct HeldStats(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    asked: HashSet<Column>,
    /// By file, row group and column.
    held: HashMap<(usize, usize, Column), Arc<Held>>,
}

/// What is held of one column in one row group.
#[derive(Debug)]
pub(crate) struct Held {
    facts: HeldFacts,
    /// Its part of [`BYTES`].
    bytes: usize,
}

impl Held {
    pub(crate) fn facts(&self) -> &HeldFacts {
        &self.facts
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        BYTES.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

fn named(column: &BoundColumn) -> Column {
    // types that can be held have no parameters
    (column.physical.clone(), discriminant(&column.data_type))
}

impl HeldStats {
    /// Whether a predicate can be judged by what is held, and asks for columns that were all asked for before.
    pub(crate) fn asked_again(&self, pruner: &Pruner) -> bool {
        let ask = |state: &mut State| {
            let columns = pruner.stats_leaves().iter();
            columns.filter(|column| state.asked.insert(named(column))).count() == 0
        };
        pruner.can_be_held() && if_unlocked(&self.0, ask) == Some(true)
    }

    /// Whether so many columns of so many files can be held besides what is.
    pub(crate) fn has_room(files: usize, columns: usize) -> bool {
        let wanted = files.saturating_mul(columns).saturating_mul(HeldFacts::BYTES);
        BYTES.load(Ordering::Relaxed).saturating_add(wanted) <= MOST
    }

    /// What is held of the columns in a row group of a file; none where one of them is not.
    pub(crate) fn of(&self, place: (usize, usize), columns: &[BoundColumn]) -> Option<Vec<Arc<Held>>> {
        if_unlocked(&self.0, |state| {
            let one = |column| state.held.get(&(place.0, place.1, named(column))).cloned();
            columns.iter().map(one).collect()
        })?
    }

    /// Holds what was read of the columns in a row group of a file.
    pub(crate) fn hold(
        &self,
        place: (usize, usize),
        columns: &[BoundColumn],
        facts: Vec<HeldFacts>,
    ) -> Vec<Arc<Held>> {
        let counted = |facts: HeldFacts| {
            let bytes = facts.len() * HeldFacts::BYTES;
            BYTES.fetch_add(bytes, Ordering::Relaxed);
            Arc::new(Held { facts, bytes })
        };
        let held: Vec<Arc<Held>> = facts.into_iter().map(counted).collect();
        if_unlocked(&self.0, |state| {
            for (column, one) in columns.iter().zip(&held) {
                state.held.insert((place.0, place.1, named(column)), one.clone());
            }
        });
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::{CompareOp, Literal, Predicate};
    use crate::schema::{ColumnMappingMode, StructField, StructType};

    fn pruner(columns: &[&str]) -> Pruner {
        let kinds = [
            ("id", DataType::Long),
            ("day", DataType::Date),
            ("name", DataType::String),
            ("p", DataType::Long),
        ];
        let fields = kinds.map(|(name, kind)| StructField::new(name, kind, true)).to_vec();
        let one = |name: &&str| {
            let value = match *name {
                "name" => Literal::String("x".into()),
                "day" => Literal::Date(1),
                _ => Literal::Long(1),
            };
            Predicate::Compare { column: vec![(*name).to_owned()], op: CompareOp::Gt, value }
        };
        let all = Predicate::And(columns.iter().map(one).collect());
        Pruner::bind(&all, &StructType { fields }, &["p".to_owned()], ColumnMappingMode::None).unwrap()
    }

    #[test]
    fn columns_are_held_when_all_are_asked_for_again() {
        let held = HeldStats::default();
        for (columns, again) in [
            (&["id"][..], false),
            (&["id"], true),
            (&["id", "day"], false),
            (&["day"], true),
            (&["id", "day"], true),
            // texts are not held, and partition values are not part of it
            (&["name"], false),
            (&["name"], false),
            (&["id", "name"], false),
            (&["p", "id"], false),
        ] {
            assert_eq!(held.asked_again(&pruner(columns)), again, "{columns:?}");
        }
    }

    #[test]
    fn a_process_holds_no_more_than_its_room() {
        assert!(HeldStats::has_room(1, 1));
        assert!(!HeldStats::has_room(MOST / HeldFacts::BYTES + 1, 1));
        assert!(!HeldStats::has_room(usize::MAX, usize::MAX));
    }
}
