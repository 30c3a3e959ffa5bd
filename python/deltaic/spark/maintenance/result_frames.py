"""DataFrames of results, with the columns and types of delta-spark."""

from __future__ import annotations

from typing import Any

from pyspark.sql import types as T  # noqa: N812 (its usual name)

_TEXTS = T.MapType(T.StringType(), T.StringType())
_NAMES = T.ArrayType(T.StringType())


def _struct(*fields: tuple[str, Any], nullable: bool = True) -> T.StructType:
    return T.StructType([T.StructField(name, data_type, nullable) for name, data_type in fields])


def _texts(*names: str) -> T.StructType:
    return _struct(*((name, T.StringType()) for name in names))


def _longs(*names: str, nullable: bool = False) -> T.StructType:
    return _struct(*((name, T.LongType()) for name in names), nullable=nullable)


_SIZES = T.StructType(
    [
        *_longs("min", "max", nullable=True).fields,
        T.StructField("avg", T.DoubleType(), False),
        *_longs("totalFiles", "totalSize").fields,
    ]
)
_CUBE_FILES, _Z_CUBE_FILES = _longs("num", "size"), _longs("numFiles", "size")
_Z_ORDER = T.StructType(
    [
        T.StructField("strategyName", T.StringType()),
        T.StructField("inputCubeFiles", _CUBE_FILES),
        T.StructField("inputOtherFiles", _CUBE_FILES),
        *_longs("inputNumCubes").fields,
        T.StructField("mergedFiles", _CUBE_FILES),
        *_longs("numOutputCubes").fields,
        *_longs("mergedNumCubes", nullable=True).fields,
    ]
)
_CLUSTERING = T.StructType(
    [
        T.StructField("inputZCubeFiles", _Z_CUBE_FILES),
        T.StructField("inputOtherFiles", _Z_CUBE_FILES),
        *_longs("inputNumZCubes").fields,
        T.StructField("mergedFiles", _Z_CUBE_FILES),
        *_longs("numOutputZCubes").fields,
    ]
)
_PARALLELISM = _longs(
    "maxClusterActiveParallelism",
    "minClusterActiveParallelism",
    "maxSessionActiveParallelism",
    "minSessionActiveParallelism",
    nullable=True,
)

HISTORY = _struct(
    ("version", T.LongType()),
    ("timestamp", T.TimestampType()),
    ("userId", T.StringType()),
    ("userName", T.StringType()),
    ("operation", T.StringType()),
    ("operationParameters", _TEXTS),
    ("job", _texts("jobId", "jobName", "jobRunId", "runId", "jobOwnerId", "triggerType")),
    ("notebook", _texts("notebookId")),
    ("clusterId", T.StringType()),
    ("readVersion", T.LongType()),
    ("isolationLevel", T.StringType()),
    ("isBlindAppend", T.BooleanType()),
    ("operationMetrics", _TEXTS),
    ("userMetadata", T.StringType()),
    ("engineInfo", T.StringType()),
)
"""A row a commit."""

DETAIL = _struct(
    ("format", T.StringType()),
    ("id", T.StringType()),
    ("name", T.StringType()),
    ("description", T.StringType()),
    ("location", T.StringType()),
    ("createdAt", T.TimestampType()),
    ("lastModified", T.TimestampType()),
    ("partitionColumns", _NAMES),
    ("clusteringColumns", _NAMES),
    ("numFiles", T.LongType()),
    ("sizeInBytes", T.LongType()),
    ("properties", _TEXTS),
    ("minReaderVersion", T.IntegerType()),
    ("minWriterVersion", T.IntegerType()),
    ("tableFeatures", _NAMES),
)
"""The one row of a table."""

RESTORE = _longs(
    "table_size_after_restore",
    "num_of_files_after_restore",
    "num_removed_files",
    "num_restored_files",
    "removed_files_size",
    "restored_files_size",
    nullable=True,
)
"""The one row of a restore."""

OPTIMIZE_METRICS = T.StructType(
    [
        *_longs("numFilesAdded", "numFilesRemoved").fields,
        T.StructField("filesAdded", _SIZES),
        T.StructField("filesRemoved", _SIZES),
        *_longs("partitionsOptimized").fields,
        T.StructField("zOrderStats", _Z_ORDER),
        T.StructField("clusteringStats", _CLUSTERING),
        *_longs("numBins", "numBatches", "totalConsideredFiles", "totalFilesSkipped").fields,
        T.StructField("preserveInsertionOrder", T.BooleanType(), False),
        *_longs(
            "numFilesSkippedToReduceWriteAmplification",
            "numBytesSkippedToReduceWriteAmplification",
            "startTimeMs",
            "endTimeMs",
            "totalClusterParallelism",
            "totalScheduledTasks",
        ).fields,
        T.StructField("autoCompactParallelismStats", _PARALLELISM),
        T.StructField(
            "deletionVectorStats", _longs("numDeletionVectorsRemoved", "numDeletionVectorRowsRemoved")
        ),
        *_longs("numTableColumns", "numTableColumnsWithStats").fields,
    ]
)
OPTIMIZE = _struct(("path", T.StringType()), ("metrics", OPTIMIZE_METRICS))
"""The one row of an optimize."""

NOTHING = T.StructType([])
"""No rows and no columns."""

PATHS = _struct(("path", T.StringType()))
"""A path a row, of a VACUUM in SQL."""

CLONE = _longs(
    "source_table_size",
    "source_num_of_files",
    "num_removed_files",
    "num_copied_files",
    "removed_files_size",
    "copied_files_size",
    nullable=True,
)
"""The one row of a CLONE in SQL."""
