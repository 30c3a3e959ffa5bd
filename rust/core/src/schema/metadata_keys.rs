//! Keys in the metadata of a column.

/// What keys with a meaning for Delta begin with.
pub(crate) const KEY_PREFIX: &str = "delta.";

/// Field metadata key of the physical name.
pub const PHYSICAL_NAME: &str = "delta.columnMapping.physicalName";

/// Field metadata key of the column id.
pub const FIELD_ID: &str = "delta.columnMapping.id";

/// Field metadata key of the ids of elements, keys and values.
pub(crate) const NESTED_IDS: &str = "delta.columnMapping.nested.ids";

/// Field metadata key of the changes of type.
pub(crate) const TYPE_CHANGES: &str = "delta.typeChanges";

/// Field metadata key of an invariant.
pub(crate) const INVARIANTS: &str = "delta.invariants";

/// Field metadata key of a column that files have by its name also where the table maps by id: those of row tracking.
pub(crate) const BY_NAME: &str = "deltaic.byName";

/// Field metadata key of the first value.
pub const IDENTITY_START: &str = "delta.identity.start";

/// Field metadata key of the distance between values.
pub const IDENTITY_STEP: &str = "delta.identity.step";

/// Field metadata key of the value that is farthest from the first, in the direction of the step.
pub const IDENTITY_HIGH_WATER_MARK: &str = "delta.identity.highWaterMark";

/// Field metadata key of whether rows may bring their own value.
pub const IDENTITY_ALLOW_EXPLICIT_INSERT: &str = "delta.identity.allowExplicitInsert";

/// Field metadata key of the expression.
pub const GENERATION_EXPRESSION: &str = "delta.generationExpression";

/// Field metadata key of the default of rows that are written.
pub const CURRENT_DEFAULT: &str = "CURRENT_DEFAULT";
