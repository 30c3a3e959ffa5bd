use std::fmt;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A path as the log writes it: an RFC 2396 URI reference, percent-encoded, relative to the table root or absolute.
/// It never converts silently into an [`ObjectPath`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FilePath(String);

/// A decoded, absolute place in a store: `file:///data/t/a b.parquet` or `s3://bucket/t/a b.parquet`. It is always in its
/// normal form, so that two spellings of a place are equal: no `.`, `..` and empty segments, and no host in `file://`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectPath {
    /// `file://`, `s3://bucket`, `abfss://container@account.dfs.core.windows.net` …
    prefix: std::sync::Arc<str>,
    /// Decoded key with a leading slash and without a trailing one.
    key: String,
}

/// Characters that `java.net.URI` and Hadoop keep in a path: all others are escaped.
const URI_PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

impl FilePath {
    /// A path exactly as the log has it.
    pub fn from_log(written: impl Into<String>) -> Self {
        FilePath(written.into())
    }

    /// Encodes a decoded relative path for the log. A colon that would make a scheme of a folder's name is escaped, too.
    pub fn encode(decoded: &str) -> Self {
        let mut encoded = utf8_percent_encode(decoded, URI_PATH).to_string();
        if let Some(colon) = scheme_end(&encoded) {
            encoded.replace_range(colon..=colon, "%3A");
        }
        FilePath(encoded)
    }

    /// The text of the log.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The place of the file: decoded, and below `root` unless absolute.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when the escapes are not UTF-8.
    pub fn resolve(&self, root: &ObjectPath) -> Result<ObjectPath> {
        let (prefix, decoded) = split_written(&self.0)?;
        Ok(match prefix {
            Some(prefix) if is_same_store(&prefix, &root.prefix) => ObjectPath::new(&root.prefix, &decoded),
            Some(prefix) => ObjectPath::new(&prefix, &decoded),
            None if decoded.starts_with('/') => ObjectPath::new(&root.prefix, &decoded),
            None => root.join(&decoded),
        })
    }

    /// The identity of the file in reconciliation, as delta-spark canonicalises it: decoded, and qualified with the
    /// file system where the path is absolute. A relative path stays relative to the table.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when the escapes are not UTF-8.
    pub fn identity(&self, root: &ObjectPath) -> Result<String> {
        Self::identity_of(&self.0, root).map(|i| i.into_owned())
    }

    /// [`FilePath::identity`] of a borrowed path; borrowed unless the text needs a change.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when the escapes are not UTF-8.
    #[inline]
    pub fn identity_of<'a>(written: &'a str, root: &ObjectPath) -> Result<std::borrow::Cow<'a, str>> {
        if is_plain(written.as_bytes()) {
            return Ok(written.into());
        }
        let (prefix, decoded) = split_written(written)?;
        let decoded = normalize(&decoded);
        Ok(match prefix {
            Some(prefix) => format!("{prefix}{decoded}").into(),
            None if decoded.starts_with('/') => format!("{}{decoded}", root.prefix).into(),
            None => decoded.into(),
        })
    }
}

/// Whether the written form is its own identity: relative, without an escape.
#[inline]
pub(crate) fn is_plain(written: &[u8]) -> bool {
    written.first() != Some(&b'/') && memchr::memchr2(b'%', b':', written).is_none()
}

/// Splits scheme and authority off and decodes the rest.
fn split_written(written: &str) -> Result<(Option<String>, String)> {
    let (prefix, rest) = match scheme_end(written) {
        None => (None, written),
        Some(end) => {
            let (scheme, rest) = (&written[..end], &written[end + 1..]);
            match rest.strip_prefix("//") {
                Some(rest) => {
                    let at = rest.find('/').unwrap_or(rest.len());
                    (Some(format!("{scheme}://{}", &rest[..at])), &rest[at..])
                }
                None => (Some(format!("{scheme}://")), rest),
            }
        }
    };
    Ok((prefix, decode(rest)?))
}

/// Index of the colon after a URI scheme. A colon after a slash, or after a character no scheme has, is data.
fn scheme_end(written: &str) -> Option<usize> {
    let end = written.find(':')?;
    let scheme = &written.as_bytes()[..end];
    let valid = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        && written.as_bytes().get(end + 1) == Some(&b'/');
    valid.then_some(end)
}

fn decode(text: &str) -> Result<String> {
    percent_decode_str(text)
        .decode_utf8()
        .map(|d| d.into_owned())
        .map_err(|e| Error::corrupt(text, None, format!("path is not UTF-8 after percent-decoding: {e}")))
}

