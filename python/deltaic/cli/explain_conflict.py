"""`explain-conflict`: which commit, which files and which rule made a transaction lose."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import click

from deltaic.cli import output
from deltaic.cli.options import location_command, pager_option
from deltaic.predicates import from_sql
from deltaic.table import Table

if TYPE_CHECKING:
    from rich.console import Console

LEVELS = ("Serializable", "WriteSerializable", "SnapshotIsolation")
STYLES = {"conflict": "bold red", "rebase": "yellow", "recorded": "green", "pass": "green"}


@click.command("explain-conflict", short_help="Why a transaction lost or would lose: winner, files and rule.")
@pager_option
@location_command
@click.option(
    "--transaction",
    metavar="FILE",
    help="A lost commit: `transaction` of its error, or the document that --json printed; - is stdin.",
)
@click.option("--read-version", type=click.IntRange(min=0), help="Version at which the transaction began.")
@click.option("--operation", help="Its name, such as DELETE.")
@click.option("--where", metavar="CONDITION", multiple=True, help="It read the rows for which this is true.")
@click.option("--read-table", is_flag=True, help="It read every row.")
@click.option("--reads", metavar="PATH", multiple=True, help="It read every row of this file.")
@click.option("--removes", metavar="PATH", multiple=True, help="It removes or rewrites this file.")
@click.option("--adds", metavar="PATH", multiple=True, help="It adds this file.")
@click.option("--rearranges", is_flag=True, help="Its rows only move (`dataChange` false), as in OPTIMIZE.")
@click.option("--app", metavar="APP", multiple=True, help="It depends on the version of this application.")
@click.option("--domain", metavar="DOMAIN", multiple=True, help="It changes this metadata domain.")
@click.option("--changes-metadata", is_flag=True, help="It changes schema or properties.")
@click.option("--changes-protocol", is_flag=True, help="It changes the protocol.")
@click.option("--level", type=click.Choice(LEVELS, case_sensitive=False), help="Its isolation level.")
@click.option("--until", type=click.IntRange(min=0), help="Check it against commits up to this version only.")
@click.option("--all", "every", is_flag=True, help="Also show the rules that do not apply.")
def explain_conflict(
    uri: str,
    *,
    transaction: str | None,
    every: bool,
    storage_options: dict[str, str],
    as_json: bool,
    **described: Any,
) -> None:
    """Check a transaction against the commits after the version at which it began, by the rules of commits.

    The transaction comes from a lost commit (--transaction), or the other options describe it. For each
    commit, every rule that applies is shown with its files or predicate. docs/conflicts.md has all rules.
    """
    if (transaction is None) == (described["read_version"] is None):
        raise click.UsageError(
            "the transaction is missing: give --transaction, or --read-version with what it read and did"
        )
    table = Table(uri, version=described["read_version"], storage_options=storage_options)
    record = _describe(table, **described) if transaction is None else _saved(transaction)
    if described["level"] is not None:
        record["isolationLevel"] = described["level"]
    if described["until"] is not None:
        record["lastWinner"] = described["until"]
    with output.progress("reading commits"):
        report = table.explain_conflict(record)
    if as_json:
        output.print_json(report)
    else:
        with output.page() as console:
            _show(console, report, every=every)


def _saved(file: str) -> dict[str, Any]:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        found = json.loads(text)
        if isinstance(found, dict) and "error" in found:
            found = found["error"]["transaction"]
        if isinstance(found, str):
            found = json.loads(found)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise click.ClickException(f"`{file}` is not a transaction: {error}") from error
    if not isinstance(found, dict):
        raise click.ClickException(f"`{file}` is not a transaction: the commit failed before it recorded one")
    return found


def _describe(
    table: Table,
    *,
    read_version: int,
    operation: str | None,
    where: tuple[str, ...],
    read_table: bool,
    reads: tuple[str, ...],
    removes: tuple[str, ...],
    adds: tuple[str, ...],
    rearranges: bool,
    app: tuple[str, ...],
    domain: tuple[str, ...],
    changes_metadata: bool,
    changes_protocol: bool,
    level: str | None,
    until: int | None,
) -> dict[str, Any]:
    """The record of a described transaction. Paths are as the log, and `files`, show them."""
    del level, until  # those of a saved one can be set, too
    change = {"dataChange": not rearranges}
    changes: dict[str, Any] = {
        "removes": [{"path": path, **change} for path in removes],
        "adds": [{"path": path, "size": 0, "modificationTime": 0, **change} for path in adds],
        "domains": [{"domain": name, "configuration": "{}", "removed": False} for name in domain],
    }
    # the rules check whether there is one, not its content
    if changes_metadata:
        changes["metadata"] = {
            "id": table.metadata.id,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": table.schema.json(),
            "partitionColumns": table.partition_columns,
            "configuration": table.properties,
        }
    if changes_protocol:
        changes["protocol"] = {
            "minReaderVersion": table.protocol.min_reader_version,
            "minWriterVersion": table.protocol.min_writer_version,
        }
    return {
        "readVersion": read_version,
        "operation": operation,
        "reads": {
            "wholeTable": read_table,
            "predicates": [{"predicate": json.loads(from_sql(condition))} for condition in where],
            "files": [unquote(path) for path in reads],
            "apps": list(app),
        },
        "changes": changes,
    }


def _show(console: Console, report: dict[str, Any], *, every: bool) -> None:
    what = report["operation"] or "the transaction"
    ends = {
        "conflict": f"cannot follow version {report['version']}",
        "rebase": "follows after a rebase",
        "recorded": f"was recorded already by version {report['version']}",
        "pass": "follows" if report["winners"] else "meets nobody",
    }
    console.print(f"{what} from version {report['read_version']} at {report['isolation_level']}", end=" ")
    console.print(ends[report["outcome"]], style=STYLES[report["outcome"]])
    for winner in report["winners"]:
        console.print()
        console.print(f"version {winner['version']}", style="bold", end="  ")
        console.print(output.cell(winner["operation"]), output.cell(winner["engine"]), end="  ")
        console.print(output.cell(winner["timestamp"]), end="  ")
        console.print(winner["outcome"], style=STYLES[winner["outcome"]])
        grid = output.grid("", "rule", "why", "about")
        shown = [rule for rule in winner["rules"] if rule["applies"] or every]
        for rule in shown:
            grid.add_row(
                output.cell(rule["outcome"]),
                rule["rule"],
                output.cell(_why(rule)),
                output.cell(rule["files"] if rule["subject"] is None else [rule["subject"], *rule["files"]]),
                style=STYLES.get(rule["outcome"], "dim"),
            )
        if shown:
            console.print(grid)
        rest = len(winner["rules"]) - len(shown)
        if rest:
            console.print(f"{rest} {'other ' if shown else ''}rules do not apply", style="dim")


def _why(rule: dict[str, Any]) -> str:
    met = f"it {rule['winner']}; this transaction: {rule['ours']}"
    if not rule["applies"] or not rule["then"]:
        return met
    return f"{rule['error']}: {met}; {rule['then']}" if rule["error"] else f"{met}; {rule['then']}"
