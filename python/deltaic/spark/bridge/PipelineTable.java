package deltaic.spark;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.types.StructType;

/**
 * A table as Declarative Pipelines get it, which look at what it is before they run: they refuse an AUTO CDC flow into a table
 * whose rows Spark cannot rewrite. The MERGE of the flow loads the table again, and RouteWrites takes it: other tables
 * do not say that Spark can rewrite their rows, because its rules would then do so first.
 */
final class PipelineTable implements SupportsRowLevelOperations {
  private static final String PIPELINES = "org.apache.spark.sql.pipelines.graph.";
  private final DeltaTable table;

  PipelineTable(DeltaTable table) {
    this.table = table;
  }

  /** Whether it is a pipeline that asks for a table. */
  static boolean isFor(Class asks) {
    return asks.getName().startsWith(PIPELINES);
  }

  public String name() {
    return table.name();
  }

  public StructType schema() {
    return table.schema();
  }

  public Transform[] partitioning() {
    return table.layout(true);
  }

  public Map properties() {
    return table.properties();
  }

  public Set capabilities() {
    return table.capabilities();
  }

  public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
    throw Refusal.of("a change of rows by Spark's own rules", "MERGE INTO the table by its name", table.name());
  }
}
