package deltaic.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Function1;

/**
 * Answers `count(*)` of all rows of a version from the log, where the statistics of every file have their number: no file
 * is opened. Runs in the optimizer's last batch, before DeletionVectorRule.
 */
public final class CountRule extends Rule {
  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).transformWithSubqueries(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return counted(node) != null;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        LogFileIndex index = counted(node);
        long rows = index == null ? -1 : index.lists.rows();
        return rows < 0 ? otherwise.apply(node) : told((Aggregate) node, rows);
      }
    });
  }

  /** The files of the table whose rows are counted, and nothing else is asked; or null. */
  private static LogFileIndex counted(Object node) {
    if (!(node instanceof Aggregate) || !((Aggregate) node).groupingExpressions().isEmpty()) return null;
    List asked = Scala.list(((Aggregate) node).aggregateExpressions());
    for (int i = 0; i < asked.size(); i++) if (!isCount(asked.get(i))) return null;
    LogicalPlan child = ((Aggregate) node).child();
    while (child instanceof Project) child = ((Project) child).child();
    LogFileIndex index = child instanceof LogicalRelation ? DeletionVectorRule.indexOf((LogicalRelation) child) : null;
    // the scans of its plan show what a command reads
    return index == null || index.table.changeType != null || index.table.claimed || asked.isEmpty() ? null : index;
  }

  private static boolean isCount(Object asked) {
    if (!(asked instanceof Alias) || !(((Alias) asked).child() instanceof AggregateExpression)) return false;
    AggregateExpression aggregate = (AggregateExpression) ((Alias) asked).child();
    if (aggregate.isDistinct() || aggregate.filter().isDefined()) return false;
    if (!(aggregate.aggregateFunction() instanceof Count)) return false;
    List of = Scala.list(((Count) aggregate.aggregateFunction()).children());
    for (int i = 0; i < of.size(); i++) {
      if (!(of.get(i) instanceof Literal) || ((Literal) of.get(i)).value() == null) return false;
    }
    return true;
  }

  private static LogicalPlan told(Aggregate node, long rows) {
    Object[] values = new Object[node.output().size()];
    java.util.Arrays.fill(values, Long.valueOf(rows));
    ArrayList row = new ArrayList();
    row.add(RowFactory.create(values));
    return LocalRelation.fromExternalRows(node.output(), Scala.seq(row));
  }
}
