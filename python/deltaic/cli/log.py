"""`log`: what each version did to the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from deltaic.cli import output
from deltaic.cli.options import pager_option, table_command
from deltaic.exceptions import NotFoundError

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="What each version did: files, schema, protocol.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Show at most so many."
)
@pager_option
@table_command
def log(table: Table, *, limit: int, as_json: bool) -> None:
    """Show what each version did, newest first: files added and removed, and changes of metadata and protocol."""
    commits = summaries(table, limit)
    if as_json:
        output.print_json(commits)
        return
    numbers = ["version", "added", "bytes", "removed", "bytes removed"]
    grid = output.grid(*numbers[:1], "operation", *numbers[1:], "also", right=numbers)
    for commit in commits:
        grid.add_row(
            str(commit["version"]),
            output.cell((commit["commitInfo"] or {}).get("operation")),
            f"{commit['adds']:,}",
            output.size(commit["addedBytes"]),
            f"{commit['removes']:,}",
            output.size(commit["removedBytes"]),
            output.cell(also(commit)),
        )
    with output.page() as console:
        console.print(grid)
        if commits and commits[-1]["version"] > 0 and len(commits) < limit:
            console.print(
                f"version {commits[-1]['version'] - 1} and older are not in the log any more", style="dim"
            )


def summaries(table: Table, limit: int) -> list[dict[str, Any]]:
    """What the newest versions did, as far as the log still holds their commits."""
    versions = range(table.version, max(table.version - limit, -1), -1)
    commits = []
    with output.progress("reading commits", len(versions)) as advance:
        for version in versions:
            try:
                commits.append(table.commit(version))
            except NotFoundError:
                break  # cleanup has removed this commit and all before it
            advance()
    return commits


def also(commit: dict[str, Any]) -> list[str]:
    """What a version did besides adding and removing files."""
    found = []
    if commit["protocol"] is not None:
        protocol = commit["protocol"]
        found.append(f"protocol {protocol['minReaderVersion']}/{protocol['minWriterVersion']}")
    if commit["metadata"] is not None:
        found.append("metadata")
    for name, what in (("deletionVectors", "deletion vectors"), ("cdc", "change files")):
        if commit[name]:
            found.append(f"{commit[name]} {what}")
    found += [f"txn {txn['appId']} {txn['version']}" for txn in commit["txns"]]
    found += [f"domain {domain['domain']}" for domain in commit["domains"]]
    return found
