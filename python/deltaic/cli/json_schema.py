"""`json-schema`: the form of what a command prints with `--json`."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import click

from deltaic.cli import output
from deltaic.cli.group import did_you_mean


@click.command("json-schema", short_help="The JSON schema of what a command prints with --json.")
@click.argument("command", nargs=-1)
def json_schema(command: tuple[str, ...]) -> None:
    """Print the JSON schema of what COMMAND prints with --json; `error` is that of errors. Without COMMAND, of all.

    It is that of the version in `format`. In a version, keys may be added, and nothing else changes.
    """
    if not command:
        output.print_content({name: schema(name) for name in names()})
        return
    name = "-".join(command)
    if name not in names():
        raise click.BadParameter(f"no schema of '{' '.join(command)}'.{did_you_mean(name, names())}")
    output.print_content(schema(name))


def names() -> list[str]:
    """What there are schemas of: commands, with a hyphen between the words of their names, and `error`."""
    found = files("deltaic.cli.schemas").iterdir()
    return sorted(file.name.removesuffix(".json") for file in found if file.name.endswith(".json"))


def schema(name: str) -> dict[str, Any]:
    """The schema of this name."""
    text = files("deltaic.cli.schemas").joinpath(f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
