"""Settings of stores that a server of Spark Connect tells no client, because Spark takes them for secrets."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import CredentialsError, StorageError
from deltaic.spark.session.kind import is_connect

if TYPE_CHECKING:
    from collections.abc import Iterator

_HADOOP = "spark.hadoop."
_S3, _AZURE, _GCS = "fs.s3a.", "fs.azure.", "fs.gs."
_OF_SCHEMES = {
    **dict.fromkeys(("s3", "s3a", "s3n"), _S3),
    **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs"), _AZURE),
    "gs": _GCS,
}
_TOLD = "the server of Spark Connect tells clients no secrets"
_INSTEAD = (
    "pass them as `storage_options` or `hadoopConf`, by the environment of this process, or by "
    "`deltaic.enable(spark, credentials=…)`"
)


@contextmanager
def named_in_errors(spark: Any, own: object = None) -> Iterator[None]:
    """While this process works for a session, errors of a store name the settings that it could not see.

    Not where the operation has options or credentials of its `own`. The server is asked after such an error only.
    """
    try:
        yield
    except (CredentialsError, StorageError) as error:
        place = error.store if isinstance(error, CredentialsError) else error.path
        hidden = () if own or _TOLD in error.args[0] else _hidden(spark, place.partition("://")[0])
        if hidden:
            names = ", ".join(f"`{name}`" for name in hidden)
            told = f"{_TOLD}, so this process did not see {names} of the session: {_INSTEAD}"
            error.args = (f"{error.args[0]}; {told}",)
        raise


def _hidden(spark: Any, scheme: str) -> list[str]:
    """The settings of a store that the session has and its server does not tell."""
    of_store = _OF_SCHEMES.get(scheme)
    if of_store is None or not is_connect(spark):
        return []
    from pyspark.errors import PySparkException

    try:
        told = spark.conf.getAll
        known = [row.key for row in spark.sql("SET").collect()]
    except PySparkException:
        # the error of the store is the one to see
        return []
    return [name for name in known if name.removeprefix(_HADOOP).startswith(of_store) and name not in told]