/// Removes empty and `.` segments and resolves `..`, as `java.net.URI.normalize` does.
fn normalize(path: &str) -> String {
    if !path.contains("//") && !path.split('/').any(|s| s == "." || s == "..") {
        return path.to_owned();
    }
    let mut out: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if out.last().is_some_and(|s| *s != "..") => {
                out.pop();
            }
            s => out.push(s),
        }
    }
    let joined = out.join("/");
    if path.starts_with('/') { format!("/{joined}") } else { joined }
}

/// The key of a place: absolute and without a slash at its end. Nothing is above the root of a store.
fn normal_key(mut key: String) -> String {
    if key.contains("//") || key.contains("/.") {
        let mut out: Vec<&str> = Vec::new();
        for segment in key.split('/') {
            match segment {
                "" | "." => {}
                ".." => drop(out.pop()),
                segment => out.push(segment),
            }
        }
        return out.iter().flat_map(|segment| ["/", segment]).collect();
    }
    key.truncate(key.trim_end_matches('/').len());
    key
}

/// The prefix of a store whose scheme is in lower case; the host of a local file is this one, and a NameNode has a port
/// only where it is not the usual one.
fn normal_prefix(prefix: &str) -> std::sync::Arc<str> {
    match prefix.split_once("://") {
        Some(("hdfs", authority)) if authority.ends_with(":8020") => prefix.trim_end_matches(":8020").into(),
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => "file://".into(),
        Some((scheme, authority)) if scheme.bytes().any(|b| b.is_ascii_uppercase()) => {
            format!("{}://{authority}", scheme.to_ascii_lowercase()).into()
        }
        _ => prefix.into(),
    }
}

/// Whether two prefixes name one store: `s3a` and `s3n` are Hadoop's names of `s3`, `abfs` is `abfss`, and names of hosts
/// have no case.
fn is_same_store(one: &str, other: &str) -> bool {
    let parts = |prefix: &str| {
        let prefix = normal_prefix(prefix);
        let (scheme, authority) = prefix.split_once("://").unwrap_or((&prefix, ""));
        let scheme = match scheme {
            "s3a" | "s3n" => "s3",
            "abfs" => "abfss",
            scheme => scheme,
        };
        (scheme.to_owned(), authority.to_ascii_lowercase())
    };
    one == other || parts(one) == parts(other)
}

impl ObjectPath {
    /// A place from its prefix (`file://`, `s3://bucket`) and decoded key.
    pub fn new(prefix: &str, key: &str) -> Self {
        let slash = if key.starts_with('/') { "" } else { "/" };
        ObjectPath { prefix: normal_prefix(prefix), key: normal_key(format!("{slash}{key}")) }
    }

    /// A place from this one; `relative` is decoded. With `..` it may lie elsewhere: see [`ObjectPath::below`].
    pub fn join(&self, relative: &str) -> Self {
        let slash = if relative.starts_with('/') { "" } else { "/" };
        ObjectPath { prefix: self.prefix.clone(), key: normal_key(format!("{}{slash}{relative}", self.key)) }
    }

    /// The place of another name in the same folder.
    #[cfg(feature = "hdfs")]
    pub(crate) fn sibling(&self, name: &str) -> Self {
        let folder = self.key.rsplit_once('/').map_or("", |(folder, _)| folder);
        ObjectPath { prefix: self.prefix.clone(), key: normal_key(format!("{folder}/{name}")) }
    }

    /// The name of this place relative to `root`; none where it is not below it.
    pub fn below(&self, root: &ObjectPath) -> Option<&str> {
        let rest = self.key.strip_prefix(root.key.as_str()).filter(|_| self.prefix == root.prefix)?;
        rest.strip_prefix('/').filter(|name| !name.is_empty())
    }

    /// Whether it is below a folder, by whichever of the schemes of a store both are named.
    pub(crate) fn is_within(&self, folder: &ObjectPath) -> bool {
        let below = self.key.strip_prefix(folder.key.as_str()).and_then(|rest| rest.strip_prefix('/'));
        below.is_some_and(|name| !name.is_empty()) && is_same_store(&self.prefix, &folder.prefix)
    }

    /// `file://`, `s3://bucket` …
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Scheme without `://`.
    pub fn scheme(&self) -> &str {
        self.prefix.split("://").next().unwrap_or_default()
    }

