package deltaic.spark;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;

/**
 * Spark's own catalog, with Delta tables by path (delta.`/p`) and Delta tables of the metastore opened from their log.
 * The metastore keeps name and location; schema, partitioning and properties always come from the log.
 */
public final class SessionCatalog extends DelegatingCatalogExtension implements StagingTableCatalog {
  private static final String INSTEAD = "write the table with df.write.format(\"delta\").save(path), then CREATE TABLE … USING"
      + " delta LOCATION path";

  private static boolean isPath(Identifier id) {
    if (id.namespace().length != 1 || !id.namespace()[0].equalsIgnoreCase(Python.format())) return false;
    try {
      return new Path(id.name()).isAbsolute();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static String label(Identifier id) {
    return isPath(id) ? id.namespace()[0] + ".`" + id.name() + "`" : "spark_catalog." + id;
  }

  private static boolean ours(CatalogTable table) {
    return table.provider().isDefined() && Python.format().equalsIgnoreCase((String) table.provider().get());
  }

  /** The place of a table of the metastore, decoded. */
  private static String location(URI uri) {
    return uri.getScheme() == null || uri.getScheme().equals("file") ? uri.getPath() : new Path(uri).toString();
  }

  private static Table byPath(Identifier id, String version, Long micros) {
    return new DeltaTable(label(id), OpenTable.open(id.name(), new HashMap(), version, micros));
  }

  private static Table wrap(Identifier id, Table table, String version, Long micros) {
    if (!(table instanceof V1Table) || !ours(((V1Table) table).v1Table())) return table;
    CatalogTable entry = ((V1Table) table).v1Table();
    Map options = new HashMap(Scala.map(entry.storage().properties()));
    return new DeltaTable(label(id), OpenTable.open(location(entry.location()), options, version, micros));
  }

  public Table loadTable(Identifier id) throws NoSuchTableException {
    return isPath(id) ? byPath(id, null, null) : wrap(id, super.loadTable(id), null, null);
  }

  public Table loadTable(Identifier id, String version) throws NoSuchTableException {
    if (isPath(id)) return byPath(id, version, null);
    Table now = super.loadTable(id);
    return isOurs(now) ? wrap(id, now, version, null) : super.loadTable(id, version);
  }

  public Table loadTable(Identifier id, long micros) throws NoSuchTableException {
    if (isPath(id)) return byPath(id, null, Long.valueOf(micros));
    Table now = super.loadTable(id);
    return isOurs(now) ? wrap(id, now, null, Long.valueOf(micros)) : super.loadTable(id, micros);
  }

  private static boolean isOurs(Table table) {
    return table instanceof V1Table && ours(((V1Table) table).v1Table());
  }

  /** Whether the metastore knows a table of this name as ours, without opening its log. */
  private boolean isOurs(Identifier id) {
    if (isPath(id)) return true;
    try {
      return isOurs(super.loadTable(id));
    } catch (NoSuchTableException e) {
      return false;
    }
  }

  public boolean tableExists(Identifier id) {
    if (!isPath(id)) return super.tableExists(id);
    HashMap request = new HashMap();
    request.put("op", "exists");
    request.put("path", id.name());
    return ((Boolean) Python.call(request, null)).booleanValue();
  }

  /** Registers a table that is there already; nothing else yet. */
  public Table createTable(Identifier id, Column[] columns, Transform[] partitions, Map properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (!ours(id, properties)) {
      return super.createTable(id, columns, partitions, properties);
    }
    Object location = properties.get("location");
    if (isPath(id) || location == null) {
      throw Refusal.of("CREATE TABLE " + label(id) + (isPath(id) ? "" : " without LOCATION"), INSTEAD, label(id));
    }
    HashMap request = new HashMap();
    request.put("op", "register");
    request.put("name", label(id));
    request.put("path", location(URI.create(new Path(String.valueOf(location)).toUri().toString())));
    request.put("schema", CatalogV2Util.v2ColumnsToStructType(columns).json());
    ArrayList names = new ArrayList();
    for (int i = 0; i < partitions.length; i++) names.add(partitions[i].describe());
    request.put("partitioning", names);
    Python.call(request, null);
    Table registered = super.createTable(id, new Column[0], new Transform[0], properties);
    return registered == null ? null : wrap(id, registered, null, null);
  }

  /** Spark's older form, which nothing in it calls any more. */
  public Table createTable(Identifier id, StructType schema, Transform[] partitions, Map properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (ours(id, properties)) throw Refusal.of("CREATE TABLE through this interface", INSTEAD, label(id));
    return super.createTable(id, schema, partitions, properties);
  }

  private static boolean ours(Identifier id, Map properties) {
    return isPath(id) || Python.format().equalsIgnoreCase(String.valueOf(properties.get("provider")));
  }

  public StagedTable stageCreate(Identifier id, Column[] columns, Transform[] partitions, Map properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (ours(id, properties)) throw Refusal.of("CREATE TABLE … AS SELECT", INSTEAD, label(id));
    return new PassThroughTable(this, id, super.createTable(id, columns, partitions, properties));
  }

  /** Refused before anything is dropped. */
  public StagedTable stageReplace(Identifier id, Column[] columns, Transform[] partitions, Map properties)
      throws NoSuchNamespaceException {
    if (ours(id, properties) || isOurs(id)) throw Refusal.of("REPLACE TABLE", INSTEAD, label(id));
    super.dropTable(id);
    try {
      return stageCreate(id, columns, partitions, properties);
    } catch (TableAlreadyExistsException e) {
      throw new IllegalStateException(e);
    }
  }

  public StagedTable stageCreateOrReplace(Identifier id, Column[] columns, Transform[] partitions, Map properties)
      throws NoSuchNamespaceException {
    return stageReplace(id, columns, partitions, properties);
  }

  public Table alterTable(Identifier id, TableChange[] changes) throws NoSuchTableException {
    if (isOurs(id)) throw Refusal.of("ALTER TABLE", "write a new table with the schema you need", label(id));
    return super.alterTable(id, changes);
  }

  /** Removes the name; the files stay. */
  public boolean dropTable(Identifier id) {
    if (isPath(id)) throw Refusal.of("DROP TABLE by path", "remove the folder", label(id));
    return super.dropTable(id);
  }

  public boolean purgeTable(Identifier id) {
    if (isOurs(id)) throw Refusal.of("DROP TABLE … PURGE", "DROP TABLE, then remove the folder", label(id));
    return super.purgeTable(id);
  }

  public Set capabilities() {
    return new HashSet(super.capabilities());
  }
}
