"""Every kind of error of the core has its Python class, and carries its facts wherever it goes."""

import inspect
import pickle

import pytest

from deltaic import exceptions
from deltaic._core import error_kinds

KINDS = error_kinds()


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
