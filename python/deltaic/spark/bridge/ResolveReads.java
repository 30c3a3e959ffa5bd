package deltaic.spark;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Function1;

/** Turns our V2 relations into native Parquet relations, with the same output attributes. A resolution rule. */
public final class ResolveReads extends Rule {
  private static final String[] BOUNDS = {"starting", "ending"};
  private final SparkSession session;

  ResolveReads(SparkSession session) {
    this.session = session;
  }

  static boolean isOurs(Object node) {
    return node instanceof DataSourceV2Relation
        && ((DataSourceV2Relation) node).table() instanceof DeltaTable
        && ((DeltaTable) ((DataSourceV2Relation) node).table()).table != null;
  }

  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).resolveOperators(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return isOurs(node) || node instanceof InsertIntoStatement;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        if (isOurs(node)) return read((DataSourceV2Relation) node);
        if (node instanceof InsertIntoStatement) {
          // a temporary view of a table: Spark would write bare Parquet files beside the log
          LogFileIndex index = RouteWrites.scanOf(((InsertIntoStatement) node).table());
          if (index != null) {
            throw Refusal.of("INSERT into a view of a Delta table", "INSERT INTO delta.`path`, or name the table itself",
                index.table.path);
          }
        }
        return otherwise.apply(node);
      }
    });
  }

  /** The row-level changes that options ask for. */
  static LogicalPlan changes(SparkSession session, String path, java.util.Map options) {
    BaseRelation relation = OpenTable.open(path, options, null, null).relation(session);
    return new LogicalRelation(relation, DataTypeUtils.toAttributes(relation.schema()), Scala.nothing(), false,
        Scala.nothing());
  }

  private LogicalPlan read(DataSourceV2Relation node) {
    DeltaTable named = (DeltaTable) node.table();
    OpenTable table = named.table;
    if (node.options().getBoolean("readChangeFeed", false) || node.options().getBoolean("readChangeData", false)) {
      // by a path a version takes precedence over a time, in delta-spark too
      checkBounds(node.options());
      return changes(session, table.path, node.options().asCaseSensitiveMap());
    }
    return new LogicalRelation(
        table.relation(session), node.output(), scala.Option.apply(named.entry()), false, Scala.nothing());
  }

  private static void checkBounds(CaseInsensitiveStringMap options) {
    for (int i = 0; i < BOUNDS.length; i++) {
      String version = BOUNDS[i] + "Version", timestamp = BOUNDS[i] + "Timestamp";
      if (options.containsKey(version) && options.containsKey(timestamp)) {
        throw Refusal.ofArgument(timestamp, "not beside " + version + ": give one of them", "DELTA_MULTIPLE_CDC_BOUNDARY",
            new String[] {"startingOrEnding", BOUNDS[i]});
      }
    }
  }
}
