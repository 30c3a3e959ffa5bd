"""The commands in one list, and what an error becomes: one line and an exit code."""

from __future__ import annotations

import os
import sys

import click

from deltaic import __version__
from deltaic.cli import files, fsck, history, inspect, log, manifest, restore, schema, vacuum
from deltaic.exceptions import DeltaError

EXIT_CODES = """\b
Exit codes:
  0    done
  1    the table or its store is at fault: no such table, a corrupt log, a refused read …
  2    the command line is at fault: an unknown option, a predicate that is no SQL …
  3    something that deltaic does not support
  130  interrupted"""


class _Commands(click.Group):
    """The group whose `demo` is loaded only when it runs: it brings Spark."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), "demo"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "demo":
            from deltaic.cli.demo import demo

            return demo
        return super().get_command(ctx, cmd_name)


@click.command(cls=_Commands, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="deltaic")
def main() -> None:
    """Look into Delta tables and maintain them, without an engine.

    TABLE is a path or a URL such as s3://bucket/table. With @v5 or @20260101000000000 behind it, it is that version,
    or the version at that time.
    """


_COMMANDS = (
    inspect.inspect,
    history.history,
    files.files,
    schema.schema,
    log.log,
    vacuum.vacuum,
    restore.restore,
    fsck.fsck,
    manifest.manifest,
)
for command in _COMMANDS:
    main.add_command(command)


def run() -> None:
    """Runs the command line and ends the process with its exit code."""
    try:
        # click would end with a code of its own for Ctrl-C
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


def exit_code(error: DeltaError) -> int:
    """The documented exit code of an error."""
    if isinstance(error, NotImplementedError):
        return 3
    return 2 if isinstance(error, ValueError) else 1


def _end(message: str, code: int) -> None:
    line = " ".join(message.split())
    click.echo(f"deltaic: {line}", err=True)
    sys.exit(code)
