package deltaic.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan$;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.classic.SparkSession;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractPartialFunction;

/**
 * Columns that a client of Spark Connect took of its frames (`df["id"]`): they name the plan of the frame by a number, and
 * an operation makes other plans.
 */
public final class ClientColumns {
  private ClientColumns() {}

  /** An expression in which the columns of a frame, and of those that it is made from, are those of its analyzed plan. */
  public static Expression of(Expression given, Dataset frame) {
    final Dataset from = frame;
    return (Expression) given.transform(new AbstractPartialFunction() {
      public boolean isDefinedAt(Object node) {
        return planOf(node) != null;
      }

      public Object applyOrElse(Object node, Function1 otherwise) {
        return isDefinedAt(node) ? found((UnresolvedAttribute) node, from) : otherwise.apply(node);
      }
    });
  }

  /**
   * A Column in which those of plans with these numbers, which commas part, stand by their names under `alias`, which may be
   * null.
   */
  public static Column named(Column given, String plans, String alias) {
    Expression copy = (Expression) ((SparkSession) SparkSession.active()).expression(given).clone();
    return ExpressionUtils.column(named(copy, Arrays.asList(plans.split(",")), alias));
  }

  private static Expression named(Expression e, List plans, String alias) {
    Object plan = planOf(e);
    List parts = new ArrayList();
    if (plan != null && plans.contains(plan.toString())) {
      // in place: Spark takes expressions for equal that differ by the number of a plan alone
      e.unsetTagValue(LogicalPlan$.MODULE$.PLAN_ID_TAG());
      if (alias == null) return e;
      parts.add(alias);
      parts.addAll(Scala.list(((UnresolvedAttribute) e).nameParts()));
      return new UnresolvedAttribute(Scala.seq(parts));
    }
    List children = Scala.list(e.children());
    for (int i = 0; i < children.size(); i++) parts.add(named((Expression) children.get(i), plans, alias));
    return (Expression) e.withNewChildren(Scala.seq(parts));
  }

  private static Object planOf(Object node) {
    if (!(node instanceof UnresolvedAttribute)) return null;
    Option plan = ((UnresolvedAttribute) node).getTagValue(LogicalPlan$.MODULE$.PLAN_ID_TAG());
    return plan.isDefined() ? plan.get() : null;
  }

  private static Expression found(UnresolvedAttribute column, Dataset frame) {
    List only = new ArrayList();
    only.add(column);
    LogicalPlan plan = new Project(Scala.seq(only), frame.queryExecution().analyzed());
    try {
      LogicalPlan analyzed = Dataset$.MODULE$.ofRows((SparkSession) frame.sparkSession(), plan).queryExecution().analyzed();
      Expression e = (Expression) ((Project) analyzed).projectList().head();
      return e instanceof Alias ? ((Alias) e).child() : e;
    } catch (Exception e) {
      // of another frame
      return column;
    }
  }
}
