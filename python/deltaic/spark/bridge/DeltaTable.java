package deltaic.spark;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType$;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TruncatableTable;
import org.apache.spark.sql.connector.catalog.V2TableWithV1Fallback;
import org.apache.spark.sql.connector.expressions.ClusterByTransform;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * A table as DataSource V2 names it. Reads of it become native scans (ResolveReads), writes become commands of ours or
 * refusals (RouteWrites): Spark itself never executes anything on it.
 */
public final class DeltaTable implements Table, TruncatableTable, V2TableWithV1Fallback {
  private static final String SHOWS = "org.apache.spark.sql.execution.datasources.v2.ShowCreateTableExec";
  private final String label;
  private final Identifier id;
  /** Null for the provider's placeholder, which has no capabilities and sends Spark to the V1 interfaces. */
  final OpenTable table;
  private final StructType schema;
  /** Whether it is where rows go, which come as they are given: InsertedRows makes them fit. */
  final boolean takesRows;
  /** Whether the writing statement asks to add columns. */
  final boolean evolves;
  /** How deep in the query of the statement is Spark's projection of its list of columns; 0 without a list. */
  final int listed;
  /** Whether the metastore owns the files; null for a table by path. */
  private final Boolean managed;
  /** Whether SHOW CREATE TABLE shows how columns are made. */
  final boolean showsMade;

  DeltaTable(String label, Identifier id, OpenTable table, Boolean managed) {
    this.label = label;
    this.id = id;
    this.table = table;
    this.managed = managed;
    this.showsMade = !table.made.isEmpty();
    this.schema = unasked(table);
    this.takesRows = false;
    this.evolves = false;
    this.listed = 0;
  }

  /** The columns, where those that the table makes may be left out: whether they may be null is for its writer to say. */
  private static StructType unasked(OpenTable table) {
    StructField[] fields = (StructField[]) table.schema.fields().clone();
    for (int i = 0; i < fields.length; i++) {
      if (table.made.contains(fields[i].name())) {
        fields[i] = new StructField(fields[i].name(), fields[i].dataType(), true, fields[i].metadata());
      }
    }
    return new StructType(fields);
  }

  /** The table where rows of a write go. */
  DeltaTable(DeltaTable read, boolean evolves, int listed) {
    this.label = read.label;
    this.id = read.id;
    this.table = read.table;
    this.managed = read.managed;
    this.showsMade = false;
    this.schema = read.schema;
    this.takesRows = true;
    this.evolves = evolves;
    this.listed = listed;
  }

  /** The table, of which SHOW CREATE TABLE shows what it does of any. */
  DeltaTable withoutMade() {
    return new DeltaTable(this, false, 0);
  }

  DeltaTable(StructType schema) {
    this.label = Python.format();
    this.id = null;
    this.table = null;
    this.managed = null;
    this.showsMade = false;
    this.schema = schema;
    this.takesRows = false;
    this.evolves = false;
    this.listed = 0;
  }

  public String name() {
    return label;
  }

  public StructType schema() {
    return schema;
  }

  /**
   * Clustering is shown to those that compare it with what they are to write, and to SHOW CREATE TABLE: elsewhere Spark takes it
   * for partitioning.
   */
  public Transform[] partitioning() {
    String asks = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).getCallerClass().getName();
    return layout(asks.equals(SessionCatalog.WRITER) || asks.equals(SHOWS));
  }

  Transform[] layout(boolean withClustering) {
    ArrayList out = new ArrayList();
    if (table == null) return new Transform[0];
    for (int i = 0; i < table.partitionColumns.size(); i++) {
      out.add(Expressions.identity(quoted((String) table.partitionColumns.get(i))));
    }
    ArrayList clustering = new ArrayList();
    List columns = withClustering ? table.clusteringColumns() : new ArrayList();
    for (int i = 0; i < columns.size(); i++) clustering.add(Expressions.column((String) columns.get(i)));
    if (!clustering.isEmpty()) out.add(new ClusterByTransform(Scala.seq(clustering)));
    return (Transform[]) out.toArray(new Transform[0]);
  }

  /** A name with dots is one name, too. */
  private static String quoted(String name) {
    return "`" + name.replace("`", "``") + "`";
  }

  public Map properties() {
    HashMap out = new HashMap();
    if (table == null) return out;
    out.putAll(table.properties);
    out.putAll(table.protocol);
    out.put("provider", Python.format());
    if (managed != null) out.put(managed.booleanValue() ? "is_managed_location" : "external", "true");
    String comment = table.comment();
    if (comment != null) out.put("comment", comment);
    // as Spark writes it, which has nothing escaped
    out.put("location", new Path(URI.create(table.uri)).toString());
    return out;
  }

  public Set capabilities() {
    HashSet out = new HashSet();
    if (table == null) return out;
    out.add(TableCapability.BATCH_READ);
    out.add(TableCapability.BATCH_WRITE);
    out.add(TableCapability.OVERWRITE_BY_FILTER);
    out.add(TableCapability.OVERWRITE_DYNAMIC);
    out.add(TableCapability.TRUNCATE);
    if (takesRows) out.add(TableCapability.ACCEPT_ANY_SCHEMA);
    return out;
  }

  public boolean truncateTable() {
    HashMap request = table.request("truncate");
    request.put("path", table.path);
    Python.call(request, null);
    return true;
  }

  /** For streams that name a table: Spark has only the V1 interfaces for ours. */
  public CatalogTable v1Table() {
    if (table == null || table.timeTravel) {
      throw Refusal.of("a stream of " + label + (table == null ? "" : " at a version"), "load(path)", label);
    }
    return entry();
  }

  /** As the catalog describes it: what Spark asks of a relation that has a name (`spark.catalog.refreshTable`). */
  CatalogTable entry() {
    return CatalogEntry.of(CatalogEntry.named(id), CatalogTableType$.MODULE$.EXTERNAL(), URI.create(table.uri), new HashMap(),
        table.schema);
  }

  public String toString() {
    return label;
  }
}
