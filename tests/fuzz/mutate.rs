//! Mutations of bytes.

use fastrand::Rng;

/// Numbers at which code goes wrong.
pub(crate) const EXTREMES: [i64; 14] = [
    0,
    1,
    -1,
    i64::MAX,
    i64::MIN,
    i32::MAX as i64,
    i32::MIN as i64,
    u32::MAX as i64,
    1 << 31,
    1 << 32,
    1 << 53,
    65_536,
    255,
    -128,
];

/// One of the seeds with a few changes.
pub(crate) fn bytes(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut out = pick::<Vec<u8>>(rng, seeds).clone();
    for _ in 0..rng.u32(1..=4) {
        change(rng, &mut out, seeds);
    }
    out
}

pub(crate) fn pick<'a, T: Clone>(rng: &mut Rng, from: &'a [T]) -> &'a T {
    &from[rng.usize(..from.len())]
}

/// A range of a body, mostly a short one.
fn range(rng: &mut Rng, length: usize) -> std::ops::Range<usize> {
    let start = rng.usize(..=length);
    let most = if rng.u8(..4) == 0 { length - start } else { (length - start).min(32) };
    start..start + rng.usize(..=most)
}

pub(crate) fn change(rng: &mut Rng, out: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    if out.is_empty() {
        out.extend_from_slice(pick::<Vec<u8>>(rng, seeds));
        return;
    }
    let at = rng.usize(..out.len());
    match rng.u8(..11) {
        0..=2 => out[at] ^= 1 << rng.u8(..8),
        3 => out[at] = rng.u8(..),
        4 => out.truncate(at),
        5 => {
            let other = pick::<Vec<u8>>(rng, seeds);
            out.truncate(at);
            out.extend_from_slice(&other[rng.usize(..=other.len())..]);
        }
        6 => {
            let part = out[range(rng, out.len())].to_vec();
            out.splice(at..at, part);
        }
        7 => {
            let range = range(rng, out.len());
            out.drain(range);
        }
        8 => {
            let other = pick::<Vec<u8>>(rng, seeds);
            let part = other[range(rng, other.len())].to_vec();
            let end = (at + part.len()).min(out.len());
            out.splice(at..end, part);
        }
        9 => {
            let value = *pick(rng, &EXTREMES);
            let number = match rng.u8(..4) {
                0 => value.to_le_bytes().to_vec(),
                1 => value.to_be_bytes().to_vec(),
                2 => (value as i32).to_le_bytes().to_vec(),
                _ => (value as i32).to_be_bytes().to_vec(),
            };
            let end = (at + number.len()).min(out.len());
            out.splice(at..end, number);
        }
        _ => {
            let count = rng.usize(1..8);
            let noise: Vec<u8> = (0..count).map(|_| rng.u8(..)).collect();
            out.splice(at..at, noise);
        }
    }
}
