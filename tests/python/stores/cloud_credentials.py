"""Tables whose tokens a class of Hadoop gives, in the JVM of a session: `cloud_credentials.py JARS FOLDER`.

The stores come as JSON in the variable `STORES`: for each its URI, options and settings, and the file of its token. A
line `turn` asks the caller for other tokens, and goes on when he has answered; the name of a store is printed when all
has held for it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import small_session

import deltaic
from deltaic.exceptions import CredentialsError

STORES: dict[str, dict[str, Any]] = json.loads(os.environ["STORES"])
ROWS = pa.table({"id": pa.array(range(10), pa.int64())})


def turn() -> None:
    print("turn", flush=True)
    sys.stdin.readline()


def tables(uri: str, options: dict[str, str], vault: Path) -> None:
    deltaic.write(uri, ROWS, storage_options=options)
    table = deltaic.Table(uri, storage_options=options)
    for step in range(1, 3):
        turn()
        table.update()
        assert pa.table(table.to_arrow()).num_rows == 10 * step
        turn()
        deltaic.write(uri, ROWS, storage_options=options)
    turn()
    table.update()
    table.delete("id = 3")
    vault.unlink()
    turn()
    with pytest.raises(CredentialsError, match="the vault is sealed"):
        table.update()


def main(jars: str) -> None:
    spark = small_session.session("local[1]", {"spark.jars": jars})
    for name, store in STORES.items():
        tables(store["uri"], store["options"], Path(store["vault"]))
        print(name, flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
