//! What this writer may write to, by table feature.

use crate::actions::Protocol;
use crate::error::{Error, Result};
use crate::features::FEATURES;

/// Checks that this writer knows every feature of the table. Called before anything is written.
///
/// # Errors
/// [`Error::UnsupportedFeature`] with the role `writer`, which names every feature that prevents it.
pub fn check_writer(path: &str, protocol: &Protocol) -> Result<()> {
    refuse(path, unknown(protocol))
}

/// Version and features that are not known.
fn unknown(protocol: &Protocol) -> Vec<String> {
    let mut refused = Vec::new();
    if !(1..=7).contains(&protocol.min_writer_version) {
        refused.push(format!("writer version {}", protocol.min_writer_version));
    }
    let listed: &[String] = match protocol.min_writer_version {
        7 => protocol.writer_features.as_deref().unwrap_or_default(),
        _ => &[],
    };
    let known = |name: &String| FEATURES.iter().any(|f| f.name() == name && f.writes);
    refused.extend(listed.iter().filter(|f| !known(f)).cloned());
    refused
}

fn refuse(path: &str, refused: Vec<String>) -> Result<()> {
    if refused.is_empty() {
        return Ok(());
    }
    Err(Error::UnsupportedFeature {
        path: path.to_owned(),
        role: "writer",
        features: refused,
        supported: supported().map(str::to_owned).collect(),
    })
}

/// Features whose rules this writer keeps.
fn supported() -> impl Iterator<Item = &'static str> {
    FEATURES.iter().filter(|f| f.writes).map(|f| f.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocol(features: &[&str]) -> Protocol {
        Protocol {
            min_reader_version: 3,
            min_writer_version: 7,
            reader_features: Some(Vec::new()),
            writer_features: Some(features.iter().map(|f| (*f).to_owned()).collect()),
        }
    }

    fn refused(protocol: &Protocol) -> Vec<String> {
        match check_writer("t", protocol) {
            Ok(()) => Vec::new(),
            Err(Error::UnsupportedFeature { features, role: "writer", .. }) => features,
            Err(other) => vec![other.to_string()],
        }
    }

    #[test]
    fn what_is_known_is_no_obstacle() {
        assert!(refused(&protocol(&supported().collect::<Vec<_>>())).is_empty());
    }

    #[test]
    fn what_is_unknown_is_refused() {
        assert_eq!(
            refused(&protocol(&["appendOnly", "catalogManaged", "x-new"])),
            ["catalogManaged", "x-new"]
        );
        let future = Protocol { min_writer_version: 8, ..protocol(&[]) };
        assert_eq!(refused(&future), ["writer version 8"]);
    }
}
