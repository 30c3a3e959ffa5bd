use super::Subject;
use crate::alter::check_keeps_features;
use crate::error::Result;
use crate::features::{check_reader, check_writer};

/// Every feature of the table is one that this writer keeps (PROTOCOL.md, "Table Features"), and none disappears but by
/// the operation that drops it.
pub(crate) fn check(subject: &Subject<'_>) -> Result<()> {
    let path = subject.root.to_string();
    check_reader(&path, subject.protocol)?;
    check_writer(&path, subject.protocol)?;
    match (subject.before, &subject.changes.protocol) {
        (Some((old, _)), Some(new)) => check_keeps_features(old, new, &subject.leave.features),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::txn::checks::testing::{Case, error};

    #[test]
    fn a_feature_goes_only_by_being_dropped() {
        let mut case = Case::append();
        case.changes.protocol =
            Some(crate::actions::Protocol { min_writer_version: 1, ..case.protocol.clone() });
        assert!(error(case.clone()).is_some_and(|e| e.kind() == "InvalidFeatureChange"));
        case.leave.features = vec!["appendOnly".into()];
        assert!(error(case.clone()).is_some_and(|e| e.to_string().contains("invariants")));
        case.leave.features.push("invariants".into());
        assert!(error(case).is_none());
    }

    #[test]
    fn a_feature_that_is_not_known_is_refused() {
        let mut case = Case::append();
        case.protocol.min_writer_version = 7;
        case.protocol.writer_features = Some(vec!["appendOnly".into(), "timeMachine".into()]);
        assert!(error(case).is_some_and(|e| e.to_string().contains("timeMachine")));
    }
}
