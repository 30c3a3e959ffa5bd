"""The check of the names of the protocol refuses those that are spelled out elsewhere in rust/core/src."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from core_checks import checked

ROOT = Path(__file__).parents[3]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A core of two files, one of which is the place of names, with the check beside it."""
    source = tmp_path / "rust/core/src"
    for folder in ("properties", "alter"):
        (source / folder).mkdir(parents=True)
    (source / "properties/table_property.rs").write_text('const NAME: &str = "delta.appendOnly";\n')
    (tmp_path / ".ci").mkdir()
    for name in ("layers.py", "names.py"):
        shutil.copy(ROOT / ".ci" / name, tmp_path / ".ci")
    return tmp_path


def check(tree: Path, code: str) -> tuple[int, str]:
    (tree / "rust/core/src/alter/file.rs").write_text(code)
    return checked(tree, "names.py")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('\nfn f() { g("delta.appendOnly") }', '2: "delta.appendOnly" is a name'),
        ('fn f() { g(r#"delta.appendOnly"#) }', '1: r#"delta.appendOnly"# is a name'),
        ('#[cfg(test)]\nmod tests {}\nfn f() { g("delta.") }', '3: "delta." is a name'),
        ('fn f() { Operation::new(\n    "WRITE") }', '2: "WRITE" is a name'),
    ],
)
def test_a_name_that_is_spelled_out_is_refused(tree: Path, code: str, said: str) -> None:
    done, output = check(tree, code)
    assert done == 1
    assert output.startswith(f"rust/core/src/alter/file.rs:{said}"), output


@pytest.mark.parametrize(
    "code",
    [
        "/// `delta.appendOnly`\nfn f() { g(TableProperty::AppendOnly) }",
        'fn f() { g("set `delta.appendOnly`") }',
        'fn f() { g(format!("delta.`{}`", path)) }',
        '#[cfg(test)]\nmod tests {\n    const NAME: &str = "delta.appendOnly";\n}',
        'fn f() { Operation::new(OperationName::Write).with("mode", "Append") }',
    ],
)
def test_constants_messages_and_tests_are_not(tree: Path, code: str) -> None:
    assert check(tree, code) == (0, "every name of the protocol is in its place\n")
