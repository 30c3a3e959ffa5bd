//! Names of partition folders, escaped as Spark escapes them. The log then percent-encodes the whole path once more.

/// The folder name of a null.
const NULL_FOLDER: &str = "__HIVE_DEFAULT_PARTITION__";

/// Whether Hive, and so Spark, escapes this character in a folder name. NUL is added: no file system takes it.
fn is_escaped(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x1f'
            | '\x7f'
            | '"'
            | '#'
            | '%'
            | '\''
            | '*'
            | '/'
            | ':'
            | '='
            | '?'
            | '\\'
            | '{'
            | '['
            | ']'
            | '^'
    ) || (cfg!(windows) && matches!(c, ' ' | '<' | '>' | '|'))
}

/// `escapePathName`: `%` and two upper-case digits for each such character.
pub(super) fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        if is_escaped(c) {
            out.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
}

/// `unescapePathName`: an incomplete escape stays as it is.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 3).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        match code.and_then(|d| u8::from_str_radix(d, 16).ok()) {
            Some(byte) => {
                out.push(char::from(byte));
                rest = &rest[at + 3..];
            }
            None => {
                out.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// `a=1/b=__HIVE_DEFAULT_PARTITION__`, decoded: what the store is given, and what `FilePath::encode` then encodes.
pub(crate) fn folder<'a>(values: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let mut out = String::new();
    for (column, value) in values {
        if !out.is_empty() {
            out.push('/');
        }
        escape(column, &mut out);
        out.push('=');
        match value {
            None | Some("") => out.push_str(NULL_FOLDER),
            Some(value) => escape(value, &mut out),
        }
    }
    out
}

/// The values that the folders of a relative, decoded path name, in order. Folders that are not `column=value` are
/// ignored.
pub(crate) fn values_of(path: &str) -> Vec<(String, Option<String>)> {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders
        .split('/')
        .filter_map(|segment| segment.split_once('='))
        .map(|(column, value)| {
            let value = unescape(value);
            (unescape(column), (value != NULL_FOLDER).then_some(value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::actions::{FilePath, ObjectPath};

    #[test]
    fn spark_escapes_these_and_no_others() {
        let printable: String = (0x20u8..0x7f).map(char::from).collect();
        let escaped: String = printable.chars().filter(|c| is_escaped(*c)).collect();
        if !cfg!(windows) {
            assert_eq!(escaped, "\"#%'*/:=?[\\]^{");
        }
        let mut out = String::new();
        escape("a b/c%\nü}", &mut out);
        assert_eq!(out, if cfg!(windows) { "a%20b%2Fc%25%0Aü}" } else { "a b%2Fc%25%0Aü}" });
    }

    #[test]
    fn null_and_empty_share_a_folder() {
        assert_eq!(
            folder([("a", None), ("b", Some("")), ("c", Some("x"))]),
            "a=__HIVE_DEFAULT_PARTITION__/b=__HIVE_DEFAULT_PARTITION__/c=x"
        );
    }

    #[test]
    fn an_incomplete_escape_is_text() {
        assert_eq!(unescape("100%"), "100%");
        assert_eq!(unescape("%zz%4"), "%zz%4");
        assert_eq!(unescape("%3A%é"), ":%é");
    }

    proptest! {
        #[test]
        fn a_folder_is_found_again_and_gives_its_value_back(column in "[a-z%/ =]{1,6}", value in "\\PC{0,12}|[ -~\\n\\t]{1,12}") {
            let path = format!("{}/part-0.parquet", folder([(column.as_str(), Some(value.as_str()))]));
            let root = ObjectPath::new("file://", "/t a%b");
            prop_assert_eq!(FilePath::encode(&path).resolve(&root).unwrap(), root.join(&path));
            let expected = (!value.is_empty()).then(|| value.clone());
            prop_assert_eq!(values_of(&path), vec![(column, expected)]);
        }
    }
}
