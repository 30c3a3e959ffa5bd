package deltaic.spark;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/**
 * A temporary view as the target of DELETE, UPDATE and MERGE: its table takes its place where it has all rows of it, under the
 * names and with the types that they have there. Columns that it leaves out keep their values.
 */
final class ViewTarget {
  private ViewTarget() {}

  /** The first scan of ours below a view, whatever the view makes of it; null where there is no view or no such scan. */
  static LogFileIndex indexOf(LogicalPlan target) {
    if (viewOf(target) == null) return null;
    List leaves = Scala.list(target.collectLeaves());
    for (int i = 0; i < leaves.size(); i++) {
      LogFileIndex index = RouteWrites.scanOf((LogicalPlan) leaves.get(i));
      if (index != null) return index;
    }
    return null;
  }

  private static View viewOf(LogicalPlan target) {
    LogicalPlan at = target;
    while (at instanceof SubqueryAlias) at = ((SubqueryAlias) at).child();
    return at instanceof View ? (View) at : null;
  }

  /**
   * Refuses a view that does not stand for its table. With `whole` it must have every column.
   */
  static void check(LogicalPlan target, String statement, boolean whole, String path) {
    View view = viewOf(target);
    if (view == null) return;
    LogicalRelation scan = scanOf(target, statement, path);
    List columns = Scala.list(target.output());
    for (int i = 0; i < columns.size(); i++) {
      Attribute column = (Attribute) columns.get(i);
      Attribute from = sourceOf(target, column.exprId());
      if (from == null || !from.name().equalsIgnoreCase(column.name())) {
        String what = statement + " through a view whose column `" + column.name() + "` is not that of the table of this name";
        boolean more = whole && from == null && FittedRows.field(scan.schema(), column.name()) == null;
        throw Refusal.of(what, "name the table itself", path, more ? "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS" : null,
            more ? new String[] {"schemaDiff", "the table has no column " + column.name(), "legacyFlagMessage", ""} : new String[0]);
      }
    }
    if (whole && columns.size() != scan.output().size()) {
      throw Refusal.of(statement + " through a view without all columns of the table", "name the table itself", path);
    }
  }

  private static LogicalRelation scanOf(LogicalPlan target, String statement, String path) {
    LogicalPlan at = target;
    while (!(at instanceof LogicalRelation)) {
      if (at instanceof Filter) {
        throw Refusal.of(statement + " through a view of some of the rows",
            "name the table itself, with the condition in the statement", path, "DELTA_UNEXPECTED_PARTIAL_SCAN",
            new String[] {"path", path});
      }
      boolean passes = at instanceof SubqueryAlias || at instanceof Project || at instanceof View && ((View) at).isTempView();
      if (!passes) {
        String what = at instanceof View ? "a view that is kept in the catalog" : "a view that is no plain projection of the table";
        throw Refusal.of(statement + " through " + what, "name the table itself", path, "DELTA_UNSUPPORTED_SOURCE",
            new String[] {"operation", statement});
      }
      at = (LogicalPlan) at.children().apply(0);
    }
    return (LogicalRelation) at;
  }

  /** The column of the scan whose values a column of a plan has, unchanged; null where there is none. */
  private static Attribute sourceOf(LogicalPlan plan, ExprId id) {
    if (plan instanceof Project) {
      List made = Scala.list(((Project) plan).projectList());
      for (int i = 0; i < made.size(); i++) {
        if (!((NamedExpression) made.get(i)).exprId().equals(id)) continue;
        Expression value = (Expression) made.get(i);
        if (value instanceof Alias) value = ((Alias) value).child();
        while (value instanceof Cast && value.dataType().equals(((Cast) value).child().dataType())) {
          value = ((Cast) value).child();
        }
        value = CharPadding.of(value);
        return value instanceof Attribute ? sourceOf(((Project) plan).child(), ((Attribute) value).exprId()) : null;
      }
      return null;
    }
    if (!(plan instanceof LogicalRelation)) return sourceOf((LogicalPlan) plan.children().apply(0), id);
    List columns = Scala.list(plan.output());
    for (int i = 0; i < columns.size(); i++) {
      if (((Attribute) columns.get(i)).exprId().equals(id)) return (Attribute) columns.get(i);
    }
    return null;
  }
}
