"""Spark with credentials that change, by a class of Hadoop and by a function: `s3a_credentials.py JARS FOLDER`.

The place comes as JSON in the variable `PLACE`, without credentials, and two users' keys in `USERS`. Each step
prints its name when it has held; an exception ends the process.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import servers
import small_session
from pyspark.sql import SparkSession

import deltaic
from deltaic.exceptions import CredentialsError
from deltaic.tables import DeltaTable

PLACE: dict[str, str] = json.loads(os.environ["PLACE"])
USERS: list[dict[str, str]] = json.loads(os.environ["USERS"])
BASE = f"s3a://{servers.BUCKET}"


def session(jars: str, vault: Path) -> Any:
    own = {
        "spark.hadoop.fs.s3a.aws.credentials.provider": "Vault",
        "spark.hadoop.test.vault": str(vault),
        "spark.jars": jars,
    }
    return small_session.session("local[2]", {**own, **small_session.hadoops(PLACE)})


def put(vault: Path, keys: dict[str, str]) -> None:
    vault.write_text(f"{keys['aws_access_key_id']}\n{keys['aws_secret_access_key']}\n")


def by_a_class(spark: Any, vault: Path) -> None:
    place = f"{BASE}/class"
    for number, keys in enumerate([*USERS, USERS[0]]):
        put(vault, keys)
        if number:
            # the keys of the last turn expire
            time.sleep(2.2)
        for route in ("direct", "arrow", "driver"):
            write = spark.range(10).selectExpr("id", "id % 2 AS p").write.format("delta").mode("append")
            write.partitionBy("p").option("deltaicRoute", route).save(place)
        spark.sql(f"DELETE FROM delta.`{place}` WHERE id = 3")
    assert spark.read.format("delta").load(place).count() == 81
    # without Spark, in the process that has the JVM
    options = {**PLACE, "fs.s3a.aws.credentials.provider": "Vault"}
    assert deltaic.Table(place, storage_options=options).version == 11
    vault.unlink()
    time.sleep(2.2)
    with pytest.raises(CredentialsError, match="the vault is sealed"):
        spark.read.format("delta").load(place).count()
    put(vault, USERS[0])


def by_a_function(spark: Any, vault: Path) -> None:
    # what the session has is of no use
    put(vault, {"aws_access_key_id": "nobody", "aws_secret_access_key": "nothing"})
    calls = []

    def keys() -> dict[str, Any]:
        calls.append(1)
        return {**USERS[len(calls) % 2], "expires_at": time.time() + 2}

    spark = spark.newSession()
    place = f"{BASE}/function"
    deltaic.enable(spark, credentials=keys)
    for route in ("direct", "arrow", "driver"):
        write = spark.range(10).selectExpr("id", "id % 2 AS p").write.format("delta").mode("append")
        write.partitionBy("p").option("deltaicRoute", route).save(place)
        time.sleep(2.2)
    spark.sql(f"UPDATE delta.`{place}` SET id = id + 100 WHERE id = 3")
    assert spark.read.format("delta").load(place).where("id < 100").count() == 27
    assert len(calls) > 2
    other = SparkSession.builder.getOrCreate().newSession()
    table = DeltaTable.forPath(other, place, PLACE, credentials=keys)
    table.delete("id > 100")
    found = sorted(row.id for row in table.toDF().collect())
    assert found == sorted(3 * [n for n in range(10) if n != 3]), found
    deltaic.save(other.range(3).selectExpr("id", "id AS p"), place, mode="append", credentials=keys)
    assert table.toDF().count() == 30


def main(jars: str, folder: str) -> None:
    vault = Path(folder) / "vault"
    put(vault, USERS[0])
    spark = session(jars, vault)
    for step in (by_a_class, by_a_function):
        step(spark, vault)
        print(step.__name__, flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
