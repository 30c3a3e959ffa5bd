"""Hadoop's file systems, the credentials that are set, and the store of a table."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from deltaic import _core
from deltaic.cli.doctor.check import NOTE, OK, PROBLEM, Check
from deltaic.exceptions import DeltaError, TableNotFoundError
from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# the JAR of each file system, by the beginning of its name
_FILE_SYSTEMS = {
    "hadoop-aws": "s3a",
    "hadoop-azure": "abfs",
    "gcs-connector": "gs",
    "hadoop-client-api": "hdfs",
}
_BY_SCHEME = {
    "s3": "s3a",
    "s3a": "s3a",
    "s3n": "s3a",
    "abfs": "abfs",
    "abfss": "abfs",
    "wasb": "abfs",
    "wasbs": "abfs",
    "gs": "gs",
    "hdfs": "hdfs",
    "viewfs": "hdfs",
}
_VARIABLES = {
    "S3": (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_ROLE_ARN",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT_URL_S3",
    ),
    "Azure": (
        "AZURE_STORAGE_ACCOUNT_NAME",
        "AZURE_STORAGE_ACCOUNT_KEY",
        "AZURE_STORAGE_SAS_KEY",
        "AZURE_CLIENT_ID",
        "AZURE_CLIENT_SECRET",
        "AZURE_TENANT_ID",
        "AZURE_FEDERATED_TOKEN_FILE",
    ),
    "Google Cloud Storage": ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_SERVICE_ACCOUNT"),
    "HDFS": (
        "HADOOP_CONF_DIR",
        "HADOOP_HOME",
        "HADOOP_USER_NAME",
        "HADOOP_PROXY_USER",
        "HADOOP_TOKEN_FILE_LOCATION",
        "KRB5CCNAME",
    ),
}
# a clock further away than this makes signatures invalid on S3 in the end (15 minutes), and times of commits wrong
_SKEW = 5_000


def machine() -> Iterator[Check]:
    """File systems that Spark has, and credentials by the names of their variables."""
    if find_spec("pyspark") is not None:
        yield _file_systems()
    for store, names in _VARIABLES.items():
        there = [name for name in names if os.environ.get(name)]
        yield Check(f"credentials of {store}", OK, ", ".join(there) or "none in the environment")
    if os.environ.get("AWS_PROFILE") or (Path.home() / ".aws" / "credentials").exists():
        advice = "export its keys: `aws configure export-credentials --format env`"
        yield Check("AWS profiles", NOTE, "there are some, which deltaic does not read", advice)


def table(uri: str, options: Mapping[str, str]) -> Iterator[Check]:
    """What a table and its store answer."""
    scheme = uri.partition("://")[0] if "://" in uri else "file"
    hadoop = _BY_SCHEME.get(scheme)
    if hadoop is not None and find_spec("pyspark") is not None and hadoop not in _found():
        yield Check(
            "file system of Spark",
            NOTE,
            f"Hadoop's `{hadoop}` is not among PySpark's JARs: the core reads and writes the files for Spark",
            f"nothing, or {_package(hadoop)} in spark.jars.packages, by which Spark does it itself, and checkpoints "
            "of streams may be there, too",
        )
    try:
        opened = Table(uri, storage_options=options)
    except TableNotFoundError as error:
        yield Check("table", PROBLEM, str(error))
        if scheme == "file":
            return
    except DeltaError as error:
        yield Check("table", PROBLEM, str(error))
        return
    else:
        yield Check("table", OK, f"version {opened.version} of {opened.uri}")
    yield from _store(uri, options)


def _store(uri: str, options: Mapping[str, str]) -> Iterator[Check]:
    try:
        probe = json.loads(_core.probe_store(uri, dict(options)))
    except DeltaError as error:
        yield Check("store", PROBLEM, str(error))
        return
    yield Check("store", OK, f"a listing of the log took {probe['list_millis']} ms")
    if probe["put_if_absent"] is None:
        advice = "give credentials that may write, unless you only read"
        yield Check("put-if-absent", NOTE, f"not tried: {probe['refused']}", advice)
    elif probe["put_if_absent"]:
        yield Check("put-if-absent", OK, "the second of two writers is refused")
    else:
        advice = "do not write here: deltaic refuses to. Newer versions of most servers keep the condition"
        yield Check(
            "put-if-absent", PROBLEM, "the store ignores it: commits would overwrite each other", advice
        )
    ahead = probe["clock_ahead_millis"]
    if ahead is not None and abs(ahead) > _SKEW:
        which = "ahead of" if ahead > 0 else "behind"
        found = f"the store's is {abs(ahead) / 1000:.1f} s {which} this machine's"
        yield Check(
            "clock", PROBLEM, found, "synchronise this machine's clock (NTP): times of commits follow it"
        )
    elif ahead is not None:
        yield Check("clock", OK, "agrees with the store's")


def _jars() -> Iterator[Path]:
    import pyspark

    homes = [Path(pyspark.__file__).parent]
    if os.environ.get("SPARK_HOME"):
        homes.append(Path(os.environ["SPARK_HOME"]))
    for home in homes:
        yield from (home / "jars").glob("*.jar")


def _found() -> dict[str, str]:
    """The file systems among Spark's JARs, and the JAR of each."""
    names = sorted(jar.stem for jar in _jars())
    return {
        scheme: name for jar, scheme in _FILE_SYSTEMS.items() for name in names if name.startswith(f"{jar}-")
    }


def _package(scheme: str) -> str:
    """The package of a file system, in the version of Spark's Hadoop."""
    jar = next(jar for jar, name in _FILE_SYSTEMS.items() if name == scheme)
    if scheme == "gs":
        return f"com.google.cloud.bigdataoss:{jar}"
    client = "hadoop-client-api"
    versions = (j.stem.removeprefix(f"{client}-") for j in _jars() if j.stem.startswith(client))
    return f"org.apache.hadoop:{jar}:{next(versions, '<version of Hadoop>')}"


def _file_systems() -> Check:
    found = _found()
    text = ", ".join(f"{scheme} ({jar})" for scheme, jar in sorted(found.items()))
    return Check("file systems of Spark", OK, text or "none but the local one")
