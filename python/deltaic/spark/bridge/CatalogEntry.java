package deltaic.spark;

import java.lang.reflect.Constructor;
import java.net.URI;
import java.util.Map;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat$;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTable$;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/**
 * A table as Spark's catalog describes it: what streams and relations that name a table ask for, and what the metastore keeps.
 */
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

  /** An entry of ours. Spark's classes get another argument now and then: what is not said here has its default. */
  static CatalogTable of(TableIdentifier name, Object type, URI location, Map storage, StructType schema) {
    try {
      CatalogStorageFormat empty = CatalogStorageFormat$.MODULE$.empty();
      Object[] stored = new Object[empty.productArity()];
      for (int i = 0; i < stored.length; i++) {
        stored[i] = empty.productElement(i);
        if (stored[i] instanceof scala.collection.immutable.Map) stored[i] = Scala.immutable(storage);
      }
      stored[0] = Option.apply(location);
      Constructor make = CatalogTable.class.getConstructors()[0];
      Object[] fields = new Object[make.getParameterCount()];
      for (int i = 5; i < fields.length; i++) {
        fields[i] = CatalogTable$.class.getMethod("apply$default$" + (i + 1), new Class[0])
            .invoke(CatalogTable$.MODULE$, new Object[0]);
      }
      fields[0] = name;
      fields[1] = type;
      fields[2] = CatalogStorageFormat.class.getConstructors()[0].newInstance(stored);
      fields[3] = schema;
      fields[4] = Option.apply(Python.format());
      return (CatalogTable) make.newInstance(fields);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The name of the metastore for an identifier of its catalog. */
  static TableIdentifier named(Identifier id) {
    return new TableIdentifier(id.name(), Option.apply(id.namespace()[0]), Option.apply("spark_catalog"));
  }
}
