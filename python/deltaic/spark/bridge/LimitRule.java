package deltaic.spark;

import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Function1;

/**
 * Lists no more files than hold the rows of a limit, where nothing between it and the scan drops a row: `show()` of a large
 * table plans a few files. Runs in the optimizer's last batch, before DeletionVectorRule.
 */
public final class LimitRule extends Rule {
  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).transformWithSubqueries(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return unlimited(node) != null;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        LogicalRelation scan = unlimited(node);
        return scan == null ? otherwise.apply(node) : limited((LocalLimit) node, scan);
      }
    });
  }

  /** The scan whose rows are limited, of all files of a version; or null. */
  private static LogicalRelation unlimited(Object node) {
    if (!(node instanceof LocalLimit) || !(((LocalLimit) node).limitExpr() instanceof Literal)) return null;
    LogicalPlan child = ((LocalLimit) node).child();
    while (child instanceof Project) child = ((Project) child).child();
    if (!(child instanceof LogicalRelation) || CoreReads.isOurs((LogicalRelation) child)) return null;
    LogFileIndex index = DeletionVectorRule.indexOf((LogicalRelation) child);
    if (index == null || index.live || index.withVectors || index.mixed != null || index.lists.isLimited()) return null;
    // the scans of its plan show what a command reads
    boolean whole = index.table.isOfLog() && !index.table.partial && !index.table.claimed;
    return whole ? (LogicalRelation) child : null;
  }

  private static LogicalPlan limited(LocalLimit node, final LogicalRelation scan) {
    OpenTable table = DeletionVectorRule.indexOf(scan).table;
    long rows = ((Number) ((Literal) node.limitExpr()).value()).longValue();
    FileLists lists = FileLists.of(((HadoopFsRelation) scan.relation()).sparkSession(), table, rows);
    final LogicalPlan fewer = PinVersions.over(scan, new LogFileIndex(table, lists, null, false));
    return (LogicalPlan) node.transformDown(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object at) {
        return at == scan;
      }

      public Object applyOrElse(Object at, Function1 otherwise) {
        return at == scan ? fewer : otherwise.apply(at);
      }
    });
  }
}
