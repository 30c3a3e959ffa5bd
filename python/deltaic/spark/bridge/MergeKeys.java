package deltaic.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.CreateArray;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.TryEval;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.InsertAction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.UpdateAction;
import scala.Option;

/**
 * What a MERGE sets that its table does not have. Where the schema evolves, that is what the source has under this name;
 * anything else stands by its name, and the merge refuses it.
 */
final class MergeKeys {
  private final SparkSession session;
  private final MergeIntoTable merge;
  private final LogicalPlan target;
  private final boolean evolves;
  private LogicalPlan source;
  private boolean changed;

  MergeKeys(SparkSession session, MergeIntoTable merge, LogicalPlan target) {
    this.session = session;
    this.merge = merge;
    this.target = target;
    evolves = merge.withSchemaEvolution() || InsertedRows.autoMerge(session);
  }

  /** Whether a merge sets anything by a name that is not resolved. */
  static boolean mayLack(MergeIntoTable merge) {
    scala.collection.Seq[] kinds = {merge.matchedActions(), merge.notMatchedActions(), merge.notMatchedBySourceActions()};
    for (int k = 0; k < kinds.length; k++) {
      List actions = Scala.list(kinds[k]);
      for (int i = 0; i < actions.size(); i++) {
        List all = Scala.list(assignments(actions.get(i)));
        for (int a = 0; a < all.size(); a++) {
          if (((Assignment) all.get(a)).key() instanceof UnresolvedAttribute) return true;
        }
      }
    }
    return false;
  }

  /** The names of a key that was kept, from the column on; null for another one. */
  static List pathOf(Expression key) {
    if (!(key instanceof TryEval) || !(((TryEval) key).child() instanceof CreateArray)) return null;
    ArrayList path = new ArrayList();
    List names = Scala.list(((CreateArray) ((TryEval) key).child()).children());
    for (int i = 0; i < names.size(); i++) path.add(((Literal) names.get(i)).value().toString());
    return path;
  }

  /** The merge itself where the table has all that is set. */
  MergeIntoTable kept() {
    scala.collection.immutable.Seq matched = kept(merge.matchedActions(), evolves);
    scala.collection.immutable.Seq notMatched = kept(merge.notMatchedActions(), evolves);
    // rows that the source does not have get nothing that only the source has
    scala.collection.immutable.Seq bySource = kept(merge.notMatchedBySourceActions(), false);
    return changed
        ? new MergeIntoTable(merge.targetTable(), merge.sourceTable(), merge.mergeCondition(), matched, notMatched, bySource,
            merge.withSchemaEvolution())
        : merge;
  }

  private static scala.collection.Seq assignments(Object action) {
    if (action instanceof UpdateAction) return ((UpdateAction) action).assignments();
    return action instanceof InsertAction ? ((InsertAction) action).assignments() : Scala.none();
  }

  private scala.collection.immutable.Seq kept(scala.collection.Seq actions, boolean joins) {
    ArrayList out = new ArrayList(Scala.list(actions));
    for (int i = 0; i < out.size(); i++) {
      Object action = out.get(i);
      ArrayList all = new ArrayList(Scala.list(assignments(action)));
      boolean keeps = false;
      for (int a = 0; a < all.size(); a++) {
        Assignment one = (Assignment) all.get(a);
        List path = one.key() instanceof UnresolvedAttribute ? lacking((UnresolvedAttribute) one.key(), joins) : null;
        if (path == null) continue;
        all.set(a, new Assignment(key(path), one.value()));
        keeps = true;
      }
      changed |= keeps;
      if (keeps && action instanceof UpdateAction) {
        out.set(i, KeepStars.update(((UpdateAction) action).condition(), Scala.seq(all), false));
      } else if (keeps) {
        out.set(i, new InsertAction(((InsertAction) action).condition(), Scala.seq(all)));
      }
    }
    return Scala.seq(out);
  }

  /** A key that Spark takes as it is. It may be null, so that no value is checked for it. */
  private static Expression key(List path) {
    ArrayList names = new ArrayList();
    for (int i = 0; i < path.size(); i++) names.add(Literal$.MODULE$.apply(path.get(i)));
    return new TryEval(new CreateArray(Scala.seq(names)));
  }

  /** What a name means that the table does not have; null where it has it, and where Spark says which field is not there. */
  private List lacking(UnresolvedAttribute name, boolean joins) {
    List path = new ArrayList();
    boolean says = !find(target, name, path);
    if (!path.isEmpty()) return null;
    if (joins) find(source(), name, path);
    if (!path.isEmpty()) return path;
    return says ? null : Scala.list(name.nameParts());
  }

  private LogicalPlan source() {
    if (source == null) source = DeltaCommand.rows(session, merge.sourceTable()).queryExecution().analyzed();
    return source;
  }

  /** What a plan has under a name, if anything; null where Spark refuses it: it has several, or no such field. */
  static Option resolved(SparkSession session, LogicalPlan plan, UnresolvedAttribute name) {
    try {
      return plan.resolve(
          name.nameParts(), ((org.apache.spark.sql.classic.SparkSession) session).sessionState().conf().resolver());
    } catch (Exception e) {
      return null;
    }
  }

  /** Fills the path of a column or a field that a plan has under a name. False where Spark refuses the name. */
  private boolean find(LogicalPlan plan, UnresolvedAttribute name, List path) {
    Option found = resolved(session, plan, name);
    if (found == null) return false;
    if (found.isEmpty()) return true;
    Expression at = (Expression) found.get();
    List names = ColumnNames.pathOf(at instanceof Alias ? ((Alias) at).child() : at);
    if (names != null) path.addAll(names);
    return names != null;
  }
}
