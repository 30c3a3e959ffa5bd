"""`optimize`: fewer and larger files."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import newest_command
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="Compact small files, and remove deleted rows.")
@click.option(
    "--where", metavar="CONDITION", help="Only the partitions that match, as in \"day = '2026-01-02'\"."
)
@click.option("--target-size", type=click.IntRange(min=1), metavar="BYTES", help="Size of the new files.")
@click.option(
    "--min-size", type=click.IntRange(min=0), metavar="BYTES", help="Compact files below this size."
)
@click.option(
    "--max-deleted-ratio",
    type=click.FloatRange(min=0, max=1),
    help="Rewrite files in which more than this share of the rows is deleted; 0.05 by default.",
)
@click.option(
    "--purge",
    is_flag=True,
    help="Only rewrite files that have deleted rows or dropped columns, without these.",
)
@click.option(
    "--zorder-by",
    metavar="COLUMNS",
    help='Sort all rows of a partition along the Z-order of these columns, as in "day,city".',
)
@click.option("--without-statistics", is_flag=True, help="Allow columns without statistics for --zorder-by.")
@click.option("--full", is_flag=True, help="Also rewrite files that were clustered by other columns.")
@click.option("--user-metadata", help="Text for the history.")
@newest_command
def optimize(
    table: Table,
    *,
    where: str | None,
    target_size: int | None,
    min_size: int | None,
    max_deleted_ratio: float | None,
    purge: bool,
    zorder_by: str | None,
    without_statistics: bool,
    full: bool,
    user_metadata: str | None,
    as_json: bool,
) -> None:
    """Compact small files of each partition into larger ones, and rewrite files with many deleted rows.

    With --zorder-by, sort all rows of a partition so that conditions on any of the columns read few files. A clustered
    table is clustered by its own columns.

    No row changes, and older versions stay as they are.
    """
    with output.files_progress("writing files") as tell:
        done = table.optimize(
            where,
            target_size,
            min_size=min_size,
            max_deleted_ratio=max_deleted_ratio,
            purge=purge,
            user_metadata=user_metadata,
            zorder_by=() if zorder_by is None else [zorder_by],
            check_statistics=not without_statistics,
            full=full,
            progress=tell,
        )
    if as_json:
        output.print_json(asdict(done))
    elif done.version is None:
        click.echo(f"nothing to do: of {counted(done.considered_files, 'file')} none needs a change")
    else:
        click.echo(
            f"version {done.version}: {counted(done.removed_files, 'file')} became {done.added_files:,}, "
            f"{output.size(done.removed_bytes)} became {output.size(done.added_bytes)}"
        )
