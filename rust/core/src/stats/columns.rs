//! Which columns of a table get statistics.

use crate::actions::Metadata;
use crate::error::{Error, Result};
use crate::properties::TableProperty;
use crate::schema::{
    ColumnMappingMode, DataType, IDENTITY_START, StructField, StructType, parse_column_list,
};

/// The columns of a table's files that get statistics, as a tree that mirrors the data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatsColumns {
    pub(crate) nodes: Vec<Node>,
    /// Number of leaves; a leaf's `slot` is below it.
    pub(crate) leaves: usize,
    /// Characters of a string that are kept.
    pub(crate) prefix: usize,
    /// Whether `tightBounds` is written.
    pub(crate) tight_bounds: bool,
}

/// A column, or a struct of them, by physical name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Struct { name: String, position: usize, children: Vec<Node> },
    Leaf { name: String, position: usize, slot: usize, data_type: DataType },
}

/// Whether delta-spark keeps minimum and maximum of the type; all others get a null count only.
pub(crate) fn has_bounds(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Byte
            | DataType::Short
            | DataType::Integer
            | DataType::Long
            | DataType::Float
            | DataType::Double
            | DataType::Decimal(..)
            | DataType::Date
            | DataType::Timestamp
            | DataType::TimestampNtz
            | DataType::String
    )
}

impl StatsColumns {
    /// The tree of columns.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The columns of `data`, the columns of the data files in their order, by `delta.dataSkippingStatsColumns` or else
    /// `delta.dataSkippingNumIndexedCols`, and always identity columns. `tight_bounds` is whether the table supports deletion vectors.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when one of the properties cannot be read.
    pub fn of(
        data: &StructType,
        metadata: &Metadata,
        mode: ColumnMappingMode,
        tight_bounds: bool,
    ) -> Result<Self> {
        let prefix = whole(metadata, TableProperty::DataSkippingStringPrefixLength)?;
        let prefix = usize::try_from(prefix).unwrap_or(0);
        let mut columns = StatsColumns { prefix, tight_bounds, ..Default::default() };
        columns.nodes = match metadata.property(TableProperty::DataSkippingStatsColumns) {
            Some(list) => {
                let paths =
                    parse_column_list(&list.to_lowercase()).map_err(|reason| Error::InvalidArgument {
                        argument: TableProperty::DataSkippingStatsColumns.to_string(),
                        reason,
                    })?;
                named(data, &paths, mode, &mut columns.leaves)
            }
            None => {
                let count = whole(metadata, TableProperty::DataSkippingNumIndexedCols)?;
                let limit = if count < 0 { usize::MAX } else { count as usize };
                first(data, limit, mode, &mut columns.leaves)
            }
        };
        for (position, field) in data.fields.iter().enumerate() {
            // the high-water mark is taken from them
            if field.metadata.contains_key(IDENTITY_START)
                && !columns.covers(&[field.physical_name(mode).to_owned()])
            {
                let leaf = node(field, position, mode, &mut columns.leaves, None);
                columns.nodes.push(leaf);
            }
        }
        Ok(columns)
    }
}

impl StatsColumns {
    /// Whether the leaf at a path of physical names gets statistics.
    pub(crate) fn covers(&self, path: &[String]) -> bool {
        fn within(nodes: &[Node], path: &[String]) -> bool {
            let Some((first, rest)) = path.split_first() else { return false };
            nodes.iter().any(|node| match node {
                Node::Struct { name, children, .. } => name == first && within(children, rest),
                Node::Leaf { name, .. } => name == first && rest.is_empty(),
            })
        }
        within(&self.nodes, path)
    }
}

fn whole(metadata: &Metadata, property: TableProperty) -> Result<i64> {
    // both have a default
    let text = metadata.property_or_default(property).unwrap_or_default();
    text.trim().parse().map_err(|_| Error::InvalidArgument {
        argument: property.to_string(),
        reason: format!("`{text}` is not a whole number"),
    })
}

fn node(
    field: &StructField,
    position: usize,
    mode: ColumnMappingMode,
    slot: &mut usize,
    children: Option<Vec<Node>>,
) -> Node {
    let name = field.physical_name(mode).to_owned();
    match children {
        Some(children) => Node::Struct { name, position, children },
        None => {
            *slot += 1;
            Node::Leaf { name, position, slot: *slot - 1, data_type: field.data_type.clone() }
        }
    }
}

