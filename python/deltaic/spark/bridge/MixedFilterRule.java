package deltaic.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Function1;

/**
 * Tells the file index of the filters on partition and data columns together, such as `part = 'a' OR id > 5`. Spark hands
 * them to `listFiles` neither as partition filters nor as data filters; it only applies them to the rows. Runs in the
 * optimizer's last batch, where filters stand on their scans, and before DeletionVectorRule.
 */
public final class MixedFilterRule extends Rule {
  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).transformWithSubqueries(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return untold(node) != null;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        String mixed = untold(node);
        return mixed == null ? otherwise.apply(node) : told((Filter) node, mixed);
      }
    });
  }

  /** The mixed filters of a scan of ours that does not know them yet, or null. */
  private static String untold(Object node) {
    if (!(node instanceof Filter) || !(((Filter) node).child() instanceof LogicalRelation)) return null;
    LogFileIndex index = DeletionVectorRule.indexOf((LogicalRelation) ((Filter) node).child());
    if (index == null || index.table.partitionColumns.isEmpty()) return null;
    ArrayList mixed = new ArrayList();
    collect(((Filter) node).condition(), index.table, mixed);
    String translated = mixed.isEmpty() ? null : Predicates.translate(mixed, index.table);
    return translated == null || translated.equals(index.mixed) ? null : translated;
  }

  private static void collect(Expression e, OpenTable table, List into) {
    if (e instanceof And) {
      collect(((And) e).left(), table, into);
      collect(((And) e).right(), table, into);
      return;
    }
    boolean partition = false;
    boolean data = false;
    List columns = Scala.list(e.references().toSeq());
    for (int i = 0; i < columns.size(); i++) {
      if (table.isPartitionColumn(((AttributeReference) columns.get(i)).name())) partition = true;
      else data = true;
    }
    if (partition && data && e.deterministic()) into.add(e);
  }

  private static LogicalPlan told(Filter filter, String mixed) {
    LogicalRelation node = (LogicalRelation) filter.child();
    LogFileIndex index = DeletionVectorRule.indexOf(node);
    LogFileIndex told = new LogFileIndex(index.table, index.lists, mixed, index.withVectors);
    return new Filter(filter.condition(), PinVersions.over(node, told));
  }
}
