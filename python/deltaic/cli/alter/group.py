"""`alter`: the commands that change properties, columns, constraints and features."""

from __future__ import annotations

import click

from deltaic.cli.alter import columns, constraints, features, properties
from deltaic.cli.group import Commands, with_examples


@click.group(cls=Commands, short_help="Change properties, columns, constraints and features.")
def alter() -> None:
    """Change the definition of a table, in one commit on its newest version. Only drop-feature writes data files."""


for _command in (
    properties.set_properties,
    properties.unset_properties,
    columns.add_columns,
    columns.drop_columns,
    columns.rename_column,
    columns.change_column,
    constraints.add_constraint,
    constraints.drop_constraint,
    features.add_feature,
    features.drop_feature,
):
    alter.add_command(with_examples(_command, f"alter {_command.name}"))
