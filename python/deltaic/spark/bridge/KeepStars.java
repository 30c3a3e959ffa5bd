package deltaic.spark;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.InsertAction;
import org.apache.spark.sql.catalyst.plans.logical.InsertStarAction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeAction;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.UpdateAction;
import org.apache.spark.sql.catalyst.plans.logical.UpdateStarAction;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.Function1;

/**
 * Keeps what a MERGE into one of our tables sets from Spark, where it would refuse it. For `UPDATE SET *` and `INSERT *` it asks
 * the source for every column of the table, also where it is computed or the schema evolves; and it knows no column or field
 * that joins. A rule that runs before resolution.
 */
public final class KeepStars extends Rule {
  private final SparkSession session;

  KeepStars(SparkSession session) {
    this.session = session;
  }

  public TreeNode apply(TreeNode plan) {
    return (TreeNode) ((LogicalPlan) plan).resolveOperators(new scala.runtime.AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return node instanceof MergeIntoTable;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        return node instanceof MergeIntoTable ? kept((MergeIntoTable) node) : otherwise.apply(node);
      }
    });
  }

  /** The statement itself where there is nothing to keep. */
  private MergeIntoTable kept(MergeIntoTable merge) {
    boolean stars = hasStar(merge);
    if (!stars && !MergeKeys.mayLack(merge)) return merge;
    LogicalPlan target = RouteWrites.resolvedTarget(session, merge.targetTable());
    if (target == null) return merge;
    MergeIntoTable out = merge;
    if (stars) {
      out = new MergeIntoTable(merge.targetTable(), merge.sourceTable(), merge.mergeCondition(), kept(merge.matchedActions()),
          kept(merge.notMatchedActions()), merge.notMatchedBySourceActions(), merge.withSchemaEvolution());
    }
    return new MergeKeys(session, out, target).kept();
  }

  private static boolean hasStar(MergeIntoTable merge) {
    return hasStar(Scala.list(merge.matchedActions())) || hasStar(Scala.list(merge.notMatchedActions()));
  }

  private static boolean hasStar(List actions) {
    for (int i = 0; i < actions.size(); i++) {
      if (actions.get(i) instanceof UpdateStarAction || actions.get(i) instanceof InsertStarAction) return true;
    }
    return false;
  }

  private static scala.collection.immutable.Seq kept(scala.collection.Seq actions) {
    ArrayList out = new ArrayList(Scala.list(actions));
    for (int i = 0; i < out.size(); i++) {
      MergeAction action = (MergeAction) out.get(i);
      if (action instanceof InsertStarAction) out.set(i, new InsertAction(action.condition(), Scala.none()));
      if (action instanceof UpdateStarAction) out.set(i, update(action.condition(), Scala.none(), true));
    }
    return Scala.seq(out);
  }

  /** Spark 4.1 added whether it was a star. */
  static Object update(scala.Option condition, scala.collection.immutable.Seq assignments, boolean star) {
    Constructor made = UpdateAction.class.getConstructors()[0];
    try {
      return made.getParameterCount() == 2
          ? made.newInstance(new Object[] {condition, assignments})
          : made.newInstance(new Object[] {condition, assignments, Boolean.valueOf(star)});
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
