"""How the tests of the command line run it."""

import json
import subprocess
import sys

from click.testing import CliRunner

from deltaic.cli.main import main


def output(*arguments):
    """What a command prints, when it succeeds."""
    result = CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def document(*arguments):
    """The JSON that a command prints, when it succeeds."""
    return json.loads(output(*arguments, "--json"))


def process(*arguments):
    """A real process, as users start it."""
    command = [sys.executable, "-m", "deltaic", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
