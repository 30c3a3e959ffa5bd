package deltaic.spark;

import java.net.URI;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;

/**
 * A table that a statement makes or replaces. The log is written first, in one commit with the rows of the query where
 * there is one; then the metastore learns the name.
 */
final class NewTable implements StagedTable {
  private final String label;
  private final Identifier id;
  private final StructType schema;
  private final Transform[] partitions;
  /** As `create` in Python takes it. */
  private final HashMap request;
  private final Map properties;
  /** Whether the metastore has to learn the name. */
  private final boolean unnamed;
  /** Whether it takes the place of a table. */
  private final boolean replaces;
  private boolean written;

  /** `path` is that of a table by path, or of the one that is replaced, or null. */
  NewTable(String label, Identifier id, String path, boolean unnamed, String mode, Column[] columns,
      Transform[] partitions, Map properties) {
    this.label = label;
    this.id = id;
    this.schema = CatalogV2Util.v2ColumnsToStructType(columns);
    this.partitions = partitions;
    this.properties = HideOptions.without(properties);
    this.unnamed = unnamed;
    this.replaces = path != null && mode.equals("create_or_replace");
    Object location = properties.get("location");
    boolean managed = unnamed && (location == null || "true".equals(properties.get("is_managed_location")));
    String place = path;
    if (place == null) {
      place = SessionCatalog.location(managed && location == null ? defaultPlace(id) : uri(String.valueOf(location)));
    }
    request = new HashMap();
    request.put("op", "create");
    request.put("name", label);
    request.put("path", place);
    request.put("mode", mode);
    request.put("schema", TableChanges.schema(columns));
    request.put("partitioning", TableChanges.partitioning(partitions));
    request.put("properties", this.properties);
    request.put("managed", Boolean.valueOf(managed));
    request.put("owned", Boolean.valueOf(managed));
    request.put("byPath", Boolean.valueOf(SessionCatalog.isPath(id)));
    // the metastore knows a table of this name, so that there is one in its folder
    request.put("named", Boolean.valueOf(!unnamed && !SessionCatalog.isPath(id)));
    request.put("byWriter", Boolean.valueOf(SessionCatalog.byWriter()));
    // a table of the catalog that is given a place may be there already
    request.put("mayBeThere", Boolean.valueOf(unnamed && !managed && mode.equals("create")));
  }

  private static URI uri(String location) {
    return URI.create(new Path(location).toUri().toString());
  }

  private static URI defaultPlace(Identifier id) {
    return CatalogEntry.metastore().defaultTablePath(CatalogEntry.named(id));
  }

  /** Whether the files of the table that it replaces go with the name. */
  NewTable owned(boolean owned) {
    request.put("owned", Boolean.valueOf(owned));
    return this;
  }

  /** The rows of a query, committed with the table. */
  DeltaCommand write(org.apache.spark.sql.catalyst.plans.logical.LogicalPlan query, Map options) {
    HashMap asked = new HashMap(request);
    asked.put("op", "createAs");
    HashMap given = new HashMap(options);
    if ("true".equals(given.remove(SaveAsTable.OPTION))) {
      // on Spark Connect nothing else tells; see `stageCreateOrReplace`
      asked.put("byWriter", Boolean.TRUE);
      if (replaces) asked.put("mode", "overwrite");
    }
    asked.put("options", given);
    written = true;
    return DeltaCommand.write(asked, query);
  }

  /** Says that the table is like another one, whose columns and partitioning it was given. */
  NewTable like(OpenTable other) {
    HashMap like = other.request("like");
    like.put("path", other.path);
    request.put("like", like);
    return this;
  }

  /** Makes the table without rows, unless they were written. */
  void create() {
    if (!written) Python.call(request, null);
    if (unnamed) register();
    else if (!SessionCatalog.isPath(id)) CatalogEntry.describe(id);
  }

  private void register() {
    Path path = new Path(String.valueOf(request.get("path")));
    Map storage = new HashMap();
    for (java.util.Iterator i = properties.keySet().iterator(); i.hasNext(); ) {
      String key = (String) i.next();
      if (key.startsWith("option.")) storage.put(key.substring("option.".length()), properties.get(key));
    }
    boolean managed = Boolean.TRUE.equals(request.get("managed"));
    CatalogEntry.register(CatalogEntry.named(id), managed, path, storage, properties.get("comment"));
  }

  public String name() {
    return label;
  }

  public StructType schema() {
    return schema;
  }

  public Transform[] partitioning() {
    return partitions;
  }

  public Map properties() {
    return properties;
  }

  public Set capabilities() {
    HashSet out = new HashSet();
    out.add(TableCapability.BATCH_WRITE);
    out.add(TableCapability.OVERWRITE_BY_FILTER);
    out.add(TableCapability.TRUNCATE);
    return out;
  }

  public void commitStagedChanges() {
    create();
  }

  /** A write that failed has left nothing. */
  public void abortStagedChanges() {}

  /** Abstract from Spark 4.1 on, absent before. */
  public org.apache.spark.sql.connector.metric.CustomTaskMetric[] reportDriverMetrics() {
    return new org.apache.spark.sql.connector.metric.CustomTaskMetric[0];
  }
}
