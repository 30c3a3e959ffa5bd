"""The Python of the pages below docs/ runs as it stands, page by page, in one process with one small Spark."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import small_session

DOCS = Path(__file__).parents[3] / "docs"
# the first test of a page runs them all
pytestmark = pytest.mark.timeout(900)
# one that needs a server has the test that runs it before it
_BLOCK = re.compile(
    r"(?<!<!-- runs in tests/python/stores -->\n)(?<!<!-- runs in tests/python/spark -->\n)^```python\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# argument: a file with pages and their code as JSON
_RUN = """
import json, pathlib, sys, traceback
from deltaic.spark.java import ensure_java
ensure_java()
failed = {}
for page, code in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")).items():
    try:
        exec(compile(code, page, "exec"), {"__name__": page})
    except Exception:
        failed[page] = traceback.format_exc()
pathlib.Path(sys.argv[1]).write_text(json.dumps(failed), encoding="utf-8")
"""


def code(page: Path) -> str:
    """The blocks of a page, each at its line."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * text.count("\n")
    for block in _BLOCK.finditer(text):
        start = text.count("\n", 0, block.start(1))
        of_block = block[1].splitlines()
        lines[start : start + len(of_block)] = of_block
    return "\n".join(lines)


# the tour is run with its commands by test_readme.py
PAGES = {
    page.name: code(page)
    for page in sorted(DOCS.glob("*.md"))
    if page.name != "tour.md" and _BLOCK.search(page.read_text("utf-8"))
}


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What went wrong, by page."""
    folder = tmp_path_factory.mktemp("pages")
    pages = folder / "pages.json"
    pages.write_text(json.dumps(PAGES), encoding="utf-8")
    settings = "".join(f"{name} {value}\n" for name, value in small_session.small().items())
    (folder / "spark-defaults.conf").write_text(settings, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(pages)],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "SPARK_CONF_DIR": str(folder)},
        capture_output=True,
        encoding="utf-8",
        timeout=840,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(pages.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_page_runs(failed: dict[str, str], page: str) -> None:
    assert page not in failed, failed[page]


def test_every_page_is_listed() -> None:
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (DOCS / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(p.name for p in DOCS.glob("*.md") if p.name != "README.md")


def anchors(page: Path) -> set[str]:
    """Of the headings, as GitHub and the site make them."""
    titles = re.findall(
        r"^#+ (.*)$",
        re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL),
        re.MULTILINE,
    )
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in titles)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md")))
def test_what_a_page_links_to_is_there(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", text):
        found = (DOCS / page).parent / target if target else DOCS / page
        assert found.exists(), target
        if anchor and found.suffix == ".md":
            assert anchor in anchors(found), f"{target}#{anchor}"
