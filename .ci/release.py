"""The version of a release, by one command: `python .ci/release.py 0.3.0` (`just release 0.3.0`).

It is in the root Cargo.toml, for all crates and the Python package, and once more for `deltaic-core` as a dependency;
in Cargo.lock; in CHANGELOG.md, where what was unreleased becomes its section; and in .ci/since.txt, where the names
that were unreleased get it. `--check` says whether they agree, and `--ref refs/tags/v0.3.0` whether a tag does, too.
Nothing is committed.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r"\d+\.\d+\.\d+")
# of the workspace, and of the dependency on the core
IN_CARGO = re.compile(
    r'^((?:version = |deltaic-core = \{ path = "[^"]+", version = )")([^"]+)"', re.MULTILINE
)
SECTION = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)
UNRELEASED = "## [Unreleased]\n"
# where the difference to the newest release is shown
COMPARED = re.compile(r"^\[Unreleased\]: (.*/compare/)v([\d.]+)\.\.\.HEAD$", re.MULTILINE)


def crates() -> list[str]:
    """The names of the crates that have the version of the workspace."""
    manifests = [*ROOT.glob("rust/*/Cargo.toml"), ROOT / "benches/Cargo.toml"]
    of_workspace = re.compile(r'\[package\]\nname = "([^"]+)"\nversion\.workspace = true$', re.MULTILINE)
    found = (of_workspace.search(path.read_text(encoding="utf-8")) for path in manifests)
    return sorted(name[1] for name in found if name is not None)


def disagreements(ref: str | None) -> list[str]:
    """What does not agree, a line each."""
    cargo = {version for _, version in IN_CARGO.findall((ROOT / "Cargo.toml").read_text(encoding="utf-8"))}
    if len(cargo) != 1:
        return [f"Cargo.toml has several versions: {', '.join(sorted(cargo))}"]
    (version,) = cargo
    wrong = []
    lock = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    wrong += [
        f"Cargo.lock has another version of {name} than {version}"
        for name in crates()
        if f'name = "{name}"\nversion = "{version}"\n' not in lock
    ]
    sections = SECTION.findall((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if not sections or sections[0][0] != "Unreleased":
        wrong.append("CHANGELOG.md does not begin with what is unreleased")
    elif [name for name, date in sections[1:2] if date] != [version]:
        wrong.append(f"the newest release of CHANGELOG.md is not {version} with a date")
    if ref is not None and ref.startswith("refs/tags/") and ref != f"refs/tags/v{version}":
        wrong.append(f"{ref} is not the tag of version {version}")
    return wrong


def release(version: str, day: str) -> None:
    """Writes the version."""
    changelog = ROOT / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if any(name == version for name, _ in SECTION.findall(text)):
        sys.exit(f"CHANGELOG.md has a section of {version} already")
    if text.count(UNRELEASED) != 1:
        sys.exit("CHANGELOG.md has no section of what is unreleased")
    text = text.replace(UNRELEASED, f"{UNRELEASED}\n## [{version}] - {day}\n")
    links = rf"[Unreleased]: \1v{version}...HEAD\n[{version}]: \1v\2...v{version}"
    changelog.write_text(COMPARED.sub(links, text), encoding="utf-8")
    since = ROOT / ".ci/since.txt"
    names = since.read_text(encoding="utf-8")
    since.write_text(names.replace(" Unreleased\n", f" {version}\n"), encoding="utf-8")
    manifest = ROOT / "Cargo.toml"
    written = IN_CARGO.sub(lambda found: f'{found[1]}{version}"', manifest.read_text(encoding="utf-8"))
    manifest.write_text(written, encoding="utf-8")
    # only what the workspace has itself
    subprocess.run(["cargo", "update", "--workspace", "--offline", "--quiet"], cwd=ROOT, check=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("version", nargs="?")
    arguments.add_argument("--date", default=datetime.datetime.now(datetime.timezone.utc).date().isoformat())
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--ref")
    given = arguments.parse_args()
    if given.check == bool(given.version):
        arguments.error("a version, or --check")
    if given.version:
        if not VERSION.fullmatch(given.version):
            arguments.error(f"{given.version} is not a version such as 0.3.0")
        release(given.version, given.date)
    if wrong := disagreements(given.ref):
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
