"""`completion`: what a shell needs to complete commands, options and tables."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
# the name that click looks for: `_<PROGRAM>_COMPLETE`
VARIABLE = "_DELTAIC_COMPLETE"


@click.command(short_help="Complete commands, options and tables in bash, zsh or fish.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script by which SHELL completes `deltaic`: commands, options, their choices, and folders for TABLE.

    Load it in the file that the shell reads at its start, such as ~/.bashrc. bash must be 4.4 or later.
    """
    made = get_completion_class(shell)
    if made is None:
        raise click.ClickException(f"this click has no completion for {shell}")
    root = click.get_current_context().find_root().command
    click.echo(made(root, {}, "deltaic", VARIABLE).source())