fn first(schema: &StructType, limit: usize, mode: ColumnMappingMode, slot: &mut usize) -> Vec<Node> {
    let mut nodes = Vec::new();
    for (position, field) in schema.fields.iter().enumerate() {
        if *slot >= limit {
            break;
        }
        let children = match &field.data_type {
            DataType::Struct(s) => Some(first(s, limit, mode, slot)),
            _ => None,
        };
        nodes.push(node(field, position, mode, slot, children));
    }
    nodes
}

/// Columns by lower-cased path; a struct includes everything in it.
fn named(schema: &StructType, paths: &[Vec<String>], mode: ColumnMappingMode, slot: &mut usize) -> Vec<Node> {
    let mut nodes = Vec::new();
    for (position, field) in schema.fields.iter().enumerate() {
        let name = field.name.to_lowercase();
        let rests: Vec<Vec<String>> =
            paths.iter().filter(|p| p.first() == Some(&name)).map(|p| p[1..].to_vec()).collect();
        if rests.is_empty() {
            continue;
        }
        let whole = rests.iter().any(Vec::is_empty);
        match &field.data_type {
            DataType::Struct(s) => {
                let children =
                    if whole { first(s, usize::MAX, mode, slot) } else { named(s, &rests, mode, slot) };
                nodes.push(node(field, position, mode, slot, Some(children)));
            }
            _ if whole => nodes.push(node(field, position, mode, slot, None)),
            _ => {}
        }
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> StructType {
        let inner = StructType {
            fields: vec![
                StructField::new("x", DataType::Long, true),
                StructField::new("y.z", DataType::String, true),
            ],
        };
        StructType {
            fields: vec![
                StructField::new("a", DataType::Long, true),
                StructField::new("S", DataType::Struct(Box::new(inner)), true),
                StructField::new("b", DataType::Binary, true),
            ],
        }
    }

    fn leaves(configuration: &[(&str, &str)]) -> Vec<String> {
        fn walk(nodes: &[Node], prefix: &str, out: &mut Vec<String>) {
            for node in nodes {
                match node {
                    Node::Struct { name, children, .. } => walk(children, &format!("{prefix}{name}/"), out),
                    Node::Leaf { name, .. } => out.push(format!("{prefix}{name}")),
                }
            }
        }
        let configuration = configuration.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let metadata = Metadata { configuration, ..Default::default() };
        let columns = StatsColumns::of(&schema(), &metadata, ColumnMappingMode::None, false).unwrap();
        let mut out = Vec::new();
        walk(&columns.nodes, "", &mut out);
        assert_eq!(out.len(), columns.leaves);
        out
    }

    #[test]
    fn the_first_leaves_are_counted_through_structs() {
        assert_eq!(leaves(&[]), ["a", "S/x", "S/y.z", "b"]);
        assert_eq!(leaves(&[("delta.dataSkippingNumIndexedCols", "2")]), ["a", "S/x"]);
        assert_eq!(leaves(&[("delta.dataSkippingNumIndexedCols", "0")]), Vec::<String>::new());
        assert_eq!(leaves(&[("delta.dataSkippingNumIndexedCols", "-1")]).len(), 4);
    }

    #[test]
    fn named_columns_win_over_the_count() {
        let only = |list: &str| {
            leaves(&[("delta.dataSkippingStatsColumns", list), ("delta.dataSkippingNumIndexedCols", "1")])
        };
        assert_eq!(only("s.`y.z`, B"), ["S/y.z", "b"]);
        assert_eq!(only("s"), ["S/x", "S/y.z"]);
        assert_eq!(only(""), Vec::<String>::new());
    }

    #[test]
    fn a_broken_property_is_named() {
        for (key, value) in
            [("delta.dataSkippingNumIndexedCols", "many"), ("delta.dataSkippingStatsColumns", "a,`b")]
        {
            let metadata =
                Metadata { configuration: [(key.to_owned(), value.to_owned())].into(), ..Default::default() };
            let error = StatsColumns::of(&schema(), &metadata, ColumnMappingMode::None, false).unwrap_err();
            assert!(error.to_string().starts_with(key), "{error}");
        }
    }
}
