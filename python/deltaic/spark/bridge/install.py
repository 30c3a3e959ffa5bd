"""Installs the bridge in a classic session, in the live one and in those that it makes later."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from py4j.protocol import Py4JError

from deltaic.spark.bridge import compiler, credentials, driver, errors
from deltaic.spark.session import jvm
from deltaic.spark.session.jvm import is_loaded, java_class, java_method

_CATALOG = "spark.sql.catalog.spark_catalog"
_OWN_CATALOG = f"{jvm.PACKAGE}.SessionCatalog"
_DELTA_JAR = "org.apache.spark.sql.delta.sources.DeltaDataSource"
_TESTED = ((4, 0), (4, 3))
# what py4j raises for a failure in the JVM, and for a missing class
_REFUSALS = (Py4JError, TypeError)

_lock = threading.Lock()
# the JVMs that this process is connected to, with the name of the format there
_connected: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()


def install(spark: Any) -> list[str]:
    """Idempotent. A part that this Spark does not offer is left out, and a text for the user names it."""
    with _lock:
        return _install(spark)


def name_where_installed(spark: Any) -> str | None:
    """The name of the format in a session that has every part, and None in others. One request.

    What the user has replaced since is put back, as by `install`.
    """
    name = _connected.get(spark.sparkContext._gateway)
    if name is None or not java_method(spark, "Install", "restore")(spark._jsparkSession):
        return None
    return name


def format_name(spark: Any) -> str:
    """The name of the format: `delta`, or `deltaic` where the Delta JAR owns that."""
    return _name(spark.sparkContext._gateway)


def attach(spark: Any) -> tuple[str, list[str]]:
    """Installs the bridge in one session of a server that has the classes, and touches nothing of other sessions.

    Returns the name of the format, and what `install` returns.
    """
    name = serve(spark.sparkContext._gateway)
    java_method(spark, "HideOptions", "hide")(spark._jsparkSession)
    said = _install_rules(spark, name)
    try:
        java_method(spark, "Install", "inClones")(spark._jsparkSession)
    except _REFUSALS as error:
        said.append(_closed(spark, "clones of the session", "deltaic.enable(session) in each", error))
    before = str(spark.conf.get(_CATALOG, "builtin"))
    if before == "builtin":
        spark.conf.set(_CATALOG, _OWN_CATALOG)
    elif before != _OWN_CATALOG:
        said.append(_other_catalog(spark, name, before))
    java_method(spark, "Install", "inCatalog")(spark._jsparkSession)
    return name, said


def serve(gateway: Any) -> str:
    """Lets this process answer for a JVM that has the classes; returns the name of the format there."""
    name = _name(gateway)
    errors.convert_from(gateway)
    driver.connect(gateway, name)
    credentials.give_from(gateway)
    return name


def _name(gateway: Any) -> str:
    return "deltaic" if is_loaded(gateway, _DELTA_JAR) else "delta"


def _install(spark: Any) -> list[str]:
    gateway = spark.sparkContext._gateway
    name = format_name(spark)
    try:
        compiler.load(gateway)
    except _REFUSALS as error:
        return [
            _closed(spark, f'format("{name}") and all SQL on tables', "deltaic.Table(path).to_arrow()", error)
        ]
    serve(gateway)
    java_method(spark, "HideOptions", "hide")(spark._jsparkSession)
    java_method(spark, "HideOptions", "inContext")(spark._jsparkSession.sparkContext())
    said = []
    if name == "deltaic":
        said.append("the Delta JAR is on the classpath and owns the format `delta`: use the format `deltaic`")
    said += _install_rules(spark, name) + _install_in_later_sessions(spark) + _install_catalog(spark, name)
    if not said:
        java_method(spark, "Install", "done")(spark._jsparkSession)
        _connected[gateway] = name
    return said


def _install_rules(spark: Any, name: str) -> list[str]:
    java = spark._jsparkSession
    bridge = java_class(spark.sparkContext._gateway, f"{jvm.PACKAGE}.Install")
    said = []
    cause: Exception | None = None
    try:
        bridge.inOptimizer(java)
        live = bridge.inAnalyzer(java, java.sessionState().analyzer())
    except _REFUSALS as error:
        live, cause = False, error
    if not live:
        door = f"tables named in SQL and in spark.table ({name}.`path`, USING {name}) in this session"
        said.append(_closed(spark, door, f'spark.read.format("{name}").load(path)', cause))
    try:
        bridge.inParser(java.sessionState())
    except _REFUSALS as error:
        door = "OPTIMIZE, VACUUM, RESTORE, DESCRIBE HISTORY and the like in spark.sql in this session"
        said.append(_closed(spark, door, "deltaic.sql(spark, text)", error))
    try:
        bridge.inFunctions(java)
    except _REFUSALS as error:
        said.append(
            _closed(
                spark, "table_changes(…) in SQL", "deltaic.table_changes(spark, table, start, end)", error
            )
        )
    return said


def _install_in_later_sessions(spark: Any) -> list[str]:
    try:
        java_method(spark, "Install", "inLaterSessions")(spark._jsparkSession.extensions())
    except _REFUSALS as error:
        return [_closed(spark, "sessions from spark.newSession()", "deltaic.enable(session) in each", error)]
    return []


def _install_catalog(spark: Any, name: str) -> list[str]:
    before = str(spark.conf.get(_CATALOG, "builtin"))
    if before == _OWN_CATALOG:
        return []
    if before != "builtin":
        return [_other_catalog(spark, name, before)]
    spark.conf.set(_CATALOG, _OWN_CATALOG)
    spark.sparkContext._jsc.sc().conf().set(_CATALOG, _OWN_CATALOG)
    return []


def _other_catalog(spark: Any, name: str, catalog: str) -> str:
    door = f"{name}.`path` and USING {name} in SQL (the session catalog is {catalog})"
    return _closed(spark, door, f'spark.read.format("{name}").load(path)', None)


def _closed(spark: Any, door: str, instead: str, cause: Exception | None) -> str:
    low, high = (".".join(map(str, v)) for v in _TESTED)
    # the text of a Py4JJavaError is a stack trace: the JVM's own exception has one line
    reason = getattr(cause, "java_exception", cause)
    because = "" if cause is None else f" ({str(reason).splitlines()[0]})"
    here = f"deltaic on Spark {spark.version} (tested on {low} to {high})"
    return f"{here}: not available: {door}; use {instead}{because}"
