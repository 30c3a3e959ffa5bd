"""`doctor`: find what is missing or wrong before a job does."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from deltaic.cli import output
from deltaic.cli.doctor import machine, stores
from deltaic.cli.doctor.check import OK, PROBLEM
from deltaic.cli.options import folders, store_command

_STYLES = {OK: "green", PROBLEM: "bold red"}


@click.command(short_help="Check this machine, and the store of a table.")
@click.argument("uri", metavar="[TABLE]", required=False, shell_complete=folders)
@store_command
def doctor(uri: str | None, *, storage_options: dict[str, str], as_json: bool) -> None:
    """Check versions, Java, the workers' Python, Hadoop's file systems and credentials; never the values of secrets.

    With TABLE also its store: whether the table opens, whether of two writers one is refused, whether the clocks agree.
    For that a small object is written beside the commits, and removed.

    The exit code is 1 if something does not work.
    """
    found = [*machine.checks(), *stores.machine()]
    if uri is not None:
        found += stores.table(uri, storage_options)
    ok = all(check.status != PROBLEM for check in found)
    if as_json:
        output.print_json({"checks": [asdict(check) for check in found], "ok": ok})
    else:
        for check in found:
            output.console().print(f"{check.status:8}", style=_STYLES.get(check.status, "yellow"), end="")
            output.line(f"{check.name}: {check.found}")
            if check.advice is not None:
                output.line(f"        -> {check.advice}")
    if not ok:
        sys.exit(1)
