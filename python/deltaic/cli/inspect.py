"""`inspect`: what a table is, on one screen."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from deltaic.cli import output
from deltaic.cli.options import pager_option, table_command
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="What a table is: version, protocol, columns, files.")
@pager_option
@table_command
def inspect(table: Table, *, as_json: bool) -> None:
    """Show version, protocol, columns, properties and files of a table, and the cost of reading its log."""
    with output.progress("reading the log"):
        found = _inspect(table)
    if as_json:
        output.print_json(found)
        return
    protocol, metadata, files = found["protocol"], found["metadata"], found["files"]
    rows: list[tuple[str, object]] = [
        ("table", found["uri"]),
        ("id", metadata["id"]),
        ("name", metadata["name"]),
        ("description", metadata["description"]),
        ("version", found["version"]),
        ("committed", found["timestamp"]),
        ("created", metadata["created_time"]),
        ("protocol", f"reader {protocol['min_reader_version']}, writer {protocol['min_writer_version']}"),
        ("reader features", protocol["reader_features"]),
        ("writer features", protocol["writer_features"]),
        ("columns", len(table.schema)),
        ("partitioned by", metadata["partition_columns"]),
        ("properties", metadata["configuration"]),
        ("files", f"{files['files']:,}"),
        ("bytes", output.size(files["bytes"])),
        (
            "deletion vectors",
            f"{files['deletion_vectors']:,}, deleting {counted(files['deleted_rows'], 'row')}",
        ),
    ]
    log = found["report"]
    rows.append(
        ("log", f"{counted(log['gets'], 'read')}, {output.size(log['bytes'])}, open {log['open_ms']:.1f} ms")
    )
    rows.extend(("ignored", line) for line in log["fallbacks"])
    with output.page() as console:
        console.print(output.facts(rows))


def _inspect(table: Table) -> dict[str, Any]:

    files = table.totals()._asdict()
    return {
        "uri": table.uri,
        "version": table.version,
        "timestamp": table.timestamp,
        "protocol": asdict(table.protocol),
        "metadata": asdict(table.metadata),
        "columns": [asdict(field) for field in table.schema],
        "files": files,
        "report": table.report,
    }
