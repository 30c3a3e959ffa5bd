"""Builds the site of the documentation from docs/ into target/site/html: `python .ci/site.py`, from `deltaic[docs]`.

Zensical gets a copy of the pages in target/site/docs, of which links out of docs/ lead to the repository, with a
reference of the Python package from its docstrings. `cargo doc` of the crate `deltaic`, if target/doc has it, is put
beside, and so are llms.txt (the pages, one line each) and llms-full.txt (all of them). npm fetches Mermaid, which draws
the diagrams. `--check` fails on a link or anchor that leads nowhere; `--prepare` makes the copy alone.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import subprocess
import sys
import tarfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SITE = ROOT / "target" / "site"
REPOSITORY = "https://github.com/deltaic/deltaic"
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
ENTRY = re.compile(r"^\| \[([^\]]+)\]\(([\w/.-]+\.md)\) \| (.*) \|$")
# served with the pages: the theme would load it from another host
MERMAID = "mermaid@11.17.2"
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
# page of the reference: its title, what it begins with, and what it shows
REFERENCE = {
    "deltaic": (
        "deltaic",
        "Functions for Spark and for Arrow data.",
        [
            *(
                "enable",
                "read",
                "save",
                "sql",
                "table_changes",
                "upsert",
                "upsert_batch",
                "scd2",
                "deduplicate",
            ),
            *("create", "write", "scan_polars", "dataset", "convert", "verify"),
        ],
    ),
    "table": ("deltaic.Table", "A table without an engine.", ["Table"]),
    "results": (
        "Results",
        "What operations return, and what a table says of itself.",
        [
            *(
                "WriteResult",
                "CreateResult",
                "ConvertResult",
                "UpsertResult",
                "Scd2Result",
                "DeduplicateResult",
            ),
            *("VerifyReport", "Finding", "progress.Progress"),
            *(
                f"table.{name}"
                for name in (
                    *("ArrowStream", "Checkpoint", "CleanedLog", "CloneResult", "CompactedLog", "CurveStats"),
                    *("DeleteResult", "FileTotals", "FsckResult", "ManifestResult", "Merge", "MergeResult"),
                    *(
                        "Metadata",
                        "OptimizeResult",
                        "Protocol",
                        "RestoreResult",
                        "UpdateResult",
                        "VacuumResult",
                    ),
                )
            ),
        ],
    ),
    "tables": (
        "deltaic.tables",
        "The names of `delta.tables`, for Spark.",
        [
            f"tables.{name}"
            for name in (
                "DeltaTable",
                "DeltaTableBuilder",
                "DeltaMergeBuilder",
                "DeltaOptimizeBuilder",
                "IdentityGenerator",
            )
        ],
    ),
    "exceptions": ("deltaic.exceptions", "", ["exceptions"]),
    "logs": ("deltaic.logs", "", ["logs"]),
}


def outside(page: Path, target: str) -> str:
    """Where a link of a page leads on the site: what is not in docs/ is in the repository."""
    if "://" in target or target.startswith("mailto:"):
        return target
    found = (page.parent / target).resolve()
    if found.is_relative_to(DOCS):
        return target
    kind = "tree" if found.is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/main/{found.relative_to(ROOT).as_posix()}"


def on_site(page: Path) -> str:
    """The text of a page as the site has it; code stays as it is."""
    parts = FENCE.split(page.read_text(encoding="utf-8"))
    for at in range(0, len(parts), 2):
        parts[at] = LINK.sub(lambda link: f"{link[1]}{outside(page, link[2])}{link[3]}", parts[at])
    text = "".join(parts)
    if "```mermaid" in text:
        depth = "../" * (len(page.relative_to(DOCS).parts) - 1)
        text += f'\n<script src="{depth}assets/mermaid.min.js"></script>\n'
    return text


def reference() -> dict[str, str]:
    """The pages of the reference of the package, with what mkdocstrings puts the docstrings in the place of."""
    pages = {}
    for name, (title, text, items) in REFERENCE.items():
        shown = "\n\n".join(f"::: deltaic.{item}" for item in items)
        pages[f"api/{name}.md"] = f"# {title}\n\n{text}\n\n{shown}\n"
    return pages


def prepare() -> None:
    """The copy that is built."""
    shutil.rmtree(SITE, ignore_errors=True)
    for page in sorted(DOCS.rglob("*")):
        to = SITE / "docs" / page.relative_to(DOCS)
        if page.is_dir():
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".md":
            to.write_text(on_site(page), encoding="utf-8")
        else:
            shutil.copyfile(page, to)
    for name, text in reference().items():
        to = SITE / "docs" / name
        to.parent.mkdir(exist_ok=True)
        to.write_text(text, encoding="utf-8")


def fetch_mermaid() -> None:
    """Its one file, into the copy that is built."""
    npm = SITE / "npm"
    npm.mkdir()
    # without scripts of the package, and through the client's own checks of what it has fetched
    subprocess.run(
        ["npm", "pack", "--silent", "--ignore-scripts", MERMAID],
        cwd=npm,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (archive,) = npm.glob("*.tgz")
    with tarfile.open(archive) as files:
        script = files.extractfile("package/dist/mermaid.min.js")
        assert script is not None
        to = SITE / "docs/assets/mermaid.min.js"
        to.parent.mkdir(exist_ok=True)
        to.write_bytes(script.read())


def llms() -> dict[str, str]:
    """llms.txt and llms-full.txt, from docs/README.md, which lists every page."""
    short = ["# deltaic", "", "> Delta Lake for PySpark, Python and Rust from one pip install: no JAR.", ""]
    full = []
    for line in (DOCS / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            short += [line, ""]
        elif found := ENTRY.match(line):
            name, path, about = found.groups()
            short.append(f"- [{name}]({path}): {about}")
            full.append((DOCS / path).read_text(encoding="utf-8"))
        elif not line and short[-1].startswith("- "):
            short.append("")
    return {"llms.txt": "\n".join(short).rstrip() + "\n", "llms-full.txt": "\n\n".join(full)}


def build() -> None:
    """The site."""
    prepare()
    fetch_mermaid()
    subprocess.run([sys.executable, "-m", "zensical", "build", "--clean"], cwd=ROOT, check=True)
    for name, text in llms().items():
        (SITE / "html" / name).write_text(text, encoding="utf-8")
    # the pages as they were written, which llms.txt leads to
    for page in DOCS.rglob("*.md"):
        shutil.copyfile(page, SITE / "html" / page.relative_to(DOCS))
    if (ROOT / "target/doc/deltaic").is_dir():
        shutil.copytree(ROOT / "target/doc", SITE / "html/rust")


class Page(HTMLParser):
    """Where a page leads, and what can be led to on it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"href", "src"} and value:
                self.links.append(value)
            elif name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")


def broken() -> list[str]:
    """Links of the site that lead nowhere; links to other sites are not followed."""
    html = SITE / "html"
    pages = {
        path.relative_to(html).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in html.rglob("*.html")
        # rustdoc has checked its own
        if "rust" not in path.relative_to(html).parts
    }
    wrong = []
    for name, page in pages.items():
        if name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = (
                posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
                if parts.path
                else name
            )
            if (html / path).is_dir():
                path = posixpath.normpath(posixpath.join(path, "index.html"))
            if path.startswith("rust/") and not (html / "rust").exists():
                continue
            if not (html / path).is_file():
                wrong.append(f"{name}: {link} is not there")
            elif parts.fragment and path in pages and unquote(parts.fragment) not in pages[path].anchors:
                wrong.append(f"{name}: {link} has no such anchor")
    return sorted(set(wrong))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--prepare", action="store_true")
    given = arguments.parse_args()
    if given.prepare:
        prepare()
        return
    build()
    if given.check and (wrong := broken()):
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
