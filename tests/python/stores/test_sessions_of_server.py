"""Sessions of one Spark Connect server: what one knows of a store, another does not use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from served_sessions import session

import deltaic
from deltaic.exceptions import StorageError
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from servers import S3

# the first test fetches and builds the server, once a machine
pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]


@pytest.mark.parametrize("door", ["stock", "admins"])
def test_a_table_is_not_read_with_the_credentials_of_another_session(
    s3: S3, uri: str, door: str, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(door)
    one, other = (deltaic.enable(session(url)) for _ in range(2))
    for name, value in s3.hadoop.items():
        one.conf.set(name, value)
        other.conf.set(name, "wrong" if name == "fs.s3a.secret.key" else value)
    one.range(3).write.format("delta").save(uri)
    table = f"delta.`{uri}`"
    assert one.read.format("delta").load(uri).count() == 3

    def refused(*asks: Any) -> None:
        for ask in asks:
            # what the server keeps of the table is not for this session, either
            with pytest.raises(StorageError, match=r"403|SignatureDoesNotMatch"):
                ask()

    refused(
        lambda: other.read.format("delta").load(uri).count(),
        lambda: other.sql(f"SELECT * FROM {table}").collect(),
        lambda: other.sql(f"DESCRIBE HISTORY {table}").collect(),
        lambda: other.sql(f"DELETE FROM {table}").collect(),
        lambda: other.range(1).write.format("delta").mode("append").save(uri),
        lambda: DeltaTable.forPath(other, uri),
    )
    assert one.sql(f"SELECT count(*) FROM {table}").first()[0] == 3
    other.conf.set("fs.s3a.secret.key", s3.secret)
    assert other.read.format("delta").load(uri).count() == 3
    one.conf.set("fs.s3a.secret.key", "wrong")
    refused_now = one.read.format("delta").load(uri)
    refused(refused_now.collect)
    assert s3.secret not in str(one.sql("SET -v").collect())
    one.stop()
    other.stop()
