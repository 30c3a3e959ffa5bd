package deltaic.spark;

import java.net.URI;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType$;
import org.apache.spark.sql.catalyst.catalog.CatalogUtils$;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;

/**
 * Spark's own catalog, with Delta tables by path (delta.`/p`) and Delta tables of the metastore opened from their log.
 * The metastore keeps name and location; schema, partitioning and properties always come from the log.
 */
public final class SessionCatalog extends DelegatingCatalogExtension implements StagingTableCatalog {
  private static final String OTHER_COLUMNS = "spark.databricks.delta.alterLocation.bypassSchemaCheck";
  private static final String DEFAULT = "spark.sql.sources.default";
  static final String WRITER = "org.apache.spark.sql.classic.DataFrameWriter";

  static boolean isPath(Identifier id) {
    if (id.namespace().length != 1 || !id.namespace()[0].equalsIgnoreCase(Python.format())) return false;
    try {
      return new Path(id.name()).isAbsolute();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  static String label(Identifier id) {
    return isPath(id) ? id.namespace()[0] + ".`" + id.name() + "`" : "spark_catalog." + id;
  }

  /** Whether a table of the metastore is of our format. */
  static boolean ours(CatalogTable table) {
    return table.provider().isDefined() && Python.format().equalsIgnoreCase((String) table.provider().get());
  }

  /** Whether a name is a path, or the metastore knows a table of it as ours. */
  static boolean isOurs(TableIdentifier name) {
    if (name.database().isDefined() && isPath(Identifier.of(new String[] {(String) name.database().get()}, name.table()))) {
      return true;
    }
    org.apache.spark.sql.catalyst.catalog.SessionCatalog metastore = CatalogEntry.metastore();
    try {
      return !metastore.isTempView(name) && ours(metastore.getTableMetadata(name));
    } catch (AnalysisException e) {
      // there is none, and the statement itself will say it
      return false;
    }
  }

  /** The place of a table of the metastore, decoded; a local one as a URI where paths without a scheme are not local. */
  static String location(URI uri) {
    if (uri.getScheme() != null && !uri.getScheme().equals("file")) return new Path(uri).toString();
    boolean local = uri.getScheme() == null || StoreSettings.defaultIsLocal();
    return local ? uri.getPath() : "file:" + uri.getPath();
  }

  private static Table byPath(Identifier id, String version, Long micros) {
    return new DeltaTable(label(id), id, OpenTable.open(id.name(), new HashMap(), version, micros, isTarget()), null);
  }

  /** Whether Spark looks for the target of a command, whose error is another one than a read's where there is no table. */
  private static boolean isTarget() {
    return isCalledFrom("lookupTableOrView");
  }

  private static Table wrap(Identifier id, Table table, String version, Long micros) {
    if (!(table instanceof V1Table) || !ours(((V1Table) table).v1Table())) return table;
    CatalogTable entry = ((V1Table) table).v1Table();
    Map options = new HashMap(Scala.map(entry.storage().properties()));
    Boolean managed = Boolean.valueOf(entry.tableType().equals(CatalogTableType$.MODULE$.MANAGED()));
    return new DeltaTable(label(id), id, OpenTable.open(location(entry.location()), options, version, micros), managed);
  }

  public Table loadTable(Identifier id) throws NoSuchTableException {
    Class asks = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).getCallerClass();
    Table found = isPath(id) ? byPath(id, null, null) : wrap(id, super.loadTable(id), null, null);
    return found instanceof DeltaTable && PipelineTable.isFor(asks) ? new PipelineTable((DeltaTable) found) : found;
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

  public Table createTable(Identifier id, Column[] columns, Transform[] partitions, Map properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (!ours(id, properties)) {
      return super.createTable(id, columns, partitions, properties);
    }
    staged(id, "create", columns, partitions, properties).create();
    try {
      return loadTable(id);
    } catch (NoSuchTableException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Makes a table that is like another one of ours. */
  void createLike(Identifier id, DeltaTable like, Column[] columns, Map properties) {
    staged(id, "create", columns, like.partitioning(), properties).like(like.table).create();
  }

  /** What the name refers to now decides where the new table is. */
  private NewTable staged(Identifier id, String mode, Column[] columns, Transform[] partitions, Map properties) {
    if (isPath(id)) return new NewTable(label(id), id, id.name(), false, mode, columns, partitions, properties);
    try {
      Table now = super.loadTable(id);
      if (now instanceof V1Table && ((V1Table) now).v1Table().tableType().equals(CatalogTableType$.MODULE$.VIEW())) {
        throw Refusal.of("a Delta table in place of a view", "DROP VIEW first", label(id), "DELTA_CANNOT_WRITE_INTO_VIEW",
            new String[] {"table", label(id)});
      }
      if (!isOurs(now)) {
        throw Refusal.of("a Delta table in place of one of another format", "DROP TABLE first", label(id),
            "DELTA_NOT_A_DELTA_TABLE", new String[] {"tableName", label(id)});
      }
      String there = location(((V1Table) now).v1Table().location());
      Object wanted = properties.get("location");
      if (wanted != null && !location(URI.create(new Path(String.valueOf(wanted)).toUri().toString())).equals(there)) {
        throw Refusal.of("another location for a replaced table", "leave LOCATION out, or DROP TABLE first", label(id),
            "DELTA_TABLE_LOCATION_MISMATCH", new String[] {"tableName", label(id), "existingTableLocation", there,
            "tableLocation", String.valueOf(wanted)});
      }
      boolean owned = ((V1Table) now).v1Table().tableType().equals(CatalogTableType$.MODULE$.MANAGED());
      return new NewTable(label(id), id, there, false, mode, columns, partitions, properties).owned(owned);
    } catch (NoSuchTableException e) {
      return new NewTable(label(id), id, null, true, mode, columns, partitions, properties);
    }
  }

  /** Spark's older form, which nothing in it calls any more. */
  public Table createTable(Identifier id, StructType schema, Transform[] partitions, Map properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (ours(id, properties)) throw Refusal.of("CREATE TABLE through this interface", "use the form with columns", label(id));
    return super.createTable(id, schema, partitions, properties);
  }

  /** A table without a format, as pipelines make them, has the default one. */
  static boolean ours(Identifier id, Map properties) {
    if (isPath(id)) return true;
    Object provider = properties.get("provider");
    if (provider == null) provider = SparkSession.active().conf().get(DEFAULT);
    return Python.format().equalsIgnoreCase(String.valueOf(provider));
  }

  public StagedTable stageCreate(Identifier id, Column[] columns, Transform[] partitions, Map properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (ours(id, properties)) return staged(id, "create", columns, partitions, properties);
    return new PassThroughTable(this, id, super.createTable(id, columns, partitions, properties));
  }

  /** A table of ours is refused before anything is dropped, where another format would take its place. */
  private StagedTable replace(Identifier id, String mode, Column[] columns, Transform[] partitions, Map properties)
      throws NoSuchNamespaceException {
    if (ours(id, properties)) return staged(id, mode, columns, partitions, properties);
    if (isOurs(id)) throw Refusal.of("a table of another format in place of a Delta table", "DROP TABLE first", label(id));
    super.dropTable(id);
    try {
      return stageCreate(id, columns, partitions, properties);
    } catch (TableAlreadyExistsException e) {
      throw new IllegalStateException(e);
    }
  }

  public StagedTable stageReplace(Identifier id, Column[] columns, Transform[] partitions, Map properties)
      throws NoSuchNamespaceException {
    return replace(id, "replace", columns, partitions, properties);
  }

  public StagedTable stageCreateOrReplace(Identifier id, Column[] columns, Transform[] partitions, Map properties)
      throws NoSuchNamespaceException {
    // saveAsTable overwrites the rows of an existing table, and keeps its definition
    boolean overwrites = byWriter() && tableExists(id);
    return replace(id, overwrites ? "overwrite" : "create_or_replace", columns, partitions, properties);
  }

  /** Whether DataFrameWriter, and no statement and not `writeTo`, asks: the catalog is not informed. */
  static boolean byWriter() {
    return isCalledFrom(WRITER + ".");
  }

  /** Whether a call that has led here has this text in its class and method. */
  private static boolean isCalledFrom(String text) {
    StackTraceElement[] calls = Thread.currentThread().getStackTrace();
    for (int i = 0; i < calls.length; i++) {
      if ((calls[i].getClassName() + "." + calls[i].getMethodName()).contains(text)) return true;
    }
    return false;
  }

  public Table alterTable(Identifier id, TableChange[] changes) throws NoSuchTableException {
    Table now = loadTable(id);
    if (!(now instanceof DeltaTable)) return super.alterTable(id, changes);
    String moved = newLocation(changes);
    if (moved != null) {
      if (isPath(id)) {
        throw Refusal.of("ALTER TABLE … SET LOCATION by path", "write to the other path", label(id),
            "DELTA_CANNOT_SET_LOCATION_ON_PATH_IDENTIFIER", new String[0]);
      }
      checkLocation(((DeltaTable) now).table, moved);
      super.alterTable(id, changes);
      return loadTable(id);
    }
    HashMap request = ((DeltaTable) now).table.request("alter");
    request.put("path", ((DeltaTable) now).table.path);
    request.put("changes", TableChanges.of(changes));
    request.put("format", Python.format());
    Python.call(request, null);
    return loadTable(id);
  }

  /** Where ALTER TABLE … SET LOCATION wants a table, or null. */
  private static String newLocation(TableChange[] changes) {
    if (changes.length != 1 || !(changes[0] instanceof TableChange.SetProperty)) return null;
    TableChange.SetProperty set = (TableChange.SetProperty) changes[0];
    return set.property().equals(TableCatalog.PROP_LOCATION) ? set.value() : null;
  }

  /** The other place must hold a table, with the same columns unless the session says that it may have others. */
  private static void checkLocation(OpenTable now, String to) {
    HashMap request = now.request("checkLocation");
    request.put("to", location(CatalogUtils$.MODULE$.stringToURI(to)));
    request.put("other", SparkSession.active().conf().get(OTHER_COLUMNS, "false"));
    Python.call(request, null);
  }

  public void renameTable(Identifier id, Identifier to) throws NoSuchTableException, TableAlreadyExistsException {
    if (isPath(id)) throw Refusal.of("ALTER TABLE … RENAME by path", "move the folder", label(id));
    super.renameTable(id, to);
  }

  /** Removes the name, and with it the files of a managed table. */
  public boolean dropTable(Identifier id) {
    if (isPath(id)) throw Refusal.of("DROP TABLE by path", "remove the folder", label(id));
    return super.dropTable(id);
  }

  public boolean purgeTable(Identifier id) {
    if (isPath(id)) throw Refusal.of("DROP TABLE by path", "remove the folder", label(id));
    return super.purgeTable(id);
  }

  public Set capabilities() {
    HashSet out = new HashSet(super.capabilities());
    out.add(TableCatalogCapability.SUPPORT_COLUMN_DEFAULT_VALUE);
    out.add(TableCatalogCapability.SUPPORTS_CREATE_TABLE_WITH_GENERATED_COLUMNS);
    out.add(TableCatalogCapability.SUPPORTS_CREATE_TABLE_WITH_IDENTITY_COLUMNS);
    return out;
  }
}