    /// Decoded key with a leading slash.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Last segment.
    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or_default()
    }

    /// The place as a URI that is not percent-encoded: scheme, bucket and key as they are.
    pub fn uri(&self) -> String {
        format!("{}{}", self.prefix, self.key)
    }

    /// The place as a percent-encoded URI, as Spark and Hadoop read it.
    pub fn to_uri(&self) -> String {
        format!("{}{}", self.prefix, utf8_percent_encode(&self.key, URI_PATH))
    }

    /// The path in the local file system, for `file` places.
    pub fn to_local(&self) -> Option<std::path::PathBuf> {
        if self.scheme() != "file" {
            return None;
        }
        // a Windows drive comes as `/C:/…`
        let key = match self.key.as_bytes() {
            [b'/', drive, b':', ..] if cfg!(windows) && drive.is_ascii_alphabetic() => &self.key[1..],
            _ => &self.key,
        };
        Some(std::path::PathBuf::from(if key.is_empty() { "/" } else { key }))
    }
}

impl fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_local() {
            Some(local) => write!(f, "{}", local.display()),
            None => write!(f, "{}{}", self.prefix, self.key),
        }
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> ObjectPath {
        ObjectPath::new("file://", "/data/my table")
    }

    #[test]
    fn a_relative_path_is_decoded_and_joined() {
        let path = FilePath::from_log("p=a%20b%2525/f%25.parquet").resolve(&root()).unwrap();
        assert_eq!(path.to_string(), "/data/my table/p=a b%25/f%.parquet");
        assert_eq!(path.to_uri(), "file:///data/my%20table/p=a%20b%2525/f%25.parquet");
    }

    #[test]
    fn absolute_forms_of_one_file_have_one_identity() {
        for written in [
            "/x/a b.parquet",
            "/x/a%20b.parquet",
            "file:/x/a%20b.parquet",
            "file:///x/a%20b.parquet",
            "/x//y/../a%20b.parquet",
        ] {
            assert_eq!(
                FilePath::from_log(written).identity(&root()).unwrap(),
                "file:///x/a b.parquet",
                "{written}"
            );
        }
    }

    #[test]
    fn a_colon_in_a_partition_value_is_no_scheme() {
        let path = FilePath::from_log("ts=2020-01-01 10:00:00/f.parquet");
        assert_eq!(path.resolve(&root()).unwrap().key(), "/data/my table/ts=2020-01-01 10:00:00/f.parquet");
    }

    #[test]
    fn a_folder_with_a_colon_is_written_as_no_scheme() {
        for name in ["file:/a.parquet", "s3:/b/a.parquet", "c=file:/a:/b.parquet"] {
            let path = FilePath::encode(name);
            assert_eq!(path.resolve(&root()).unwrap(), root().join(name), "{path}");
        }
        assert_eq!(FilePath::encode("s3:/a:/b").as_str(), "s3%3A/a:/b");
    }

    #[test]
    fn every_spelling_of_a_place_is_equal() {
        let plain = FilePath::from_log("a.parquet").resolve(&root()).unwrap();
        for written in [
            "x/../a.parquet",
            "./a.parquet",
            "x/.//..//a.parquet",
            "x/%2E%2E/a.parquet",
            "/data/my table/../my%20table/a.parquet",
            "FILE:/data/my%20table/a.parquet",
            "file://localhost/data/my%20table//a.parquet",
        ] {
            let place = FilePath::from_log(written).resolve(&root()).unwrap();
            assert_eq!(place, plain, "{written}");
            assert_eq!(place.below(&root()), Some("a.parquet"), "{written}");
        }
        let bucket = ObjectPath::new("s3://bucket", "t");
        for written in ["s3a://bucket/t/a", "S3N://bucket/t/./a", "s3://bucket/../t/a", "/t/a"] {
            let place = FilePath::from_log(written).resolve(&bucket).unwrap();
            assert_eq!(place.below(&bucket), Some("a"), "{written}");
        }
    }

    #[test]
    fn what_leaves_the_table_is_not_below_it() {
        for written in [
            "../victim",
            "x/../../victim",
            "%2E%2E/victim",
            "..",
            ".",
            "x/..",
            "/data/my table",
            "/data/my table 2/a",
            "file:///data/my%20table/../victim",
            "s3://data/my%20table/a",
        ] {
            let place = FilePath::from_log(written).resolve(&root()).unwrap();
            assert_eq!(place.below(&root()), None, "{written}");
        }
    }

    #[test]
    fn other_stores_keep_their_authority() {
        let path = FilePath::from_log("s3://bucket/a%3Ab/c.parquet").resolve(&root()).unwrap();
        assert_eq!((path.prefix(), path.key()), ("s3://bucket", "/a:b/c.parquet"));
    }
}
