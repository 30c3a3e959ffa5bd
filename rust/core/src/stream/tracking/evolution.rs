//! What makes one schema of a stream another, and which of it the user must have seen before the stream continues.

use std::collections::BTreeMap;

use super::options::Allowed;
use super::schema_log::Entry;
use crate::error::{Error, Result, condition};
use crate::schema::{ColumnMappingMode, DataType, StructType, is_widening};
use crate::stream::schema_changes::{Compare, readable};

/// The parts of a schema change that remove something from readers of the stream.
#[derive(Debug, Default, PartialEq, Eq)]
struct NonAdditive {
    renamed: Vec<(String, String)>,
    dropped: Vec<String>,
    /// Column, type, and wider type.
    widened: Vec<(String, DataType, DataType)>,
}

impl NonAdditive {
    fn between(old: &StructType, new: &StructType) -> Self {
        let (was, is) = (physical_paths(old), physical_paths(new));
        let mut found = NonAdditive::default();
        for (physical, logical) in &was {
            match is.get(physical) {
                None => found.dropped.push(pretty(logical)),
                Some(now) if now.last() != logical.last() => {
                    found.renamed.push((pretty(logical), pretty(now)));
                }
                Some(_) => {}
            }
        }
        widened(&physical(old), &physical(new), &mut Vec::new(), &mut found.widened);
        found
    }

    fn is_empty(&self) -> bool {
        self.renamed.is_empty() && self.dropped.is_empty() && self.widened.is_empty()
    }

