"""The site has every page and public name, and no broken link: what `.ci/site.py` makes, without building it."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deltaic
import deltaic.progress
import deltaic.table
import deltaic.tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_of_the_documentation", ROOT / ".ci" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_navigation_has_every_page(site: ModuleType) -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^ +- (?:[^:\n]+: )?([\w/.-]+\.md)$", text.partition("\nnav:\n")[2], re.MULTILINE)
    pages = [page.relative_to(site.DOCS).as_posix() for page in site.DOCS.rglob("*.md")]
    assert sorted(listed) == sorted([*pages, *site.reference()])


def test_the_reference_has_every_public_name(site: ModuleType) -> None:
    shown = set(re.findall(r"^::: deltaic\.([\w.]+)$", "\n".join(site.reference().values()), re.MULTILINE))
    public = {name for name in deltaic.__all__ if name != "__version__"}
    public |= {f"tables.{name}" for name in deltaic.tables.__all__}
    # what `deltaic` has itself is shown there
    public |= {f"table.{name}" for name in deltaic.table.__all__ if name not in deltaic.__all__}
    assert shown == {*public, "progress.Progress"}


def members(name: str) -> Iterator[str]:
    """A name of the reference, and what it shows below it."""
    found = deltaic
    for part in name.split("."):
        found = getattr(found, part)
    if inspect.ismodule(found):
        inside = inspect.getmembers(found, lambda m: inspect.isclass(m) or inspect.isfunction(m))
        yield from (
            f"{name}.{of}" for of, m in inside if m.__module__ == found.__name__ and not of.startswith("_")
        )
        return
    yield name
    if inspect.isclass(found):
        for of in dir(found):
            member = inspect.getattr_static(found, of)
            if not of.startswith("_") and (
                inspect.isfunction(member) or isinstance(member, property | staticmethod | classmethod)
            ):
                yield f"{name}.{of}"


def test_the_reference_says_since_when_each_name_is_there(site: ModuleType) -> None:
    lines = (ROOT / ".ci/since.txt").read_text(encoding="utf-8").splitlines()
    since = dict(line.split() for line in lines if not line.startswith("#"))
    shown = [name for _, _, names in site.REFERENCE.values() for of in names for name in members(of)]
    assert list(since) == sorted(f"deltaic.{name}" for name in shown)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert {version for version in since.values() if f"\n## [{version}]" not in changes} == set()


def test_every_public_name_says_what_it_is_for() -> None:
    lacking = []
    for module in (deltaic, deltaic.table, deltaic.tables, deltaic.exceptions):
        for name in getattr(module, "__all__", dir(module)):
            found = getattr(module, name)
            if not (inspect.isclass(found) or inspect.isfunction(found)) or name.startswith("_"):
                continue
            if not found.__module__.startswith("deltaic"):
                continue
            lacking += [name] if not found.__doc__ else []
            if inspect.isclass(found):
                members = inspect.getmembers(
                    found, lambda m: inspect.isfunction(m) or isinstance(m, property)
                )
                lacking += [
                    f"{name}.{of}" for of, m in members if not of.startswith("_") and not inspect.getdoc(m)
                ]
    assert lacking == []


def test_links_out_of_the_pages_lead_to_the_repository(site: ModuleType) -> None:
    page = site.DOCS / "decisions" / "README.md"
    assert site.outside(page, "../glossary.md") == "../glossary.md"
    assert site.outside(page, "../../CHANGELOG.md") == f"{site.REPOSITORY}/blob/main/CHANGELOG.md"
    assert site.outside(page, "../../benches") == f"{site.REPOSITORY}/tree/main/benches"
    assert site.outside(page, "https://delta.io") == "https://delta.io"


def test_llms_txt_has_every_page(site: ModuleType) -> None:
    written = site.llms()
    for page in site.DOCS.glob("*.md"):
        if page.name != "README.md":
            assert f"]({page.name}): " in written["llms.txt"], page.name
            assert page.read_text(encoding="utf-8") in written["llms-full.txt"], page.name


def test_broken_links_are_found(site: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "SITE", tmp_path)
    for name, text in {
        "html/index.html": '<a href="read/#rows">1</a><a href="read/#gone">2</a><a href="https://delta.io">3</a>',
        "html/read/index.html": '<h2 id="rows"></h2><a href="..">4</a><img src="../pictures/gone.svg">',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert site.broken() == [
        "index.html: read/#gone has no such anchor",
        "read/index.html: ../pictures/gone.svg is not there",
    ]
