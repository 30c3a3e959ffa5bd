//! The names by which delta-spark and Spark distinguish errors: conditions, with SQLSTATE, Python class and parameters.
//!
//! A kind of [`Error`](super::Error) that is always one condition has it in [`OF_KINDS`]; where it depends on the situation, the
//! raising code names it ([`Error::named`](super::Error::named)). What delta-spark has no condition for has none here. The names are those
//! of
//! `delta-error-classes.json` of delta-spark 4.4 and of `error-conditions.json` of Spark, and a test compares.

/// The class of PySpark that an error is one of, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `AnalysisException`.
    Analysis,
    /// `ArithmeticException`.
    Arithmetic,
    /// `IllegalArgumentException`.
    IllegalArgument,
    /// `PySparkException`: delta-spark gives a bare `Py4JJavaError`, or one of the classes of `delta.exceptions`.
    Other,
    /// `ParseException`.
    Parse,
    /// `UnsupportedOperationException`.
    UnsupportedOperation,
}

impl Class {
    /// Its name in PySpark.
    pub fn name(self) -> &'static str {
        match self {
            Class::Analysis => "AnalysisException",
            Class::Arithmetic => "ArithmeticException",
            Class::IllegalArgument => "IllegalArgumentException",
            Class::Other => "PySparkException",
            Class::Parse => "ParseException",
            Class::UnsupportedOperation => "UnsupportedOperationException",
        }
    }
}

/// A condition.
#[derive(Debug, PartialEq, Eq)]
pub struct Condition {
    /// `DELTA_PATH_EXISTS`.
    pub name: &'static str,
    /// Five characters.
    pub sql_state: &'static str,
    /// Class in PySpark.
    pub class: Class,
    /// Names of the message parameters, each with the fact of the error that fills it. What no fact fills, the place
    /// that raises may give.
    pub parameters: &'static [(&'static str, Option<&'static str>)],
}

macro_rules! fact {
    () => {
        None
    };
    ($fact:ident) => {
        Some(stringify!($fact))
    };
}

macro_rules! conditions {
    ($($constant:ident = $name:literal, $sql_state:literal, $class:ident, [$($parameter:ident $(= $fact:ident)?),*];)*) => {
        $(
            #[doc = concat!("`", $name, "`.")]
            pub const $constant: Condition = Condition {
                name: $name,
                sql_state: $sql_state,
                class: Class::$class,
                parameters: &[$((stringify!($parameter), fact!($($fact)?))),*],
            };
        )*

        /// Every condition.
        pub const ALL: &[&Condition] = &[$(&$constant),*];
    };
}

