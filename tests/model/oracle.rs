//! What must hold of every state.

use std::collections::BTreeMap;

use crate::log::{Row, parse, replay};
use crate::operations::{Op, first};
use crate::world::{End, World, Writers};

/// The operations of the commits, in order, by the ids of their transactions.
fn history(model: &Writers, world: &World) -> Vec<(String, Op)> {
    let commits = world.log.iter().enumerate().skip(1);
    commits
        .map(|(version, body)| {
            let id = parse(version as u64, body).info().unwrap().txn_id.clone().unwrap();
            let (writer, step) = id.split_once('-').unwrap();
            let script = &model.scripts[world.script];
            let op = script[writer.parse::<usize>().unwrap()][step.parse::<usize>().unwrap()];
            (id, op)
        })
        .collect()
}

fn serial(ops: impl Iterator<Item = Op>) -> Vec<Row> {
    let (_, files) = first("Serializable");
    let mut rows: Vec<Row> = files.into_values().flatten().collect();
    ops.for_each(|op| op.apply(&mut rows));
    rows
}

/// The rows of the table are those of a serial run: in the order of the versions, or in some order of the writes.
pub(crate) fn serializable(model: &Writers, world: &World) -> bool {
    let Ok(live) = replay(&world.log, &world.files) else { return false };
    let mut rows: Vec<Row> =
        live.into_values().flat_map(|f| f.rows.into_iter().map(|(_, row)| row)).collect();
    rows.sort_unstable();
    let ops: Vec<Op> = history(model, world).into_iter().map(|(_, op)| op).collect();
    if serial(ops.iter().copied()) == rows {
        return true;
    }
    model.level == "WriteSerializable" && permutations(&ops).iter().any(|p| serial(p.iter().copied()) == rows)
}

fn permutations(ops: &[Op]) -> Vec<Vec<Op>> {
    if ops.is_empty() {
        return vec![Vec::new()];
    }
    let mut out = Vec::new();
    for at in 0..ops.len() {
        let mut rest = ops.to_vec();
        let chosen = rest.remove(at);
        out.extend(permutations(&rest).into_iter().map(|mut p| {
            p.insert(0, chosen);
            p
        }));
    }
    out
}

/// What was acknowledged is in the log, what failed is not, and nothing is there twice.
pub(crate) fn acknowledged(model: &Writers, world: &World) -> bool {
    let mut times: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (version, (id, _)) in history(model, world).into_iter().enumerate() {
        times.entry(id).or_default().push(version as u64 + 1);
    }
    let once = times.values().all(|versions| versions.len() == 1);
    let reported = world.ends().all(|(id, end)| match (end, times.get(&id)) {
        (End::Committed(version), Some(versions)) => versions == &[*version],
        (End::Committed(_), None) => false,
        (End::Failed(_) | End::Nothing | End::Recorded(_), versions) => versions.is_none(),
        (End::Unknown | End::Crashed, _) => true,
    });
    once && reported
}

/// The row of an application is there once when any of its runs says so.
pub(crate) fn exactly_once(model: &Writers, world: &World) -> bool {
    let runs = history(model, world).into_iter().filter(|(_, op)| matches!(op, Op::Once(_))).count();
    let script = &model.scripts[world.script];
    let done = world.ends().any(|(id, end)| {
        let (writer, step) = id.split_once('-').unwrap();
        let op = script[writer.parse::<usize>().unwrap()][step.parse::<usize>().unwrap()];
        matches!(op, Op::Once(_)) && matches!(end, End::Committed(_) | End::Recorded(_))
    });
    if done { runs == 1 } else { runs <= 1 }
}
