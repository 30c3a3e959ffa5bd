//! Names of files that are written before they appear under their own name, on stores with folders.

use uuid::Uuid;

/// A new hidden name beside a file, which no reader takes for one of the log.
pub(crate) fn staged_name(name: &str) -> String {
    format!(".{name}.{}.tmp", Uuid::new_v4().simple())
}

/// The name of the file that a hidden one was to become; none of another name. The log store of delta-spark for HDFS has
/// the same names, with hyphens in the random part.
pub(crate) fn staged_for(hidden: &str) -> Option<&str> {
    let (name, random) = hidden.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    (!name.is_empty() && Uuid::try_parse(random).is_ok()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_name_says_what_the_file_was_to_become() {
        let commit = "00000000000000000001.json";
        assert_eq!(staged_for(&staged_name(commit)), Some(commit));
        let by_delta_spark = format!(".{commit}.{}.tmp", Uuid::new_v4());
        assert_eq!(staged_for(&by_delta_spark), Some(commit));
        for other in [commit, ".00000000000000000001.json.crc", ".a.tmp", "._SUCCESS.tmp", ".tmp"] {
            assert_eq!(staged_for(other), None, "{other}");
        }
    }
}