conditions! {
    ADDING_COLUMN_WITH_INTERNAL_NAME_FAILED = "DELTA_ADDING_COLUMN_WITH_INTERNAL_NAME_FAILED", "42000", Other, [colName];
    ADD_CONSTRAINTS = "DELTA_ADD_CONSTRAINTS", "0A000", Analysis, [];
    AGGREGATION_NOT_SUPPORTED = "DELTA_AGGREGATION_NOT_SUPPORTED", "42903", Analysis, [operation, predicate];
    ADDING_DELETION_VECTORS_DISALLOWED = "DELTA_ADDING_DELETION_VECTORS_DISALLOWED", "0A000", Other, [];
    ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED = "DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED", "42000", Analysis, [];
    AMBIGUOUS_PATHS_IN_CREATE_TABLE = "DELTA_AMBIGUOUS_PATHS_IN_CREATE_TABLE", "42613", Analysis, [identifier, location, config];
    CANNOT_DROP_CHECK_CONSTRAINT_FEATURE = "DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE", "0AKDE", Analysis, [constraints];
    CANNOT_MODIFY_APPEND_ONLY = "DELTA_CANNOT_MODIFY_APPEND_ONLY", "42809", UnsupportedOperation, [table_name = path, config];
    CANNOT_MODIFY_TABLE_PROPERTY = "DELTA_CANNOT_MODIFY_TABLE_PROPERTY", "42939", UnsupportedOperation, [prop];
    CANNOT_RESTORE_TABLE_VERSION = "DELTA_CANNOT_RESTORE_TABLE_VERSION", "22003", Analysis, [version = version, startVersion = earliest, endVersion = latest];
    CANNOT_RESTORE_TIMESTAMP_EARLIER = "DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER", "22003", Analysis, [requestedTimestamp = timestamp, earliestTimestamp = earliest];
    CANNOT_RESTORE_TIMESTAMP_GREATER = "DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER", "22003", Analysis, [requestedTimestamp = timestamp, latestTimestamp = latest];
    CANNOT_SET_LOCATION_ON_PATH_IDENTIFIER = "DELTA_CANNOT_SET_LOCATION_ON_PATH_IDENTIFIER", "42613", Analysis, [];
    CANNOT_USE_ALL_COLUMNS_FOR_PARTITION = "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION", "428FT", Analysis, [];
    CANNOT_WRITE_EMPTY_SCHEMA_STRUCT_ALL_VOID_FIELDS = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.STRUCT_ALL_VOID_FIELDS", "428GU", Analysis, [columnPath];
    CANNOT_WRITE_EMPTY_SCHEMA_STRUCT_NO_FIELDS = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.STRUCT_NO_FIELDS", "428GU", Analysis, [columnPath];
    CANNOT_WRITE_EMPTY_SCHEMA_TABLE_ALL_VOID_COLUMNS = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS", "428GU", Analysis, [];
    CANNOT_WRITE_EMPTY_SCHEMA_TABLE_NO_COLUMNS = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_NO_COLUMNS", "428GU", Analysis, [];
    CAST_OVERFLOW_IN_TABLE_WRITE = "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE", "22003", Arithmetic, [sourceType, targetType, columnName];
    CDC_NON_CONSTANT_ARGUMENT = "DELTA_CDC_NON_CONSTANT_ARGUMENT", "42K0H", Analysis, [argumentName, pos, functionName, sqlExpr];
    CDC_READ_NULL_RANGE_BOUNDARY = "DELTA_CDC_READ_NULL_RANGE_BOUNDARY", "22004", IllegalArgument, [];
    CDC_START_VERSION_AFTER_LATEST = "DELTA_CDC_START_VERSION_AFTER_LATEST", "22003", IllegalArgument, [start, latest];
    CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA = "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA", "0AKDC", UnsupportedOperation, [start = start, end = end, readSchema, readVersion = read_version, incompatibleVersion, config];
    CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE = "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE", "0AKDC", UnsupportedOperation, [start = start, end = end, readSchema, readVersion = read_version, incompatibleVersion];
    CLONE_AMBIGUOUS_TARGET = "DELTA_CLONE_AMBIGUOUS_TARGET", "42613", IllegalArgument, [externalLocation, targetIdentifier];
    CLONE_UNSUPPORTED_SOURCE = "DELTA_CLONE_UNSUPPORTED_SOURCE", "0AKDC", Analysis, [name, format];
    CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED = "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED", "0A000", Analysis, [columnsWithDataTypes];
    CLUSTERING_COLUMN_MISSING_STATS = "DELTA_CLUSTERING_COLUMN_MISSING_STATS", "22000", Analysis, [columns, schema];
    CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE = "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE", "42000", Analysis, [];
    CLUSTERING_WITH_PARTITION_PREDICATE = "DELTA_CLUSTERING_WITH_PARTITION_PREDICATE", "0A000", Other, [predicates];
    CLUSTERING_WITH_ZORDER_BY = "DELTA_CLUSTERING_WITH_ZORDER_BY", "42613", Analysis, [zOrderBy];
    CLUSTER_BY_INVALID_NUM_COLUMNS = "DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS", "54000", Analysis, [numColumnsLimit, actualNumColumns];
    CLUSTER_BY_WITH_PARTITIONED_BY = "DELTA_CLUSTER_BY_WITH_PARTITIONED_BY", "42613", Analysis, [];
    COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN", "0AKDC", IllegalArgument, [column];
    COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE", "0AKDC", IllegalArgument, [column, type];
    COLUMN_NOT_FOUND_IN_SCHEMA = "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", "42703", Analysis, [columnName, tableSchema];
    COLUMN_PATH_NOT_NESTED = "DELTA_COLUMN_PATH_NOT_NESTED", "42704", Analysis, [columnPath, other, column, schema];
    COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE = "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE", "22005", Analysis, [columName, dataType];
    CONCURRENT_APPEND = "DELTA_CONCURRENT_APPEND.WITHOUT_HINT", "2D521", Other, [operation = winner, tableName = path, version = version];
    CONCURRENT_DELETE_DELETE = "DELTA_CONCURRENT_DELETE_DELETE.WITHOUT_HINT", "2D521", Other, [operation = winner, tableName = path, version = version];
    CONCURRENT_DELETE_READ = "DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT", "2D521", Other, [operation = winner, tableName = path, version = version];
    CONCURRENT_TRANSACTION = "DELTA_CONCURRENT_TRANSACTION", "2D521", Other, [conflictingCommit, docLink];
    CONCURRENT_WRITE = "DELTA_CONCURRENT_WRITE", "2D521", Other, [conflictingCommit, docLink];
    CONFLICT_SET_COLUMN = "DELTA_CONFLICT_SET_COLUMN", "42701", Analysis, [columnList];
    CONSTRAINT_ALREADY_EXISTS = "DELTA_CONSTRAINT_ALREADY_EXISTS", "42710", Analysis, [constraintName, oldConstraint];
    CONSTRAINT_DATA_TYPE_MISMATCH = "DELTA_CONSTRAINT_DATA_TYPE_MISMATCH", "42K09", Analysis, [columnName, columnType, dataType, constraints];
    CONSTRAINT_DEPENDENT_COLUMN_CHANGE = "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE", "42K09", Analysis, [columnName, constraints];
    CONSTRAINT_DOES_NOT_EXIST = "DELTA_CONSTRAINT_DOES_NOT_EXIST", "42704", Analysis, [constraintName, tableName, config, confValue];
    CONVERSION_UNSUPPORTED_COLUMN_MAPPING = "DELTA_CONVERSION_UNSUPPORTED_COLUMN_MAPPING", "0AKDC", UnsupportedOperation, [config, mode];
    CONVERT_METASTORE_METADATA_MISMATCH = "DELTA_CONVERT_METASTORE_METADATA_MISMATCH", "42K03", Analysis, [tableProperties, configuration, metadataCheckSqlConf];
    CONVERT_NON_PARQUET_TABLE = "DELTA_CONVERT_NON_PARQUET_TABLE", "0AKDC", Analysis, [sourceName, tableId];
    CREATE_EXTERNAL_TABLE_WITHOUT_TXN_LOG = "DELTA_CREATE_EXTERNAL_TABLE_WITHOUT_TXN_LOG", "42K03", Analysis, [tableName, path, logPath, docLink];
    CREATE_TABLE_MISSING_TABLE_NAME_OR_LOCATION = "DELTA_CREATE_TABLE_MISSING_TABLE_NAME_OR_LOCATION", "42601", Analysis, [];
    CREATE_TABLE_SCHEME_MISMATCH = "DELTA_CREATE_TABLE_SCHEME_MISMATCH", "42KD7", Analysis, [path = path, specifiedSchema, existingSchema, schemaDifferences];
    CREATE_TABLE_WITH_DIFFERENT_CLUSTERING = "DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING", "42KD7", Analysis, [path = path, specifiedColumns, existingColumns];
    CREATE_TABLE_WITH_DIFFERENT_PARTITIONING = "DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING", "42KD7", Analysis, [path = path, specifiedColumns, existingColumns];
    CREATE_TABLE_WITH_DIFFERENT_PROPERTY = "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY", "42KD7", Analysis, [path = path, specifiedProperties, existingProperties];
    CREATE_TABLE_WITH_NON_EMPTY_LOCATION = "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "42601", Analysis, [tableId, tableLocation];
    DELETION_VECTOR_CHECKSUM_MISMATCH = "DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH", "XXKDS", Other, [];
    DELETION_VECTOR_INVALID_ROW_INDEX = "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX", "XXKDS", Other, [];
    DELETION_VECTOR_SIZE_MISMATCH = "DELTA_DELETION_VECTOR_SIZE_MISMATCH", "XXKDS", Other, [];
    DFV2_CREATE_REPLACE_INCOMPATIBLE_REPLACE_ON_OR_USING = "DELTA_DFV2_CREATE_REPLACE_INCOMPATIBLE_REPLACE_ON_OR_USING", "42000", Analysis, [];
    DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA = "DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA", "0AKDC", Analysis, [schema];
    DUPLICATE_COLUMNS_FOUND_CLUSTER_BY = "DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY", "42711", Analysis, [duplicateCols];
    DUPLICATE_COLUMNS_FOUND_DATA = "DELTA_DUPLICATE_COLUMNS_FOUND.DATA", "42711", Analysis, [duplicateCols];
    DUPLICATE_COLUMNS_ON_INSERT = "DELTA_DUPLICATE_COLUMNS_ON_INSERT", "42701", Analysis, [];
    DUPLICATE_DATA_SKIPPING_COLUMNS = "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS", "42701", IllegalArgument, [columns];
    DYNAMIC_PARTITION_OVERWRITE_INCOMPATIBLE_REPLACE_ON_OR_USING = "DELTA_DYNAMIC_PARTITION_OVERWRITE_INCOMPATIBLE_REPLACE_ON_OR_USING", "42613", IllegalArgument, [];
    EMPTY_DATA = "DELTA_EMPTY_DATA", "428GU", Analysis, [];
    EMPTY_DIRECTORY = "DELTA_EMPTY_DIRECTORY", "42K03", Other, [directory];
    EXCEED_CHAR_VARCHAR_LIMIT = "DELTA_EXCEED_CHAR_VARCHAR_LIMIT", "22001", Other, [value, expr];
    FAILED_RECOGNIZE_PREDICATE = "DELTA_FAILED_RECOGNIZE_PREDICATE", "42601", Analysis, [predicate = predicate];
    FAILED_TO_MERGE_FIELDS = "DELTA_FAILED_TO_MERGE_FIELDS", "22005", Analysis, [currentField, updateField];
    FEATURES_PROTOCOL_METADATA_MISMATCH = "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH", "KD004", Other, [features];
    FEATURES_REQUIRE_MANUAL_ENABLEMENT = "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT", "42000", Other, [unsupportedFeatures, supportedFeatures];
    FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION = "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION", "55000", Other, [];
    FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD = "DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD", "22KD0", Other, [truncateHistoryLogRetentionPeriod];
    FEATURE_DROP_DEPENDENT_FEATURE = "DELTA_FEATURE_DROP_DEPENDENT_FEATURE", "55000", Other, [feature = feature, dependentFeatures];
    FEATURE_DROP_FEATURE_IS_DELTA_PROPERTY = "DELTA_FEATURE_DROP_FEATURE_IS_DELTA_PROPERTY", "42000", Other, [property = feature];
    FEATURE_DROP_FEATURE_NOT_PRESENT = "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT", "55000", Other, [feature = feature];
    FEATURE_DROP_HISTORICAL_VERSIONS_EXIST = "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST", "22KD0", Other, [feature = feature, logRetentionPeriodKey, logRetentionPeriod, truncateHistoryLogRetentionPeriod];
    FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED = "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED", "42000", Other, [];
    FEATURE_DROP_NONREMOVABLE_FEATURE = "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE", "0AKDC", Other, [feature = feature];
    FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE = "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE", "0AKDC", Other, [feature = feature];
    FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD = "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD", "22KD0", Other, [feature = feature, logRetentionPeriodKey, logRetentionPeriod, truncateHistoryLogRetentionPeriod];
    GENERATED_COLUMNS_DATA_TYPE_MISMATCH = "DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH", "42K09", Analysis, [columnName, columnType, dataType, generatedColumns];
    GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE = "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE", "42K09", Analysis, [columnName, generatedColumns];
    GENERATED_COLUMNS_EXPR_TYPE_MISMATCH = "DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH", "42K09", Analysis, [columnName, expressionType, columnType];
    ICEBERG_COMPAT_VIOLATION_DELETION_VECTORS_SHOULD_BE_DISABLED = "DELTA_ICEBERG_COMPAT_VIOLATION.DELETION_VECTORS_SHOULD_BE_DISABLED", "KD00E", UnsupportedOperation, [version];
    ICEBERG_COMPAT_VIOLATION_REPLACE_TABLE_CHANGE_PARTITION_NAMES = "DELTA_ICEBERG_COMPAT_VIOLATION.REPLACE_TABLE_CHANGE_PARTITION_NAMES", "KD00E", UnsupportedOperation, [version, prevPartitionSpec, newPartitionSpec];
    ICEBERG_COMPAT_VIOLATION_UNSUPPORTED_DATA_TYPE = "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_DATA_TYPE", "KD00E", UnsupportedOperation, [version, dataType, schema];
    ICEBERG_COMPAT_VIOLATION_UNSUPPORTED_TYPE_WIDENING = "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_TYPE_WIDENING", "KD00E", UnsupportedOperation, [version, fieldPath, prevType, newType];
    ICEBERG_COMPAT_VIOLATION_VERSION_MUTUAL_EXCLUSIVE = "DELTA_ICEBERG_COMPAT_VIOLATION.VERSION_MUTUAL_EXCLUSIVE", "KD00E", UnsupportedOperation, [version];
    ICEBERG_COMPAT_VIOLATION_WRONG_REQUIRED_TABLE_PROPERTY = "DELTA_ICEBERG_COMPAT_VIOLATION.WRONG_REQUIRED_TABLE_PROPERTY", "KD00E", UnsupportedOperation, [version, key, requiredValue, actualValue];
    IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED = "DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED", "429BQ", Analysis, [];
    IDENTITY_COLUMNS_ALTER_NON_DELTA_FORMAT = "DELTA_IDENTITY_COLUMNS_ALTER_NON_DELTA_FORMAT", "0AKDD", Analysis, [];
    IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN = "DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN", "429BQ", Analysis, [];
    IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED = "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED", "42808", Analysis, [colName];
    IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED = "DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED", "42601", Analysis, [colName];
    IDENTITY_COLUMNS_REPLACE_COLUMN_NOT_SUPPORTED = "DELTA_IDENTITY_COLUMNS_REPLACE_COLUMN_NOT_SUPPORTED", "429BQ", Analysis, [];
    IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE = "DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE", "428H2", UnsupportedOperation, [dataType];
    IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED = "DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED", "42808", Analysis, [colName];
    ILLEGAL_OPTION = "DELTA_ILLEGAL_OPTION", "42616", IllegalArgument, [input, name = argument, explain];
    ILLEGAL_USAGE = "DELTA_ILLEGAL_USAGE", "42601", IllegalArgument, [option, operation];
    INCOMPATIBLE_DATAFRAME_OPTIONS = "DELTA_INCOMPATIBLE_DATAFRAME_OPTIONS", "42613", IllegalArgument, [firstDeltaOption, secondDeltaOption];
    INSERT_COLUMN_ARITY_MISMATCH = "DELTA_INSERT_COLUMN_ARITY_MISMATCH", "42802", Analysis, [tableName, columnName, numColumns, insertColumns];
    INSERT_COLUMN_MISMATCH = "DELTA_INSERT_COLUMN_MISMATCH", "42802", Analysis, [columnName];
    INSERT_REPLACE_ON_AMBIGUOUS_COLUMNS_IN_CONDITION = "DELTA_INSERT_REPLACE_ON_AMBIGUOUS_COLUMNS_IN_CONDITION", "42702", Analysis, [columnNames];
    INSERT_REPLACE_ON_UNRESOLVED_COLUMNS_IN_CONDITION = "DELTA_INSERT_REPLACE_ON_UNRESOLVED_COLUMNS_IN_CONDITION", "42703", Analysis, [columnNames];
    INVALID_CDC_RANGE = "DELTA_INVALID_CDC_RANGE", "22003", IllegalArgument, [start, end];
    INVALID_CHARACTERS_IN_COLUMN_NAMES = "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", "42K05", Analysis, [invalidColumnNames];
    INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING = "DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING", "42K05", Analysis, [invalidColumnNames];
    INVALID_FORMAT_FROM_SOURCE_VERSION = "DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION", "XXKDS", Other, [expectedVersion, realVersion];
    INVALID_CONSTRAINT_NAME = "DELTA_INVALID_CONSTRAINT_NAME", "42939", Analysis, [name];
    INVALID_IDEMPOTENT_WRITES_OPTIONS = "DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS", "42616", IllegalArgument, [reason = reason];
    INVALID_INVENTORY_SCHEMA = "DELTA_INVALID_INVENTORY_SCHEMA", "42000", Analysis, [expectedSchema];
    INVALID_INTERVAL = "DELTA_INVALID_INTERVAL", "22006", IllegalArgument, [interval];
    INVALID_ISOLATION_LEVEL = "DELTA_INVALID_ISOLATION_LEVEL", "25000", IllegalArgument, [isolationLevel];
    INVALID_PARTITION_COLUMN_TYPE = "DELTA_INVALID_PARTITION_COLUMN_TYPE", "42996", Analysis, [name, dataType];
    INVALID_PROTOCOL_VERSION = "DELTA_INVALID_PROTOCOL_VERSION", "KD004", Other, [tableNameOrPath = path, readerRequired, writerRequired, deltaVersion, supportedReaders, supportedWriters];
    INVALID_SOURCE_OFFSET_FORMAT = "DELTA_INVALID_SOURCE_OFFSET_FORMAT", "XXKDS", Other, [];
    INVALID_SOURCE_VERSION = "DELTA_INVALID_SOURCE_VERSION", "XXKDS", Other, [version];
    MAX_COMMIT_RETRIES_EXCEEDED = "DELTA_MAX_COMMIT_RETRIES_EXCEEDED", "40000", Other, [numAttempts, startVersion, failVersion, numActions, timeSpent];
    MERGE_INTO_EMPTY_SCHEMA_TARGET = "DELTA_MERGE_INTO_EMPTY_SCHEMA_TARGET", "428GU", Analysis, [];
    MERGE_MISSING_WHEN = "DELTA_MERGE_MISSING_WHEN", "42601", Analysis, [];
    MERGE_UNRESOLVED_EXPRESSION = "DELTA_MERGE_UNRESOLVED_EXPRESSION", "42601", Analysis, [sqlExpr, clause, cols];
    METADATA_ABSENT_EXISTING_CATALOG_TABLE = "DELTA_METADATA_ABSENT_EXISTING_CATALOG_TABLE", "42K03", Other, [tableName, tablePath, tableNameForDropCmd];
    METADATA_CHANGED = "DELTA_METADATA_CHANGED", "2D521", Other, [tableName = path, conflictingCommit, docLink];
    METADATA_MISMATCH = "DELTA_METADATA_MISMATCH", "42KDG", Analysis, [];
    MISSING_CHANGE_DATA = "DELTA_MISSING_CHANGE_DATA", "KD002", Analysis, [startVersion = start, endVersion = end, version = version, key];
    MISSING_COMMIT_INFO = "DELTA_MISSING_COMMIT_INFO", "KD004", Other, [featureName, version = version];
    MISSING_COMMIT_TIMESTAMP = "DELTA_MISSING_COMMIT_TIMESTAMP", "KD004", Other, [featureName, version = version];
    MISSING_DELTA_TABLE = "DELTA_MISSING_DELTA_TABLE", "42P01", Analysis, [tableName = path];
    MISSING_FILES_UNEXPECTED_VERSION = "DELTA_MISSING_FILES_UNEXPECTED_VERSION", "42K03", Other, [startVersion = version, earliestVersion, option];
    MISSING_NOT_NULL_COLUMN_VALUE = "DELTA_MISSING_NOT_NULL_COLUMN_VALUE", "23502", Other, [columnName];
    MISSING_PROVIDER_FOR_CONVERT = "DELTA_MISSING_PROVIDER_FOR_CONVERT", "0AKDC", Analysis, [path];
    MODE_NOT_SUPPORTED = "DELTA_MODE_NOT_SUPPORTED", "0AKDC", IllegalArgument, [mode, supportedModes];
    MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", "21506", UnsupportedOperation, [usageReference];
    NEW_CHECK_CONSTRAINT_VIOLATION = "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", "23512", Analysis, [numRows, tableName = path, checkConstraint = expression];
    NON_BOOLEAN_CHECK_CONSTRAINT = "DELTA_NON_BOOLEAN_CHECK_CONSTRAINT", "42621", Analysis, [name, expr];
    NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT = "DELTA_NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT", "42621", Analysis, [expr];
    NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED = "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED", "0AKDC", Analysis, [operation, expression];
    NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION = "DELTA_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION", "42601", Analysis, [];
    NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION = "DELTA_NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION", "42601", Analysis, [];
    NON_LAST_NOT_MATCHED_CLAUSE_OMIT_CONDITION = "DELTA_NON_LAST_NOT_MATCHED_CLAUSE_OMIT_CONDITION", "42601", Analysis, [];
    NON_PARTITION_COLUMN_ABSENT = "DELTA_NON_PARTITION_COLUMN_ABSENT", "KD005", Analysis, [];
    NON_PARTITION_COLUMN_REFERENCE = "DELTA_NON_PARTITION_COLUMN_REFERENCE", "42P10", Analysis, [columnName, columnList];
    NOT_A_DELTA_TABLE = "DELTA_NOT_A_DELTA_TABLE", "0AKDD", Analysis, [tableName];
    NOT_NULL_CONSTRAINT_VIOLATED = "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "23502", Other, [columnName];
    NO_START_FOR_CDC_READ = "DELTA_NO_START_FOR_CDC_READ", "42601", Analysis, [];
    NULL_SCHEMA_IN_STREAMING_WRITE = "DELTA_NULL_SCHEMA_IN_STREAMING_WRITE", "42P18", Analysis, [];
    ONEOF_IN_TIMETRAVEL = "DELTA_ONEOF_IN_TIMETRAVEL", "42601", IllegalArgument, [];
    ONLY_OPERATION = "DELTA_ONLY_OPERATION", "0AKDD", Analysis, [operation];
    OPERATION_NOT_ALLOWED = "DELTA_OPERATION_NOT_ALLOWED", "0AKDC", Analysis, [operation];
    OPERATION_NOT_ALLOWED_DETAIL = "DELTA_OPERATION_NOT_ALLOWED_DETAIL", "0AKDC", Analysis, [operation, tableName];
    OPTIMIZE_FULL_NOT_SUPPORTED = "DELTA_OPTIMIZE_FULL_NOT_SUPPORTED", "42601", Other, [];
    OVERWRITE_BY_FILTER_INCOMPATIBLE_REPLACE_ON_OR_USING = "DELTA_OVERWRITE_BY_FILTER_INCOMPATIBLE_REPLACE_ON_OR_USING", "42613", IllegalArgument, [];
    PARTITION_COLUMN_NOT_FOUND = "DELTA_PARTITION_COLUMN_NOT_FOUND", "42703", Analysis, [columnName, schemaMap];
    PATH_DOES_NOT_EXIST = "DELTA_PATH_DOES_NOT_EXIST", "42K03", Analysis, [path = path];
    PATH_EXISTS = "DELTA_PATH_EXISTS", "42K04", Analysis, [path = path];
    PROTOCOL_CHANGED = "DELTA_PROTOCOL_CHANGED", "2D521", Other, [additionalInfo, conflictingCommit, docLink];
    PROTOCOL_PROPERTY_NOT_INT = "DELTA_PROTOCOL_PROPERTY_NOT_INT", "42K06", IllegalArgument, [key, value];
    READ_SOURCE_SCHEMA_CONFLICT = "DELTA_READ_SOURCE_SCHEMA_CONFLICT", "42K07", Analysis, [];
    READ_TABLE_WITHOUT_COLUMNS = "DELTA_READ_TABLE_WITHOUT_COLUMNS", "428GU", Analysis, [tableName];
    REGEX_OPT_SYNTAX_ERROR = "DELTA_REGEX_OPT_SYNTAX_ERROR", "2201B", IllegalArgument, [regExpOption];
    REPLACE_ON_OR_USING_TABLE_CONSTRAINT_VIOLATION = "DELTA_REPLACE_ON_OR_USING_TABLE_CONSTRAINT_VIOLATION", "44000", Analysis, [replaceExpression, invariantViolationMessage];
    REPLACE_WHERE_MISMATCH = "DELTA_REPLACE_WHERE_MISMATCH", "44000", Analysis, [replaceWhere = predicate, message = row];
    REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE = "DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE", "42613", IllegalArgument, [];
    REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET = "DELTA_REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET", "42613", Analysis, [dataFilters];
    ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION = "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION", "55000", Other, [property1, property2];
    SCHEMA_CHANGED_WITH_VERSION = "DELTA_SCHEMA_CHANGED_WITH_VERSION", "KD007", Other, [version = version, readSchema, dataSchema];
    SCHEMA_CHANGE_SINCE_ANALYSIS = "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS", "KD007", Analysis, [schemaDiff = columns, legacyFlagMessage];
    SCHEMA_NOT_PROVIDED = "DELTA_SCHEMA_NOT_PROVIDED", "42908", Analysis, [];
    SCHEMA_NOT_SET = "DELTA_SCHEMA_NOT_SET", "KD008", Analysis, [];
    SHOW_PARTITION_IN_NON_PARTITIONED_COLUMN = "DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_COLUMN", "42P10", Analysis, [badCols];
    SHOW_PARTITION_IN_NON_PARTITIONED_TABLE = "DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE", "42809", Analysis, [tableName];
    SOURCE_IGNORE_DELETE = "DELTA_SOURCE_IGNORE_DELETE", "0A000", UnsupportedOperation, [removedFile = cause, version = version, dataPath = path];
    SOURCE_TABLE_IGNORE_CHANGES = "DELTA_SOURCE_TABLE_IGNORE_CHANGES", "0A000", UnsupportedOperation, [changeInfo = cause, version = version, dataPath = path];
    STARTING_VERSION_AND_TIMESTAMP_BOTH_SET = "DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET", "42613", IllegalArgument, [version, timestamp];
    STATE_RECOVER_ERROR = "DELTA_STATE_RECOVER_ERROR", "XXKDS", Other, [operation = action, version = version];
    STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION = "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION", "KD002", Other, [opType, previousSchemaChangeVersion, currentSchemaChangeVersion = version, columnChangeDetails, unblockChangeOptions, unblockStreamOptions, unblockChangeConfs, unblockStreamConfs, unblockAllConfs];
    STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG", "42KD4", UnsupportedOperation, [docLink, readSchema, incompatibleSchema];
    STREAMING_METADATA_EVOLUTION = "DELTA_STREAMING_METADATA_EVOLUTION", "22000", Other, [schema, config, protocol];
    STREAMING_SCHEMA_LOCATION_CONFLICT = "DELTA_STREAMING_SCHEMA_LOCATION_CONFLICT", "22000", Analysis, [loc, table];
    STREAMING_SCHEMA_LOCATION_NOT_UNDER_CHECKPOINT = "DELTA_STREAMING_SCHEMA_LOCATION_NOT_UNDER_CHECKPOINT", "22000", Analysis, [schemaTrackingLocation, checkpointLocation];
    STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED = "DELTA_STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED", "22000", Other, [location];
    STREAMING_SCHEMA_LOG_INCOMPATIBLE_DELTA_TABLE_ID = "DELTA_STREAMING_SCHEMA_LOG_INCOMPATIBLE_DELTA_TABLE_ID", "22000", Analysis, [persistedId, tableId];
    STREAMING_SCHEMA_LOG_INIT_FAILED_INCOMPATIBLE_METADATA = "DELTA_STREAMING_SCHEMA_LOG_INIT_FAILED_INCOMPATIBLE_METADATA", "22000", Other, [a, b];
    STREAMING_SCHEMA_LOG_PARSE_SCHEMA_FAILED = "DELTA_STREAMING_SCHEMA_LOG_PARSE_SCHEMA_FAILED", "22000", Other, [];
    STREAMING_TRAILING_COMMIT_MISSING = "DELTA_STREAMING_TRAILING_COMMIT_MISSING", "42K03", Other, [expectedVersion, seenVersion];
    TABLE_ALREADY_CONTAINS_CDC_COLUMNS = "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS", "42711", Other, [columnList];
    TABLE_ALREADY_EXISTS = "DELTA_TABLE_ALREADY_EXISTS", "42P07", Analysis, [tableName];
    TABLE_NOT_FOUND = "DELTA_TABLE_NOT_FOUND", "42P01", Analysis, [tableName = path];
    TABLE_LOCATION_MISMATCH = "DELTA_TABLE_LOCATION_MISMATCH", "42613", Analysis, [tableName, existingTableLocation, tableLocation];
    TABLE_ONLY_OPERATION = "DELTA_TABLE_ONLY_OPERATION", "0AKDD", Analysis, [tableName = path, operation];
    TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION = "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", "42816", Analysis, [userTimestamp = timestamp, commitTs = earliest, timestampString = earliest];
    TIMESTAMP_GREATER_THAN_COMMIT = "DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "42816", Analysis, [providedTimestamp = timestamp, lastCommitTimestamp = latest, maximumTimestamp = latest];
    TIMESTAMP_INVALID = "DELTA_TIMESTAMP_INVALID", "42816", Analysis, [expr];
    TIME_TRAVEL_INVALID_BEGIN_VALUE = "DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE", "42604", IllegalArgument, [timeTravelKey = argument];
    TRUNCATED_TRANSACTION_LOG = "DELTA_TRUNCATED_TRANSACTION_LOG", "42K03", Other, [path = path, version = version, logRetentionKey, logRetention, checkpointRetentionKey, checkpointRetention];
    UDF_IN_CHECK_CONSTRAINT = "DELTA_UDF_IN_CHECK_CONSTRAINT", "42621", Analysis, [expr];
    UDF_IN_GENERATED_COLUMN = "DELTA_UDF_IN_GENERATED_COLUMN", "42621", Analysis, [udfExpr];
    UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME = "DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME", "KD009", Analysis, [expectedColsSize, expectedCols, parsedColsSize, parsedCols, path];
    UNEXPECTED_PARTIAL_SCAN = "DELTA_UNEXPECTED_PARTIAL_SCAN", "KD00A", Analysis, [path];
    TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED = "DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED", "0AKDC", Analysis, [];
    UNEXPECTED_PARTITION_SCHEMA_FROM_USER = "DELTA_UNEXPECTED_PARTITION_SCHEMA_FROM_USER", "KD009", Analysis, [catalogPartitionSchema, userPartitionSchema];
    UNKNOWN_CONFIGURATION = "DELTA_UNKNOWN_CONFIGURATION", "F0000", Analysis, [config = argument, disableCheckConfig];
    UNSET_NON_EXISTENT_PROPERTY = "DELTA_UNSET_NON_EXISTENT_PROPERTY", "42616", Analysis, [property, tableName];
    UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP = "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "0AKDC", Analysis, [fieldPath, oldField, newField];
    UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP = "DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP", "0AKDC", Analysis, [details = reason, oldSchema, newSchema];
    UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE = "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE", "0AKDC", UnsupportedOperation, [oldMode, newMode];
    UNSUPPORTED_COMMENT_MAP_ARRAY = "DELTA_UNSUPPORTED_COMMENT_MAP_ARRAY", "0AKDC", Analysis, [fieldPath];
    UNSUPPORTED_DATA_TYPES = "DELTA_UNSUPPORTED_DATA_TYPES", "0AKDC", Analysis, [dataTypeList, config];
    UNSUPPORTED_DROP_CLUSTERING_COLUMN = "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN", "0AKDC", Analysis, [columnList];
    UNSUPPORTED_DROP_COLUMN = "DELTA_UNSUPPORTED_DROP_COLUMN", "0AKDC", Analysis, [advice = reason];
    UNSUPPORTED_DROP_NESTED_COLUMN_FROM_NON_STRUCT_TYPE = "DELTA_UNSUPPORTED_DROP_NESTED_COLUMN_FROM_NON_STRUCT_TYPE", "0AKDC", Analysis, [struct];
    UNSUPPORTED_DROP_PARTITION_COLUMN = "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN", "0AKDC", Analysis, [columnList];
    UNSUPPORTED_EXPRESSION = "DELTA_UNSUPPORTED_EXPRESSION", "0A000", Analysis, [expType, causedBy, supportedTypes];
    UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT = "DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT", "42621", Analysis, [expression];
    DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN = "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN", "42621", Analysis, [expression];
    UNSUPPORTED_FEATURES_FOR_READ = "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "56038", Other, [tableNameOrPath = path, deltaVersion, unsupported = features];
    UNSUPPORTED_FEATURES_FOR_WRITE = "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "56038", Other, [tableNameOrPath = path, deltaVersion, unsupported = features];
    UNSUPPORTED_FEATURES_IN_CONFIG = "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", "56038", Other, [configs];
    UNSUPPORTED_FEATURE_STATUS = "DELTA_UNSUPPORTED_FEATURE_STATUS", "0AKDE", Other, [feature, status];
    UNSUPPORTED_NESTED_FIELD_IN_OPERATION = "DELTA_UNSUPPORTED_NESTED_FIELD_IN_OPERATION", "0AKDC", Analysis, [operation, fieldName];
    UNSUPPORTED_NESTED_FIELD_IN_UPDATE = "DELTA_UNSUPPORTED_NESTED_FIELD_IN_UPDATE", "0A000", Analysis, [optionalPrefixMessage];
    UNSUPPORTED_NON_EMPTY_CLONE = "DELTA_UNSUPPORTED_NON_EMPTY_CLONE", "0AKDC", Other, [];
    UNSUPPORTED_OUTPUT_MODE = "DELTA_UNSUPPORTED_OUTPUT_MODE", "0AKDC", Analysis, [dataSource, mode];
    UNSUPPORTED_RENAME_COLUMN = "DELTA_UNSUPPORTED_RENAME_COLUMN", "0AKDC", Analysis, [advice = reason];
    UNSUPPORTED_SOURCE = "DELTA_UNSUPPORTED_SOURCE", "0AKDD", Analysis, [operation];
    UNSUPPORTED_SUBQUERY = "DELTA_UNSUPPORTED_SUBQUERY", "0AKDC", Analysis, [operation, cond];
    UNSUPPORTED_SUBQUERY_IN_PARTITION_PREDICATES = "DELTA_UNSUPPORTED_SUBQUERY_IN_PARTITION_PREDICATES", "0AKDC", Analysis, [];
    UNSUPPORTED_TIME_TRAVEL_VIEWS = "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS", "0AKDC", Analysis, [];
    UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA = "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA", "0AKDC", Other, [fieldName, fromType, toType];
    UPDATE_SCHEMA_MISMATCH_EXPRESSION = "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION", "42846", Analysis, [fromCatalog, toCatalog];
    VACUUM_RETENTION_PERIOD_NEGATIVE = "DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE", "22003", IllegalArgument, [];
    VACUUM_RETENTION_PERIOD_TOO_SHORT = "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT", "22003", IllegalArgument, [configuredRetentionHours];
    VERSIONS_NOT_CONTIGUOUS = "DELTA_VERSIONS_NOT_CONTIGUOUS", "KD00C", Other, [versionList, startVersion, endVersion, versionToLoad];
    VERSION_INVALID = "DELTA_VERSION_INVALID", "42815", Analysis, [version];
    VERSION_NOT_FOUND = "DELTA_VERSION_NOT_FOUND", "22003", Analysis, [userVersion = version, earliest = earliest, latest = latest];
    VIOLATE_CONSTRAINT_WITH_VALUES = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "23001", Other, [constraintName = rule, expression = expression, values = row];
    ZORDERING_COLUMN_DOES_NOT_EXIST = "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST", "42703", IllegalArgument, [columnName];
    ZORDERING_ON_COLUMN_WITHOUT_STATS = "DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS", "KD00D", Analysis, [cols, zorderColStatKey];
    ZORDERING_ON_PARTITION_COLUMN = "DELTA_ZORDERING_ON_PARTITION_COLUMN", "42P10", IllegalArgument, [colName];
    CAST_OVERFLOW_IN_TABLE_INSERT = "CAST_OVERFLOW_IN_TABLE_INSERT", "22003", Arithmetic, [sourceType, targetType, columnName];
    DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE = "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE", "55019", Other, [newTableId = found, oldTableId = expected];
    DIVIDE_BY_ZERO = "DIVIDE_BY_ZERO", "22012", Arithmetic, [config];
    DUPLICATE_CLAUSES = "DUPLICATE_CLAUSES", "42614", Parse, [clauseName];
    EXPECT_TABLE_NOT_VIEW_NO_ALTERNATIVE = "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "42809", Analysis, [viewName, operation];
    FIELD_ALREADY_EXISTS = "FIELD_ALREADY_EXISTS", "42710", Analysis, [op, fieldNames, struct];
    IDENTITY_COLUMNS_ILLEGAL_STEP = "IDENTITY_COLUMNS_ILLEGAL_STEP", "42611", Parse, [];
    INCORRECT_NUMBER_OF_ARGUMENTS = "INCORRECT_NUMBER_OF_ARGUMENTS", "42605", Analysis, [failure, functionName, minArgs, maxArgs];
    INSERT_COLUMN_ARITY_MISMATCH_TOO_MANY_DATA_COLUMNS = "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", "21S01", Analysis, [tableName, tableColumns, dataColumns];
    INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS = "INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS", "42802", Analysis, [misalignedReplaceUsingCols];
    INVALID_DEFAULT_VALUE_NOT_CONSTANT = "INVALID_DEFAULT_VALUE.NOT_CONSTANT", "42623", Analysis, [statement, colName, defaultValue];
    INVALID_DEFAULT_VALUE_SUBQUERY_EXPRESSION = "INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION", "42623", Analysis, [statement, colName, defaultValue];
    INVALID_NON_DETERMINISTIC_EXPRESSIONS = "INVALID_NON_DETERMINISTIC_EXPRESSIONS", "42K0E", Analysis, [sqlExprs = predicate];
    INVALID_PARTITION_COLUMN_DATA_TYPE = "INVALID_PARTITION_COLUMN_DATA_TYPE", "0A000", Analysis, [type];
    INVALID_PARTITION_OPERATION_PARTITION_MANAGEMENT_IS_UNSUPPORTED = "INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED", "42601", Analysis, [name];
    NOT_SUPPORTED_CHANGE_COLUMN = "NOT_SUPPORTED_CHANGE_COLUMN", "0A000", Analysis, [table, originName, originType, newName, newType];
    NOT_SUPPORTED_COMMAND_FOR_V2_TABLE = "NOT_SUPPORTED_COMMAND_FOR_V2_TABLE", "0A000", Analysis, [cmd];
    PARSE_SYNTAX_ERROR = "PARSE_SYNTAX_ERROR", "42601", Parse, [error, hint];
    PATH_NOT_FOUND = "PATH_NOT_FOUND", "42K03", Analysis, [path = path];
    RESERVED_CDC_COLUMNS_ON_WRITE = "RESERVED_CDC_COLUMNS_ON_WRITE", "42939", Other, [columnList, config];
    TABLE_OR_VIEW_ALREADY_EXISTS = "TABLE_OR_VIEW_ALREADY_EXISTS", "42P07", Analysis, [relationName = path];
    TABLE_OR_VIEW_NOT_FOUND = "TABLE_OR_VIEW_NOT_FOUND", "42P01", Analysis, [relationName = path];
    UNRESOLVED_COLUMN_WITH_SUGGESTION = "UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703", Analysis, [objectName, proposal];
    UNRESOLVED_INSERT_REPLACE_USING_COLUMN = "UNRESOLVED_INSERT_REPLACE_USING_COLUMN", "42703", Analysis, [colName, relationType, suggestion];
    UNSUPPORTED_EXPRESSION_GENERATED_COLUMN = "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN", "42621", Analysis, [fieldName, expressionStr, reason];
    UNSUPPORTED_EXPR_FOR_OPERATOR = "UNSUPPORTED_EXPR_FOR_OPERATOR", "42K0E", Analysis, [invalidExprSqls];
    UNSUPPORTED_GENERATOR_OUTSIDE_SELECT = "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", "42K0E", Analysis, [plan];
    WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED = "WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED", "0AKDC", Analysis, [];
    WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED = "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED", "0AKDE", Analysis, [commandType];
}

