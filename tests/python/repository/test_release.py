"""The version is the same wherever it stands, and one command sets it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CARGO = """[workspace]
members = ["rust/core"]

[workspace.package]
version = "0.1.0"

[workspace.dependencies]
deltaic-core = { path = "rust/core", version = "0.1.0" }
serde = "1.0"
"""
LOCK = '[[package]]\nname = "deltaic-core"\nversion = "0.1.0"\n\n[[package]]\nname = "serde"\nversion = "1.0.3"\n'
CHANGES = """# Changelog

## [Unreleased]

### Added

- A.

## [0.1.0] - 2026-01-01

- B.

[Unreleased]: x/compare/v0.1.0...HEAD
"""


def run(root: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, root / ".ci/release.py", *arguments], capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A workspace of one crate, with the command beside it."""
    core = tmp_path / "rust/core"
    (core / "src").mkdir(parents=True)
    (core / "src/lib.rs").write_text("")
    (core / "Cargo.toml").write_text('[package]\nname = "deltaic-core"\nversion.workspace = true\n')
    (tmp_path / "benches").mkdir()
    (tmp_path / "benches/Cargo.toml").write_text("")
    (tmp_path / "Cargo.toml").write_text(CARGO)
    (tmp_path / "Cargo.lock").write_text(LOCK)
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/release.py", tmp_path / ".ci")
    (tmp_path / ".ci/since.txt").write_text("# Since\na.b 0.1.0\na.c Unreleased\n")
    return tmp_path


def test_the_versions_of_the_repository_agree() -> None:
    assert run(ROOT, "--check") == (0, "")


def test_a_tag_must_be_that_of_the_version(tree: Path) -> None:
    assert run(tree, "--check", "--ref", "refs/tags/v0.1.0") == (0, "")
    assert run(tree, "--check", "--ref", "refs/heads/main") == (0, "")
    assert run(tree, "--check", "--ref", "refs/tags/v0.2.0") == (
        1,
        "refs/tags/v0.2.0 is not the tag of version 0.1.0\n",
    )


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "Cargo.toml",
            'core", version = "0.1.0"',
            'core", version = "0.0.9"',
            "several versions: 0.0.9, 0.1.0",
        ),
        ("Cargo.lock", '"0.1.0"', '"0.0.9"', "Cargo.lock has another version of deltaic-core than 0.1.0"),
        ("CHANGELOG.md", "[0.1.0] - 2026-01-01", "[0.0.9] - 2026-01-01", "CHANGELOG.md is not 0.1.0"),
        ("CHANGELOG.md", " - 2026-01-01", "", "CHANGELOG.md is not 0.1.0 with a date"),
        ("CHANGELOG.md", "## [Unreleased]\n", "", "does not begin with what is unreleased"),
    ],
)
def test_what_disagrees_is_found(tree: Path, file: str, old: str, new: str, said: str) -> None:
    path = tree / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    code, output = run(tree, "--check")
    assert code == 1
    assert said in output


def test_a_release_moves_what_was_unreleased(tree: Path) -> None:
    (tree / "Cargo.toml").write_text(CARGO.replace('serde = "1.0"\n', ""))
    (tree / "Cargo.lock").write_text('version = 4\n\n[[package]]\nname = "deltaic-core"\nversion = "0.1.0"\n')
    assert run(tree, "0.2.0", "--date", "2026-02-03") == (0, "")
    assert (tree / "Cargo.toml").read_text().count('version = "0.2.0"') == 2
    assert 'version = "0.2.0"' in (tree / "Cargo.lock").read_text()
    assert (tree / ".ci/since.txt").read_text() == "# Since\na.b 0.1.0\na.c 0.2.0\n"
    now = (tree / "CHANGELOG.md").read_text()
    assert now.startswith(
        "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-02-03\n\n### Added\n\n- A.\n\n## [0.1.0]"
    )
    assert now.endswith("[Unreleased]: x/compare/v0.2.0...HEAD\n[0.2.0]: x/compare/v0.1.0...v0.2.0\n")
    assert run(tree, "0.2.0")[0] == 1
    assert run(tree, "--check", "--ref", "refs/tags/v0.2.0") == (0, "")


@pytest.mark.parametrize("arguments", [[], ["0.2"], ["v0.2.0"], ["0.2.0", "--check"]])
def test_what_is_no_version_is_refused(tree: Path, arguments: list[str]) -> None:
    assert run(tree, *arguments)[0] == 2
    assert (tree / "Cargo.toml").read_text() == CARGO
