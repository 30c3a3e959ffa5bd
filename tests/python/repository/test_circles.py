"""The check for circles of files in rust/core/src finds each one, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from core_checks import checked

ROOT = Path(__file__).parents[3]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A core of two folders, of which `high` gives a name to an item of a file of its own."""
    source = tmp_path / "rust/core/src"
    files = {
        "lib.rs": "mod high;\nmod low;\npub use high::Item;\n",
        "low/mod.rs": "mod file;\npub use file::{Thing, other::Deep as Deeper};\n",
        "low/file.rs": "pub struct Thing;\n",
        "high/mod.rs": "mod first;\nmod second;\npub use first::Item;\n",
        "high/first.rs": "pub struct Item;\n",
        "high/second.rs": "use super::Item;\nuse crate::low::Thing;\n",
    }
    for name, code in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(code)
    (tmp_path / ".ci").mkdir()
    for script in ("circles.py", "layers.py"):
        shutil.copy(ROOT / ".ci" / script, tmp_path / ".ci")
    return tmp_path


def check(tree: Path) -> tuple[int, str]:
    return checked(tree, "circles.py")


def test_files_in_an_order_pass(tree: Path) -> None:
    assert check(tree) == (0, "no files use each other in a circle\n")


@pytest.mark.parametrize(
    "code",
    [
        "use super::second;",
        "use super::second::{self, Other};",
        "use crate::{low::Thing, high::{second as other}};",
        "fn f() { crate::high::second::g(); }",
        "mod inner { use super::super::second::Other; }",
    ],
)
def test_a_circle_is_found(tree: Path, code: str) -> None:
    (tree / "rust/core/src/high/first.rs").write_text(f"pub struct Item;\n{code}\n")
    status, said = check(tree)
    assert status == 1
    circle = said.splitlines()[-1].split(" -> ")
    assert circle[0] == circle[-1]
    assert set(circle) == {"high/first", "high/second"}


@pytest.mark.parametrize("use", ["crate::Item", "crate::high::Item", "crate::{high::Item as Other}"])
def test_a_circle_through_names_that_folders_give_is_found(tree: Path, use: str) -> None:
    (tree / "rust/core/src/low/file.rs").write_text(f"use {use};\n")
    (tree / "rust/core/src/high/first.rs").write_text("use crate::low::Deeper;\n")
    status, said = check(tree)
    assert status == 1
    assert set(said.splitlines()[-1].split(" -> ")) == {"high/first", "low/file"}


@pytest.mark.parametrize(
    "code",
    [
        "/// As [`super::second`].\npub struct Item;",
        'fn f() { let text = "super::second"; }',
        "#[cfg(test)]\nmod tests {\n    use crate::high::second::Other;\n}",
        "use super::Item;",
    ],
)
def test_comments_tests_and_names_of_its_own_are_no_circle(tree: Path, code: str) -> None:
    (tree / "rust/core/src/high/first.rs").write_text(f"{code}\n")
    assert check(tree)[0] == 0