/// The condition of each kind that is always the same one; `None` where a fact, or the place that raises, says which, if
/// any.
pub const OF_KINDS: &[(&str, Option<&Condition>)] = &[
    ("TableNotFound", Some(&MISSING_DELTA_TABLE)),
    ("TableAlreadyExists", Some(&PATH_EXISTS)),
    ("VersionNotFound", Some(&VERSION_NOT_FOUND)),
    ("TimestampOutOfRange", None),
    ("InvalidTimeTravel", None),
    ("ChangesNotRecorded", Some(&MISSING_CHANGE_DATA)),
    ("ChangesSchemaMismatch", Some(&CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE)),
    ("LogGap", Some(&VERSIONS_NOT_CONTIGUOUS)),
    ("LogCorrupt", None),
    ("MissingAction", Some(&STATE_RECOVER_ERROR)),
    ("UnsupportedFeature", None),
    ("Unsupported", None),
    ("OutsideTable", None),
    ("InvalidSchema", None),
    ("SchemaMismatch", Some(&METADATA_MISMATCH)),
    ("SchemaChanged", Some(&SCHEMA_CHANGE_SINCE_ANALYSIS)),
    ("ReplaceWhereMismatch", Some(&REPLACE_WHERE_MISMATCH)),
    ("InvalidPredicate", None),
    ("InvalidExpression", None),
    ("InvariantViolation", Some(&VIOLATE_CONSTRAINT_WITH_VALUES)),
    ("InvalidArgument", None),
    ("InvalidColumnChange", None),
    ("InvalidFeatureChange", None),
    ("FeatureInHistory", Some(&FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD)),
    ("DataFile", None),
    ("DeletionVector", None),
    ("AppendOnly", Some(&CANNOT_MODIFY_APPEND_ONLY)),
    ("MultipleMatches", Some(&MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE)),
    ("InvalidAction", None),
    ("SourceRowsChanged", None),
    ("SourceSchemaChanged", Some(&SCHEMA_CHANGED_WITH_VERSION)),
    ("SourceDataLost", Some(&MISSING_FILES_UNEXPECTED_VERSION)),
    ("SourceReplaced", Some(&DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE)),
    ("InvalidOffset", Some(&INVALID_SOURCE_OFFSET_FORMAT)),
    ("CommitStateUnknown", None),
    ("Credentials", None),
    ("Storage", None),
    ("NotFound", None),
    ("Arrow", None),
    ("Interrupted", None),
    ("Internal", None),
    ("ConcurrentAppend", Some(&CONCURRENT_APPEND)),
    ("ConcurrentDeleteDelete", Some(&CONCURRENT_DELETE_DELETE)),
    ("ConcurrentDeleteRead", Some(&CONCURRENT_DELETE_READ)),
    ("ConcurrentTransaction", Some(&CONCURRENT_TRANSACTION)),
    ("ConcurrentWrite", Some(&MAX_COMMIT_RETRIES_EXCEEDED)),
    ("MetadataChanged", Some(&METADATA_CHANGED)),
    ("ProtocolChanged", Some(&PROTOCOL_CHANGED)),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::error::Error;

    #[test]
    fn every_kind_is_in_the_table_once() {
        let table: Vec<_> = OF_KINDS.iter().map(|(kind, _)| *kind).collect();
        let kinds: BTreeSet<_> = Error::KINDS.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(table.iter().copied().collect::<BTreeSet<_>>(), kinds);
        assert_eq!(table.len(), kinds.len());
    }

    #[test]
    fn no_condition_is_there_twice() {
        let names: BTreeSet<_> = ALL.iter().map(|condition| condition.name).collect();
        assert_eq!(names.len(), ALL.len());
    }
}
