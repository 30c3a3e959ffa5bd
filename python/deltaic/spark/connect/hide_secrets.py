"""Sets in a session of Spark Connect which options are secrets; `HideOptions` does so in a classic one."""

from __future__ import annotations

from typing import Any

from pyspark.errors import PySparkException

from deltaic._core import SECRETS

_HIDDEN = "spark.sql.redaction.options.regex"


def hide_secrets(spark: Any) -> None:
    """Adds the names of secrets to those of which plans and event logs hide the values. Idempotent.

    A server does not return a setting that it takes for a secret itself, such as one that names secrets: this one,
    after the first call, and one that hides other secrets, which is not changed.
    """
    try:
        hidden = spark.conf.get(_HIDDEN)
    except PySparkException:
        return
    if SECRETS not in hidden:
        spark.conf.set(_HIDDEN, f"(?:{hidden})|(?:{SECRETS})")
