//! A table that begins with the definition of another one, and without its rows.

use std::collections::BTreeMap;

use chrono::Utc;
use uuid::Uuid;

use super::clone::is_own;
use crate::actions::{Metadata, OperationName};
use crate::alter::properties::for_new_table;
use crate::alter::{Definition, SetOptions, set_properties};
use crate::error::{Error, Result};
use crate::features::check_writer;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::txn::Transaction;
use crate::write::{Defined, TableSpec, check_place, with_defaults};

/// What a table gets besides what it copies from another one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LikeOptions {
    /// Properties in place of those of the source.
    pub properties: BTreeMap<String, String>,
    /// Properties that neither the source nor `properties` has: [`crate::write::WriteOptions::defaults`].
    pub defaults: BTreeMap<String, String>,
    /// Text for `commitInfo.userMetadata`.
    pub user_metadata: Option<String>,
    /// Whether a catalog owns the files, for the history.
    pub managed: bool,
    /// Engine that `commitInfo.engineInfo` names before deltaic itself.
    pub engine: Option<String>,
}

/// Makes a table without rows in one commit, with the schema, partition columns, description, properties, constraints and
/// features of a version of another. The columns keep their ids and names in files, their defaults, and the marks of
/// identities; clustering columns and row ids stay with the source.
///
/// # Errors
/// All before anything is written:
/// * [`Error::UnsupportedFeature`] for a source that deltaic cannot write.
/// * [`Error::TableAlreadyExists`] where there is a table, or another writer makes one meanwhile.
/// * [`Error::InvalidArgument`] for a place with other files.
/// * As [`set_properties`] for the properties; a mapping of columns that the source has stays.
/// * As [`Transaction::commit`].
///
/// # Cost
/// One listing and one put.
pub fn create_like(source: &Snapshot, target: &Location, options: &LikeOptions) -> Result<Defined> {
    match Snapshot::open(target.clone(), At::Latest) {
        Ok(table) => {
            let (path, version) = (target.root().to_string(), table.version());
            return Err(Error::TableAlreadyExists { path, version });
        }
        Err(Error::TableNotFound { .. }) => check_place(target, false)?,
        Err(error) => return Err(error),
    }
    check_writer(&source.location().root().to_string(), source.protocol())?;
    let mut metadata = Metadata {
        id: Uuid::new_v4().to_string(),
        name: None,
        created_time: Some(Utc::now().timestamp_millis()),
        ..source.metadata().clone()
    };
    metadata.configuration.retain(|key, _| !is_own(key));
    let mut given = metadata.configuration.clone();
    given.extend(options.properties.clone());
    let mut wanted = with_defaults(&given, &options.defaults);
    wanted.retain(|key, _| options.properties.contains_key(key) || !given.contains_key(key));
    // refuses what cannot be set for a new table
    for_new_table(&wanted, SetOptions::default())?;
    let before = Definition::of(source.protocol(), &metadata)?;
    let new = set_properties(&before, &wanted, SetOptions::default())?;
    let spec = TableSpec {
        properties: SetOptions::default(),
        description: new.metadata.description.clone(),
        managed: options.managed,
        ..TableSpec::default()
    };
    let operation = spec.operation(OperationName::CreateTable, &new.metadata);
    let mut txn = Transaction::create(target, new.protocol, new.metadata, operation);
    txn.set_engine(options.engine.clone());
    txn.set_user_metadata(options.user_metadata.clone());
    let landed = txn.commit()?;
    Ok(Defined { version: landed.version, created: true, replaced: false, warnings: landed.warnings })
}
