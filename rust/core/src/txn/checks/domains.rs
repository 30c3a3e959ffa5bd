use std::collections::BTreeSet;

use super::Subject;
use crate::error::{Error, Result};
use crate::features::TableFeature;

/// Metadata domains need their feature, and a commit says one thing of each (PROTOCOL.md, "Domain Metadata").
pub(crate) fn check(subject: &Subject<'_>) -> Result<()> {
    let Some(first) = subject.changes.domains.first() else { return Ok(()) };
    let refuse = |domain: &str, reason: &str| {
        Err(Error::InvalidAction {
            path: subject.root.to_string(),
            action: domain.to_owned(),
            reason: reason.to_owned(),
        })
    };
    if !subject.protocol.supports(TableFeature::DomainMetadata) {
        return refuse(&first.domain, "the table does not have the feature `domainMetadata`");
    }
    let mut seen = BTreeSet::new();
    match subject.changes.domains.iter().find(|d| !seen.insert(&d.domain)) {
        Some(domain) => refuse(&domain.domain, "the commit has two `domainMetadata` actions for this domain"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::actions::DomainMetadata;
    use crate::txn::checks::testing::{Case, error};

    #[test]
    fn a_domain_needs_its_feature_and_is_said_once() {
        let domain = DomainMetadata { domain: "d".into(), configuration: "{}".into(), removed: false };
        let mut case = Case::append();
        case.changes.domains = vec![domain.clone()];
        assert!(error(case.clone()).is_some_and(|e| e.to_string().contains("`domainMetadata`")));
        case.protocol.min_writer_version = 7;
        case.protocol.writer_features = Some(vec!["domainMetadata".into()]);
        assert!(error(case.clone()).is_none());
        case.changes.domains.push(domain);
        assert_eq!(error(case).map(|e| e.kind()), Some("InvalidAction"));
    }
}
