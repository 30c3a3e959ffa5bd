"""The process that serves sessions of a Spark Connect server: a Python driver, attached to the JVM of the server.

Agent.java starts it, and ends it by closing its input.
"""

from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace
from typing import Any

from deltaic.exceptions import UnsupportedError
from deltaic.spark.bridge import compiler, errors, install
from deltaic.spark.session.enabling import enabled_by
from deltaic.spark.session.jvm import PACKAGE, java_class, static_method
from deltaic.spark.session.on_server import tell_clients_warnings


def main() -> None:
    """Attaches to the JVM that the first line of the input names, says so, and serves until the input ends."""
    given = json.loads(sys.stdin.readline())
    # what a library prints must not be taken for the answer
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        said = _attach(given)
    except Exception as error:  # noqa: BLE001  (whoever starts the process hears of it)
        # the text of a Py4JJavaError is a stack trace
        reason = str(getattr(error, "java_exception", error)).splitlines() or [type(error).__name__]
        said = {"refused": reason[0]}
    print(json.dumps(said), file=answer, flush=True)
    if "ready" in said:
        sys.stdin.read()
    # threads of py4j wait for the JVM
    os._exit(0)


def _attach(given: dict[str, Any]) -> dict[str, Any]:
    import pyspark
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql.classic.dataframe import DataFrame  # noqa: F401  (registers the class)
    from pyspark.sql.session import SparkSession

    if given["sources"] != compiler.sources_hash():
        _refuse("has another version of deltaic than the JAR", "install the same on both sides")
    os.environ["PYSPARK_GATEWAY_PORT"] = str(given["port"])
    os.environ["PYSPARK_GATEWAY_SECRET"] = given["secret"]
    gateway = launch_gateway()
    spark_here = static_method(gateway, "org.apache.spark.SparkBuildInfo", "spark_version")()
    if pyspark.__version__.split(".")[:2] != spark_here.split(".")[:2]:
        _refuse(
            f"has PySpark {pyspark.__version__} beside Spark {spark_here}",
            "install the PySpark of the server",
        )
    java = gateway.jvm.JavaSparkContext(java_class(gateway, "org.apache.spark.SparkContext").getOrCreate())
    context = SparkContext(gateway=gateway, jsc=java, conf=SparkConf(_jconf=java.getConf()))
    session = static_method(gateway, f"{PACKAGE}.Agent", "session")()
    sessions = java_class(gateway, "org.apache.spark.sql.classic.SparkSession")
    java_session = sessions.active() if session is None else session
    # the first session that Python makes would become the default one of the whole server
    SparkSession._instantiatedSession = SimpleNamespace(_sc=context)
    spark = SparkSession._instantiatedSession = SparkSession(context, java_session)
    errors.keep_for_clients()
    tell_clients_warnings()
    name, said = (install.serve(gateway), list[str]()) if session is None else install.attach(spark)
    enabled_by(lambda _: name)
    return {"ready": said, "format": name}


def _refuse(what: str, instead: str) -> None:
    text = f"its Python ({sys.executable}) {what}: {instead}"
    raise UnsupportedError(text, path="", what=what)
