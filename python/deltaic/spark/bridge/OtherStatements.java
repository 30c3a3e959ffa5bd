package deltaic.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.analysis.UnresolvedPartitionSpec;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SetTableLocation;
import org.apache.spark.sql.catalyst.plans.logical.ShowCreateTable;
import org.apache.spark.sql.catalyst.plans.logical.ShowPartitions;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.Function1;

/**
 * Statements about one of our tables that neither read nor write its rows: SHOW PARTITIONS is answered from the log, SHOW
 * CREATE TABLE says how columns are made that the table makes, CREATE TABLE … LIKE takes from it what the new table is, and
 * those that are about folders or about what a metastore keeps are refused, with what to write instead. A resolution rule.
 */
public final class OtherStatements extends Rule {
  private static final String COMMAND = "NOT_SUPPORTED_COMMAND_FOR_V2_TABLE";
  private static final String PARTITIONS = "INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED";
  private static final Map REFUSED = new HashMap();

  static {
    refuse("LoadData", COMMAND, "LOAD DATA", "INSERT INTO … SELECT * FROM parquet.`path`");
    refuse("RepairTable", COMMAND, "MSCK REPAIR TABLE", "nothing is to be repaired: the log knows the partitions");
    refuse("RecoverPartitions", COMMAND, "ALTER TABLE … RECOVER PARTITIONS",
        "nothing is to be recovered: the log knows the partitions");
    refuse("AddPartitions", PARTITIONS, "ALTER TABLE … ADD PARTITION", "INSERT INTO makes the partitions of its rows");
    refuse("DropPartitions", PARTITIONS, "ALTER TABLE … DROP PARTITION", "DELETE FROM … WHERE");
    refuse("RenamePartitions", PARTITIONS, "ALTER TABLE … RENAME TO PARTITION", "UPDATE … SET");
    refuse("TruncatePartition", "DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED", "TRUNCATE TABLE … PARTITION",
        "DELETE FROM … WHERE");
    refuse("AnalyzeTable", COMMAND, "ANALYZE TABLE", "nothing is to be done: every write keeps statistics in the log");
    refuse("AnalyzeColumn", COMMAND, "ANALYZE TABLE", "nothing is to be done: every write keeps statistics in the log");
    refuse("SetTableSerDeProperties", COMMAND, "ALTER TABLE … SET SERDE", "ALTER TABLE … SET TBLPROPERTIES");
    refuse("SetTableLocation", null, "ALTER TABLE … PARTITION … SET LOCATION", "DROP TABLE and CREATE TABLE … LOCATION");
    refuse("CreateIndex", null, "CREATE INDEX", "OPTIMIZE … ZORDER BY, or ALTER TABLE … CLUSTER BY");
    refuse("DropIndex", null, "DROP INDEX", "a table has no indexes");
  }

  /** The condition of the error is delta-spark's, or null. */
  private static void refuse(String node, String condition, String statement, String instead) {
    REFUSED.put(node, new String[] {statement, instead, condition});
  }

  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).resolveOperators(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return about(node) != null || CreateLike.isLike(node);
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        if (CreateLike.isLike(node)) {
          DeltaCommand like = CreateLike.of(node);
          return like == null ? otherwise.apply(node) : like;
        }
        OpenTable table = about(node);
        if (table == null) return otherwise.apply(node);
        if (node instanceof ShowCreateTable) return CreateStatement.of((ShowCreateTable) node, table);
        if (node instanceof ShowPartitions) return partitions((ShowPartitions) node, table);
        String[] told = (String[]) REFUSED.get(node.getClass().getSimpleName());
        throw Refusal.of(told[0], told[1], table.path, told[2], parameters(told[0], told[2], table.path));
      }
    });
  }

  private static String[] parameters(String statement, String condition, String path) {
    if (COMMAND.equals(condition)) return new String[] {"cmd", statement};
    return PARTITIONS.equals(condition) ? new String[] {"name", path} : new String[0];
  }

  /** The table of ours that such a statement is about, or null. */
  private static OpenTable about(Object node) {
    boolean shows = node instanceof ShowPartitions || node instanceof ShowCreateTable;
    if (!shows && !REFUSED.containsKey(node.getClass().getSimpleName())) return null;
    // the catalog takes another place of a whole table
    if (node instanceof SetTableLocation && ((SetTableLocation) node).partitionSpec().isEmpty()) return null;
    Object named = ((LogicalPlan) node).children().apply(0);
    if (!(named instanceof ResolvedTable) || !(((ResolvedTable) named).table() instanceof DeltaTable)) return null;
    DeltaTable table = (DeltaTable) ((ResolvedTable) named).table();
    // Spark shows all that the others are
    return node instanceof ShowCreateTable && !table.showsMade ? null : table.table;
  }

  private static LogicalPlan partitions(ShowPartitions node, OpenTable table) {
    HashMap request = table.request("partitions");
    if (node.pattern().isDefined() && node.pattern().get() instanceof UnresolvedPartitionSpec) {
      request.put("spec", new HashMap(Scala.map(((UnresolvedPartitionSpec) node.pattern().get()).spec())));
    }
    return DeltaCommand.of(request, null, table.partitionSchema());
  }
}
