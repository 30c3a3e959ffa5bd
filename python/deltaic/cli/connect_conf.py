"""`connect-conf`: what a server of Spark Connect is started with."""

from __future__ import annotations

from pathlib import Path

import click

from deltaic.cli import output
from deltaic.cli.options import json_command


@click.command()
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Put the JAR there, readable by all users, instead of into the cache of this one.",
)
@click.option(
    "--pipelines",
    is_flag=True,
    help="Print the settings for spark-pipelines without --remote, which starts a server that ignores spark.plugins.",
)
@json_command
def connect_conf(folder: Path | None, *, pipelines: bool, as_json: bool) -> None:
    """Print the settings by which a Spark server has Delta tables.

    Run it with the Python of the server, which needs deltaic and the PySpark of the server. It makes the JAR that the
    settings name, unless it is there. Copy the lines to spark-defaults.conf, or pass each as --conf NAME=VALUE.

    With them every session of the server has the format delta, the statements of Delta, and Delta tables in its
    catalog: for clients of Spark Connect in any language, without a call, and without deltaic on their side.
    """
    from deltaic.spark.bridge.server_jar import server_jar

    jar = str(server_jar(folder))
    settings = {"spark.jars": jar, "spark.plugins": "deltaic.spark.Plugin"}
    if pipelines:
        # the JVM of spark-pipelines is there before it reads spark.jars, which is for executors then
        settings = {
            "spark.jars": jar,
            "spark.driver.extraClassPath": jar,
            "spark.sql.extensions": "deltaic.spark.Extension",
        }
    if as_json:
        output.print_content(settings)
        return
    width = max(map(len, settings))
    for name, value in settings.items():
        click.echo(f"{name:{width + 1}} {value}")
