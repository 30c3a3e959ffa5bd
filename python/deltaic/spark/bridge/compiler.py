"""Compiles the Java sources of the bridge in the JVM of a session, with the Janino that Spark carries."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from deltaic.spark.session.jvm import PACKAGE, context_loader, is_loaded

_SERVICE = "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"


def load(gateway: Any) -> None:
    """Makes the classes of the bridge known by name to the JVM. Once per JVM; later calls return at once.

    Raises:
        Py4JJavaError: when they do not compile against this Spark, or its class loader takes no additions.
    """
    if is_loaded(gateway, f"{PACKAGE}.Install"):
        return
    jvm, loader = gateway.jvm, context_loader(gateway)
    folder = Path(tempfile.mkdtemp(prefix="deltaic-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _compile(gateway, loader, folder)
    service = folder / _SERVICE
    service.parent.mkdir(parents=True)
    service.write_text(f"{PACKAGE}.DeltaSource\n", encoding="utf-8")
    # the folder must exist and its URL end with a slash: otherwise the loader takes it for a JAR
    loader.addURL(jvm.java.io.File(str(folder)).toURI().toURL())


def _compile(gateway: Any, loader: Any, folder: Path) -> None:
    jvm = gateway.jvm
    names = sorted(f.name for f in resources.files(__package__).iterdir() if f.name.endswith(".java"))
    resource = jvm.org.codehaus.commons.compiler.util.resource
    units = gateway.new_array(resource.Resource, len(names))
    for i, name in enumerate(names):
        text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
        units[i] = resource.StringResource(name, text)
    compiler = jvm.org.codehaus.janino.Compiler()
    compiler.setIClassLoader(jvm.org.codehaus.janino.ClassLoaderIClassLoader(loader))
    # 8 is the first with static methods in interfaces, which Spark has, and the newest Janino writes well
    compiler.setSourceVersion(8)
    compiler.setTargetVersion(8)
    compiler.setClassFileCreator(resource.DirectoryResourceCreator(jvm.java.io.File(str(folder))))
    compiler.compile(units)
