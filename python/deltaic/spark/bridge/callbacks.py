"""What the JVM asks of Python: one function from a JSON request to an answer."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

from deltaic._core import SESSION_CREDENTIALS
from deltaic.exceptions import InvalidArgumentError, SchemaMismatchError, UnsupportedError
from deltaic.spark.bridge import (
    client_calls,
    core_reads,
    definitions,
    errors,
    rows,
    sinks,
    statements,
    streams,
    tables,
    writes,
)
from deltaic.spark.session.call_sites import without_call_sites

if TYPE_CHECKING:
    from collections.abc import Callable


# the answer to a request that does not show the secret
REFUSED = "refused"
_SEAL = hashlib.sha256().digest_size * 2


def callback(secret: str) -> Any:
    """The Python end of Python.java, for requests that whoever holds `secret` has sealed.

    A request is the HMAC of its JSON, in hexadecimal digits, and the JSON. One with another seal is not read, and the
    answer is always the same. An exception is kept and answered with its number.
    """
    key = secret.encode()

    class Callback:
        # a client of py4j's server may ask for any member by name: none has the secret, none can be set
        __slots__ = ()

        def apply(self, request: str, data: Any) -> Any:
            """`java.util.function.BiFunction.apply`."""
            seal, text = request[:_SEAL].encode(errors="replace"), request[_SEAL:]
            if not hmac.compare_digest(
                seal, hmac.new(key, text.encode(errors="replace"), "sha256").hexdigest().encode()
            ):
                return REFUSED
            try:
                asked = json.loads(text)
                with without_call_sites():
                    return _OPERATIONS[asked.pop("op")](_with_store(asked), data)
            except BaseException as error:  # noqa: BLE001  (the user gets it from the JVM)
                return errors.keep(error)

        class Java:
            """The interface that py4j gives the JVM."""

            implements = ("java.util.function.BiFunction",)

    return Callback()


def _with_store(asked: dict[str, Any]) -> dict[str, Any]:
    """A request whose options include the session's settings of stores, unless they set the same themselves."""
    store = asked.pop("store", None)
    if store and "options" in asked:
        named = {name.lower() for name in asked["options"]}
        asked["options"] |= {name: value for name, value in store.items() if name.lower() not in named}
    if store and "given" in asked and SESSION_CREDENTIALS in store:
        # Spark has the session's settings, and not what its function gives
        asked["given"].setdefault(SESSION_CREDENTIALS, store[SESSION_CREDENTIALS])
    return asked


def _refuse(asked: dict[str, Any], data: None) -> None:
    what, instead, path = asked["what"], asked["instead"], asked["path"]
    where = f"`{path}`: " if path else ""
    error = UnsupportedError(f"{where}{what} is not supported: {instead}", path=path, what=what)
    if asked["condition"] is None:
        raise error
    raise error.named(asked["condition"], **asked["parameters"])


def _refuse_argument(asked: dict[str, Any], data: None) -> None:
    error = InvalidArgumentError.of(asked["of"], asked["reason"])
    raise error.named(asked["condition"], **asked["parameters"])


def _refuse_rows(asked: dict[str, Any], data: None) -> None:
    error = SchemaMismatchError.of(asked["of"], asked["reason"])
    raise error.named(asked["condition"], **asked["parameters"])


_OPERATIONS: dict[str, Callable[[dict[str, Any], Any], Any]] = {
    "open": lambda asked, _: tables.describe(asked),
    "newest": lambda asked, _: tables.newest(asked),
    "fits": lambda asked, _: tables.check_analyzed(asked),
    "hadoopSettings": lambda asked, _: tables.hadoop_settings(asked),
    "plan": lambda asked, _: tables.files(asked),
    "groups": lambda asked, _: core_reads.groups(asked),
    "readGroups": core_reads.read_groups,
    "size": lambda asked, _: tables.size(asked),
    "rows": lambda asked, _: tables.rows(asked),
    "vectors": lambda asked, _: tables.may_have_deletion_vectors(asked),
    "definition": lambda asked, _: tables.definition(asked),
    "exists": lambda asked, _: tables.exists(asked["path"]),
    "checkLocation": lambda asked, _: tables.check_location(asked),
    "create": definitions.create,
    "createAs": definitions.create_as,
    "alter": definitions.alter,
    "save": writes.save,
    "insert": writes.insert,
    "delete": rows.delete,
    "update": rows.update,
    "merge": rows.merge,
    "truncate": rows.truncate,
    "partitions": tables.partitions,
    "parse": statements.parse,
    "statement": statements.execute,
    "call": client_calls.call,
    "streamSchema": lambda asked, _: streams.schema(asked),
    "streamOpen": lambda asked, _: streams.open_source(asked),
    "streamLatest": lambda asked, _: streams.latest(asked),
    "streamAvailableNow": lambda asked, _: streams.available_now(asked),
    "streamBatch": lambda asked, _: streams.batch(asked),
    "streamCommit": lambda asked, _: streams.commit(asked),
    "streamPlaces": lambda asked, _: streams.check_places(asked),
    "streamStop": lambda asked, _: streams.stop(asked),
    "sinkOpen": lambda asked, _: sinks.check(asked),
    "sinkAdd": sinks.add_batch,
    "refuse": _refuse,
    "refuseArgument": _refuse_argument,
    "refuseRows": _refuse_rows,
}
