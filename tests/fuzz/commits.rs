//! The JSON of a commit: replay gives an error or a state, the same from nothing as from the version before.

use deltaic_core::replay::CommitActions;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::verify::{VerifyOptions, verify};
use deltaic_testkit::Image;
use fastrand::Rng;

use super::engine::Target;
use super::state::State;
use super::{mutate_json, seeds};

pub(crate) struct Commits {
    base: Image,
}

pub(crate) const KEYS: [&str; 30] = [
    "add",
    "remove",
    "cdc",
    "metaData",
    "protocol",
    "txn",
    "domainMetadata",
    "commitInfo",
    "path",
    "size",
    "stats",
    "partitionValues",
    "modificationTime",
    "dataChange",
    "tags",
    "deletionVector",
    "storageType",
    "pathOrInlineDv",
    "offset",
    "sizeInBytes",
    "cardinality",
    "baseRowId",
    "defaultRowCommitVersion",
    "schemaString",
    "configuration",
    "partitionColumns",
    "minReaderVersion",
    "readerFeatures",
    "appId",
    "version",
];

impl Target for Commits {
    const NAME: &'static str = "commits";

    fn new() -> Self {
        Commits { base: seeds::image(&seeds::base()) }
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        seeds::of_logs(seeds::is_commit)
    }

    fn mutate(&self, rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
        mutate_json::lines(rng, seeds, &KEYS)
    }

    fn check(&self, input: &[u8]) -> bool {
        let mut image = self.base.clone();
        image.put("_delta_log/00000000000000000002.json", input.to_vec().into());
        let location = image.location();
        // what is wrong is a finding
        let _ = verify(&location, &VerifyOptions::default());
        let _ = CommitActions::parse(input, "commit", Some(2));
        let before = Snapshot::open(location.clone(), At::Version(1)).unwrap();
        State::of(&before).unwrap();
        let advanced = before.update().and_then(|s| State::of(&s));
        let cold = Snapshot::open(location, At::Latest).and_then(|s| {
            let _ = s.history(None);
            State::of(&s)
        });
        match (cold, advanced) {
            (Ok(cold), Ok(advanced)) => {
                assert_eq!(cold, advanced);
                assert_eq!((cold.version, &cold.twice), (2, &None));
                true
            }
            (Err(_), Err(_)) => false,
            (cold, advanced) => panic!("from nothing {cold:?}, from the version before {advanced:?}"),
        }
    }
}
