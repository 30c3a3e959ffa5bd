"""`verify`: compare a table with itself."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from deltaic.cli import output
from deltaic.cli.options import location_command
from deltaic.printable import counted
from deltaic.table.verify import verify as verify_table


@click.command(short_help="Compare a table with itself, from its log to its files.")
@click.option("--deep", is_flag=True, help="Open data files and deletion vectors too.")
@click.option("--version", type=click.IntRange(min=0), help="Version to verify, instead of the newest.")
@location_command
def verify(
    uri: str, *, deep: bool, version: int | None, storage_options: dict[str, str], as_json: bool
) -> None:
    """Compare what a table says of itself with what it is: log, checkpoints, checksums, files.

    The exit code is 1 if something is wrong.
    """
    with output.files_progress("verifying") as tell:
        report = verify_table(uri, version=version, deep=deep, storage_options=storage_options, progress=tell)
    if as_json:
        output.print_json({**asdict(report), "ok": report.ok})
    else:
        for finding in report.findings:
            output.line(finding)
        if report.more_findings:
            click.echo(f"… and {report.more_findings:,} more")
        looked_at = (
            f"versions {report.first_version} to {report.version}: {counted(report.commits, 'commit')}, "
            f"{counted(report.checkpoints, 'checkpoint')}, {counted(report.compacted_files, 'compacted file')}, "
            f"{counted(report.checksums, 'checksum')}, {counted(report.files, 'file')}, "
            f"{counted(report.deletion_vectors, 'deletion vector')}"
        )
        output.console().print(looked_at, style="dim")
        verdict = (
            "no problem was found"
            if report.ok
            else counted(len(report.findings) + report.more_findings, "finding")
        )
        output.console().print(verdict)
    if not report.ok:
        sys.exit(1)
