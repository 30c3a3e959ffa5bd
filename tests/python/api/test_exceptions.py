"""Every kind of error of the core has its Python class, and carries its facts wherever it goes."""

import ast
import inspect
import pickle
from pathlib import Path

import pytest

import deltaic
from deltaic import exceptions
from deltaic._core import conditions_of_kinds, error_conditions, error_kinds

KINDS = error_kinds()
CONDITIONS = {c["name"]: (c["sql_state"], dict(c["parameters"])) for c in error_conditions()}


@pytest.mark.parametrize(("kind", "facts"), KINDS, ids=[kind for kind, _ in KINDS])
def test_every_kind_has_a_class_with_its_facts(kind, facts):
    error_class = getattr(exceptions, f"{kind}Error")
    assert issubclass(error_class, exceptions.DeltaError)
    # conflicts have the facts of their base
    annotations = inspect.get_annotations(error_class) or inspect.get_annotations(error_class.__base__)
    assert list(annotations) == facts
    assert error_class.__doc__


@pytest.mark.parametrize(("kind", "facts"), KINDS, ids=[kind for kind, _ in KINDS])
def test_every_error_can_be_pickled(kind, facts):
    values = {name: f"value of {name}" for name in facts}
    error = getattr(exceptions, f"{kind}Error")("what went wrong", **values)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error) == "what went wrong"
    assert copy.kind == kind
    assert copy.facts == values


def test_there_is_no_class_without_a_kind():
    names = {f"{kind}Error" for kind, _ in KINDS}
    names |= {"DeltaError", "DeltaWarning", "DeltaConcurrentModificationException", "CommitConflictError"}
    names |= {"MultipleMatchesError"}  # Spark alone finds them
    classes = {value.__name__ for value in vars(exceptions).values() if isinstance(value, type)}
    assert classes == names


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("TableNotFoundError", FileNotFoundError),
        ("TableAlreadyExistsError", FileExistsError),
        ("InvalidArgumentError", ValueError),
        ("InvalidPredicateError", ValueError),
        ("StorageError", OSError),
        ("UnsupportedFeatureError", NotImplementedError),
    ],
)
def test_a_class_is_also_the_builtin_that_says_the_same(name, builtin):
    assert issubclass(getattr(exceptions, name), builtin)


@pytest.mark.parametrize(
    "name",
    [
        "ConcurrentAppend",
        "ConcurrentDeleteDelete",
        "ConcurrentDeleteRead",
        "ConcurrentTransaction",
        "ConcurrentWrite",
        "MetadataChanged",
        "ProtocolChanged",
    ],
)
def test_conflicts_are_caught_by_the_names_of_delta_spark(name):
    error_class = getattr(exceptions, f"{name}Exception")
    assert error_class is getattr(exceptions, f"{name}Error")
    assert issubclass(error_class, exceptions.CommitConflictError)
    with pytest.raises(exceptions.DeltaConcurrentModificationException):
        raise error_class("lost", path="t", version=3, winner="WRITE")


def test_a_broken_rule_is_caught_by_the_name_of_delta_spark():
    assert exceptions.DeltaInvariantViolationException is exceptions.InvariantViolationError


@pytest.mark.parametrize(("kind", "condition"), conditions_of_kinds())
def test_a_kind_that_is_always_one_condition_has_it_with_its_facts(kind, condition):
    facts = {name: f"value of {name}" for name in dict(KINDS)[kind]}
    error = getattr(exceptions, f"{kind}Error")("what went wrong", **facts)
    sql_state, parameters = CONDITIONS[condition]
    assert (error.condition, error.sql_state) == (condition, sql_state)
    known = {name: facts[fact] for name, fact in parameters.items() if fact is not None}
    assert error.message_parameters == known
    # without Spark the text is as it was
    assert str(error) == "what went wrong"


def test_the_place_that_raises_says_the_condition():
    error = exceptions.VersionNotFoundError("gone", path="t", version=9, earliest=0, latest=3)
    assert error.condition == "DELTA_VERSION_NOT_FOUND"
    assert error.named("DELTA_CANNOT_RESTORE_TABLE_VERSION") is error
    assert error.message_parameters == {"version": "9", "startVersion": "0", "endVersion": "3"}
    given = exceptions.InvalidArgumentError.of("mergeSchema", "wrong")
    assert (given.condition, given.sql_state, given.message_parameters) == (None, None, {})
    given.named("DELTA_ILLEGAL_OPTION", input="maybe")
    assert given.message_parameters == {"input": "maybe", "name": "mergeSchema"}
    copy = pickle.loads(pickle.dumps(given))
    assert (copy.condition, copy.message_parameters) == (given.condition, given.message_parameters)
    assert copy.facts == given.facts


def test_what_the_core_names_is_named_here(tmp_path):
    deltaic.create(tmp_path / "t", "id BIGINT")
    table = deltaic.Table(tmp_path / "t")
    with pytest.raises(exceptions.VersionNotFoundError) as restored:
        table.restore(99)
    assert restored.value.condition == "DELTA_CANNOT_RESTORE_TABLE_VERSION"
    assert restored.value.sql_state == "22003"
    with pytest.raises(exceptions.InvalidArgumentError) as unknown:
        table.set_properties({"delta.feature.timeMachine": "supported"})
    assert unknown.value.message_parameters == {"configs": "delta.feature.timeMachine"}
    assert not str(unknown.value).startswith("[")


def test_places_name_only_conditions_of_the_table():
    """In the sources of the package: `error.named("…", parameter=…)`."""
    found = 0
    for file in Path(deltaic.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(call, ast.Call) and getattr(call.func, "attr", None) == "named"):
                continue
            names = [n.value for n in ast.walk(call.args[0]) if isinstance(n, ast.Constant)]
            for name in (name for name in names if str(name).isupper()):
                found += 1
                given = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
                assert given <= CONDITIONS[name][1].keys(), (file.name, name)
    assert found > 20
