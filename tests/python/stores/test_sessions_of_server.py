"""Sessions of one Spark Connect server: what one knows of a store, another does not use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from served_sessions import session, unserved

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


def test_errors_name_the_settings_that_a_server_does_not_tell(
    s3: S3, uri: str, closed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no server serves the session, this process reaches the store, and with credentials of its own."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3.key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    connect = unserved(closed)
    rows = connect.createDataFrame([(1,)], "id long")
    for name, value in s3.hadoop.items():
        connect.conf.set(name, value)
    assert connect.conf.get("fs.s3a.secret.key", None) is None
    assert deltaic.save(rows, uri, storage_options=s3.options) == 0
    unseen = r"(?s)403.*did not see `fs\.s3a\.access\.key`, `fs\.s3a\.secret\.key` of the session: pass them"
    for ask in (
        lambda: deltaic.save(rows, uri, mode="append"),
        lambda: deltaic.read(connect, uri),
        lambda: deltaic.sql(connect, f"DESCRIBE HISTORY delta.`{uri}`"),
        lambda: deltaic.sql(connect, f"SELECT * FROM delta.`{uri}`"),
        lambda: DeltaTable.forPath(connect, uri),
        lambda: deltaic.verify(uri, spark=connect),
    ):
        with pytest.raises(StorageError, match=unseen) as raised:
            ask()
        assert s3.secret not in str(raised.value)
    own = r"(?s)^((?!did not see).)*$"
    with pytest.raises(StorageError, match=own):
        DeltaTable.forPath(connect, uri, {"fs.s3a.access.key": "a", "fs.s3a.secret.key": "wrong"})
    assert DeltaTable.forPath(connect, uri, s3.hadoop).history().count() == 1
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3.secret)
    assert DeltaTable.forPath(connect, uri).history().count() == 1
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    deltaic.enable(connect, credentials=lambda: {n: v for n, v in s3.options.items() if "access_key" in n})
    assert DeltaTable.forPath(connect, uri).history().count() == 1
    assert deltaic.save(rows, uri, mode="append") == 1
    connect.stop()
