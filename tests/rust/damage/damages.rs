//! What can happen to one file.

use std::fmt;

use bytes::Bytes;
use deltaic_testkit::Image;
use fastrand::Rng;

/// Bits that are flipped in a file, one at a time; half of them in its last third, where Parquet has its footer.
pub(super) const FLIPS: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Damage {
    /// Cut to this length.
    Truncated(usize),
    Removed,
    /// Its content twice.
    Doubled,
    /// The content of the file of its kind before it.
    AsTheOneBefore(String),
    /// A copy of it has the name of the next version.
    AsTheNext(String),
    /// Of this byte this bit.
    Flipped(usize, u8),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Truncated(0) => f.write_str("emptied"),
            Damage::Truncated(length) => write!(f, "cut to {length} bytes"),
            Damage::Removed => f.write_str("removed"),
            Damage::Doubled => f.write_str("doubled"),
            Damage::AsTheOneBefore(other) => write!(f, "with the bytes of {other}"),
            Damage::AsTheNext(name) => write!(f, "copied to {name}"),
            Damage::Flipped(byte, bit) => write!(f, "bit {bit} of byte {byte} flipped"),
        }
    }
}

impl Damage {
    /// All damages of a file.
    pub(super) fn of(image: &Image, name: &str, flips: usize) -> Vec<Damage> {
        let size = image.body(name).len();
        let mut out = vec![Damage::Removed, Damage::Doubled];
        let mut lengths = vec![0, 1, size / 3, size / 2, size * 9 / 10, size.saturating_sub(2)];
        lengths.extend(size.checked_sub(1));
        lengths.sort_unstable();
        lengths.dedup();
        out.extend(lengths.into_iter().filter(|length| *length < size).map(Damage::Truncated));
        let same = |other: &&String| kind(other) == kind(name) && other.as_str() < name;
        if let Some(before) = image.objects.keys().rfind(same)
            && image.body(before) != image.body(name)
        {
            out.push(Damage::AsTheOneBefore(before.clone()));
        }
        if let Some(next) = next(name).filter(|next| !image.objects.contains_key(next)) {
            out.push(Damage::AsTheNext(next));
        }
        let seed = name.bytes().fold(size as u64, |seed, b| seed.wrapping_mul(31).wrapping_add(b.into()));
        let mut rng = Rng::with_seed(seed);
        for flip in 0..flips {
            let from = if flip % 2 == 0 { 0 } else { size * 2 / 3 };
            if from < size {
                out.push(Damage::Flipped(rng.usize(from..size), rng.u8(..8)));
            }
        }
        out
    }

    /// Does it.
    pub(super) fn apply(&self, image: &mut Image, name: &str) {
        let body = image.body(name).clone();
        match self {
            Damage::Truncated(length) => image.put(name, body.slice(..*length)),
            Damage::Removed => {
                image.objects.remove(name);
            }
            Damage::Doubled => image.put(name, Bytes::from([&body[..], &body[..]].concat())),
            Damage::AsTheOneBefore(other) => image.put(name, image.body(other).clone()),
            Damage::AsTheNext(next) => image.put(next, body),
            Damage::Flipped(byte, bit) => {
                let mut flipped = body.to_vec();
                flipped[*byte] ^= 1 << bit;
                image.put(name, flipped.into());
            }
        }
    }
}

/// What two files of one kind share: their name without digits and without what is between dots and dashes.
fn kind(name: &str) -> String {
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let kinds = ["checkpoint", "compacted", "json", "crc", "parquet", "bin", "_last_checkpoint"];
    let parts = name.rsplit('/').next().unwrap_or(name).split('.').filter(|part| kinds.contains(part));
    format!("{folder}/{}", parts.collect::<Vec<_>>().join("."))
}

/// The name with the next version, or as the next part of a checkpoint.
fn next(name: &str) -> Option<String> {
    let rest = name.strip_prefix("_delta_log/")?;
    let version: u64 = rest.get(..20)?.parse().ok()?;
    Some(format!("_delta_log/{:020}{}", version + 1, &rest[20..]))
}
