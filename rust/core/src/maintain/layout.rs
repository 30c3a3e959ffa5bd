//! How an optimize arranges rows: files are only compacted, or their rows are sorted along a curve.

use serde::{Deserialize, Serialize};

use super::detail::clustering_columns;
use super::optimize_options::OptimizeOptions;
use crate::alter::{physical_path, resolve_path};
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::schema::{DataType, format_column_list, parse_column_list};
use crate::snapshot::Snapshot;
use crate::write::{Curve, WritePlan};

/// What an optimize makes of files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Layout {
    /// Larger files, with their rows in the order in which they were.
    Joined,
    /// All files of a partition along the Z-order of these columns.
    ZOrdered(Columns),
    /// The files of a clustered table along the Hilbert curve of its columns.
    Clustered(Columns),
}

/// Columns to lay rows out by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Columns {
    /// As the history names them.
    pub(crate) names: Vec<String>,
    /// Paths as the schema spells them.
    pub(crate) paths: Vec<Vec<String>>,
}

impl Columns {
    fn of(paths: Vec<Vec<String>>) -> Self {
        Columns { names: paths.iter().map(|path| spelled(path)).collect(), paths }
    }
}

impl Layout {
    /// What the table and the caller ask for.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for columns that cannot be ordered by, for what does not go with a clustered table, and
    /// for an order where [`OptimizeOptions::purge`] asks for none;
    /// [`Error::InvalidSchema`] for clustering columns that the table does not have.
    pub(super) fn of(snapshot: &Snapshot, plan: &WritePlan, options: &OptimizeOptions) -> Result<Self> {
        if options.purge {
            return match options.zorder_by.is_empty() && !options.full {
                true => Ok(Layout::Joined),
                false => Err(invalid("purge", "it leaves the order of rows as it is".into())),
            };
        }
        let clusters = snapshot.protocol().supports(TableFeature::Clustering);
        if clusters && let Some(predicate) = &options.predicate {
            let reason = format!(
                "OPTIMIZE command for Delta table with clustering doesn't support partition predicates. Please remove \
                 the predicates: {predicate}."
            );
            return Err(invalid("where", reason).named(
                &condition::CLUSTERING_WITH_PARTITION_PREDICATE,
                [("predicates", predicate.as_str())],
            ));
        }
        if clusters && !options.zorder_by.is_empty() {
            let columns = options.zorder_by.join(", ");
            let reason = format!(
                "OPTIMIZE command for Delta table with clustering cannot specify ZORDER BY. Please remove ZORDER BY ({columns})."
            );
            return Err(invalid("zorder_by", reason)
                .named(&condition::CLUSTERING_WITH_ZORDER_BY, [("zOrderBy", columns)]));
        }
        let clustered_by = clustering_columns(snapshot)?;
        if options.full && clustered_by.is_empty() {
            let reason =
                "OPTIMIZE FULL is only supported for clustered tables with non-empty clustering columns.";
            return Err(invalid("full", reason.into()).of_condition(&condition::OPTIMIZE_FULL_NOT_SUPPORTED));
        }
        Ok(match (clustered_by, options.zorder_by.is_empty()) {
            (paths, _) if !paths.is_empty() => Layout::Clustered(Columns::of(paths)),
            (_, true) => Layout::Joined,
            (_, false) => Layout::ZOrdered(zordered_by(plan, options)?),
        })
    }

    /// The curve, and its columns.
    pub(crate) fn curve(&self) -> Option<(Curve, &Columns)> {
        match self {
            Layout::Joined => None,
            Layout::ZOrdered(columns) => Some((Curve::ZOrder, columns)),
            Layout::Clustered(columns) => Some((Curve::Hilbert, columns)),
        }
    }
}

/// The columns of a Z-order, checked as delta-spark checks them.
fn zordered_by(plan: &WritePlan, options: &OptimizeOptions) -> Result<Columns> {
    let refuse = |reason: String| invalid("zorder_by", reason);
    let (mut names, mut paths, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    let lists = options.zorder_by.iter().map(|list| parse_column_list(list).map_err(&refuse));
    for given in lists.collect::<Result<Vec<_>>>()?.concat() {
        let name = spelled(&given);
        if let [single] = given.as_slice()
            && plan.partition_columns.iter().any(|p| p.eq_ignore_ascii_case(single))
        {
            return Err(refuse(format!(
                "{name} is a partition column. Z-Ordering can only be performed on data columns"
            ))
            .named(&condition::ZORDERING_ON_PARTITION_COLUMN, [("colName", name)]));
        }
        let missing = |_| {
            refuse(format!("Z-Ordering column {name} does not exist in data schema."))
                .named(&condition::ZORDERING_COLUMN_DOES_NOT_EXIST, [("columnName", name.as_str())])
        };
        let path = resolve_path(&plan.schema, &given).map_err(missing)?;
        let kind = plan.schema.field_at(&path).map(|field| &field.data_type);
        if kind.is_none_or(|kind| !has_order(kind)) {
            let kind = kind.map_or_else(|| "an element of another".to_owned(), DataType::name);
            return Err(refuse(format!("{name} cannot be Z-ordered by: its type is {kind}")));
        }
        let physical = physical_path(&plan.schema, &path, plan.column_mapping);
        if options.check_statistics && !plan.stats.covers(&physical) {
            unknown.push(name.clone());
        }
        names.push(name);
        paths.push(path);
    }
    if paths.is_empty() {
        return Err(refuse("no column is given".into()));
    }
    match unknown.as_slice() {
        [] => Ok(Columns { names, paths }),
        unknown => Err(refuse(format!(
            "Z-Ordering on [{}] will be ineffective, because we currently do not collect stats for these columns. Put \
             them among the first columns or into `delta.dataSkippingStatsColumns`, or disable this check with \
             check_statistics",
            unknown.join(", ")
        ))
        .named(&condition::ZORDERING_ON_COLUMN_WITHOUT_STATS, [("cols", format!("[{}]", unknown.join(", ")))])),
    }
}

fn has_order(kind: &DataType) -> bool {
    !matches!(
        kind,
        DataType::Struct(_)
            | DataType::Array(_)
            | DataType::Map(_)
            | DataType::UserDefined(_)
            | DataType::Variant
            | DataType::Void
    )
}

/// A path as SQL spells it.
fn spelled(path: &[String]) -> String {
    format_column_list(&[path.to_vec()])
}

fn invalid(argument: &str, reason: String) -> Error {
    Error::InvalidArgument { argument: argument.to_owned(), reason }
}
