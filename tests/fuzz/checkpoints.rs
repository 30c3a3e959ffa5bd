//! The Parquet of a checkpoint: an error, or a state, the same each time. Nothing else in the log has the files. A file that is
//! there twice, because bits of a name were flipped, is for verification to find.

use deltaic_core::checkpoint::checksum_of;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::verify::{VerifyOptions, verify};
use deltaic_testkit::Image;
use fastrand::Rng;

use super::engine::Target;
use super::state::State;
use super::{mutate, seeds};

pub(crate) struct Checkpoints;

impl Target for Checkpoints {
    const NAME: &'static str = "checkpoints";

    fn new() -> Self {
        Checkpoints
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        seeds::of_logs(|name| name.starts_with("_delta_log/") && name.ends_with(".parquet"))
    }

    fn mutate(&self, rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut out = mutate::pick(rng, seeds).clone();
        // all that says where and how much lies in the footer
        let footer = out.len().checked_sub(8).map_or(0, |at| {
            let length = out[at..at + 4].iter().rev().fold(0, |n, b| n << 8 | usize::from(*b));
            at.saturating_sub(length)
        });
        for _ in 0..rng.u32(1..=3) {
            if rng.bool() && out.len() > footer {
                let mut part = out.split_off(footer);
                match rng.u8(..3) {
                    0 => mutate::change(rng, &mut part, seeds),
                    _ => {
                        let at = rng.usize(..part.len());
                        part[at] = if rng.bool() { rng.u8(..) } else { part[at] ^ (1 << rng.u8(..8)) };
                    }
                }
                out.extend(part);
            } else {
                mutate::change(rng, &mut out, seeds);
            }
        }
        out
    }

    fn check(&self, input: &[u8]) -> bool {
        let mut image = Image::default();
        image.put("_delta_log/00000000000000000002.checkpoint.parquet", input.to_vec().into());
        let location = image.location();
        let verified = verify(&location, &VerifyOptions::default());
        let state = || {
            let snapshot = Snapshot::open(location.clone(), At::Latest)?;
            let state = State::of(&snapshot)?;
            let checksum = checksum_of(&snapshot);
            if let Ok(checksum) = checksum
                && state.twice.is_none()
            {
                assert_eq!(checksum.num_files, state.files.len() as i64);
            }
            Ok::<_, deltaic_core::Error>(state)
        };
        match (state(), state()) {
            (Ok(one), Ok(other)) => {
                assert_eq!(one, other);
                assert!(one.twice.is_none() || !verified.is_ok_and(|report| report.ok()), "{:?}", one.twice);
                true
            }
            (Err(_), Err(_)) => false,
            (one, other) => panic!("first {one:?}, then {other:?}"),
        }
    }
}
