"""Functions that a session of Spark Connect lets its server carry out, where the server has the bridge.

The server's Python calls the same function: arguments and answer travel as text. It plans and commits with what the
server reaches of the storage, so that a client needs none of it.

PySpark is imported when a function is called: the package has such functions where there is no PySpark, too.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import functools
import inspect
import json
import threading
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from deltaic.exceptions import DeltaWarning
from deltaic.spark.session.enabling import format_name
from deltaic.spark.session.hidden_settings import named_in_errors
from deltaic.spark.session.kind import is_connect, served_name

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")

_PACKAGE = "deltaic."
_STATEMENT = "DELTAIC CALL '"
"""StatementParser.java knows it, too."""
_RAISED: dict[str, type[Exception]] = {kind.__name__: kind for kind in (TypeError, ValueError)}
"""What is said of arguments; other errors travel as those of a query."""
_STORAGE = ("storage_options", "hadoopConf", "credentials")
"""Arguments that say how to reach a store."""

_carried_out: dict[str, Callable[..., Any]] = {}
_enabled: WeakSet[Any] = WeakSet()
# of the call that a thread carries out
_heard = threading.local()


def carried_out_by_server(function: Function) -> Function:
    """The function, which the server carries out for sessions that it serves.

    One of its arguments is the session, or has it. What has storage options of its own is done here: they may be
    credentials, and the text of a statement is shown to other users of a server.
    """
    _carried_out[_name(function)] = function
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        spark = next((found for one in given if (found := _session(one)) is not None), None)
        if spark is None:
            return function(*args, **kwargs)
        served = _is_served(spark)
        named = signature.bind(*args, **kwargs).arguments
        if any(named.get(name) for name in _STORAGE) or any(map(_has_own_storage, given)):
            return function(*args, **kwargs)
        if served:
            return _ask(spark, _name(function), args, kwargs)
        with named_in_errors(spark):
            return function(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


def answer_to(call: str, decoder: Decoder) -> str:
    """Carries out what a client asked for; its answer as text.

    Raises:
        LookupError: no function that clients may call.
    """
    asked = json.loads(base64.b64decode(call))
    import_module(_of_package(asked["function"].partition(":")[0]))
    function = _carried_out[asked["function"]]
    decoder.client = asked["user"], asked["session"]
    args, kwargs = decoder.decoded(asked["args"]), decoder.decoded(asked["kwargs"])
    said: dict[str, Any] = {"warnings": []}
    _heard.warnings = said["warnings"]
    try:
        said["answer"] = _encoded(function(*args, **kwargs))
    except tuple(_RAISED.values()) as error:
        if type(error).__name__ not in _RAISED:
            raise
        said["raised"] = [type(error).__name__, str(error)]
    finally:
        _heard.warnings = None
    return json.dumps(said)


def tell_clients_warnings() -> None:
    """From now on a warning of deltaic in a call goes to its client, and not to the output of this process."""
    show = warnings.showwarning

    def shown(message: Warning | str, category: type[Warning], *more: Any, **named: Any) -> None:
        heard = getattr(_heard, "warnings", None)
        if heard is None or not category.__module__.startswith(_PACKAGE):
            show(message, category, *more, **named)
        else:
            heard.append([*_place(category), str(message)])

    warnings.simplefilter("always", DeltaWarning)
    warnings.showwarning = shown


def _ask(spark: Any, function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    asked = {
        "function": function,
        "args": _encoded(args, spark.client),
        "kwargs": _encoded(kwargs, spark.client),
        "user": spark.client._user_id or "",
        "session": spark.session_id,
    }
    text = base64.b64encode(json.dumps(asked).encode()).decode()
    said = json.loads(spark.sql(f"{_STATEMENT}{text}'").first()[0])
    for module, kind, message in said["warnings"]:
        warnings.warn(message, getattr(import_module(_of_package(module)), kind), stacklevel=4)
    if "raised" in said:
        kind, message = said["raised"]
        raise _RAISED[kind](message)
    return Decoder(spark).decoded(said["answer"])


def _session(given: Any) -> Any:
    """The session that an argument is or has, if it is one of Spark Connect."""
    if is_connect(given):
        return given if _is_session(given) else getattr(given, "sparkSession", None)
    state = getattr(given, "__dict__", {})
    found = state.get("spark", state.get("_spark", state.get("_ref")))
    return None if found is None else _session(found)


def _is_session(value: Any) -> bool:
    from pyspark.sql import SparkSession

    # that of Spark Connect is a class of its own
    return isinstance(value, SparkSession) or (is_connect(value) and hasattr(type(value), "session_id"))


def _is_served(spark: Any) -> bool:
    if spark not in _enabled:
        # a function of `foreachBatch` gets a session that is new to its process
        format_name(spark)
        _enabled.add(spark)
    return served_name(spark) is not None


def _has_own_storage(given: Any) -> bool:
    ref = getattr(given, "__dict__", {}).get("_ref", given)
    return bool(getattr(ref, "__dict__", {}).get("storage_options"))


def _encoded(value: Any, client: Any = None) -> Any:
    """A value as JSON has it; `client` is that of the session of the columns and frames in it."""
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [_encoded(v, client) for v in value]
    if isinstance(value, tuple):
        return {"tuple": [_encoded(v, client) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[_encoded(k, client), _encoded(v, client)] for k, v in value.items()]}
    if isinstance(value, type):
        return {"class": _place(value)}
    if isinstance(value, DataType):
        return {"type": value.jsonValue()}
    if _is_session(value):
        return {"session": None}
    if isinstance(value, Column):
        return {"column": _bytes(value.to_plan(client).SerializeToString())}
    if is_connect(value):
        return {"frame": _bytes(value._plan.to_proto(client).root.SerializeToString())}
    if isinstance(value, dt.datetime):
        # one of a row is in the time zone of this process
        return {"time": value.timestamp()}
    if isinstance(value, DataFrame):
        rows = [row.asDict(recursive=True) for row in value.collect()]
        return {"rows": [value.schema.jsonValue(), _encoded(rows)]}
    return {"object": [*_place(type(value)), _encoded(_state(value), client)]}


def _state(value: Any) -> dict[str, Any]:
    """What an object of ours has; what is known in this process only is made again."""
    state = vars(value)
    if dataclasses.is_dataclass(value):
        return {f.name: state[f.name] for f in dataclasses.fields(value) if f.metadata.get("travels", True)}
    return dict(state)


class Decoder:
    """Values from JSON, in a session; `columns` and `frames` are those of a client, which only a server has."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        self.client: tuple[str, str] | None = None

    def decoded(self, given: Any) -> Any:
        """A value from what `_encoded` made of it."""
        if isinstance(given, list):
            return [self.decoded(v) for v in given]
        if not isinstance(given, dict):
            return given
        ((kind, value),) = given.items()
        return getattr(self, f"_{kind}")(value)

    def _tuple(self, value: Any) -> Any:
        return tuple(map(self.decoded, value))

    def _dict(self, value: Any) -> Any:
        return {self.decoded(k): self.decoded(v) for k, v in value}

    def _class(self, value: Any) -> Any:
        module, name = value
        return getattr(import_module(_of_package(module)), name)

    def _type(self, value: Any) -> Any:
        from pyspark.sql.types import _parse_datatype_json_value

        return _parse_datatype_json_value(value)

    def _session(self, _: Any) -> Any:
        return self.spark

    def _rows(self, value: Any) -> Any:
        from pyspark.sql.types import StructType

        from deltaic.spark.session import local_frames

        schema, rows = value
        return local_frames.frame(self.spark, StructType.fromJson(schema), self.decoded(rows))

    def _time(self, value: Any) -> Any:
        return dt.datetime.fromtimestamp(value, dt.timezone.utc)

    def _object(self, value: Any) -> Any:
        *place, state = value
        of: Any = self._class(place)
        given = self.decoded(state)
        if hasattr(of, "__dataclass_fields__"):
            return of(**given)
        made = object.__new__(of)
        made.__dict__.update(given)
        return made


def _name(function: Any) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def _place(of: type) -> list[str]:
    _of_package(of.__module__)
    return [of.__module__, of.__qualname__]


def _of_package(module: str) -> str:
    if not module.startswith(_PACKAGE):
        raise LookupError(f"{module} is not a module of deltaic")
    return module


def _bytes(data: bytes) -> str:
    return base64.b64encode(data).decode()
