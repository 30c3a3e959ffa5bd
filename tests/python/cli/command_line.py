"""How the tests of the command line run it."""

import json
import subprocess
import sys

import jsonschema
from click.testing import CliRunner

from deltaic.cli.json_schema import schema
from deltaic.cli.main import main

LINES = {"changes", "files", "sql", "watch"}


def output(*arguments):
    """What a command prints, when it succeeds."""
    result = CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    if "--json" in arguments:
        check_json([str(a) for a in arguments], result.stdout)
    return result.stdout


def document(*arguments):
    """The JSON that a command prints, when it succeeds."""
    return json.loads(output(*arguments, "--json"))


def check_json(arguments, printed):
    """The JSON that a command printed is of the form that its schema says, and of no other."""
    words = arguments[:2] if arguments[0] == "alter" else arguments[:1]
    if words[0] in LINES and "--files" not in arguments:
        documents = [json.loads(line) for line in printed.splitlines()]
    else:
        documents = [json.loads(printed)]
    validator = jsonschema.Draft202012Validator(exact(schema("-".join(words))))
    for found in documents:
        validator.validate(found)


def exact(form):
    """The schema, in which an object has no keys but those that are described: a new key is described, too."""
    if isinstance(form, list):
        return [exact(part) for part in form]
    if not isinstance(form, dict):
        return form
    made = {key: exact(part) for key, part in form.items()}
    if "properties" in form and form.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return made


def process(*arguments):
    """A real process, as users start it."""
    command = [sys.executable, "-m", "deltaic", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
