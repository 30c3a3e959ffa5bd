"""The direct route: Spark's own Parquet writer, in place, with the exact list of what its job committed.

A streaming file sink of Spark writes one batch: its manifest commit protocol writes files where they stay
(no rename, no
shared `_temporary`) and lists what was committed. Every write has a folder of its own in the table, so that
one delete
removes whatever a failed job left, and concurrent writes never meet.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from deltaic.spark.session.jvm import context_loader, finds, java_class, java_method, static_method
from deltaic.spark.session.projection import select_java
from deltaic.spark.session.task_ends import ended_after_failure
from deltaic.spark.write.write_columns import WriteColumn, physical

if TYPE_CHECKING:
    from deltaic.spark.write.options import WriteOptions

# delta's rules for what a data file holds; a cloned session keeps them from the user's
_SETTINGS = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # INT96 has no statistics
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.fieldId.write.enabled": "true",
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.session.timeZone": "UTC",  # the text of partition values
    # a footer has no statistics of texts longer than 4 KiB; of those that it has the log takes the beginning
    "parquet.statistics.truncate.length": "1024",
    "parquet.column.statistics.enabled": "true",
    # of what optimized writes gather, as for delta-spark; nothing else shuffles here by a size that is not given
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "512m",
}
_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
# the second is of Spark from 4.1 on; without it Spark shreds nothing
_SHREDDING = ("spark.sql.variant.writeShredding.enabled", "spark.sql.variant.inferShreddingSchema")
_PATH = "org.apache.hadoop.fs.Path"
_STREAMING = "org.apache.spark.sql.execution.streaming"
# the sink, and what writes its manifest: the default one runs a process of the system for each question about a local
# file; their packages moved in Spark 4.1
_CLASSES = (
    (
        f"{_STREAMING}.sinks.FileStreamSink",
        f"{_STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager",
    ),
    (f"{_STREAMING}.FileStreamSink", f"{_STREAMING}.FileSystemBasedCheckpointFileManager"),
)


def write(df: Any, plan: Any, columns: list[WriteColumn], folder: str, options: WriteOptions) -> list[str]:
    """Writes the rows of `row_rules.table_rows` of a classic session below `folder` of the table.

    Returns the `add` actions of the files.

    Nothing of a failed job is left. Statistics come from the footers.
    """
    gateway = df.sparkSession.sparkContext._gateway
    place = f"{plan.root}/{folder}"
    path = java_class(gateway, _PATH)(java_class(gateway, "java.net.URI")(place))
    loader = context_loader(gateway)
    sink, manager = next((names for names in _CLASSES if finds(loader, names[0])), _CLASSES[0])
    sink_class = static_method(gateway, "java.lang.Class", "forName")(sink, True, loader)
    session = _session(df, plan, options, manager)
    files = path.getFileSystem(session.sessionState().newHadoopConf())
    try:
        with ended_after_failure(df, folder):
            _run(df, session, sink_class, plan, columns, path.toString(), options)
        manifest = java_class(gateway, _PATH)(path, "_spark_metadata")
        listed = _listed(gateway, files, manifest)
        files.delete(manifest, True)
        adds: list[str] = plan.footer_adds(_relative(listed, folder))
        if not adds:
            files.delete(path, True)
    except BaseException:
        files.delete(path, True)
        raise
    return adds


def _session(df: Any, plan: Any, options: WriteOptions, manager: str) -> Any:
    """A session with the settings of this write."""
    session = df._jdf.sparkSession().cloneSession()
    scheme = json.loads(java_method(df.sparkSession, "StoreSettings", "fileSystemOf")(session, plan.root))
    store = {**options.hadoop, **plan.hadoop_settings, **scheme}
    shredding = dict.fromkeys(_SHREDDING, str(plan.shreds_variants).lower())
    for name, value in {**store, **plan.parquet, **_SETTINGS, **shredding, _MANAGER: manager}.items():
        session.conf().set(name, value)
    return session


def _run(
    df: Any,
    session: Any,
    sink_class: Any,
    plan: Any,
    columns: list[WriteColumn],
    path: str,
    options: WriteOptions,
) -> None:
    gateway = df.sparkSession.sparkContext._gateway
    frames = java_class(gateway, "org.apache.spark.sql.classic.Dataset")
    frame = frames.ofRows(session, df._jdf.queryExecution().analyzed())
    stored = physical(columns, plan.partition_columns)
    utils = java_class(gateway, "org.apache.spark.api.python.PythonUtils")
    frame = select_java(df.sparkSession, frame, stored)
    settings = {"compression": plan.compression, "maxRecordsPerFile": options.max_records_per_file}
    arguments = (
        session,
        path,
        java_class(gateway, "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat")(),
        utils.toSeq(plan.partition_columns),
        utils.toScalaMap({k: str(v) for k, v in settings.items() if v is not None}),
    )
    array = gateway.new_array(java_class(gateway, "java.lang.Object"), len(arguments))
    for i, argument in enumerate(arguments):
        array[i] = argument
    sink = sink_class.getConstructors()[0].newInstance(array)
    java_method(df.sparkSession, "WriteExecution", "addBatch")(sink, frame, df._jdf.sparkSession())


def _listed(gateway: Any, files: Any, manifest: Any) -> list[dict[str, Any]]:
    log = java_class(gateway, _PATH)(manifest, "0")
    stream = files.open(log)
    try:
        text = bytes(stream.readAllBytes()).decode()
    finally:
        stream.close()
    version, *lines = text.splitlines()
    if version != "v1":
        raise RuntimeError(f"the manifest of Spark's file sink has format {version}, which is not known")
    return [json.loads(line) for line in lines]


def _relative(listed: list[dict[str, Any]], folder: str) -> list[str]:
    """Paths relative to the table, decoded.

    All lie below the folder, whose name is unique: no need to compare how Spark spells the root.
    """
    paths = [unquote(entry["path"]) for entry in listed]
    return [path[path.rindex(f"/{folder}/") + 1 :] for path in paths]
