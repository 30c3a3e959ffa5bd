//! The state of a version, and what must hold of every state.

use std::collections::BTreeMap;

use deltaic_core::Result;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::Snapshot;

#[derive(Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) version: u64,
    /// The `add`s by path and deletion vector.
    pub(crate) files: BTreeMap<String, String>,
    /// A file that is there more than once.
    pub(crate) twice: Option<String>,
    /// Identifiers of applications, domains, protocol and metadata.
    pub(crate) others: Vec<String>,
}

impl State {
    /// # Panics
    /// Where an `add` has no path, or a predicate finds what is not there.
    pub(crate) fn of(snapshot: &Snapshot) -> Result<State> {
        let request = || FilesRequest { stats: true, extended: true, ..FilesRequest::default() };
        let (mut files, mut twice) = (BTreeMap::new(), None);
        for batch in snapshot.files(request())? {
            for add in batch?.adds() {
                let mut add = add?;
                add.data_change = true;
                assert!(!add.path.as_str().is_empty(), "an `add` without a path: {add:?}");
                let key = format!("{} {:?}", add.path, add.deletion_vector);
                if files.insert(key.clone(), format!("{add:?}")).is_some() {
                    twice = Some(key);
                }
            }
        }
        let predicate = Predicate::And(vec![
            compare("id", Literal::Long(5)),
            Predicate::Or(vec![compare("p", Literal::String("x 0".into())), compare("id", Literal::Long(7))]),
        ]);
        // a schema without these columns has no answer
        if let Ok(stream) = snapshot.files(FilesRequest { predicate: Some(predicate), ..request() }) {
            for batch in stream {
                for add in batch?.adds() {
                    let add = add?;
                    let key = format!("{} {:?}", add.path, add.deletion_vector);
                    assert!(files.contains_key(&key), "only with a predicate: {key}");
                }
            }
        }
        let mut others = vec![format!("{:?}", snapshot.protocol()), format!("{:?}", snapshot.metadata())];
        others.extend(snapshot.app_transactions()?.iter().map(|t| format!("{t:?}")));
        others.extend(snapshot.domain_metadata()?.iter().map(|d| format!("{d:?}")));
        Ok(State { version: snapshot.version(), files, twice, others })
    }
}

pub(crate) fn compare(column: &str, value: Literal) -> Predicate {
    Predicate::Compare { op: CompareOp::Eq, column: vec![column.to_owned()], value }
}
