//! The checks of a write, all made before anything is written.

use super::assign::{check_assignable, check_partitions_given};
use super::create::{check_has_columns, new_table};
use super::define::{TableSpec, made, replaced};
use super::evolution::{check_no_definition, evolved};
use super::mode::{DefineMode, Defines, WriteMode, WriteOptions};
use super::overwrite_options::check_options;
use super::place::check_place;
use super::plan::{Target, WritePlan, plan};
use super::rules::Rules;
use crate::actions::Metadata;
use crate::alter::check_partition_columns;
use crate::alter::properties::check_properties;
use crate::error::{Error, Result, condition};
use crate::features::check_writer;
use crate::properties::{FEATURE_PREFIX, PREFIX};
use crate::schema::StructType;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;

/// Checks a write of data of this schema. Nothing is written.
///
/// # Errors
/// * [`Error::TableAlreadyExists`] by mode.
/// * [`Error::UnsupportedFeature`] when the table asks more of a writer than this one does.
/// * [`Error::SchemaMismatch`] when the data does not fit the table.
/// * [`Error::InvalidExpression`] when a rule of the table cannot be computed here.
/// * [`Error::InvalidPredicate`] for a condition of an overwrite that cannot be evaluated.
/// * [`Error::InvalidSchema`], [`Error::InvalidArgument`] for what a table cannot be created with, for a place with other
///   files where the write defines the table, and for partition
///   columns or properties that are not the table's own.
pub fn plan_write(location: &Location, data: &StructType, options: &WriteOptions) -> Result<WritePlan> {
    let at = options.at_version.map_or(At::Latest, At::Version);
    let snapshot = match Snapshot::open(location.clone(), at) {
        Ok(snapshot) => snapshot,
        Err(Error::TableNotFound { .. }) => {
            check_no_definition(options, "create a table")?;
            check_has_columns(data)?;
            let (protocol, metadata, domain) = match &options.defines {
                Some(Defines { mode: DefineMode::Replace, .. }) => {
                    return Err(Error::TableNotFound { path: location.root().to_string() });
                }
                Some(defines) => {
                    if defines.mode != DefineMode::CreateOrReplace {
                        check_place(location, true)?;
                    }
                    let (new, domain) = made(&TableSpec::of(data.clone(), options, defines))?;
                    (new.protocol, new.metadata, domain)
                }
                None => {
                    let (protocol, metadata) = new_table(data, options)?;
                    (protocol, metadata, None)
                }
            };
            let mut plan = plan(location, Target::New, protocol, metadata, options)?;
            plan.domains.extend(domain);
            check_writer(&location.root().to_string(), &plan.protocol)?;
            check_options(&plan, options)?;
            plan.check_storable()?;
            return Ok(plan);
        }
        Err(error) => return Err(error),
    };
    let path = location.root().to_string();
    let version = snapshot.version();
    let mut target = Target::Existing(version);
    if options.creation_only {
        check_properties(&options.configuration, options.properties)?;
    }
    match options.mode {
        WriteMode::ErrorIfExists => return Err(Error::TableAlreadyExists { path, version }),
        WriteMode::Ignore => target = Target::Skip(version),
        WriteMode::Append | WriteMode::Overwrite => {
            if let Some((app_id, app_version)) = &options.app_transaction
                && snapshot.app_transaction(app_id)?.is_some_and(|recorded| recorded.version >= *app_version)
            {
                target = Target::Skip(version);
            }
        }
    }
    if matches!(target, Target::Skip(_)) {
        let (protocol, metadata) = (snapshot.protocol().clone(), snapshot.metadata().clone());
        return plan(location, target, protocol, metadata, options);
    }
    if let Some(defines) = &options.defines {
        check_has_columns(data)?;
        let (new, domain) = replaced(&snapshot, &TableSpec::of(data.clone(), options, defines))?;
        let mut plan = plan(location, target, new.protocol, new.metadata, options)?;
        plan.domains.extend(domain);
        check_options(&plan, options)?;
        plan.check_storable()?;
        plan.snapshot = Some(snapshot);
        return Ok(plan);
    }
    if data.fields.is_empty() && !options.replaces_schema() {
        return Err(Error::InvalidSchema { reason: "the rows have no columns".into() }
            .of_condition(&condition::CANNOT_WRITE_EMPTY_SCHEMA_TABLE_NO_COLUMNS));
    }
    let (protocol, metadata, unclustered) = evolved(&snapshot, data, options)?;
    let mut plan = plan(location, target, protocol, metadata, options)?;
    plan.domains.extend(unclustered);
    check_writer(&path, &plan.protocol)?;
    check_same_partitioning(&plan, options)?;
    if !options.creation_only {
        check_same_properties(&plan.metadata, options)?;
    }
    check_assignable(&path, data, &plan.schema)?;
    if options.whole_partitions {
        check_partitions_given(&path, data, &plan.schema, &plan.partition_columns)?;
    }
    Rules::of(&plan, data)?;
    check_options(&plan, options)?;
    plan.check_storable()?;
    plan.snapshot = Some(snapshot);
    Ok(plan)
}

fn check_same_partitioning(plan: &WritePlan, options: &WriteOptions) -> Result<()> {
    if options.partition_by.is_empty() {
        return Ok(());
    }
    let asked = check_partition_columns(&plan.schema, &options.partition_by)?;
    if asked == plan.partition_columns {
        return Ok(());
    }
    let own = match plan.partition_columns.as_slice() {
        [] => "not partitioned".to_owned(),
        columns => format!("partitioned by {}", columns.join(", ")),
    };
    Err(Error::InvalidArgument {
        argument: "partition_by".into(),
        reason: format!(
            "the table is {own}, not by {}; leave it out, or give the table's own",
            asked.join(", ")
        ),
    }
    .of_condition(&condition::METADATA_MISMATCH))
}

fn check_same_properties(metadata: &Metadata, options: &WriteOptions) -> Result<()> {
    for (key, value) in &options.configuration {
        let lower = key.to_lowercase();
        if lower.starts_with(FEATURE_PREFIX) {
            continue;
        }
        let own = metadata.configuration.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v);
        // the values of these are kept in one spelling
        let equal = |own: &String| match lower.starts_with(PREFIX) {
            true => own.eq_ignore_ascii_case(value),
            false => own == value,
        };
        if !own.is_some_and(equal) {
            return Err(Error::InvalidArgument {
                argument: key.clone(),
                reason: format!(
                    "properties are set when a table is created; here it is {}, and an append does not change it",
                    own.map_or("not set".to_owned(), |v| format!("`{v}`"))
                ),
            });
        }
    }
    Ok(())
}
