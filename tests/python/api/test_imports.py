"""`import deltaic` loads little, and works where neither PySpark nor an Arrow library is installed."""

import json
import subprocess
import sys

STANDARD = (
    "__future__, base64, collections.abc, contextlib, dataclasses, datetime, functools, itertools, json, logging, "
    "operator, os, re, sys, textwrap, threading, typing, warnings, weakref"
)
"""Of the standard library, with what these import themselves."""

LOADED = f"""
import {STANDARD}
before = set(sys.modules)
import deltaic
print(json.dumps(sorted(set(sys.modules) - before)))
"""

ALONE = """
import sys
for absent in ("numpy", "pandas", "polars", "py4j", "pyarrow", "pyspark"):
    sys.modules[absent] = None
import deltaic
root = sys.argv[1]
deltaic.create(root + "/a", "id BIGINT, name STRING")
rows = deltaic.Table(root + "/a").to_arrow(where="id > 1 AND name = 'x'")
print(deltaic.write(root + "/b", rows).version, [field.name for field in deltaic.Table(root + "/b").schema])
"""


def run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout


def test_importing_the_package_loads_its_own_modules_and_a_little_of_the_standard_library():
    assert [name for name in json.loads(run(LOADED)) if name.partition(".")[0] != "deltaic"] == []


def test_tables_are_made_written_and_read_with_no_other_library(tmp_path):
    assert run(ALONE, str(tmp_path)) == "0 ['id', 'name']\n"
