package deltaic.spark;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;

/**
 * A table of another format that was created for CREATE TABLE … AS SELECT: Spark stages every table of a catalog that can
 * stage, and these cannot. It is there from the start and dropped when the statement fails, as without staging.
 */
final class PassThroughTable implements StagedTable, SupportsWrite {
  private final SessionCatalog catalog;
  private final Identifier id;
  private final Table created;

  PassThroughTable(SessionCatalog catalog, Identifier id, Table created) {
    this.catalog = catalog;
    this.id = id;
    this.created = created;
  }

  public String name() {
    return created.name();
  }

  public StructType schema() {
    return created.schema();
  }

  public Transform[] partitioning() {
    return created.partitioning();
  }

  public Map properties() {
    return created.properties();
  }

  public Set capabilities() {
    return created.capabilities();
  }

  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return ((SupportsWrite) created).newWriteBuilder(info);
  }

  public void commitStagedChanges() {}

  public void abortStagedChanges() {
    catalog.dropTable(id);
  }

  /** Abstract from Spark 4.1 on, absent before. */
  public org.apache.spark.sql.connector.metric.CustomTaskMetric[] reportDriverMetrics() {
    return new org.apache.spark.sql.connector.metric.CustomTaskMetric[0];
  }
}
