package deltaic.spark;

import org.apache.spark.sql.connector.catalog.SupportsV1OverwriteWithSaveAsTable;

/** Lets Spark say which overwrites are those of `saveAsTable`. Spark 4.0 has no such interface, see compiler.py. */
interface SaveAsTable extends SupportsV1OverwriteWithSaveAsTable {
  /** The option of such a write. */
  String OPTION = "__v1_save_as_table_overwrite";
}
