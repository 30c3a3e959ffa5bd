//! What Hadoop's files of settings and the options of a store say of HDFS.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use url::Url;

use crate::actions::ObjectPath;
use crate::error::{Error, Result};
use crate::store::StorageOptions;
use crate::store::hadoop::{DEFAULT_FS, default_fs};

/// How the names of settings begin that the client reads.
const OURS: [&str; 4] = [DEFAULT_FS, "fs.viewfs.", "dfs.", "hadoop."];
/// How often the client turns to another NameNode.
const ATTEMPTS: &str = "dfs.client.failover.max.attempts";
const MOUNTS: &str = "fs.viewfs.mounttable.";
/// The port of a NameNode that is named without one.
const PORT: u16 = 8020;

/// Settings by Hadoop's names: those of `core-site.xml` and `hdfs-site.xml`, below those that are given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HdfsSettings {
    all: BTreeMap<String, String>,
}

impl HdfsSettings {
    /// The settings for the options of a store. The folder of the files is `HADOOP_CONF_DIR`, or `etc/hadoop` below
    /// `HADOOP_HOME`; a missing file says nothing.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a file that cannot be read.
    pub(crate) fn of(given: &StorageOptions, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let folder = environment("HADOOP_CONF_DIR").map(PathBuf::from);
        let folder =
            folder.or_else(|| Some(Path::new(&environment("HADOOP_HOME")?).join("etc").join("hadoop")));
        let mut all = BTreeMap::new();
        for file in ["core-site.xml", "hdfs-site.xml"] {
            if let Some(folder) = &folder {
                all.extend(read(&folder.join(file))?);
            }
        }
        all.extend(given.iter().map(|(name, value)| (name.clone(), value.clone())));
        // those of other file systems, some of which are secrets, are not kept
        all.retain(|name, _| OURS.iter().any(|ours| name.starts_with(ours)));
        all.extend(default_fs(given).map(|value| (DEFAULT_FS.to_owned(), value.to_owned())));
        Ok(HdfsSettings { all })
    }

    /// The place with an authority: `hdfs:///path` has that of the default file system.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the default file system is none of this kind.
    pub(crate) fn qualified(&self, path: &ObjectPath) -> Result<ObjectPath> {
        if path.prefix() != format!("{}://", path.scheme()) {
            return Ok(path.clone());
        }
        let default = self.all.get(DEFAULT_FS).and_then(|uri| Url::parse(uri.trim()).ok());
        match default.filter(|url| url.scheme() == path.scheme() && url.has_host()) {
            Some(url) => Ok(ObjectPath::new(&url[..url::Position::BeforePath], path.key())),
            None => Err(Error::InvalidArgument {
                argument: path.to_string(),
                reason: format!(
                    "it names no NameNode, and `{DEFAULT_FS}` names none: write `{}://host:port/path`, or set \
                     `{DEFAULT_FS}` in `core-site.xml` of the folder HADOOP_CONF_DIR, or as an option of the store",
                    path.scheme()
                ),
            }),
        }
    }