    /// How delta-spark calls it, with the options and the settings that allow it.
    fn named(&self) -> (&'static str, &'static [&'static str], &'static [&'static str]) {
        use super::options::{DROP, DROP_SETTING, RENAME, RENAME_DROP_SETTING, RENAME_SETTING};
        use super::options::{TYPE_CHANGE, TYPE_CHANGE_SETTING};
        match (!self.renamed.is_empty(), !self.dropped.is_empty(), !self.widened.is_empty()) {
            (true, false, false) => ("RENAME COLUMN", &[RENAME], &[RENAME_SETTING]),
            (false, true, false) => ("DROP COLUMN", &[DROP], &[DROP_SETTING]),
            (true, true, false) => ("RENAME AND DROP COLUMN", &[RENAME, DROP], &[RENAME_DROP_SETTING]),
            (true, false, true) => {
                ("RENAME AND TYPE WIDENING", &[RENAME, TYPE_CHANGE], &[RENAME_SETTING, TYPE_CHANGE_SETTING])
            }
            (false, true, true) => {
                ("DROP AND TYPE WIDENING", &[DROP, TYPE_CHANGE], &[DROP_SETTING, TYPE_CHANGE_SETTING])
            }
            (true, true, true) => (
                "RENAME, DROP AND TYPE WIDENING",
                &[RENAME, DROP, TYPE_CHANGE],
                &[RENAME_DROP_SETTING, TYPE_CHANGE_SETTING],
            ),
            (false, false, _) => ("TYPE WIDENING", &[TYPE_CHANGE], &[TYPE_CHANGE_SETTING]),
        }
    }

    fn details(&self) -> String {
        let mut out = Vec::new();
        if !self.renamed.is_empty() {
            out.push("Columns renamed:".to_owned());
            out.extend(self.renamed.iter().map(|(from, to)| format!("'{from}' -> '{to}'")));
        }
        if !self.dropped.is_empty() {
            out.push("Columns dropped:".to_owned());
            out.push(self.dropped.iter().map(|c| format!("'{c}'")).collect::<Vec<_>>().join(", "));
        }
        if !self.widened.is_empty() {
            out.push("Columns with widened types:".to_owned());
            let line =
                |(name, from, to): &(_, _, _)| format!("'{name}': {} -> {}", sql_name(from), sql_name(to));
            out.extend(self.widened.iter().map(line));
        }
        out.join("\n")
    }

    fn is_allowed(&self, allowed: &Allowed, hash: i32, version: u64) -> bool {
        (self.renamed.is_empty() || allowed.renames(hash, version))
            && (self.dropped.is_empty() || allowed.drops(hash, version))
            && (self.widened.is_empty() || allowed.type_changes(hash, version))
    }
}

/// Checks that a stream may continue with an entry of its log of schemas after the previous one.
///
/// # Errors
/// [`Error::SourceSchemaChanged`] for columns that were renamed, dropped or widened and that the user did not allow, and for
/// a type that did not become wider.
pub(super) fn check(
    table: &str,
    previous: &Entry,
    current: &Entry,
    allowed: &Allowed,
    metadata_path: &str,
) -> Result<()> {
    let (old, new) = (previous.schema()?, current.schema()?);
    let changed = |reason: String| Error::SourceSchemaChanged {
        path: table.to_owned(),
        version: current.version,
        reason,
    };
    let compare = Compare { widens: true, may_lack: true };
    if let Err(change) = readable(&physical(&old), &physical(&new), compare, "") {
        return Err(changed(format!("{change}. Start a query with a new checkpoint and a new location")));
    }
    let found = NonAdditive::between(&old, &new);
    let hash = java_hash(metadata_path);
    if found.is_empty() || found.is_allowed(allowed, hash, current.version) {
        return Ok(());
    }
    let (operation, options, settings) = found.named();
    let (details, version) = (found.details(), current.version);
    let lines = |names: &[&str], line: &dyn Fn(&str) -> String| {
        names.iter().map(|name| line(name)).collect::<Vec<_>>().join("\n")
    };
    let of_options = |value: &str| lines(options, &|name| format!("  .option(\"{name}\", \"{value}\")"));
    let of_settings = |suffix: &str, value: &str| {
        lines(settings, &|name| format!("  SET spark.databricks.delta.{name}{suffix} = {value};"))
    };
    let of_stream = format!(".ckpt_{hash}");
    let parameters = [
        ("opType", operation.to_owned()),
        ("previousSchemaChangeVersion", previous.version.to_string()),
        ("columnChangeDetails", details.clone()),
        ("unblockChangeOptions", of_options(&version.to_string())),
        ("unblockStreamOptions", of_options("always")),
        ("unblockChangeConfs", of_settings(&of_stream, &version.to_string())),
        ("unblockStreamConfs", of_settings(&of_stream, "\"always\"")),
        ("unblockAllConfs", of_settings("", "\"always\"")),
    ];
    let text = format!(
        "non-additive schema change(s) ({operation}) between Delta version {} and {version}:\n{details}\nMake sure that what \
         reads the stream can take them, then allow these\n{}\nor all of them in this stream\n{}\nor by a setting, these\n{}\n\
         or all of them in this stream\n{}\nor in every stream\n{}",
        previous.version, parameters[3].1, parameters[4].1, parameters[5].1, parameters[6].1, parameters[7].1,
    );
    Err(changed(text)
        .named(&condition::STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION, parameters))
}

/// `String.hashCode` of Java.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// The schema with the names of data files, wherever a column has one, and nothing else changed.
pub(super) fn physical(schema: &StructType) -> StructType {
    let mut schema = schema.clone();
    schema.change_fields(&mut |_, field| {
        field.name = field.physical_name(ColumnMappingMode::Name).to_owned();
    });
    schema
}

/// The logical path of every field by its physical one.
fn physical_paths(schema: &StructType) -> BTreeMap<Vec<String>, Vec<String>> {
    let owned = |path: Vec<&str>| path.into_iter().map(str::to_owned).collect::<Vec<String>>();
    let physical = physical(schema);
    let logical = schema.explode().into_iter().map(|(path, _)| owned(path));
    physical.explode().into_iter().map(|(path, _)| owned(path)).zip(logical).collect()
}

fn pretty(path: &[String]) -> String {
    let part = |name: &String| if name.contains('.') { format!("`{name}`") } else { name.clone() };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}

/// How SQL calls a type.
fn sql_name(of: &DataType) -> String {
    match of {
        DataType::Long => "BIGINT".to_owned(),
        DataType::Integer => "INT".to_owned(),
        DataType::Short => "SMALLINT".to_owned(),
        DataType::Byte => "TINYINT".to_owned(),
        other => other.name().to_uppercase(),
    }
}

fn widened(
    old: &StructType,
    new: &StructType,
    at: &mut Vec<String>,
    out: &mut Vec<(String, DataType, DataType)>,
) {
    for was in &old.fields {
        if let Some(is) = new.fields.iter().find(|f| f.name == was.name) {
            at.push(was.name.clone());
            type_widened(&was.data_type, &is.data_type, at, out);
            at.pop();
        }
    }
}

fn type_widened(
    old: &DataType,
    new: &DataType,
    at: &mut Vec<String>,
    out: &mut Vec<(String, DataType, DataType)>,
) {
    let mut below = |name: &str, old: &DataType, new: &DataType| {
        at.push(name.to_owned());
        type_widened(old, new, at, out);
        at.pop();
    };
    match (old, new) {
        (DataType::Struct(old), DataType::Struct(new)) => widened(old, new, at, out),
        (DataType::Array(old), DataType::Array(new)) => {
            below("element", &old.element_type, &new.element_type)
        }
        (DataType::Map(old), DataType::Map(new)) => {
            below("key", &old.key_type, &new.key_type);
            below("value", &old.value_type, &new.value_type);
        }
        (old, new) if old != new && is_widening(old, new) => {
            out.push((pretty(at), old.clone(), new.clone()));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::testing::schema;

    fn column(name: &str, kind: &str, physical: &str) -> String {
        format!(
            r#"{{"name":"{name}","type":{kind},"nullable":true,"metadata":{{"delta.columnMapping.physicalName":"{physical}"}}}}"#
        )
    }

    fn of(columns: &[(&str, &str, &str)]) -> StructType {
        let columns: Vec<_> = columns.iter().map(|(n, k, p)| column(n, k, p)).collect();
        schema(&columns.join(","))
    }

    const LONG: &str = r#""long""#;

    #[test]
    fn what_takes_nothing_away_is_additive() {
        let old = of(&[("a", LONG, "p")]);
        let new = of(&[("a", LONG, "p"), ("b", LONG, "q")]);
        assert!(NonAdditive::between(&old, &new).is_empty());
        assert!(NonAdditive::between(&old, &old).is_empty());
    }

    #[test]
    fn columns_are_distinguished_by_their_physical_names_at_every_depth() {
        let inner = |name: &str| format!(r#"{{"type":"struct","fields":[{}]}}"#, column(name, LONG, "x"));
        let old = of(&[("a", LONG, "p"), ("s", inner("u").as_str(), "s"), ("i", r#""integer""#, "i")]);
        let new = of(&[("s", inner("v.w").as_str(), "s"), ("i", LONG, "i"), ("a", LONG, "other")]);
        let found = NonAdditive::between(&old, &new);
        assert_eq!(found.dropped, ["a"]);
        assert_eq!(found.renamed, [("s.u".to_owned(), "s.`v.w`".to_owned())]);
        assert_eq!(found.widened, [("i".to_owned(), DataType::Integer, DataType::Long)]);
        assert_eq!(found.named().0, "RENAME, DROP AND TYPE WIDENING");
        let lines: Vec<_> = found.details().lines().map(str::to_owned).collect();
        assert_eq!(lines[1], "'s.u' -> 's.`v.w`'");
        assert_eq!(lines[3], "'a'");
        assert_eq!(lines[5], "'i': INT -> BIGINT");
    }

    #[test]
    fn the_hash_of_a_place_is_that_of_java() {
        assert_eq!(java_hash(""), 0);
        assert_eq!(java_hash("hello"), 99_162_322);
        assert_eq!(java_hash("polygenelubricants"), i32::MIN);
    }
}
