"""Groups of commands: what a mistyped name may have meant, and examples in the help of each command."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from deltaic.cli.examples import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Sequence


class Commands(click.Group):
    """A group that suggests names, and whose commands show their `EXAMPLES`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is asked for.

        Raises:
            click.UsageError: there is none of this name; the message has those that are like it.
        """
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            ctx.fail(f"No such command '{args[0]}'.{did_you_mean(args[0], known)}")
        return super().resolve_command(ctx, args)


def with_examples(command: click.Command, name: str) -> click.Command:
    """The command, with its examples below its options."""
    if name in EXAMPLES:
        lines = (f"\n  {line}" for line in EXAMPLES[name])
        command.epilog = "\b\nExamples:" + "".join(lines)
    return command


def did_you_mean(given: str, known: Sequence[str]) -> str:
    """A sentence with the names that are like the given one; empty if none is."""
    like = get_close_matches(given.lower(), known, n=3)
    return f" Did you mean {' or '.join(like)}?" if like else ""
