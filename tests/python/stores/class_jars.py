"""JARs of classes that teams have of their own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pyspark


def jar_of(source: Path, jars: list[str], folder: Path) -> str:
    """A JAR in a folder with what is compiled of a source, beside these JARs and Spark's."""
    spark = str(Path(pyspark.__file__).parent / "jars" / "*")
    classes = folder / "classes"
    path = os.pathsep.join([*jars, spark])
    home = os.environ.get("JAVA_HOME")
    tools = Path(home) / "bin" if home else None
    javac, jar = (
        str(tools / tool) if tools and (tools / tool).exists() else tool for tool in ("javac", "jar")
    )
    subprocess.run([javac, "--release", "17", "-cp", path, "-d", classes, source], check=True, timeout=120)
    made = folder / f"{source.stem.lower()}.jar"
    subprocess.run([jar, "--create", "--file", made, "-C", classes, "."], check=True, timeout=60)
    return str(made)
