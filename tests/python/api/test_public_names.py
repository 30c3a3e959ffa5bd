"""Names of `deltaic` are what they are whatever is imported, and the package itself does not go through them."""

from __future__ import annotations

import ast
from pathlib import Path

import deltaic

PACKAGE = Path(deltaic.__file__).parent


def test_no_module_takes_the_place_of_a_public_name() -> None:
    # Python sets a submodule as an attribute of its package whenever it is first imported
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert modules & set(deltaic.__all__) == {"exceptions", "logs"}


def test_only_the_command_line_imports_the_public_names() -> None:
    public = set(deltaic.__all__) - {"exceptions", "logs"}
    found = []
    for path in PACKAGE.rglob("*.py"):
        if "cli" in path.relative_to(PACKAGE).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                {name.name for name in node.names} if isinstance(node, ast.Import | ast.ImportFrom) else set()
            )
            if isinstance(node, ast.Import) and "deltaic" in names:
                found.append(f"{path.name}: import deltaic")
            elif isinstance(node, ast.ImportFrom) and node.module == "deltaic" and names & public:
                found.append(f"{path.name}: {names & public}")
    assert found == []
