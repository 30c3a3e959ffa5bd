"""The commands in one list, and what an error becomes: one line and an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import TextIO

import click

from deltaic._core import __version__
from deltaic.cli.group import Commands, with_examples
from deltaic.cli.options import pager_option
from deltaic.exceptions import CommitConflictError, DeltaError, DeltaWarning
from deltaic.printable import visible

EXIT_CODES = """\b
Exit codes:
  0    done
  1    a problem of the table or its store: no such table, a corrupt log, a refused read …
  2    a problem of the command line: an unknown option, a predicate that is not SQL …
  3    something that deltaic does not support
  4    another writer was first, and nothing was committed: see explain-conflict
  130  interrupted"""


# by name: the module that has the command, and its name there. A module is loaded when its command is asked for
_COMMANDS = {
    "alter": "alter.group:alter",
    "append": "append:append",
    "changes": "changes:changes",
    "checkpoint": "checkpoint:checkpoint",
    "clean-log": "clean_log:clean_log",
    "clone": "clone:clone",
    "compact-log": "compact_log:compact_log",
    "completion": "completion:completion",
    "connect-conf": "connect_conf:connect_conf",
    "convert": "convert:convert",
    "create": "create:create",
    "delete": "delete:delete",
    "diff": "diff:diff",
    "doctor": "doctor.command:doctor",
    "explain": "explain:explain",
    "explain-conflict": "explain_conflict:explain_conflict",
    "files": "files:files",
    "fsck": "fsck:fsck",
    "history": "history:history",
    "inspect": "inspect:inspect",
    "json-schema": "json_schema:json_schema",
    "log": "log:log",
    "manifest": "manifest:manifest",
    "optimize": "optimize:optimize",
    "overwrite": "overwrite:overwrite",
    "plot": "plot.command:plot",
    "properties": "properties:properties",
    "restore": "restore:restore",
    "schema": "schema:schema",
    "sql": "sql.command:sql",
    "stats": "stats:stats",
    "tour": "tour.command:tour",
    "update": "update:update",
    "vacuum": "vacuum:vacuum",
    "verify": "verify:verify",
    "watch": "watch:watch",
}


class _Commands(Commands):
    """The group of `_COMMANDS`."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"deltaic.cli.{module}"), name)
        return with_examples(command, cmd_name)


@click.command(cls=_Commands, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="deltaic")
@pager_option
def main() -> None:
    """Inspect, write and maintain Delta tables, without an engine.

    TABLE is a path or a URL such as s3://bucket/table. To read an older version, append it (@v5) or a time
    (@20260101000000000).
    """


def run() -> None:
    """Runs the command line and ends the process with its exit code."""
    warnings.filterwarnings("always", category=DeltaWarning)
    warnings.showwarning = _show_warning
    try:
        # click would end with another code for Ctrl-C
        main(prog_name="deltaic", standalone_mode=False)
    except DeltaError as error:
        _end(str(error), exit_code(error))
    except click.UsageError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        _end(error.format_message(), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _end("interrupted", 130)
    except BrokenPipeError:
        # the reader has gone, as in `| head`: nothing more to say, and nothing to flush at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """What went wrong after a commit is one line; other warnings are as Python shows them."""
    if issubclass(category, DeltaWarning):
        click.echo(f"deltaic: {visible(' '.join(str(message).split()))}", err=True)
    else:
        click.echo(warnings.formatwarning(message, category, filename, lineno, line), err=True, nl=False)


def exit_code(error: DeltaError) -> int:
    """The documented exit code of an error."""
    if isinstance(error, CommitConflictError):
        return 4
    if isinstance(error, NotImplementedError):
        return 3
    return 2 if isinstance(error, ValueError) else 1


def _end(message: str, code: int) -> None:
    line = " ".join(message.split())
    click.echo(f"deltaic: {visible(line)}", err=True)
    sys.exit(code)