    /// The URL and the settings for a client of the file system of a place.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where no mount of a ViewFS has the place.
    pub(crate) fn client(&self, path: &ObjectPath) -> Result<(String, BTreeMap<String, String>)> {
        let mut all = self.all.clone();
        let prefix = format!("{}/", path.prefix());
        if path.scheme() != "viewfs" {
            let url = self.with_port(&prefix);
            if Url::parse(&url).is_ok_and(|url| url.port().is_some()) {
                // there is no other NameNode to try for minutes
                all.entry(ATTEMPTS.to_owned()).or_insert_with(|| "1".to_owned());
            }
            return Ok((url, all));
        }
        let table = format!("{MOUNTS}{}.", path.prefix().split_once("://").map_or("", |(_, name)| name));
        let [link, fallback] = ["link.", "linkFallback"].map(|kind| format!("{table}{kind}"));
        for (_, target) in all.iter_mut().filter(|(name, _)| name.starts_with(&link) || **name == fallback) {
            *target = self.with_port(target.trim());
        }
        if !all.contains_key(&fallback) {
            let covers = |name: &str| {
                let mount = name.strip_prefix(&link).unwrap_or_default().trim_end_matches('/');
                path.key().strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let mounted = all.iter().find(|(name, _)| name.starts_with(&link) && covers(name));
            let Some((_, target)) = mounted else {
                return Err(Error::InvalidArgument {
                    argument: path.to_string(),
                    reason: format!(
                        "no mount has it: set `{link}/path` or `{fallback}` to a URL of HDFS; links of other kinds \
                         (`linkMergeSlash`, `linkNfly`, `linkRegex`) are not supported"
                    ),
                });
            };
            // the client wants one: there is nothing below it
            let nowhere = Url::parse(target).map(|mut url| {
                url.set_path("/.no-mount");
                String::from(url)
            });
            let nowhere = nowhere.unwrap_or_else(|_| target.clone());
            all.insert(fallback, nowhere);
        }
        Ok((prefix, all))
    }

    /// The URL of a NameNode with its port; that of a nameservice has none.
    fn with_port(&self, uri: &str) -> String {
        let Ok(mut url) = Url::parse(uri) else { return uri.to_owned() };
        let service = url.host_str().map(|host| format!("dfs.ha.namenodes.{host}"));
        let named = service.is_some_and(|service| self.all.contains_key(&service));
        if !named && url.port().is_none() {
            // refused for a URL that can have no port, which the client refuses by name
            let _ = url.set_port(Some(PORT));
        }
        url.into()
    }
}

/// The properties of a file of settings; none of a missing one.
fn read(file: &Path) -> Result<Vec<(String, String)>> {
    let invalid = |reason: String| Error::InvalidArgument { argument: file.display().to_string(), reason };
    let text = match std::fs::read_to_string(file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(|e| invalid(e.to_string()))?,
    };
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() };
    let tree = roxmltree::Document::parse_with_options(&text, options).map_err(|e| invalid(e.to_string()))?;
    let properties = tree.root_element().children().filter(|node| node.has_tag_name("property"));
    let text_of = |property: roxmltree::Node<'_, '_>, tag: &str| {
        let found = property.children().find(|node| node.has_tag_name(tag));
        found.and_then(|node| node.text()).map(|text| text.trim().to_owned())
    };
    Ok(properties.filter_map(|p| Some((text_of(p, "name")?, text_of(p, "value")?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(given: &[(&str, &str)]) -> HdfsSettings {
        let given = given.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        HdfsSettings::of(&given, |_| None).unwrap()
    }

    #[test]
    fn secrets_of_other_file_systems_are_not_kept() {
        let found = settings(&[("fs.s3a.secret.key", "PLANTED"), ("dfs.client.socket-timeout", "1")]);
        let shown = format!("{found:?}");
        assert!(shown.contains("socket-timeout") && !shown.contains("PLANTED"), "{shown}");
    }

    fn place(uri: &str) -> ObjectPath {
        let (scheme, rest) = uri.split_once("://").unwrap();
        let (authority, key) = rest.split_at(rest.find('/').unwrap());
        ObjectPath::new(&format!("{scheme}://{authority}"), key)
    }

    #[test]
    fn files_of_settings_are_read_and_options_go_before_them() {
        let folder = tempfile::tempdir().unwrap();
        let site = |name: &str, value: &str| {
            format!(
                "<?xml version=\"1.0\"?>\n<configuration><property><name>{name}</name><value> {value} </value></property></configuration>"
            )
        };
        std::fs::write(folder.path().join("core-site.xml"), site(DEFAULT_FS, "hdfs://files:9000")).unwrap();
        std::fs::write(folder.path().join("hdfs-site.xml"), site("dfs.ha.namenodes.ns", "a,b")).unwrap();
        let environment =
            |name: &str| (name == "HADOOP_CONF_DIR").then(|| folder.path().to_str().unwrap().to_owned());
        let found = HdfsSettings::of(&StorageOptions::new(), environment).unwrap();
        assert_eq!(found.qualified(&place("hdfs:///t")).unwrap(), place("hdfs://files:9000/t"));
        assert_eq!(found.client(&place("hdfs://ns/t")).unwrap().0, "hdfs://ns/");
        let given = [(DEFAULT_FS.to_owned(), "hdfs://given".to_owned())].into_iter().collect();
        let found = HdfsSettings::of(&given, environment).unwrap();
        assert_eq!(found.qualified(&place("hdfs:///t")).unwrap(), place("hdfs://given/t"));
        std::fs::write(folder.path().join("core-site.xml"), "<configuration>").unwrap();
        let torn = HdfsSettings::of(&StorageOptions::new(), environment);
        assert!(matches!(torn, Err(Error::InvalidArgument { .. })), "{torn:?}");
    }

    #[test]
    fn a_name_node_without_a_port_has_the_usual_one() {
        let none = settings(&[]);
        for (uri, url) in [("hdfs://h/t", "hdfs://h:8020/"), ("hdfs://h:9000/t", "hdfs://h:9000/")] {
            let (named, all) = none.client(&place(uri)).unwrap();
            assert_eq!((named.as_str(), all[ATTEMPTS].as_str()), (url, "1"));
        }
        assert_eq!(place("hdfs://h:8020/t"), place("hdfs://h/t"));
        let service = settings(&[("dfs.ha.namenodes.ns", "a")]);
        let (url, all) = service.client(&place("hdfs://ns/t")).unwrap();
        assert_eq!((url.as_str(), all.get(ATTEMPTS)), ("hdfs://ns/", None));
    }

    #[test]
    fn a_place_without_a_name_node_needs_a_default() {
        for given in [&[][..], &[(DEFAULT_FS, "file:///")], &[(DEFAULT_FS, "viewfs://c/")]] {
            let refused = settings(given).qualified(&place("hdfs:///t")).unwrap_err().to_string();
            assert!(refused.contains(DEFAULT_FS), "{refused}");
        }
    }

    #[test]
    fn a_place_of_a_view_is_below_a_mount() {
        let link = |path: &str| format!("{MOUNTS}c.link.{path}");
        let (data, user) = (link("/data"), link("/user/a"));
        let mounted = settings(&[(&data, "hdfs://one/d"), (&user, "hdfs://two:9000/u")]);
        for (uri, fallback) in [
            ("viewfs://c/data/t", "hdfs://one:8020/.no-mount"),
            ("viewfs://c/user/a", "hdfs://two:9000/.no-mount"),
        ] {
            let (url, all) = mounted.client(&place(uri)).unwrap();
            assert_eq!(
                (url.as_str(), all[&format!("{MOUNTS}c.linkFallback")].as_str()),
                ("viewfs://c/", fallback)
            );
        }
        for uri in ["viewfs://c/database", "viewfs://c/user", "viewfs://d/data/t"] {
            let refused = mounted.client(&place(uri)).unwrap_err().to_string();
            assert!(refused.contains("no mount has it"), "{refused}");
        }
        let all = settings(&[(&format!("{MOUNTS}c.linkFallback"), "hdfs://one/")]);
        assert!(all.client(&place("viewfs://c/anything")).is_ok());
    }
}
