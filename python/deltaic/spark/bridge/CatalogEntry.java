package deltaic.spark;

import java.lang.reflect.Constructor;
import java.net.URI;
import java.util.Map;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat$;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTable$;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType$;
import org.apache.spark.sql.connector.catalog.Identifier;
import scala.Option;

/** A table as Spark's catalog describes it: what streams and relations that name a table ask for. */
final class CatalogEntry {
  private CatalogEntry() {}

  /** An entry of the metastore with other values of some fields, by name. */
  static CatalogTable with(CatalogTable entry, Map changes) {
    Object[] fields = new Object[entry.productArity()];
    for (int i = 0; i < fields.length; i++) {
      String name = entry.productElementName(i);
      fields[i] = changes.containsKey(name) ? changes.get(name) : entry.productElement(i);
    }
    try {
      return (CatalogTable) CatalogTable.class.getConstructors()[0].newInstance(fields);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  static CatalogTable of(Identifier id, OpenTable table) {
    try {
      // both classes have more fields in newer versions of Spark
      CatalogStorageFormat empty = CatalogStorageFormat$.MODULE$.empty();
      Object[] storage = new Object[empty.productArity()];
      for (int i = 0; i < storage.length; i++) storage[i] = empty.productElement(i);
      storage[0] = Option.apply(URI.create(table.uri));
      Constructor make = CatalogTable.class.getConstructors()[0];
      Object[] fields = new Object[make.getParameterCount()];
      fields[0] = new TableIdentifier(id.name(), Option.apply(id.namespace()[0]), Option.apply("spark_catalog"));
      fields[1] = CatalogTableType$.MODULE$.EXTERNAL();
      fields[2] = CatalogStorageFormat.class.getConstructors()[0].newInstance(storage);
      fields[3] = table.schema;
      fields[4] = Option.apply(Python.format());
      for (int i = 5; i < fields.length; i++) {
        fields[i] = CatalogTable$.class.getMethod("apply$default$" + (i + 1), new Class[0])
            .invoke(CatalogTable$.MODULE$, new Object[0]);
      }
      return (CatalogTable) make.newInstance(fields);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
