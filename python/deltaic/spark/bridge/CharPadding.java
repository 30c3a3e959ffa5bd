package deltaic.spark;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/** What Spark puts over a relation with CHAR columns: their texts are padded when they are read. */
final class CharPadding {
  private CharPadding() {}

  /** Whether a plan has the columns of a relation, and pads some of them. */
  static boolean is(LogicalPlan plan) {
    if (!(plan instanceof Project) || !(((Project) plan).child() instanceof LogicalRelation)) return false;
    List columns = Scala.list(((Project) plan).projectList());
    for (int i = 0; i < columns.size(); i++) {
      if (!(columns.get(i) instanceof Attribute) && !pads((Expression) columns.get(i))) return false;
    }
    return true;
  }

  /** The text that is padded, or the value itself. */
  static Expression of(Expression value) {
    return isPadded(value) ? (Expression) ((StaticInvoke) value).arguments().apply(0) : value;
  }

  private static boolean pads(Expression e) {
    if (isPadded(e)) return true;
    List parts = Scala.list(e.children());
    for (int i = 0; i < parts.size(); i++) {
      if (pads((Expression) parts.get(i))) return true;
    }
    return false;
  }

  private static boolean isPadded(Expression e) {
    return e instanceof StaticInvoke && ((StaticInvoke) e).functionName().equals("readSidePadding");
  }
}
