"""THIRD-PARTY-LICENSES: what is linked into the wheels, and the licences and notices of each crate from its package.

`python .ci/third_party_licenses.py` writes the file; with `--check` it fails where the file is another. Cargo fetches
the packages that it has not yet.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / "THIRD-PARTY-LICENSES"

# names of files that must go with the code
LEGAL = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.IGNORECASE)
# the other of two licences, which is not the one that is taken
NOT_TAKEN = {("zstd-sys", "zstd/COPYING")}
# packages without the text of their licence: whose text it is
TEXT_OF = {
    "alloc-stdlib": "alloc-no-stdlib",
    "crc-catalog": "crc",
    "flatbuffers": "sqlparser",
    "hdfs-native": "sqlparser",
    "objc2-core-foundation": "sqlparser",
    "objc2-system-configuration": "sqlparser",
}

HEAD = """\
Third-party software in the wheels of deltaic
=============================================

The extension module of deltaic is linked with the Rust crates below, and with the standard library of Rust (MIT OR
Apache-2.0, copyright The Rust Project Contributors). Behind each crate stand its licence and the numbers of its texts,
which follow the list. Where a licence is `A OR B`, both may be here, and one of them is enough.

This file is generated: python .ci/third_party_licenses.py
"""
RULE = "-" * 100


def triple(os: str, target: str, manylinux: str) -> str:
    """The name that Rust has for a target of the workflow."""
    architecture = {"x64": "x86_64"}.get(target, target)
    if os.startswith("macos"):
        return f"{architecture}-apple-darwin"
    if os.startswith("windows"):
        return f"{architecture}-pc-windows-msvc"
    return f"{architecture}-unknown-linux-{'musl' if manylinux.startswith('musl') else 'gnu'}"


def targets() -> set[str]:
    """The targets that wheels are built for."""
    workflow = (ROOT / ".github/workflows/wheels.yml").read_text(encoding="utf-8")
    rows = re.findall(
        r'- \{ os: (\S+), target: (\S+), manylinux: "?([^",} ]+)"?(?:, python: \S+)? \}', workflow
    )
    assert len(rows) == len(re.findall(r"- \{.*\bmanylinux: ", workflow)), (
        "a target of wheels.yml is not understood"
    )
    return {triple(*row) for row in rows}


def linked() -> list[dict]:
    """The packages that are linked into some wheel: no tests, no build scripts, no macros."""
    found = {}
    for target in sorted(targets()):
        command = ["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={target}"]
        said = subprocess.run(
            [*command, "--manifest-path=rust/py/Cargo.toml"], cwd=ROOT, check=True, stdout=subprocess.PIPE
        )
        metadata = json.loads(said.stdout)
        packages = {package["id"]: package for package in metadata["packages"]}
        nodes = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
        seen, todo = set(), [metadata["resolve"]["root"]]
        while todo:
            package = packages[todo.pop()]
            is_macro = any("proc-macro" in built["kind"] for built in package["targets"])
            if package["id"] in seen or is_macro:
                continue
            seen.add(package["id"])
            todo += [
                dependency["pkg"]
                for dependency in nodes[package["id"]]
                if any(kind["kind"] is None for kind in dependency["dep_kinds"])
            ]
        found |= {key: packages[key] for key in seen if packages[key]["source"]}
    return sorted(found.values(), key=lambda package: (package["name"], package["version"]))


def texts(package: dict) -> dict[str, str]:
    """The licences and notices of a package, and of code that it contains, by the names of their files."""
    folder = Path(package["manifest_path"]).parent
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    legal = [
        name for name in names if LEGAL.match(Path(name).name) and (package["name"], name) not in NOT_TAKEN
    ]
    return {name: tidy((folder / name).read_text(encoding="utf-8")) for name in legal}


def tidy(text: str) -> str:
    """A text without what cannot be seen."""
    lines = text.removeprefix("\ufeff").replace("\f", "\n").splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def generated() -> str:
    """What the file must hold."""
    packages = linked()
    by_name = {package["name"]: package for package in packages}
    numbers: dict[str, int] = {}
    shown: list[str] = []
    rows = []
    for package in packages:
        own = texts(package) or texts(by_name[TEXT_OF[package["name"]]])
        used = []
        for text in own.values():
            assert text, f"an empty licence in {package['name']}"
            same = " ".join(text.split())
            if same not in numbers:
                numbers[same] = len(numbers) + 1
                shown.append(text)
            used.append(numbers[same])
        numbered = ", ".join(map(str, sorted(set(used))))
        rows.append(f"{package['name']} {package['version']}: {package['license']} [{numbered}]")
    parts = [f"{RULE}\n[{number}]\n\n{text}\n" for number, text in enumerate(shown, start=1)]
    return "\n".join([HEAD, *rows, "", *parts])


def main() -> None:
    """Writes the file, or checks it."""
    text = generated()
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(text, encoding="utf-8", newline="\n")
    elif FILE.read_text(encoding="utf-8") != text:
        sys.exit(f"{FILE.name} is not that of Cargo.lock: run python .ci/third_party_licenses.py")


if __name__ == "__main__":
    main()
