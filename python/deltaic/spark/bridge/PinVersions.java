package deltaic.spark;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Function1;

/** Gives every live scan of a query the files of one version of its table: the newest. An optimizer rule. */
public final class PinVersions extends Rule {
  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).transformWithSubqueries(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return isLive(node);
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        return isLive(node) ? pinned((LogicalRelation) node) : otherwise.apply(node);
      }
    });
  }

  static boolean isLive(Object node) {
    if (!(node instanceof LogicalRelation)) return false;
    LogFileIndex index = DeletionVectorRule.indexOf((LogicalRelation) node);
    return index != null && index.live;
  }

  private static LogicalPlan pinned(LogicalRelation node) {
    LogFileIndex live = DeletionVectorRule.indexOf(node);
    HadoopFsRelation relation = (HadoopFsRelation) node.relation();
    return over(node, live.at(relation.sparkSession(), Versions.ofQuery(live.table)));
  }

  /** The same scan over other files. */
  static LogicalPlan over(LogicalRelation node, LogFileIndex files) {
    HadoopFsRelation old = (HadoopFsRelation) node.relation();
    HadoopFsRelation relation = new HadoopFsRelation(files, old.partitionSchema(), old.dataSchema(), old.bucketSpec(),
        old.fileFormat(), old.options(), old.sparkSession());
    return new LogicalRelation(relation, node.output(), node.catalogTable(), node.isStreaming(), Scala.nothing());
  }
}
