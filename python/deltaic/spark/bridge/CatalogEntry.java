package deltaic.spark;

import java.lang.reflect.Constructor;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat$;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTable$;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType$;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.Product;

/**
 * A table as Spark's catalog describes it: what streams and relations that name a table ask for, and what the metastore keeps.
 */
public final class CatalogEntry {
  private CatalogEntry() {}

  static SessionCatalog metastore() {
    return ((org.apache.spark.sql.classic.SparkSession) SparkSession.active()).sessionState().catalog();
  }

  /** An entry of the metastore with other values of some fields, by name. */
  static CatalogTable with(CatalogTable entry, Map changes) {
    return (CatalogTable) changed(entry, changes);
  }

  /** The same of any case class of Spark. */
  static Object changed(Product value, Map changes) {
    Object[] fields = new Object[value.productArity()];
    for (int i = 0; i < fields.length; i++) {
      String name = value.productElementName(i);
      fields[i] = changes.containsKey(name) ? changes.get(name) : value.productElement(i);
    }
    try {
      return value.getClass().getConstructors()[0].newInstance(fields);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Names a new table of ours, which the metastore does not know yet. */
  static void register(TableIdentifier name, boolean managed, Path path, Map storage, Object comment) {
    Object type = managed ? CatalogTableType$.MODULE$.MANAGED() : CatalogTableType$.MODULE$.EXTERNAL();
    HashMap said = new HashMap();
    said.put("comment", Option.apply(comment));
    CatalogTable entry = with(of(name, type, path.toUri(), storage, new StructType()), said);
    try {
      // our log is in the folder already, which Spark would refuse for a managed table
      metastore().createTable(entry, false, false);
    } catch (Exception e) {
      // errors of Spark's own are checked here and not in Scala
      Platform.throwException(e);
    }
  }

  /** Names a new table of ours at the place that the metastore has for it: DROP TABLE removes the files, too. */
  public static void manage(String schema, String table, String path) {
    String database = schema == null ? metastore().getCurrentDatabase() : schema;
    Identifier id = Identifier.of(new String[] {database}, table);
    register(named(id), true, new Path(path), new HashMap(), null);
    describe(id);
  }

  /** Tells the metastore, which lists tables by itself, what a table of ours is now. */
  static void describe(Identifier id) {
    try {
      OpenTable now = ((DeltaTable) CreateLike.catalog().loadTable(id)).table;
      HashMap changes = new HashMap();
      changes.put("schema", now.schema);
      changes.put("comment", Option.apply(now.comment()));
      metastore().alterTable(with(metastore().getTableMetadata(named(id)), changes));
    } catch (AnalysisException e) {
      // the table is made, and is read by its log: this is for listings, and the name may be gone
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
