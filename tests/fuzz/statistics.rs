//! The statistics of files: a file that they do not rule out is kept, also where they cannot be read, and from a checkpoint as
//! from a commit.

use std::sync::Arc;

use deltaic_core::checkpoint::checkpoint;
use deltaic_core::predicate::Literal;
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, ObjectAdapter};
use deltaic_testkit::Image;
use fastrand::Rng;
use serde_json::{Value, json};

use super::engine::Target;
use super::mutate_json;
use super::seeds;
use super::state::compare;

/// The value that is asked for.
const WANTED: i64 = 5;

pub(crate) struct Statistics {
    base: Image,
}

const KEYS: [&str; 8] =
    ["numRecords", "minValues", "maxValues", "nullCount", "id", "p", "tightBounds", "unknown"];

impl Target for Statistics {
    const NAME: &'static str = "statistics";

    fn new() -> Self {
        Statistics { base: seeds::image(&seeds::base()) }
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let of = |least: i64, most: i64| {
            json!({"numRecords": 10, "minValues": {"id": least, "t": "2026-01-01T00:00:00.000Z"},
                "maxValues": {"id": most, "t": "2026-01-02T00:00:00.000Z"}, "nullCount": {"id": 1, "t": 0},
                "tightBounds": true})
        };
        let all = [
            of(1, 9),
            of(5, 5),
            of(6, 9),
            of(-3, 4),
            of(i64::MIN, i64::MAX),
            json!({"numRecords": 0}),
            json!({"numRecords": 3, "nullCount": {"id": 3}}),
            json!({"numRecords": 3, "minValues": {"id": 7.5}}),
        ];
        all.map(|v| v.to_string().into_bytes()).into()
    }

    fn mutate(&self, rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut out = mutate_json::lines(rng, seeds, &KEYS);
        out.truncate(out.trim_ascii_end().len());
        out
    }

    fn check(&self, input: &[u8]) -> bool {
        let text = String::from_utf8_lossy(input);
        let mut add = seeds::add(9, &json!({}));
        add["add"]["stats"] = text.as_ref().into();
        let mut image = self.base.clone();
        image.put("_delta_log/00000000000000000002.json", format!("{add}\n").into_bytes().into());
        let path = add["add"]["path"].as_str().unwrap();
        let from_commit = keeps(&image.location(), path);
        let may_drop = rules_out(&text);
        assert!(from_commit || may_drop, "it is dropped, but may have the row: {text}");
        if input.len().is_multiple_of(4) {
            let location = Location::with_store(Image::root(), Arc::new(ObjectAdapter::memory()));
            for (name, (body, _)) in &image.objects {
                location.store().put(&location.root().join(name), body.clone()).unwrap();
            }
            checkpoint(&Snapshot::open(location.clone(), At::Latest).unwrap()).unwrap();
            let from_checkpoint = keeps(&location, path);
            assert!(from_checkpoint || may_drop, "the checkpoint drops it, but it may have the row: {text}");
        }
        !from_commit
    }
}

/// Whether the file is listed for the wanted value. Without a predicate it must be.
fn keeps(location: &Location, path: &str) -> bool {
    let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
    let listed = |predicate| {
        let request = FilesRequest { predicate, stats: true, ..FilesRequest::default() };
        let files = snapshot.files(request).unwrap();
        files
            .flat_map(|b| b.unwrap().adds().map(|a| a.unwrap().path).collect::<Vec<_>>())
            .any(|p| p.as_str() == path)
    };
    assert!(listed(None), "it is not listed");
    listed(Some(compare("id", Literal::Long(WANTED))))
}

/// Whether statistics rule the value out, however they are read. Where a member is there twice, either may count.
fn rules_out(text: &str) -> bool {
    let Ok(stats) = serde_json::from_str::<Value>(text) else {
        // what is only too deep for this reading may be read otherwise
        return serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    };
    let twice = KEYS[..4].iter().any(|key| text.matches(&format!("\"{key}\"")).count() > 1)
        || text.matches("\"id\"").count() > 3;
    // a number in quotes is one to some readers
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
    // a count that is not a whole number is cut to one by some readers
    let count = |value: &Value| number(value).map(f64::trunc);
    let no_rows = count(&stats["numRecords"]) == Some(0.0);
    let nulls =
        count(&stats["nullCount"]["id"]).is_some_and(|nulls| Some(nulls) == count(&stats["numRecords"]));
    let above = number(&stats["minValues"]["id"]).is_some_and(|least| least > WANTED as f64);
    let below = number(&stats["maxValues"]["id"]).is_some_and(|most| most < WANTED as f64);
    stats.is_object() && (twice || no_rows || nulls || above || below)
}
