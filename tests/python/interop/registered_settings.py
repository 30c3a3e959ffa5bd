"""What the JAR of delta-spark registers, as JSON on standard output: settings, properties of tables, options.

Run with delta-spark's Python: `registered_settings.py JARS WAREHOUSE`.
"""

import json
import os
import sys

from delta_spark import session


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    spark = session(*sys.argv[1:])
    java = spark._jvm.java.lang
    loader = java.Thread.currentThread().getContextClassLoader()

    def module(name: str) -> object:
        return java.Class.forName(name + "$", True, loader).getField("MODULE$").get(None)

    module("org.apache.spark.sql.delta.sources.DeltaSQLConf")
    entries = module("org.apache.spark.sql.internal.SQLConf").getConfigEntries().toArray()
    found = {
        "settings": {entry.key(): entry.defaultValueString() for entry in entries},
        "properties": {},
        "options": [],
    }
    each = module("org.apache.spark.sql.delta.DeltaConfigs").getAllConfigs().iterator()
    while each.hasNext():
        config = each.next()._2()
        found["properties"][config.key()] = config.defaultValue()
    each = module("org.apache.spark.sql.delta.DeltaOptions").validOptionKeys().iterator()
    while each.hasNext():
        found["options"].append(each.next())
    print(json.dumps(found), file=answers, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
