use super::Subject;
use crate::error::Result;
use crate::features::check_reader;
use crate::write::check_writer_features;

/// Every feature of the table is one that this writer keeps (PROTOCOL.md, "Table Features").
pub(super) fn check(subject: &Subject<'_>) -> Result<()> {
    let path = subject.root.to_string();
    check_reader(&path, subject.protocol)?;
    check_writer_features(&path, subject.protocol)
}

#[cfg(test)]
mod tests {
    use crate::txn::checks::testing::{Case, error};

    #[test]
    fn a_feature_that_is_not_known_is_refused() {
        let mut case = Case::append();
        case.protocol.min_writer_version = 7;
        case.protocol.writer_features = Some(vec!["appendOnly".into(), "timeMachine".into()]);
        assert!(error(case).is_some_and(|e| e.to_string().contains("timeMachine")));
    }
}
