//! Mutations of JSON that stays JSON, also where text of one JSON holds another, and of its text.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::mutate::{self, EXTREMES, pick};

/// Deeper than `serde_json` goes, and less deep.
const DEPTHS: [usize; 4] = [3, 60, 126, 600];

/// Lines of JSON with a few changes; some of them are changes of bytes.
pub(crate) fn lines(rng: &mut Rng, seeds: &[Vec<u8>], keys: &[&str]) -> Vec<u8> {
    if rng.u8(..4) == 0 {
        return mutate::bytes(rng, seeds);
    }
    let mut lines: Vec<Value> = parsed(pick::<Vec<u8>>(rng, seeds));
    if lines.is_empty() {
        return mutate::bytes(rng, seeds);
    }
    for _ in 0..rng.u32(1..=4) {
        let at = rng.usize(..lines.len());
        match rng.u8(..10) {
            0 => lines.push(lines[at].clone()),
            1 => drop((lines.len() > 1).then(|| lines.remove(at))),
            2 => {
                let other = parsed(pick::<Vec<u8>>(rng, seeds));
                if !other.is_empty() {
                    lines.insert(at, pick(rng, &other).clone());
                }
            }
            _ => value(rng, &mut lines[at], keys, 0),
        }
    }
    let mut out: Vec<u8> = lines.iter().flat_map(|line| (line.to_string() + "\n").into_bytes()).collect();
    if rng.u8(..6) == 0 {
        text(rng, &mut out, keys);
    }
    out
}

fn parsed(body: &[u8]) -> Vec<Value> {
    let lines = body.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Changes one value somewhere within.
pub(crate) fn value(rng: &mut Rng, at: &mut Value, keys: &[&str], depth: u32) {
    let deeper = depth < 12 && rng.u8(..8) > 0;
    match at {
        Value::Object(map) if deeper && !map.is_empty() => object(rng, map, keys, depth),
        Value::Array(list) if deeper && !list.is_empty() => {
            let index = rng.usize(..list.len());
            match rng.u8(..8) {
                0 => drop(list.remove(index)),
                1 => list.push(list[index].clone()),
                _ => value(rng, &mut list[index], keys, depth + 1),
            }
        }
        Value::String(held) if deeper && held.starts_with('{') => match serde_json::from_str(held) {
            Ok(mut inner) => {
                value(rng, &mut inner, keys, depth + 1);
                *held = inner.to_string();
                if rng.u8(..8) == 0 {
                    let mut body = held.clone().into_bytes();
                    text(rng, &mut body, keys);
                    *held = String::from_utf8_lossy(&body).into_owned();
                }
            }
            Err(_) => *held = some_text(rng, held),
        },
        Value::String(held) if rng.bool() => *held = some_text(rng, held),
        Value::Number(number) if rng.bool() => {
            let near = number.as_i64().unwrap_or(0).wrapping_add(rng.i64(-2..=2));
            *at = near.into();
        }
        other => *other = any(rng),
    }
}

fn object(rng: &mut Rng, map: &mut Map<String, Value>, keys: &[&str], depth: u32) {
    let names: Vec<String> = map.keys().cloned().collect();
    let name = pick(rng, &names).clone();
    match rng.u8(..12) {
        0 => drop(map.remove(&name)),
        1 => {
            let other = pick(rng, &names).clone();
            let (a, b) = (map[&name].clone(), map[&other].clone());
            map.insert(name, b);
            map.insert(other, a);
        }
        2 => {
            let held = map.remove(&name).unwrap_or_default();
            map.insert((*pick(rng, keys)).to_owned(), held);
        }
        3 => drop(map.insert((*pick(rng, keys)).to_owned(), any(rng))),
        _ => value(rng, map.entry(name).or_insert(Value::Null), keys, depth + 1),
    }
}

/// Changes the text: a member again or before, bytes that are no UTF-8.
pub(crate) fn text(rng: &mut Rng, out: &mut Vec<u8>, keys: &[&str]) {
    let braces: Vec<usize> = (0..out.len()).filter(|at| out[*at] == b'{').collect();
    if rng.bool() && !braces.is_empty() {
        let member = format!("\"{}\":{},", pick(rng, keys), any(rng));
        let at = pick(rng, &braces) + 1;
        out.splice(at..at, member.into_bytes());
    } else {
        let at = rng.usize(..=out.len());
        out.splice(
            at..at,
            pick(rng, &[vec![0xff], vec![0xc0, 0x80], vec![0xed, 0xa0, 0x80], vec![0]]).clone(),
        );
    }
}

/// Any value.
pub(crate) fn any(rng: &mut Rng) -> Value {
    match rng.u8(..10) {
        0 => Value::Null,
        1 => rng.bool().into(),
        2 | 3 => (*pick(rng, &EXTREMES)).into(),
        4 => pick(rng, &[json!(1.5), json!(1e308), json!(-0.0), json!(u64::MAX), json!(1e-320)]).clone(),
        5 => json!({}),
        6 => json!([]),
        7 => {
            let depth = *pick(rng, &DEPTHS);
            let object = rng.bool();
            let wrap = |inner, _| if object { json!({"a": inner}) } else { Value::Array(vec![inner]) };
            (0..depth).fold(json!(1), wrap)
        }
        _ => some_text(rng, "x").into(),
    }
}

fn some_text(rng: &mut Rng, held: &str) -> String {
    match rng.u8(..9) {
        0 => String::new(),
        1 => format!("{held}%FF"),
        2 => format!("../{held}"),
        3 => held.repeat(rng.usize(..64)),
        4 => format!("{held}\u{0}\u{202e}é😀"),
        5 => held.chars().rev().collect(),
        6 => pick(rng, &EXTREMES).to_string(),
        7 => (*pick(
            rng,
            &["NaN", "2026-01-01T00:00:00.000Z", "s3://b/k", "file:///x", "{", "[]", "decimal(38,38)"],
        ))
        .to_owned(),
        _ => held.chars().take(held.len() / 2).collect(),
    }
}
