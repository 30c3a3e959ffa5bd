"""The check of the layers of rust/core/src refuses what climbs, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from core_checks import checked

ROOT = Path(__file__).parents[3]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A core of three layers with the check beside it."""
    source = tmp_path / "rust/core/src"
    for folder in ("low", "middle", "high"):
        (source / folder).mkdir(parents=True)
        (source / folder / "mod.rs").write_text("mod file;\n")
        (source / folder / "file.rs").write_text("pub struct Item;\n")
    (source / "lib.rs").write_text("mod high;\nmod low;\nmod middle;\npub use high::Item;\n")
    (tmp_path / "rust/core/layers.txt").write_text("# low to high\nlow\nmiddle  # a comment\nhigh\n")
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/layers.py", tmp_path / ".ci")
    return tmp_path


def check(tree: Path) -> tuple[int, str]:
    return checked(tree, "layers.py")


@pytest.mark.parametrize(
    "code",
    [
        "use crate::high::Item;",
        "use crate::{low::Item, high::{Item as Other}};",
        "use super::super::high::Item;",
        "fn f() -> crate::Item {}",
        "mod inner { use super::super::super::high; }",
        'fn f() { let text = "//"; crate::high::g(); }',
        "fn f<'a>(x: &'a str) { crate::high::g('\\'', x); }",
    ],
)
def test_a_path_upwards_is_refused(tree: Path, code: str) -> None:
    (tree / "rust/core/src/middle/file.rs").write_text(f"\n{code}\n")
    assert check(tree) == (1, "rust/core/src/middle/file.rs:2: `middle` uses `high`, which is not below it\n")


@pytest.mark.parametrize(
    "code",
    [
        "use crate::low::Item;\nuse super::file;\nuse self::other::Item;",
        '/// As [`crate::high::Item`].\nfn f() { let text = "crate::high"; }',
        "#[cfg(test)]\nmod tests {\n    use crate::high::Item;\n}",
        "#[cfg(all(test, unix))]\nuse crate::high::Item;",
    ],
)
def test_paths_downwards_comments_and_tests_are_not(tree: Path, code: str) -> None:
    (tree / "rust/core/src/middle/file.rs").write_text(code)
    assert check(tree)[0] == 0


def test_a_file_of_tests_may_use_everything(tree: Path) -> None:
    (tree / "rust/core/src/low/mod.rs").write_text("#[cfg(test)]\nmod file;\n")
    (tree / "rust/core/src/low/file.rs").write_text("use crate::high::Item;\n")
    assert check(tree)[0] == 0


def test_every_folder_has_a_layer(tree: Path) -> None:
    (tree / "rust/core/src/new").mkdir()
    (tree / "rust/core/layers.txt").write_text("low\nmiddle\nhigh gone\n")
    assert check(tree) == (
        1,
        "new is in rust/core/src and not in layers.txt\ngone is in layers.txt and not in rust/core/src\n",
    )
