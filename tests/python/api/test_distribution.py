"""What an installed deltaic brings along beside its code."""

from __future__ import annotations

import json
import re
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[3]
THIRD_PARTY = ROOT / "THIRD-PARTY-LICENSES"


def brought_along(folder: str) -> dict[str, str]:
    files = metadata.distribution("deltaic").files or []
    found = [file for file in files if f".dist-info/{folder}/" in file.as_posix()]
    return {file.name: Path(file.locate()).read_text(encoding="utf-8") for file in found}


def crates() -> dict[str, list[str]]:
    """The licences of each crate, by name and version, and the numbers of their texts."""
    rows = re.findall(
        r"^(\S+ \d\S+): (.+) \[([\d, ]+)\]$", THIRD_PARTY.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {crate: numbers.split(", ") for crate, _, numbers in rows}


def test_the_licences_are_installed() -> None:
    found = brought_along("licenses")
    assert set(found) == {"LICENSE", "THIRD-PARTY-LICENSES"}
    for name, text in found.items():
        assert text == (ROOT / name).read_text(encoding="utf-8"), name


def test_each_licence_has_its_text() -> None:
    text = THIRD_PARTY.read_text(encoding="utf-8")
    parts = re.split(r"^-{100}\n\[(\d+)\]\n\n", text, flags=re.MULTILINE)
    texts = dict(zip(parts[1::2], parts[2::2], strict=True))
    used = {number for numbers in crates().values() for number in numbers}
    assert used == set(texts)
    # some files only say which licences there are
    assert all(max(len(texts[number]) for number in numbers) > 500 for numbers in crates().values())


def test_the_sbom_tells_of_the_same_crates() -> None:
    (bom,) = (
        json.loads(text)
        for name, text in brought_along("sboms").items()
        if name == "deltaic-py.cyclonedx.json"
    )
    reported = {f"{component['name']} {component['version']}" for component in bom["components"]}
    # macros, build scripts and crates of other systems, too
    assert reported > set(crates())
