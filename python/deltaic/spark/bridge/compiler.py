"""Compiles the Java sources of the bridge with the Janino that Spark carries, into a JAR that later processes load.

The JAR is in the cache of this user, one for each text of the sources, Spark and Java: it always fits the Spark at
hand, and sources that have changed are another JAR. Loading it takes a tenth of the time of compiling it.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import shutil
import tempfile
import zipfile
from importlib import resources
from pathlib import Path
from typing import Any

from deltaic import _core
from deltaic.spark.cache import cache_folder, is_own, put
from deltaic.spark.session.jvm import PACKAGE, context_loader, is_loaded, static_method

_FOLDER = "bridge"
_BUILD = "deltaic/spark/build.json"
_SERVICE = "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"
# what some Spark lacks, and the source in its place
_LACKING = {
    "org.apache.spark.sql.connector.catalog.SupportsV1OverwriteWithSaveAsTable": (
        "SaveAsTable.java",
        f'package {PACKAGE}; interface SaveAsTable {{ String OPTION = "__v1_save_as_table_overwrite"; }}',
    )
}
# the first that a ZIP can say: the same sources make the same bytes
_TIME = (1980, 1, 1, 0, 0, 0)


def load(gateway: Any) -> None:
    """Makes the classes of the bridge known by name to the JVM. Once per JVM; later calls return at once.

    Raises:
        Py4JJavaError: when they do not compile against this Spark, or its class loader takes no additions.
    """
    if is_loaded(gateway, f"{PACKAGE}.Install"):
        return
    path = jar(gateway)
    context_loader(gateway).addURL(gateway.jvm.java.io.File(str(path)).toURI().toURL())


def jar(gateway: Any) -> Path:
    """The JAR of the bridge for the Spark of this JVM, which is made where it is not there.

    Raises:
        Py4JJavaError: when the sources do not compile against this Spark.
    """
    name = f"{name_begins()}{_around(gateway)}.jar"
    folder = _folder()
    if folder is not None and _is_whole(folder / name):
        return folder / name
    return keep(name, _compiled(gateway, _sources()))


def kept_jar(spark_version: str) -> Path | None:
    """A JAR in the cache for a Spark that runs elsewhere, or None."""
    folder = _folder()
    found = () if folder is None else sorted(folder.glob(f"{name_begins()}{spark_version}-*.jar"))
    return next((path for path in found if _is_whole(path)), None)


def keep(name: str, content: bytes) -> Path:
    """Puts a JAR into the cache, or into a temporary folder where there is none."""
    folder = _folder()
    if folder is not None:
        try:
            put(folder / name, content)
            if _is_whole(folder / name):
                return folder / name
        except OSError:  # a home that cannot be written to
            pass
    temporary = Path(tempfile.mkdtemp(prefix="deltaic-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    path = temporary / name
    path.write_bytes(content)
    return path


def name_begins() -> str:
    """How the names of JARs of these sources begin."""
    return f"deltaic-{sources_hash()}-"


def _folder() -> Path | None:
    try:
        return cache_folder() / _FOLDER
    except RuntimeError:  # no home
        return None


def _is_whole(path: Path) -> bool:
    return is_own(path) and zipfile.is_zipfile(path)


def is_temporary(path: Path) -> bool:
    """Whether a JAR goes with this process, because there is no cache to keep it in."""
    return path.parent.name != _FOLDER


def _sources() -> dict[str, str]:
    files = (f for f in resources.files(__package__).iterdir() if f.name.endswith(".java"))
    return {f.name: f.read_text(encoding="utf-8") for f in sorted(files, key=lambda f: f.name)}


def sources_hash() -> str:
    """What tells the classes of one release from those of others."""
    said = repr((_sources(), _core.SECRETS)).encode()
    return hashlib.sha256(said).hexdigest()[:16]


def _around(gateway: Any) -> str:
    """What Janino finds around the sources: the version of Spark, and what tells builds of it and Javas apart."""
    spark = "org.apache.spark.SparkBuildInfo"
    version = static_method(gateway, spark, "spark_version")()
    build = [
        static_method(gateway, spark, "spark_revision")(),
        static_method(gateway, "java.lang.System", "getProperty")("java.specification.version"),
    ]
    return f"{version}-{hashlib.sha256(repr(build).encode()).hexdigest()[:8]}"


def _compiled(gateway: Any, sources: dict[str, str]) -> bytes:
    """The JAR. The same sources and Spark make the same bytes."""
    without = dict(instead for name, instead in _LACKING.items() if not is_loaded(gateway, name))
    with tempfile.TemporaryDirectory(prefix="deltaic-") as folder:
        _compile(gateway, {**sources, **without}, Path(folder))
        classes = {f.relative_to(folder).as_posix(): f.read_bytes() for f in Path(folder).rglob("*.class")}
    # what Build.java reads
    said = {"sources": sources_hash(), "secrets": _core.SECRETS}
    classes[_BUILD] = json.dumps(said).encode()
    classes[_SERVICE] = f"{PACKAGE}.DeltaSource\n".encode()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in sorted(classes.items()):
            file.writestr(zipfile.ZipInfo(name, _TIME), data, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def _compile(gateway: Any, sources: dict[str, str], folder: Path) -> None:
    jvm = gateway.jvm
    resource = jvm.org.codehaus.commons.compiler.util.resource
    units = gateway.new_array(resource.Resource, len(sources))
    for i, (name, text) in enumerate(sources.items()):
        units[i] = resource.StringResource(name, text)
    compiler = jvm.org.codehaus.janino.Compiler()
    compiler.setIClassLoader(jvm.org.codehaus.janino.ClassLoaderIClassLoader(context_loader(gateway)))
    # 8 is the first with static methods in interfaces, which Spark has, and the newest Janino writes well
    compiler.setSourceVersion(8)
    compiler.setTargetVersion(8)
    compiler.setClassFileCreator(resource.DirectoryResourceCreator(jvm.java.io.File(str(folder))))
    compiler.compile(units)
