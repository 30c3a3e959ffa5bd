"""docs/cli.md says what the argument parser says: every command, every argument, every option."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deltaic.cli.examples import EXAMPLES
from deltaic.cli.main import EXIT_CODES, main

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"

INTRODUCTION = """This page is generated from the argument parser; `--help` of each command shows the same. `deltaic`
is the same as `python -m deltaic`. In the examples `orders` is the table that `deltaic tour --keep
orders` makes. A mistyped command or option names those that are like it, and `deltaic completion`
completes them in the shell.

With `--json` a command prints one document (`files`, `changes`, `watch` and `sql` one per line). So does an error:
`error` with `kind`, `message` and attributes. Each object has `format`, the version of its form, but for those whose
form is another's: rows of tables, schemas, properties. `deltaic json-schema COMMAND` prints the JSON schema. In a
version keys may be added, and nothing else changes.

A failure after a commit is a line on standard error; the commit stands. Commands that delete have `--dry-run`; those
that delete or replace ask on a terminal, unless with `--yes`. On a terminal, what is longer than it goes through
`$PAGER`, or `less`, unless with `--no-pager` before or after the command; and there are colours, unless `NO_COLOR` is
set.
"""


def commands(group: click.Group, names: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        yield " ".join([*names, name]), command
        if isinstance(command, click.Group):
            yield from commands(command, (*names, name))


def value(option: click.Option) -> str:
    if option.is_flag:
        return ""
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    return " " + (option.metavar or "|".join(map(str, choices)) or option.type.name.split(" ")[0].upper())


def section(name: str, command: click.Command) -> Iterator[str]:
    yield f"## {name}\n"
    arguments = [(p.metavar or p.name.upper()) for p in command.params if isinstance(p, click.Argument)]
    options = [p for p in command.params if isinstance(p, click.Option)]
    words = ["python -m deltaic", name, *(["[OPTIONS]"] if options else []), *arguments]
    words += ["COMMAND"] if isinstance(command, click.Group) else []
    yield f"```sh\n{' '.join(words)}\n```\n"
    yield inspect.cleandoc(command.help or "") + "\n"
    if name in EXAMPLES:
        yield "```sh\n" + "\n".join(EXAMPLES[name]) + "\n```\n"
    if options:
        yield "| option | |\n|---|---|"
        for option in options:
            shown = f"{', '.join(option.opts)}{value(option)}".replace("|", "\\|")
            help_text = (option.help or "").replace("|", "\\|")
            yield f"| `{shown}` | {help_text} |"
        yield ""


def page() -> str:
    lines = ["# The command line\n", inspect.cleandoc(main.help or "") + "\n"]
    lines.append(INTRODUCTION)
    lines.append("```text\n" + EXIT_CODES.replace("\b\n", "") + "\n```\n")
    for name, command in commands(main):
        lines.extend(section(name, command))
    return "\n".join(lines)


def test_the_page_is_what_the_parser_says() -> None:
    if os.environ.get("DELTAIC_WRITE_DOCS"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "docs/cli.md is not what the parser says; run this test with DELTAIC_WRITE_DOCS=1"
    )


def test_every_command_says_what_it_does_and_speaks_json() -> None:
    for name, command in commands(main):
        assert command.help, name
        assert command.get_short_help_str(120), name
        for parameter in command.params:
            assert isinstance(parameter, click.Argument) or getattr(parameter, "help", None), (
                name,
                parameter.name,
            )
        # one prints a script, the other only JSON
        if not isinstance(command, click.Group) and name not in ("completion", "json-schema"):
            assert any(p.name == "as_json" for p in command.params), name


def test_what_deletes_can_be_tried_first() -> None:
    known = dict(commands(main))
    for name in ("clean-log", "fsck", "vacuum"):
        options = {o for p in known[name].params for o in p.opts}
        assert {"--dry-run", "--yes"} <= options, name
