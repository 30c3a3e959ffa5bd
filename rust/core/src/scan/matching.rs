//! Which field of a data file is which field of the table: by name, by physical name or by id.

use std::collections::HashMap;

use arrow::datatypes::Fields;

use super::leaves::field_id;
use crate::error::{Error, Result};
use crate::schema::{BY_NAME, ColumnMappingMode, DataType, StructField};

/// How the fields of one file are found.
#[derive(Clone, Copy)]
pub(super) struct Matcher<'a> {
    /// The file, for errors.
    pub(super) path: &'a str,
    pub(super) mode: ColumnMappingMode,
}

/// The fields of one struct of the file, by the key that finds a column.
pub(super) enum Names<'a> {
    /// Ids, and the names of what has none.
    Ids(HashMap<i32, usize>, HashMap<&'a str, usize>),
    /// Exact names, and lower-case ones with all their bearers.
    Text(HashMap<&'a str, usize>, HashMap<String, Vec<usize>>),
}

impl Matcher<'_> {
    /// An error about the file.
    pub(super) fn error(&self, reason: String) -> Error {
        Error::DataFile { path: self.path.to_owned(), reason }
    }

    /// The fields of a struct of the file, ready to be found in; `at` is where it is.
    pub(super) fn names<'f>(&self, fields: &'f Fields, at: &str) -> Result<Names<'f>> {
        if self.mode == ColumnMappingMode::Id {
            let mut ids = HashMap::with_capacity(fields.len());
            let mut names = HashMap::new();
            for (index, field) in fields.iter().enumerate() {
                let Some(id) = field_id(field) else {
                    names.insert(field.name().as_str(), index);
                    continue;
                };
                if ids.insert(id, index).is_some() {
                    return Err(self.error(format!("field id {id} exists twice{}", within(at))));
                }
            }
            return Ok(Names::Ids(ids, names));
        }
        let mut lower: HashMap<String, Vec<usize>> = HashMap::with_capacity(fields.len());
        for (index, field) in fields.iter().enumerate() {
            lower.entry(field.name().to_lowercase()).or_default().push(index);
        }
        Ok(Names::Text(fields.iter().enumerate().map(|(i, f)| (f.name().as_str(), i)).collect(), lower))
    }

    /// The index of the file's field that is `field`.
    pub(super) fn find(&self, names: &Names<'_>, field: &StructField, at: &str) -> Result<Option<usize>> {
        if field.data_type == DataType::Void {
            return Ok(None);
        }
        match names {
            Names::Ids(_, names) if field.metadata.contains_key(BY_NAME) => {
                Ok(names.get(field.name.as_str()).copied())
            }
            Names::Ids(ids, _) => {
                let id = field.field_id().ok_or_else(|| Error::InvalidSchema {
                    reason: format!(
                        "column `{}`{} has no id, and the table maps by id",
                        field.name,
                        within(at)
                    ),
                })?;
                Ok(ids.get(&id).copied())
            }
            Names::Text(exact, lower) => {
                let name = field.physical_name(self.mode);
                if let Some(index) = exact.get(name) {
                    return Ok(Some(*index));
                }
                match lower.get(&name.to_lowercase()).map(Vec::as_slice) {
                    None => Ok(None),
                    Some([index]) => Ok(Some(*index)),
                    Some(_) => {
                        Err(self.error(format!("column `{name}`{} exists in several spellings", within(at))))
                    }
                }
            }
        }
    }
}

fn within(at: &str) -> String {
    if at.is_empty() { String::new() } else { format!(" of `{at}`") }
}
