//! A model of writers that share a table: every interleaving, every answer that a store can give, a crash at every step.
//! What decides is the code of the product: transactions, conflict check, rebase and the attempt of a commit.
//!
//! `cargo test --test model` explores what CI can afford; `DELTAIC_MODEL=full cargo test --release --test model -- --nocapture`
//! explores more levels, faults and crashes.

// a failed step of a test is a failed test
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

mod log;
mod operations;
mod oracle;
mod world;

use deltaic_core::conflict::{MATRIX, Row, Verdict};
use deltaic_core::error::ConflictRule;
use operations::Op;
use stateright::{Checker, Model};
use world::Writers;

const ALL: [Op; 7] =
    [Op::Append(7), Op::Delete(1), Op::Rewrite(2), Op::Update(2), Op::Optimize, Op::Count, Op::Alter];

/// All ways for `n` writers to do one operation each, without regard to who is who.
fn one_each(n: usize, ops: &[Op]) -> Vec<Vec<Vec<Op>>> {
    fn grow(n: usize, ops: &[Op], from: usize, chosen: &mut Vec<Vec<Op>>, out: &mut Vec<Vec<Vec<Op>>>) {
        if n == 0 {
            out.push(chosen.clone());
            return;
        }
        for at in from..ops.len() {
            chosen.push(vec![ops[at]]);
            grow(n - 1, ops, at, chosen, out);
            chosen.pop();
        }
    }
    let mut out = Vec::new();
    grow(n, ops, 0, &mut Vec::new(), &mut out);
    out
}

fn full() -> bool {
    std::env::var("DELTAIC_MODEL").is_ok_and(|v| v == "full")
}

fn explore(name: &str, writers: Writers) -> Vec<&'static str> {
    let checker = writers.checker().threads(2).spawn_bfs().join();
    println!(
        "{name}: {} states, {} unique, depth {}",
        checker.state_count(),
        checker.unique_state_count(),
        checker.max_depth()
    );
    let mut found: Vec<_> = checker.discoveries().into_iter().collect();
    found.sort_by_key(|(property, _)| *property);
    for (property, path) in &found {
        println!("{name}: {property}: {:?}", path.clone().into_actions());
    }
    found.into_iter().map(|(property, _)| property).collect()
}

fn holds(name: &str, writers: Writers) {
    assert_eq!(explore(name, writers), [] as [&str; 0], "{name}");
}

#[test]
fn t11_two_writers_under_faults_and_crashes_are_serializable() {
    let (faults, crashes) = if full() { (3, 2) } else { (1, 1) };
    // with one try every doubt ends as unknown, with two most are resolved
    for (level, tries) in [("Serializable", 1), ("Serializable", 2), ("WriteSerializable", 2)] {
        let mut scripts = one_each(2, &ALL);
        scripts.extend(
            [Op::Delete(1), Op::Rewrite(2), Op::Optimize].map(|op| vec![vec![Op::Compact], vec![op]]),
        );
        let name = format!("two writers, {level}, {tries} tries");
        holds(&name, Writers { level, scripts, faults, crashes, tries, ..Writers::new() });
    }
}

#[test]
fn t11_three_writers_are_serializable() {
    let (faults, crashes) = if full() { (1, 1) } else { (0, 0) };
    // the level that a table has by itself; CI has the other one for two writers
    let levels = if full() { &["WriteSerializable", "Serializable"][..] } else { &["WriteSerializable"] };
    for level in levels {
        let scripts = one_each(3, &ALL);
        holds(
            &format!("three writers, {level}"),
            Writers { level, scripts, faults, crashes, ..Writers::new() },
        );
    }
}

#[test]
fn t11_writers_that_go_on_are_serializable() {
    let (faults, crashes) = if full() { (1, 1) } else { (0, 0) };
    let scripts = vec![
        vec![vec![Op::Append(7), Op::Delete(7)], vec![Op::Optimize, Op::Update(1)]],
        vec![vec![Op::Delete(1), Op::Append(1)], vec![Op::Delete(2), Op::Count]],
        vec![vec![Op::Update(1), Op::Update(1)], vec![Op::Update(2), Op::Optimize]],
    ];
    for level in ["Serializable", "WriteSerializable"] {
        let scripts = scripts.clone();
        holds(
            &format!("longer scripts, {level}"),
            Writers { level, scripts, faults, crashes, ..Writers::new() },
        );
    }
}

#[test]
fn t7_of_two_runs_of_one_application_one_writes() {
    let (faults, crashes) = if full() { (3, 2) } else { (2, 1) };
    let scripts = vec![
        vec![vec![Op::Once(7)], vec![Op::Once(7)]],
        vec![vec![Op::Once(7), Op::Once(7)], vec![Op::Delete(1)]],
    ];
    holds("one application", Writers { scripts, faults, crashes, ..Writers::new() });
}

/// The matrix with one rule that lets everything pass.
fn without(rule: ConflictRule) -> &'static [Row] {
    let mut matrix = MATRIX.to_vec();
    for row in matrix.iter_mut().filter(|r| r.rule == rule) {
        row.verdicts = [Verdict::Pass; 3];
    }
    Box::leak(matrix.into_boxed_slice())
}

#[test]
fn a_wrong_map_of_rows_is_caught() {
    for op in [Op::Delete(1), Op::Update(2), Op::Rewrite(2)] {
        let scripts = |optimize| vec![vec![vec![optimize], vec![op]]];
        holds(&format!("optimize and {op:?}"), Writers { scripts: scripts(Op::Optimize), ..Writers::new() });
        let broken = explore(
            &format!("a shifted map and {op:?}"),
            Writers { scripts: scripts(Op::Shift), ..Writers::new() },
        );
        assert!(broken.contains(&"serializable"), "{op:?}");
    }
}

#[test]
fn a_broken_rule_is_caught() {
    for rule in [
        ConflictRule::AppendRead,
        ConflictRule::BlindAppendRead,
        ConflictRule::RemoveRead,
        ConflictRule::FileRewritten,
        ConflictRule::SameRows,
    ] {
        let scripts = one_each(2, &ALL);
        let broken = Writers { scripts, matrix: without(rule), ..Writers::new() };
        assert!(explore(&format!("without {rule:?}"), broken).contains(&"serializable"), "{rule:?}");
    }
}
