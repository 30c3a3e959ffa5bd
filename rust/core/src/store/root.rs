//! Which root the path or URL of a table names.

use percent_encoding::percent_decode_str;
use url::Url;

#[cfg(feature = "hdfs")]
use super::hdfs::HdfsSettings;
use super::{StorageOptions, hadoop, secrets};
use crate::actions::ObjectPath;
use crate::error::{Error, Result};

/// What is wrong with a URL or path, without its secrets.
pub(super) fn invalid(uri: &str, reason: impl ToString) -> Error {
    Error::InvalidArgument { argument: secrets::without_secrets(uri), reason: reason.to_string() }
}

/// `s3a` and `s3n` are Hadoop's names of `s3`; `file:/x` is `file:///x`; what has no scheme is a path of the file system
/// that the options have as Hadoop's default, or else a local one.
pub(super) fn parse_root(uri: &str, options: &StorageOptions) -> Result<ObjectPath> {
    let scheme = uri.split_once(':').map(|(s, _)| s).filter(|s| {
        s.len() > 1 && s.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    });
    let Some(scheme) = scheme else {
        if uri.is_empty() {
            return Err(invalid(uri, "an empty path is not a table"));
        }
        if let Some(place) = in_default_fs(uri, options)? {
            return Ok(place);
        }
        let absolute = std::path::absolute(uri).map_err(|e| invalid(uri, e))?;
        let text = absolute.to_str().ok_or_else(|| invalid(uri, "not UTF-8"))?;
        return Ok(ObjectPath::new("file://", &text.replace(std::path::MAIN_SEPARATOR, "/")));
    };
    if scheme == "file" {
        let rest = uri["file:".len()..].trim_start_matches('/');
        let decoded = percent_decode_str(rest).decode_utf8().map_err(|e| invalid(uri, e))?;
        return Ok(ObjectPath::new("file://", &decoded));
    }
    let url = Url::parse(uri).map_err(|e| invalid(uri, e))?;
    secrets::check_url(&url)?;
    let prefix = &url[..url::Position::BeforePath];
    let decoded = percent_decode_str(url.path()).decode_utf8().map_err(|e| invalid(uri, e))?;
    #[cfg(feature = "hdfs")]
    if matches!(url.scheme(), "hdfs" | "viewfs") && !url.has_host() {
        // `hdfs:/x` is `hdfs:///x`
        let place = ObjectPath::new(&format!("{}://", url.scheme()), &decoded);
        return hdfs_settings(options)?.qualified(&place);
    }
    Ok(ObjectPath::new(prefix, &decoded))
}

/// The place of a path without a scheme, where Hadoop's default file system is not the local one. A relative path is one of
/// the working folder, which the setting of a session of Spark has as its path.
fn in_default_fs(path: &str, options: &StorageOptions) -> Result<Option<ObjectPath>> {
    let Some(default) = hadoop::default_fs(options) else { return Ok(None) };
    let url = Url::parse(default).map_err(|e| invalid(hadoop::DEFAULT_FS, format!("`{default}`: {e}")))?;
    if url.scheme() == "file" {
        return Ok(None);
    }
    secrets::check_url(&url)?;
    let working = percent_decode_str(url.path()).decode_utf8().map_err(|e| invalid(hadoop::DEFAULT_FS, e))?;
    let root = ObjectPath::new(&url[..url::Position::BeforePath], &working);
    if path.starts_with('/') {
        return Ok(Some(ObjectPath::new(root.prefix(), path)));
    }
    if root.key().trim_matches('/').is_empty() {
        let reason = format!(
            "a relative path has no place in `{default}`, the default file system: give a whole path"
        );
        return Err(invalid(path, reason));
    }
    Ok(Some(root.join(path)))
}

#[cfg(feature = "hdfs")]
pub(super) fn hdfs_settings(options: &StorageOptions) -> Result<HdfsSettings> {
    HdfsSettings::of(options, |name| std::env::var(name).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(uri: &str, options: &[(&str, &str)]) -> Result<String> {
        let options = options.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        parse_root(uri, &options).map(|root| root.to_uri())
    }

    #[test]
    fn every_spelling_of_a_local_table_is_one_root() {
        for uri in ["/data/a b", "file:/data/a%20b", "file:///data/a%20b/", "/data/a b/"] {
            assert_eq!(root(uri, &[]).unwrap(), "file:///data/a%20b", "{uri}");
        }
    }

    #[test]
    fn a_local_path_is_not_decoded() {
        assert_eq!(root("/data/a%20b", &[]).unwrap(), "file:///data/a%2520b");
    }

    #[test]
    fn a_path_without_a_scheme_is_one_of_the_default_file_system() {
        for (default, uri, place) in [
            ("hdfs://nn:9000", "/data/a%b", "hdfs://nn:9000/data/a%25b"),
            ("hdfs://nn:8020/", "/data/t/", "hdfs://nn/data/t"),
            ("hdfs://nn/user/me", "t", "hdfs://nn/user/me/t"),
            ("s3a://bucket", "/t", "s3a://bucket/t"),
            ("hdfs://nn", "file:/t", "file:///t"),
            ("hdfs://nn", "hdfs://other/t", "hdfs://other/t"),
            ("file:///", "/t", "file:///t"),
        ] {
            // options of a read are in lower case
            for name in ["fs.defaultFS", "fs.defaultfs"] {
                assert_eq!(root(uri, &[(name, default)]).unwrap(), place, "{default} {uri}");
            }
        }
        let refused = root("t", &[("fs.defaultFS", "hdfs://nn")]).unwrap_err().to_string();
        assert!(refused.contains("whole path"), "{refused}");
        assert!(root("/t", &[("fs.defaultFS", "hdfs://u:secret@nn")]).is_err());
    }

    #[cfg(feature = "hdfs")]
    #[test]
    fn a_name_node_that_is_not_named_is_that_of_the_default_file_system() {
        let default = [("fs.defaultFS", "hdfs://nn:9000/user/me")];
        for uri in ["hdfs:///t", "hdfs:/t", "/t", "hdfs://nn:9000/t"] {
            assert_eq!(root(uri, &default).unwrap(), "hdfs://nn:9000/t", "{uri}");
        }
    }
}
