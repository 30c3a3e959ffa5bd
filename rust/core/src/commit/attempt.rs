use bytes::Bytes;

use super::CommitOutcome;
use crate::actions::ObjectPath;
use crate::conflict::Winner;
use crate::error::{Error, Result};
use crate::store::PutOutcome;

/// How often a put without a clear answer is repeated, and an unreadable answer read again.
pub(super) const TRIES: u32 = 5;

/// What an attempt wants to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Put the commit if it is absent.
    Put,
    /// Read the object with its name.
    Read,
    /// Nothing: it is over.
    Over,
}

/// One attempt to write one version, as a state machine that does no I/O: a driver does what [`CommitAttempt::step`]
/// says and reports what the store answered. [`super::write_commit`] drives it over a store, and a model checker over
/// every answer that a store can give.
#[derive(Debug, Clone)]
pub struct CommitAttempt {
    version: u64,
    path: ObjectPath,
    id: String,
    step: Step,
    tries: u32,
    puts: u32,
    reads: u32,
    doubt: Option<Error>,
    /// Whether some put may still be under way: one that failed without being refused.
    under_way: bool,
    end: Option<Result<CommitOutcome>>,
}

impl CommitAttempt {
    /// An attempt to write `path`, the commit of `version`, whose `txnId` is `id`.
    pub fn new(path: ObjectPath, version: u64, id: &str) -> Self {
        CommitAttempt {
            version,
            path,
            id: id.to_owned(),
            step: Step::Put,
            tries: TRIES,
            puts: 0,
            reads: 0,
            doubt: None,
            under_way: false,
            end: None,
        }
    }

    /// The same, that tries a put and a read this often at most. A model checker reaches every end sooner with few.
    #[must_use]
    pub fn with_tries(self, tries: u32) -> Self {
        CommitAttempt { tries, ..self }
    }

    /// The next step.
    pub fn step(&self) -> Step {
        self.step
    }

    /// Whether the step repeats one that gave no clear answer, so that a pause is due.
    pub fn is_repeated(&self) -> bool {
        match self.step {
            Step::Put => self.puts > 0,
            Step::Read => self.reads > 0,
            Step::Over => false,
        }
    }

    /// How it ended, once it is over. An error means that the commit was not made.
    pub fn end(self) -> Option<Result<CommitOutcome>> {
        self.end
    }

    /// What the store answered to the put.
    pub fn put_answered(&mut self, answer: Result<PutOutcome>) {
        self.puts += 1;
        match answer {
            Ok(PutOutcome::Created) => return self.over(Ok(CommitOutcome::Committed(self.version))),
            // maybe by an earlier try of this very request: the object there shows whose it is
            Ok(PutOutcome::AlreadyExists) => {}
            Err(error @ Error::Storage { .. }) => {
                self.under_way |= !is_refusal(&error);
                self.doubt = Some(error);
            }
            Err(error) => return self.over(Err(error)),
        }
        self.reads = 0;
        self.step = Step::Read;
    }

    /// What the store answered to the read.
    pub fn read_answered(&mut self, answer: Result<Bytes>) {
        self.reads += 1;
        let read = answer.and_then(|body| Winner::parse(self.version, &self.path.to_string(), &body));
        match read {
            Ok(winner) => {
                let info = winner.info();
                let ours =
                    !self.id.is_empty() && info.and_then(|i| i.txn_id.as_deref()) == Some(self.id.as_str());
                self.over(Ok(match ours {
                    true => CommitOutcome::Committed(self.version),
                    false => {
                        CommitOutcome::Conflict { version: self.version, winner: info.cloned().map(Box::new) }
                    }
                }));
            }
            Err(Error::NotFound { .. }) => self.absent(),
            Err(_) if self.reads < self.tries => {}
            Err(error) => self.unknown(match &self.doubt {
                Some(put) => format!("{put}; reading it back: {error}"),
                None => format!("the store reports that the version exists; reading it back: {error}"),
            }),
        }
    }

    /// There is no object with its name.
    fn absent(&mut self) {
        match self.doubt.take() {
            Some(error) if is_refusal(&error) && !self.under_way => self.over(Err(error)),
            doubt if self.puts < self.tries => {
                self.doubt = doubt;
                self.step = Step::Put;
            }
            // a local put is over when it returns: a missing file will not appear later
            Some(error) if self.path.scheme() == "file" => self.over(Err(error)),
            Some(error) => {
                self.unknown(format!(
                    "{error}; the version does not exist, but the request may still be under way"
                ));
            }
            None => {
                self.unknown("the store reports that the version exists, and that it does not".to_owned());
            }
        }
    }

    fn unknown(&mut self, reason: String) {
        self.over(Ok(CommitOutcome::Unknown { version: self.version, reason }));
    }

    fn over(&mut self, end: Result<CommitOutcome>) {
        self.step = Step::Over;
        self.end = Some(end);
    }
}

/// Whether the store refused the request outright, so that nothing is under way.
pub(super) fn is_refusal(error: &Error) -> bool {
    let Error::Storage { source, .. } = error else { return false };
    if let Some(error) = source.downcast_ref::<object_store::Error>() {
        use object_store::Error as Cause;
        return matches!(
            error,
            Cause::PermissionDenied { .. } | Cause::Unauthenticated { .. } | Cause::NotImplemented { .. }
        );
    }
    source.downcast_ref::<std::io::Error>().is_some_and(|e| {
        matches!(e.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Result<PutOutcome> {
        Err(Error::storage("put", "0.json", source))
    }

    fn denied() -> Result<PutOutcome> {
        failed(std::io::Error::from(std::io::ErrorKind::PermissionDenied))
    }

    fn absent() -> Result<Bytes> {
        Err(Error::NotFound { path: "0.json".into() })
    }

    fn attempt() -> CommitAttempt {
        CommitAttempt::new(ObjectPath::new("memory://", "/0.json"), 0, "mine")
    }

    #[test]
    fn a_refusal_is_final_unless_an_earlier_put_may_still_arrive() {
        let mut refused = attempt();
        refused.put_answered(denied());
        refused.read_answered(absent());
        assert!(matches!(refused.end(), Some(Err(Error::Storage { .. }))));
        let mut doubtful = attempt();
        doubtful.put_answered(failed("timed out"));
        doubtful.read_answered(absent());
        while doubtful.step() != Step::Over {
            doubtful.put_answered(denied());
            doubtful.read_answered(absent());
        }
        assert!(matches!(doubtful.end(), Some(Ok(CommitOutcome::Unknown { version: 0, .. }))));
    }

    #[test]
    fn t4_a_conflict_with_nothing_there_is_tried_again() {
        let mut odd = attempt();
        odd.put_answered(Ok(PutOutcome::AlreadyExists));
        odd.read_answered(absent());
        assert_eq!((odd.step(), odd.is_repeated()), (Step::Put, true));
        odd.put_answered(Ok(PutOutcome::Created));
        assert!(matches!(odd.end(), Some(Ok(CommitOutcome::Committed(0)))));
    }
}
