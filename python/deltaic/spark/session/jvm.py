"""The session in which a statement runs, its JVM, and the classes of the bridge there."""

from __future__ import annotations

from typing import Any

PACKAGE = "deltaic.spark"
"""The Java package of the bridge."""


def session_of(data: Any) -> Any:
    """The session that a command brings, or the one that is active on this thread."""
    from pyspark import SparkContext
    from pyspark.sql.classic.dataframe import DataFrame  # noqa: F401  (registers the class)
    from pyspark.sql.session import SparkSession

    context = SparkContext.getOrCreate()
    java = None if data is None else data["session"]
    if java is None:
        java = static_method(context._gateway, "org.apache.spark.sql.classic.SparkSession", "active")()
    return SparkSession(context, java)


def java_class(gateway: Any, name: str) -> Any:
    """A class by its full name, which must be there. No request.

    By its path through `gateway.jvm` each part of the name is a request, for which the JVM looks for a class of that
    name in every JAR.
    """
    from py4j.java_gateway import JavaClass

    return JavaClass(name, gateway._gateway_client)


def java_method(spark: Any, name: str, method: str) -> Any:
    """A static method of a class of the bridge, which must be there. No request: as a member of its class it is one."""
    return static_method(spark.sparkContext._gateway, f"{PACKAGE}.{name}", method)


def static_method(gateway: Any, name: str, method: str) -> Any:
    """A static method of a class by its full name, which must be there. No request."""
    from py4j.java_gateway import JavaMember
    from py4j.protocol import STATIC_PREFIX

    return JavaMember(method, None, f"{STATIC_PREFIX}{name}", gateway._gateway_client)


def context_loader(gateway: Any) -> Any:
    """The class loader of Spark's threads, which finds the classes of Spark, of its JARs and of the bridge."""
    return static_method(gateway, "java.lang.Thread", "currentThread")().getContextClassLoader()


def is_loaded(gateway: Any, name: str) -> bool:
    """Whether the JVM finds a class."""
    return finds(context_loader(gateway), name)


def finds(loader: Any, name: str) -> bool:
    """Whether a class loader finds a class. Asking it for a resource does not raise."""
    return loader.getResource(name.replace(".", "/") + ".class") is not None
